"""The hooks: the format `rich`, and the painters that make the console's copy of each record."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from logging import Formatter, LogRecord
from typing import Final, TextIO

from complog_core import GlogFormatter, Outputs, hookimpl

FORMAT: Final = "rich"
VARIABLE: Final = "COMPLOG_RICH"
_OFF: Final = frozenset({"", "0", "off", "no", "false"})


@hookimpl
def complog_formatters() -> Mapping[str, Callable[[], Formatter]]:
    """The format `rich`, whose text, in files for example, is the default line."""
    return {FORMAT: GlogFormatter}


@hookimpl
def complog_console_painters(outputs: Outputs) -> Iterable[Callable[[LogRecord, str, TextIO], str]]:
    """While the format is `rich`, or COMPLOG_RICH=auto and there is none: harmless first, then beautiful.

    In that order, what the second one cannot do leaves the text harmless.
    """
    always = (outputs.format or "").strip() == FORMAT
    if not always and not (outputs.format is None and wants_auto(os.environ)):
        return ()
    from .painters import make_beautiful, make_harmless

    return (make_harmless(always), make_beautiful(always))


def wants_auto(environ: Mapping[str, str]) -> bool:
    """Return whether COMPLOG_RICH asks for this wherever stderr is a terminal; ValueError for what it cannot say.

    >>> wants_auto({"COMPLOG_RICH": "auto"}), wants_auto({})
    (True, False)
    """
    word = environ.get(VARIABLE, "").strip().lower()
    if word != "auto" and word not in _OFF:
        raise ValueError(f"{VARIABLE}={word!r} is neither 'auto' nor '0'")
    return word == "auto"
