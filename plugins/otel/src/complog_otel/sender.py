"""Sends what waits, from a thread of its own, and empties the queue before the process ends."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final

from complog_core import warn

from .backlog import Backlog
from .counts import Counts
from .limits import EXIT_WITHOUT_ANSWER, LARGEST_BATCH, LARGEST_QUEUE, read_limits
from .provider import find_provider, hand_to
from .quiet import is_exporting, is_sending, sending, silence_own_thread
from .switch import find_other_protocol

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import ReadableLogRecord

    from .delivery import Delivery, Outcome
    from .entries import Entry

_LONGEST_PAUSE: Final = 5.0
_LONGEST_HOLD: Final = 5.0
_MOST_BEGINNINGS: Final = 10
_MOST_ROUNDS: Final = 3
_MOST_SAID: Final = 20
_making: Final = threading.Lock()
_sender: Sender | None = None


class Sender:
    """Takes entries from any thread without letting it wait for the network.

    The first entry imports OpenTelemetry and starts the thread, in each process anew. Each warning is given once.
    """

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._forget()

    def _forget(self) -> None:
        # what a forked child has inherited is its parent's: the records, the connection, a thread that is not there
        self._backlog = Backlog()
        self._delivery: Delivery | None = None
        self._thread: threading.Thread | None = None
        self._beginning = threading.Lock()
        self._beginnings = self._beginner = 0
        self._holders: set[int] = set()
        self._hurry = threading.Event()

    @property
    def counts(self) -> Counts:
        """What became of this process's records so far."""
        return self._backlog.counts

    def take(self, entry: Entry) -> None:
        """Queue an entry, or drop and count it where there is no room. A provider of the program's gets it at once."""
        inside = is_sending()
        provider = find_provider()
        if provider is not None:
            # what an export logs, in this thread or in one of the provider's, would be exported in turn
            if not inside and not is_exporting():
                self._hand_over(provider, entry)
            return
        backlog = self._backlog
        if self._thread is None and not inside and not backlog.is_closed:
            self._begin()
        # what a thread that sends logs must not cause another export
        backlog.put(entry, aside=inside)
        if backlog.counts.full:
            text = f"{backlog.limits.queue:,} records, or {LARGEST_QUEUE >> 20} MiB of text, wait to be sent"
            self._say("full", f"{text}; further ones are dropped until there is room, and counted")

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until nothing waits, for at most `timeout` seconds (None: OTEL_BLRP_EXPORT_TIMEOUT); return whether so.

        A receiver that does not take records is waited for 5 seconds at most.
        """
        if is_sending():
            return False
        backlog, start = self._backlog, time.monotonic()
        longest = backlog.limits.export if timeout is None else timeout
        if self._is_worked_on():
            backlog.nudge()
        while backlog.is_unsent and self._is_worked_on():
            passed = time.monotonic() - start
            if passed > longest or (self._is_failing() and passed > EXIT_WITHOUT_ANSWER):
                break
            time.sleep(0.005)
        return not backlog.is_unsent

    def close(self) -> None:
        """Send what waits as `flush` does, drop the rest, and tell how many were dropped; later entries are dropped."""
        backlog = self._backlog
        if backlog.is_closed:
            return
        self._hurry.set()
        if backlog.counts.waiting and not self._is_worked_on():
            self._send_here()
        for _ in range(_MOST_ROUNDS):
            # what is logged in the thread that sends comes with the next round, which may log in turn
            if not self.flush() or not backlog.counts.waiting:
                break
        backlog.close()
        if self._delivery is not None:
            with sending():
                self._delivery.shutdown()
        counts = backlog.counts
        if counts.dropped:
            told = {"found no room": counts.full, "were refused": counts.refused, "were left at the end": counts.left}
            reasons = ", ".join(f"{number:,} {what}" for what, number in told.items() if number)
            warn(f"otel: {counts.dropped:,} of {counts.logged:,} records were not sent: {reasons}")

    # -- beginning

    def _begin(self) -> None:
        # another thread, or this one further up, may be at it: the entry waits in the queue meanwhile
        if not self._beginning.acquire(blocking=False):
            return
        self._beginner = threading.get_ident()
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
            self._beginner = 0
            self._beginning.release()

    def _open(self) -> bool:
        if self._delivery is not None:
            return True
        self._beginnings += 1
        try:
            if self._beginnings == 1:
                self._backlog.limits = read_limits(os.environ)
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

    def _hold(self) -> None:
        # a fork in the middle of an import leaves the child with modules that nobody ever completes; where the import
        # itself waits for the thread that forks, it is not waited for
        me = threading.get_ident()
        if self._beginner != me and self._beginning.acquire(timeout=_LONGEST_HOLD):
            self._holders.add(me)

    def _let_go(self) -> None:
        me = threading.get_ident()
        if me in self._holders:
            self._holders.remove(me)
            self._beginning.release()

    # -- sending

    def _hand_over(self, provider: Any, entry: Entry) -> None:
        try:
            hand_to(provider, entry)
        except Exception as error:
            self._backlog.note_handed(refused=True)
            self._say("provider", f"the program's LoggerProvider raised {type(error).__name__}: {error}")
        else:
            self._backlog.note_handed()

    def _run(self) -> None:
        with sending():
            while not self._backlog.is_closed:
                self._deliver(*self._collect())

    def _send_here(self) -> None:
        self._thread = None  # one that has ended, if any
        with sending():
            if not self._open():
                return
            end = time.monotonic() + self._backlog.limits.export
            while self._backlog.is_unsent and not self._is_failing() and time.monotonic() < end:
                self._backlog.nudge()
                self._deliver(*self._collect())

    def _collect(self) -> tuple[list[Entry], int]:
        """Wait for an entry, then for more until a batch is full, the delay is over, or somebody waits."""
        backlog = self._backlog
        batch: list[Entry] = []
        item, size = backlog.get(), 0
        end = time.monotonic() + (0 if self._hurry.is_set() else backlog.limits.delay)
        while item is not None:
            batch.append(item[0])
            size += item[1]
            if len(batch) >= backlog.limits.batch or size >= LARGEST_BATCH:
                break
            item = backlog.get(max(0, end - time.monotonic()))
        return batch, size

    def _deliver(self, batch: list[Entry], size: int) -> None:
        backlog, delivery = self._backlog, self._delivery
        if not batch or delivery is None:
            return
        records, reason = delivery.convert(batch)
        unfit = len(batch) - len(records)
        if unfit:
            self._say("unfit", f"a record cannot be sent and is dropped: {reason}")
        pause = backlog.limits.delay
        while not backlog.is_closed:
            outcome = self._export(delivery, records)
            if outcome.kind != "failed":
                refused = outcome.rejected if outcome.kind == "taken" else len(records)
                backlog.settle(len(batch), size, refused=unfit + refused)
                return
            if self._thread is None:
                return
            if self._hurry.wait(pause):
                time.sleep(0.1)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _export(self, delivery: Delivery, records: list[ReadableLogRecord]) -> Outcome:
        from .delivery import Outcome

        if not records:
            return Outcome("taken")
        try:
            outcome = delivery.export(records)
        except Exception as error:
            outcome = Outcome("refused", f"{type(error).__name__}: {error}")
        if outcome.kind != "failed":
            self._note_outcome(outcome)
        return outcome

    def _is_worked_on(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _is_failing(self) -> bool:
        return self._delivery is not None and self._delivery.is_failing

    # -- telling

    def _note_failure(self, url: str, reason: str) -> None:
        most = self._backlog.limits.queue
        self._say("failure", f"{url} does not take records ({reason}); they wait, up to {most:,} of them")

    def _note_outcome(self, outcome: Outcome) -> None:
        if outcome.kind == "refused":
            self._say(f"refused {outcome.reason}", f"records are refused and dropped: {outcome.reason}")
        elif outcome.rejected:
            self._say("rejected", f"the receiver rejects some records: {outcome.reason}")
        elif "failure" in self._said:
            self._say("recovery", "the receiver takes records again")

    def _say(self, what: str, text: str) -> None:
        if what not in self._said and len(self._said) < _MOST_SAID:
            self._said.add(what)
            warn(f"otel: {text}")


def get_sender() -> Sender:
    """Return the one sender of the process; it does nothing before its first entry."""
    global _sender
    if _sender is None:
        with _making:
            if _sender is None:
                sender = Sender()
                atexit.register(sender.close)
                if hasattr(os, "register_at_fork"):
                    os.register_at_fork(
                        before=sender._hold, after_in_parent=sender._let_go, after_in_child=sender._forget
                    )
                _sender = sender
    return _sender


def _end_with_multiprocessing(sender: Sender) -> None:
    # its forked children end without the functions that atexit knows
    process, util = sys.modules.get("multiprocessing.process"), sys.modules.get("multiprocessing.util")
    if process is not None and util is not None and process.parent_process() is not None:
        util.Finalize(None, sender.close, exitpriority=0)
