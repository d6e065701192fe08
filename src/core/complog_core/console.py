"""Where text goes: the console of the moment."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from .descriptors import SURELY_WHOLE, renew_after_fork, send_line
from .turns import Turn, give_way, wait_for_others

_FLAT_ENCODINGS: Final = frozenset({"utf-8", "ascii", "iso8859-1", "latin-1", "ansi_x3.4-1968", "us-ascii", "utf8"})
_NO_STREAM: Final = object()
_DIRECT: Final = os.name == "posix"


class ConsoleOutput:
    """Whatever `sys.stderr` is when a record arrives.

    >>> import contextlib, io
    >>> with contextlib.redirect_stderr(io.StringIO()) as stream:
    ...     ConsoleOutput().write("hello"), stream.getvalue()
    (True, 'hello\\n')
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._torn = False
        self.is_careful = False
        """Whether a line is under way, or half a line was written, so that another one has to wait for the lock."""
        self.direct: tuple[Any, str, int] = (_NO_STREAM, "", -1)
        """A stream that does no more than pass on, its encoding, and the descriptor that it passes on to."""
        renew_after_fork(self)

    def write(self, text: str, paint: Callable[[str, Any], str] | None = None, turn: Turn | None = None) -> bool:
        """Write the text and a line end at once; return whether the stream took it. Never raises.

        `paint` is asked, with the text and the stream, what to write instead. With the thread's `turn` a short line
        needs no lock.
        """
        try:
            stream: Any = sys.stderr
            if paint is not None and stream is not None:
                text = paint(text, stream)
            known, encoding, descriptor = self.direct
            if stream is not known or stream.encoding is not encoding:
                found = _find_descriptor(stream)
                if found is None:
                    with self._lock:  # a stream written in Python need not be made for several threads at once
                        return stream is not None and _write_to_stream(stream, text + "\n")
                descriptor = found
                self.direct = (stream, stream.encoding, descriptor)
            try:
                stream.flush()  # raises ValueError where the stream is closed, and its number perhaps somebody else's
            except (OSError, RuntimeError):
                pass  # a full pipe, or a signal that came while it was being flushed; only the order suffers
            if turn is None or len(text) >= SURELY_WHOLE or not text.isascii():
                return self.finish(descriptor, _encode(text, stream))
            line = (text + "\n").encode()
            sent, before = 0, turn.writing  # it may be, where a signal's handler logs
            turn.writing = True
            try:
                if not self.is_careful:
                    sent = os.write(descriptor, line)
            except BlockingIOError:
                pass
            finally:
                turn.writing = before
            return sent == len(line) or self.finish(descriptor, line[:-1], sent)
        except Exception:  # somebody's stream, or none; whatever is wrong with it costs its copy and nothing else
            return False

    def finish(self, descriptor: int, line: bytes, sent: int = 0) -> bool:
        """Write the line, of which `sent` bytes are written, and its end, whatever that takes."""
        give_way()
        with self._lock:
            self.is_careful = True
            wait_for_others()
            fault, self._torn = send_line(descriptor, line, torn=self._torn, sent=sent)
            self.is_careful = self._torn
        return fault is None

    def _after_fork(self) -> None:
        self._lock = threading.RLock()


def _find_descriptor(stream: Any) -> int | None:
    """Return the descriptor of a stream that does no more than pass on to it, None for others."""
    return stream.fileno() if type(stream) is io.TextIOWrapper and _is_direct(stream) else None


def _is_direct(stream: io.TextIOWrapper) -> bool:
    # other buffers (gzip's, for one) have a descriptor too, but change what goes there
    buffer = stream.buffer
    raw = buffer.raw if type(buffer) is io.BufferedWriter else buffer
    # an encoding with a byte order mark is one that only the stream itself knows how to go on with
    return _DIRECT and type(raw) is io.FileIO and stream.encoding.lower() in _FLAT_ENCODINGS


def _encode(text: str, stream: io.TextIOWrapper) -> bytes:
    if text.isascii():  # the same in every encoding that is written directly
        return text.encode()
    try:
        return text.encode(stream.encoding, stream.errors or "strict")
    except UnicodeEncodeError:
        return text.encode(stream.encoding, "backslashreplace")


def _write_to_stream(stream: Any, line: str) -> bool:
    try:
        stream.write(line)
    except UnicodeEncodeError:
        encoding = getattr(stream, "encoding", None) or "ascii"
        stream.write(line.encode(encoding, "backslashreplace").decode(encoding))
    flush = getattr(stream, "flush", None)
    if flush is not None:
        flush()
    return True
