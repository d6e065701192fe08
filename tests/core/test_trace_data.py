"""Whatever a program hands in, every record can be read, and costs at most one warning of its kind."""

from __future__ import annotations

import enum
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.support.records import shown
from tests.support.traces import file_of, make_trace, read_all, read_file, read_text

from complog_core import report
from complog_core.trace_json import DEEPEST, Faults, encode_metadata, encode_payload
from complog_core.trace_records import lay_out

PREFIX = "V1129 15:57:26.774000 4408 a.py:3]"


@pytest.fixture(autouse=True)
def _forget_warnings() -> None:
    report.forget_warnings()


class Shy:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Stubborn(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("no")


class Evasive(list[Any]):
    def __iter__(self) -> Any:
        raise RuntimeError("no")


class Colour(enum.IntEnum):
    RED = 1


def nest(depth: int, wrap: Any = None) -> Any:
    value: Any = "bottom"
    for _ in range(depth):
        value = {"a": value} if wrap is None else wrap([value])
    return value


def make_loops() -> list[Any]:
    chain: list[Any] = []
    chain.append(chain)
    ring: dict[str, Any] = {}
    ring["a"] = [ring]
    return [chain, ring]


ODD: list[Any] = [
    *(object(), Shy(), {"a": Shy()}, [Shy()], Stubborn(a=1), Evasive([1]), range(3), print, int, memoryview(b"a")),
    *(float("nan"), float("inf"), -math.inf, {"a": [math.nan]}, {math.nan: 1, None: 2, True: 3, 1.5: 4, 2: 5}),
    *(10**400, -(10**400), [10**5000], {10**5000: 1}, 2**64, -(2**63) - 1, "9" * 500, Colour.RED),
    *("\ud800", {"\udfff": "\ud800"}, "\ud83d\ude00", "😀", r"\ud800", "\\\ud800", {"a": r"\\ud800"}),
    *(b"bytes\xff", bytearray(b"x"), {b"k": b"v"}, {(1, 2): 3}, {Shy(): 1}, {1, 2}, frozenset([3]), {"a": {object}}),
    *("", "\0", "\t\n\t", "\r\n", "a\r\r\nb\rc\r", "\u2028\x85\x0b\x0c\x1c\x1e", "\n" * 5, "x" * 70_000 + "\r"),
    *(nest(DEEPEST - 2), nest(DEEPEST + 1), nest(5000), nest(5000, list), nest(200, tuple), [[]] * 500),
    *make_loops(),
]


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_no_value_breaks_the_file_or_the_program(value: Any, tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    trace.trace_structured("before", suppress_context=True)
    trace.trace_structured("tiles", lambda: value, suppress_context=True)
    trace.trace_structured("tiles", lambda: {"a": value}, payload_fn=lambda: value, suppress_context=True)
    trace.trace_structured_artifact("tiles", "json", lambda: value)
    trace.trace_structured_artifact(value, "string", lambda: "text")
    trace.trace_structured_artifact("tiles", value, lambda: "text")
    trace.trace_structured(value, dict, payload_fn=lambda: "text", suppress_context=True)
    trace.trace_structured("after", suppress_context=True)
    records = read_all(tmp_path)
    assert len(records) == 8
    assert (records[0].name, records[-1].name) == ("before", "after")
    assert [record.payload for record in records[4:7]] == ["text"] * 3
    trace.close()


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_one_record_costs_at_most_one_warning(value: Any, tmp_path: Path) -> None:
    trace = make_trace(tmp_path)

    def write() -> None:
        for _ in range(2):
            trace.trace_structured("tiles", dict, payload_fn=lambda: [value], suppress_context=True)

    warnings = shown(write)
    assert warnings.count("\n") <= 1
    assert len(warnings) < 300
    trace.close()


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON_VALUES)
@example({"a": "\u2028\n\r\0"})
def test_json_values_are_written_as_the_standard_library_writes_them(value: Any) -> None:
    faults = Faults()
    assert encode_metadata(value, faults) == json.dumps(value)
    if not isinstance(value, list):
        assert encode_payload(value, faults) == json.dumps(value, indent=0)
    assert json.loads(encode_payload(value, faults)) == value
    assert not faults


@given(st.text(st.characters(exclude_categories=[])), st.text(st.sampled_from("\r\n\t a\ud800é😀")))
@settings(suppress_health_check=[HealthCheck.too_slow])
@example("\ud83d\ude00", "a\r\r\n\r")
def test_any_text_comes_back_but_for_line_ends_and_surrogates(metadata: str, payload: str) -> None:
    (record,) = read_text(lay_out(PREFIX, {"tiles": {metadata: metadata}}, payload, Faults()).decode())
    clean = metadata.encode("utf-16", "surrogatepass").decode("utf-16", "replace") == metadata
    if clean:
        assert record.fields["tiles"] == {metadata: metadata}
    expected = payload
    while "\r\n" in expected or expected.endswith("\r"):
        expected = expected.replace("\r\n", "\n").removesuffix("\r")
    assert record.payload == expected.encode("utf-8", "backslashreplace").decode()


@pytest.mark.parametrize(
    ("value", "metadata", "payload"),
    [
        (math.nan, "null", '"NaN"'),
        (-math.inf, "null", '"-Infinity"'),
        (10**400, f'"{10**400}"', f'"{10**400}"'),
        ({3}, '"{3}"', "[\n3\n]"),
        (..., '"Ellipsis"', '"Ellipsis"'),
        ("\ud800", r'"\\ud800"', r'"\\ud800"'),
        ({"a": {...: 1}}, '{"a": {"Ellipsis": 1}}', '{\n"a": {\n"Ellipsis": 1\n}\n}'),
    ],
)
def test_placeholders_tell_what_was_there(value: Any, metadata: str, payload: str) -> None:
    assert encode_metadata(value, Faults()) == metadata
    assert encode_payload(value, Faults()) == payload


@pytest.mark.parametrize("before", [*range(0, 151, 10), 299, 300, 1000])
def test_huge_number_is_found_wherever_it_stands(before: int) -> None:
    number = int("1" * 300)
    for more in range(10):
        text = "x" * (before + more)
        assert encode_metadata([text, number], Faults()) == json.dumps([text, str(number)])
        assert encode_metadata([text, number // 10], Faults()) == json.dumps([text, number // 10])


def test_hash_is_that_of_the_text_as_it_stands_there(tmp_path: Path) -> None:
    wrong = {"tiles": {}, "has_payload": "0" * 32, "rank": 1}
    trace = make_trace(tmp_path)
    for payload in ("a\r\nb", "\ud800", {"a": 1}):
        trace.writer.write(PREFIX, wrong, payload)
    trace.writer.write(PREFIX, {"tiles": {}, "has_payload": None}, "text")
    trace.writer.write(PREFIX, wrong)
    records = read_file(file_of(trace))
    assert [record.payload for record in records] == ["a\nb", r"\ud800", '{\n"a": 1\n}', "text", None]
    assert [list(record.fields) for record in records[:1]] == [["tiles", "rank", "has_payload"]]
    assert wrong["has_payload"] == "0" * 32
    trace.close()


def test_hash_that_is_right_is_not_computed_again(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    trace.writer.write(PREFIX, {"tiles": {}, "has_payload": "given"}, "text")
    assert '"has_payload": "given"}\n\ttext\n' in file_of(trace).read_text()
    trace.close()


@pytest.mark.parametrize("broken", ["C:\\a.py", "a:b.py", "new\nline.py", "\ud800.py", "\x85\u2028.py", ""])
def test_odd_file_names_of_code_leave_a_line_that_can_be_read(broken: str, tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    code = compile("trace.trace_structured('tiles')", broken.replace("\ud800", "\udcff"), "exec")
    exec(code, {"trace": trace, "__name__": "generated"})
    assert [record.line for record in read_all(tmp_path)] == [1]
    trace.close()
