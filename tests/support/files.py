"""Files to log to, descriptors to look at, and children to fork, for the tests of the output layer."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from complog_core.outputs import FileOutput


def open_file(path: object) -> FileOutput:
    return FileOutput(str(path), variable="MYLIB_LOGS_OUT")


def count_descriptors() -> int:
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
    """Return a list that gets the data of each write to the descriptor from now on."""
    writes: list[bytes] = []
    write = os.write

    def record(fd: int, data: bytes) -> int:
        if fd == descriptor:
            writes.append(data)
        return write(fd, data)

    monkeypatch.setattr(os, "write", record)
    return writes


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
