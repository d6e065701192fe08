"""How close records follow each other: whether a file can have been moved between two of them."""

from __future__ import annotations

import time
from typing import Final

_CLOSE: Final = 25e-6
"""Seconds, from record to record, that a program which does nothing but log stays below."""
_UNUSUAL: Final = 1.3
"""Times the usual gap from which on something else may have been done in it: moving a file takes microseconds too."""
_LONGEST: Final = 1e-3
"""Seconds for which a look at a file holds, however close its records are: other processes move files too."""
_QUICK, _SLOW = 0.3, 0.03


class Pace:
    """Says at each record whether the last look at its file still holds; for one thread at a time.

    That is so in the middle of a burst: the record came within microseconds of the one before, as all of them lately
    did, and a look was had within the last millisecond. A look costs as much as a sixth of a line.

    >>> pace = Pace()
    >>> pace.holds()
    False
    """

    __slots__ = ("_last", "_limit", "_until")

    def __init__(self) -> None:
        self._last = self._limit = self._until = 0.0

    def holds(self) -> bool:
        """Return False where the file has to be looked at now, before the record is written."""
        now = time.monotonic()
        gap = now - self._last
        self._last = now
        if gap < self._limit and now < self._until:
            return True
        if gap < _CLOSE:
            # by what is usual at once, by what is not only if there is much of it
            self._limit += (gap * _UNUSUAL - self._limit) * (_QUICK if gap < self._limit else _SLOW)
        self._until = now + _LONGEST
        return False

    def go_on(self) -> None:
        """Leave what was done since `holds` out of the gap to the next record."""
        self._last = time.monotonic()
