"""Files to log to, descriptors to look at, and children to fork, for the tests of the output layer."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from complog_core.console import ConsoleOutput
from complog_core.files import FileOutput
from complog_core.turns import Turn

_local = threading.local()


def own_turn() -> Turn:
    """Return this thread's turn, as a handler has one."""
    turn: Turn | None = getattr(_local, "turn", None)
    if turn is None:
        turn = _local.turn = Turn()
    return turn


class File(FileOutput):
    """A file that is written to as the handlers do it."""

    def write(self, text: str, turn: Turn | None = None) -> bool:
        return super().write(text, turn or own_turn())


class Console(ConsoleOutput):
    """A console that is written to as the handlers do it."""

    def write(self, text: str, paint: Any = None, turn: Turn | None = None) -> bool:
        return super().write(text, paint, turn or own_turn())


def open_file(path: object) -> FileOutput:
    return File(str(path), variable="MYLIB_LOGS_OUT")


def count_descriptors() -> int:
    gc.collect()  # what other tests have left open goes at any moment
    return len(os.listdir("/proc/self/fd"))


def descriptor_of(path: Path, *, besides: int | None = None) -> int:
    """Return the only descriptor that is open on the file, `besides` left out."""
    numbers = [int(number) for number in os.listdir("/proc/self/fd")]
    (found,) = (number for number in numbers if number != besides and _is_open_on(number, path))
    return found


def _is_open_on(number: int, path: Path) -> bool:
    link = f"/proc/self/fd/{number}"
    return os.path.exists(link) and os.path.samefile(link, path)


def record_writes(descriptor: int, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return a list that every write to the descriptor from now on is added to, in one piece or gathered."""
    written: list[bytes] = []
    write, gather = os.write, os.writev

    def write_and_note(fd: int, data: bytes) -> int:
        sent = write(fd, data)
        if fd == descriptor:
            written.append(bytes(data[:sent]))
        return sent

    def gather_and_note(fd: int, pieces: Sequence[bytes]) -> int:
        sent = gather(fd, pieces)
        if fd == descriptor:
            written.append(b"".join(pieces)[:sent])
        return sent

    monkeypatch.setattr(os, "write", write_and_note)
    monkeypatch.setattr(os, "writev", gather_and_note)
    return written


def in_child(work: Callable[[], object]) -> None:
    """Run `work` in a forked child, and fail where it fails or hangs."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
