"""Plugins load one by one: each contributes, or is told of in one line, and none costs the others anything."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from tests.support.fake_distributions import make_distribution, on_sys_path, run_python, write_modules

from complog_core import report
from complog_core.discovery import find_candidates
from complog_core.errors import PluginError
from complog_core.loading import Plugin, awaits_import, load_plugins, retry
from complog_core.model import PluginInfo

Capsys = pytest.CaptureFixture[str]
GROUP = "complog.test_loading"
VOCABULARY = "from complog_core import Artifact, Component, Keyword, hookimpl\n"
ONE_NAME = VOCABULARY + "@hookimpl\ndef complog_components(): return [Component('sound', 'sound.logger')]\n"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    """A directory on sys.path."""
    with on_sys_path(tmp_path):
        yield tmp_path


@pytest.fixture(autouse=True)
def _say_everything_again() -> None:
    report.forget_warnings()


def add(directory: Path, family: str, source: str, value: str = "", name: str = "", version: str = "1.0") -> None:
    """Install `complog-<family>`, whose module is `load_<family>` unless `value` says otherwise."""
    module = value.partition(":")[0] or f"load_{family}"
    make_distribution(
        directory,
        name or f"complog-{family}",
        version,
        entry_points={GROUP: {family: value or module}},
        modules={module: dedent(source)},
    )


def load(**environ: str) -> dict[str, Plugin]:
    plugins = load_plugins(find_candidates(GROUP), environ=environ, name_unknown=True)
    return {plugin.info.family: plugin for plugin in plugins}


def test_loaded_plugin_carries_everything_that_it_contributes(site: Path, capsys: Capsys) -> None:
    source = """
        import logging
        from complog_core import Artifact, Component, Field, Keyword, hookimpl

        @hookimpl
        def complog_components(): return [Component("tiler", ["mybackend.tiler"])]
        @hookimpl
        def complog_artifacts(): yield Artifact("tiles")
        @hookimpl
        def complog_keywords(): return (Keyword("depth", int),)
        @hookimpl
        def complog_formatters(): return {"line": logging.Formatter}
        @hookimpl
        def complog_env_vars(): return ["B_LOGS", "A_LOGS", "B_LOGS"]
        @hookimpl
        def complog_handlers(outputs): raise AssertionError("it is called when a configuration asks")
        @hookimpl
        def complog_state_changed(): return "changed"
    """
    add(site, "demo", source, version="0.3")
    plugin = load()["demo"]
    assert plugin.info == PluginInfo("demo", "complog-demo", "0.3", "load_demo")
    assert plugin.module is sys.modules["load_demo"]
    assert [each.name for each in plugin.components] == ["tiler"]
    assert [each.name for each in plugin.artifacts] == ["tiles"]
    assert [each.name for each in plugin.keywords] == ["depth"]
    assert list(plugin.formatters) == ["line"]
    assert plugin.env_vars == ("B_LOGS", "A_LOGS")
    assert set(plugin.hooks) == {"complog_handlers", "complog_state_changed"}
    assert plugin.hooks["complog_state_changed"][0](state=None) == "changed"
    assert capsys.readouterr().err == ""


def test_several_implementations_of_one_hook_add_up_in_calling_order(site: Path) -> None:
    source = VOCABULARY + dedent(
        """
        @hookimpl(specname="complog_components", trylast=True)
        def a_last(): return [Component("last", "m")]
        @hookimpl(specname="complog_components", tryfirst=True)
        def z_first(): return [Component("first", "m")]
        @hookimpl(specname="complog_formatters", trylast=True)
        def a_line(): return {"line": str}
        @hookimpl(specname="complog_formatters")
        def b_line(): return {"line": repr}
        """
    )
    add(site, "many", source)
    plugin = load()["many"]
    assert [each.name for each in plugin.components] == ["first", "last"]
    assert [factory.__name__ for factory in plugin.formatters.values()] == ["repr"]


def test_entry_point_may_lead_to_an_object(site: Path) -> None:
    source = VOCABULARY + dedent(
        """
        class Names:
            @hookimpl
            def complog_components(self): return [Component("of_object", "m")]
        class holder:
            names = Names()
        """
    )
    add(site, "obj", source, "load_obj:holder.names")
    plugin = load()["obj"]
    assert plugin.info.status == "loaded"
    assert [each.name for each in plugin.components] == ["of_object"]


def test_module_without_hooks_is_loaded_with_a_note(site: Path, capsys: Capsys) -> None:
    add(site, "empty", "")
    info = load()["empty"].info
    assert (info.status, info.notes) == ("loaded", ("it implements no hook",))
    assert capsys.readouterr().err == ""


def test_disabled_plugins_are_not_even_imported(site: Path) -> None:
    add(site, "one", "raise SystemExit")
    add(site, "two", ONE_NAME)
    plugins = load(COMPLOG_PLUGINS="two")
    assert {family: plugin.info.status for family, plugin in plugins.items()} == {"one": "disabled", "two": "loaded"}
    assert plugins["one"].info.cause == "COMPLOG_PLUGINS does not name it"
    assert load(COMPLOG_DISABLE_PLUGINS="one")["one"].info.cause == "COMPLOG_DISABLE_PLUGINS names it"
    assert load(COMPLOG_PLUGINS="")["two"].info.status == "disabled"


IN_COMPONENTS = VOCABULARY + "@hookimpl\ndef complog_components():\n    "

FAILURES = {
    "missing module": ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
    "syntax": ("def broken(:\n", "SyntaxError: "),
    "exit": ("raise SystemExit(3)", "SystemExit: 3"),
    "generator exit": ("raise GeneratorExit", "GeneratorExit"),
    "own base exception": ("class Own(BaseException): pass\nraise Own('mine')", "Own: mine"),
    "recursion": ("def f(): f()\nf()", "RecursionError: "),
    "several lines": ("raise ValueError('one\\n\\n  two')", "ValueError: one two"),
    "endless text": ("raise ValueError('x' * 10_000)", "ValueError: xxx"),
    "text that fails": ("class E(Exception):\n def __str__(self): 1 / 0\nraise E", "E: (its text cannot be had)"),
    "hook raises": (IN_COMPONENTS + "raise LookupError('inside')", "complog_components() raised LookupError: inside"),
    "hook exits": (IN_COMPONENTS + "raise SystemExit(4)", "complog_components() raised SystemExit: 4"),
    "generator raises": (IN_COMPONENTS + "yield 1 / 0", "complog_components() raised ZeroDivisionError"),
    "model raises": (IN_COMPONENTS + "return [Component('x', None)]", "complog_components() raised ValueError"),
    "wrong type": (IN_COMPONENTS + "return None", "complog_components() returned None"),
    "wrong item": (IN_COMPONENTS + "return [Component('all', 'm')]", "gave the Component 'all': 'all' is reserved"),
    "unknown hook": (VOCABULARY + "@hookimpl\ndef complog_component(): ...", "did you mean complog_components?"),
    "forgotten mark": ("def complog_components(): ...", "complog_components without @hookimpl"),
    "wrapper": (VOCABULARY + "@hookimpl(wrapper=True)\ndef complog_components(): yield", "take no wrappers"),
    "wrong argument": (
        VOCABULARY + "@hookimpl\ndef complog_handlers(output): ...",
        "the specification is complog_handlers(outputs, describer) -> Iterable[logging.Handler]",
    ),
}


@pytest.mark.parametrize(("source", "cause"), FAILURES.values(), ids=FAILURES.keys())
def test_failed_plugin_is_one_line_and_contributes_nothing(site: Path, source: str, cause: str, capsys: Capsys) -> None:
    add(site, "bad", source, version="6.7")
    add(site, "sound", ONE_NAME)
    add(site, "a_first", ONE_NAME)
    plugins = load()
    failed = plugins["bad"]
    assert failed.info.status == "failed"
    assert cause in failed.info.cause
    assert "load_bad" in failed.info.cause
    assert "\n" not in failed.info.cause
    assert len(failed.info.cause) < 700
    assert Plugin(failed.info, candidate=failed.candidate) == failed
    assert [plugins[family].info.status for family in ("a_first", "sound")] == ["loaded", "loaded"]
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("complog: warning: complog-bad[bad] 6.7: entry point 'load_bad' failed: ")
    assert failed.info.cause in line
    assert "run `complog plugins`" in line


@pytest.mark.parametrize(("source", "cause"), FAILURES.values(), ids=FAILURES.keys())
def test_traceback_leads_to_the_place(site: Path, source: str, cause: str) -> None:
    add(site, "bad", source)
    assert "load_bad.py" in load()["bad"].info.traceback


@pytest.mark.parametrize("value", ["load_x:absent", "load_x:names.absent", "no_such_module", "load_x:none"])
def test_entry_point_that_leads_nowhere_is_failed(site: Path, value: str, capsys: Capsys) -> None:
    make_distribution(
        site, "complog-x", entry_points={GROUP: {"x": value}}, modules={"load_x": "none = None\nnames = object()\n"}
    )
    info = load()["x"].info
    assert info.status == "failed"
    assert value in info.cause
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("family", ["a/b", "a,b", "+a", "a b"])
def test_entry_point_whose_name_cannot_qualify_names_is_failed(site: Path, family: str) -> None:
    make_distribution(site, "complog-x", entry_points={GROUP: {family: "load_x"}}, modules={"load_x": ONE_NAME})
    info = load()[family].info
    assert (info.status, repr(family) in info.cause) == ("failed", True)


@pytest.mark.parametrize("source", ["raise KeyboardInterrupt", IN_COMPONENTS + "raise KeyboardInterrupt"])
def test_keyboard_interrupt_passes(site: Path, source: str) -> None:
    add(site, "slow", source)
    with pytest.raises(KeyboardInterrupt):
        load()


def test_failure_is_told_once_however_often_it_is_met(site: Path, capsys: Capsys) -> None:
    add(site, "bad", "raise ValueError")
    load()
    load()
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("word", ["1", "yes", " 1 "])
def test_strict_makes_failures_errors_once_all_were_tried(site: Path, word: str, capsys: Capsys) -> None:
    add(site, "bad", "raise ValueError('one')")
    add(site, "worse", "raise ValueError('two')")
    add(site, "yet_sound", ONE_NAME)
    with pytest.raises(PluginError) as caught:
        load(COMPLOG_STRICT_PLUGINS=word)
    assert [line.rpartition("ValueError: ")[2][:3] for line in str(caught.value).splitlines()] == ["one", "two"]
    assert "load_yet_sound" in sys.modules
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("word", ["", "0", " "])
def test_strict_is_off_for_words_that_say_so(site: Path, word: str) -> None:
    add(site, "bad", "raise ValueError")
    assert load(COMPLOG_STRICT_PLUGINS=word)["bad"].info.status == "failed"


def test_strict_is_content_where_nothing_failed(site: Path) -> None:
    add(site, "sound", ONE_NAME)
    add(site, "out", "raise ValueError")
    assert load(COMPLOG_STRICT_PLUGINS="1", COMPLOG_DISABLE_PLUGINS="out")["sound"].info.status == "loaded"


def test_namesakes_of_two_distributions_both_load_with_one_warning(site: Path, capsys: Capsys) -> None:
    add(site, "same", ONE_NAME, "load_here", name="dist-one")
    add(site, "same", ONE_NAME, "load_there", name="dist-two")
    plugins = load_plugins(find_candidates(GROUP), environ={}, name_unknown=True)
    assert [plugin.info.distribution for plugin in plugins if plugin.components] == ["dist-one", "dist-two"]
    (line,) = capsys.readouterr().err.splitlines()
    assert "dist-one" in line
    assert "dist-two" in line


def test_one_module_behind_two_entry_points_is_loaded_for_each(site: Path, capsys: Capsys) -> None:
    points = {GROUP: {"here": "load_shared", "there": "load_shared"}}
    make_distribution(site, "complog-shared", entry_points=points, modules={"load_shared": ONE_NAME})
    plugins = load()
    assert plugins["here"].components == plugins["there"].components != ()
    assert capsys.readouterr().err == ""


def test_plugin_of_a_distribution_without_metadata_loads(site: Path) -> None:
    make_distribution(
        site, "bare", entry_points={GROUP: {"bare": "load_bare"}}, modules={"load_bare": ONE_NAME}, metadata=False
    )
    assert load()["bare"].info == PluginInfo("bare", "bare", "1.0", "load_bare")


def test_plugin_that_brings_torch_in_is_loaded_with_a_note_and_one_warning(tmp_path: Path) -> None:
    write_modules(tmp_path, {"torch": ""})
    add(tmp_path, "a_quiet", ONE_NAME)
    add(tmp_path, "heavy", "import torch\n" + ONE_NAME)
    add(tmp_path, "later", "import torch\n" + ONE_NAME)
    result = run_python(
        f"""
        from complog_core.discovery import find_candidates
        from complog_core.loading import load_plugins
        for plugin in load_plugins(find_candidates({GROUP!r}), environ={{}}, name_unknown=True):
            print(plugin.info.family, plugin.info.status, len(plugin.components), len(plugin.info.notes))
        """,
        paths=[tmp_path],
    )
    assert result.stdout.splitlines() == ["a_quiet loaded 1 0", "heavy loaded 1 1", "later loaded 1 0"]
    (line,) = result.stderr.splitlines()
    assert "complog-heavy[heavy] 1.0" in line
    assert "imported torch" in line


def test_retry_leaves_all_alone_but_those_set_aside(site: Path) -> None:
    add(site, "bad", "raise ValueError")
    add(site, "sound", ONE_NAME)
    for plugin in load().values():
        assert retry(plugin) is plugin
        assert not awaits_import(plugin)
