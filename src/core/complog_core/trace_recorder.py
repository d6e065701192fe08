"""Makes records: asks the program's functions, adds the fields of the moment, and hands the result on."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .trace_context import add_context, find_key, find_rank, gather, write_out
from .trace_fitting import RENAMED, as_text, fit_name
from .trace_frames import find_caller, find_stack
from .trace_json import Faults
from .trace_memo import Memo
from .trace_records import make_prefix, with_digest
from .trace_writer import TraceWriter

if TYPE_CHECKING:
    from .trace import Trace

Frame = dict[str, Any]
"""One frame of a stack: its `line`, the `name` of its function, its `filename` as a number, its text as `loc`."""


class Recorder:
    """Makes the records of one trace, which holds everything that is set; no lock is held while functions run."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._contexts = Memo(write_out)
        self.writer = TraceWriter(f"{trace.prefix}_TRACE", trace.strings, self._find_rank, self._tell_opened)
        self.writer.find_listeners = lambda: trace.listeners

    def record(
        self,
        name: Any,
        metadata_fn: Callable[[], object],
        payload_fn: Callable[[], object],
        *,
        has_context: bool,
        has_stack: bool,
        is_measured: bool,
        compile_id: object,
    ) -> None:
        """Make one record and hand it on; what the functions raise comes out, and nothing is written then."""
        start = time.perf_counter()
        trace = self._trace
        faults = Faults()
        metadata = metadata_fn()
        is_usual = type(name) is str and name not in RENAMED and trace.logger is None and not trace.listeners
        name = name if is_usual else fit_name(as_text(name), metadata, faults)
        fields = gather(trace.context, name, faults)
        record: dict[Any, Any] = {name: metadata}
        written = self._contexts.find(fields) if is_usual else None
        if written is not None and (written.is_running or not has_context or not (has_stack or compile_id is not None)):
            payload = payload_fn()
            if trace.logger is None and not trace.listeners:
                self._write(record, payload, faults, written.text if has_context else "")
            else:  # somebody has come to listen meanwhile
                if has_context:
                    add_context(record, fields, None, None)
                self._send(record, payload, faults)
            key = written.key
        else:
            if has_context:
                add_context(record, fields, compile_id, self._find_stack if has_stack else None)
            self._send(record, payload_fn(), faults)
            key = find_key(fields)
        if key is not None and is_measured:
            trace.overhead.add(key, time.perf_counter() - start)

    def explain(self, text: str, number: int) -> None:
        """Make the record that tells which string a number stands for."""
        self._send({"str": (text, number)}, None, Faults())

    def find_key(self) -> str | None:
        """Return what stands for the running compilation, None outside of one."""
        return find_key(gather(self._trace.context, None, Faults()))

    def _write(self, record: dict[str, Any], payload: object, faults: Faults, context: str) -> None:
        """Hand a record on to the file alone, with the fields of the moment as text."""
        created, process = time.time(), os.getpid()
        filename, lineno, _ = find_caller(3)
        prefix = make_prefix(created, filename, lineno, process=process)
        self.writer.write(prefix, record, payload, faults, context, process)

    def _send(self, record: dict[str, Any], payload: object, faults: Faults) -> None:
        # whoever calls this was called by the trace
        filename, lineno, function = find_caller(3)
        logger = self._trace.logger
        if logger is None:
            created, writer = time.time(), self.writer
            prefix = make_prefix(created, filename, lineno)
            if self._trace.listeners:
                # rendered once, for the file and for them
                payload = with_digest(record, payload, faults)
            writer.write(prefix, record, payload, faults)
            if self._trace.listeners:
                writer.tell(record, payload, created, filename, lineno)
            return
        # whoever listens there gets what will stand in the file
        text = with_digest(record, payload, faults)
        self.writer.report(record, faults)
        extra = {"metadata": record, "payload": text}
        place = (filename, lineno, "", (), None, function)
        made = logger.makeRecord(logger.name, logging.DEBUG, *place, extra)
        logger.handle(made)
        # somebody may have taken our handler off for a capture of his own; the file goes on
        if not any(getattr(handler, "writes_trace", False) for handler in logger.handlers):
            self.writer.emit(made)

    def _find_stack(self) -> list[Frame]:
        return [self._trace.describe(*place, text) for place, text in find_stack()]

    def _find_rank(self) -> int | None:
        return find_rank(self._trace.context)

    def _tell_opened(self, path: str) -> None:
        if self._trace.on_open is not None:
            self._trace.on_open(path)
