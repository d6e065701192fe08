"""What importing costs: complog with four families among few and many distributions, and PyTorch with the bridge."""

from __future__ import annotations

import compileall
import importlib.metadata
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from measuring import Row, judge, main, ratio_row
from workers import make_environment

ROOT = Path(__file__).resolve().parents[1]
OWN = ("complog", "complog-torch", "complog-dynamo", "complog-inductor", "complog-distributed", "complog-onnx")
SOURCES = (ROOT / "src" / "core", *sorted(ROOT.glob("plugins/*/src")))
SIZES = (12, 300, 1_000)
ROUNDS, TORCH_ROUNDS = 11, 13
FLOOR = "import logging, pluggy, importlib_metadata; list(importlib_metadata.entry_points(group='complog'))"
PROGRAMS = {
    "floor": FLOOR,
    "complog": "import complog",
    "pluggy's loader": "import pluggy; pluggy.PluginManager('complog').load_setuptools_entrypoints('complog')",
    "stevedore": "import stevedore; stevedore.ExtensionManager('complog')",
}
REFERENCE = "floor: import logging + pluggy + importlib_metadata + one scan of a group"
TIMED = "import time; begun = time.process_time()\n{}\nprint(time.process_time() - begun)"
TORCH = """
import importlib.metadata
found = 0
scan = importlib.metadata.entry_points
def entry_points(**query):
    global found
    if query == {"group": "torch.backends"} and not found:
        found = time.process_time()
    return scan(**query)
importlib.metadata.entry_points = entry_points
import torch
assert found, "PyTorch has looked for no entry points"
print(time.process_time() - found)"""
"""Until PyTorch looks for its entry points, it does the same with and without the bridge; printed is what follows."""


def measure() -> list[Row]:
    """Measure all of them in new interpreters, which see only folders made for this."""
    with tempfile.TemporaryDirectory() as directory:
        return [*_measure_complog(Path(directory)), _measure_torch(Path(directory))]


def _measure_complog(directory: Path) -> list[Row]:
    rows = []
    for size in SIZES:
        ours, peers = directory / f"ours-{size}", directory / f"peers-{size}"
        install_own(ours)
        link(ours, _with_requirements(["pluggy", "importlib-metadata", "python-json-logger"]))
        fill_up(ours, size)
        shutil.copytree(ours, peers, symlinks=True)
        link(peers, _with_requirements(["stevedore"]))
        folders = {name: peers if name == "stevedore" else ours for name in PROGRAMS}
        # stevedore keeps what it has found in a cache
        printed = _run_in_turn(PROGRAMS, folders, ROUNDS, {"XDG_CACHE_HOME": str(directory / "cache")})
        times = {name: [seconds for (seconds,) in rounds] for name, rounds in printed.items()}
        name = f"`import complog` + 4 families, {size:,} distributions"
        rows.append(ratio_row(name, REFERENCE, times, complog="complog", reach=1.25))
    return rows


def _measure_torch(directory: Path) -> Row:
    """Measure `import torch` in two folders that differ by complog alone.

    The whole import varies by a tenth from one to the next, so that a difference of a hundredth is lost in it: the
    difference is taken where it arises, and is shown as a part of the whole import.
    """
    stock, bridged = directory / "stock", directory / "bridged"
    plugins = {point.dist.name for point in importlib.metadata.entry_points(group="complog") if point.dist}
    everything = [name for name in _installed() if name not in plugins and not name.startswith("complog")]
    for folder in (stock, bridged):
        link(folder, everything)
    install_own(bridged)
    programs = {"stock": TORCH, "complog": TORCH}
    times = _run_in_turn(programs, {"stock": stock, "complog": bridged}, TORCH_ROUNDS)
    check = "import torch, complog_torch; assert complog_torch.is_active()"
    _run(check, bridged, {})

    def cost(chosen: Sequence[int]) -> float:
        return statistics.median(times["stock"][turn][1] for turn in chosen)

    def value(chosen: Sequence[int]) -> float:
        ours, theirs = (statistics.median(times[side][turn][0] for turn in chosen) for side in ("complog", "stock"))
        return 1 + (ours - theirs) / cost(chosen)

    text, reached = judge(value, TORCH_ROUNDS, 1.03)
    workload = "`import torch` with the bridge and 4 families, TORCH_LOGS unset"
    return Row(workload, f"stock import torch ({cost(range(TORCH_ROUNDS)):.1f} s)", "1.00", text, "<= 1.03", reached)


def install_own(folder: Path) -> None:
    """Copy complog, the bridge and the families into a folder, as an installation does, compiled."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in SOURCES:
        for package in source.iterdir():
            if package.name.replace("_", "-") in (*OWN, "complog-core"):
                shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in OWN:
        info = Path(str(importlib.metadata.distribution(name)._path))  # type: ignore[attr-defined]  # private
        shutil.copytree(info, folder / info.name)
    compileall.compile_dir(folder, quiet=1)


def link(folder: Path, names: Iterable[str]) -> None:
    """Give a folder links to installed distributions."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        distribution = importlib.metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            target = Path(str(distribution.locate_file(top))).resolve()
            if target.suffix != ".pth" and not (folder / top).exists():
                (folder / top).symlink_to(target)


def fill_up(folder: Path, size: int) -> None:
    """Add distributions until there are `size`."""
    for number in range(size - len(list(folder.glob("*.dist-info")))):
        info = folder / f"bench_filler_{number}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: bench-filler-{number}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[console_scripts]\nbench_filler_{number} = bench_filler:main\n")


def _with_requirements(names: list[str]) -> list[str]:
    wanted, installed = list(names), {_normalise(name) for name in _installed()}
    for name in wanted:
        for requirement in importlib.metadata.distribution(name).requires or ():
            required = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
            if "extra ==" not in requirement and required not in wanted and _normalise(required) in installed:
                wanted.append(required)
    return wanted


def _normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _installed() -> list[str]:
    found = {distribution.metadata["Name"] for distribution in importlib.metadata.distributions()}
    return sorted(name for name in found if name)


def _run_in_turn(
    programs: Mapping[str, str],
    folders: Mapping[str, Path],
    rounds: int,
    variables: Mapping[str, str] | None = None,
) -> dict[str, list[list[float]]]:
    times: dict[str, list[list[float]]] = {name: [] for name in programs}
    for turn in range(rounds + 1):
        for name, program in programs.items():
            printed = _run(program, folders[name], variables or {})
            if turn:  # the first one fills the caches of the file system
                times[name].append(printed)
    return times


def _run(program: str, folder: Path, variables: Mapping[str, str]) -> list[float]:
    environment = {**make_environment("complog", variables), "PYTHONPATH": str(folder)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-S", "-c", TIMED.format(program)],
        env=environment,
        cwd=os.sep,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or done.stderr:
        raise RuntimeError(f"{program}: {done.stderr[-2000:]}")
    return [float(each) for each in done.stdout.split()]


if __name__ == "__main__":
    main(measure)
