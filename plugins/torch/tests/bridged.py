"""What the tests of the bridge share: a process that runs code of theirs, and a backend's package with names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Protocol

import pytest
from tests.support.backend_names import BACKEND_NAMES
from tests.support.environments import make_environment
from tests.support.fake_distributions import make_distribution

OBSERVER = """
    states = []

    @hookimpl
    def complog_state_changed(state):
        states.append(state)
"""


class Runner(Protocol):
    def __call__(
        self, code: str, *, paths: tuple[Path, ...] = (), **variables: str
    ) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture(scope="session")
def run() -> Runner:
    """Run the code in a process of its own, without settings but those given."""
    return run_code


def run_code(code: str, *, paths: tuple[Path, ...] = (), **variables: str) -> subprocess.CompletedProcess[str]:
    environ = make_environment(PYTHONPATH=os.pathsep.join(map(str, paths)), **variables)
    return subprocess.run(
        [sys.executable, "-c", dedent(code)], env=environ, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture
def backend(tmp_path: Path) -> Path:
    return make_distribution(
        tmp_path,
        "backend",
        "3.2",
        entry_points={"complog": {"backend": "backend_names"}},
        modules={"backend_names": BACKEND_NAMES + OBSERVER},
    )
