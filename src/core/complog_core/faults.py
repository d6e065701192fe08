"""What plugins do wrong while the program runs: told in one line that names the plugin, and remembered."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Mapping
from typing import Final

from . import report
from .errors import PluginError
from .model import PluginInfo

STRICT: Final = "COMPLOG_STRICT_PLUGINS"

_causes: Final[dict[str, tuple[str, str]]] = {}
_owners: Final[weakref.WeakKeyDictionary[object, dict[int, PluginInfo]]] = weakref.WeakKeyDictionary()


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
    for known in list(_owners.values()):
        owner = known.get(id(thing))
        if owner is not None:
            note_fault(owner, what, error)
            return
    if isinstance(error, KeyboardInterrupt):
        raise error
    report.warn_once(("fault", what, type(error)), f"{what} {describe(error)}")


def remember_owners(user: object, contributed: Iterable[tuple[object, PluginInfo]]) -> None:
    """Remember whose each thing is that `user` uses now, instead of those that it used before."""
    _owners[user] = {id(thing): owner for thing, owner in contributed}


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


def _trace(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(type(error), error, error.__traceback__))
