"""A structured record: without a payload, with one of 10 KiB, with one of 1 MiB; and the memory that this takes."""

from __future__ import annotations

import hashlib
import json
import tempfile
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from measuring import Batch, Row, compare, import_stock_torch, main, ratio_row, repeated
from systems import compilation, environment, make_system

SIZES = (("no payload", 0, 2.3), ("10 KiB", 10 * 2**10, 1.3), ("1 MiB", 2**20, 1.05))
CALL = "trace('artifact', describe, payload_fn=payload)"
PREFIX = "V1129 15:57:26.774000 4408 benchmarks/structured_trace.py:24] "
MOST_PAYLOADS = 2.1
_MEMORY = Path("/dev/shm")


def measure() -> list[Row]:
    """Measure them beside stock PyTorch, in a compilation, into files that lie in memory where that is possible."""
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as directory:
        stock = _prepare_stock(directory)
        system = make_system("bench_trace", "bench")
        system.trace.set_trace(directory)
        rows = []
        with (Path(directory) / "floor").open("w", encoding="utf-8") as file, compilation():
            for name, size, reach in SIZES:
                payload = make_payload(size)
                give = {"describe": _describe, "payload": partial(_give, payload)}
                cases: dict[str, Batch] = {
                    "floor": partial(_write, file, payload),
                    "stock": repeated(CALL, trace=stock, **give),
                    "complog": repeated(CALL, trace=system.trace.trace_structured, **give),
                }
                times = compare(cases, rounds=31)
                reference = "floor: json.dumps + md5 + indented text + write"
                workload = f"complog.trace_structured, {name}"
                rows.append(ratio_row(workload, reference, times, stock="stock", complog="complog", reach=reach))
            rows.append(_measure_memory(cases))
        system.close()
    return rows


def make_payload(size: int) -> str | None:
    """Return a text of so many bytes, in lines as generated code has them; None for 0."""
    lines = "".join(f"    buf{number} = empty_strided((16, {number}), (1, 16))\n" for number in range(size // 40))
    return (lines + "#" * size)[:size] if size else None


def _prepare_stock(directory: str) -> Callable[..., None]:
    internal = import_stock_torch()
    with environment({"TORCH_TRACE": directory}):
        internal.LOG_TRACE_HANDLER = None
        internal._init_logs()
    trace: Callable[..., None] = internal.trace_structured
    return trace


def _describe() -> dict[str, Any]:
    return {"name": "tiles", "encoding": "string"}


def _give(payload: str | None) -> str | None:
    return payload


def _write(file: Any, payload: str | None, number: int) -> None:
    for _ in range(number):
        record: dict[str, Any] = {"artifact": _describe(), "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
        text = ""
        if payload is not None:
            record["has_payload"] = hashlib.md5(payload.encode("utf-8"), usedforsecurity=False).hexdigest()
            text = "\n\t" + payload.replace("\n", "\n\t")
        file.write(PREFIX + json.dumps(record) + text + "\n")
        file.flush()


def _measure_memory(cases: dict[str, Any]) -> Row:
    """Compare what the records of 1 MiB take beyond the caller's payload, at the worst moment."""
    peaks = {}
    for name, batch in cases.items():
        batch(1)
        tracemalloc.start()
        batch(1)
        peaks[name] = tracemalloc.get_traced_memory()[1] / SIZES[-1][1]
        tracemalloc.stop()
    return Row(
        "complog.trace_structured, 1 MiB: peak memory beyond the caller's payload",
        f"one payload; the floor takes {peaks['floor']:.2f}",
        f"{peaks['stock']:.2f}",
        f"{peaks['complog']:.2f}",
        f"<= {MOST_PAYLOADS}",
        round(peaks["complog"], 2) <= MOST_PAYLOADS,
    )


if __name__ == "__main__":
    main(measure)
