"""The fields of each structured record, against stand-ins for torch's modules: the parts of the compile id."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from complog_dynamo.plugin import complog_trace_context


@pytest.fixture(autouse=True)
def _no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch._guards", "torch.fx.traceback"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def compile_now(monkeypatch: pytest.MonkeyPatch, trace_id: object) -> ModuleType:
    """Put a torch._guards in place in which that compilation runs."""
    module = ModuleType("torch._guards")
    vars(module).update(CompileContext=SimpleNamespace(current_trace_id=lambda: trace_id))
    monkeypatch.setitem(sys.modules, "torch._guards", module)
    return module


def make_id(**parts: int | None) -> Any:
    known = {"compiled_autograd_id": None, "frame_id": None, "frame_compile_id": None}
    return SimpleNamespace(compile_id=SimpleNamespace(**{**known, **parts}), attempt=2)


@pytest.mark.parametrize(
    "parts",
    [
        {"frame_id": 0, "frame_compile_id": 1},
        {"compiled_autograd_id": 0},
        {"compiled_autograd_id": 3, "frame_id": 0, "frame_compile_id": 1},
    ],
)
def test_record_has_the_parts_of_the_running_compilations_id(
    parts: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_now(monkeypatch, make_id(**parts))
    assert complog_trace_context() == {**parts, "attempt": 2}


def test_older_ids_without_compiled_autograd_do(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_now(monkeypatch, SimpleNamespace(compile_id=SimpleNamespace(frame_id=4, frame_compile_id=5), attempt=0))
    assert complog_trace_context() == {"frame_id": 4, "frame_compile_id": 5, "attempt": 0}


def test_record_has_nothing_outside_of_a_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_now(monkeypatch, None)
    assert not complog_trace_context()


def test_record_has_nothing_and_nothing_is_imported_without_torch() -> None:
    assert not complog_trace_context()
    assert not {"torch._guards", "torch.fx.traceback"} & set(sys.modules)


def test_half_loaded_guards_module_is_not_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    module = compile_now(monkeypatch, make_id(frame_id=0))
    monkeypatch.setattr(module, "__spec__", SimpleNamespace(_initializing=True))
    del module.CompileContext
    assert not complog_trace_context()


@pytest.mark.parametrize(("name", "expected"), [("part", {"subgraph_name": "part"}), (None, {})])
def test_record_has_the_name_of_a_part_that_is_compiled_on_its_own(
    name: str | None, expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("torch.fx.traceback")
    vars(module).update(_get_regional_inductor_subgraph_name=lambda: name)
    monkeypatch.setitem(sys.modules, "torch.fx.traceback", module)
    assert complog_trace_context() == expected


def test_older_torch_that_names_no_parts_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.fx.traceback", ModuleType("torch.fx.traceback"))
    assert not complog_trace_context()
