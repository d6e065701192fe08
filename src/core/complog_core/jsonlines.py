"""The format `json`: each record is one JSON object on one line, with the names of Elastic's common schema.

It stands on python-json-logger, and is imported only where somebody chooses the format.
"""

from __future__ import annotations

import datetime
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pythonjsonlogger.json import JsonFormatter as LibraryFormatter

from .formatters import artifact_name, field_text
from .jsonvalues import make_plain, write_out
from .launcher import host_name

if TYPE_CHECKING:
    from .model import Artifact, Field

ECS_VERSION: Final = "8.11.0"
"""The version of the Elastic Common Schema whose names these are."""

_ADDED: Final = {"message", "asctime", "taskName"}
_STANDARD: Final = frozenset(logging.LogRecord("", 0, "", 0, "", (), None).__dict__) | _ADDED
_OBJECTS: Final = frozenset(
    {"ecs", "host", "log", "log.origin", "log.origin.file", "process", "process.thread", "error", "labels", "extra"}
)
"""What our names make objects of, for a database: a plain value under such a name would be refused there."""


class JsonFormatter(LibraryFormatter):
    """One JSON object per record; extras stand under their own names, record fields under `labels.<name>`.

    An extra whose name is taken stands under `extra.<name>`. What JSON has no form for (NaN, cyclic values, objects)
    appears as a text.

    >>> record = logging.LogRecord("a.b", logging.INFO, "/x/y.py", 3, "%d tiles", (4,), None)
    >>> import json
    >>> fields = json.loads(JsonFormatter().format(record))
    >>> fields["log.level"], fields["log.logger"], fields["message"], fields["log.origin.file.line"]
    ('info', 'a.b', '4 tiles', 3)
    """

    def __init__(self) -> None:
        super().__init__()
        self._fields: Sequence[Field] = ()
        self._artifacts: Mapping[str, Artifact] = {}
        self._find_components: Callable[[str], Sequence[str]] = lambda logger_name: ()

    def bind(self, fields: Sequence[Field], artifacts: Mapping[str, Artifact]) -> None:
        """Take the record fields and the mapping from logger names to artifacts, which is read at each record."""
        self._fields = tuple(fields)
        self._artifacts = artifacts

    def bind_components(self, find: Callable[[str], Sequence[str]]) -> None:
        """Take the function that tells, by a logger's name, which components the logger belongs to."""
        self._find_components = find

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a JSON object, without a line end; raises only what the message raises."""
        # the library would take a message that is a dict apart, and no other format does
        record.message = record.getMessage()
        log_data: dict[str, Any] = {}
        self.add_fields(log_data, record, {})
        return self.serialize_log_record(self.process_log_record(log_data))

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
        """Fill `log_data` with plain values: ours, the plugins', the program's."""
        own = {
            "@timestamp": _write_time(record.created),
            "log.level": write_out(record.levelname).lower(),
            "log.logger": record.name,
            "message": record.message,
            "artifact": artifact_name(record.name, self._artifacts),
            "component": ",".join(self._find_components(record.name)) or None,
            "process.pid": record.process,
            "process.thread.name": record.threadName,
            "host.name": host_name(),
            "log.origin.file.name": record.filename,
            "log.origin.file.line": record.lineno,
            "log.origin.function": record.funcName,
            **self._describe_error(record),
            "log.origin.stack_trace": record.stack_info or None,
            **self._label(record),
            "ecs.version": ECS_VERSION,
        }
        log_data.update((name, make_plain(value)) for name, value in own.items() if value is not None)
        for key, value in list(record.__dict__.items()):
            name = key if type(key) is str else write_out(key)
            if name not in _STANDARD:
                log_data[_find_free(write_out(name), log_data)] = make_plain(value)

    def _label(self, record: logging.LogRecord) -> dict[str, str]:
        labels: dict[str, str] = {}
        for field in self._fields:
            text = field_text(field, record).strip().removesuffix(":")
            if text[:1] == "[" and text[-1:] == "]":
                text = text[1:-1]  # what sets it apart in a line has no use in a field
            if text:
                labels[f"labels.{field.name}"] = text
        return labels

    def _describe_error(self, record: logging.LogRecord) -> dict[str, object]:
        trace: object = record.exc_text
        found: dict[str, object] = {}
        try:
            kind, error = (record.exc_info or (None, None))[:2]
            if kind is not None:
                found = {"error.type": kind.__qualname__, "error.message": write_out(error)}
                trace = trace or self.formatException(record.exc_info)
        except KeyboardInterrupt:
            raise
        except BaseException as fault:  # an exception that cannot be shown, or something else in its place
            trace = trace or f"<it cannot be shown: {write_out(fault)}>"
        return {**found, "error.stack_trace": trace or None}


def _find_free(name: str, taken: Mapping[str, object]) -> str:
    while name in taken or name in _OBJECTS or _is_inside(name, taken):
        name = f"extra.{name}"
    return name


def _is_inside(name: str, taken: Mapping[str, object]) -> bool:
    # message.size would be a part of what is a text already
    above = name.rpartition(".")[0]
    while above:
        if above in taken:
            return True
        above = above.rpartition(".")[0]
    return False


def _write_time(created: object) -> str:
    try:
        moment = datetime.datetime.fromtimestamp(created, datetime.timezone.utc)  # type: ignore[arg-type]  # anything, so caught
    except (ArithmeticError, OSError, TypeError, ValueError):  # a record that was not made by a logger
        moment = datetime.datetime.fromtimestamp(time.time(), datetime.timezone.utc)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
