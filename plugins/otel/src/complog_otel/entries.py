"""A record as OpenTelemetry sees it: made in the thread that logs, of plain values that nobody changes any more."""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from complog_core import RecordDescriber, TraceRecord, find_launcher_rank

from .plain import make_plain, make_text, write_out

TRACE_SCOPE: Final = "complog.trace"
_STANDARD: Final = frozenset(logging.LogRecord("", 0, "", 0, "", (), None).__dict__) | {
    *("message", "asctime", "taskName"),
}
_OTHER_BYTES: Final = 500
_COMPILATION: Final = ("compiled_autograd_id", "frame_id", "frame_compile_id", "attempt")
_TRACEBACKS: Final = logging.Formatter()


class Entry(NamedTuple):
    """One log record to be: `scope` names the instrumentation scope, times are in nanoseconds since the epoch.

    `severity` is a SeverityNumber as int. `context` is OpenTelemetry's, None where the program uses no such thing.
    """

    scope: str
    created: int
    observed: int
    severity: int
    severity_text: str
    body: str | None
    attributes: dict[str, Any]
    event: str | None = None
    context: Any = None

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return _OTHER_BYTES + len(self.body or "") + sum(map(_count, self.attributes.values()))


def _count(value: Any) -> int:
    if isinstance(value, (str, bytes)):
        return len(value)
    if isinstance(value, dict):
        return sum(map(len, value)) + sum(map(_count, value.values()))
    return sum(map(_count, value)) if isinstance(value, list) else 8


def describe_record(record: logging.LogRecord, describer: RecordDescriber) -> Entry:
    """Return the entry of a record of the logging package; raises only what the record's own message raises."""
    own: dict[str, Any] = {
        "complog.component": ",".join(describer.components(record)) or None,
        "complog.artifact": describer.artifact(record),
        **_name_fields(describer.fields(record)),
        "code.file.path": record.pathname,
        "code.line.number": record.lineno,
        "code.function.name": record.funcName,
        "process.pid": record.process,
        "thread.id": record.thread,
        "thread.name": record.threadName,
        **_describe_exception(record),
        "code.stacktrace": record.stack_info,
    }
    own = {name: _settle(value) for name, value in own.items() if value is not None}
    # where there are more attributes than the limit allows, the first ones are given up
    extras = {
        make_text(f"complog.extra.{name}" if name in own or not name else name): make_plain(value)
        for name, value in list(record.__dict__.items())
        if name not in _STANDARD
    }
    return Entry(
        make_text(record.name),
        int(record.created * 1e9),
        time.time_ns(),
        find_severity(record.levelno),
        make_text(record.levelname),
        make_text(record.getMessage()),
        {**extras, **own},
        context=_find_context(),
    )


def describe_trace(record: TraceRecord) -> Entry:
    """Return the entry of a structured record: an event with the payload as body."""
    fields = dict(record.metadata)
    about = _name_files(make_plain(fields.pop(record.name, None)), record)
    stack = _name_files(make_plain(fields.pop("stack", None)), record)
    thread = threading.current_thread()
    compilation = {name: fields.pop(name, None) for name in _COMPILATION}
    own: dict[str, Any] = {
        **{f"complog.field.{name}": value for name, value in fields.items() if name != "rank"},
        "complog.trace.metadata": about or None,
        "complog.rank": fields.get("rank", find_launcher_rank()),
        "complog.compile_id": _name_compilation(**compilation),
        "code.file.path": record.pathname,
        "code.line.number": record.lineno,
        "code.stacktrace": _write_stack(stack),
        "process.pid": os.getpid(),
        "thread.id": thread.ident,
        "thread.name": thread.name,
    }
    return Entry(
        TRACE_SCOPE,
        int(record.created * 1e9),
        time.time_ns(),
        find_severity(logging.DEBUG),
        "DEBUG",
        None if record.payload is None else make_text(record.payload),
        {make_text(name): make_plain(value) for name, value in own.items() if value is not None},
        event=make_text(f"complog.trace.{record.name}"),
        context=_find_context(),
    )


def _settle(value: Any) -> Any:
    # nearly all are one of these, and each record has ten
    if type(value) is str:
        return value if value.isascii() else make_text(value)
    return make_plain(value)


def find_severity(level: int) -> int:
    """Return the SeverityNumber of a level of the logging package; levels between the usual ones lie between theirs.

    >>> [find_severity(level) for level in (0, 5, 10, 11, 20, 25, 30, 40, 50, 70)]
    [0, 1, 5, 6, 9, 12, 13, 17, 21, 24]
    """
    if level < logging.DEBUG:
        return 1 if level > 0 else 0
    step, above = divmod(min(level, 59), 10)
    return min(4 * step + 1 + min(above, 3), 24)


def _name_fields(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the contributed fields as attributes, without the brackets that a line needs."""
    named: dict[str, Any] = {} if "rank" in fields else {"complog.rank": find_launcher_rank()}
    for name, text in fields.items():
        bare = re.sub(r"^\[(.*)\]$", r"\1", text.removesuffix(":"))
        if name == "rank":
            number = bare.removeprefix("rank")
            named["complog.rank"] = int(number) if _is_rank(number) else bare
        elif name == "trace_id":
            named["complog.compile_id"] = bare
        else:
            named[f"complog.field.{name}"] = bare
    return named


def _describe_exception(record: logging.LogRecord) -> dict[str, Any]:
    if not record.exc_info or record.exc_info[0] is None:
        return {"exception.stacktrace": record.exc_text or None}
    kind, error = record.exc_info[:2]
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return {
        "exception.type": name,
        "exception.message": write_out(error),
        "exception.stacktrace": record.exc_text or _TRACEBACKS.formatException(record.exc_info),
    }


def _is_rank(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


def _name_compilation(compiled_autograd_id: Any, frame_id: Any, frame_compile_id: Any, attempt: Any) -> str | None:
    """Return the id as lines show it: `0/0`, `1/0_2`, `!0/1/0`."""
    parts = [] if compiled_autograd_id is None else [f"!{compiled_autograd_id}"]
    parts += [] if frame_id is None else [f"{frame_id}/{frame_compile_id}"]
    return "/".join(parts) + (f"_{attempt}" if attempt else "") if parts else None


def _name_files(value: Any, record: TraceRecord) -> Any:
    if isinstance(value, dict):
        for key, item in value.items():
            is_number = key == "filename" and type(item) is int
            value[key] = (record.explain(item) or item) if is_number else _name_files(item, record)
    elif isinstance(value, list):
        value[:] = [_name_files(item, record) for item in value]
    return value


def _write_stack(stack: Any) -> str | None:
    if not isinstance(stack, list):
        return None
    lines: list[str] = []
    for frame in stack:
        if isinstance(frame, dict):
            lines.append(f'  File "{frame.get("filename")}", line {frame.get("line")}, in {frame.get("name")}')
            lines += [f"    {frame['loc']}"] if frame.get("loc") else []
    return "\n".join(lines)


def _find_context() -> Any:
    """Return the context of the moment where the program has loaded OpenTelemetry: it tells the span that runs."""
    module = sys.modules.get("opentelemetry.context")
    get_current = getattr(module, "get_current", None)
    return None if get_current is None else get_current()
