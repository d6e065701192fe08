"""Processes that wait for work: one with stock PyTorch and one with complog behind it, asked in turn."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from measuring import SIDES

FOREIGN = ("TORCH", "COMPLOG", "PYTHONPATH", "RANK", "LOCAL_RANK")
STOCK = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
"""What keeps complog away from PyTorch, and everything else that PyTorch would load."""


def make_environment(side: str, variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a program on one side: without anybody's settings, with `variables`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {**kept, "OMP_NUM_THREADS": "1", **(STOCK if side == "stock" else {}), **(variables or {})}


class Worker:
    """A process that runs this program's `serve` and answers what it is asked; its stderr shows where it fails."""

    def __init__(self, side: str, variables: Mapping[str, str] | None = None) -> None:
        self.side = side
        self._error = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._process = subprocess.Popen(
            [sys.executable, sys.argv[0], "--worker", side],
            env=make_environment(side, variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._error,
            text=True,
        )

    def ask(self, task: str, *arguments: object) -> Any:
        """Return what the task's function returns; RuntimeError where the process has ended."""
        self.tell(task, *arguments)
        return self.hear()

    def tell(self, task: str, *arguments: object) -> None:
        """Give it a task and do not wait."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([task, *arguments]) + "\n")
        self._process.stdin.flush()

    def hear(self) -> Any:
        """Wait for the answer to what it was told."""
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if not answer:
            code = self._process.wait()
            self._error.seek(0)
            text = self._error.read().decode("utf-8", "replace")[-2000:]
            raise RuntimeError(f"the process {self.side} of {sys.argv[0]} ended with {code}\n{text}")
        return json.loads(answer)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
        self._error.close()


def share_processor() -> None:
    """Run on the processor that every worker which does this runs on: what neighbours of the machine do to it is done
    to all that are compared.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


@contextlib.contextmanager
def workers(variables: Mapping[str, str] | None = None) -> Iterator[list[Worker]]:
    """Start a worker for each side, end them afterwards."""
    made = [Worker(side, variables) for side in SIDES]
    try:
        yield made
    finally:
        for worker in made:
            worker.close()


def is_worker() -> bool:
    """Return whether this process was started as a worker."""
    return "--worker" in sys.argv


def serve(**tasks: Callable[..., Any]) -> None:
    """Answer tasks until nobody asks any more; the side is `sys.argv[2]`."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        task, *arguments = json.loads(line)
        answers.write(json.dumps(tasks[task](*arguments)) + "\n")
        answers.flush()


def import_bare_torch() -> Any:
    """Import PyTorch and return `torch._logging`; RuntimeError where complog is behind it and ought not to, or not."""
    logs = importlib.import_module("torch._logging")
    bridge = sys.modules.get("complog_torch")
    is_there = bridge is not None and bridge.is_active()
    if is_there != (sys.argv[2] == "complog"):
        raise RuntimeError(f"{sys.argv[2]}: complog is {'' if is_there else 'not '}behind PyTorch's logging")
    return logs


def import_torch() -> Any:
    """Import PyTorch with its compiler, and return `torch._logging`."""
    importlib.import_module("torch._inductor.compile_fx")
    return import_bare_torch()
