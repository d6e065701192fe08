"""PyTorch's testing helpers work with the bridge as they do without: the suites in helpers/ run both ways."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support.environments import make_environment

pytestmark = pytest.mark.torch

HELPERS = Path(__file__).parent / "helpers"
SUITES = sorted(HELPERS.glob("suite_*.py"))
RUNNERS = ("unittest", "pytest")
ENGINES = ("stock", "bridged")

Outcomes = dict[str, str]


def run_suites(runner: str, engine: str, directory: Path) -> Outcomes:
    """Run every suite in one new process and return "passed", or what went wrong, for each test."""
    environ = make_environment() | {
        "COMPLOG_TORCH": "1" if engine == "bridged" else "0",
        "TORCHINDUCTOR_CACHE_DIR": str(directory / "inductor"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        # compiled C++ may be used again, what the compiler logs may not be skipped
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
        "TORCHINDUCTOR_VEC_ISA_OK": "0",
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    output = directory / f"{runner}-{engine}"
    if runner == "unittest":
        command = [str(HELPERS / "run_suite.py"), str(output), *(path.stem for path in SUITES)]
    else:
        settings = directory / "pytest.ini"
        settings.write_text("[pytest]\n", encoding="utf-8")
        options = ["-p", "no:logging", "-p", "no:cacheprovider", "-c", str(settings), f"--rootdir={HELPERS}"]
        command = ["-m", "pytest", *options, f"--junitxml={output}", *map(str, SUITES)]
    result = subprocess.run(
        [sys.executable, *command], cwd=HELPERS, env=environ, capture_output=True, text=True, timeout=600, check=False
    )
    assert output.exists(), f"{runner} ended with {result.returncode}:\n{(result.stdout + result.stderr)[-3000:]}"
    text = output.read_text(encoding="utf-8")
    return json.loads(text) if runner == "unittest" else read_junit(text)


def read_junit(text: str) -> Outcomes:
    outcomes = {}
    for case in ElementTree.fromstring(text).iter("testcase"):
        faults = [
            f"{it.tag}: {it.text or it.get('message')}" for it in case if it.tag in ("failure", "error", "skipped")
        ]
        outcomes[f"{case.get('classname')}.{case.get('name')}"] = "\n".join(faults) or "passed"
    return outcomes


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, str], Future[Outcomes]]]:
    """Every run, two of them at a time; the tests wait for those that they need."""
    directory = tmp_path_factory.mktemp("helpers")
    with ThreadPoolExecutor(2) as pool:
        wanted = [(runner, engine) for runner in RUNNERS for engine in ENGINES]
        yield {key: pool.submit(run_suites, *key, directory) for key in wanted}


def describe_faults(outcomes: Outcomes) -> str:
    faults = [f"--- {name}\n{shorten(outcome)}" for name, outcome in outcomes.items() if outcome != "passed"]
    return f"{len(faults)} of {len(outcomes)} tests did not pass:\n" + "\n".join(faults)


def shorten(traceback: str) -> str:
    """Return the end of a traceback without PyTorch's advice on how to run a test again."""
    lines = [line for line in traceback.splitlines() if line.strip()]
    end = next((number for number, line in enumerate(lines) if line.startswith("To execute this test")), len(lines))
    return "\n".join(lines[max(0, end - 12) : end])[-1500:]


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_test_passes(runs: dict[tuple[str, str], Future[Outcomes]], runner: str, engine: str) -> None:
    outcomes = runs[runner, engine].result()
    assert len(outcomes) >= 60
    if set(outcomes.values()) != {"passed"}:
        pytest.fail(describe_faults(outcomes), pytrace=False)


@pytest.mark.parametrize("runner", RUNNERS)
def test_each_test_ends_as_it_does_with_stock(runs: dict[tuple[str, str], Future[Outcomes]], runner: str) -> None:
    stock, bridged = (runs[runner, engine].result() for engine in ENGINES)
    assert stock.keys() == bridged.keys()
    assert [name for name in stock if (stock[name] == "passed") != (bridged[name] == "passed")] == []


def test_both_runners_find_the_same_tests(runs: dict[tuple[str, str], Future[Outcomes]]) -> None:
    found = [set(runs[runner, "stock"].result()) for runner in RUNNERS]
    assert found[0] == found[1]
    assert {name.partition(".")[0] for name in found[0]} == {path.stem for path in SUITES}
