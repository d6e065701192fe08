"""What the bridge knows of a record's moment stands in for the families that are missing, and agrees with them."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from tests.support.environments import make_environment
from tests.support.stand_ins import forget_torch

from complog_distributed import plugin as distributed
from complog_dynamo import plugin as dynamo
from complog_torch import plugin as bridge

COMPILE = """
import logging, sys
import torch
if "ranks" in sys.argv:
    from torch.testing._internal.distributed.fake_pg import FakeStore
    torch.distributed.init_process_group("fake", store=FakeStore(), rank=2, world_size=3)
logging.getLogger("torch._dynamo").warning("outside")
torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
torch.compile(lambda x: x + 2, backend="eager")(torch.ones(2))
"""


def run(code: str, *arguments: str, **variables: str) -> list[str]:
    """Run the code where the bridge is the only plugin; return the lines of its stderr."""
    environ = make_environment(COMPLOG_PLUGINS="torch", **variables)
    command = [sys.executable, "-c", code, *arguments]
    result = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=True)
    return result.stderr.splitlines()


@pytest.mark.torch
def test_lines_carry_the_compilation_and_the_filter_drops_the_others() -> None:
    every = run(COMPILE, TORCH_LOGS="dynamo,graph_code")
    assert {match[1] for line in every if (match := re.search(r"\] \[(\d/\d)[^]]*\]", line))} == {"0/0", "1/0"}
    assert any("outside" in line for line in every)
    some = run(COMPILE, TORCH_LOGS="dynamo,graph_code", TORCH_LOGS_TRACE_ID_FILTER="[1/0]")
    assert some
    assert all("[1/0]" in line for line in some)


@pytest.mark.torch
def test_lines_and_trace_carry_the_rank(tmp_path: Path) -> None:
    lines = run(COMPILE, "ranks", TORCH_LOGS="dynamo", TORCH_TRACE=str(tmp_path))
    assert any(line.startswith("[rank2]:W") and line.endswith("outside") for line in lines)
    (file,) = tmp_path.iterdir()
    assert "rank_2" in file.name
    records = [json.loads(line[line.index("{") :]) for line in file.read_text().splitlines() if line.startswith("V")]
    assert [it for it in records if it.get("frame_id") == 1]
    assert all(it["rank"] == 2 for it in records if "frame_id" in it)


def put(monkeypatch: pytest.MonkeyPatch, **modules: object) -> None:
    """Put stand-ins of PyTorch's modules in place; None: the module is not loaded."""
    forget_torch(monkeypatch)
    for name, content in {"_guards": None, "fx.traceback": None, "distributed": None, **modules}.items():
        monkeypatch.delitem(sys.modules, f"torch.{name}", raising=False)
        if content is not None:
            module = ModuleType(f"torch.{name}")
            vars(module).update(content)
            monkeypatch.setitem(sys.modules, f"torch.{name}", module)


class TraceId:
    def __init__(self, **parts: int) -> None:
        self.compile_id = SimpleNamespace(**parts)
        self.attempt = 1

    def __str__(self) -> str:
        return "0/3_1"


GROUP = {"is_available": lambda: True, "is_initialized": lambda: True, "get_rank": lambda: 4}
MOMENTS = {
    "nothing loaded": {},
    "no compilation": {"_guards": {"CompileContext": SimpleNamespace(current_trace_id=lambda: None)}},
    "a compilation": {
        "_guards": {"CompileContext": SimpleNamespace(current_trace_id=lambda: TraceId(frame_id=0, frame_compile_id=3))}
    },
    "compiled autograd": {
        "_guards": {"CompileContext": SimpleNamespace(current_trace_id=lambda: TraceId(compiled_autograd_id=3))}
    },
    "a part of a graph": {"fx.traceback": {"_get_regional_inductor_subgraph_name": lambda: "part"}},
    "a process group": {"distributed": GROUP},
    "one that is over": {"distributed": {**GROUP, "is_initialized": lambda: False}},
    "outside of a group": {"distributed": {**GROUP, "get_rank": lambda: -1}},
}


@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS.keys())
def test_bridge_says_what_the_families_say(monkeypatch: pytest.MonkeyPatch, moment: dict[str, object]) -> None:
    put(monkeypatch, **moment)
    record = logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None)
    mine = {field.name: (field.slot, field.value(record)) for field in bridge.complog_record_fields()}
    families = [*distributed.complog_record_fields(), *dynamo.complog_record_fields()]
    assert mine == {field.name: (field.slot, field.value(record)) for field in families}
    assert bridge.complog_trace_context() is None  # they say it already
    monkeypatch.delitem(sys.modules, "complog_dynamo.plugin")
    theirs = {**(distributed.complog_trace_context() or {}), **(dynamo.complog_trace_context() or {})}
    assert bridge.complog_trace_context() == theirs


@pytest.mark.parametrize("wanted", ["", " ", "0/3_1", "[0/3_1]", "1/0, [ 0/3_1 ],", "0/3", ","])
@pytest.mark.parametrize("moment", ["no compilation", "a compilation"])
def test_bridge_filters_as_the_family_does(monkeypatch: pytest.MonkeyPatch, wanted: str, moment: str) -> None:
    put(monkeypatch, **MOMENTS[moment])
    monkeypatch.setenv("TORCH_LOGS_TRACE_ID_FILTER", wanted)
    record = logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None)
    assert bridge.complog_filters() == ()  # the family's is enough
    monkeypatch.delitem(sys.modules, "complog_dynamo.plugin")
    mine = [record_filter(record) for record_filter in bridge.complog_filters()]
    assert mine == [record_filter(record) for record_filter in dynamo.complog_filters()]
