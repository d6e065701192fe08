"""PyTorch's structured trace on complog's writer: one file, one numbering of strings, whoever writes the record."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

from complog_core import LogSystem
from complog_core.trace_settings import TraceSettings


class TraceExchange:
    """Makes complog's trace the back end of the logger `torch.__trace`, and gives that logger back."""

    def __init__(self, system: LogSystem, internal: Any) -> None:
        self._trace = system.trace
        self._internal = internal
        self._structured: Any = sys.modules["torch._logging.structured"]
        self._stock: tuple[Any, Any, Any] | None = None
        self._handler: Any = None

    def start(self) -> None:
        """Share PyTorch's tables and its logger from now on; the handler comes with `set_up`."""
        internal, trace = self._internal, self._trace
        tables = (self._structured.INTERN_TABLE, internal.structured_logging_overhead, internal.LOG_TRACE_HANDLER)
        self._stock = tables
        for text, number in tables[0].items():
            trace.strings[text] = number
        self._structured.INTERN_TABLE = trace.strings
        internal.structured_logging_overhead = trace.overhead
        trace.logger = internal.trace_log
        trace.find_debug_directory = _find_debug_directory
        trace.is_detail_wanted = lambda: bool(internal.GET_DTRACE_STRUCTURED)
        trace.on_open = self._tell_opened
        trace.on_change = self._follow
        if tables[2] is not None:
            internal.trace_log.removeHandler(tables[2])

    def set_up(self) -> None:
        """Give the logger its handler, as PyTorch's `_init_logs` does."""
        internal, trace = self._internal, self._trace
        if self._handler is None:
            self._handler = _make_handler(trace, internal)
        if trace.detailed:
            internal.GET_DTRACE_STRUCTURED = True
        internal.LOG_TRACE_HANDLER = self._handler
        self._handler.root_dir = trace.directory
        log = internal.trace_log
        log.propagate = False
        log.setLevel(logging.DEBUG)
        # logging.disable() does not stop a trace
        log.isEnabledFor = lambda level: level >= log.level
        internal.handlers.add(self._handler)
        self._handler.setFormatter(internal.TorchLogsFormatter(trace=True))
        log.addHandler(self._handler)

    def stop(self) -> None:
        """Give everything back; PyTorch opens a trace file of its own at its next record."""
        if self._stock is None:
            return
        internal, trace = self._internal, self._trace
        if self._handler is not None:
            internal.trace_log.removeHandler(self._handler)
            internal.handlers.discard(self._handler)
        strings, internal.structured_logging_overhead, internal.LOG_TRACE_HANDLER = self._stock
        # the numbers go on in a file of its own, which explains none of them yet
        strings.clear()
        self._structured.INTERN_TABLE = strings
        internal.trace_log.__dict__.pop("isEnabledFor", None)
        trace.close()
        trace.logger = trace.is_detail_wanted = trace.on_open = trace.on_change = None
        trace.find_debug_directory = lambda: None

    def _follow(self, settings: TraceSettings) -> None:
        if self._handler is None:
            return
        self._handler.root_dir = settings.directory
        self._internal.GET_DTRACE_STRUCTURED = settings.detailed
        if settings.directory is not None:
            self._internal.trace_log.addHandler(self._handler)

    def _tell_opened(self, path: str) -> None:
        self._handler.note_opened(path)
        logging.getLogger("torch._logging._internal").info("structured trace: %s", path)
        logging.getLogger("torch._inductor").info("tlparse raw data: %s", path)
        log_version = getattr(self._internal, "_log_torch_version", None)
        if log_version is not None:
            log_version()


def _find_debug_directory() -> str | None:
    config = sys.modules.get("torch._dynamo.config")
    if config is None and os.environ.get("TORCH_COMPILE_DEBUG") == "1":
        from torch._dynamo import config
    return None if config is None else str(config.debug_dir_root)


def _make_handler(trace: Any, internal: Any) -> Any:
    class TraceHandler(internal.LazyTraceHandler):  # type: ignore[misc]  # a base known at run time
        """What PyTorch's code and tests expect to find on `torch.__trace`, writing with complog's writer."""

        writes_trace = True

        _stream_path: str | None
        _pid: int | None

        def emit(self, record: logging.LogRecord) -> None:
            if trace.directory is None:
                # stock decides whether its own service wants a trace, and else takes the handler off
                super().emit(record)
                if self.root_dir is not None:
                    trace.set_trace(self.root_dir)
                return
            trace.writer.emit(record)

        def note_opened(self, path: str) -> None:
            """Remember the file as stock does."""
            self._stream_path = path
            self._pid = os.getpid()

        def _close_stream(self, *, flush: bool = True) -> None:
            if trace.directory is not None:  # else there is no file, and what writes may never have been imported
                trace.writer.turn_to(trace.directory)
            self._stream_path = None
            self._pid = None

    return TraceHandler(trace.directory)
