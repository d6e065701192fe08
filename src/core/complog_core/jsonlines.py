"""The format `json`: each record is one JSON object on one line, with the names of Elastic's common schema."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from .formatters import artifact_name, field_text

if TYPE_CHECKING:
    from .model import Artifact, Field

_ADDED: Final = {"message", "asctime", "taskName"}
_STANDARD: Final = frozenset(logging.LogRecord("", 0, "", 0, "", (), None).__dict__) | _ADDED
_DEEPEST: Final = 16


class JsonFormatter(logging.Formatter):
    """One JSON object per record; extras stand under their own names, record fields under `labels.<name>`.

    What JSON has no form for (other types, NaN, very deep or cyclic values) appears as its repr.

    >>> record = logging.LogRecord("a.b", logging.INFO, "/x/y.py", 3, "%d tiles", (4,), None)
    >>> import json
    >>> fields = json.loads(JsonFormatter().format(record))
    >>> fields["log.level"], fields["log.logger"], fields["message"], fields["log.origin.file.line"]
    ('info', 'a.b', '4 tiles', 3)
    """

    def __init__(self) -> None:
        from json import JSONEncoder

        super().__init__()
        self._encode = JSONEncoder(allow_nan=False).encode
        self._fields: Sequence[Field] = ()
        self._artifacts: Mapping[str, Artifact] = {}

    def bind(self, fields: Sequence[Field], artifacts: Mapping[str, Artifact]) -> None:
        """Take the record fields and the mapping from logger names to artifacts, which is read at each record."""
        self._fields = tuple(fields)
        self._artifacts = artifacts

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a JSON object, without a line end."""
        seconds, fraction = divmod(record.created, 1)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
        record.message = record.getMessage()
        values: dict[str, Any] = {
            "@timestamp": f"{stamp}.{int(fraction * 1e6):06d}Z",
            "log.level": record.levelname.lower(),
            "log.logger": record.name,
            "message": record.message,
        }
        artifact = artifact_name(record.name, self._artifacts)
        if artifact is not None:
            values["artifact"] = artifact
        values["process.pid"] = record.process
        values["process.thread.name"] = record.threadName
        values["log.origin.file.name"] = record.filename
        values["log.origin.file.line"] = record.lineno
        values["log.origin.function"] = record.funcName
        self._add_exception(values, record)
        for field in self._fields:
            text = field_text(field, record).strip()
            if text:
                values[f"labels.{field.name}"] = text
        for name, value in record.__dict__.items():
            if name not in _STANDARD:
                values[f"extra.{name}" if name in values else name] = value
        return self._encode(_make_plain(values))

    def _add_exception(self, values: dict[str, Any], record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[0] is not None:
            kind, error = record.exc_info[:2]
            values["error.type"] = kind.__qualname__
            values["error.message"] = _write_out(error, str)
            values["error.stack_trace"] = record.exc_text or self.formatException(record.exc_info)
        elif record.exc_text:
            values["error.stack_trace"] = record.exc_text
        if record.stack_info:
            values["log.origin.stack_trace"] = self.formatStack(record.stack_info)


def _make_plain(value: object, depth: int = 0) -> Any:
    if value is None or value is True or value is False:
        return value
    try:
        if isinstance(value, str):
            return _escape_surrogates(value)
        if isinstance(value, int):
            int.__repr__(value)  # refuses more digits than Python converts
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else float.__repr__(value)
        if depth < _DEEPEST:
            if isinstance(value, dict):
                return {_name_key(key): _make_plain(item, depth + 1) for key, item in list(value.items())}
            if isinstance(value, (list, tuple)):
                return [_make_plain(item, depth + 1) for item in value]
    except Exception:
        pass  # a container of somebody's own making; its repr is as much as can be had
    return _escape_surrogates(_write_out(value, repr))


def _name_key(key: object) -> str:
    return _escape_surrogates(key if isinstance(key, str) else _write_out(key, repr))


def _write_out(value: object, how: type[str] | Any) -> str:
    try:
        text = how(value)
        return text if isinstance(text, str) else str(text)
    except Exception as error:
        return f"<{type(value).__qualname__}: {how.__name__} raised {type(error).__name__}>"


def _escape_surrogates(text: str) -> str:
    text = str.__str__(text)
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
