"""The arguments of set_logs: what each kind of name takes, and that a bad call changes nothing."""

from __future__ import annotations

import inspect
import logging
from contextlib import suppress
from typing import Any

import pytest
from tests.support.systems import SystemFactory, make_names, make_plugin

from complog_core import OFF, HelpRequested, Keyword, LogSystem, SettingsError


@pytest.fixture
def system(make_system: SystemFactory, top: str) -> LogSystem:
    return make_system(make_names(top))


@pytest.mark.parametrize(
    ("value", "level"),
    [(10, 10), ("DEBUG", 10), ("warning", 30), (logging.CRITICAL, 50), ("off", OFF), ("10", 10), (0, 0), ("NotSet", 0)],
)
def test_component_takes_a_level(system: LogSystem, top: str, value: Any, level: int) -> None:
    system.set_logs(tiler=value)
    assert system.current_state().levels[f"{top}.tiler"] == level


def test_artifact_is_three_valued(system: LogSystem) -> None:
    system.set_logs(tiles=True, costs=False, bare=None)
    state = system.current_state()
    assert state.artifacts["tiles"] is True
    assert state.artifacts["costs"] is False
    assert "bare" not in state.artifacts
    assert (system.is_enabled("tiles"), system.is_enabled("costs"), system.is_enabled("bare")) == (True, False, False)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"tiler": True}, "bool"),
        ({"tiler": "loud"}, "not a level"),
        ({"tiler": 15}, "not a level"),
        ({"tiler": 1.5}, "not a level"),
        ({"tiles": 10}, "takes True or False"),
        ({"tiles": "on"}, "takes True or False"),
        ({"all": True}, "bool"),
        ({"nothing_of_that_name": True}, "unknown name"),
        ({"nothing_of_that_name": 10}, "unknown name"),
        ({"modules": {"json.tool": True}}, "bool"),
        ({"modules": {"json": False}}, "bool"),
        ({"modules": {"json.nothing": 10}}, "unknown name"),
        ({"modules": {"tiles": 10}}, "takes True or False"),
        ({"modules": {"tiler": 10}, "tiler": 20}, "given twice"),
        ({"modules": {"probe/x": 10}}, "unknown name"),
        ({"modules": {3: 10}}, "must be a str"),
        ({"modules": ["json"]}, "not a mapping"),
        ({"help": True}, "unknown name"),
    ],
)
def test_bad_argument_is_a_value_error_and_changes_nothing(
    system: LogSystem, top: str, arguments: dict[str, Any], reason: str
) -> None:
    system.set_logs(fuser=20, tiles=True)
    before = system.current_state()
    with pytest.raises(ValueError, match=reason):
        system.set_logs(**arguments)
    assert system.current_state() == before
    assert logging.getLogger(f"{top}.fuser").level == 20


def test_every_bad_argument_is_reported_at_once(system: LogSystem) -> None:
    with pytest.raises(SettingsError) as caught:
        system.set_logs("+nope,,tiler", tiles=1, fuser="x", modules={"nada.x": 10})
    assert len(caught.value.problems) == 5


def test_unknown_name_lists_the_nearest(system: LogSystem) -> None:
    with pytest.raises(ValueError, match=r"nearest.*tiler"):
        system.set_logs(tilre=10)


def test_settings_text_is_the_positional_argument(system: LogSystem, top: str) -> None:
    system.set_logs("+tiler,costs,tiles:off")
    state = system.current_state()
    assert state.levels[f"{top}.tiler"] == 10
    assert state.artifacts["costs"] is True
    assert state.artifacts["tiles"] is False


def test_text_and_keyword_for_the_same_name_is_given_twice(system: LogSystem) -> None:
    with pytest.raises(ValueError, match="given twice"):
        system.set_logs("+tiler", tiler=20)


def test_help_in_the_text_raises_the_help_page(system: LogSystem) -> None:
    with pytest.raises(HelpRequested, match="tiles"):
        system.set_logs("help")
    with pytest.raises(ValueError, match="costs"):
        system.set_logs("+help")


def test_modules_takes_registered_names_too(system: LogSystem, top: str) -> None:
    system.set_logs(modules={"tiler": "INFO", "tiles": True, "json.tool": 10})
    state = system.current_state()
    assert (state.levels[f"{top}.tiler"], state.artifacts["tiles"], state.levels["json.tool"]) == (20, True, 10)


def test_set_logs_replaces_the_whole_previous_state(system: LogSystem, top: str) -> None:
    system.set_logs(tiler=10, tiles=True)
    system.set_logs(fuser=20)
    assert system.current_state().levels == {f"{top}.fuser": 20, f"{top}.shared": 20}
    assert not system.current_state().artifacts
    assert logging.getLogger(f"{top}.tiler").level == logging.NOTSET


def test_later_keyword_wins_for_a_shared_logger(system: LogSystem, top: str) -> None:
    system.set_logs(tiler=10, fuser=20)
    assert system.current_state().levels[f"{top}.shared"] == 20
    system.set_logs(fuser=20, tiler=10)
    assert system.current_state().levels[f"{top}.shared"] == 10


def test_signature_and_docstring_carry_every_name(system: LogSystem) -> None:
    system.current_state()
    parameters = inspect.signature(system.set_logs).parameters
    assert list(parameters)[:3] == ["settings", "all", "modules"]
    assert {"lib", "tiler", "tiles", "costs", "bare", "boxed"} <= set(parameters)
    for name in ("tiler", "tiles", "costs"):
        assert name in (system.set_logs.__doc__ or "")


def test_name_that_is_no_parameter_name_works_through_names(make_system: SystemFactory, top: str) -> None:
    from complog_core import Artifact, Component

    plugin = make_plugin(
        components=[Component("a.b", [top]), Component("class", [f"{top}.c"])], artifacts=[Artifact("x.y")]
    )
    system = make_system(plugin)
    system.set_logs(**{"a.b": 10, "x.y": True, "class": 20})
    assert system.current_state().levels == {top: 10, f"{top}.c": 20}
    assert system.is_enabled("x.y")


def test_logs_restores_the_exact_state_nested_and_on_exceptions(system: LogSystem) -> None:
    system.set_logs(tiler=10)
    states = [system.current_state()]
    with system.logs(tiles=True):
        states.append(system.current_state())
        with suppress(KeyError), system.logs(fuser="ERROR", costs=True):
            assert system.is_enabled("costs")
            raise KeyError("inside")
        assert system.current_state() == states[1]
    assert system.current_state() == states[0]


def test_logs_with_a_bad_argument_raises_before_the_block(system: LogSystem) -> None:
    entered = False
    with pytest.raises(ValueError, match="unknown"), system.logs(nope=10):
        entered = True
    assert not entered


def test_contributed_keyword_is_converted_applied_and_reset(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    keyword = Keyword("depth", int, 3, "how deep", "{prefix}_LOGS_DEPTH", seen.append)
    system = make_system(make_names(top), make_plugin(keywords=[keyword]))
    system.set_logs(depth=5, tiler=10)
    assert system.current_state().keywords["depth"] == 5
    assert seen[-1] == 5
    with pytest.raises(ValueError, match="depth"):
        system.set_logs(depth="x")
    assert seen[-1] == 5
    monkeypatch.setenv("PROBE_LOGS_DEPTH", "7")
    system.set_logs(depth=5, tiler=10)
    assert system.current_state().keywords["depth"] == 7
    monkeypatch.delenv("PROBE_LOGS_DEPTH")
    system.set_logs(tiler=10)
    assert seen[-1] == 3
    assert "depth" in inspect.signature(system.set_logs).parameters
