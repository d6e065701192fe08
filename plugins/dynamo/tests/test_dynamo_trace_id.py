"""The compile id in the line, the filter by it, and graph breaks' exceptions, against stand-ins for torch's modules."""

from __future__ import annotations

import logging
import sys
from types import ModuleType, SimpleNamespace

import pytest
from tests.support.stand_ins import forget_torch

from complog_dynamo.plugin import TRACE_ID_FILTER, complog_artifacts, complog_filters, complog_record_fields

RECORD = logging.makeLogRecord({"msg": "hello"})


class TraceId:
    """Like torch._guards.TraceId: its text is what the line shows."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


class Guards:
    """A stand-in for torch._guards, with the id that the test wants to be current."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.current: str | None = None
        forget_torch(monkeypatch)
        self.module = ModuleType("torch._guards")
        vars(self.module).update(CompileContext=SimpleNamespace(current_trace_id=self._find))
        monkeypatch.setitem(sys.modules, "torch._guards", self.module)

    def _find(self) -> TraceId | None:
        return None if self.current is None else TraceId(self.current)


@pytest.fixture
def guards(monkeypatch: pytest.MonkeyPatch) -> Guards:
    return Guards(monkeypatch)


def render() -> str:
    (field,) = complog_record_fields()
    assert field.slot == "tail"
    return field.value(RECORD)


def is_kept() -> bool:
    return all(keep(RECORD) for keep in complog_filters())


@pytest.mark.parametrize("text", ["0/0", "12/3_1", "!3", "!0/0/1"])
def test_line_shows_the_running_compilation(guards: Guards, text: str) -> None:
    guards.current = text
    assert render() == f" [{text}]"


def test_line_shows_nothing_outside_of_a_compilation(guards: Guards) -> None:
    assert render() == ""


def test_line_shows_nothing_and_imports_nothing_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch._guards", raising=False)
    assert render() == ""
    assert "torch._guards" not in sys.modules


def test_half_loaded_guards_module_is_not_touched(guards: Guards, monkeypatch: pytest.MonkeyPatch) -> None:
    guards.current = "0/0"
    monkeypatch.setattr(guards.module, "__spec__", SimpleNamespace(_initializing=True))
    del guards.module.CompileContext
    assert render() == ""


@pytest.mark.parametrize("text", [None, "", "  ", " , "])
def test_no_filter_where_the_variable_lists_nothing(monkeypatch: pytest.MonkeyPatch, text: str | None) -> None:
    if text is None:
        monkeypatch.delenv(TRACE_ID_FILTER, raising=False)
    else:
        monkeypatch.setenv(TRACE_ID_FILTER, text)
    assert list(complog_filters()) == []


@pytest.mark.parametrize("text", ["0/0,1/0_1", "[0/0],[1/0_1]", " [0/0] , 1/0_1 ,", "1/0_1,[ 0/0 ]"])
def test_filter_keeps_the_listed_compilations_only(guards: Guards, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(TRACE_ID_FILTER, text)
    kept = {}
    for guards.current in ("0/0", "1/0_1", "1/0", "0/1", "10/0", None):
        kept[guards.current] = is_kept()
    assert kept == {"0/0": True, "1/0_1": True, "1/0": False, "0/1": False, "10/0": False, None: False}


def test_filter_drops_everything_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRACE_ID_FILTER, "0/0")
    monkeypatch.delitem(sys.modules, "torch._guards", raising=False)
    assert not is_kept()


def test_graph_breaks_show_their_exception_only_if_dynamo_is_verbose(monkeypatch: pytest.MonkeyPatch) -> None:
    (shown,) = [item.show_exception for item in complog_artifacts() if item.name == "graph_breaks"]
    assert callable(shown)
    config = ModuleType("torch._dynamo.config")
    monkeypatch.delitem(sys.modules, "torch._dynamo.config", raising=False)
    assert shown() is False
    assert "torch._dynamo.config" not in sys.modules
    monkeypatch.setitem(sys.modules, "torch._dynamo.config", config)
    assert shown() is False
    vars(config).update(verbose=True)
    assert shown() is True
    vars(config).update(verbose=False)
    assert shown() is False


def test_every_other_artifact_shows_its_exceptions() -> None:
    assert {item.show_exception for item in complog_artifacts() if item.name != "graph_breaks"} == {True}
