"""This process among the ranks of its job on this host: it joins, asks who prints a warning, and leaves."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from complog_core import find_launcher_rank, warn_once

from .jobs import find_local_size, find_start, make_directory, name_job, name_system
from .ledger import Claim, Ledger, Member
from .ranks import find_rank

GRACE: Final = 1.0
"""Seconds that a process which has repeats to tell of waits, at its end, for the others to end too."""

_PAUSE: Final = 0.02
_ENDING: Final = ".ranks"
_MOST_CLEANED: Final = 100
_LONGEST: Final = 0xFFFF


class Sum(NamedTuple):
    """A warning, as it was described, that `ranks` other ranks had `times` times in all, or so far."""

    text: bytes
    ranks: int
    times: int
    so_far: bool


class Participant:
    """What this process knows of its job; safe for threads and forks. A fault costs one warning, and ends it all.

    `tell` is called with what there is to tell at the end of the process, if this is the one to do so; one whose rank
    `is_silenced` never is.
    """

    def __init__(self, tell: Callable[[list[Sum]], None], is_silenced: Callable[[], bool]) -> None:
        self._tell = tell
        self._is_silenced = is_silenced
        self._was_silenced = False
        self._lock = threading.RLock()
        self._busy = False
        self._ledger: Ledger | None = None
        self._run = b""
        self._rank = -1
        self._launched: int | None = None
        self._process = 0
        self._speaks = False
        self._given_up = False

    def join(self) -> bool:
        """Join the other ranks, unless that is done; return whether this process is among them now."""
        process = os.getpid()
        if self._process == process or self._given_up:
            return not self._given_up and self._ledger is not None
        launched = find_launcher_rank()
        if self._process and launched == self._launched:
            return self._ledger is not None  # a forked child speaks as the rank that its parent is
        rank = find_rank()
        if rank is None or not 0 <= rank < 2**32:
            return False
        with self._lock:
            if self._process != process and not self._busy:
                self._busy = True
                try:
                    self._begin(process, rank, launched)
                except Exception as error:
                    self._give_up(error)
                finally:
                    self._busy = False
        return self._ledger is not None

    def heed_silence(self) -> None:
        """Let the others know where it has changed whether this process' rank is silenced."""
        with self._lock:
            ledger = self._ledger
            if ledger is None or self._busy or not self._speaks or self._process != os.getpid():
                return
            if self._is_silenced() == self._was_silenced:
                return
            with self._working(), ledger.locked():
                self._note(ledger, left=False)

    def take(self, digest: bytes, describe: Callable[[], bytes]) -> bool:
        """Return whether this process prints a warning: its rank does so already, or nobody does so far."""
        with self._lock:
            ledger = self._ledger
            if ledger is None or self._busy:  # a signal handler or finalizer logs in the middle of this
                return True
            prints = True
            with self._working(), ledger.locked():
                if ledger.run != self._run:
                    raise FileNotFoundError  # another run of the job has begun, and this one is not of it
                claim = ledger.claims.get(digest)
                if claim is None:
                    ledger.add_claim(digest, self._rank, describe()[:_LONGEST])
                elif claim.rank != self._rank:
                    ledger.add_repeat(digest, self._rank)
                    prints = False
        return prints

    @contextmanager
    def _working(self) -> Iterator[None]:
        # whatever happens to the ledger ends the collapsing here, and nothing else
        self._busy = True
        try:
            yield
        except FileNotFoundError:
            self._ledger = None
        except Exception as error:
            self._give_up(error)
        finally:
            self._busy = False

    def leave(self) -> None:
        """Tell the others that this process ends, and tell its user the sums, if it is the one to do so."""
        with self._lock:
            ledger, self._ledger = self._ledger, None
            if ledger is None or not self._speaks or self._process != os.getpid():
                return
        try:
            self._leave(ledger)
        except (FileNotFoundError, KeyboardInterrupt):
            pass  # somebody has told everything; or the user does not want to wait
        except Exception as error:
            self._give_up(error)

    def renew_after_fork(self) -> None:
        """Forget, in a forked child, what the parent's threads may have been in the middle of."""
        self._lock = threading.RLock()
        self._busy = False
        if self._ledger is not None:
            self._ledger = Ledger(self._ledger.path)

    def _begin(self, process: int, rank: int, launched: int | None) -> None:
        if os.name != "posix":
            raise OSError(f"it needs file locks as POSIX has them, and this is {sys.platform}")
        directory = make_directory()
        path = os.path.join(directory, f"{name_system()}-{name_job()}{_ENDING}")
        ledger = Ledger(path)
        parent, start = os.getppid(), find_start(process) or 0
        with ledger.locked(create=True):
            if _is_over(ledger.members, rank, parent, process):
                ledger.begin_anew()
            self._speaks = all(member.rank != rank or not _runs(member) for member in ledger.members)
            self._process = process
            if self._speaks:
                ledger.add_member(rank, process, parent, start)
                self._note(ledger, left=False)
            is_new = ledger.is_new
        self._ledger, self._run, self._rank, self._launched = ledger, ledger.run, rank, launched
        if is_new:
            _clean(directory, path)
        if self._speaks:
            _at_exit(self.leave)

    def _leave(self, ledger: Ledger) -> None:
        size, give_up = find_local_size(), time.monotonic() + GRACE
        sums: list[Sum] = []
        left = False
        while True:
            with ledger.locked():
                if ledger.run != self._run:
                    return
                if not left:
                    left = True
                    self._note(ledger, left=True)
                ledger.read_again()
                present = [member for member in ledger.members if _runs(member)]
                running = {member.rank for member in present if not member.silenced}
                is_whole = len({member.rank for member in ledger.members}) >= size > 0
                untold = list(_find_untold(ledger))
                is_late = self._was_silenced or time.monotonic() >= give_up
                if self._was_silenced:
                    pass
                elif untold and not running and (is_whole or is_late):
                    sums = _take_sums(ledger, untold, so_far=False)
                elif untold and is_late:
                    # nobody can say how those who still run will end; what they can no longer add to is told
                    sums = _take_sums(ledger, [d for d in untold if running <= _having(ledger, d)], so_far=True)
                if not present and is_whole and (sums or not untold):
                    ledger.remove()
            if sums or not untold or is_late:
                break
            time.sleep(_PAUSE)
        if sums:
            self._tell(sums)

    def _note(self, ledger: Ledger, *, left: bool) -> None:
        self._was_silenced = self._is_silenced()
        for member in ledger.members:
            if member.process == self._process:
                ledger.set_state(member, left=left, silenced=self._was_silenced)

    def _give_up(self, error: Exception) -> None:
        self._given_up = True
        self._ledger = None
        text = f"dedup='ranks': identical warnings are not collapsed: {type(error).__name__}: {error}"
        warn_once(("complog-distributed", "dedup"), text)


def _is_over(members: list[Member], rank: int, parent: int, process: int) -> bool:
    """Return whether the run that these members are of has ended, so that this process begins another one."""
    running = [member for member in members if _runs(member)]
    ranks = {member.rank for member in members}
    if any(member.rank == rank or member.process == process for member in running):
        return False
    if rank in ranks:
        return True
    if running or not members:
        return False
    if len(ranks) >= find_local_size() > 0:
        return True
    # the first of another run, or one that was started so late that the others are gone?
    return all(member.parent != parent for member in members)


def _runs(member: Member) -> bool:
    return not member.left and find_start(member.process) == member.start


def _find_untold(ledger: Ledger) -> Iterable[bytes]:
    for digest, repeats in ledger.repeats.items():
        claim = ledger.claims.get(digest)
        if claim is not None and sum(repeat.times for repeat in repeats.values()) > claim.told:
            yield digest


def _having(ledger: Ledger, digest: bytes) -> set[int]:
    return {ledger.claims[digest].rank, *ledger.repeats[digest]}


def _take_sums(ledger: Ledger, digests: Iterable[bytes], *, so_far: bool) -> list[Sum]:
    sums: list[Sum] = []
    for digest in digests:
        claim: Claim = ledger.claims[digest]
        times = sum(repeat.times for repeat in ledger.repeats[digest].values())
        ledger.set_told(claim, times)
        sums.append(Sum(claim.text, len(ledger.repeats[digest]), times, so_far))
    return sums


def _clean(directory: str, own: str) -> None:
    """Remove what killed runs have left; whatever cannot be removed stays."""
    try:
        names = os.listdir(directory)
    except OSError:
        return
    # the processes of another host or container cannot be looked at from here
    names = [name for name in names if name.startswith(f"{name_system()}-") and name.endswith(_ENDING)]
    for name in names[:_MOST_CLEANED]:
        path = os.path.join(directory, name)
        if path == own:
            continue
        try:
            ledger = Ledger(path)
            with ledger.locked(patience=0):
                if not any(find_start(member.process) == member.start for member in ledger.members):
                    ledger.remove()
        except OSError:
            pass


def _at_exit(leave: Callable[[], None]) -> None:
    atexit.register(leave)
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is not None and multiprocessing.parent_process() is not None:
        # a child that it has forked ends without what is registered with atexit
        from multiprocessing.util import Finalize

        Finalize(None, leave, exitpriority=-100)
