"""Real distributions made on the spot, and real interpreters that see them and nothing of the caller's settings.

>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as directory:
...     points = {"complog": {"demo": "complog_demo"}}
...     path = make_distribution(
...         Path(directory, "one"), "complog-demo", entry_points=points, modules={"complog_demo": "print('imported')"}
...     )
...     run_python("import complog_demo", paths=[path]).stdout.strip()
'imported'
"""

from __future__ import annotations

import atexit
import functools
import importlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

SOURCES = Path(__file__).parents[2] / "src" / "core"


def make_distribution(
    directory: Path,
    name: str,
    version: str = "1.0",
    *,
    entry_points: dict[str, dict[str, str]] | None = None,
    modules: dict[str, str] | None = None,
    metadata: bool = True,
) -> Path:
    """Write an installed distribution into `directory` (made if missing) and return it, to be put on sys.path.

    `entry_points` is {group: {name: value}}. `modules` maps dotted names to sources, which are dedented; a name that
    others lie under becomes a package, and a package that is not named gets an empty `__init__.py`. Several
    distributions may share a directory. Without `metadata` there is a dist-info, but no METADATA file in it.
    """
    directory.mkdir(parents=True, exist_ok=True)
    dist_info = directory / f"{name.replace('-', '_')}-{version}.dist-info"
    dist_info.mkdir()
    if metadata:
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nA fake.\n"
        (dist_info / "METADATA").write_text(text, encoding="utf-8")
    sections = (
        "\n".join([f"[{group}]", *(f"{key} = {value}" for key, value in points.items())])
        for group, points in (entry_points or {}).items()
    )
    (dist_info / "entry_points.txt").write_text("\n\n".join(sections) + "\n", encoding="utf-8")
    write_modules(directory, modules or {})
    return directory


def write_modules(directory: Path, modules: Mapping[str, str]) -> None:
    """Write {dotted name: source} below `directory`, without any distribution around it."""
    packages = {name.rpartition(".")[0] for name in modules} - {""}
    for package in list(packages):
        while package := package.rpartition(".")[0]:
            packages.add(package)
    for name in sorted(packages | set(modules)):
        stem = directory.joinpath(*name.split("."))
        file = stem / "__init__.py" if name in packages else stem.with_name(stem.name + ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        if name in modules or not file.exists():
            file.write_text(dedent(modules.get(name, "")), encoding="utf-8")


@contextmanager
def on_sys_path(directory: Path) -> Iterator[Path]:
    """Put `directory` first on this process's sys.path; afterwards, forget the modules that were imported from it."""
    before = set(sys.modules)
    sys.path.insert(0, str(directory))
    importlib.invalidate_caches()
    try:
        yield directory
    finally:
        sys.path.remove(str(directory))
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", None)).startswith(str(directory)):
                del sys.modules[name]


@functools.cache
def dependencies() -> Path:
    """Return a folder with complog's dependencies and nothing else of what this environment has installed."""
    folder = Path(tempfile.mkdtemp(prefix="complog-dependencies-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    wanted = ["pluggy", "importlib_metadata", "python_json_logger"]
    for name in wanted:
        distribution = importlib.metadata.distribution(name)
        wanted += [
            requirement
            for line in distribution.requires or ()
            if "extra ==" not in line and (requirement := re.split(r"[^\w.-]", line, maxsplit=1)[0]) not in wanted
        ]
        for top in {file.parts[0] for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")}:
            (folder / top).symlink_to(Path(str(distribution.locate_file(top))).resolve())
    return folder


def clean_environment(paths: Sequence[Path | str] = (), env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment without TORCH_* and COMPLOG_* variables, PYTHONPATH leading to complog."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("TORCH_", "COMPLOG_"))}
    environ["PYTHONPATH"] = os.pathsep.join([str(SOURCES), str(dependencies()), *map(str, paths)])
    environ["PYTHONDONTWRITEBYTECODE"] = "1"
    environ.update(env or {})
    return environ


def run_python(
    code: str,
    *,
    paths: Sequence[Path | str] = (),
    env: Mapping[str, str] | None = None,
    args: Sequence[str] = (),
    options: Sequence[str] = (),
    timeout: float = 60,
    bare: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Run `code` (dedented) in a new interpreter with `paths` on sys.path; return what it wrote and how it ended.

    `env` is added to `clean_environment`, `args` become sys.argv[1:], `options` go to the interpreter itself (such as
    "-O"). What else is installed here is seen only if the interpreter is not `bare`. The exit status is not checked.
    Raises subprocess.TimeoutExpired after `timeout` seconds.
    """
    return subprocess.run(
        [sys.executable, *(["-S"] if bare else []), *options, "-c", dedent(code), *args],
        env=clean_environment(paths, env),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
        check=False,
    )
