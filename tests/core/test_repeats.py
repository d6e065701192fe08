"""What set_logs was asked before comes out as it did, unless something that it depends on has changed."""

from __future__ import annotations

import gc
import logging
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.systems import SystemFactory, make_names, make_plugin

from complog_core import Component, Keyword, LogSystem, SettingsError
from complog_core.assembly import Assembly
from complog_core.model import PluginInfo
from complog_core.reading import Reader

VALUES = st.sampled_from(
    [None, True, False, 0, 1, 10, 20, 30, 1.0, "DEBUG", "debug", "INFO", "10", "no level", b"DEBUG"]
)


@pytest.fixture
def system(make_system: SystemFactory, top: str) -> LogSystem:
    return make_system(make_names(top))


@pytest.fixture
def loud() -> Iterator[str]:
    """A level of the program's own, which goes again."""
    names, levels = dict(logging._nameToLevel), dict(logging._levelToName)
    yield "LOUD"
    logging._nameToLevel.clear()
    logging._nameToLevel.update(names)
    logging._levelToName.clear()
    logging._levelToName.update(levels)


def ask(system: LogSystem, arguments: dict[str, Any]) -> Any:
    """Return what a call comes to: the state, or the error's text."""
    try:
        system.set_logs(**arguments)
    except (SettingsError, TypeError) as error:
        return str(error)
    return system.current_state()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.dictionaries(st.sampled_from(["tiler", "tiles", "costs", "all"]), VALUES, max_size=2), max_size=6))
def test_answer_is_that_of_a_system_that_was_never_asked(calls: list[dict[str, Any]]) -> None:
    plugin = make_names("repeated")
    used = LogSystem("PROBE", plugins=[plugin])
    try:
        found = [ask(used, arguments) for arguments in [*calls, *calls]]
    finally:
        used.close()
    expected = []
    for arguments in calls:
        new = LogSystem("PROBE", plugins=[plugin])
        try:
            expected.append(ask(new, arguments) if arguments else None)
        finally:
            new.close()
    for mine, its in zip(found, [*expected, *expected], strict=True):
        if its is not None and (isinstance(mine, str) or isinstance(its, str)):
            assert mine == its
        elif its is not None:
            assert (mine.levels, mine.artifacts) == (its.levels, its.artifacts)


@pytest.mark.parametrize("settings", [5, True, 1.5, b"tiler", ["tiler"]])
def test_settings_that_are_no_text_are_refused_beside_words(system: LogSystem, settings: Any) -> None:
    for arguments in ({}, {"tiler": "DEBUG"}):
        with pytest.raises(SettingsError, match="not a str"):
            system.set_logs(settings, **arguments)


def test_number_that_equals_a_truth_value_is_none(system: LogSystem) -> None:
    system.set_logs(tiles=True)
    with pytest.raises(SettingsError, match="takes True or False"):
        system.set_logs(tiles=1)


def test_level_that_the_program_gives_another_number_is_that(system: LogSystem, top: str, loud: str) -> None:
    for number in (15, 35):
        logging.addLevelName(number, loud)
        for arguments in ({"tiler": loud}, {"tiler": loud.lower()}, {"tiler": f" {loud} "}):
            system.set_logs(**arguments)
            assert system.current_state().levels[f"{top}.tiler"] == number
        system.set_logs(f"tiler:{loud}")
        assert system.current_state().levels[f"{top}.tiler"] == number


@pytest.mark.parametrize("value", [15, "15", " 15 ", "LOUD"])
def test_level_that_the_program_takes_away_is_none_any_more(system: LogSystem, value: object, loud: str) -> None:
    logging.addLevelName(15, loud)
    for _ in range(2):
        system.set_logs(tiler=value)
    del logging._levelToName[15], logging._nameToLevel[loud]
    with pytest.raises(SettingsError, match="is not a level"):
        system.set_logs(tiler=value)


def count_assemblies(top: str) -> int:
    gc.collect()
    found = [it for it in gc.get_objects() if type(it) is Assembly]  # proxies among them may raise
    return sum(f"{top}.tiler" in it.registry.loggers for it in found)


def test_what_was_registered_before_is_not_kept(system: LogSystem, top: str) -> None:
    system.set_logs(tiler="DEBUG")
    for number in range(20):
        system.register_log(f"late{number}", f"{top}.late{number}")
        system.set_logs(tiler="DEBUG")
        system.set_logs(tiler="INFO")
    assert count_assemblies(top) <= 2
    system.close()
    assert count_assemblies(top) == 0


def test_name_that_is_registered_again_means_the_new_loggers(system: LogSystem, top: str) -> None:
    system.register_log("late", f"{top}.late")
    system.set_logs(late="DEBUG")
    system.register_log("late", f"{top}.later")
    system.set_logs(late="DEBUG")
    assert dict(system.current_state().levels) == {f"{top}.later": logging.DEBUG}


def test_module_that_is_gone_is_unknown_again(system: LogSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "made_for_a_moment", types.ModuleType("made_for_a_moment"))
        system.set_logs(made_for_a_moment=10)
        system.set_logs("made_for_a_moment")
    logging.Logger.manager.loggerDict.pop("made_for_a_moment", None)
    for arguments, named in (((), {"made_for_a_moment": 10}), (("made_for_a_moment",), {})):
        with pytest.raises(SettingsError, match="unknown name"):
            system.set_logs(*arguments, **named)


def test_keyword_is_converted_each_time(make_system: SystemFactory, top: str) -> None:
    seen: list[object] = []
    keyword = Keyword("depth", int, 0, convert=lambda value: seen.append(value) or len(seen))
    system = make_system(make_names(top), make_plugin(keywords=[keyword]))
    for count in (1, 2):
        system.set_logs(tiler="DEBUG", depth=7)
        assert system.current_state().keywords["depth"] == count


@pytest.mark.parametrize(
    ("variable", "value", "found"),
    [
        ("PROBE_LOGS_STDERR", "0", lambda state: not state.outputs.stderr),
        ("PROBE_LOGS_PROPAGATE", "1", lambda state: state.outputs.propagate),
        ("PROBE_LOGS_FORMAT", "short", lambda state: state.outputs.format == "short"),
        ("PROBE_DEPTH", "4", lambda state: state.keywords["depth"] == 4),
    ],
)
def test_variable_counts_from_the_next_call_on(
    make_system: SystemFactory, top: str, variable: str, value: str, found: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = make_system(make_names(top), make_plugin(keywords=[Keyword("depth", int, 0, env_var="{prefix}_DEPTH")]))
    for _ in range(2):
        with monkeypatch.context() as patch:
            system.set_logs(tiler="DEBUG")
            assert not found(system.current_state())
            patch.setenv(variable, value)
            system.set_logs(tiler="DEBUG")
            assert found(system.current_state())


def test_variables_are_read_where_environ_is_somebody_elses(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader("PROBE")
    assembly = Assembly()

    def read() -> tuple[tuple[str, str], ...]:
        return reader.read(os.environ, assembly, "PROBE_LOGS", "PROBE_LOGS_OUT").texts.texts

    assert read() == ()
    monkeypatch.setattr(os, "environ", {**os.environ, "PROBE_LOGS": "tiler"})
    assert read() == (("PROBE_LOGS", "tiler"),)
    os.environ["PROBE_LOGS"] = "loops"
    assert read() == (("PROBE_LOGS", "loops"),)


def test_variables_of_another_assembly_or_name_are_read() -> None:
    environ = {"A": "a", "B": "b", "C": "2"}
    reader = Reader("PROBE")
    first = Assembly(env_vars=("C",))
    assert reader.read(environ, first, "A", "B").texts.variables == "A and C"
    assert reader.read(environ, first, "B", "A").texts.variables == "B and C"
    assert reader.read(environ, first, "B", "A").outputs.path == "a"
    keyword = Keyword("depth", int, 0, env_var="C")
    second = Assembly(keywords=((PluginInfo("mine"), keyword),))
    assert reader.read(environ, second, "B", "A").values == {"depth": 2}


def test_components_are_found_by_the_registry_of_the_moment(make_system: SystemFactory, top: str) -> None:
    system = make_system(make_plugin(components=[Component("tiler", [f"{top}.tiler"])]))
    system.set_logs(all=10)
    system.register_log("late", f"{top}.late")
    system.set_logs(all=10)
    assert set(system.current_state().levels) == {f"{top}.tiler", f"{top}.late"}
