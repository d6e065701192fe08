"""The built distributions: what is in them, what their entry points load, and what loading them costs."""

from __future__ import annotations

import ast
import json
import subprocess
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Protocol

import pytest

FAMILY_NAMES = ("dynamo", "inductor", "distributed", "onnx")
HEAVY = ("torch", "numpy", "sympy", "asyncio", "inspect", "email", "multiprocessing")

LOAD = """
import json, sys
from importlib.metadata import entry_points
import complog_core.hookspecs, complog_core.model
(entry,) = entry_points(group="complog", name=family)
looked_up = set(sys.modules)
plugin = entry.load()
new = sorted(set(sys.modules) - looked_up)
print(json.dumps({
    "distribution": entry.dist.metadata["Name"],
    "version": entry.dist.version,
    "value": entry.value,
    "file": plugin.__file__,
    "new": new,
    "all": sorted(sys.modules),
}))
"""


class Workshop(Protocol):
    def build(self, project: str, target: str) -> Path: ...
    def install(self, *projects: str) -> Path: ...
    def run(self, script: str, *paths: Path, **variables: str) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture
def poisoned(tmp_path: Path) -> Path:
    """A directory with a `torch` that cannot be imported unnoticed."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise SystemExit('torch was imported')\n")
    return tmp_path


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_entry_point_loads_from_the_wheel_without_torch_or_anything_heavy(
    workshop: Workshop, poisoned: Path, family: str
) -> None:
    site = workshop.install(".", *(f"plugins/{name}" for name in FAMILY_NAMES))
    done = workshop.run(f"family = {family!r}\n{LOAD}", poisoned, site)
    assert (done.returncode, done.stderr) == (0, "")
    loaded = json.loads(done.stdout)
    assert loaded["distribution"] == f"complog-{family}"
    assert loaded["version"] == "0.1.0"
    assert loaded["value"] == f"complog_{family}.plugin"
    assert Path(loaded["file"]).is_relative_to(site)
    assert "torch" not in loaded["all"]
    assert [name for name in loaded["new"] if name.partition(".")[0] in HEAVY] == []
    assert {name for name in loaded["new"] if name.startswith("complog")} <= {
        f"complog_{family}",
        *(f"complog_{family}.{part}" for part in ("plugin", "names", "running", "ranks")),
    }


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_wheel_holds_its_package_and_nothing_else(workshop: Workshop, family: str) -> None:
    with zipfile.ZipFile(workshop.build(f"plugins/{family}", "wheel")) as wheel:
        names = set(wheel.namelist())
        metadata = Parser().parsestr(wheel.read(f"complog_{family}-0.1.0.dist-info/METADATA").decode())
    assert {name.partition("/")[0] for name in names} == {f"complog_{family}", f"complog_{family}-0.1.0.dist-info"}
    assert {f"complog_{family}/py.typed", f"complog_{family}-0.1.0.dist-info/licenses/LICENSE"} <= names
    requirements = metadata.get_all("Requires-Dist")
    assert requirements is not None
    assert sorted(requirements) == ["complog-torch<0.2,>=0.1", "complog<0.2,>=0.1"]
    assert metadata["Requires-Python"] == ">=3.10"


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_package_itself_holds_its_docstring_only(family: str) -> None:
    text = Path(__file__).parents[2].joinpath(f"plugins/{family}/src/complog_{family}/__init__.py").read_text()
    (only,) = ast.parse(text).body
    assert isinstance(only, ast.Expr)


def test_complog_rich_loads_from_the_wheel_without_rich(workshop: Workshop) -> None:
    with zipfile.ZipFile(workshop.build("plugins/rich", "wheel")) as wheel:
        names = set(wheel.namelist())
        metadata = Parser().parsestr(wheel.read("complog_rich-0.1.0.dist-info/METADATA").decode())
    assert {name.partition("/")[0] for name in names} == {"complog_rich", "complog_rich-0.1.0.dist-info"}
    assert {"complog_rich/py.typed", "complog_rich-0.1.0.dist-info/licenses/LICENSE"} <= names
    assert sorted(metadata.get_all("Requires-Dist") or ()) == ["complog<0.2,>=0.1", "rich<16,>=13"]
    done = workshop.run(f"family = 'rich'\n{LOAD}", workshop.install(".", "plugins/rich"))
    assert (done.returncode, done.stderr) == (0, "")
    loaded = json.loads(done.stdout)
    assert [name for name in loaded["new"] if name.startswith("complog")] == ["complog_rich", "complog_rich.plugin"]
    assert [name for name in loaded["new"] if name.partition(".")[0] in (*HEAVY, "rich", "pygments")] == []


def test_core_is_distributed_without_any_plugin(workshop: Workshop) -> None:
    with tarfile.open(workshop.build(".", "sdist")) as sdist:
        files = {name.partition("/")[2] for name in sdist.getnames()}
    with zipfile.ZipFile(workshop.build(".", "wheel")) as wheel:
        packages = {name.partition("/")[0] for name in wheel.namelist()}
    assert "src/core/complog_core/model.py" in files
    assert [name for name in files if name.startswith(("plugins", "examples"))] == []
    assert [name for name in files if any(f"complog_{family}" in name for family in FAMILY_NAMES)] == []
    assert {name for name in packages if not name.endswith(".dist-info")} == {"complog_core", "complog"}
