"""The writer of a trace: records come in from any thread, and stand whole in the file of this process."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from .descriptors import renew_after_fork
from .faults import note_fault
from .model import PluginInfo, TraceRecord
from .rendering import warn_once
from .trace_file import TraceFile
from .trace_json import Faults
from .trace_records import find_references, interned_by, lay_out, prefix_of, prepare_payload
from .trace_tables import InternTable

Listener = tuple[PluginInfo | str, Callable[[TraceRecord], object]]
"""An owner, for warnings, and a function that it contributed."""

MOST_DUMPED: Final = 10_000
"""How many generated files are remembered as written."""


class TraceWriter:
    """Appends records to a file in the directory that it was given last; drops them while there is none. Never raises.

    `variable` is what warnings name. Outside of any lock, `find_rank` is asked before a file is opened, and `on_open`
    is called with its path after its first record. Usable as the back end of a logging.Handler: `emit` takes records
    that carry `metadata` and `payload`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     writer = TraceWriter("MYLIB_TRACE", InternTable())
    ...     writer.turn_to(directory)
    ...     writer.write("V1129 15:57:26.774000 4408 a.py:3]", {"tiles": {"count": 3}}, "16 x 4")
    ...     with open(writer.path) as file:
    ...         text = file.read()
    ...     writer.turn_to(None)
    >>> text.partition("] ")[2]
    '{"tiles": {"count": 3}, "has_payload": "034cedc0dd42499ac03ab79424013b0a"}\\n\\t16 x 4\\n'
    """

    def __init__(
        self,
        variable: str,
        strings: InternTable,
        find_rank: Callable[[], int | None] = lambda: None,
        on_open: Callable[[str], object] = lambda path: None,
    ) -> None:
        self.variable = variable
        self.strings = strings
        self.find_listeners: Callable[[], tuple[Listener, ...]] = tuple
        """Asked at each record for those who are told of it."""
        self._find_rank = find_rank
        self._on_open = on_open
        self._file: TraceFile | None = None
        self._dumped: set[str] = set()
        self._thread = threading.local()
        self._lock = threading.RLock()  # re-entrant: a signal handler or a finalizer may write in the middle of a write
        renew_after_fork(self)

    @property
    def path(self) -> str | None:
        """The file that this process writes to; None before its first record."""
        file = self._file
        return file.path if file is not None and file.is_open() else None

    def turn_to(self, directory: str | None) -> None:
        """Close the file, and write into `directory` from the next record on; None: nowhere."""
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file = None if directory is None else TraceFile(directory)

    def write(
        self,
        prefix: str,
        metadata: Mapping[str, Any],
        payload: object = None,
        faults: Faults | None = None,
        context: str | None = None,
        process: int = 0,
    ) -> None:
        """Append a record: the prefix, which ends in `]`, the metadata as JSON, and the payload, text or JSON value.

        `context` is what `lay_out` takes, and `process` is this one, where the caller knows.
        What cannot be written gets a placeholder and one warning; so do the `faults` that the caller has found already.
        A file that cannot be written costs one warning.
        """
        file = self._file
        if file is None:
            return
        faults = Faults() if faults is None else faults
        try:
            data = lay_out(prefix, metadata, payload, faults, context)
        except Exception as error:  # values with methods of their own can do anything
            faults.note("cannot be written; it is left out", f"{type(error).__name__}: {error}")
            self.report(metadata, faults)
            return
        interned = interned_by(metadata) if type(metadata) is not dict or "str" in metadata else None
        process = process or os.getpid()
        rank = None if file.process == process else self._find_rank()
        problem, opened = "", False
        with self._lock:
            file = self._file
            if file is None:
                return
            try:
                opened = file.open(rank, process)
                if opened:
                    self.strings.begin_file()
                    self._dumped.clear()
                if interned is None or self._is_news(*interned, faults):
                    if self.strings.missing:
                        self._explain(file, prefix, data)
                    file.append(data)
                    if interned is not None:
                        self.strings.missing.discard(interned[1])
            except (OSError, ValueError) as error:
                problem = (error.strerror if isinstance(error, OSError) else None) or str(error)
        if problem:
            text = f"{self.variable}: cannot write to {file.directory!r}: {problem}; records are lost until it works"
            warn_once((self.variable, file.directory), text)
        if faults:
            self.report(metadata, faults)
        if opened and not problem:
            self._tell_opened(file.path)

    def emit(self, record: logging.LogRecord) -> None:
        """Append a record of the logging package that carries `metadata` and `payload`."""
        metadata = getattr(record, "metadata", None)
        try:
            if not isinstance(metadata, Mapping):
                raise TypeError("it carries no metadata")
            prefix = prefix_of(record)
        except Exception as error:
            text = f"{self.variable}: a record of {record.name!r} is left out of the trace: {error}"
            warn_once((self.variable, record.name), text)
        else:
            payload = getattr(record, "payload", None)
            self.write(prefix, metadata, payload)
            self.tell(metadata, payload, record.created, record.pathname, record.lineno or 0)

    def tell(self, metadata: Mapping[str, Any], payload: object, created: float, pathname: str, lineno: int) -> None:
        """Tell the listeners of a record, while there is a trace; of those that explain strings, nothing."""
        listeners = self.find_listeners()
        if not listeners or self._file is None or interned_by(metadata) is not None:
            return
        fields = {name: value for name, value in metadata.items() if name != "has_payload"}
        text = payload if payload is None or isinstance(payload, str) else prepare_payload(payload, Faults())
        record = TraceRecord(next(iter(fields), ""), fields, text, created, pathname, lineno, self.strings.explain)
        if getattr(self._thread, "tells", False):
            return  # what a listener records itself would be told without an end
        self._thread.tells = True
        try:
            for owner, listener in listeners:
                try:
                    listener(record)
                except BaseException as error:
                    note_fault(owner, f"a listener of the trace, {getattr(listener, '__qualname__', listener)},", error)
        finally:
            self._thread.tells = False

    def has_dumped(self, filename: str) -> bool:
        """Return whether this process's file has the source of that generated code."""
        return filename in self._dumped and self.path is not None

    def note_dumped(self, filename: str) -> None:
        """Remember that the file has it; the last 10,000 or fewer are remembered."""
        if len(self._dumped) >= MOST_DUMPED:
            self._dumped.clear()
        self._dumped.add(filename)

    def report(self, metadata: Mapping[str, Any], faults: Faults) -> None:
        """Warn about the first fault of a record, once for each kind of fault."""
        for kind, example in faults.items():
            name = next(iter(metadata), "")
            text = f"{self.variable}: a record {str(name)[:60]!r} {kind}"
            warn_once((self.variable, kind), f"{text} ({example})" if example else text)
            return

    def _is_news(self, text: str, number: int, faults: Faults) -> bool:
        known = self.strings.explain(number)
        if known is None:
            self.strings[text] = number
            return True
        if known != text:
            faults.note("gives a number to a second string; it is left out", number)
            return False
        return number in self.strings.missing

    def _explain(self, file: TraceFile, prefix: str, data: bytes | bytearray) -> None:
        """Write the strings that a record refers to and that this file does not explain yet."""
        for number in sorted(find_references(data) & self.strings.missing):
            text = self.strings.explain(number)
            if text is not None:
                file.append(lay_out(prefix, {"str": (text, number)}, None, Faults()))
                self.strings.missing.discard(number)

    def _tell_opened(self, path: str) -> None:
        try:
            self._on_open(path)
        except Exception as error:
            warn_once((self.variable, "opened"), f"{self.variable}: on_open raised {type(error).__name__}: {error}")

    def _after_fork(self) -> None:
        self._lock = threading.RLock()
        if self._file is not None:
            self._file.close()
