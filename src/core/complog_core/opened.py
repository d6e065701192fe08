"""Files that stay open: opening for appending, and telling whether one was moved, or its descriptor given away.

The system keeps a number with an open file: a cheap way to ask if a descriptor still stands for it.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable
from typing import Final

from .values import NamedTuple

_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
_PLAIN: Final = getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
# The number is the signal that arriving input would be told with if anybody asked for that, which nobody does with a
# file that is written to. Linux lets every open file have one, and gives it 0 at first.
_FIRST, _LAST = 34, 64
_numbers: Final = itertools.cycle(range(_FIRST, _LAST + 1))


class Opened(NamedTuple):
    """A descriptor and what it stood for when it was opened: somebody may close it, or reuse its number.

    `identity` is what `identify()` answers as long as it still stands for that.
    """

    descriptor: int
    device: int
    inode: int
    identify: Callable[[], object]
    identity: object


def open_for_appending(path: str, *, wait: bool) -> Opened:
    """Open, or create, a file; raises OSError or ValueError. `wait` allows a FIFO to wait for its reader.

    The descriptor is never 0, 1 or 2: in a program that closed one of those, everybody's output would go there.
    """
    nonblocking = 0 if wait else getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, _APPEND | _PLAIN | nonblocking, 0o666)
    try:
        if nonblocking:
            os.set_blocking(descriptor, True)
        if descriptor <= 2 and os.name == "posix":
            import fcntl

            low, descriptor = descriptor, fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
            os.close(low)
        about = os.fstat(descriptor)
        ask = identify(descriptor)
        return Opened(descriptor, about.st_dev, about.st_ino, ask, ask())
    except BaseException:
        os.close(descriptor)
        raise


def is_own(opened: Opened) -> bool:
    """Return whether the descriptor still stands for what was opened; `opened.identify()` is quicker to ask."""
    try:
        about = os.fstat(opened.descriptor)
    except OSError:
        return False
    return about.st_dev == opened.device and about.st_ino == opened.inode


def leads_to(path: str, opened: Opened) -> bool:
    """Return whether the path still leads to what was opened, as it does not once that was moved or removed."""
    if os.name == "nt":  # an open file cannot be moved there
        return True
    try:
        about = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # the way there may be barred since; the descriptor is as good as before
        return True
    return about.st_dev == opened.device and about.st_ino == opened.inode


def let_go(opened: Opened) -> None:
    """Close the descriptor, unless it is somebody else's by now."""
    if is_own(opened):
        try:
            os.close(opened.descriptor)
        except OSError:
            pass  # a delayed write error; nothing is left to retry


def identify(descriptor: int) -> Callable[[], object]:
    """Return a function that answers with the same as long as the descriptor stands for what it stands for now.

    It raises OSError where the descriptor stands for nothing. On Linux what it stands for is marked, and looked at by
    its mark in a quarter of the time. There are a few dozen of those, so that two files of complog's own may bear the
    same. Elsewhere it is looked at by device and inode.

    >>> import tempfile
    >>> with tempfile.TemporaryFile() as one, tempfile.TemporaryFile() as other:
    ...     ask = identify(one.fileno())
    ...     before = ask()
    ...     same = ask() == before
    ...     replaced = os.dup2(other.fileno(), one.fileno())
    ...     same, ask() == before
    (True, False)
    """
    try:
        import fcntl  # late: most programs write no file

        mark = next(_numbers)
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, mark)
        ask = functools.partial(fcntl.fcntl, descriptor, fcntl.F_GETSIG)
        if ask() == mark:
            return ask
    except (AttributeError, ImportError, OSError):  # another system than Linux, or one that only looks like it
        pass
    return functools.partial(_device_and_inode, descriptor)


def _device_and_inode(descriptor: int) -> tuple[int, int]:
    about = os.fstat(descriptor)
    return about.st_dev, about.st_ino
