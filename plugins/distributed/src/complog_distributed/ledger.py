"""The file in which the ranks of one job on one host write who printed what: locked, bounded, proof against kills."""

from __future__ import annotations

import os
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

MOST_BYTES: Final = 4 * 1024 * 1024
"""How large the file of one job may become."""

PATIENCE: Final = 2.0
"""Seconds to wait for the lock, which is held for microseconds, before something must be wrong with its holder."""

_HEAD: Final = struct.Struct("<8s8s")
_MAGIC: Final = b"complog1"
_ROW: Final = struct.Struct("<BxHIQ16s")
_MEMBER: Final = struct.Struct("<IIQ")
_VALUE: Final = struct.Struct("<Q")
_VALUE_AT: Final = 8
_LEFT, _SILENCED = 1, 2
_IS_MEMBER, _IS_CLAIM, _IS_REPEAT = 1, 2, 3


class Member(NamedTuple):
    """A process that speaks for a rank, unless that is `silenced`; `left`: it is about to end, in an orderly way."""

    offset: int
    rank: int
    process: int
    parent: int
    start: int
    left: bool
    silenced: bool


class Claim(NamedTuple):
    """A warning that `rank` has printed; `told` of its repeats have been told so far."""

    offset: int
    rank: int
    told: int
    text: bytes


class Repeat(NamedTuple):
    """How many times a rank had a warning that another one has printed."""

    offset: int
    times: int


class Ledger:
    """The rows of one file, as far as they have been read; its methods need the lock: `with Ledger.locked(...)`.

    Whatever is wrong with the file, or the way to it, is an OSError.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.run = b""
        self.is_new = False
        self._forget()

    def _forget(self) -> None:
        self.members: list[Member] = []
        self.claims: dict[bytes, Claim] = {}
        self.repeats: dict[bytes, dict[int, Repeat]] = {}
        self._read = _HEAD.size

    @contextmanager
    def locked(self, *, create: bool = False, patience: float = PATIENCE) -> Iterator[Ledger]:
        """Open and lock the file, and read what others have added; FileNotFoundError where it is gone."""
        self._file = _open_locked(self.path, create, patience)
        try:
            head = os.pread(self._file, _HEAD.size, 0)
            magic, run = _HEAD.unpack(head) if len(head) == _HEAD.size else (b"", b"")
            self.is_new = magic != _MAGIC
            if self.is_new:
                self.begin_anew()
            elif run != self.run:
                self.run = run
                self._forget()
            self._read_on()
            yield self
        finally:
            _unlock(self._file)

    def begin_anew(self) -> None:
        """Forget everything that was written: another run of the job begins."""
        run = os.urandom(8)
        os.ftruncate(self._file, 0)
        self._put(_HEAD.pack(_MAGIC, run), 0)
        self.run = run
        self.is_new = True
        self._forget()

    def read_again(self) -> None:
        """Read the whole file, numbers that others have changed included."""
        self._forget()
        self._read_on()

    def add_member(self, rank: int, process: int, parent: int, start: int) -> None:
        """Note that a process speaks for a rank from now on."""
        self._append(_IS_MEMBER, rank, 0, _MEMBER.pack(process, parent, start))

    def set_state(self, member: Member, *, left: bool, silenced: bool) -> None:
        """Note what has become of a member."""
        self._set_value(member.offset, _LEFT * left | _SILENCED * silenced)

    def set_told(self, claim: Claim, times: int) -> None:
        """Note that so many repeats of a warning have been told."""
        self._set_value(claim.offset, times)

    def add_claim(self, digest: bytes, rank: int, text: bytes) -> None:
        """Note that the rank prints this warning."""
        self._append(_IS_CLAIM, rank, 0, digest, text)

    def add_repeat(self, digest: bytes, rank: int) -> None:
        """Count a warning that the rank does not print."""
        known = self.repeats.get(digest, {}).get(rank)
        if known is None:
            self._append(_IS_REPEAT, rank, 1, digest)
            return
        (times,) = _VALUE.unpack(os.pread(self._file, _VALUE.size, known.offset + _VALUE_AT))
        self._set_value(known.offset, times + 1)

    def remove(self) -> None:
        """Remove the file, which nobody needs any more."""
        os.unlink(self.path)

    def _set_value(self, offset: int, value: int) -> None:
        self._put(_VALUE.pack(value), offset + _VALUE_AT)

    def _append(self, kind: int, rank: int, value: int, key: bytes, text: bytes = b"") -> None:
        row = _ROW.pack(kind, len(text), rank, value, key) + text
        if self._read + len(row) > MOST_BYTES:
            raise OSError(f"{self.path!r} is full: there are too many different warnings")
        self._put(row, self._read)
        self._read_on()

    def _put(self, data: bytes, offset: int) -> None:
        size = os.fstat(self._file).st_size
        fault: OSError | None = None
        try:
            if os.pwrite(self._file, data, offset) == len(data):
                return
        except OSError as error:
            fault = error
        os.ftruncate(self._file, size)
        raise fault or OSError("there is no space left")

    def _read_on(self) -> None:
        size = os.fstat(self._file).st_size
        data = os.pread(self._file, max(0, size - self._read), self._read)
        at = 0
        while len(data) - at >= _ROW.size:
            kind, length, rank, value, key = _ROW.unpack_from(data, at)
            end = at + _ROW.size + length
            if end > len(data):
                break
            offset = self._read + at
            if kind == _IS_MEMBER:
                process, parent, start = _MEMBER.unpack(key)
                self.members.append(
                    Member(offset, rank, process, parent, start, bool(value & _LEFT), bool(value & _SILENCED))
                )
            elif kind == _IS_CLAIM:
                self.claims.setdefault(key, Claim(offset, rank, value, data[at + _ROW.size : end]))
            elif kind == _IS_REPEAT:
                self.repeats.setdefault(key, {})[rank] = Repeat(offset, value)
            at = end
        self._read += at
        if self._read < size:  # whoever wrote that was killed in the middle of it
            os.ftruncate(self._file, self._read)


def _open_locked(path: str, create: bool, patience: float) -> int:
    import fcntl

    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_CREAT if create else 0)
    give_up = time.monotonic() + patience
    while True:
        file = os.open(path, flags, 0o600)
        try:
            if file <= 2:  # a program that closed one of these might write there before this is closed again
                low, file = file, fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 3)
                os.close(low)
            about = os.fstat(file)
            if not stat.S_ISREG(about.st_mode) or about.st_uid != os.getuid():
                raise PermissionError(f"{path!r} is not a file of this user")
            _lock(file, path, give_up)
            if os.fstat(file).st_nlink:
                return file
        except BaseException:
            os.close(file)
            raise
        _unlock(file)  # it was removed before it was locked


def _lock(file: int, path: str, give_up: float) -> None:
    import fcntl

    pause = 0.0001
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up:
                raise TimeoutError(f"{path!r} stays locked") from None
        time.sleep(pause)
        pause = min(2 * pause, 0.01)


def _unlock(file: int) -> None:
    import fcntl

    try:
        # closing alone would leave it locked by a child that was forked meanwhile
        fcntl.flock(file, fcntl.LOCK_UN)
    finally:
        os.close(file)
