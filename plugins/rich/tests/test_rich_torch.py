"""A real torch.compile run in a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.terminals import readable, run_in_terminal

pytestmark = pytest.mark.torch

COMPILE = """
    import torch, complog
    from torch._dynamo.utils import lazy_format_graph_tabular

    def backend(gm, example_inputs):
        # 2.13 has the artifact, and the function that makes its text, but prints it nowhere
        log = complog.getArtifactLogger("torch._dynamo.output_graph", "graph")
        log.debug("%s", lazy_format_graph_tabular("f", gm))
        from torch._inductor.compile_fx import compile_fx
        return compile_fx(gm, example_inputs)

    @torch.compile(backend=backend)
    def f(x):
        return (torch.relu(x) * 2).sin()

    f(torch.ones(8))
"""

BROKEN = """
    import logging, sys, torch
    from torch._dynamo.utils import counters

    def g(x):
        logging.getLogger("torch.hello").warning("in the middle\\nimport os\\ndef f(): ...\\ndef h(): ...")
        return x + 1

    torch.compile(g, backend="eager")(torch.ones(3))
    print("frames", counters["frames"]["total"], "rich" in sys.modules)
"""


def test_compilation_is_shown_with_highlighted_code_and_tables(tmp_path: Path) -> None:
    settings = {"TORCH_LOGS": "output_code,graph,graph_code", "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    sent = run_in_terminal(COMPILE, tmp_path, env={"COMPLOG_RICH": "auto", **settings}, timeout=300)
    text = readable(sent)
    assert "\x1b" not in text
    assert "complog: warning" not in text
    assert re.search(r"\[0/0\] \[__graph\] │ call_function │ relu +│ <built-in method relu of type ", text)
    assert re.search(r"\[0/0\] \[__graph_code\]  {8}.*torch\.relu\(l_x_\)", text)
    assert re.search(r"\x1b\[94mdef \x1b\[0m\x1b\[92mforward\x1b\[0m\(", sent)  # graph_code
    assert re.search(r"\x1b\[94mextern \x1b\[0m\x1b\[33m\"C\"", sent)  # the kernel within output_code
    assert re.search(r"\x1b\]8;;file:///\S+/torch/_inductor/graph\.py#\d+\x1b\\", sent)
    lines = [line for line in text.splitlines() if "__output_code]" in line or "__graph" in line]
    assert len(lines) > 50
    assert [line for line in lines if not re.match(r"[VI]\d{4} \S+ \d+ \S+:\d+\] \[0/0\] \[__\w+\] ?", line)] == []


def test_dynamo_compiles_nothing_of_what_paints(tmp_path: Path) -> None:
    frames = {}
    for word in ("auto", "0"):
        sent = run_in_terminal(BROKEN, tmp_path, env={"COMPLOG_RICH": word, "TORCH_LOGS": "torch"})
        assert "in the middle" in sent
        match = re.search(r"^frames (\d+) (True|False)$", sent, re.MULTILINE)
        assert match is not None
        frames[word] = (int(match[1]), match[2])
    # rich's import and work are hundreds; ours, which Dynamo skips and yet counts, are a dozen
    assert (frames["auto"][1], frames["0"][1]) == ("True", "False")
    assert frames["auto"][0] < frames["0"][0] + 30
