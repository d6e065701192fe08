"""What waits to be sent: bounded in records and bytes, and every record counted, whoever interrupts whom."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from .counts import Counts
from .limits import LARGEST_QUEUE, Limits

if TYPE_CHECKING:
    from .entries import Entry

Item = tuple["Entry", int]
"""An entry, and about how many bytes it takes."""


class Backlog:
    """Takes entries from any thread, also from a signal handler or finalizer that runs in the middle of another call.

    >>> from complog_otel.entries import Entry
    >>> backlog = Backlog()
    >>> backlog.put(Entry("a", 0, 0, 9, "INFO", "text", {}))
    >>> item = backlog.get(timeout=0)
    >>> backlog.settle(1, item[1])
    >>> backlog.counts.logged, backlog.counts.sent, backlog.get(timeout=0)
    (1, 1, None)
    """

    def __init__(self) -> None:
        self.limits = Limits()
        self.counts = Counts()
        self.is_closed = False
        self._queue: queue.SimpleQueue[Item | None] = queue.SimpleQueue()  # its put may interrupt its put
        self._aside: deque[Item] = deque()
        self._bytes = 0
        self._changes: deque[Callable[[], None]] = deque()
        self._lock = threading.RLock()
        self._owner = 0

    def put(self, entry: Entry, *, aside: bool = False) -> None:
        """Queue an entry, or count it as dropped where there is no room; one that is put `aside` waits for another."""
        size = entry.size
        self._change(lambda: self._admit(entry, size, aside))

    def get(self, timeout: float | None = None) -> Item | None:
        """Wait for an item; None where the time is over or somebody wants what there is to be sent now."""
        try:
            return self._queue.get(timeout=timeout)
        except queue.Empty:
            return None

    def nudge(self) -> None:
        """Queue what was put aside, and let `get` return None once what is queued has been got."""
        self._change(self._release)
        self._queue.put(None)

    def settle(self, number: int, size: int, *, refused: int = 0) -> None:
        """Count `number` records of `size` bytes that were got as sent, `refused` of them as refused."""
        self._change(lambda: self._settle(number, size, refused))

    def note_handed(self, *, refused: bool = False) -> None:
        """Count a record that needed no queue."""
        self._change(lambda: self._count(logged=1, sent=not refused, refused=refused))

    def close(self) -> None:
        """Count what waits as left; nothing is queued, and nothing settled, from now on."""
        self._change(self._close)

    @property
    def is_unsent(self) -> bool:
        """Whether anything but what was put aside waits."""
        return self.counts.waiting > len(self._aside)

    def _change(self, change: Callable[[], None]) -> None:
        # whoever interrupts a change in its own thread leaves its own to it
        self._changes.append(change)
        me = threading.get_ident()
        while self._changes and self._owner != me:
            with self._lock:
                self._owner = me
                try:
                    while self._changes:
                        self._changes.popleft()()
                finally:
                    self._owner = 0

    def _admit(self, entry: Entry, size: int, aside: bool) -> None:
        if self.is_closed:
            self._count(logged=1, left=1)
        elif self.counts.waiting >= self.limits.queue or self._bytes + size > LARGEST_QUEUE:
            self._count(logged=1, full=1)
        else:
            self._count(logged=1)
            self._bytes += size
            self._aside.append((entry, size))
            if not aside:
                self._release()

    def _release(self) -> None:
        while self._aside:
            self._queue.put(self._aside.popleft())

    def _settle(self, number: int, size: int, refused: int) -> None:
        if not self.is_closed:
            self._bytes -= size
            self._count(sent=number - refused, refused=refused)

    def _close(self) -> None:
        self.is_closed = True
        self._count(left=self.counts.waiting)

    def _count(self, **more: int) -> None:
        self.counts = self.counts._replace(**{name: getattr(self.counts, name) + more[name] for name in more})
