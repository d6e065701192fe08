"""The hooks: the format `rich`, and the painters that make the console's copy of each record."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from logging import Formatter, LogRecord
from typing import Final, Literal, TextIO

from complog_core import GlogFormatter, Outputs, hookimpl

FORMAT: Final = "rich"
VARIABLE: Final = "COMPLOG_RICH"
_MODES: Final[dict[str, Literal["auto", "always"] | None]] = {
    **dict.fromkeys(("", "0", "off", "no", "false")),
    **dict.fromkeys(("1", "on", "yes", "true", "always"), "always"),
    "auto": "auto",
}


@hookimpl
def complog_formatters() -> Mapping[str, Callable[[], Formatter]]:
    """The format `rich`, whose text, in files for example, is the default line."""
    return {FORMAT: GlogFormatter}


@hookimpl
def complog_console_painters(outputs: Outputs) -> Iterable[Callable[[LogRecord, str, TextIO], str]]:
    """While the format is `rich`, or COMPLOG_RICH is set and there is none: harmless first, then beautiful.

    In that order, what the second one cannot do leaves the text harmless.
    """
    named = outputs.format is not None
    if named and (outputs.format or "").strip() != FORMAT:
        return ()
    mode = "always" if named else read_mode(os.environ)
    if mode is None:
        return ()
    always = mode == "always"
    from .painters import make_beautiful, make_harmless

    return (make_harmless(always), make_beautiful(always))


def read_mode(environ: Mapping[str, str]) -> Literal["auto", "always"] | None:
    """Return what COMPLOG_RICH says, None where it is not set; ValueError for what it cannot say.

    `auto` is for terminals; `always` is what the format `rich` is, for programs where it cannot be named.

    >>> read_mode({"COMPLOG_RICH": "auto"}), read_mode({"COMPLOG_RICH": "0"})
    ('auto', None)
    """
    word = environ.get(VARIABLE, "").strip().lower()
    if word not in _MODES:
        raise ValueError(f"{VARIABLE}={word!r} is none of auto, always and 0")
    return _MODES[word]
