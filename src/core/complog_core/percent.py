"""%-formats: rendering with one, and finding what is wrong with one before any record needs it."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from .rendering import warn_once

_CONVERSION: Final = r"(?s)%(?:\((?P<key>[^)]*)\))?[-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?(?P<kind>.?)"
_UNLISTED: Final = frozenset({"args", "msg", "exc_info", "exc_text", "stack_info"})


class PercentFormatter(logging.Formatter):
    """A %-format with the standard library's meaning, where `%(prefix)s` is the default line's prefix too.

    Raises ValueError for a format that names no field. A record that the format does not fit gets the default line,
    and one warning.

    >>> record = logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None)
    >>> PercentFormatter("%(prefix)s| %(message)s", lambda record: "I").format(record)
    'I| hello'
    """

    def __init__(self, fmt: str, prefix: Callable[[logging.LogRecord], str]) -> None:
        super().__init__(fmt)
        self._text = fmt or "%(message)s"
        self._prefix = prefix
        self._wants_prefix = "%(prefix)" in fmt

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Fill the format in; the record's `message` is set already."""
        try:
            if self._wants_prefix:
                return self._text % {**record.__dict__, "prefix": self._prefix(record)}
            return self._text % record.__dict__
        except Exception as error:
            warn_once(("format", self._text), f"format {self._text!r} does not fit a record: {error!r}")
            return f"{self._prefix(record)} {record.message}"


def check_format(fmt: str) -> tuple[str, ...]:
    """Return what is wrong with a %-format, one text per bad conversion, the last one with the valid fields.

    A record of the program's own record factory says which fields there are, and is rendered for trial.

    >>> check_format("%(levelname)s %(message)s")
    ()
    >>> check_format("%(lineno)q")[0].splitlines()[0]
    "'%(lineno)q': unsupported format character 'q' (0x71) at index 9"
    """
    record = _sample_record()
    values: dict[str, Any] = {**record.__dict__, "prefix": "I", "message": "text", "asctime": "now"}
    listed = sorted(key for key in values if key not in _UNLISTED)
    problems: list[str] = []
    for match in re.finditer(_CONVERSION, fmt):
        key, conversion = match["key"], match[0]
        if key is None and match["kind"] != "%":
            problems.append(f"{conversion!r}: a conversion needs a field, as in %(message)s; %% is a percent sign")
        elif key is not None and key not in values:
            problems.append(f"{conversion!r}: unknown field {key!r}{nearest_text(key, listed)}")
        else:
            problems.extend(_try(conversion, _fill, conversion, values))
    if not problems:
        problems.extend(_try(fmt, logging.Formatter, fmt) or _try(fmt, _fill, fmt, values))
    if problems:
        problems[-1] += f"\n    fields: {', '.join(listed)}"
    return tuple(problems)


def _fill(fmt: str, values: dict[str, Any]) -> str:
    return fmt % values


def _try(what: str, call: Callable[..., object], *arguments: object) -> list[str]:
    try:
        call(*arguments)
    except Exception as error:
        return [f"{what!r}: {error}"]
    return []


def _sample_record() -> logging.LogRecord:
    arguments = ("complog", logging.INFO, __file__, 1, "text", (), None, "function", None)
    try:
        record: object = logging.getLogRecordFactory()(*arguments)
    except Exception:  # the factory's own trouble says nothing about the format
        record = None
    return record if isinstance(record, logging.LogRecord) else logging.LogRecord(*arguments)


def nearest_text(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean ...?" with the three nearest of the known words, "" where none is near.

    >>> nearest_text("shrt", ["glog", "short"])
    '; did you mean short?'
    """
    import difflib

    near = difflib.get_close_matches(word, list(known), 3)
    return f"; did you mean {', '.join(near)}?" if near else ""


def list_formats(names: Iterable[str]) -> str:
    """Return the line of an error that lists the registered formats.

    >>> list_formats(["short", "glog"])
    '\\n    registered formats: glog, short'
    """
    return f"\n    registered formats: {', '.join(sorted(names)) or 'none'}"
