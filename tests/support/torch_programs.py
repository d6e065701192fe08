"""Programs that import PyTorch, ended with everything they started; and folders with just the distributions wanted."""

from __future__ import annotations

import importlib.metadata
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from tests.support.environments import make_environment
from tests.support.fake_distributions import make_distribution

OF_BACKENDS = ("DEVICE_BACKEND", "OTHER_LOGS", "MY_ARTIFACT")
"""What the variables of the backends that tests and examples bring begin with."""


@dataclass(frozen=True)
class Finished:
    """How a program ended, and what it and its children wrote."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def texts(self) -> list[str]:
        """What stands behind the place in the source, in each line of a log."""
        lines = re.findall(r"^(?:\[rank\d+\]:)?[VIWEC]\d{4} \S+ \d+ \S+:\d+\] ?(.*)$", self.stderr, re.MULTILINE)
        return [str(line) for line in lines]


def run_program(
    source: str,
    directory: Path,
    *,
    paths: Sequence[Path | str] = (),
    command: Sequence[str] = (),
    options: Sequence[str] = (),
    name: str = "program.py",
    timeout: float = 120,
    env: Mapping[str, str] | None = None,
) -> Finished:
    """Write `source` (dedented) into a file of `directory` and run it, there, with `paths` on sys.path.

    The interpreter gets `options`, then `command` (such as "-m", "torch.distributed.run"), then the file. A program
    that is not done after `timeout` seconds is an AssertionError; it and its children are killed in any case.
    """
    directory.mkdir(parents=True, exist_ok=True)
    script = directory / name
    script.write_text(dedent(source), encoding="utf-8")
    environ = make_environment(*OF_BACKENDS) | {
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        **(env or {}),
    }
    # files and not pipes: a child that outlives the program would keep a pipe open
    out, err = directory / f"{name}.stdout", directory / f"{name}.stderr"
    started = time.monotonic()
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, *options, *command, str(script)],
            cwd=directory,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.returncode = None
        finally:
            hangs = process.poll() is None
            _kill_group(process.pid)
            process.wait()
    texts = out.read_text(errors="replace"), err.read_text(errors="replace")
    assert not hangs, f"still running after {timeout} s\n{texts[0][-1000:]}\n{texts[1][-3000:]}"
    return Finished(process.returncode, *texts, time.monotonic() - started)


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def copy_distribution(directory: Path, name: str) -> Path:
    """Give `directory` the entry points of an installed distribution: there, it is found earlier on sys.path."""
    installed = importlib.metadata.distribution(name)
    points: dict[str, dict[str, str]] = {}
    for point in installed.entry_points:
        points.setdefault(point.group, {})[point.name] = point.value
    return make_distribution(directory, name, installed.version, entry_points=points)


def link_distributions(directory: Path, *names: str) -> Path:
    """Give `directory` links to these installed distributions and all that they require, and to nothing else."""
    directory.mkdir(parents=True, exist_ok=True)
    wanted = list(names)
    for name in wanted:
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # required on other platforms only
        for requirement in distribution.requires or ():
            required = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
            if "extra ==" not in requirement and required not in wanted:
                wanted.append(required)
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            if not (directory / top).exists():
                (directory / top).symlink_to(Path(str(distribution.locate_file(top))).resolve())
    return directory
