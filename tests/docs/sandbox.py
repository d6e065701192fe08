"""A world with complog, its bridge and its families, and no PyTorch, whatever the test run itself has installed."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final

from tests.support.fake_distributions import make_distribution

ROOT: Final = Path(__file__).parents[2]
FAMILIES: Final = ("dynamo", "inductor", "distributed", "onnx")
PROJECTS: Final = (".", "plugins/torch", *(f"plugins/{family}" for family in FAMILIES), "plugins/otel")
DEPENDENCIES: Final = (
    "pluggy",
    "importlib-metadata",
    "python-json-logger",
    "opentelemetry-exporter-otlp-proto-http",
)
_toml: Final = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
FOREIGN: Final = re.compile(r"(TORCH|COMPLOG|OTEL|PYTHON|MYLIB|MY_)", re.IGNORECASE)


def read_project(folder: Path) -> dict[str, Any]:
    """Return the table `project` of a folder's pyproject.toml."""
    table: dict[str, Any] = _toml.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


class Sandbox:
    """A folder to run commands in: `python`, `complog` and `pip install ./folder` work in it, offline.

    What pip installs is seen by the commands that follow. PyTorch cannot be imported.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = folder / ".site"
        self.commands = folder / ".commands"
        self.site.mkdir()
        self.commands.mkdir()
        for project in PROJECTS:
            told = read_project(ROOT / project)
            make_distribution(self.site, told["name"], told["version"], entry_points=told.get("entry-points"))
        for dependency in DEPENDENCIES:
            _link_with_requirements(dependency, self.site)
        self._add_command("python", f'exec "{sys.executable}" -S "$@"')
        self._add_command("complog", f'exec "{sys.executable}" -S -m complog "$@"')
        options = "--quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation"
        # out of the paths of this world: pip is to find what builds the package
        pip = f'"{sys.executable}" -m pip "$@" {options} --target "{self.site}"'
        self._add_command("pip", f"unset PYTHONPATH; exec {pip}")
        (folder / "examples").symlink_to(ROOT / "examples")

    @property
    def environment(self) -> dict[str, str]:
        """The variables of this process, without those that would change what is logged or imported."""
        kept = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
        sources = [ROOT / "src" / "core", *(ROOT / project / "src" for project in PROJECTS[1:])]
        return {
            **kept,
            "PATH": f"{self.commands}{os.pathsep}{kept.get('PATH', '')}",
            "PYTHONPATH": os.pathsep.join(map(str, [self.site, *sources])),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
        }

    def run(self, command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a shell command; stderr comes with stdout, in the order in which they were written."""
        return subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )

    def run_python(self, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run Python code that is given as a text; stdout and stderr come apart."""
        return subprocess.run(
            [sys.executable, "-S", "-c", code],
            cwd=self.folder,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def _add_command(self, name: str, line: str) -> None:
        file = self.commands / name
        file.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        file.chmod(0o755)


def _link_with_requirements(name: str, folder: Path) -> None:
    try:
        wanted = distribution(name)
    except PackageNotFoundError:
        return  # required on other Pythons only
    known = {path.name for path in folder.iterdir()}
    tops = {file.parts[0] for file in wanted.files or ()} - {"..", "__pycache__"}
    for top in tops - known:
        (folder / top).symlink_to(Path(str(wanted.locate_file(top))))
    if tops <= known:
        return
    for requirement in wanted.requires or ():
        required = re.match(r"[\w.-]+", requirement)
        if required is not None and "extra ==" not in requirement:
            _link_with_requirements(required[0], folder)
