"""Structured records arrive as events while there is a trace, complog's own and PyTorch's."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugins.otel.tests.programs import run
from plugins.otel.tests.receiver import receiving

RECORDS = """
import complog_otel
def tile():
    complog.trace_structured("tiles", lambda: {"rows": 2}, payload_fn=lambda: {"sizes": [4]})
tile()
complog.trace_structured_artifact("code", "string", lambda: "def f(): pass")
"""


def test_structured_records_are_events(tmp_path: Path) -> None:
    with receiving() as receiver:
        ended = run(receiver.url, RECORDS, TORCH_TRACE=str(tmp_path))
        tiles, artifact = receiver.records
        assert (tiles.event, tiles.body) == ("complog.trace.tiles", '{\n"sizes": [\n4\n]\n}')
        assert tiles.attributes["complog.trace.metadata"] == {"rows": 2}
        assert ", in tile" in tiles.attributes["code.stacktrace"]
        assert (artifact.event, artifact.body) == ("complog.trace.artifact", "def f(): pass")
        assert artifact.attributes["complog.trace.metadata"] == {"name": "code", "encoding": "string"}
    assert ended.counts.logged == ended.counts.sent == 2
    assert len(list(tmp_path.iterdir())) == 1


def test_without_a_trace_there_are_no_events() -> None:
    with receiving() as receiver:
        ended = run(receiver.url, RECORDS)
        assert receiver.headers == []
    assert ended.counts.logged == 0


@pytest.mark.torch
def test_records_and_structured_records_of_pytorch_arrive(tmp_path: Path) -> None:
    code = """
        import torch
        from torch._logging import trace_structured
        @torch.compile(backend="eager")
        def double(x): return x * 2
        double(torch.ones(3))
        trace_structured("probe_made", lambda: {"rows": 2}, payload_fn=lambda: "16 x 4")
    """
    variables = {"TORCH_TRACE": str(tmp_path), "TORCH_LOGS": "+dynamo,graph_code", "COMPLOG_DISABLE_PLUGINS": ""}
    prelude = "import atexit, json, complog_otel\natexit.register(lambda: print(json.dumps(complog_otel.get_counts())))"
    with receiving() as receiver:
        ended = run(receiver.url, code, prelude=prelude, OTEL_BLRP_MAX_QUEUE_SIZE="20000", **variables)
        assert ended.status == 0, ended.errors
        lines = [record for record in receiver.records if not record.event]
        events = {record.event: record for record in receiver.records if record.event}
    assert {record.attributes["complog.component"].split(",")[0] for record in lines} >= {"dynamo"}
    (graph,) = [record for record in lines if record.attributes.get("complog.artifact") == "graph_code"]
    assert "def forward" in graph.body
    assert graph.attributes["complog.compile_id"] == "0/0"
    made = events["complog.trace.probe_made"]
    assert (made.body, made.attributes["complog.trace.metadata"]) == ("16 x 4", {"rows": 2})
    assert events["complog.trace.dynamo_start"].attributes["complog.compile_id"] == "0/0"
    frames = events["complog.trace.dynamo_start"].attributes["complog.trace.metadata"]["stack"]
    assert all(isinstance(frame["filename"], str) for frame in frames)
    assert ended.counts.logged == ended.counts.sent == len(receiver.records)
