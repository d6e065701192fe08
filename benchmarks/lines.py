"""One record: the default line, with rank and ids, short, to a file too, dropped, long, from many files."""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from measuring import Batch, Row, compare, import_stock_torch, main, ratio_row, repeated, stderr_to
from systems import compilation, configure_stock, make_peers, make_stdlib, make_system, process_group

import complog_distributed.ranks

CALL = 'log.debug("hello %s", 1)'
BASIC = "stdlib: stdlib StreamHandler, BASIC_FORMAT"
LINES = 5_000
FILES = 129
REMEMBERED = 100


def measure() -> list[Row]:
    """Measure all of them beside stock PyTorch, to /dev/null."""
    internal = import_stock_torch()
    with stderr_to(), tempfile.TemporaryDirectory() as directory:
        bench = Lines(internal, Path(directory))
        return [
            bench.measure_default(),
            bench.measure_ids(),
            bench.measure_short(),
            bench.measure_file(),
            bench.measure_compile_filter(),
            bench.measure_rank_filter(),
            bench.measure_long(),
            *bench.measure_files(),
        ]


class Lines:
    """The workloads; `internal` is stock PyTorch's module, files are written into `directory`."""

    def __init__(self, internal: Any, directory: Path) -> None:
        self.internal = internal
        self.directory = directory
        self.basic = make_stdlib("bench_stdlib")

    def measure_default(self) -> Row:
        """The plain line, where there is neither a rank nor a compilation."""
        peers = {name: repeated(call, log=log) for name, (call, log) in make_peers("DEBUG").items()}
        times = self._compare("bench_default", self.basic, peers=peers)
        name = "one line, the default line without rank and ids"
        return ratio_row(name, BASIC, times, stock="stock", complog="complog", reach=0.98)

    def measure_ids(self) -> Row:
        """An artifact's line in a compilation of a rank."""
        with process_group(), compilation():
            times = self._compare("bench_ids", self.basic, artifact=True)
        name = "one line with rank, compile id and artifact"
        return ratio_row(name, BASIC, times, stock="stock", complog="complog", reach=1.15)

    def measure_short(self) -> Row:
        """The same record in the short format."""
        short = {"LOGS_FORMAT": "short"}
        with process_group(), compilation():
            times = self._compare("bench_short", self.basic, short, short, artifact=True)
        name = "the same with TORCH_LOGS_FORMAT=short"
        return ratio_row(name, BASIC, times, stock="stock", complog="complog", reach=0.9)

    def measure_file(self) -> Row:
        """The plain line to the console and to a file."""
        stdlib = make_stdlib("bench_stdlib_file", logging.FileHandler(self.directory / "stdlib.log"))
        variables, stock = ({"LOGS_OUT": str(self.directory / f"{side}.log")} for side in ("complog", "stock"))
        times = self._compare("bench_file", stdlib, variables, stock)
        reference = "stdlib: one stdlib FileHandler, BASIC_FORMAT"
        name = "one line to stderr and TORCH_LOGS_OUT"
        return ratio_row(name, reference, times, stock="stock", complog="complog", reach=1.15)

    def measure_compile_filter(self) -> Row:
        """A record of a compilation that was not asked for."""
        asked = {"LOGS_TRACE_ID_FILTER": "[9/9]"}
        with compilation():
            # the family reads PyTorch's variable, whatever the system's prefix
            times = self._compare("bench_filter", self.basic, asked, asked, prefix="TORCH")
        name = "a record that the trace-id filter drops"
        return ratio_row(name, BASIC, times, stock="stock", complog="complog", reach=0.8)

    def measure_rank_filter(self) -> Row:
        """A record of a rank that was not asked for; stock PyTorch has no such filter."""
        complog_distributed.ranks.set_wanted(frozenset({7}))
        try:
            with process_group():
                times = self._compare("bench_ranks", self.basic)
        finally:
            complog_distributed.ranks.set_wanted(None)
        del times["stock"]
        name = "a record that the rank filter drops"
        return ratio_row(name, BASIC, times, complog="complog", reach=0.8)

    def measure_long(self) -> Row:
        """An artifact of thousands of lines, in one call."""
        text = "\n".join(f"    buf{number} = empty_strided((16, {number}), (1, 16))" for number in range(LINES))
        prefix = "V1129 15:57:26.774000 4408 torch/_dynamo/guards.py:241] [__guards] "

        def write() -> None:
            sys.stderr.write(prefix + text.replace("\n", "\n" + prefix) + "\n")

        call = "log.debug(text)"
        stock, log = self._set("bench_long", artifact=True)
        times = compare(
            {
                "floor": repeated("write()", write=write),
                "stock": repeated(call, log=stock, text=text),
                "complog": repeated(call, log=log, text=text),
            },
            rounds=41,
        )
        name = f"an artifact of {LINES:,} lines, whole call"
        reference = "floor: prefix + str.replace + one write"
        return ratio_row(name, reference, times, stock="stock", complog="complog", reach=1.1)

    def measure_files(self) -> list[Row]:
        """Records from many source files in turn."""
        stock, log = self._set("bench_many")
        calls = [self._make_caller(number) for number in range(FILES)]
        rows = []
        for side, logger in (("stock", stock), ("complog", log)):
            times = compare(
                {str(count): _in_turn(calls[:count], logger) for count in (REMEMBERED, FILES)}, seconds=0.02
            )
            rows.append((side, times))
        (_, stock_times), (_, times) = rows
        name = f"records from {FILES} source files in turn (a cache of 128 thrashes)"
        row = ratio_row(name, f"{REMEMBERED}: complog from {REMEMBERED} files", times, complog=str(FILES), reach=1.1)
        stock_row = ratio_row(name, str(REMEMBERED), stock_times, complog=str(FILES))
        return [Row(row.workload, row.reference, stock_row.complog, row.complog, row.reach, row.reached)]

    def _set(
        self,
        top: str,
        variables: Mapping[str, str] | None = None,
        stock_variables: Mapping[str, str] | None = None,
        *,
        artifact: bool = False,
        prefix: str = "",
    ) -> tuple[logging.Logger, logging.Logger]:
        """Return stock PyTorch's logger and complog's, set so that they print."""
        begins = prefix or top.upper()
        own = {f"{begins}_{name}": value for name, value in (variables or {}).items()}
        stocks = {f"TORCH_{name}": value for name, value in (stock_variables or {}).items()}
        if artifact:
            configure_stock(self.internal, stocks, guards=True)
            system = make_system(top, "guards", own)
            stock = self.internal.getArtifactLogger("torch._dynamo.bench", "guards")
            return stock, system.getArtifactLogger(f"{top}.module", "guards")
        configure_stock(self.internal, stocks, dynamo=logging.DEBUG)
        make_system(top, "+bench", own)
        return logging.getLogger("torch._dynamo.bench"), logging.getLogger(f"{top}.module")

    def _compare(
        self,
        top: str,
        stdlib: logging.Logger,
        variables: Mapping[str, str] | None = None,
        stock_variables: Mapping[str, str] | None = None,
        *,
        artifact: bool = False,
        prefix: str = "",
        peers: Mapping[str, Batch] | None = None,
    ) -> dict[str, list[float]]:
        stock, log = self._set(top, variables, stock_variables, artifact=artifact, prefix=prefix)
        cases = {
            "stdlib": repeated(CALL, log=stdlib),
            "stock": repeated(CALL, log=stock),
            "complog": repeated(CALL, log=log),
        }
        return compare({**cases, **(peers or {})}, rounds=41)

    def _make_caller(self, number: int) -> Callable[[logging.Logger], None]:
        file = self.directory / f"source_{number}.py"
        file.write_text(f"def call(log):\n    {CALL}\n", encoding="utf-8")
        space: dict[str, Any] = {}
        exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), space)
        caller: Callable[[logging.Logger], None] = space["call"]
        return caller


def _in_turn(calls: list[Callable[[logging.Logger], None]], logger: logging.Logger) -> Batch:
    """Return a batch whose calls come from one file after the other."""

    def batch(number: int) -> None:
        for position in range(number):
            calls[position % len(calls)](logger)

    return batch


if __name__ == "__main__":
    main(measure)
