"""What plugins do wrong while the program runs: told in one line that names the plugin, and remembered.

Filters, painters and handlers are called here, since their faults are theirs.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, TextIO

from . import report
from .errors import PluginError
from .model import PluginInfo

if TYPE_CHECKING:
    from .hookspecs import Painter, RecordFilter

STRICT: Final = "COMPLOG_STRICT_PLUGINS"

_causes: Final[dict[str, tuple[str, str]]] = {}
_owners: Final[dict[str, dict[int, PluginInfo]]] = {}


class Fault(Exception):
    """A plugin's mistake, told in one line; `culprit` is the function or object that makes it, where one does."""

    def __init__(self, text: str, culprit: object = None) -> None:
        super().__init__(text)
        self.culprit = culprit


def is_strict(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether faults of plugins are to be errors."""
    return environ.get(STRICT, "").strip() not in ("", "0")


def note_fault(owner: PluginInfo | str, what: str, error: BaseException, *, may_raise: bool = False) -> None:
    """Tell once, and remember, that `what` of the plugin raised `error`; a KeyboardInterrupt is raised again.

    `may_raise`: where COMPLOG_STRICT_PLUGINS is set, raise PluginError, since nobody is in the middle of logging.
    """
    if isinstance(error, KeyboardInterrupt):
        raise error
    cause = f"{what} {describe(error)}"
    if str(owner) not in _causes:
        _causes[str(owner)] = (cause, _trace(error))
    value = hint = ""
    if isinstance(owner, PluginInfo):
        value = f": entry point {owner.value!r}" if owner.value else ""
        hint = "; run `complog plugins` for the traceback" if owner.distribution else ""
    text = f"{owner}{value}: {cause}{hint}"
    if may_raise and is_strict():
        raise PluginError(text) from error
    # what is raised while records are written may have another text for each of them
    report.warn_once(("fault", str(owner), cause if may_raise else (what, type(error))), text)


def note_fault_of(thing: object, what: str, error: BaseException) -> None:
    """Do the same for a filter, field, handler or formatter that some plugin contributed."""
    for known in _owners.values():
        owner = known.get(id(thing))
        if owner is not None:
            note_fault(owner, what, error)
            return
    if isinstance(error, KeyboardInterrupt):
        raise error
    report.warn_once(("fault", what, type(error)), f"{what} {describe(error)}")


def remember_owners(prefix: str, contributed: Iterable[tuple[object, PluginInfo]]) -> None:
    """Remember whose each thing is that the system `prefix` uses now, instead of those that it used before."""
    _owners[prefix] = {id(thing): owner for thing, owner in contributed}


def find_fault(owner: PluginInfo) -> tuple[str, str] | None:
    """Return the first fault of a plugin at run time as (cause, traceback), None where there was none."""
    return _causes.get(str(owner))


def describe(error: BaseException) -> str:
    """Return `raised Type: text` on one line; of a Fault the text alone, which says what is wrong by itself.

    >>> describe(ValueError("two\\nlines"))
    'raised ValueError: two lines'
    """
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = "its text cannot be had"
    if isinstance(error, Fault):
        return text
    return f"raised {type(error).__name__}: {text}" if text else f"raised {type(error).__name__}"


def ask(record_filter: RecordFilter, record: logging.LogRecord) -> logging.LogRecord | None:
    """Return the record that goes on, None where the filter drops it; one that raises lets it pass.

    >>> record = logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None)
    >>> ask(lambda record: record.levelno > 10, record) is record, ask(lambda record: False, record)
    (True, None)
    """
    try:
        answer = record_filter(record)
        if isinstance(answer, logging.LogRecord):
            return answer
        return record if answer else None
    except BaseException as error:
        note_fault_of(record_filter, f"the filter {_name_of(record_filter)}, which records then pass,", error)
        return record


def paint(record: logging.LogRecord, text: str, stream: TextIO, painters: tuple[Painter, ...]) -> str:
    """Return what the painters, one after the other, make of the text for that stream.

    >>> record = logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None)
    >>> paint(record, "hello", None, (lambda record, text, stream: text.upper(),))
    'HELLO'
    """
    for painter in painters:
        try:
            painted: object = painter(record, text, stream)
            if not isinstance(painted, str):
                raise Fault(f"returned {type(painted).__name__} instead of a str")
            text = painted
        except BaseException as error:
            note_fault_of(painter, f"the painter {_name_of(painter)}, without which records are then shown,", error)
    return text


def hand_over(record: logging.LogRecord, handler: logging.Handler) -> None:
    """Give the record to a handler that is somebody else's, if it asks for records of that level.

    >>> record = logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None)
    >>> hand_over(record, logging.NullHandler())
    """
    try:
        if record.levelno >= handler.level:
            handler.handle(record)
    except BaseException as error:
        note_fault_of(handler, f"the handler {type(handler).__qualname__}", error)


def _name_of(function: object) -> str:
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', type(function).__qualname__)}"


def _trace(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(type(error), error, error.__traceback__))
