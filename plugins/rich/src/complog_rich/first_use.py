"""Imports rich when it is first needed: once, without a trace in random numbers, and never where that could hang."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from logging import LogRecord
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .surroundings import Surroundings

_begun_in: int | None = None
_make: Callable[[LogRecord, str, str | None, Surroundings], str] | None = None


def make_lines(record: LogRecord, text: str, artifact: str | None, surroundings: Surroundings) -> str:
    """Return what `lines.make_lines` returns; the first call imports rich, and raises ImportError if that fails.

    In a child that was forked while another thread did so, the import would wait for that thread for ever: there the
    text stays as it is.
    """
    make = _make
    if make is None:
        if _begun_in not in (None, os.getpid()):
            return text
        make = _load()
    return make(record, text, artifact, surroundings)


def _load() -> Callable[[LogRecord, str, str | None, Surroundings], str]:
    global _begun_in, _make
    _begun_in = os.getpid()
    if "rich.style" not in sys.modules:
        _import_style()
    from . import code, lines, tables

    # rich and its lexers import more when they are used; from here on nothing is
    code.load_all()
    tables.draw_table([("a", "b"), ("c", "d")], wide=True)
    _make = lines.make_lines
    return _make


def _import_style() -> None:
    import random

    # rich draws from the program's generator: with the same seed, a program that logs would compute something else
    before = random.getstate()
    try:
        import rich.style  # noqa: F401 - what importing it draws is the point
    finally:
        random.setstate(before)
