"""Compiling code that logs: Dynamo does with the bridge exactly what it does without, and sees nothing of complog."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.fake_distributions import make_distribution
from tests.support.torch_programs import Finished, run_program

pytestmark = pytest.mark.torch

ROOT = Path(__file__).parents[3]
OUR_SOURCES = [str(ROOT / "src/core"), *map(str, (ROOT / "plugins").glob("*/src"))]

NAMES = """
    from complog_core import Artifact, Component, hookimpl

    @hookimpl
    def complog_components():
        return [Component("backend", ["backend"])]

    @hookimpl
    def complog_artifacts():
        return [Artifact("tiles", "the tiles", off_by_default=True), Artifact("sums", "the sums")]
"""

PROGRAM = Path(__file__).with_name("dynamo_program.py").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[dict[str, Any], list[Any], Finished]]:
    """For stock and bridged PyTorch: what became of each function, the records of the trace, and how it ended."""
    directory = tmp_path_factory.mktemp("dynamo")
    points = {"complog": {"backend": "backend_names"}}
    site = make_distribution(directory / "site", "backend", entry_points=points, modules={"backend_names": NAMES})
    done = {}
    for kind, switch in (("stock", "0"), ("bridged", "1")):
        trace = directory / f"trace-{kind}"
        env = {"TORCH_TRACE": str(trace), **switched(switch)}
        finished = run_program(PROGRAM, directory, paths=[site], env=env)
        assert finished.returncode == 0, finished.stderr
        (file,) = trace.iterdir()
        done[kind] = (json.loads(finished.stdout), read_trace(file), finished)
    return done


def switched(switch: str) -> dict[str, str]:
    """The variables for the bridge ("1") or for stock PyTorch ("0"), where no other backend uses complog either."""
    return {"COMPLOG_TORCH": switch, "TORCH_DEVICE_BACKEND_AUTOLOAD": switch}


def read_trace(file: Path) -> list[Any]:
    """Return the records of a structured trace with the file names put back in their stacks."""
    lines = [line for line in file.read_text().splitlines() if line.startswith("V")]
    records = [json.loads(line.partition("] ")[2]) for line in lines]
    names = dict(reversed(record["str"]) for record in records if "str" in record)

    def put_back(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: names[each] if key == "filename" else put_back(each) for key, each in value.items()}
        return [put_back(each) for each in value] if isinstance(value, list) else value

    return [put_back(record) for record in records]


Runs = dict[str, tuple[dict[str, Any], list[Any], Finished]]


@pytest.mark.parametrize("what", ["graphs", "counters", "frames", "outcome"])
def test_bridge_changes_nothing_of(runs: Runs, what: str) -> None:
    stock, bridged = ({name: result[what] for name, result in runs[kind][0].items()} for kind in ("stock", "bridged"))
    assert len(stock) == 44
    assert bridged == stock


def test_comparison_covers_breaks_and_whole_graphs(runs: Runs) -> None:
    results = runs["stock"][0]
    assert results["breaks/component"]["counters"]["graph_break"]
    assert "Logger method not supported" in results["fullgraph/component"]["outcome"]
    assert len(results["ignored/component"]["graphs"]) == 1
    assert len(results["breaks/component"]["graphs"]) == 2


def test_stacks_of_compilations_are_those_of_stock(runs: Runs) -> None:
    stock, bridged = (
        [record["dynamo_start"]["stack"] for record in runs[kind][1] if "dynamo_start" in record]
        for kind in ("stock", "bridged")
    )
    assert len(stock) > 20
    assert bridged == stock


def test_lines_are_those_of_stock(runs: Runs) -> None:
    stock, bridged = (runs[kind][2] for kind in ("stock", "bridged"))
    assert "[__tiles] a tile" in stock.texts
    assert len([text for text in stock.texts if "[__graph_breaks] Graph break" in text]) > 10
    assert (bridged.texts, len(bridged.stderr.splitlines())) == (stock.texts, len(stock.stderr.splitlines()))


def test_trace_has_the_records_of_stock(runs: Runs) -> None:
    stock, bridged = ([sorted(record) for record in runs[kind][1]] for kind in ("stock", "bridged"))
    assert bridged == stock


def test_no_file_of_ours_is_seen_by_dynamo(runs: Runs) -> None:
    results, trace, _ = runs["bridged"]
    for path in OUR_SOURCES:
        assert path not in json.dumps(results)
        assert path not in json.dumps(trace)


SKIPPED = """
    import sys
    before = set(sys.modules)
    IMPORTS
    import complog, complog_core.system, complog_core.handlers, complog.builtin, complog_torch.plugin
    import complog_dynamo, complog_inductor, complog_distributed, complog_onnx, backend_names
    from torch._dynamo import trace_rules
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0].startswith("complog") or name == "backend_names":
            assert trace_rules.check_file(module.__file__).skipped, name
"""
ORDERS = {
    "as always": "import torch",
    "dynamo first": "import torch._dynamo",
    "installed late": "import torch, complog_torch; assert complog_torch.install()",
    "installed after dynamo": "import torch, torch._dynamo, complog_torch; assert complog_torch.install()",
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    points = {"complog": {"backend": "backend_names"}}
    return make_distribution(tmp_path / "site", "backend", entry_points=points, modules={"backend_names": NAMES})


@pytest.mark.parametrize("order", ORDERS)
def test_dynamo_skips_our_packages_and_the_plugins_module(site: Path, tmp_path: Path, order: str) -> None:
    env = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"} if order.startswith("installed") else {}
    done = run_program(SKIPPED.replace("IMPORTS", ORDERS[order]), tmp_path, paths=[site], env=env)
    assert done.returncode == 0, done.stderr


def test_import_of_torch_loads_no_more_of_torch_than_stock(tmp_path: Path) -> None:
    code = "import sys, torch\nprint(*sorted(name for name in sys.modules if name.startswith('torch')))"
    stock, bridged = (run_program(code, tmp_path, env=switched(switch)) for switch in "01")
    assert set(bridged.stdout.split()) - set(stock.stdout.split()) == set()
    assert "torch._dynamo.trace_rules" not in bridged.stdout.split()


def test_record_says_where_its_caller_stands(site: Path, tmp_path: Path) -> None:
    code = """
        import complog, inspect, logging, torch
        records = []
        class Collect(logging.Handler):
            def emit(self, record):
                records.append((record.pathname, record.lineno, record.funcName))
        log = logging.getLogger("backend.x")
        tiles = torch._logging.getArtifactLogger("backend.x", "tiles")
        log.addHandler(Collect())
        tiles.addHandler(Collect())
        torch._logging.set_logs(backend=10, tiles=True)
        tiles.propagate = False
        def eager():
            calls = [log.info, log.exception, tiles.debug, tiles.warning]
            for call in calls:
                call("x"); line = inspect.currentframe().f_lineno
                yield line
            complog.warning_once(log, "y"); yield inspect.currentframe().f_lineno
        lines = list(eager())
        expected = [(__file__, line, "eager") for line in lines]
        assert records == expected, (records, expected)
        records.clear()
        @torch.compile(backend="eager")
        def compiled(x):
            x = x.sin()
            tiles.debug("x")
            log.info("x")
            return x.cos()
        compiled(torch.randn(3))
        first = compiled.__wrapped__.__code__.co_firstlineno
        assert [record[:2] for record in records] == [(__file__, first + 3), (__file__, first + 4)], records
    """
    done = run_program(code, tmp_path, paths=[site])
    assert done.returncode == 0, done.stderr
