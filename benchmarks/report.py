"""Runs every benchmark and writes docs/benchmarks.md and the chart beside it; `make bench` runs it."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "docs" / "benchmarks.md"
CHART: Final = HERE.parent / "docs" / "set_logs.svg"
GROUPS: Final = {
    "Calls that log nothing": "disabled_calls",
    "Lines": "lines",
    "Settings": "settings",
    "A module's name as a setting": "dotted_names",
    "The structured trace": "structured_trace",
    "Imports": "import_time",
    "A compilation": "compile_cpu",
    "Outputs": "outputs",
    "Threads": "lost_records",
    "Exceptions": "exceptions",
    "Memory": "tables",
}
PACKAGES: Final = (
    *("torch", "complog", "pluggy", "importlib-metadata"),
    *("picologging", "loguru", "structlog", "stevedore"),
)
BEGINNING: Final = """# Benchmarks

What complog costs beside stock `torch._logging`, the standard library and other libraries. `make bench` writes this
page, in less than ten minutes, `make bench ONLY=lines` one section of it. Each file of [benchmarks](../benchmarks) also
runs alone and then only prints: `make .venv-bench/installed && .venv-bench/bin/python benchmarks/lines.py`.

"""
EXPLANATION: Final = """
How to read it: "1.00 is" names the reference of a row and, in brackets, what that costs. Figures without a unit are
multiples of it, so smaller is better; where the reference is no time, the cells say what they hold. "reach" is what
complog is to reach: ✓ marks a figure that does, ✗ one that does not, ? what this run cannot tell, since the 90 %
interval of the figure, in brackets, holds the limit. All of a row are measured in one run, in small batches in turn: in
one process where that is possible, otherwise in processes that are asked in turn. Times are processor time. A figure is
the median of the rounds' ratios, with three exceptions: what the bridge adds to `import torch` is the difference of two
medians, taken from where PyTorch looks for entry points to the end, since before that both imports are the same; what
records add to a compilation, without garbage collection, is the median of the rounds' differences, and the figure the
ratio of both sides' medians; and set_logs and its reference are run in turn in the process of that side, where the
median is one of calls. Where a process has just been waiting, its first set_logs takes about twice as long as those
that follow. Artifact loggers are compared with a process of the same side that begins with few.
"""
CHART_TEXT: Final = """
## The cost of set_logs by the number of names

![Seconds of one set_logs against the number of registered names, both axes logarithmic](set_logs.svg)
"""


def main() -> None:
    """Run all benchmarks, one after the other, and write the page; arguments name those whose sections to renew."""
    chosen = sys.argv[1:] or list(GROUPS.values())
    if unknown := set(chosen) - set(GROUPS.values()):
        sys.exit(f"no benchmark is called {', '.join(sorted(unknown))}; there are {', '.join(GROUPS.values())}")
    page = PAGE.read_text(encoding="utf-8") if sys.argv[1:] else describe_machine()
    if describe_machine() not in page:
        sys.exit(f"{PAGE.name} was measured elsewhere, or with other versions: renew it as a whole")
    kept = dict(_split(page))
    begun = time.monotonic()
    sections, costs = [], {}
    for heading, name in GROUPS.items():
        if name not in chosen:
            sections.append(kept[heading])
            continue
        print(f"{name} ...", end=" ", flush=True)
        started = time.monotonic()
        answer = _run(name)
        print(f"{time.monotonic() - started:.0f} s", flush=True)
        rows = answer["rows"]
        costs.update(answer.get("costs", {}))
        sections.append(write_section(heading, name, rows))
        print(sections[-1], flush=True)
    page = BEGINNING + describe_machine() + EXPLANATION + "".join(sections)
    if costs:
        draw_chart(costs)
    page += CHART_TEXT
    PAGE.write_text(page, encoding="utf-8")
    print(f"{PAGE.relative_to(HERE.parent)} written after {time.monotonic() - begun:.0f} s")


def _split(page: str) -> list[tuple[str, str]]:
    return [(part.partition("\n")[0], "\n## " + part) for part in page.split("\n## ")[1:]]


def _run(name: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(HERE / f"{name}.py"), "--json"], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"benchmarks/{name}.py ended with {done.returncode}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def describe_machine() -> str:
    """Return what the figures were measured on: processor, cores, kernel, Python, versions."""
    model = next(
        (line.partition(":")[2].strip() for line in _read("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor() or platform.machine(),
    )
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"no {package}")
    return (
        f"Measured on: {model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"{platform.python_implementation()} {platform.python_version()};\n{', '.join(versions)}.\n"
    )


def write_section(heading: str, name: str, rows: list[dict[str, Any]]) -> str:
    """Return a heading and the table of one benchmark."""
    peers = list(dict.fromkeys(peer for row in rows for peer in row["others"]))
    columns = ["workload", "1.00 is", "stock torch", *peers, "complog", "reach", ""]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        mark = {None: "?" if row["reach"] else "", True: "✓", False: "✗"}[row["reached"]]
        cells = [row["workload"], row["reference"], row["stock"], *(row["others"].get(peer, "") for peer in peers)]
        lines.append("| " + " | ".join([*cells, row["complog"], row["reach"], mark]) + " |")
    return f"\n## {heading}\n\n[`benchmarks/{name}.py`](../benchmarks/{name}.py)\n\n" + "\n".join(lines) + "\n"


def draw_chart(costs: dict[str, dict[str, float]]) -> None:
    """Draw the seconds of set_logs by side and number of names."""
    import matplotlib as mpl  # type: ignore[import-not-found, unused-ignore]  # only where it draws

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "complog"
    from matplotlib import pyplot  # type: ignore[import-not-found, unused-ignore]  # only where it draws

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for side, label, colour in (("stock", "stock torch 2.13", "tab:red"), ("complog", "complog", "tab:blue")):
        points = sorted((int(size), seconds) for size, seconds in costs[side].items())
        axes.loglog(*zip(*points, strict=True), marker="o", label=label, color=colour)
    axes.set_xlabel("registered names")
    axes.set_ylabel("seconds of one set_logs")
    axes.grid(visible=True, which="major", alpha=0.4)
    axes.legend()
    figure.tight_layout()
    figure.savefig(CHART, metadata={"Date": None})


def _read(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


if __name__ == "__main__":
    main()
