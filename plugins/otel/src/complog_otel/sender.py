"""The queue between the threads that log and the one that sends: bounded, counted, and emptied before the end."""

from __future__ import annotations

import atexit
import os
import queue
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final

from complog_core import warn

from .counts import Counts
from .limits import EXIT_WITHOUT_ANSWER, LARGEST_BATCH, LARGEST_QUEUE, Limits, read_limits
from .provider import find_provider, hand_to
from .quiet import sending, silence_own_thread
from .switch import find_other_protocol

if TYPE_CHECKING:
    from .delivery import Delivery, Outcome
    from .entries import Entry

_LONGEST_PAUSE: Final = 5.0
_MOST_BEGINNINGS: Final = 10
_sender: Sender | None = None


class Sender:
    """Takes entries from any thread without waiting for anybody, and sends them from one of its own.

    The first entry imports OpenTelemetry and starts that thread, in each process anew. Each warning is given once.
    """

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._forget()

    def _forget(self) -> None:
        # what a forked child has inherited is its parent's: the records, the connection, a thread that is not there
        self._lock = threading.RLock()  # re-entrant: a signal handler or a finalizer may log in the middle of it
        self._beginning = threading.Lock()
        self._queue: queue.SimpleQueue[tuple[Entry, int] | None] = queue.SimpleQueue()  # which is re-entrant too
        self._counts = Counts()
        self._bytes = 0
        self._limits: Limits = Limits()
        self._delivery: Delivery | None = None
        self._thread: threading.Thread | None = None
        self._beginnings = 0
        self._hurry = threading.Event()
        self._over = False

    @property
    def counts(self) -> Counts:
        """What became of this process's records so far."""
        return self._counts

    def take(self, entry: Entry) -> None:
        """Queue an entry, or drop and count it where there is no room. A provider of the program's gets it at once."""
        provider = find_provider()
        if provider is not None:
            self._hand_over(provider, entry)
            return
        if self._thread is None and not self._over:
            self._begin()
        size = entry.size
        with self._lock:
            counts = self._counts
            has_room = counts.waiting < self._limits.queue and self._bytes + size <= LARGEST_QUEUE
            if self._over:
                self._counts = counts._replace(logged=counts.logged + 1, left=counts.left + 1)
            elif has_room:
                self._counts = counts._replace(logged=counts.logged + 1)
                self._bytes += size
                self._queue.put((entry, size))
            else:
                self._counts = counts._replace(logged=counts.logged + 1, full=counts.full + 1)
        if not has_room and not self._over:
            text = f"{self._limits.queue:,} records, or {LARGEST_QUEUE >> 20} MiB of text, wait to be sent"
            self._say("full", f"{text}; further ones are dropped until there is room, and counted")

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until nothing waits, for at most `timeout` seconds (None: OTEL_BLRP_EXPORT_TIMEOUT); return whether so.

        A receiver that does not take records is waited for 5 seconds at most.
        """
        longest = self._limits.export if timeout is None else timeout
        start = time.monotonic()
        if self._is_worked_on():
            self._queue.put(None)
        while self._counts.waiting and self._is_worked_on():
            passed = time.monotonic() - start
            if passed > longest or (self._is_failing() and passed > EXIT_WITHOUT_ANSWER):
                break
            time.sleep(0.005)
        return not self._counts.waiting

    def close(self) -> None:
        """Send what waits as `flush` does, drop the rest, and tell how many were dropped; later entries are dropped."""
        if self._over:
            return
        self._hurry.set()
        if self._counts.waiting and not self._is_worked_on():
            self._send_here()
        self.flush()
        with self._lock:
            self._over = True
            left = self._counts.waiting
            self._counts = self._counts._replace(left=self._counts.left + left)
        delivery = self._delivery
        if delivery is not None:
            with sending():
                delivery.shutdown()
        counts = self._counts
        if counts.dropped:
            told = {"found no room": counts.full, "were refused": counts.refused, "were left at the end": counts.left}
            reasons = ", ".join(f"{number:,} {what}" for what, number in told.items() if number)
            warn(f"otel: {counts.dropped:,} of {counts.logged:,} records were not sent: {reasons}")

    # -- beginning

    def _begin(self) -> None:
        # another thread, or this one further up, may be at it: the entry waits in the queue meanwhile
        if not self._beginning.acquire(blocking=False):
            return
        try:
            if self._thread is None and self._beginnings < _MOST_BEGINNINGS and self._open():
                thread = threading.Thread(target=self._run, name="complog-otel", daemon=True)
                try:
                    thread.start()
                except RuntimeError:
                    return  # the interpreter is about to end; `close` sends
                self._thread = thread
                _end_with_multiprocessing(self)
        finally:
            self._beginning.release()

    def _open(self) -> bool:
        if self._delivery is not None:
            return True
        self._beginnings += 1
        try:
            if self._beginnings == 1:
                self._limits = read_limits(os.environ)
                other = find_other_protocol(os.environ)
                if other:
                    self._say("protocol", f"{other} is not supported; records are sent as http/protobuf")
            with sending():
                from .delivery import Delivery

                # loaded now, and not in the other thread, where a fork could come in between
                "localhost".encode("idna")
                self._delivery = Delivery(self._note_failure)
                silence_own_thread()
        except Exception as error:
            # the first time it may be a module that is itself just being imported
            if self._beginnings == _MOST_BEGINNINGS or self._hurry.is_set():
                self._say("begin", f"no record can be sent: {type(error).__name__}: {error}")
            return False
        return True

    def _hand_over(self, provider: Any, entry: Entry) -> None:
        with self._lock:
            self._counts = self._counts._replace(logged=self._counts.logged + 1, sent=self._counts.sent + 1)
        try:
            hand_to(provider, entry)
        except Exception as error:
            with self._lock:
                self._counts = self._counts._replace(sent=self._counts.sent - 1, refused=self._counts.refused + 1)
            self._say("provider", f"the program's LoggerProvider raised {type(error).__name__}: {error}")

    # -- sending

    def _run(self) -> None:
        with sending():
            while not self._over:
                self._deliver(*self._collect())

    def _send_here(self) -> None:
        with sending():
            if not self._open():
                return
            end = time.monotonic() + self._limits.export
            while self._counts.waiting and not self._is_failing() and time.monotonic() < end:
                self._queue.put(None)
                self._deliver(*self._collect())

    def _collect(self) -> tuple[list[Entry], int]:
        """Wait for an entry, then for more until a batch is full, the delay is over, or somebody waits."""
        first = self._queue.get()
        if first is None:
            return [], 0
        batch, size = [first[0]], first[1]
        end = time.monotonic() + (0 if self._hurry.is_set() else self._limits.delay)
        while len(batch) < self._limits.batch:
            try:
                following = self._queue.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                break
            if following is None:
                break
            batch.append(following[0])
            size += following[1]
            if size >= LARGEST_BATCH:
                break
        return batch, size

    def _deliver(self, batch: list[Entry], size: int) -> None:
        delivery = self._delivery
        if not batch or delivery is None:
            return
        pause = self._limits.delay
        while not self._over:
            try:
                outcome = delivery.export(delivery.convert(batch))
            except Exception as error:
                self._say("error", f"records are refused: {type(error).__name__}: {error}")
                self._settle(len(batch), size, refused=len(batch))
                return
            if outcome.kind != "failed":
                self._note_outcome(outcome)
                self._settle(len(batch), size, refused=outcome.rejected if outcome.kind == "taken" else len(batch))
                return
            if self._thread is None:
                return
            if self._hurry.wait(pause):
                time.sleep(0.1)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _settle(self, number: int, size: int, *, refused: int) -> None:
        with self._lock:
            if not self._over:
                counts = self._counts
                self._bytes -= size
                self._counts = counts._replace(sent=counts.sent + number - refused, refused=counts.refused + refused)

    def _is_worked_on(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _is_failing(self) -> bool:
        return self._delivery is not None and self._delivery.is_failing

    # -- telling

    def _note_failure(self, url: str, reason: str) -> None:
        self._say("failure", f"{url} does not take records ({reason}); they wait, up to {self._limits.queue:,} of them")

    def _note_outcome(self, outcome: Outcome) -> None:
        if outcome.kind == "refused":
            self._say(f"refused {outcome.reason}", f"records are refused and dropped: {outcome.reason}")
        elif outcome.rejected:
            self._say("rejected", f"the receiver rejects some records: {outcome.reason}")
        elif "failure" in self._said:
            self._say("recovery", "the receiver takes records again")

    def _say(self, what: str, text: str) -> None:
        if what not in self._said and len(self._said) < 20:
            self._said.add(what)
            warn(f"otel: {text}")


def get_sender() -> Sender:
    """Return the one sender of the process; it does nothing before its first entry."""
    global _sender
    if _sender is None:
        _sender = Sender()
        atexit.register(_sender.close)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_sender._forget)
    return _sender


def _end_with_multiprocessing(sender: Sender) -> None:
    # its forked children end without the functions that atexit knows
    process, util = sys.modules.get("multiprocessing.process"), sys.modules.get("multiprocessing.util")
    if process is not None and util is not None and process.parent_process() is not None:
        util.Finalize(None, sender.close, exitpriority=0)
