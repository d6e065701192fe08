"""A number that the system keeps with an open file: a cheap way to ask if a descriptor still stands for it."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable
from typing import Final

# The number is the signal that arriving input would be told with if anybody asked for that, which nobody does with a
# file that is written to. Linux lets every open file have one, and gives it 0 at first.
_FIRST, _LAST = 34, 64
_numbers: Final = itertools.cycle(range(_FIRST, _LAST + 1))


def identify(descriptor: int) -> Callable[[], object]:
    """Return a function that answers with the same as long as the descriptor stands for what it stands for now.

    It raises OSError where the descriptor stands for nothing. On Linux what it stands for is marked, and looked at by
    its mark, of which there are a few dozen, in a quarter of the time; elsewhere it is looked at by device and inode.

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
