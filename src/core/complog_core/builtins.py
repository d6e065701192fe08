"""The formats that the engine itself contributes, through the same hook as everyone: glog, short, basic and json."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from .formatters import GlogFormatter
from .hookspecs import FormatterFactory, hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping


class BasicFormatter(logging.Formatter):
    """`logging.BASIC_FORMAT`, written out: a format that is filled in costs three times as much.

    >>> BasicFormatter().format(logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None))
    'INFO:a:hello'
    """

    def __init__(self) -> None:
        super().__init__(logging.BASIC_FORMAT)

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text, without a line end."""
        if record.exc_info or record.exc_text or record.stack_info:
            return super().format(record)
        record.message = record.getMessage()
        return f"{record.levelname}:{record.name}:{record.message}"


def make_basic() -> logging.Formatter:
    """Return a formatter for `logging.BASIC_FORMAT`, the one of `logging.basicConfig`.

    >>> make_basic().format(logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None))
    'INFO:a:hello'
    """
    return BasicFormatter()


def make_json() -> logging.Formatter:
    """Return a formatter that makes each record one JSON object on one line.

    >>> make_json().format(logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None))[:15]
    '{"@timestamp": '
    """
    from .jsonlines import JsonFormatter

    return JsonFormatter()


@hookimpl
def complog_formatters() -> Mapping[str, FormatterFactory]:
    """Name the four formats.

    >>> sorted(complog_formatters())
    ['basic', 'glog', 'json', 'short']
    """
    return {"glog": GlogFormatter, "short": make_basic, "basic": make_basic, "json": make_json}
