"""Short lines are written without a lock, which would take as long as a tenth of the write; long ones wait for them."""

from __future__ import annotations

import threading
import time
import weakref
from typing import Final

from .descriptors import PATIENCE, renew_after_fork

_turns: Final[list[weakref.ref[Turn]]] = []
"""Changed and copied in one step each, since a finalizer or a signal's handler may log in the middle of anything."""


class Turn:
    """Whether one thread is `writing` a line that goes whole or not at all.

    Who writes such a line sets `writing` first and then looks whether a long one is under way; who writes a long line
    says so first and then waits for the others. So at least one of two sees the other.

    >>> turn = Turn()
    >>> turn.writing = True
    >>> give_way()
    >>> turn.writing
    False
    """

    __slots__ = ("__weakref__", "thread", "writing")

    def __init__(self) -> None:
        self.writing = False
        self.thread = threading.get_ident()
        _turns.append(weakref.ref(self, _turns.remove))


def give_way() -> None:
    """Let nobody wait for this thread, which is about to wait itself."""
    mine = threading.get_ident()
    for turn in _all():
        if turn.thread == mine:
            turn.writing = False


def wait_for_others() -> None:
    """Return once no other thread is writing a short line; that may be to something which takes no more."""
    give_up = time.monotonic() + PATIENCE
    for turn in _all():
        while turn.writing and time.monotonic() < give_up:
            time.sleep(0.0001)


def _all() -> list[Turn]:
    return [turn for turn in [reference() for reference in tuple(_turns)] if turn is not None]


class _Renewal:
    """Forgets, in a forked child, the threads that it does not have."""

    def _after_fork(self) -> None:
        mine = threading.get_ident()
        for turn in _all():
            if turn.thread != mine:
                turn.writing = False


_renewal: Final = _Renewal()
renew_after_fork(_renewal)
