"""Compiles functions that log, in four ways each, and prints what Dynamo made of each: a program of test_dynamo."""

from __future__ import annotations

import json
import logging
import os

import torch
from torch._dynamo.convert_frame import ConvertFrame
from torch._dynamo.utils import counters

seen = []
convert = ConvertFrame.__call__


def note(self, frame, *args, **kwargs):
    seen.append([frame.f_code.co_filename, frame.f_code.co_name])
    return convert(self, frame, *args, **kwargs)


ConvertFrame.__call__ = note

get_artifact_logger = torch._logging.getArtifactLogger
if os.environ["COMPLOG_TORCH"] == "0":
    torch._logging._internal.register_log("backend", "backend")
    torch._logging._internal.register_artifact("tiles", "the tiles", off_by_default=True)
    torch._logging._internal.register_artifact("sums", "the sums")
else:
    from complog import getArtifactLogger as get_artifact_logger
settings = {"modules": {"backend": logging.INFO, "tiles": True}, "graph_breaks": True, "recompiles": True}
torch._logging.set_logs(**settings)
log = logging.getLogger("backend.x")
torch_log = logging.getLogger("torch._inductor.x")
tiles = get_artifact_logger("backend.x", "tiles")
sums = get_artifact_logger("backend.x", "sums")


def component(x):
    x = x.sin()
    log.info("a %s", "line")
    return x.cos()


def torchs_component(x):
    x = x.sin()
    torch_log.warning("a line of torch")
    return x.cos()


def artifact(x):
    x = x.sin()
    tiles.debug("a tile")
    return x.cos()


def quiet_artifact(x):
    x = x.sin()
    sums.debug("a sum")
    return x.cos()


def asks_first(x):
    x = x.sin()
    if tiles.isEnabledFor(logging.DEBUG):
        tiles.debug("a costly tile")
    return x.cos()


def inner(x):
    x = x * 2
    log.debug("inner %d", 1)
    return x + 1


def nested(x):
    return inner(inner(x).relu())


def in_a_loop(x):
    for number in range(3):
        x = x + number
        log.error("round %d", number)
    return x


def with_exception(x):
    x = x.sin()
    try:
        raise KeyError("k")
    except KeyError:
        log.exception("failed")
    return x.cos()


def torchs_warning_once(x):
    x = x.sin()
    torch._logging.warning_once(log, "once %d", 1)
    return x.cos()


def torchs_set_logs(x):
    x = x.sin()
    torch._logging.set_logs()
    return x.cos()


class Module(torch.nn.Module):
    def forward(self, x):
        log.info("forward")
        return torch.nn.functional.gelu(x)


functions = [
    component,
    torchs_component,
    artifact,
    quiet_artifact,
    asks_first,
    nested,
    in_a_loop,
    with_exception,
    torchs_warning_once,
    torchs_set_logs,
    Module(),
]


def choose(mode):
    ignored = {logging.Logger.info, logging.Logger.debug, tiles.debug}
    torch._dynamo.config.ignore_logging_functions = ignored if mode == "ignored" else set()
    torch._dynamo.config.reorderable_logging_functions = {log.info, tiles.debug} if mode == "reordered" else set()


def look_at(function, *, fullgraph):
    torch._dynamo.reset()
    counters.clear()
    seen.clear()
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph.print_readable(print_output=False))
        return graph.forward

    compiled = torch.compile(function, backend=backend, fullgraph=fullgraph)
    torch.manual_seed(0)
    try:
        outcome = [compiled(torch.randn(4)).tolist(), compiled(torch.randn(4)).tolist()]
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    return {
        "outcome": outcome,
        "graphs": graphs,
        # how many frames of the standard library run while a line is logged is no matter of the program's
        "counters": {name: dict(counter) for name, counter in counters.items() if name != "frames"},
        "frames": [frame for frame in seen if frame[0] == __file__],
        "files": sorted({file for file, _ in seen}),
    }


results = {}
for mode in ("breaks", "fullgraph", "ignored", "reordered"):
    choose(mode)
    torch._logging.set_logs(**settings)
    for function in functions:
        name = getattr(function, "__name__", "Module")
        results[f"{mode}/{name}"] = look_at(function, fullgraph=mode in ("fullgraph", "ignored"))
print(json.dumps(results))
