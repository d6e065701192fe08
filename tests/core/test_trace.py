"""The functions of the trace: which records they write, what is in them, and what they refuse."""

from __future__ import annotations

import linecache
import logging
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.records import shown
from tests.support.traces import file_of, make_trace, read_all, read_file

from complog_core import report
from complog_core.trace import RESERVED, Trace


@pytest.fixture(autouse=True)
def _forget_warnings() -> None:
    report.forget_warnings()


def test_line_names_time_process_place_and_fields(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    trace.trace_structured("tiles", lambda: {"count": 3}, expect_trace_id=False)
    (line,) = file_of(trace).read_text().splitlines()
    assert re.fullmatch(
        rf'V\d{{4}} \d\d:\d\d:\d\d\.\d{{6}} {os.getpid()} \S*test_trace\.py:\d+\] {{"tiles": {{"count": 3}}}}', line
    )
    trace.close()


def test_payload_is_indented_by_tabs_and_hashed(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    trace.trace_structured("tiles", payload_fn=lambda: "one\n\ntwo\n", expect_trace_id=False)
    text = file_of(trace).read_text().partition("] ")[2]
    assert text == '{"tiles": {}, "has_payload": "c733a35665ed1fb059f3f96ffd3692d9"}\n\tone\n\t\n\ttwo\n\t\n'
    trace.close()


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        ({"a": [1], "s": {2}}, '{\n"a": [\n1\n],\n"s": [\n2\n]\n}'),
        ([1, {"a": 2}], '[\n1,\n{"a": 2}\n]'),
        (5, "5"),
        ("", ""),
        (None, None),
        (True, "true"),
    ],
)
def test_payload_that_is_no_text_becomes_json(payload: object, text: str | None, tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    trace.trace_structured("tiles", payload_fn=lambda: payload)
    (record,) = read_all(tmp_path)
    assert record.payload == text
    assert ("has_payload" in record.fields) == (text is not None)
    trace.close()


def test_nothing_is_called_and_made_without_a_trace(tmp_path: Path) -> None:
    trace = make_trace(None)
    trace.trace_structured("tiles", lambda: pytest.fail("called"), payload_fn=lambda: pytest.fail("called"))
    trace.trace_structured_artifact("tiles", "string", lambda: pytest.fail("called"))
    trace.dtrace_structured("tiles", lambda: pytest.fail("called"))
    assert trace.directory is None
    assert trace.get_structured_logging_overhead() is None


def test_file_is_made_at_the_first_record_and_has_the_known_name(tmp_path: Path) -> None:
    trace = make_trace(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []
    trace.trace_structured("tiles")
    path = file_of(trace)
    assert path.parent == tmp_path / "a" / "b"
    assert re.fullmatch(r"dedicated_log_torch_trace_[a-z0-9_]+\.log", path.name)
    assert path.stat().st_mode & 0o777 == 0o600
    trace.close()


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_reserved_names_are_refused_with_and_without_a_trace(name: str, tmp_path: Path) -> None:
    for trace in (make_trace(tmp_path), make_trace(None)):
        with pytest.raises(AssertionError, match=name):
            trace.trace_structured(name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("bad", [None, {"a": 1}, "text"])
def test_functions_that_are_none_are_refused(bad: Any, tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    with pytest.raises(AssertionError, match="metadata_fn"):
        trace.trace_structured("tiles", bad)
    with pytest.raises(AssertionError, match="payload_fn"):
        trace.trace_structured("tiles", payload_fn=bad)
    with pytest.raises(AssertionError, match="payload_fn"):
        trace.trace_structured_artifact("tiles", "string", bad)
    assert list(tmp_path.iterdir()) == []


def test_what_the_programs_functions_raise_comes_out_and_nothing_is_written(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)

    def fail() -> Any:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        trace.trace_structured("tiles", fail)
    with pytest.raises(LookupError, match="mine"):
        trace.trace_structured("tiles", payload_fn=fail, suppress_context=True)
    assert list(tmp_path.iterdir()) == []


def test_artifact_carries_name_encoding_and_the_callers_place(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    trace.trace_structured_artifact("tiles", "json", lambda: {"a": 1}, compile_id=SimpleNamespace(frame_id=3))
    (record,) = read_all(tmp_path)
    assert record.fields["artifact"] == {"name": "tiles", "encoding": "json"}
    assert record.fields["frame_id"] == 3
    assert Path(record.path).name == "test_trace.py"
    trace.close()


def test_detailed_records_are_written_only_where_asked_for(tmp_path: Path) -> None:
    plain, detailed = tmp_path / "plain", tmp_path / "detailed"
    trace = make_trace(plain)
    trace.dtrace_structured("tiles", lambda: pytest.fail("called"))
    trace.close()
    trace = make_trace(plain, PROBE_DTRACE=str(detailed))
    trace.dtrace_structured("tiles")
    assert [list(record.fields) for record in read_all(detailed)] == [["tiles"]]
    trace.close()
    trace = make_trace(plain)
    trace.is_detail_wanted = lambda: True
    trace.dtrace_structured("tiles")
    assert len(read_all(plain)) == 1
    trace.close()
    assert not (plain / "detailed").exists()


# -- generated code


def test_generated_code_is_dumped_once_per_file_name(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    name = "<generated by a test>"
    linecache.cache[name] = (9, None, ["a = 1\n", "b = 2\n"], name)
    try:
        for _ in range(2):
            for filename in (name, __file__, "<nothing is known of this>"):
                trace.dump_file(filename)
    finally:
        del linecache.cache[name]
    (record,) = read_all(tmp_path)
    assert record.fields["dump_file"] == {"name": "_generated by a test_"}
    assert record.payload == "a = 1\nb = 2\n"
    trace.close()


# -- the way through a logger


class Listener(logging.Handler):
    """Keeps what it is given, and passes it on to the writer, as a handler of a host framework does."""

    writes_trace = True

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self.trace = trace
        self.records: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        self.trace.writer.emit(record)


def test_records_pass_through_a_logger_where_one_is_set(tmp_path: Path) -> None:
    trace = make_trace(tmp_path, lambda: {"frame_id": 1})
    trace.logger = logging.Logger("host.__trace")
    trace.trace_structured("nobody listens", suppress_context=True)
    listener = Listener(trace)
    trace.logger.addHandler(listener)
    logging.disable(logging.CRITICAL)
    try:
        trace.trace_structured("tiles", lambda: {"a": 1}, payload_fn=lambda: {"b": 2})
    finally:
        logging.disable(logging.NOTSET)
    (heard,) = listener.records
    alone, written = read_all(tmp_path)
    assert alone.name == "nobody listens"
    assert heard.metadata == written.fields
    assert heard.payload == written.payload == '{\n"b": 2\n}'
    assert (heard.levelname, heard.funcName) == ("DEBUG", "test_records_pass_through_a_logger_where_one_is_set")
    assert (Path(heard.pathname).name, heard.lineno) == (Path(written.path).name, written.line)
    trace.close()


@pytest.mark.parametrize("fields", [{}, {"metadata": None}, {"metadata": [1]}, {"metadata": {"a": 1}, "created": 1e30}])
def test_foreign_record_that_is_none_of_a_trace_costs_one_warning(fields: dict[str, Any], tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    record = logging.makeLogRecord({"name": "host.__trace", **fields})
    warnings = shown(lambda: trace.writer.emit(record), lambda: trace.writer.emit(record))
    assert warnings.startswith("complog: warning: PROBE_TRACE: a record of 'host.__trace' is left out of the trace: ")
    assert warnings.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fields", [{"levelname": "Level 5"}, {"process": None}, {"lineno": None}, {"pathname": "C:x"}])
def test_foreign_record_with_odd_attributes_is_written(fields: dict[str, Any], tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    trace.writer.emit(logging.makeLogRecord({"metadata": {"tiles": {}}, "payload": "text", **fields}))
    assert [record.payload for record in read_all(tmp_path)] == ["text"]
    trace.close()


def test_listeners_hear_of_records_where_no_file_is_wanted() -> None:
    trace = make_trace(None)
    trace.logger = logging.Logger("host.__trace")
    listener = Listener(trace)
    trace.logger.addHandler(listener)
    trace.trace_structured("tiles")
    assert [next(iter(record.metadata)) for record in listener.records][-1] == "tiles"


def test_new_file_is_announced_after_its_first_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = make_trace(tmp_path / "a")
    heard: list[tuple[str, int]] = []

    def listen(path: str) -> None:
        heard.append((path, len(read_file(path))))
        trace.trace_structured("second", suppress_context=True)
        raise LookupError("mine")

    trace.on_open = listen
    trace.trace_structured("first", suppress_context=True)
    path = file_of(trace)
    assert heard == [(str(path), 1)]
    assert [record.name for record in read_file(path)] == ["first", "second"]
    assert "on_open raised LookupError: mine" in capsys.readouterr().err
    trace.close()
