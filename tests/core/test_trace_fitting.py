"""Names that become file names, and fields that readers want of one type."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.traces import make_trace, read_all

from complog_core.trace_fitting import LONGEST_NAME, fit, fit_file_name, is_interned
from complog_core.trace_json import Faults

WITH_NAMES = ("artifact", "graph_dump", "optimize_ddp_split_child", "dump_file")


@given(st.text(st.characters(exclude_categories=[])))
def test_any_name_is_one_part_of_a_path(name: str) -> None:
    fitted = fit_file_name(name)
    for kind in (PurePosixPath, PureWindowsPath):
        assert kind("folder", f"{fitted}.txt").parts[1:] == (f"{fitted}.txt",)
    assert 0 < len(fitted.encode()) <= LONGEST_NAME
    assert fit_file_name(fitted) == fitted


def test_usual_names_stay_as_they_are() -> None:
    for name in ("before_post_grad_graph", "fx_graph_cache_hit_3", "a.b-c (d) [e] é", "x" * LONGEST_NAME):
        assert fit_file_name(name) == name


def test_long_names_stay_apart() -> None:
    assert fit_file_name("x" * 500 + "a") != fit_file_name("x" * 500 + "b")


@pytest.mark.parametrize("kind", WITH_NAMES)
@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "a\\..\\b", "x\0y", "n" * 1000, "", "a\nb", "\ud800"])
def test_no_record_names_a_file_elsewhere(kind: str, name: str) -> None:
    about = fit({kind: {"name": name, "encoding": "string", "more": 1}}, Faults())[kind]
    assert about == {"name": fit_file_name(name), "encoding": "string", "more": 1}


def test_generated_code_keeps_the_name_that_readers_link_to() -> None:
    name = "<eval_with_key>.12 from /a/b.py:3 in forward"
    assert fit({"dump_file": {"name": name}}, Faults()) == {"dump_file": {"name": name}}
    assert fit({"dump_file": {"name": "<eval_with_key>.x/.."}}, Faults())["dump_file"]["name"] == "_eval_with_key_.x_.."


@pytest.mark.parametrize(
    ("filename", "fitted"),
    [
        ("/tmp/torchinductor_me/ab/cab.py", "/tmp/torchinductor_me/ab/cab.py"),
        (None, None),
        ("/a/b\0.py", "b_.py"),
        (3, "3"),
        ("/a/", "/a/"),
        ("/a/" + "b" * 151, fit_file_name("b" * 151)),
    ],
)
def test_path_of_generated_code_ends_in_a_file_name(filename: Any, fitted: Any) -> None:
    metadata = {"inductor_output_code": {"filename": filename}}
    assert fit(metadata, Faults())["inductor_output_code"] == {"filename": fitted}


@pytest.mark.parametrize(
    ("given_fields", "fitted"),
    [
        ({"artifact": None}, {"artifact": None}),
        ({"artifact": {}}, {"artifact": {"name": "_", "encoding": "string"}}),
        ({"artifact": "x"}, {"artifact": {"value": "x", "name": "_", "encoding": "string"}}),
        ({"artifact": {"name": 3, "encoding": "html"}}, {"artifact": {"name": "3", "encoding": "string"}}),
        ({"link": {"name": "a"}}, {"link": {"name": "a", "url": ""}}),
        ({"aot_forward_graph": [1]}, {"aot_forward_graph": {"value": [1]}}),
        ({"aot_forward_graph": None}, {"aot_forward_graph": None}),
        ({"of my own": [1]}, {"of my own": [1]}),
        ({"of my own": 1, "rank": True}, {"of my own": 1}),
        ({"of my own": 1, "rank": 2**32}, {"of my own": 1}),
        ({"of my own": 1, "attempt": None, "frame_id": 0}, {"of my own": 1, "frame_id": 0}),
        ({"lineno": 3, "timestamp": 4}, {"lineno_": 3, "timestamp_": 4}),
    ],
)
def test_fields_get_the_types_that_readers_need(given_fields: dict[str, Any], fitted: dict[str, Any]) -> None:
    before = repr(given_fields)
    assert fit(given_fields, Faults()) == fitted
    assert repr(given_fields) == before


@pytest.mark.parametrize("name", ["stack", "has_payload", "str", "lineno", "payload_filename"])
def test_names_of_the_format_itself_get_an_underscore(name: str, tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    trace.trace_structured(name, lambda: {"a": 1}, payload_fn=lambda: "text", compile_id=SimpleNamespace())
    (record,) = read_all(tmp_path)
    assert (record.name, record.fields[f"{name}_"], record.payload) == (f"{name}_", {"a": 1}, "text")
    trace.close()


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (("a", 0), True),
        (["a", 3], True),
        (("a", -1), False),
        (("a", 2**30), False),
        (("a", True), False),
        ((3, "a"), False),
        ("a0", False),
        (("a",), False),
        ({"a": 1}, False),
    ],
)
def test_interned_strings_are_told_by_their_form(pair: object, expected: bool) -> None:
    assert is_interned(pair) is expected
