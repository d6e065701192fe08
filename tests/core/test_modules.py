"""Whether a dotted name exists is found out without importing anything."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from complog_core.modules import module_exists


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for directory in ("probe_pkg", "probe_pkg/inner", "probe_ns/deep/deeper"):
        (tmp_path / directory).mkdir(parents=True)
    bomb = "raise SystemExit('imported')\n"
    for file in (
        "probe_pkg/__init__",
        "probe_pkg/leaf",
        "probe_pkg/inner/__init__",
        "probe_single",
        "probe_ns/deep/deeper/end",
    ):
        (tmp_path / f"{file}.py").write_text(bomb)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        "probe_pkg",
        "probe_pkg.leaf",
        "probe_pkg.inner",
        "probe_single",
        "probe_ns.deep.deeper.end",
        "sys",
        "json.tool",
    ],
)
def test_existing_module_is_found_and_nothing_is_imported(packages: Path, name: str) -> None:
    before = set(sys.modules)
    assert module_exists(name)
    assert set(sys.modules) == before


@pytest.mark.parametrize(
    "name",
    [
        "probe_pkg.nothing",
        "probe_pkg.leaf.below",
        "probe_single.x",
        "probe_nothing",
        "probe_ns",
        "probe_ns.deep.x",
        "sys.path",
        "json..tool",
        "json.",
        ".json",
        "",
        ".",
    ],
)
def test_what_does_not_exist_is_not_found(packages: Path, name: str) -> None:
    before = set(sys.modules)
    assert not module_exists(name)
    assert set(sys.modules) == before


def test_logger_without_a_module_exists() -> None:
    logging.getLogger("probe_logger.of.nobody")
    assert module_exists("probe_logger.of.nobody")
    assert module_exists("probe_logger.of")
    assert not module_exists("probe_logger.of.nobody.else")


def test_failing_finder_is_passed_over(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> None:
            raise RuntimeError("broken finder")

    monkeypatch.setattr(sys, "meta_path", [Broken, *sys.meta_path])
    assert module_exists("probe_pkg.leaf")
    assert not module_exists("probe_pkg.nothing")


def test_distutils_shim_of_setuptools_is_not_woken() -> None:
    before = set(sys.modules)
    module_exists("distutils.core")
    assert set(sys.modules) == before


def test_imported_module_with_a_changed_path_is_followed(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import types

    module = types.ModuleType("probe_dynamic")
    module.__path__ = [str(packages / "probe_pkg")]
    monkeypatch.setitem(sys.modules, "probe_dynamic", module)
    assert module_exists("probe_dynamic.leaf")
    assert not module_exists("probe_dynamic.nothing")
