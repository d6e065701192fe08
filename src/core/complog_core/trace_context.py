"""The fields of every record that plugins contribute, and those that tell the running compilation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from .contributions import read_contribution
from .faults import note_fault
from .model import PluginInfo
from .trace_fitting import COMPILE_ID, TAKEN, fit, is_number
from .trace_json import Faults, encode_plain
from .values import NamedTuple

ContextHook = tuple[PluginInfo | str, Callable[[], object]]
"""An owner, for warnings, and its implementation of complog_trace_context."""

_MOST_PLAIN: Final = 64
_plain: Final[set[tuple[str, ...]]] = set()


def gather(hooks: Iterable[ContextHook], name: str | None, faults: Faults) -> dict[str, Any]:
    """Return what the hooks say at this moment, less fields of the format's own and one of the record's `name`.

    A hook that fails costs one warning.

    >>> gather([("mybackend", lambda: {"rank": 0, "artifact": 1})], "artifact", Faults())
    {'rank': 0}
    """
    fields: dict[str, Any] = {}
    for owner, function in hooks:
        try:
            given = function()
            if given is None:
                continue
            if type(given) is dict:
                given = given.copy()
                names = tuple(given)
                if (names in _plain or _are_plain(names)) and name not in given:
                    fields.update(given)
                    continue
            contributed = read_contribution("complog_trace_context", given)
            assert isinstance(contributed, Mapping)
        except BaseException as error:
            note_fault(owner, "complog_trace_context()", error)
            continue
        for field, value in contributed.items():
            if field == name or field in TAKEN:
                faults.note(f"gets a field from {owner} whose name is taken; it is left out", field)
            else:
                fields[field] = value
    return fields


def add_context(
    record: dict[str, Any], fields: Mapping[str, Any], compile_id: Any, find_stack: Callable[[], object] | None
) -> None:
    """Add the fields to the record: the rank, the running compilation (else `compile_id`), then all others.

    Where neither of these is there, the stack is added instead, unless `find_stack` is None.

    >>> record = {"artifact": {}}
    >>> add_context(record, {"mine": 1, "frame_id": 0, "rank": 3}, None, None)
    >>> list(record)
    ['artifact', 'rank', 'frame_id', 'mine']
    """
    if "rank" in fields:
        record["rank"] = fields["rank"]
    running = [field for field in COMPILE_ID if field in fields]
    if running:
        for field in running:
            record[field] = fields[field]
    elif compile_id is not None:
        given = ((field, getattr(compile_id, field, None)) for field in COMPILE_ID[:-1])
        record.update((field, value) for field, value in given if value is not None)
    elif find_stack is not None:
        record["stack"] = find_stack()
    for field, value in fields.items():
        if field not in record:
            record[field] = value


def find_rank(hooks: Iterable[ContextHook]) -> int | None:
    """Return the rank that the hooks tell, None where they tell none that can be one."""
    rank = gather(hooks, None, Faults()).get("rank")
    return rank if is_number(rank) else None


def find_key(fields: Mapping[str, Any]) -> str | None:
    """Return what stands for the running compilation, whatever its attempt; None outside of one."""
    if "frame_id" not in fields or "frame_compile_id" not in fields:
        return None
    return f"{fields['frame_id']}_{fields['frame_compile_id']}"


class Written(NamedTuple):
    """Fields as a record ends with them: as JSON, with a comma before each, and `find_key` of them."""

    text: str
    key: str | None
    is_running: bool
    """Whether they tell the running compilation."""


def write_out(fields: Mapping[str, Any]) -> Written | None:
    """Return what `add_context` would add, as text; None where that is no short text that any reader takes.

    >>> write_out({"attempt": 0, "rank": 1}).text
    ', "rank": 1, "attempt": 0'
    """
    added: dict[str, Any] = {}
    add_context(added, fields, None, None)
    faults = Faults()
    text = encode_plain(fit(added, faults))
    if faults or text is None:
        return None
    is_running = any(field in fields for field in COMPILE_ID)
    return Written(f", {text[1:-1]}" if fields else "", find_key(fields), is_running)


def _are_plain(names: tuple[Any, ...]) -> bool:
    """Return, and remember, whether these are names that any record may have."""
    if not all(type(name) is str and name not in TAKEN for name in names):
        return False
    if len(_plain) < _MOST_PLAIN:
        _plain.add(names)
    return True
