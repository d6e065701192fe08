"""Tells plugins about each new state: in order, outside every lock, one observer's fault reaching nobody else."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable

from .assembly import Hook
from .faults import note_fault
from .model import LogState


class Observers:
    """Delivers states one after another; whoever finds a delivery under way leaves its state to that one."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[LogState, tuple[Hook, ...]]] = deque()
        self._delivering: int | None = None
        self._lock = threading.Lock()

    def renew_lock(self) -> None:
        """Start afresh in a forked child, where the thread that was delivering does not exist."""
        self._lock = threading.Lock()
        if self._delivering not in (None, threading.get_ident()):
            self._delivering = None
            self._waiting.clear()

    @property
    def speaking(self) -> bool:
        """Whether this thread is inside an observer."""
        return self._delivering == threading.get_ident()

    def note(self, state: LogState, hooks: Iterable[Hook]) -> None:
        """Put `state` behind all that was noted earlier; runs nothing."""
        self._waiting.append((state, tuple(hooks)))

    def deliver(self) -> None:
        """Tell every hook the states that were noted, unless another thread, or an observer's caller, is doing so."""
        if not self._waiting:
            return
        with self._lock:
            if self._delivering is not None or not self._waiting:
                return
            self._delivering = threading.get_ident()
        try:
            while True:
                with self._lock:
                    if not self._waiting:
                        self._delivering = None
                        return
                    state, observers = self._waiting.popleft()
                for owner, observe in observers:
                    try:
                        observe(state=state)
                    except BaseException as error:
                        note_fault(owner, "complog_state_changed()", error)
        except BaseException:
            self._delivering = None
            raise
