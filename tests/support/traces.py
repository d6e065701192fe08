"""Traces for tests, and a reader of trace files that is as strict as the strictest one that people use."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from complog_core.trace import Trace

PREFIX = re.compile(
    r"(?P<level>[VIWEC])\d{4} \d{2}:\d{2}:\d{2}\.\d{6} (?P<process>\d+) (?P<path>[^:]+):(?P<line>\d+)\] (?=\{)"
)


class Record(NamedTuple):
    """A record of a trace file; `payload` is None where it has none."""

    level: str
    process: int
    path: str
    line: int
    fields: dict[str, Any]
    payload: str | None

    @property
    def name(self) -> str:
        return next(iter(self.fields))


def read_text(text: str) -> list[Record]:
    """Return the records of a trace file's text; fails where a strict reader of lines and JSON would.

    A carriage return before a line end counts as a part of it, and hashes are checked.
    """
    assert text.endswith("\n") or not text
    lines = [line.removesuffix("\r") for line in text.split("\n")[:-1]]
    records: list[Record] = []
    while lines:
        line = lines.pop(0)
        match = PREFIX.match(line)
        assert match, line
        fields = json.loads(line[match.end() :], parse_constant=_refuse, parse_float=_read_float, parse_int=_read_int)
        json.dumps(fields, ensure_ascii=False).encode()  # no lone surrogates
        assert _depth(fields) < 128
        payload = None
        if "has_payload" in fields and "str" not in fields:
            body = []
            while lines and lines[0].startswith("\t"):
                body.append(lines.pop(0)[1:])
            payload = "\n".join(body)
            assert hashlib.md5(payload.encode()).hexdigest() == fields["has_payload"], payload[:200]
        records.append(
            Record(match["level"], int(match["process"]), match["path"], int(match["line"]), fields, payload)
        )
    return records


def read_file(path: Path | str) -> list[Record]:
    """Return the records of a trace file."""
    return read_text(Path(path).read_bytes().decode())


def read_all(directory: Path) -> list[Record]:
    """Return the records of the only trace file of the directory, without those that explain strings."""
    (path,) = directory.iterdir()
    return [record for record in read_file(path) if record.name != "str"]


def write(trace: Trace, text: str) -> None:
    """Write a record that holds the text twice."""
    trace.trace_structured("tiles", lambda: {"text": text}, payload_fn=lambda: text, suppress_context=True)


def texts(path: Path) -> list[str]:
    """Return the texts that `write` has written into the file."""
    return [record.fields["tiles"]["text"] for record in read_file(path) if record.name == "tiles"]


def file_of(trace: Trace) -> Path:
    """Return this process's file of the trace, which has written something."""
    path = trace.writer.path
    assert path is not None
    return Path(path)


def unexplained(records: Iterable[Record]) -> set[int]:
    """Return the numbers of strings that a record refers to before any has explained them."""
    known: set[int] = set()
    missing: set[int] = set()
    for record in records:
        if record.name == "str":
            known.add(record.fields["str"][1])
        text = json.dumps(record.fields) + (record.payload or "")
        missing |= {int(number) for number in re.findall(r'"filename": (\d+)', text)} - known
    return missing


def make_trace(directory: Path | None, *hooks: Callable[[], object], **variables: str) -> Trace:
    """Return a trace with the prefix PROBE whose files stand in the directory."""
    environ = variables if directory is None else {"PROBE_TRACE": str(directory), **variables}
    return Trace("PROBE", environ=environ, context=[(f"hook {number}", hook) for number, hook in enumerate(hooks)])


def _depth(value: Any) -> int:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if items is None else 1 + max(map(_depth, items), default=0)


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def _read_float(text: str) -> float:
    value = float(text)
    assert value not in (float("inf"), float("-inf")), text
    return value


def _read_int(text: str) -> int:
    assert len(text) < 309, "readers that take it for a float find it infinite"
    return int(text)
