"""Calls of plugins' code with a record: filters, painters and handlers, whose faults are theirs and are told once."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TextIO

from .faults import Fault, note_fault_of

if TYPE_CHECKING:
    from .hookspecs import Painter, RecordFilter


def ask(record_filter: RecordFilter, record: logging.LogRecord) -> logging.LogRecord | None:
    """Return the record that goes on, None where the filter drops it; one that raises lets it pass.

    >>> record = logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None)
    >>> ask(lambda record: record.levelno > 10, record) is record, ask(lambda record: False, record)
    (True, None)
    """
    try:
        answer = record_filter(record)
        if isinstance(answer, logging.LogRecord):
            return answer
        return record if answer else None
    except BaseException as error:
        note_fault_of(record_filter, f"the filter {_name_of(record_filter)}, which records then pass,", error)
        return record


def paint(record: logging.LogRecord, text: str, stream: TextIO, painters: tuple[Painter, ...]) -> str:
    """Return what the painters, one after the other, make of the text for that stream.

    >>> record = logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None)
    >>> paint(record, "hello", None, (lambda record, text, stream: text.upper(),))
    'HELLO'
    """
    for painter in painters:
        try:
            painted: object = painter(record, text, stream)
            if not isinstance(painted, str):
                raise Fault(f"returned {type(painted).__name__} instead of a str")
            text = painted
        except BaseException as error:
            note_fault_of(painter, f"the painter {_name_of(painter)}, without which records are then shown,", error)
    return text


def hand_over(record: logging.LogRecord, handler: logging.Handler) -> None:
    """Give the record to a handler that is somebody else's, if it asks for records of that level.

    >>> record = logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None)
    >>> hand_over(record, logging.NullHandler())
    """
    try:
        if record.levelno >= handler.level:
            handler.handle(record)
    except BaseException as error:
        note_fault_of(handler, f"the handler {type(handler).__qualname__}", error)


def _name_of(function: object) -> str:
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', type(function).__qualname__)}"
