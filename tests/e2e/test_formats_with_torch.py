"""A real compilation in every format: one compilation of two is printed, and hidden exceptions are hidden."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.support.torch_programs import run_program

pytestmark = pytest.mark.torch

FORMATS = ["glog", "short", "basic", "json", "%(message)s", "%(prefix)s > %(message)s"]

PROGRAM = f"""
import os, sys
import torch

def first(x):
    return x + 1

def second(x):
    torch._dynamo.graph_break()
    return x * 2

for fmt in {FORMATS!r}:
    os.environ["TORCH_LOGS_FORMAT"] = fmt
    torch._dynamo.reset()
    torch._logging._init_logs()
    print("====", file=sys.stderr)
    for function in (first, second):
        torch.compile(function, backend="eager")(torch.ones(2))
    print("====", file=sys.stderr)
"""


def test_one_compilation_is_printed_in_every_format(tmp_path: Path) -> None:
    variables = {"TORCH_LOGS": "+dynamo,graph_breaks,graph_code", "TORCH_LOGS_TRACE_ID_FILTER": "1/0"}
    result = run_program(PROGRAM, tmp_path, env=variables)
    assert result.returncode == 0, result.stderr[-3000:]
    outputs = dict(zip(FORMATS, result.stderr.split("====\n")[1::2], strict=True))
    for fmt, text in outputs.items():
        assert "Graph break" in text, fmt
        # Dynamo's function is named in what it prints of a frame that it begins
        assert "second" in text, fmt
        assert not re.search(r"\bfirst\b", text), fmt
        assert ("graph_break()\\n" if fmt == "json" else "graph_break()\n") in text, fmt
        assert "Traceback (most recent call last)" not in text, fmt
    for line in outputs["json"].splitlines():
        fields = json.loads(line, parse_constant=pytest.fail)
        assert fields["labels.trace_id"].startswith("1/0"), line
        assert fields["component"], line
        assert not [name for name in fields if name.startswith("error.")], line
    assert {"graph_breaks"} <= {json.loads(line).get("artifact") for line in outputs["json"].splitlines()}
    assert all("] [1/0" in line for line in outputs["glog"].splitlines())


@pytest.mark.parametrize("first", ["complog", "complog_torch"])
def test_name_that_only_complog_knows_is_a_format_where_complog_is_imported_first(tmp_path: Path, first: str) -> None:
    program = f"""
    import os, {first}, torch, logging
    assert os.environ["TORCH_LOGS_FORMAT"] == "json"
    logging.getLogger("torch._dynamo.x").info("text")
    """
    result = run_program(program, tmp_path, env={"TORCH_LOGS": "dynamo", "TORCH_LOGS_FORMAT": "json"})
    assert result.returncode == 0, result.stderr[-3000:]
    assert [json.loads(line)["message"] for line in result.stderr.splitlines()] == ["text"]


@pytest.mark.parametrize("verbose", ["0", "1"])
def test_exception_of_a_graph_break_is_in_fields_only_if_dynamo_is_verbose(tmp_path: Path, verbose: str) -> None:
    program = """
    import complog, torch, torch._dynamo.config
    log = torch._logging.getArtifactLogger("torch._dynamo.convert_frame", "graph_breaks")
    log.debug("text", exc_info=ValueError("why"))
    """
    variables = {"TORCH_LOGS": "graph_breaks", "TORCH_LOGS_FORMAT": "json", "TORCHDYNAMO_VERBOSE": verbose}
    result = run_program(program, tmp_path, env=variables)
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    assert {line["artifact"] for line in lines} == {"graph_breaks"}
    assert any("error.stack_trace" in line for line in lines) == (verbose == "1")


@pytest.mark.parametrize("name", ["json", "glog"])
def test_name_written_as_a_field_passes_stock_torch(tmp_path: Path, name: str) -> None:
    program = "import logging, torch; logging.getLogger('torch._dynamo').warning('text')"
    result = run_program(program, tmp_path, env={"TORCH_LOGS_FORMAT": f"%({name})s"})
    assert result.returncode == 0, result.stderr
    (line,) = result.stderr.splitlines()
    assert json.loads(line)["message"] == "text" if name == "json" else line.endswith("] text")
