"""What records tell of the moment: contributed fields, the compilation that runs, or else the stack."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.records import shown
from tests.support.traces import file_of, make_trace, read_all, read_file

from complog_core import report
from complog_core.contributions import Fault, read_contribution
from complog_core.hookspecs import HOOKS
from complog_core.registration import show_specification
from complog_core.trace import Trace


@pytest.fixture(autouse=True)
def _forget_warnings() -> None:
    report.forget_warnings()


def test_hook_is_specified() -> None:
    assert "complog_trace_context" in HOOKS
    assert show_specification("complog_trace_context") == "complog_trace_context() -> Mapping[str, object] | None"


@pytest.mark.parametrize(("result", "read"), [(None, {}), ({}, {}), ({"rank": 0}, {"rank": 0})])
def test_mapping_or_none_is_read(result: object, read: object) -> None:
    assert read_contribution("complog_trace_context", result) == read


@pytest.mark.parametrize("result", [[("rank", 0)], "rank", 3, {3: "rank"}, {None: 1}])
def test_anything_else_is_refused(result: object) -> None:
    with pytest.raises(Fault, match=r"^(returned|gave) .* (instead of|whose name is) "):
        read_contribution("complog_trace_context", result)


def fail() -> dict[str, object]:
    raise LookupError("mine")


@pytest.mark.parametrize(
    ("hook", "told"),
    [
        (fail, "hook 0: complog_trace_context() raised LookupError: mine"),
        (lambda: ["a"], "hook 0: complog_trace_context() returned list instead of a mapping of field names to values"),
        (lambda: {1: 2}, "hook 0: complog_trace_context() gave a field whose name is no str but int"),
        (lambda: {"tiles": 1}, "gets a field from hook 0 whose name is taken; it is left out (tiles)"),
        (lambda: {"has_payload": "x"}, "gets a field from hook 0 whose name is taken; it is left out (has_payload)"),
        (lambda: {"stack": []}, "gets a field from hook 0 whose name is taken; it is left out (stack)"),
        (lambda: {"str": ("a", 1)}, "gets a field from hook 0 whose name is taken; it is left out (str)"),
        (lambda: {"rank": -1}, "has a rank that is no int from 0 to 4294967295; it is left out (-1)"),
        (lambda: {"frame_id": "0"}, "has a frame_id that is no int from 0 to 4294967295; it is left out (0)"),
        (lambda: {"lineno": 3}, "has a field whose name the format uses itself"),
    ],
)
def test_faulty_hook_costs_one_warning_and_its_own_field(hook: Callable[[], object], told: str, tmp_path: Path) -> None:
    trace = make_trace(tmp_path, hook, lambda: {"mine": 1})

    def write() -> None:
        for _ in range(3):
            trace.trace_structured("tiles", lambda: {"a": 1}, expect_trace_id=False)

    warnings = shown(write)
    assert told in warnings
    assert warnings.count("\n") == 1
    for record in read_all(tmp_path):
        assert (record.fields["tiles"], record.fields["mine"]) == ({"a": 1}, 1)
        assert not {"rank", "frame_id", "stack", "has_payload"} & set(record.fields)
    trace.close()


def test_contributed_fields_stand_in_the_known_order(tmp_path: Path) -> None:
    trace = make_trace(
        tmp_path,
        lambda: {"subgraph_name": "s", "attempt": 0, "frame_compile_id": 2, "frame_id": 1, "compiled_autograd_id": 9},
        lambda: {"mine": [1], "rank": 3},
        lambda: None,
    )
    trace.trace_structured("tiles", payload_fn=lambda: "x")
    (record,) = read_all(tmp_path)
    assert list(record.fields) == (
        ["tiles", "rank", "compiled_autograd_id", "frame_id", "frame_compile_id", "attempt"]
        + ["subgraph_name", "mine", "has_payload"]
    )
    assert "_rank_3_" in file_of(trace).name
    trace.close()


def test_equal_values_that_json_tells_apart_are_each_written_as_given(tmp_path: Path) -> None:
    given: list[dict[str, Any]] = [
        {"mine": 1, "other": 2},
        {"mine": True, "other": 2},
        {"mine": 1.0, "other": 2},
        {"other": 2, "mine": 1},
        {},
    ]
    said: dict[str, Any] = {}
    named = {"name": "a", "encoding": "json"}
    trace = make_trace(tmp_path, lambda: said)

    def describe() -> dict[str, Any]:
        return {**named, **said}

    for values in given * 2:
        said.clear()
        said.update(values)
        trace.trace_structured("artifact", describe, expect_trace_id=False)
    lines = [line.partition("] ")[2] for line in file_of(trace).read_text().splitlines()]
    assert lines == [json.dumps({"artifact": {**named, **values}, **values}) for values in given * 2]
    trace.close()


def test_suppressed_context_leaves_nothing_but_the_metadata(tmp_path: Path) -> None:
    trace = make_trace(tmp_path, lambda: {"frame_id": 1, "rank": 3})
    trace.trace_structured("tiles", suppress_context=True)
    (record,) = read_all(tmp_path)
    assert list(record.fields) == ["tiles"]
    assert "_rank_3_" in file_of(trace).name
    trace.close()


@pytest.mark.parametrize(
    ("running", "given", "expected"),
    [
        ({}, None, ["stack"]),
        ({"rank": 0}, None, ["rank", "stack"]),
        ({"frame_id": 1, "frame_compile_id": 2, "attempt": 0}, None, ["frame_id", "frame_compile_id", "attempt"]),
        ({"compiled_autograd_id": 1, "attempt": 0}, None, ["compiled_autograd_id", "attempt"]),
        ({}, SimpleNamespace(frame_id=7, frame_compile_id=8), ["frame_id", "frame_compile_id"]),
        ({}, SimpleNamespace(frame_id=None, frame_compile_id=None, compiled_autograd_id=3), ["compiled_autograd_id"]),
        ({"frame_id": 1, "attempt": 2}, SimpleNamespace(frame_id=7), ["frame_id", "attempt"]),
        ({}, object(), []),
    ],
)
def test_stack_is_written_only_where_nothing_tells_the_compilation(
    running: dict[str, int], given: Any, expected: list[str], tmp_path: Path
) -> None:
    trace = make_trace(tmp_path, lambda: running)
    trace.trace_structured("tiles", compile_id=given)
    (record,) = read_all(tmp_path)
    assert list(record.fields)[1:] == expected
    if "frame_id" in expected:
        assert record.fields["frame_id"] == running.get("frame_id", getattr(given, "frame_id", None))
    trace.close()


def test_no_stack_is_written_where_none_is_expected(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    trace.trace_structured("tiles", expect_trace_id=False)
    assert "stack" not in read_all(tmp_path)[0].fields
    trace.close()


def inner(trace: Trace) -> None:
    trace.trace_structured_artifact("tiles", "string")  # the place


def test_stack_ends_at_the_caller_and_shows_no_frame_of_complog(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    inner(trace)
    records = read_file(file_of(trace))
    strings = {number: text for text, number in (each.fields["str"] for each in records if each.name == "str")}
    stack = records[-1].fields["stack"]
    assert [frame["name"] for frame in stack[-2:]] == [
        "test_stack_ends_at_the_caller_and_shows_no_frame_of_complog",
        "inner",
    ]
    assert stack[-1]["loc"].endswith("# the place")
    assert {type(frame["line"]) for frame in stack} == {int}
    assert strings[stack[-1]["filename"]] == __file__
    assert not [text for text in strings.values() if "complog_core" in text]
    trace.close()


def test_stack_of_the_standard_library_is_described_alike(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    tb = traceback.extract_stack()
    tb.append(traceback.FrameSummary("<generated>", None, "made"))
    described = trace.from_traceback(tb)
    number = trace.intern_string(__file__)
    assert described[-2] == {"line": tb[-2].lineno, "name": tb[-2].name, "filename": number, "loc": tb[-2].line}
    assert (described[-1]["line"], described[-1]["name"]) == (0, "made")
    trace.close()


def test_stack_taken_by_the_programs_function_shows_no_frame_of_complog(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    trace.trace_structured("tiles", lambda: {"stack": trace.from_traceback(traceback.extract_stack()[-5:])})
    strings = [record.fields["str"][0] for record in read_file(file_of(trace)) if record.name == "str"]
    assert __file__ in strings
    assert not [text for text in strings if "complog_core" in text]
    trace.close()


def test_seconds_spent_are_added_up_per_compilation(tmp_path: Path) -> None:
    running: dict[str, int] = {"frame_id": 1, "frame_compile_id": 0, "attempt": 0}
    trace = make_trace(tmp_path, lambda: running)
    assert trace.get_structured_logging_overhead() is None
    trace.trace_structured("tiles")
    first = trace.get_structured_logging_overhead()
    assert first is not None
    assert 0 < first < 1
    running["attempt"] = 1
    trace.trace_structured("tiles", suppress_context=True)
    second = trace.get_structured_logging_overhead()
    assert second is not None
    assert second > first
    trace.trace_structured("tiles", record_logging_overhead=False)
    assert trace.get_structured_logging_overhead() == second
    running.clear()
    assert trace.get_structured_logging_overhead() is None
    trace.close()
