"""Listeners of plugins get every structured record once, whole, and cannot hurt the trace."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.support.systems import SystemFactory, make_plugin
from tests.support.traces import file_of, read_all

from complog_core import TraceRecord


def test_listener_gets_what_stands_in_the_file(make_system: SystemFactory, tmp_path: Path) -> None:
    heard: list[TraceRecord] = []
    plugin = make_plugin(trace_listeners=[heard.append], trace_context={"rank": 3})
    trace = make_system(plugin).trace
    trace.set_trace(tmp_path)
    trace.trace_structured("tiles", lambda: {"rows": 2}, payload_fn=lambda: {"sizes": {4}}, expect_trace_id=False)
    trace.trace_structured("bare", expect_trace_id=False)
    written = read_all(tmp_path)
    assert [record.metadata for record in heard] == [
        {key: value for key, value in each.fields.items() if key != "has_payload"} for each in written
    ]
    assert [record.payload for record in heard] == [each.payload for each in written]
    assert [record.name for record in heard] == ["tiles", "bare"]
    assert [(record.pathname, record.lineno > 0) for record in heard] == [(__file__, True)] * 2
    assert heard[0].created <= heard[1].created


def test_numbers_of_strings_are_explained_and_their_records_left_out(
    make_system: SystemFactory, tmp_path: Path
) -> None:
    heard: list[TraceRecord] = []
    trace = make_system(make_plugin(trace_listeners=[heard.append])).trace
    trace.set_trace(tmp_path)
    trace.trace_structured("tiles")
    (record,) = heard
    assert '{"str": [' in file_of(trace).read_text()
    assert record.explain(record.metadata["stack"][-1]["filename"]) == __file__
    assert record.explain(10**9) is None


def test_listener_that_comes_while_a_record_is_made_hears_all_of_it(make_system: SystemFactory, tmp_path: Path) -> None:
    heard: list[TraceRecord] = []
    trace = make_system(make_plugin(trace_context={"rank": 3, "frame_id": 0})).trace
    trace.set_trace(tmp_path)

    def listen() -> str:
        trace.listeners = (("mine", heard.append),)
        return "text"

    trace.trace_structured("tiles", payload_fn=listen)
    assert [(record.metadata, record.payload) for record in heard] == [
        ({"tiles": {}, "rank": 3, "frame_id": 0}, "text")
    ]
    (written,) = read_all(tmp_path)
    assert list(written.fields) == ["tiles", "rank", "frame_id", "has_payload"]


def test_nobody_is_told_while_there_is_no_trace(make_system: SystemFactory, tmp_path: Path) -> None:
    heard: list[TraceRecord] = []
    trace = make_system(make_plugin(trace_listeners=[heard.append])).trace
    trace.trace_structured("tiles", expect_trace_id=False)
    trace.set_trace(tmp_path)
    trace.set_trace(None)
    trace.trace_structured("tiles", expect_trace_id=False)
    assert heard == []


@pytest.mark.parametrize("writes_trace", [True, False])
def test_record_that_takes_the_way_over_a_logger_is_told_once(
    make_system: SystemFactory, tmp_path: Path, writes_trace: bool
) -> None:
    # as PyTorch's records do
    heard: list[TraceRecord] = []
    trace = make_system(make_plugin(trace_listeners=[heard.append])).trace
    trace.set_trace(tmp_path)
    trace.logger = logger = logging.Logger("probe.trace")

    class Writing(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            trace.writer.emit(record)

    if writes_trace:
        handler = Writing()
        handler.writes_trace = True
        logger.addHandler(handler)
    trace.trace_structured("tiles", payload_fn=lambda: [1], expect_trace_id=False)
    foreign = logging.makeLogRecord({"metadata": {"theirs": {}}, "payload": "text", "pathname": "/x/y.py", "lineno": 3})
    trace.writer.emit(foreign)
    assert [(record.name, record.payload) for record in heard] == [("tiles", "[\n1\n]"), ("theirs", "text")]
    assert heard[1][3:6] == (foreign.created, "/x/y.py", 3)


def test_listener_that_raises_costs_one_warning_and_no_record(
    make_system: SystemFactory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heard: list[TraceRecord] = []

    def fail(record: Any) -> NoReturn:
        raise RuntimeError("boom")

    trace = make_system(make_plugin(trace_listeners=[fail, heard.append])).trace
    trace.set_trace(tmp_path)
    for _ in range(3):
        trace.trace_structured("tiles", expect_trace_id=False)
    assert len(heard) == len(read_all(tmp_path)) == 3
    assert capsys.readouterr().err.count("boom") == 1
