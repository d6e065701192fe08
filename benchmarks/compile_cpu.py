"""The processor time that TORCH_LOGS="+inductor,+dynamo" adds to a torch.compile, here and in stock PyTorch."""

from __future__ import annotations

import gc
import importlib
import logging
import math
import os
import resource
import statistics
from collections.abc import Sequence
from typing import Any

from measuring import Row, judge, main, stderr_to
from workers import import_torch, is_worker, serve, share_processor, workers

ROUNDS = 24
WIDTH = 32
MOST = 0.7


def measure() -> list[Row]:
    """Compile with and without records, on each side in turn; the caches are off, records go to /dev/null."""
    variables = {"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    taken: dict[str, list[tuple[float, float]]] = {}
    with workers(variables) as sides:
        for worker in sides:
            taken[worker.side] = []
            worker.ask("compile_once", False)
            worker.ask("compile_once", True)
        for _ in range(ROUNDS):
            for worker in sides:
                taken[worker.side].append((worker.ask("compile_once", False), worker.ask("compile_once", True)))
    silent = statistics.median(quiet for pairs in taken.values() for quiet, _ in pairs)

    def extra(side: str, chosen: Sequence[int]) -> float:
        return statistics.median(taken[side][turn][1] - taken[side][turn][0] for turn in chosen)

    def ratio(chosen: Sequence[int]) -> float:
        stock = extra("stock", chosen)
        # where even stock PyTorch's extra is lost in the noise, nothing can be said
        return extra("complog", chosen) / stock if stock > 0 else math.inf

    text, reached = judge(ratio, ROUNDS, MOST)
    every = range(ROUNDS)
    return [
        Row(
            'processor time that "+inductor,+dynamo" adds to a torch.compile of a small model',
            f"stock's own extra ({extra('stock', every) * 1000:.0f} ms, on {silent * 1000:.0f} ms without logging)",
            "1.00",
            f"{text}, {extra('complog', every) * 1000:.0f} ms",
            f"<= {MOST:.2f}",
            reached,
        )
    ]


def compile_once(logs_all: bool) -> float:
    """Return the seconds of this process's own processor time for one compilation, the C++ compiler's not counted."""
    logs = import_torch()
    torch: Any = importlib.import_module("torch")
    share_processor()
    if logs_all:
        logs.set_logs(inductor=logging.DEBUG, dynamo=logging.DEBUG)
    else:
        logs.set_logs()
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, 4)
    )
    # one collection of everything that PyTorch has loaded takes longer than all records do
    gc.collect()
    gc.disable()
    with stderr_to(os.devnull):
        before = resource.getrusage(resource.RUSAGE_SELF)
        with torch.no_grad():
            torch.compile(model)(torch.ones(8, WIDTH))
        after = resource.getrusage(resource.RUSAGE_SELF)
    gc.enable()
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    if is_worker():
        serve(compile_once=compile_once)
    else:
        main(measure)
