"""The warnings that complog gives about itself: one line each, on the stderr of the moment, never an exception."""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import Final

_MOST_REMEMBERED: Final = 1024
_said: OrderedDict[object, None] = OrderedDict()
_quiet = False


def set_quiet(quiet: bool) -> None:
    """Silence, or let speak, every warning of this process (compile workers talk to their parent over pipes)."""
    global _quiet
    _quiet = quiet


def warn(text: str) -> None:
    """Write `complog: warning: <text>` as a single line to sys.stderr; a missing or broken stderr loses it silently.

    >>> import contextlib, io
    >>> with contextlib.redirect_stderr(io.StringIO()) as console:
    ...     warn("first\\nsecond")
    >>> console.getvalue()
    'complog: warning: first second\\n'
    """
    if _quiet:
        return
    stream = sys.stderr
    if stream is None:
        return
    line = "complog: warning: " + " ".join(text.split("\n")) + "\n"
    try:
        try:
            stream.write(line)
        except UnicodeEncodeError:
            stream.write(line.encode("ascii", "backslashreplace").decode("ascii"))
        stream.flush()
    except Exception:
        pass  # a closed or broken console must not cost the program anything


def warn_once(key: object, text: str) -> None:
    """Give a warning unless one with the same key was given lately (the last 1,024 keys are remembered)."""
    if key in _said:
        return
    _said[key] = None
    if len(_said) > _MOST_REMEMBERED:
        _said.popitem(last=False)
    warn(text)


def show_once(key: object, page: str) -> None:
    """Write a whole page to sys.stderr, unless that was done lately with the same key."""
    if key in _said or _quiet or sys.stderr is None:
        return
    _said[key] = None
    try:
        sys.stderr.write(page.rstrip("\n") + "\n")
        sys.stderr.flush()
    except Exception:
        pass


def forget_warnings() -> None:
    """Forget what was said, so that each warning is given again; for tests."""
    _said.clear()
