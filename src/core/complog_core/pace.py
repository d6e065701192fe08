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
_QUICK, _SLOW = 0.3, 0.05


class Pace:
    """Says at each record whether the last look at its file still holds; threads that share one look a little oftener.

    That is so in the middle of a burst: the record came within microseconds of the one before, as all of them lately
    did, and a look was had within the last millisecond. A look costs as much as a sixth of a line.

    >>> pace = Pace()
    >>> pace.holds()
    False
    """

    __slots__ = ("_last", "_limit", "_odd", "_odd_gap", "_until")

    def __init__(self) -> None:
        self._last = self._limit = self._odd = self._odd_gap = self._until = 0.0

    def holds(self) -> bool:
        """Return False where the file has to be looked at now, before the record is written."""
        now, last = time.monotonic(), self._last
        gap = now - last
        self._last = now
        if 0.0 < gap < self._limit and now < self._until:
            return True
        if gap < _CLOSE:
            if gap < self._limit:
                self._limit += (gap * _UNUSUAL - self._limit) * _QUICK
            else:
                # one that is alone was made by what was done in it; after another one, the program is slower by now
                if self._odd == last:
                    self._limit += (min(gap, self._odd_gap) * _UNUSUAL - self._limit) * _SLOW
                self._odd, self._odd_gap = now, gap
        self._until = now + _LONGEST
        return False

    def go_on(self) -> None:
        """Leave what was done since `holds` out of the gap to the next record."""
        now = time.monotonic()
        if self._odd == self._last:
            self._odd = now
        self._last = now
