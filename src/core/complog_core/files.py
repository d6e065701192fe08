"""Where text goes: a file that may be rotated, filled up or taken away."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any, Final

from . import report
from .console import ConsoleOutput
from .descriptors import SURELY_WHOLE, renew_after_fork, send_line
from .errors import OutputError
from .launcher import LOCAL_RANK_VARIABLES, RANK_VARIABLES, find_number, host_name
from .opened import Opened, is_own, leads_to, let_go, open_for_appending
from .pace import Pace
from .turns import Turn, give_way, wait_for_others

_PLACE: Final = r"\{(rank|local_rank|pid|host)\}"


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
        self._pace = Pace()
        self._closed = self._failing = self._torn = self._inherited = False
        self._is_usual = True
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

    def write(self, text: str, turn: Turn | None = None) -> bool:
        """Append the text and a line end; return whether the file took all of it. Never raises.

        With the thread's `turn` a short line needs no lock.

        The first failure of a row is one warning; the next warning comes after a write that succeeded.
        """
        sent, opened = 0, None
        if turn is not None and len(text) < SURELY_WHOLE:
            line = (text + "\n").encode("utf-8", "backslashreplace")
            before = turn.writing  # it may be, where a signal's handler logs
            turn.writing = True
            try:
                opened = self._opened
                if opened is not None and self._is_usual and len(line) <= SURELY_WHOLE:
                    descriptor, _, _, identify, identity = opened
                    if identify() == identity and (self._pace.holds() or self._is_in_place(opened)):
                        sent = os.write(descriptor, line)
                        if sent == len(line):
                            return True
            except (OSError, ValueError):
                pass  # it is tried again, and told then
            finally:
                turn.writing = before
        return self._append(text.encode("utf-8", "backslashreplace"), opened, sent)

    def write_beside(self, console: ConsoleOutput, text: str, turn: Turn) -> None:
        """Write the text to the console and to the file, as each of them does; a short one is encoded once.

        Both in one place, since that saves about a fiftieth of such a line.
        """
        stream: Any = getattr(sys, "stderr", None)
        known, encoding, descriptor = console.direct
        if stream is not known or len(text) >= SURELY_WHOLE or not text.isascii():
            console.write(text, None, turn)
            self.write(text, turn)
            return
        line = (text + "\n").encode()
        shown, written, opened = 0, 0, None
        before = turn.writing  # it may be, where a signal's handler logs
        turn.writing = True
        try:
            if stream.encoding is encoding and not console.is_careful:
                stream.flush()
                shown = os.write(descriptor, line)
                opened = self._opened
                if shown == len(line) and opened is not None and self._is_usual:
                    number, _, _, identify, identity = opened
                    if identify() == identity and (self._pace.holds() or self._is_in_place(opened)):
                        written = os.write(number, line)
                        if written == shown:
                            return
        except Exception:  # somebody's stream; each is tried again by itself, and what is wrong told then
            pass
        finally:
            turn.writing = before
        if shown == len(line):
            self._append(line[:-1], opened, written)
            return
        if shown:
            console.finish(descriptor, line[:-1], shown)
        else:
            console.write(text, None, turn)
        self.write(text, turn)

    def close(self) -> None:
        """Close the file; a record that another thread still brings opens it for itself alone."""
        with self._alone():
            self._closed = True
            opened, self._opened = self._opened, None
            if opened is not None:
                let_go(opened)

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # an interpreter that is shutting down has taken names away
            pass

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other thread write here meanwhile, nor use the descriptor."""
        give_way()
        with self._lock:
            self._is_usual = False
            wait_for_others()
            try:
                yield
            finally:
                self._is_usual = not (self._closed or self._failing or self._torn or self._inherited)

    def _append(self, line: bytes, opened: Opened | None, sent: int) -> bool:
        """Write the line, of which `sent` bytes are in `opened`, whatever that takes."""
        fault = ""
        with self._alone():
            try:
                if opened is None or not sent:
                    opened = self._current()
                problem, self._torn = send_line(opened.descriptor, line, torn=self._torn, sent=sent)
                if opened is not self._opened:
                    let_go(opened)
                fault = "" if problem is None else _say(problem)
            except (OSError, ValueError) as error:
                fault = _say(error)
            is_news = bool(fault) and not self._failing
            self._failing = bool(fault)
        if is_news:
            _warn(f"{self._variable}: cannot write to {self.path!r}: {fault}; records go to stderr until it works")
        return not fault

    def _current(self) -> Opened:
        """Return the file to write to: the open one if it is still that path's, else a new one."""
        opened = self._opened
        # what others have closed has to be known before its number is given out again
        own = opened is not None and is_own(opened)
        if self._inherited:
            self.path = expand_path(self._rooted, os.environ)
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
        elif opened is not None and own and leads_to(self.path, opened):
            return opened
        fresh = open_for_appending(self.path, wait=False)
        if not self._closed:
            self._opened = fresh
            self._inherited = self._torn = False
            if opened is not None and own:
                let_go(opened)
        return fresh

    def _is_in_place(self, opened: Opened) -> bool:
        in_place = is_own(opened) and leads_to(self.path, opened)
        self._pace.go_on()
        return in_place

    def _after_fork(self) -> None:
        self._lock = threading.RLock()
        self._inherited = "{pid}" in self.template
        self._is_usual = self._is_usual and not self._inherited


def _say(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def _warn(text: str) -> None:
    try:
        report.warn(text)
    except Exception:  # the stream it goes to is somebody's
        pass
