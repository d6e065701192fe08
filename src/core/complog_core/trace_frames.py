"""Where a record comes from: the frame of whoever wrote it, and the stack above that, without frames of complog."""

from __future__ import annotations

import functools
import os
import sys
from types import FrameType
from typing import Final

MOST_FRAMES: Final = 1000
"""How many frames of a stack are written, the innermost ones: readers walk through them by recursion."""

_HERE: Final = os.path.dirname(__file__)
_OWN: Final = frozenset({"complog", "complog_core", "complog_torch"})


Place = tuple[str, int, str]
"""A line of code that runs: the name of its file, as the code object has it, its number, and its function's name."""


def find_caller(depth: int = 1) -> Place:
    """Return the innermost place that does not belong to complog; the first `depth` frames are known to.

    >>> find_caller()[0].endswith("complog_core/trace_frames.py")
    False
    """
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        name = frame.f_globals.get("__name__")
        if not isinstance(name, str) or not _is_own_name(name):
            code = frame.f_code
            return code.co_filename, frame.f_lineno or 0, code.co_name
        frame = frame.f_back
    return "(unknown)", 0, "(unknown)"


def find_stack() -> list[tuple[Place, str]]:
    """Return the places from the outermost one to the caller's, each with the text of its line ("" if unknown)."""
    import linecache

    places: list[tuple[Place, str]] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(places) < MOST_FRAMES:
        if not _is_own(frame):
            # an instruction that belongs to no line has None
            place = (frame.f_code.co_filename, frame.f_lineno or 0, frame.f_code.co_name)
            try:
                text = linecache.getline(place[0], place[1], frame.f_globals).strip()
            except Exception:  # a loader of the program's, asked for a source that it cannot give
                text = ""
            places.append((place, text))
        frame = frame.f_back
    places.reverse()
    return places


def belongs_to_complog(filename: str) -> bool:
    """Return whether a file of that name is one of complog's.

    >>> belongs_to_complog(__file__), belongs_to_complog("train.py")
    (True, False)
    """
    directory = os.path.dirname(filename)
    if directory == _HERE:
        return True
    if os.path.basename(directory) not in _OWN:
        return False
    packages = (sys.modules.get(name) for name in _OWN)
    return any(os.path.dirname(getattr(package, "__file__", None) or "") == directory for package in packages)


def _is_own(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__")
    return isinstance(name, str) and _is_own_name(name)


@functools.lru_cache(maxsize=1024)
def _is_own_name(module: str) -> bool:
    return module.partition(".")[0] in _OWN
