"""How everything here is measured: small batches in turn, medians of the rounds' ratios; and how rows are told."""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import json
import math
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

Batch = Callable[[int], None]
Rounds = Mapping[str, Sequence[float]]

SIDES: Final = ("stock", "complog")


@dataclass(frozen=True)
class Row:
    """A line of the table; `others` are peers by name.

    `reached` is None where there is no figure to reach, and where the spread is too wide to tell.
    """

    workload: str
    reference: str
    stock: str
    complog: str
    reach: str = ""
    reached: bool | None = None
    others: dict[str, str] = field(default_factory=dict)


def ratio_row(
    workload: str, reference: str, times: Rounds, *, complog: str, stock: str = "", reach: float | None = None
) -> Row:
    """Return the row of a table of ratios; all in `times` but these and `reference` is shown as a peer.

    `reference` names what is 1.00 and begins with its key in `times`, up to a colon if it says more.
    """
    base, _, more = reference.partition(": ")
    others = {name: show(ratio(times, name, base)) for name in times if name not in (base, stock, complog)}
    reached = ratio(times, complog, base)
    return Row(
        workload,
        f"{more or base} ({show_seconds(statistics.median(times[base]))})",
        show(ratio(times, stock, base)) if stock else "",
        show(reached),
        "" if reach is None else f"<= {reach:.2f}",
        None if reach is None else round(reached, 2) <= reach,
        others,
    )


def ratio(times: Rounds, name: str, base: str) -> float:
    """Return the median, over the rounds, of how many times as long as `base` a case took.

    >>> ratio({"a": [2.0, 4.0, 9.0], "b": [1.0, 2.0, 3.0]}, "a", "b")
    2.0
    """
    return statistics.median(one / other for one, other in zip(times[name], times[base], strict=True))


def judge(value: Callable[[Sequence[int]], float], rounds: int, limit: float) -> tuple[str, bool | None]:
    """Return a figure with its 90 % interval, and whether it is within `limit`: None where the rounds cannot tell.

    `value` computes the figure from the rounds whose numbers it is given; the interval is that of drawing them anew.

    >>> judge(lambda chosen: 0.5, 5, 0.7), judge(lambda chosen: float(chosen[0]), 5, 2.0)[1]
    (('0.50 (0.50 to 0.50)', True), None)
    """
    draw = random.Random(0)
    drawn = sorted(value([draw.randrange(rounds) for _ in range(rounds)]) for _ in range(2_000))
    low, high = drawn[100], drawn[-101]
    text = f"{value(range(rounds)):.2f} ({low:.2f} to {high:.2f})"
    return text, True if high <= limit else False if low > limit else None


def compare(cases: Mapping[str, Batch], *, rounds: int = 21, seconds: float = 0.004) -> dict[str, list[float]]:
    """Return the seconds of processor time per call of each case, in each round.

    In a round each case runs a batch of calls, of as many as the first one makes in `seconds`, in an order that is
    another one in each round.
    """
    number = _calibrate(next(iter(cases.values())), seconds)
    names = list(cases)
    times: dict[str, list[float]] = {name: [] for name in names}
    for batch in cases.values():
        batch(max(1, number // 10))
    for turn in range(rounds):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            times[name].append(run_batch(cases[name], number))
    return times


def run_batch(batch: Batch, number: int) -> float:
    """Return the seconds of this thread's processor time that each of `number` calls takes."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        begun = time.thread_time()
        batch(number)
        return (time.thread_time() - begun) / number
    finally:
        if enabled:
            gc.enable()


def repeated(statement: str, **names: object) -> Batch:
    """Return a function that executes a statement as many times as it is told, with `names` as its local variables.

    >>> seen = []
    >>> repeated("seen.append(1)", seen=seen)(3)
    >>> seen
    [1, 1, 1]
    """
    parameters = "".join(f", {name}={name}" for name in names)
    source = f"def batch(number{parameters}):\n    for _ in repeat(None, number):\n        {statement}\n"
    space: dict[str, Any] = {"repeat": itertools.repeat, **names}
    exec(compile(source, __file__, "exec"), space)
    made: Batch = space["batch"]
    return made


def exponent(small: float, large: float, factor: float) -> float:
    """Return the exponent with which something grows that is `large` at `factor` times the size.

    >>> exponent(10, 1000, 10)
    2.0
    """
    return math.log(large / small) / math.log(factor)


def count_instructions(function: Callable[[], object]) -> int:
    """Return how many instructions of Python the function executes, what it calls included.

    >>> count_instructions(lambda: 1) == count_instructions(lambda: 1) > 0
    True
    """
    # settrace misses instructions since 3.12
    return _count_monitored(function) if sys.version_info >= (3, 12) else _count_traced(function)


def _count_monitored(function: Callable[[], object]) -> int:
    monitoring: Any = vars(sys)["monitoring"]
    counter = itertools.count()
    tool = next(number for number in range(6) if monitoring.get_tool(number) is None)
    monitoring.use_tool_id(tool, "instructions")
    monitoring.register_callback(tool, monitoring.events.INSTRUCTION, lambda code, offset: next(counter))
    monitoring.set_events(tool, monitoring.events.INSTRUCTION)
    try:
        function()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    return next(counter)


def _count_traced(function: Callable[[], object]) -> int:
    count = 0

    def trace(frame: Any, event: str, argument: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


@contextlib.contextmanager
def stderr_to(path: str = os.devnull) -> Iterator[None]:
    """Let what is written to descriptor 2 go to a file, while sys.stderr stays the object that it is."""
    sys.stderr.flush()
    kept = os.dup(2)
    target = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.dup2(target, 2)
    os.close(target)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)


def find_peer(name: str) -> Any:
    """Return the module of a peer, None where it cannot be installed for this Python."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def import_stock_torch() -> Any:
    """Import PyTorch as it is without complog, and return `torch._logging._internal`."""
    for variable in [name for name in os.environ if name.startswith(("TORCH_", "COMPLOG_"))]:
        del os.environ[variable]
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    return importlib.import_module("torch._logging._internal")


def show(number: float) -> str:
    """Return a ratio as text.

    >>> show(0.984), show(12.34), show(3923.7)
    ('0.98', '12.3', '3,924')
    """
    return f"{number:.2f}" if number < 10 else f"{number:.1f}" if number < 100 else f"{number:,.0f}"


def show_seconds(seconds: float) -> str:
    """Return a duration as text.

    >>> show_seconds(6.2e-8), show_seconds(0.0031), show_seconds(1.61)
    ('62 ns', '3.1 ms', '1.6 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def main(measure: Callable[[], Sequence[Row]], costs: dict[str, dict[int, float]] | None = None) -> None:
    """Measure, and print the rows: as a table, or with `--json` for report.py, with `costs` for its chart."""
    rows = measure()
    if "--json" in sys.argv:
        print(json.dumps({"rows": [asdict(row) for row in rows], "costs": costs or {}}))
        return
    for row in rows:
        mark = {None: "  not resolved" if row.reach else "", True: "  reached", False: "  NOT REACHED"}[row.reached]
        print(f"{row.workload}\n    1.00 = {row.reference}")
        print(f"    stock {row.stock or '-'}   complog {row.complog}   reach {row.reach or '-'}{mark}")
        if row.others:
            print("    " + "   ".join(f"{name} {value}" for name, value in row.others.items()))


def _calibrate(batch: Batch, seconds: float) -> int:
    number = 1
    while True:
        taken = run_batch(batch, number) * number
        if taken >= seconds:
            return number
        number = max(number + 1, min(number * 10, int(number * seconds / max(taken, 1e-9) * 1.1)))
