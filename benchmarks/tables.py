"""What stays in memory of a million distinct once-warnings, interned strings and compile ids."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import Row, main
from workers import import_bare_torch, is_worker, serve, workers

MANY = 1_000_000
KINDS = {"once-warnings": "10,000", "interned strings": "10,000 or 16 Mi characters", "compile ids": "10,000"}


def measure() -> list[Row]:
    """Measure them beside stock PyTorch."""
    rows = []
    with workers() as sides:
        for kind, bound in KINDS.items():
            grown = {}
            for worker in sides:
                worker.tell("fill", kind)
            for worker in sides:
                grown[worker.side] = worker.hear()
            texts = {side: f"{count:,} kept, {memory / 2**20:.0f} MiB" for side, (count, memory) in grown.items()}
            is_bounded = grown["complog"][0] <= 10_000
            name = f"memory after {MANY:,} distinct {kind}"
            rows.append(Row(name, "bounded", texts["stock"], texts["complog"], f"bounded: {bound}", is_bounded))
    return rows


def fill(kind: str) -> tuple[int, int]:
    """Return how many of a million of them are remembered, and the bytes by which the process has grown."""
    logs = import_bare_torch()
    add, count = {
        "once-warnings": _prepare_warnings,
        "interned strings": _prepare_strings,
        "compile ids": _prepare_ids,
    }[kind](logs)
    before = _resident()
    for number in range(MANY):
        add(number)
    return count(), _resident() - before


Table = tuple[Callable[[int], object], Callable[[], int]]


def _prepare_warnings(logs: Any) -> Table:
    log = logging.getLogger("torch.bench_once")
    log.addFilter(lambda record: False)  # it is what is remembered that counts
    if sys.argv[2] == "stock":
        once = logs.warning_once
        return lambda number: once(log, f"warning {number}"), lambda: once.cache_info().currsize
    from complog import warning_once
    from complog_core import lazy

    return lambda number: warning_once(log, f"warning {number}"), lambda: len(lazy._given)


def _prepare_strings(logs: Any) -> Table:
    if sys.argv[2] == "stock":
        structured: Any = importlib.import_module("torch._logging.structured")
        return lambda number: structured.intern_string(f"file_{number}.py"), lambda: len(structured.INTERN_TABLE)
    from complog import default_system
    from complog import intern_string as intern

    strings = default_system.trace.strings
    return lambda number: intern(f"file_{number}.py"), lambda: len(strings._numbers)


def _prepare_ids(logs: Any) -> Table:
    # both are tables of seconds by id, of which stock PyTorch's grows with each compilation
    if sys.argv[2] == "stock":
        table: Any = logs._internal.structured_logging_overhead
    else:
        from complog import default_system

        table = default_system.trace.overhead

    def add(number: int) -> None:
        table[f"{number}_0"] += 0.001

    return add, lambda: len(table)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


if __name__ == "__main__":
    if is_worker():
        serve(fill=fill)
    else:
        main(measure)
