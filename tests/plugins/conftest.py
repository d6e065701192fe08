"""Builds each distribution once per run: what users install is what these tests look at."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


class Workshop:
    """Builds and installs from the source tree into a temporary directory; it needs hatchling, and no network."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def build(self, project: str, target: str) -> Path:
        """Return the `target` ("wheel" or "sdist") of the project in that folder of the tree ("." for the core)."""
        folder = self.directory / f"{Path(ROOT, project).name}-{target}"
        if not folder.exists():
            command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
            _run(command, ROOT / project)
        (built,) = folder.iterdir()
        return built

    def install(self, *projects: str) -> Path:
        """Return a directory that holds these projects' wheels, installed without their dependencies."""
        site = self.directory / "-".join(["site", *(Path(ROOT, project).name for project in projects)])
        if not site.exists():
            wheels = [str(self.build(project, "wheel")) for project in projects]
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-deps", "--no-index"]
            _run([*pip, "--target", str(site), *wheels], self.directory)
        return site

    def dependencies(self) -> Path:
        """Return a directory with what the core depends on and nothing else; no torch, whatever is installed."""
        folder = self.directory / "dependencies"
        if not folder.exists():
            folder.mkdir()
            _link_with_requirements("pluggy", folder)
            _link_with_requirements("importlib-metadata", folder)
            _link_with_requirements("python-json-logger", folder)
        return folder

    def run(self, script: str, *paths: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a script that can import from `paths`, the core's dependencies and the standard library only."""
        places = [str(place) for place in (*paths, self.dependencies())]
        environment = {name: value for name, value in os.environ.items() if name in ("PATH", "SYSTEMROOT", "TMPDIR")}
        command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {places!r}\n{script}"]
        return subprocess.run(
            command, env=environment | variables, capture_output=True, text=True, timeout=60, check=False
        )


def _link_with_requirements(name: str, folder: Path) -> None:
    try:
        wanted = distribution(name)
    except PackageNotFoundError:
        return  # required on other Pythons only
    for top in {file.parts[0] for file in wanted.files or ()} - {"..", "__pycache__"}:
        if (folder / top).exists():
            return
        (folder / top).symlink_to(Path(str(wanted.locate_file(top))))
    for requirement in wanted.requires or ():
        required = re.match(r"[\w.-]+", requirement)
        if required is not None and "extra ==" not in requirement:
            _link_with_requirements(required[0], folder)


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """The builder that all tests of one run share."""
    return Workshop(tmp_path_factory.mktemp("workshop"))
