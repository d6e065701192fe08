"""The families at work: installed, switched by variables, in processes with stand-ins for torch's modules."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Protocol

import pytest

FAMILIES = tuple(f"plugins/{name}" for name in ("dynamo", "inductor", "distributed", "onnx"))

COMPILING = """
import types
torch_guards = types.ModuleType("torch._guards")
torch_guards.CompileContext = types.SimpleNamespace(current_trace_id=lambda: current)
sys.modules["torch._guards"] = torch_guards
current = None
import complog, logging
log = complog.getArtifactLogger("torch._dynamo.toy", "guards")
for current in (None, "0/0", "1/0_2", "2/0"):
    log.debug("in %s", current)
"""

RANKED = """
import complog, logging
logging.getLogger("torch.distributed.toy").info("hello")
"""

GROUPED = """
import types
torch_distributed = types.ModuleType("torch.distributed")
vars(torch_distributed).update(is_available=lambda: True, is_initialized=lambda: True, get_rank=lambda: 3)
sys.modules["torch.distributed"] = torch_distributed
"""


class Workshop(Protocol):
    def install(self, *projects: str) -> Path: ...
    def run(self, script: str, *paths: Path, **variables: str) -> subprocess.CompletedProcess[str]: ...


class Run(Protocol):
    def __call__(self, script: str, **variables: str) -> list[str]: ...


@pytest.fixture
def run(workshop: Workshop) -> Run:
    """Run a script where the core and all families are installed, and return its lines on stderr."""
    site = workshop.install(".", *FAMILIES)

    def run_script(script: str, **variables: str) -> list[str]:
        done = workshop.run(script, site, **variables)
        assert done.returncode == 0, done.stderr
        return done.stderr.splitlines()

    return run_script


def texts(lines: list[str]) -> list[str]:
    """What stands behind the place in the source: the compile id, the artifact and the message."""
    return [line.partition("] ")[2] for line in lines]


def test_line_carries_the_compile_id_between_the_place_and_the_artifact(run: Run) -> None:
    assert texts(run(COMPILING, TORCH_LOGS="guards")) == [
        "[__guards] in None",
        "[0/0] [__guards] in 0/0",
        "[1/0_2] [__guards] in 1/0_2",
        "[2/0] [__guards] in 2/0",
    ]


def test_trace_id_filter_drops_other_compilations_and_records_outside_of_any(run: Run) -> None:
    lines = run(COMPILING, TORCH_LOGS="guards", TORCH_LOGS_TRACE_ID_FILTER="[1/0_2],2/0")
    assert texts(lines) == ["[1/0_2] [__guards] in 1/0_2", "[2/0] [__guards] in 2/0"]


def test_trace_id_filter_works_with_a_format_too(run: Run) -> None:
    settings = {"TORCH_LOGS_TRACE_ID_FILTER": "0/0", "TORCH_LOGS_FORMAT": "%(message)s"}
    assert run(COMPILING, TORCH_LOGS="guards", **settings) == ["in 0/0"]


@pytest.mark.parametrize(("rank", "count"), [("0", 1), ("2", 0), ("4", 1)])
def test_ranks_variable_keeps_the_listed_ranks(run: Run, rank: str, count: int) -> None:
    assert len(run(RANKED, TORCH_LOGS="distributed", TORCH_LOGS_RANKS="0,3-5", RANK=rank)) == count


def test_rank_of_the_group_starts_the_line_and_decides(run: Run) -> None:
    (line,) = run(GROUPED + RANKED, TORCH_LOGS="distributed", TORCH_LOGS_RANKS="3", RANK="0")
    assert line.startswith("[rank3]:I")
    assert run(GROUPED + RANKED, TORCH_LOGS="distributed", TORCH_LOGS_RANKS="0", RANK="0") == []


def test_ranks_keyword_changes_who_logs_and_a_bad_one_changes_nothing(run: Run) -> None:
    script = """
import complog, logging
log = logging.getLogger("torch.distributed.toy")
for ranks in ("0", [1, 2], 1, None):
    try:
        complog.set_logs(distributed="INFO", ranks=ranks)
    except ValueError as error:
        assert "ranks: 1 is neither a text" in str(error), error
    log.info("ranks %s", ranks)
"""
    lines = run(script, RANK="1")
    assert texts(lines) == ["ranks [1, 2]", "ranks 1", "ranks None"]


def test_bad_ranks_variable_is_named_with_the_reason(workshop: Workshop) -> None:
    site = workshop.install(".", *FAMILIES)
    done = workshop.run(RANKED, site, TORCH_LOGS_RANKS="0,5-3")
    assert done.returncode == 1
    assert "TORCH_LOGS_RANKS: ranks: '5-3' in '0,5-3' runs backwards; write 3-5" in done.stderr


@pytest.mark.parametrize("verbose", [False, True])
def test_graph_breaks_show_their_exception_only_if_dynamo_is_verbose(run: Run, verbose: bool) -> None:
    script = f"""
import types
config = sys.modules["torch._dynamo.config"] = types.ModuleType("torch._dynamo.config")
config.verbose = {verbose}
import complog, logging
for artifact in ("graph_breaks", "recompiles"):
    try:
        raise KeyError(artifact)
    except KeyError:
        complog.getArtifactLogger("torch._dynamo.toy", artifact).debug("broke", exc_info=True)
"""
    shown = run(script, TORCH_LOGS="graph_breaks,recompiles")
    assert any("KeyError: 'graph_breaks'" in line for line in shown) is verbose
    assert any("KeyError: 'recompiles'" in line for line in shown)


def test_off_by_default_artifact_stays_off_under_its_component_and_the_other_does_not(run: Run) -> None:
    script = """
import complog
for artifact in ("output_code", "cudagraphs"):
    complog.getArtifactLogger("torch._inductor.toy", artifact).debug(artifact)
"""
    assert texts(run(script, TORCH_LOGS="+inductor")) == ["[__cudagraphs] cudagraphs"]
    assert texts(run(script, TORCH_LOGS="output_code")) == ["[__output_code] output_code"]


def test_names_are_not_known_without_their_family_and_the_error_names_the_distribution(workshop: Workshop) -> None:
    done = workshop.run("import complog", workshop.install("."), TORCH_LOGS="output_code,onnx")
    assert done.returncode == 1
    assert "complog-inductor" in done.stderr
    assert "complog-onnx" in done.stderr


def test_default_logging_is_what_the_installed_families_know(workshop: Workshop) -> None:
    script = "import complog; complog.set_logs(**complog.DEFAULT_LOGGING); print(len(complog.DEFAULT_LOGGING))"
    assert workshop.run(script, workshop.install(".")).stdout == "0\n"
    assert workshop.run(script, workshop.install(".", *FAMILIES)).stdout == "10\n"
