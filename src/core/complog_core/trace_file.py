"""The trace file of this process: made when something is written, anew in a forked child, and never left torn."""

from __future__ import annotations

import os
from typing import Final

from .opened import Opened, let_go, open_for_appending
from .pace import Pace

FILE_PREFIX: Final = "dedicated_log_torch_trace_"
"""What the names of all trace files begin with; readers look for it."""

_TRIES: Final = 100


class TraceFile:
    """A file of its own for each process in `directory`; the caller sees to it that one thread at a time uses it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     file = TraceFile(directory)
    ...     is_new = file.open(3, os.getpid())
    ...     file.append(b"V1129 15:57:26.774000 4408 a.py:3] {}\\n")
    ...     file.close()
    ...     is_new, os.path.basename(file.path)[:33]
    (True, 'dedicated_log_torch_trace_rank_3_')
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.path = ""
        """Where the file is that was opened last; "" before that."""
        self._opened: Opened | None = None
        self._pace = Pace()
        self.process = 0
        """Which process has opened a file here, whatever has become of it."""
        self._rank: int | None = None

    def is_open(self) -> bool:
        """Return whether the next record goes to the file that is open."""
        return self.process == os.getpid() and self._opened is not None and _exists(self._opened)

    def open(self, rank: int | None, process: int) -> bool:
        """Make sure that a file is open; return whether it is a new one. Raises OSError or ValueError.

        A file that was removed, or whose descriptor somebody closed, is replaced by a new one. `rank` counts where
        `process`, which is this one, has opened none yet.
        """
        opened = self._opened
        if opened is not None and self.process == process:
            try:
                # quicker than is_own()
                if opened.identify() == opened.identity and (self._pace.holds() or self._still_exists(opened)):
                    return False
            except OSError:  # the descriptor stands for nothing any more
                pass
        self.close()
        if self.process != process:
            self._rank = rank
        os.makedirs(self.directory, exist_ok=True)
        path = self._create("" if self._rank is None else f"rank_{self._rank}_")
        self._opened = open_for_appending(path, wait=False)
        self.process = os.getpid()
        self.path = path
        return True

    def append(self, data: bytes | bytearray) -> None:
        """Append the data in one write; where that fails, take back what went, and raise OSError."""
        opened = self._opened
        assert opened is not None
        sent = 0
        try:
            sent = os.write(opened.descriptor, data)
            if sent < len(data):
                with memoryview(data) as rest:
                    while sent < len(data):
                        sent += os.write(opened.descriptor, rest[sent:])
        except BaseException:
            if 0 < sent < len(data):
                self._take_back(opened, sent)
            raise

    def close(self) -> None:
        """Close the file, if there is one; the next record opens a new one."""
        opened, self._opened = self._opened, None
        if opened is not None:
            let_go(opened)

    def _still_exists(self, opened: Opened) -> bool:
        exists = _exists(opened)
        self._pace.go_on()
        return exists

    def _create(self, rank: str) -> str:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
        for _ in range(_TRIES):
            path = os.path.join(self.directory, f"{FILE_PREFIX}{rank}{os.urandom(5).hex()}.log")
            try:
                os.close(os.open(path, flags, 0o600))
            except FileExistsError:
                continue
            return path
        raise FileExistsError(f"no free name in {self.directory!r}")

    def _take_back(self, opened: Opened, sent: int) -> None:
        # nobody else writes here, so what went last is at the end
        try:
            end = os.lseek(opened.descriptor, 0, os.SEEK_END)
            os.ftruncate(opened.descriptor, end - sent)
        except OSError:
            self.close()  # better a new file than records behind half a one


def _exists(opened: Opened) -> bool:
    try:
        about = os.fstat(opened.descriptor)
    except OSError:
        return False
    return about.st_dev == opened.device and about.st_ino == opened.inode and about.st_nlink > 0
