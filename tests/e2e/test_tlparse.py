"""tlparse, the reader that people use, reads complog's own files, and those with PyTorch's records in them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from tests.support.environments import make_environment
from tests.support.traces import read_file, unexplained

STATS = re.compile(r"Stats \{ (?P<stats>.*) \}")

HOSTED = """
import logging, os, sys
import torch
from complog_core.trace import Trace
from complog_dynamo.plugin import complog_trace_context as dynamo
from complog_distributed.plugin import complog_trace_context as distributed

trace = Trace("PROBE", environ={"PROBE_TRACE": sys.argv[1]}, context=[("dynamo", dynamo), ("distributed", distributed)])

class Face(logging.Handler):
    writes_trace = True

    def emit(self, record):
        trace.writer.emit(record)

trace.logger = logging.getLogger("torch.__trace")
trace.logger.handlers[:] = [Face()]
trace.on_open = lambda path: torch._logging._internal._log_torch_version()
torch._logging.structured.INTERN_TABLE = trace.strings
"""


def run(code: str, *args: object, timeout: float = 300, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the code where everything is installed, stock logging in charge of PyTorch unless COMPLOG_TORCH says else."""
    environ = make_environment(**{"COMPLOG_TORCH": "0", **variables})
    command = [sys.executable, "-c", dedent(code), *map(str, args)]
    result = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=timeout, check=False)
    assert result.returncode == 0, result.stderr
    return result


def find_tlparse() -> str:
    beside = Path(sys.executable).with_name("tlparse")
    found = str(beside) if beside.exists() else shutil.which("tlparse")
    assert found, "tlparse is not installed; it is one of the requirements of the tests"
    return found


def tlparse(path: Path, *options: str) -> tuple[dict[str, int], Path]:
    """Return the statistics of a strict run, which fails for anything that is not understood, and the report."""
    report = path.parent.parent / f"report-{path.stem}"
    command = [find_tlparse(), str(path), "-o", str(report), "--no-browser", "--strict", *options]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    (stats, *_) = STATS.findall(result.stderr) or [""]
    counts = {name: int(count) for name, count in re.findall(r"(\w+): (\d+)", stats)}
    assert not [name for name in counts if name.startswith("fail") or name == "other_rank"], counts
    return counts, report


def the_file(directory: Path) -> Path:
    (path,) = directory.iterdir()
    return path


ALONE = """
import sys
from complog_core.trace import Trace
trace = Trace("PROBE", environ={"PROBE_TRACE": sys.argv[1]})

def compile_tiles():
    trace.trace_structured_artifact("tiles", "json", lambda: {"sizes": [16, 4], "loss": float("nan")})
    trace.trace_structured_artifact("source", "string", lambda: "a = 1\\r\\nb = 2\\r")
    trace.trace_structured("graph_dump", lambda: {"name": "tiled"}, payload_fn=lambda: "graph")
    trace.trace_structured("of_my_own", lambda: {"stack": trace.from_traceback([])}, payload_fn=lambda: "text")

compile_tiles()
assert "torch" not in sys.modules
"""


def test_file_of_complog_alone_is_read_without_a_failure(tmp_path: Path) -> None:
    run(ALONE, tmp_path / "traces")
    counts, report = tlparse(the_file(tmp_path / "traces"))
    assert counts == {"ok": 4, "unknown": 1}
    (tiles,) = report.rglob("tiles_*.json")
    assert json.loads(tiles.read_text()) == {"sizes": [16, 4], "loss": "NaN"}
    (source,) = report.rglob("source_*.txt")
    assert source.read_bytes() == b"a = 1\nb = 2"
    assert len(list(report.rglob("tiled_*.txt"))) == 1
    page = (report / "index.html").read_text()
    assert "tiles_" in page
    assert "compile_tiles" in page


ODD = """
import sys
from complog_core.trace import Trace
trace = Trace("PROBE", environ={"PROBE_TRACE": sys.argv[1]})
loop = []; loop.append(loop)
deep = []
for _ in range(500): deep = [deep]
values = [None, 1, "text", "\\ud800", "a\\0b", "\\r\\n", b"\\xff", float("nan"), 10**400, {1: 2, None: 3}]
values += ["../../escaped", "/escaped", "C:\\\\escaped", "x" * 1000, "<eval_with_key>.3/../../escaped", "a/b", ""]
values += [{(1, 2): object()}, {1, 2}, loop, deep, print]
kinds = ["of_my_own", "artifact", "graph_dump", "dump_file", "link", "optimize_ddp_split_child", "inductor_output_code"]
kinds += ["aot_forward_graph", "compilation_metrics", "dynamo_start"]
kinds += ["str", "stack", "has_payload", "lineno", "payload_filename"]
for value in values:
    for kind in kinds:
        for metadata in (value, {"name": value, "encoding": value, "filename": value, "url": value}):
            trace.trace_structured(kind, lambda: metadata, payload_fn=lambda: value, expect_trace_id=False)
    trace.trace_structured_artifact(value, value, lambda: value)
    trace.trace_structured(value, lambda: {}, payload_fn=lambda: value, suppress_context=True)
"""


def test_nothing_that_a_program_hands_in_makes_a_file_unreadable(tmp_path: Path) -> None:
    warnings = run(ODD, tmp_path / "traces").stderr.splitlines()
    assert len(warnings) == len(set(warnings)) < 30
    before = set(tmp_path.iterdir())
    counts, report = tlparse(the_file(tmp_path / "traces"))
    assert counts["ok"] > 500
    assert set(tmp_path.iterdir()) - before == {report}
    assert not [path for path in report.rglob("*") if ".." in path.relative_to(report).parts]
    assert not list(Path("/").glob("escaped*"))


# -- with PyTorch


@pytest.mark.torch
def test_file_with_the_records_of_a_compilation_is_read_without_a_failure(tmp_path: Path) -> None:
    code = """
        def backend(graph, inputs):
            trace.trace_structured_artifact("tiles", "string", lambda: graph.print_readable(print_output=False))
            trace.trace_structured_artifact("../sizes", "json", lambda: {"sizes": inputs})
            return graph

        trace.trace_structured_artifact("early", "json", lambda: [1])

        @torch.compile(backend=backend)
        def first(x):
            y = x.sin()
            torch._dynamo.graph_break()
            return y + 1

        first(torch.randn(3))
        second = torch.compile(lambda x: (x.cos() * 2).sum(), backend="aot_eager")
        second(torch.randn(3, requires_grad=True)).backward()
        second(torch.randn(4, requires_grad=True))
        trace.trace_structured_artifact("late", "json", lambda: [2])
    """
    run(HOSTED + dedent(code), tmp_path / "traces")
    path = the_file(tmp_path / "traces")
    counts, report = tlparse(path)
    records = read_file(path)
    assert not unexplained(records)
    assert {"dynamo_start", "dynamo_output_graph", "compilation_metrics", "chromium_event", "artifact"} <= {
        record.name for record in records
    }
    assert counts["ok"] == sum(record.name != "str" for record in records)
    assert [found.parent.name for found in sorted(report.rglob("tiles_*.txt"))] == ["-_0_0_1", "-_1_0_0"]
    assert len(list(report.rglob("*_sizes_*.json"))) == 2
    assert len(list(report.rglob("torch_version_*.json"))) == 1
    assert {record.path for record in records if "complog" in record.path} == set()
    strings = [record.fields["str"][0] for record in records if record.name == "str"]
    assert len(strings) == len(set(strings))
    assert not [text for text in strings if "complog" in Path(text).parts[-2:-1]]


@pytest.mark.torch
def test_complog_and_the_bridged_torch_share_one_file(tmp_path: Path) -> None:
    code = """
        import torch, complog, complog_torch
        assert complog_torch.is_active(), complog_torch.why_inactive()

        def backend(graph, inputs):
            complog.trace_structured_artifact("tiles", "string", lambda: graph.print_readable(print_output=False))
            about = {"name": "../theirs", "encoding": "string"}
            torch._logging.trace_structured("artifact", lambda: about, payload_fn=lambda: "a\\r\\nb")
            return graph

        complog.trace_structured_artifact("early", "json", lambda: [1])
        torch.compile(lambda x: x.sin() + 1, backend=backend)(torch.randn(3))
        torch._logging.trace_structured("plain", lambda: {"stack": complog.from_traceback([])})
        complog.trace_structured_artifact("late", "json", lambda: [2])
    """
    run(code, COMPLOG_TORCH="1", TORCH_TRACE=str(tmp_path / "traces"))
    path = the_file(tmp_path / "traces")
    counts, report = tlparse(path)
    records = read_file(path)
    assert counts["ok"] == sum(record.name != "str" for record in records)
    assert not unexplained(records)
    strings = [tuple(record.fields["str"]) for record in records if record.name == "str"]
    assert len({number for _, number in strings}) == len({text for text, _ in strings}) == len(strings)
    assert not [text for text, _ in strings if "complog" in Path(text).parts[-2:-1]]
    assert not [record.path for record in records if "complog" in record.path]
    names = [record.fields["artifact"]["name"] for record in records if record.name == "artifact"]
    assert {"early", "tiles", ".._theirs", "late", "torch_version"} <= set(names)
    for name in ("early", "tiles", ".._theirs", "late"):
        assert len(list(report.rglob(f"{name}_*"))) == 1


@pytest.mark.torch
def test_each_rank_of_torchrun_has_a_file_that_stands_alone(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    code = """
        import torch.distributed as distributed
        distributed.init_process_group("gloo")
        trace.trace_structured_artifact("tiles", "json", lambda: {"rank": distributed.get_rank()})
        torch.compile(lambda x: x + distributed.get_rank(), backend="eager")(torch.ones(1))
        distributed.destroy_process_group()
    """
    script.write_text(HOSTED + dedent(code))
    launch = """
        import sys
        from torch.distributed.run import main
        main(["--nproc-per-node", "2", "--master-port", "0", "--standalone", *sys.argv[1:]])
    """
    run(launch, script, tmp_path / "traces", OMP_NUM_THREADS="1")
    files = sorted((tmp_path / "traces").iterdir())
    assert [path.name[:33] for path in files] == [f"dedicated_log_torch_trace_rank_{rank}_" for rank in (0, 1)]
    for rank, path in enumerate(files):
        records = read_file(path)
        assert not unexplained(records)
        assert {record.fields.get("rank", rank) for record in records} == {rank}
        tlparse(path)
    command = [
        find_tlparse(),
        str(tmp_path / "traces"),
        "--all-ranks-html",
        "-o",
        str(tmp_path / "all"),
        "--no-browser",
    ]
    subprocess.run(command, capture_output=True, timeout=120, check=True)
    for rank in (0, 1):
        (tiles,) = (tmp_path / "all" / f"rank_{rank}").rglob("tiles_*.json")
        assert json.loads(tiles.read_text()) == {"rank": rank}
