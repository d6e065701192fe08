"""Records, sinks and listeners for the tests of the output layer."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from contextlib import redirect_stderr
from typing import Any

from complog_core.handlers import ComplogHandler, Pipeline, Sink

PLAIN = logging.Formatter("%(levelname)s %(message)s")


def make_record(msg: object = "text", *args: object, level: int = logging.INFO, name: str = "output_test") -> Any:
    return logging.LogRecord(name, level, "/x/y.py", 3, msg, args, None)


def make_sink(**settings: Any) -> Sink:
    return Sink(Pipeline(**{"formatter": PLAIN, **settings}))


def shown(*work: Callable[[], object]) -> str:
    """Return what the work writes to sys.stderr."""
    with redirect_stderr(io.StringIO()) as stream:
        for function in work:
            function()
    return stream.getvalue()


def send(sink: Sink, *records: logging.LogRecord) -> str:
    """Dispatch the records, and return what reaches the console."""
    with redirect_stderr(io.StringIO()) as stream:
        for record in records:
            ComplogHandler(sink).emit(record)
    return stream.getvalue()


class Lazy:
    """A message that counts how often it is evaluated."""

    def __init__(self) -> None:
        self.count = 0

    def __str__(self) -> str:
        self.count += 1
        return f"evaluated {self.count}"


class Counting(logging.Formatter):
    """A formatter that counts how often it renders."""

    count = 0

    def format(self, record: logging.LogRecord) -> str:
        self.count += 1
        return f"#{self.count} {super().format(record)}"


class Collector(logging.Handler):
    """A handler that keeps its records and their texts."""

    def __init__(self, formatter: logging.Formatter | None = None, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self.formatter = formatter
        self.records: list[logging.LogRecord] = []
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        self.texts.append(self.format(record))
