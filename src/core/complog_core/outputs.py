"""Where text goes: the console of the moment, and a file that may be rotated, filled up or taken away."""

from __future__ import annotations

import io
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from . import report
from .descriptors import (
    SURELY_WHOLE,
    Opened,
    is_own,
    leads_to,
    let_go,
    open_for_appending,
    renew_after_fork,
    send_line,
)
from .errors import OutputError
from .launcher import LOCAL_RANK_VARIABLES, RANK_VARIABLES, find_number

_PLACE: Final = r"\{(rank|local_rank|pid|host)\}"
_FLAT_ENCODINGS: Final = frozenset({"utf-8", "ascii", "iso8859-1", "latin-1", "ansi_x3.4-1968", "us-ascii", "utf8"})
_DIRECT: Final = os.name == "posix"
_UNCHECKED: Final = 40e-6
"""Seconds after a whole look in which it is enough that the path leads to something: what comes in that time may still
go to a file that another one was put in the place of."""


def expand_path(path: str, environ: Mapping[str, str]) -> str:
    """Return the path with `{rank}`, `{local_rank}`, `{pid}` and `{host}` filled in; all else stays as it is.

    >>> expand_path("{host}x", {}) != "{host}x", expand_path("~/r{rank}.{local_rank}.{name}", {"RANK": "3"})
    (True, '~/r3.0.{name}')
    """
    return re.sub(_PLACE, lambda match: _fill(match[1], environ), path)


def _fill(place: str, environ: Mapping[str, str]) -> str:
    if place == "pid":
        return str(os.getpid())
    if place == "host":
        return host_name()
    return str(find_number(RANK_VARIABLES if place == "rank" else LOCAL_RANK_VARIABLES, environ) or 0)


def host_name() -> str:
    """Return the name of this machine."""
    if hasattr(os, "uname"):
        return os.uname().nodename
    import socket

    return socket.gethostname()


class FileOutput:
    """A file that records are appended to, opened now, its parents created; `path` is where, `template` what was asked.

    Raises OutputError, whose source is `variable`, where that is impossible. Safe for threads and forks: a record is
    one append write, a child goes on in the same file, or in its own where the template holds `{pid}`.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     output = FileOutput(directory + "/sub/{rank}.log", variable="TORCH_LOGS_OUT")
    ...     written = output.write("hello")
    ...     output.close()
    ...     written, pathlib.Path(output.path).read_text()
    (True, 'hello\\n')
    """

    def __init__(self, template: str, *, variable: str) -> None:
        self.template = template
        self._variable = variable
        self._lock = threading.RLock()  # re-entrant: a signal handler or a finalizer may log in the middle of a write
        self._opened: Opened | None = None
        self._checked = 0.0
        self._closed = self._failing = self._torn = self._inherited = False
        try:
            # a later chdir must not move the file
            self._rooted = template if os.path.isabs(template) else os.path.join(os.getcwd(), template)
            self.path = expand_path(self._rooted, os.environ)
            if not os.path.basename(template):
                raise ValueError("it names no file")
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            self._opened = open_for_appending(self.path, wait=True)
        except (OSError, ValueError) as error:
            raise OutputError(variable, (f"cannot open {template!r}: {_say(error)}",)) from error
        renew_after_fork(self)

    def write(self, text: str) -> bool:
        """Append the text and a line end; return whether the file took all of it. Never raises.

        The first failure of a row is one warning; the next warning comes after a write that succeeded.
        """
        line = text.encode("utf-8", "backslashreplace")
        fault = ""
        with self._lock:
            try:
                self._append(line)
            except (OSError, ValueError) as error:
                fault = _say(error)
            is_news = bool(fault) and not self._failing
            self._failing = bool(fault)
        if is_news:
            _warn(f"{self._variable}: cannot write to {self.path!r}: {fault}; records go to stderr until it works")
        return not fault

    def close(self) -> None:
        """Close the file; a record that another thread still brings opens it for itself alone."""
        with self._lock:
            self._closed = True
            opened, self._opened = self._opened, None
            if opened is not None:
                let_go(opened)

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # an interpreter that is shutting down has taken names away
            pass

    def _append(self, line: bytes) -> None:
        opened = self._current()
        passing = self._closed
        try:
            fault, self._torn = send_line(opened.descriptor, line, torn=self._torn)
            if fault is not None:
                raise fault
        finally:
            if passing:
                let_go(opened)

    def _current(self) -> Opened:
        """Return the file to write to: the open one if it is still that path's, else a new one."""
        opened = self._opened
        # what others have closed has to be known before its number is given out again
        own = opened is not None and is_own(opened)
        if self._inherited:
            self.path = expand_path(self._rooted, os.environ)
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
        elif opened is not None and own and self._is_in_place(opened):
            return opened
        fresh = open_for_appending(self.path, wait=False)
        if not self._closed:
            self._opened = fresh
            self._inherited = self._torn = False
            if opened is not None and own:
                let_go(opened)
        return fresh

    def _is_in_place(self, opened: Opened) -> bool:
        now = time.monotonic()
        if now - self._checked < _UNCHECKED and os.access(self.path, os.F_OK):
            return True
        in_place = leads_to(self.path, opened)
        self._checked = now if in_place else 0.0
        return in_place

    def _after_fork(self) -> None:
        self._lock = threading.RLock()
        self._inherited = "{pid}" in self.template


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
        self._direct: tuple[Any, str, int] = (None, "", -1)
        renew_after_fork(self)

    def write(self, text: str, paint: Callable[[str, Any], str] | None = None) -> bool:
        """Write the text and a line end at once; return whether the stream took it. Never raises.

        `paint` is asked, with the text and the stream, what to write instead.
        """
        try:
            stream: Any = sys.stderr
            if paint is not None and stream is not None:
                text = paint(text, stream)
            known, encoding, descriptor = self._direct
            if stream is not known or stream.encoding is not encoding:
                found = _find_descriptor(stream)
                if found is None:
                    with self._lock:  # a stream written in Python need not be made for several threads at once
                        return stream is not None and _write_to_stream(stream, text + "\n")
                descriptor = found
                self._direct = (stream, stream.encoding, descriptor)
            try:
                stream.flush()  # raises ValueError where the stream is closed, and its number perhaps somebody else's
            except (OSError, RuntimeError):
                pass  # a full pipe, or a signal that came while it was being flushed; only the order suffers
            # ASCII is the same in every encoding that is written directly
            line = text.encode() if text.isascii() else _encode(text, stream)
            sent = 0
            with self._lock:
                if not self._torn and len(line) < SURELY_WHOLE:
                    try:
                        sent = os.write(descriptor, line + b"\n")
                    except BlockingIOError:
                        pass
                    if sent > len(line):
                        return True
                fault, self._torn = send_line(descriptor, line, torn=self._torn, sent=sent)
            return fault is None
        except Exception:  # somebody's stream, or none; whatever is wrong with it costs its copy and nothing else
            return False

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


def _say(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def _warn(text: str) -> None:
    try:
        report.warn(text)
    except Exception:  # the stream it goes to is somebody's
        pass
