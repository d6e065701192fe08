"""How many records there were, and what became of them."""

from __future__ import annotations

from typing import NamedTuple


class Counts(NamedTuple):
    """Records of one process: `logged` is always `sent` + `dropped` + `waiting`.

    `sent` ones were taken by the receiver, or handed to the program's own LoggerProvider. Of the dropped ones, `full`
    found no room in the queue, `refused` were turned down by the receiver, `left` could not be sent before the end.

    >>> Counts(logged=5, sent=2, full=1, refused=1).waiting
    1
    """

    logged: int = 0
    sent: int = 0
    full: int = 0
    refused: int = 0
    left: int = 0

    @property
    def dropped(self) -> int:
        """How many will never be sent."""
        return self.full + self.refused + self.left

    @property
    def waiting(self) -> int:
        """How many are in the queue or under way."""
        return self.logged - self.sent - self.dropped
