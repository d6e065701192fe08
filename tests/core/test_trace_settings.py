"""Where a trace goes: what the variables say, what `set_trace` asks for, and when each of them holds."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import pytest
from tests.support.traces import file_of, make_trace, read_all, read_file

from complog_core.trace import Trace
from complog_core.trace_settings import TraceSettings, read_trace_settings


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, (None, False)),
        ({"TRACE": "a"}, ("a", False)),
        ({"TRACE": " "}, (None, False)),
        ({"DTRACE": "b"}, ("b", True)),
        ({"TRACE": "a", "DTRACE": "b"}, ("b", True)),
        ({"TRACE": "a", "DTRACE": ""}, ("a", False)),
        ({"COMPILE_DEBUG": "1"}, (os.path.join("probe_compile_debug", "tlparse"), False)),
        ({"COMPILE_DEBUG": "1", "TRACE": ""}, (os.path.join("probe_compile_debug", "tlparse"), False)),
        ({"COMPILE_DEBUG": "0"}, (None, False)),
        ({"COMPILE_DEBUG": "true"}, (None, False)),
        ({"COMPILE_DEBUG": "1", "TRACE": "a"}, ("a", False)),
        ({"COMPILE_DEBUG": "1", "DTRACE": "a"}, ("a", True)),
        (
            {"COMPILE_DEBUG": "1", "COMPILE_DEBUG_DIR": "/d"},
            (os.path.join("/d", "probe_compile_debug", "tlparse"), False),
        ),
    ],
)
def test_variables_say_where(variables: dict[str, str], expected: tuple[str | None, bool]) -> None:
    environ = {f"PROBE_{name}": value for name, value in variables.items()}
    assert read_trace_settings(environ, "PROBE") == expected
    assert read_trace_settings(environ, "OTHER") == (None, False)


def test_host_framework_may_say_where_debugging_goes(tmp_path: Path) -> None:
    trace = make_trace(None, PROBE_COMPILE_DEBUG="1")
    trace.find_debug_directory = lambda: str(tmp_path)
    trace.trace_structured("tiles")
    assert len(read_all(tmp_path / "tlparse")) == 1
    trace.close()


def test_settings_survive_a_working_directory_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise FileNotFoundError

    monkeypatch.setattr(os, "getcwd", fail)
    assert TraceSettings("traces").settle() == TraceSettings("traces")


def test_disabled_logging_does_not_stop_a_trace(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    logging.disable(logging.CRITICAL)
    try:
        trace.trace_structured("tiles")
    finally:
        logging.disable(logging.NOTSET)
    assert len(read_all(tmp_path)) == 1
    trace.close()


def test_directory_is_changed_at_run_time(tmp_path: Path) -> None:
    trace = make_trace(tmp_path / "a")
    trace.trace_structured("one")
    trace.set_trace(tmp_path / "b")
    assert not (tmp_path / "b").exists()
    trace.trace_structured("two")
    trace.set_trace(None)
    trace.trace_structured("three")
    trace.set_trace(str(tmp_path / "a"), detailed=True)
    trace.dtrace_structured("four")
    trace.set_trace(" ")
    trace.trace_structured("five")
    assert sorted(read_file(path)[-1].name for path in (tmp_path / "a").iterdir()) == ["four", "one"]
    assert [record.name for record in read_all(tmp_path / "b")] == ["two"]
    trace.close()


@pytest.mark.parametrize("bad", [3, ["a"], {"a": 1}])
def test_what_is_no_path_is_a_type_error(bad: Any, tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    with pytest.raises(TypeError):
        trace.set_trace(bad)
    assert trace.directory == str(tmp_path)


def test_each_file_explains_its_strings(tmp_path: Path) -> None:
    trace = make_trace(tmp_path / "a")
    number = trace.intern_string("x.py")
    trace.set_trace(tmp_path / "b")
    assert trace.intern_string("x.py") == number
    trace.trace_structured("tiles", lambda: {"stack": [{"filename": number}]}, suppress_context=True)
    for directory in ("a", "b"):
        (path,) = (tmp_path / directory).iterdir()
        assert read_file(path)[0].fields["str"] == ["x.py", number]
    trace.close()


def test_variable_is_read_again_only_when_configured(tmp_path: Path) -> None:
    environ = {"PROBE_TRACE": str(tmp_path / "a")}
    trace = Trace("PROBE", environ=environ)
    trace.trace_structured("one")
    environ["PROBE_TRACE"] = str(tmp_path / "b")
    trace.trace_structured("two")
    trace.configure(reread=False)
    trace.trace_structured("two")
    assert not (tmp_path / "b").exists()
    trace.configure()
    trace.trace_structured("three")
    assert [record.name for record in read_all(tmp_path / "a")] == ["one", "two", "two"]
    assert [record.name for record in read_all(tmp_path / "b")] == ["three"]
    del environ["PROBE_TRACE"]
    trace.configure()
    trace.trace_structured("four")
    assert len(read_all(tmp_path / "b")) == 1
    trace.close()


def test_what_set_trace_asked_for_holds_until_the_variable_changes(tmp_path: Path) -> None:
    environ = {"PROBE_TRACE": str(tmp_path / "a")}
    trace = Trace("PROBE", environ=environ)
    trace.set_trace(tmp_path / "b")
    trace.configure()
    assert trace.directory == str(tmp_path / "b")
    environ["PROBE_TRACE"] = str(tmp_path / "c")
    trace.configure()
    assert trace.directory == str(tmp_path / "c")


def test_changes_are_told_when_they_hold(tmp_path: Path) -> None:
    environ = {"PROBE_TRACE": str(tmp_path / "a")}
    trace = Trace("PROBE", environ=environ)
    told: list[TraceSettings] = []

    def listen(settings: TraceSettings) -> None:
        assert (trace.directory, trace.detailed) == settings
        told.append(settings)

    trace.on_change = listen
    trace.configure()
    trace.configure()
    trace.set_trace(tmp_path / "a")
    trace.set_trace(tmp_path / "a", detailed=True)
    trace.set_trace(None)
    trace.close()
    directory = str(tmp_path / "a")
    assert told == [(directory, False), (directory, True), (None, True), (None, False)]


def test_later_chdir_moves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    trace = Trace("PROBE", environ={"PROBE_TRACE": "traces"})
    trace.configure()
    monkeypatch.chdir(tmp_path / "elsewhere")
    trace.configure()
    trace.trace_structured("tiles")
    assert file_of(trace).parent == tmp_path / "traces"
    trace.close()


def test_first_use_prepares_once_also_where_preparing_uses_the_trace(tmp_path: Path) -> None:
    calls: list[str] = []

    def prepare() -> None:
        calls.append("prepare")
        trace.trace_structured("early")
        trace.configure([("mine", lambda: {"frame_id": 4})])

    trace = Trace("PROBE", environ={"PROBE_TRACE": str(tmp_path)}, prepare=prepare)
    trace.trace_structured("late")
    assert calls == ["prepare"]
    assert [(record.name, record.fields.get("frame_id")) for record in read_all(tmp_path)] == [
        ("early", None),
        ("late", 4),
    ]
    trace.close()
