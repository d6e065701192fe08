"""The two painters; rich is imported by the first record that is shown with colours or as a table."""

from __future__ import annotations

import sys
from collections.abc import Callable
from logging import Logger, LogRecord
from typing import TextIO

from .dynamo import keep_dynamo_out
from .first_use import make_lines
from .harmless import tame
from .surroundings import look

Painter = Callable[[LogRecord, str, TextIO], str]


def make_harmless(always: bool) -> Painter:
    """Return the painter that leaves nothing in a text that a terminal would obey.

    >>> record = LogRecord("a", 20, "/x/y.py", 3, "", (), None)
    >>> make_harmless(True)(record, "a \\x1b]0;title\\x07", sys.stderr)
    'a \\\\x1b]0;title\\\\x07'
    """

    def paint_harmless(record: LogRecord, text: str, stream: TextIO) -> str:
        return text if look(stream, always=always) is None else tame(text)

    return paint_harmless


def make_beautiful(always: bool) -> Painter:
    """Return the painter that gives harmless text its colours, tables and links, as far as the stream shows them.

    >>> record = LogRecord("a", 20, "/x/y.py", 3, "", (), None)
    >>> make_beautiful(False)(record, "into a pipe", sys.stderr)
    'into a pipe'
    """
    missing = False

    def paint_beautiful(record: LogRecord, text: str, stream: TextIO) -> str:
        nonlocal missing
        surroundings = look(stream, always=always)
        if missing or surroundings is None or not surroundings.shapes or sys.is_finalizing():
            return text
        try:
            return keep_dynamo_out(make_lines)(record, text, find_artifact(record.name), surroundings)
        except ImportError:
            missing = True  # the next record need not search for it again
            raise

    return paint_beautiful


def find_artifact(logger_name: str) -> str | None:
    """Return the name of the artifact that this logger prints, None where it prints none.

    >>> find_artifact("a") is None
    True
    """
    name = getattr(Logger.manager.loggerDict.get(logger_name), "artifact_name", None)
    return name if isinstance(name, str) else None
