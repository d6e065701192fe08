"""What set_logs costs with few and with many names, and what one artifact logger more costs."""

from __future__ import annotations

import itertools
import logging
import statistics
import sys
from typing import Any

from measuring import SIDES, Row, count_instructions, exponent, main, run_batch, show, show_seconds
from workers import Worker, import_bare_torch, import_torch, is_worker, serve, share_processor, workers

SIZES = (0, 100, 300, 1_000, 3_000, 10_000)
ROUNDS = 5
TIMES = 10
FEW, MANY = 100, 20_000
LEVELS = (logging.DEBUG, logging.INFO)

COSTS: dict[str, dict[int, float]] = {}
"""For the chart: the seconds of set_logs, by side and number of names."""

COMPONENTS = ("aot", "autograd", "c10d", "ddp", "distributed", "dynamic", "dynamo", "fsdp", "inductor", "onnx")
OTHERS = [
    {one: high, other: low}
    for high, low in itertools.product((logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR), repeat=2)
    for one, other in itertools.combinations(COMPONENTS, 2)
]

_level = 0
_others = itertools.cycle(OTHERS)
_module = 0


def measure() -> list[Row]:
    """Measure all of them beside stock PyTorch, each side in a process of its own, in turn."""
    costs = measure_growth()
    for side in SIDES:
        taken = costs[side]["set_logs"]
        COSTS[side] = {costs["names"] + size: statistics.median(each) for size, each in taken.items()}
    return [*tell_growth(costs), *_measure_artifacts()]


def measure_growth() -> dict[str, Any]:
    """Return, by side, the seconds of set_logs and of the reference by the number of names; and the instructions."""
    found: dict[str, Any] = {}
    with workers() as sides:
        for worker in sides:
            found[worker.side] = {"set_logs": {}, "floor": {}, "instructions": {}}
            loggers, names = worker.ask("prepare")
            found.setdefault("loggers", loggers)
            found.setdefault("names", names)
        for size in SIZES:
            for worker in sides:
                worker.ask("register", size)
            taken: dict[str, list[list[float]]] = {worker.side: [] for worker in sides}
            for _ in range(ROUNDS if size > 300 else 4 * ROUNDS):
                for worker in sides:
                    # with thousands of names one call of stock PyTorch's takes seconds
                    times = 1 if size > 300 and worker.side == "stock" else TIMES
                    taken[worker.side].append(worker.ask("set_logs", times))
            if size == 0:
                others: dict[str, list[list[float]]] = {worker.side: [] for worker in sides}
                for _ in range(ROUNDS):
                    for worker in sides:
                        others[worker.side].append(worker.ask("set_logs", TIMES, "other"))
                found["others"] = others
            for side, pairs in taken.items():
                found[side]["set_logs"][size] = [pair[0] for pair in pairs]
                found[side]["floor"][size] = [pair[1] for pair in pairs]
        found["complog"]["instructions"] = _count_operations()
    return found


def _count_operations() -> dict[int, int]:
    counted = {}
    worker = Worker("complog")
    try:
        worker.ask("prepare")
        for size in (2_500, 10_000):
            worker.ask("register", size)
            counted[size] = worker.ask("count")
    finally:
        worker.close()
    return counted


def tell_growth(costs: dict[str, Any]) -> list[Row]:
    """Return the rows about set_logs."""
    rows = []
    for size, name, reach in (
        (0, f"set_logs with {costs['loggers']} loggers in the process", 6.0),
        (SIZES[-1], f"set_logs with {SIZES[-1]:,} more names and loggers", 5.0),
    ):
        ratios = {
            side: statistics.median(
                one / floor
                for one, floor in zip(costs[side]["set_logs"][size], costs[side]["floor"][size], strict=True)
            )
            for side in ("stock", "complog")
        }
        floor = statistics.median(costs["stock"]["floor"][size] + costs["complog"]["floor"][size])
        reference = "level and propagate of each registered logger written once, one Manager._clear_cache"
        rows.append(
            Row(
                name,
                f"{reference} ({show_seconds(floor)})",
                show(ratios["stock"]),
                show(ratios["complog"]),
                f"<= {reach:.0f}",
                round(ratios["complog"], 2) <= reach,
            )
        )
    others = {side: statistics.median(a / b for a, b in pairs) for side, pairs in costs["others"].items()}
    rows.insert(
        1,
        Row(
            "the same, each time with settings that were not asked before",
            "the same",
            show(others["stock"]),
            show(others["complog"]),
        ),
    )
    small, large = (costs["complog"]["instructions"][size] for size in (2_500, 10_000))
    grows = exponent(small, large, 4)
    rows.append(
        Row(
            "exponent with which set_logs' operations grow from 2,500 to 10,000 names",
            "instructions of Python, counted",
            "",
            f"{grows:.2f} ({large:,} instructions)",
            "<= 1.05",
            round(grows, 2) <= 1.05,
        )
    )
    return rows


def _measure_artifacts() -> list[Row]:
    rows = []
    for named in (True, False):
        ratios = {}
        seconds = 0.0
        for side in ("stock", "complog"):
            few, many = Worker(side), Worker(side)
            for worker, count in ((few, FEW), (many, MANY)):
                worker.tell("fill", count, named)
            few.hear()
            many.hear()
            taken = [(few.ask("create", 20), many.ask("create", 20)) for _ in range(11)]
            few.close()
            many.close()
            ratios[side] = statistics.median(large / small for small, large in taken)
            seconds = statistics.median(small for small, _ in taken)
        how = "named" if named else "not named"
        rows.append(
            Row(
                f"creating one artifact logger with {MANY:,} others, the artifact being {how}",
                f"with {FEW} others (complog: {show_seconds(seconds)})",
                show(ratios["stock"]),
                show(ratios["complog"]),
                "<= 1.20",
                round(ratios["complog"], 2) <= 1.2,
            )
        )
    return rows


# -- in the workers


def prepare() -> tuple[int, int]:
    """Load PyTorch; return how many loggers there are, and how many names."""
    logs = import_torch()
    registry = logs._internal.log_registry
    return len(logging.root.manager.loggerDict), len(registry.log_alias_to_log_qnames) + len(registry.artifact_names)


def register(size: int) -> None:
    """Have so many names, each with a logger, besides PyTorch's own."""
    internal = sys.modules["torch._logging._internal"]
    names = {f"bench_name_{number}": [f"bench_names.logger_{number}"] for number in range(size)}
    for (logger,) in names.values():
        logging.getLogger(logger)
    internal.log_registry.log_alias_to_log_qnames.update(names)
    if sys.argv[2] == "complog":
        internal._init_logs()  # takes in what was registered


def set_logs(times: int, kind: str = "same") -> list[float]:
    """Return the seconds of set_logs, which changes levels, and of the least that there is to do: one call of each in
    turn, so many times, and the medians.

    `kind` is "same" for two settings in turn, "other" for settings that were not asked before.
    """
    set_once = _set_once if kind == "same" else _set_others
    if times > 1:
        set_once(1)
    internal = sys.modules["torch._logging._internal"]
    registry = internal.log_registry
    loggers = [logging.getLogger(name) for name in [*registry.get_log_qnames(), *registry.get_artifact_log_qnames()]]

    def write_once(number: int) -> None:
        for _ in range(number):
            for logger, level, propagate in there:
                logger.level = level
                logger.propagate = propagate
            logging.root.manager._clear_cache()  # type: ignore[attr-defined]  # private

    pairs = []
    for _ in range(times):
        taken = run_batch(set_once, 1)
        there = [(logger, logger.level, logger.propagate) for logger in loggers]
        pairs.append((taken, run_batch(write_once, 1)))
    return [statistics.median(each) for each in zip(*pairs, strict=True)]


def count() -> int:
    """Return the instructions of one set_logs."""
    _set_once(1)
    return count_instructions(lambda: _set_once(1))


def _set_once(number: int) -> None:
    global _level
    for _ in range(number):
        _level += 1
        sys.modules["torch._logging"].set_logs(dynamo=LEVELS[_level % 2])


def _set_others(number: int) -> None:
    for _ in range(number):
        sys.modules["torch._logging"].set_logs(**next(_others))


def fill(number: int, named: bool) -> None:
    """Have so many artifact loggers; stock PyTorch's are not configured, which would take it half a minute."""
    logs = import_bare_torch()
    share_processor()
    if named:
        logs.set_logs(guards=True)
    for each in range(number):
        name = f"torch._dynamo.bench_other_{each}"
        if sys.argv[2] == "complog":
            logs.getArtifactLogger(name, "guards")
        else:
            logging.getLogger(f"{name}.__guards")
            logs._internal.log_registry.register_artifact_log(f"{name}.__guards")


def create(number: int) -> float:
    """Return the seconds that each of so many artifact loggers of further modules takes, after some that are not
    counted: the process has been waiting for its turn.
    """

    def make(count: int) -> None:
        global _module
        names = [f"torch._dynamo.bench_{_module + each}" for each in range(count)]
        _module += count
        for name in names:
            logs.getArtifactLogger(name, "guards")

    logs = sys.modules["torch._logging"]
    make(number // 2)
    return run_batch(make, number)


if __name__ == "__main__":
    if is_worker():
        serve(prepare=prepare, register=register, set_logs=set_logs, count=count, fill=fill, create=create)
    else:
        main(measure, COSTS)
