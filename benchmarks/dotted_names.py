"""A setting for a module, `+torch._inductor`, after `import torch`: what it imports, takes and keeps."""

from __future__ import annotations

import logging
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from measuring import Row, main, show_seconds
from workers import import_bare_torch, is_worker, serve, workers

ROUNDS = 5
MODULE = "torch._inductor"
MOST_SECONDS = 0.001
MOST_BYTES = 2**18
"""As good as nothing: what the allocator takes at once."""


def measure() -> list[Row]:
    """Measure it beside stock PyTorch, in new processes each time."""
    found: dict[str, list[dict[str, Any]]] = {"stock": [], "complog": []}
    for _ in range(ROUNDS):
        with workers() as sides:
            for worker in sides:
                found[worker.side].append(worker.ask("set_module"))
    texts, values = {}, {}
    for side, each in found.items():
        modules, seconds, memory = (
            statistics.median(one[key] for one in each) for key in ("modules", "seconds", "memory")
        )
        values[side] = (modules, seconds, memory)
        texts[side] = f"{modules:,.0f} modules, {show_seconds(seconds)}, {max(memory, 0) / 2**20:.1f} MiB"
    modules, seconds, memory = values["complog"]
    reached = modules == 0 and seconds <= MOST_SECONDS and memory <= MOST_BYTES
    reach = "0 modules, <= 1 ms, no memory"
    return [Row(f"`+{MODULE}` after import torch", "no setting", texts["stock"], texts["complog"], reach, reached)]


def set_module() -> dict[str, float]:
    """Return the modules, the seconds and the bytes that the setting costs."""
    logs = import_bare_torch()
    logs.set_logs()  # what the first call of any kind costs is not the setting's
    before, memory = set(sys.modules), _resident()
    begun = time.perf_counter()
    logs.set_logs(modules={MODULE: logging.DEBUG})
    seconds = time.perf_counter() - begun
    return {
        "seconds": seconds,
        "modules": len(set(sys.modules) - before),
        "memory": _resident() - memory,
    }


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


if __name__ == "__main__":
    if is_worker():
        serve(set_module=set_module)
    else:
        main(measure)
