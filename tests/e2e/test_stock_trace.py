"""The trace of a program is the one that stock PyTorch writes for the same calls."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.environments import make_environment
from tests.support.traces import Record, read_file

pytestmark = pytest.mark.torch

# both have the same number of lines, because lines stand in the records
STOCK = """

import torch
from torch._logging import dtrace_structured, trace_structured
from torch._logging._internal import get_structured_logging_overhead, trace_structured_artifact
from torch._logging.structured import from_traceback, intern_string
"""

OURS = """
import torch; from complog_core.trace import Trace; from complog_dynamo.plugin import complog_trace_context
trace = Trace("TORCH", context=[("dynamo", complog_trace_context)])
trace_structured, dtrace_structured = trace.trace_structured, trace.dtrace_structured
trace_structured_artifact, intern_string = trace.trace_structured_artifact, trace.intern_string
from_traceback, get_structured_logging_overhead = trace.from_traceback, trace.get_structured_logging_overhead
"""

CALLS = r"""
import traceback
from torch._guards import CompileContext, CompileId, compile_context

class Shown:
    def __repr__(self):
        return "shown <é>"

GIVEN = CompileId(frame_id=4, frame_compile_id=5)
AUTOGRAD = CompileId(frame_id=None, frame_compile_id=None, compiled_autograd_id=6)
RUNNING = [
    CompileId(frame_id=1, frame_compile_id=2),
    CompileId(frame_id=1, frame_compile_id=2, compiled_autograd_id=3),
]

def call():
    trace_structured("first", suppress_context=True)
    trace_structured("plain", lambda: {"a": 1, "text": "é\u2028\U0001f600\t", "f": 1.5e300, 3: Shown()})
    trace_structured("tuple", lambda: {"t": (1, None, True, {2})})
    trace_structured("text", payload_fn=lambda: "one\n\n\ttwo\n")
    trace_structured("empty", payload_fn=lambda: "", expect_trace_id=False)
    trace_structured("none", payload_fn=lambda: None, expect_trace_id=False)
    trace_structured("numbers", payload_fn=lambda: {"a": [1, {"b": {2}}], "c": "é"}, expect_trace_id=False)
    trace_structured("list", payload_fn=lambda: [1, {"a": [2]}, "x"], expect_trace_id=False)
    trace_structured("no dict", lambda: [1, 2], expect_trace_id=False)
    trace_structured("pair", lambda: ("a", 1), expect_trace_id=False)
    trace_structured("given", compile_id=GIVEN)
    trace_structured("autograd", compile_id=AUTOGRAD)
    trace_structured_artifact("tiles", "json", lambda: {"a": 1})
    trace_structured_artifact("tiles", "string", lambda: "text", compile_id=GIVEN)
    dtrace_structured("detailed", lambda: {"stack": from_traceback(traceback.extract_stack()[-2:])})
    for identity in RUNNING:
        with compile_context(CompileContext(identity)) as context:
            context.attempt = 7
            trace_structured("running", payload_fn=lambda: "x")
            trace_structured("running", suppress_context=True)
            trace_structured("running", compile_id=GIVEN, expect_trace_id=False)
            trace_structured_artifact("tiles", "json", lambda: {"a": 1})
            assert get_structured_logging_overhead() > 0
    torch.fx.traceback._regional_inductor_subgraph_name_tls.value = "part"
    trace_structured("subgraph", expect_trace_id=False)
    assert intern_string(None) == -1
    assert intern_string("a.py") == intern_string("a.py")
    assert get_structured_logging_overhead() is None
    refuse(lambda: trace_structured("rank"))
    refuse(lambda: trace_structured("x", 3))
    refuse(lambda: trace_structured("x", payload_fn=3))

def refuse(function):
    try:
        function()
    except AssertionError:
        return
    raise SystemExit("not refused")

call()
"""


def trace(program: str, directory: Path) -> Path:
    """Run the program with stock PyTorch and a detailed trace in the directory; return the trace's file."""
    script = directory.parent / "program.py"
    script.write_text(program)
    environ = make_environment(COMPLOG_TORCH="0", TORCH_DTRACE=str(directory))
    # the same name for both, for it stands in the stacks
    command = [sys.executable, "-c", "import runpy, sys; runpy.run_path(sys.argv[1])", str(script)]
    result = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr
    (path,) = directory.iterdir()
    return path


def share(records: list[Record]) -> list[Any]:
    """Return what two files must have in common, interned strings by what they say.

    PyTorch's record of its own version is left out, and so are the frames of its own wrappers, whose places some of
    its records name instead of the caller's.
    """
    strings: dict[int, str] = {}
    shared: list[Any] = []

    def resolve(value: Any) -> Any:
        if isinstance(value, dict) and "filename" in value:
            return {**value, "filename": strings[value["filename"]]}
        if isinstance(value, dict):
            return {key: resolve(item) for key, item in value.items()}
        if isinstance(value, list):
            items = [resolve(item) for item in value]
            return [item for item in items if not (isinstance(item, dict) and is_stock(item.get("filename", "")))]
        return value

    for record in records:
        if record.name == "str":
            text, number = record.fields["str"]
            strings[number] = text
            if not is_stock(text):
                shared.append(text)
        elif record.fields.get("artifact", {}).get("name") != "torch_version":
            line = None if record.name in ("artifact", "detailed") else record.line
            shared.append((line, record.level, list(record.fields), resolve(record.fields), record.payload))
    return shared


def is_stock(filename: str) -> bool:
    return "_logging" in filename


def test_file_is_the_one_that_stock_torch_writes_for_the_same_calls(tmp_path: Path) -> None:
    stock = trace(STOCK + CALLS, tmp_path / "stock")
    ours = trace(OURS + CALLS, tmp_path / "ours")
    for theirs, mine in zip(share(read_file(stock)), share(read_file(ours)), strict=True):
        assert mine == theirs
    names = {re.sub(r"_[a-z0-9_]{8,10}\.log$", "_RANDOM.log", path.name) for path in (stock, ours)}
    assert names == {"dedicated_log_torch_trace_RANDOM.log"}
