"""Raw descriptors: writing whole records, and the renewal of those who do after a fork."""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
import weakref
from typing import Final, Protocol

PATIENCE: Final = 1.0
"""Seconds that one record waits, in total, for a non-blocking descriptor that takes no more."""

_CAN_GATHER: Final = hasattr(os, "writev")
SURELY_WHOLE: Final = 512
"""Bytes that POSIX lets a pipe take at once everywhere."""


def send_line(descriptor: int, line: bytes, *, torn: bool, sent: int = 0) -> tuple[OSError | None, bool]:
    """Write a line (or several) and its end; return what stopped that, and whether what is there ends within a line.

    `torn` tells that the last one was, `sent` how many bytes have been written before.
    """
    if torn and not sent:
        line = b"\n" + line
    size = len(line) + 1
    if not sent:
        try:
            if size <= SURELY_WHOLE:
                sent = os.write(descriptor, line + b"\n")
            elif _CAN_GATHER and _largest_write(descriptor, size) == size:
                # a copy of a long record costs more than all the rest that happens to it
                sent = os.writev(descriptor, (line, b"\n"))
        except BlockingIOError:
            pass
        except OSError as fault:
            return fault, torn
        if sent == size:
            return None, False
    data = line + b"\n"
    sent, problem = send(descriptor, data, sent)
    if problem is None:
        return None, False
    return problem, data[sent - 1 : sent] != b"\n" if sent else torn


def send(descriptor: int, data: bytes, sent: int = 0) -> tuple[int, OSError | None]:
    """Write all the data, at once where the system can; return how many bytes went, and what stopped the rest.

    The first `sent` bytes have been written before.

    A FIFO gets whole lines, in writes that it takes whole, so that writers who share it do not tear them.
    """
    give_up: float | None = None
    try:
        limit = len(data) if len(data) <= SURELY_WHOLE else _largest_write(descriptor, len(data))
        while sent < len(data):
            try:
                step = os.write(descriptor, data[sent : _end_of_piece(data, sent, limit)])
                if not step:
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                sent += step
            except BlockingIOError as fault:
                now = time.monotonic()
                give_up = now + PATIENCE if give_up is None else give_up
                if now >= give_up:
                    return sent, fault
                _wait(descriptor, give_up - now)
    except OSError as fault:
        return sent, fault
    return sent, None


def _largest_write(descriptor: int, size: int) -> int:
    # asked each time: dup2 may have put another kind of file there since the last record
    if os.name != "posix" or not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        return size
    import select

    return select.PIPE_BUF


def _end_of_piece(data: bytes, start: int, limit: int) -> int:
    end = start + limit
    if end >= len(data):
        return len(data)
    return data.rfind(b"\n", start, end) + 1 or end


def _wait(descriptor: int, seconds: float) -> None:
    import select

    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
        poll.poll(seconds * 1000)
    time.sleep(0.0005)  # some descriptors call themselves writable and then refuse


class Renewable(Protocol):
    """Something with locks, which a forked child must not find held by threads that it does not have."""

    def _after_fork(self) -> None: ...


_renewables: weakref.WeakSet[Renewable] = weakref.WeakSet()
_registering = threading.Lock()
_registered = False


def renew_after_fork(thing: Renewable) -> None:
    """Call `thing._after_fork()` in each forked child for as long as the thing lives."""
    global _registered
    _renewables.add(thing)
    if _registered or not hasattr(os, "register_at_fork"):
        return
    with _registering:
        if not _registered:
            _registered = True
            os.register_at_fork(after_in_child=_renew)


def _renew() -> None:
    global _registering
    _registering = threading.Lock()
    for thing in list(_renewables):
        thing._after_fork()
