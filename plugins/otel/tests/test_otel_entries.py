"""A record's attributes have the names of the semantic conventions, and values that can always be encoded."""

from __future__ import annotations

import logging
import math
import os
import socket
import sys
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.semconv._incubating.attributes import host_attributes, process_attributes, thread_attributes
from opentelemetry.semconv.attributes import code_attributes, exception_attributes
from plugins.otel.tests.programs import run
from plugins.otel.tests.receiver import decode, receiving

from complog_core import RecordDescriber, TraceRecord
from complog_core.launcher import RANK_VARIABLES
from complog_otel.entries import TRACE_SCOPE, Entry, describe_record, describe_trace
from complog_otel.plain import make_plain
from complog_otel.records import make_record


@pytest.fixture(autouse=True)
def _no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in RANK_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def describer(**fields: str) -> RecordDescriber:
    return RecordDescriber("PROBE", lambda record: "tiles", lambda record: ("lib", "tiler"), lambda record: fields)


def make(message: object = "text", *arguments: object, level: int = logging.INFO, **more: Any) -> logging.LogRecord:
    record = logging.LogRecord("probe.here", level, "/x/y.py", 3, message, arguments, None, "work")
    vars(record).update(more)
    return record


def send(entry: Entry) -> Any:
    """Return the entry as it arrives."""
    readable = ReadableLogRecord(make_record(entry), Resource.get_empty(), InstrumentationScope(entry.scope))
    (received,) = decode(encode_logs([readable]).SerializeToString())
    return received


def test_attributes_have_the_conventions_names() -> None:
    record = make("%d tiles", 3)
    received = send(describe_record(record, describer(rank="[rank3]:", trace_id="[1/0_2]", step="step 7")))
    assert received.attributes == {
        "complog.component": "lib,tiler",
        "complog.artifact": "tiles",
        "complog.rank": 3,
        "complog.compile_id": "1/0_2",
        "complog.field.step": "step 7",
        code_attributes.CODE_FILE_PATH: "/x/y.py",
        code_attributes.CODE_LINE_NUMBER: 3,
        code_attributes.CODE_FUNCTION_NAME: "work",
        process_attributes.PROCESS_PID: os.getpid(),
        thread_attributes.THREAD_ID: threading.get_ident(),
        thread_attributes.THREAD_NAME: "MainThread",
    }
    assert received.body == "3 tiles"
    assert abs(received.times[0] / 1e9 - record.created) < 1e-3
    assert received.times[1] >= received.times[0]


def test_exception_and_stack_have_the_conventions_names() -> None:
    class Oops(ValueError):
        pass

    try:
        raise Oops("no tiles")
    except Oops:
        record = make(exc_info=sys.exc_info(), stack_info="Stack (most recent call last):\n  here")
    attributes = send(describe_record(record, describer())).attributes
    assert attributes[exception_attributes.EXCEPTION_TYPE] == f"{__name__}.{Oops.__qualname__}"
    assert attributes[exception_attributes.EXCEPTION_MESSAGE] == "no tiles"
    assert attributes[exception_attributes.EXCEPTION_STACKTRACE].startswith("Traceback (most recent call last):")
    assert attributes[code_attributes.CODE_STACKTRACE] == "Stack (most recent call last):\n  here"


def test_builtin_exception_has_its_plain_name_and_one_without_a_text_none() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    for error, name, text in ((KeyError("a"), "KeyError", "'a'"), (Mute(), "Mute", "RuntimeError")):
        attributes = describe_record(make(exc_info=(type(error), error, None)), describer()).attributes
        assert attributes["exception.type"].endswith(name)
        assert text in attributes["exception.message"]


@pytest.mark.parametrize("exc_info", [None, (None, None, None), ()])
def test_record_without_an_exception_has_no_exception_attributes(exc_info: Any) -> None:
    attributes = describe_record(make(exc_info=exc_info), describer()).attributes
    assert not [name for name in attributes if name.startswith("exception")]


@pytest.mark.parametrize(
    ("level", "number"), [(5, 1), (10, 5), (15, 8), (20, 9), (21, 10), (30, 13), (40, 17), (50, 21), (999, 24)]
)
def test_severity_is_the_levels_number_and_name(level: int, number: int) -> None:
    record = make(level=level)
    assert send(describe_record(record, describer())).severity == (number, record.levelname)


def test_extras_keep_their_names_and_never_hide_ours() -> None:
    extras = {"tiles": [1, {"a": (2.5, None)}], "code.line.number": 99, "": 1, "big": 2**64}
    attributes = send(describe_record(make(**extras), describer())).attributes
    assert attributes["tiles"] == [1, {"a": [2.5, None]}]
    assert (attributes["code.line.number"], attributes["complog.extra.code.line.number"]) == (3, 99)
    assert attributes["complog.extra."] == 1
    assert attributes["big"] == str(2**64)


def test_entry_is_not_changed_by_what_the_program_does_later() -> None:
    sizes = [1]
    entry = describe_record(make(sizes=sizes), describer())
    sizes.append(2)
    assert entry.attributes["sizes"] == [1]


@pytest.mark.parametrize("variable", RANK_VARIABLES)
@pytest.mark.parametrize(("text", "rank"), [("3", 3), ("", None), ("three", None), ("9" * 20, None)])
def test_launchers_rank_stands_in_until_a_plugin_tells_one(
    monkeypatch: pytest.MonkeyPatch, variable: str, text: str, rank: int | None
) -> None:
    monkeypatch.setenv(variable, text)
    assert describe_record(make(), describer()).attributes.get("complog.rank") == rank
    assert describe_record(make(), describer(rank="[rank5]:")).attributes["complog.rank"] == 5
    trace = TraceRecord("tiles", {"tiles": {}}, None, 0.0, "/x/y.py", 3)
    assert describe_trace(trace).attributes.get("complog.rank") == rank


def test_structured_record_is_an_event_with_its_payload_as_body() -> None:
    metadata = {
        "tiles": {"rows": 2, "stack": [{"filename": 7, "line": 1}]},
        "rank": 3,
        "frame_id": 1,
        "frame_compile_id": 0,
        "attempt": 2,
        "job": "job7",
        "stack": [{"filename": 7, "line": 5, "name": "work", "loc": "tile()"}, {"filename": 8, "line": 6, "name": "x"}],
    }
    record = TraceRecord("tiles", metadata, "16 x 4", 1.5, "/x/y.py", 3, {7: "/a/b.py"}.get)
    received = send(describe_trace(record))
    assert (received.event, received.scope, received.body) == ("complog.trace.tiles", TRACE_SCOPE, "16 x 4")
    assert received.severity == (5, "DEBUG")
    assert received.times[0] == 1_500_000_000
    attributes = {name: value for name, value in received.attributes.items() if not name.startswith("thread")}
    assert attributes == {
        "complog.trace.metadata": {"rows": 2, "stack": [{"filename": "/a/b.py", "line": 1}]},
        "complog.rank": 3,
        "complog.compile_id": "1/0_2",
        "complog.field.job": "job7",
        "code.file.path": "/x/y.py",
        "code.line.number": 3,
        "code.stacktrace": '  File "/a/b.py", line 5, in work\n    tile()\n  File "8", line 6, in x',
        "process.pid": os.getpid(),
    }


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({}, None),
        ({"frame_id": 0, "frame_compile_id": 0, "attempt": 0}, "0/0"),
        ({"compiled_autograd_id": 2}, "!2"),
        ({"compiled_autograd_id": 2, "frame_id": 1, "frame_compile_id": 0, "attempt": 1}, "!2/1/0_1"),
    ],
)
def test_compilation_is_named_as_lines_name_it(fields: dict[str, int], name: str | None) -> None:
    record = TraceRecord("tiles", {"tiles": {}, **fields}, None, 0.0, "/x/y.py", 3)
    assert describe_trace(record).attributes.get("complog.compile_id") == name


class Odd:
    """Does what values of programs do at their worst."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None))
    | st.binary()
    | st.builds(Odd)
    | st.sampled_from(["\ud800", "a\udfffb", "\x00"]),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner)
        | st.sets(st.integers() | st.text())
        | st.dictionaries(st.text(st.characters(codec=None)) | st.integers(), inner)
    ),
    max_leaves=20,
)


@given(VALUES)
def test_any_value_can_be_sent(value: object) -> None:
    entry = describe_record(make("\ud800 %s", "\udfff", value=value, exc_text="\ud800"), describer(step="\ud800"))
    received = send(entry)
    assert received.body == "\\ud800 \\udfff"
    assert "value" in received.attributes


def test_values_without_an_end_have_one() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    wide = [[list(range(1000))] * 1000] * 1000
    assert "[[...]]" in str(make_plain(cycle))
    assert len(str(make_plain(wide))) < 200_000
    assert math.isnan(make_plain(math.nan))


def test_record_in_a_span_carries_its_id() -> None:
    code = """
        from opentelemetry.sdk.trace import TracerProvider
        tracer = TracerProvider().get_tracer("probe")
        log.info("outside")
        with tracer.start_as_current_span("work") as span:
            log.info("inside")
            print(f"{span.get_span_context().span_id:016x}")
    """
    with receiving() as receiver:
        ended = run(receiver.url, code)
        assert {record.body: record.span for record in receiver.records} == {"outside": "", "inside": ended.output}
        assert receiver.records[0].resource[host_attributes.HOST_NAME] == socket.gethostname()


def test_limits_of_attributes_are_the_variables_and_ours_go_last() -> None:
    variables = {"OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT": "8", "OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT": "5"}
    with receiving() as receiver:
        ended = run(receiver.url, "log.info('a text', extra={f'extra{n}': n for n in range(9)})", **variables)
        (record,) = receiver.records
        assert len(record.attributes) == 8
        assert record.attributes["thread.name"] == "MainT"
        assert record.attributes["complog.component"] == "probe"
        assert record.body == "a text"
    assert ended.counts.sent == 1
