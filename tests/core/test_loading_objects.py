"""Modules and objects that are passed to a system are asked, judged and reported like those behind entry points."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from tests.support.fake_distributions import on_sys_path, write_modules

from complog_core import report
from complog_core.errors import PluginError
from complog_core.hookspecs import hookimpl
from complog_core.loading import load_object
from complog_core.model import Component

NAMES = """
    from complog_core import Component, hookimpl

    @hookimpl
    def complog_components(): return [Component("tiler", "mybackend.tiler")]
"""


@pytest.fixture(autouse=True)
def _say_everything_again() -> None:
    report.forget_warnings()


def test_object_passed_directly_is_asked_like_any_plugin(capsys: pytest.CaptureFixture[str]) -> None:
    class Names:
        @hookimpl
        def complog_components(self) -> list[Component]:
            return [Component("tiler", "mybackend.tiler")]

    names = Names()
    plugin = load_object(names)
    assert (plugin.info.family, plugin.info.distribution, plugin.info.status) == ("Names", None, "loaded")
    assert plugin.module is names
    assert plugin.components == (Component("tiler", "mybackend.tiler"),)
    assert capsys.readouterr().err == ""


def test_family_of_a_module_passed_directly_is_its_top_level_package(tmp_path: Path) -> None:
    write_modules(tmp_path, {"mybackend.logs.names": NAMES})
    with on_sys_path(tmp_path):
        plugin = load_object(importlib.import_module("mybackend.logs.names"))
    assert (plugin.info.family, plugin.info.value, len(plugin.components)) == ("mybackend", "mybackend.logs.names", 1)


@pytest.mark.parametrize("obj", [None, "mybackend.names", 3, print, object()])
def test_object_without_hooks_is_failed(obj: object, capsys: pytest.CaptureFixture[str]) -> None:
    plugin = load_object(obj, environ={})
    assert (plugin.info.status, "implements no hook" in plugin.info.cause) == ("failed", True)
    (line,) = capsys.readouterr().err.splitlines()
    assert "plugin object" in line


def test_object_that_fails_is_an_error_where_strict() -> None:
    with pytest.raises(PluginError, match="implements no hook"):
        load_object(None, environ={"COMPLOG_STRICT_PLUGINS": "1"})
