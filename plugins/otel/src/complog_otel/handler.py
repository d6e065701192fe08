"""The handler of one system, which makes entries of its records, and the listener for structured ones."""

from __future__ import annotations

import logging
from typing import Any

from complog_core import RecordDescriber, TraceRecord

from .entries import describe_record, describe_trace
from .quiet import comes_from_sending
from .sender import get_sender


class OtelHandler(logging.Handler):
    """Queues each record for the sender; `describer` is exchanged when the configuration changes."""

    def __init__(self, describer: RecordDescriber) -> None:
        super().__init__()
        self.describer = describer
        self._sender = get_sender()

    def createLock(self) -> None:
        """Make none: the queue has its own, and a thread that logs waits for nobody."""
        self.lock = None

    def handle(self, record: logging.LogRecord) -> Any:
        """Ask this handler's filters, then `emit`; return what the filters returned."""
        passed: Any = self.filter(record) if self.filters else True
        if passed:
            self.emit(passed if isinstance(passed, logging.LogRecord) else record)
        return passed

    def emit(self, record: logging.LogRecord) -> None:
        """Queue the record, unless it comes from the sending itself."""
        if not comes_from_sending(record):
            self._sender.take(describe_record(record, self.describer))

    def flush(self) -> None:
        """Wait until everything is sent, as long as `complog_otel.flush` does."""
        self._sender.flush()


def send_trace(record: TraceRecord) -> None:
    """Queue a structured record as an event."""
    get_sender().take(describe_trace(record))
