"""What docs/hooks.md says about errors is so: a hook that fails costs what the page says, and nothing else."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import pytest
from tests.support.systems import SystemFactory, make_plugin, make_system, top

from complog_core import Artifact, Component, Field, Keyword, PluginError

__all__ = ["make_system", "top"]

LOADED = {
    "components": [Component("", ["x"])],
    "artifacts": [Artifact("all")],
    "keywords": [Keyword("a b")],
    "formatters": {"brief": 1},
    "env_vars": "PROBE_MORE",
}


def boom(*arguments: object, **keywords: object) -> NoReturn:
    raise RuntimeError("boom")


def leave() -> NoReturn:
    raise SystemExit(3)


@pytest.mark.parametrize("hook", LOADED)
@pytest.mark.parametrize("fault", ["wrong", "raises", "leaves"])
def test_fault_in_a_hook_that_runs_at_loading_fails_the_whole_plugin(
    make_system: SystemFactory, capsys: pytest.CaptureFixture[str], hook: str, fault: str
) -> None:
    value: dict[str, object] = {"wrong": LOADED[hook], "raises": boom, "leaves": leave}
    hooks: dict[str, Any] = {"artifacts": [Artifact("tiles")], hook: value[fault]}
    system = make_system(make_plugin(**hooks), make_plugin(artifacts=[Artifact("costs")]))
    assert system.registry.names() == ("costs",)
    assert [plugin.status for plugin in system.list_plugins()][1:] == ["failed", "loaded"]
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("complog: warning: ")
    assert f"complog_{hook}()" in line


def test_strict_plugins_make_a_fault_an_error(make_system: SystemFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    system = make_system(make_plugin(components=boom))
    monkeypatch.setenv("COMPLOG_STRICT_PLUGINS", "1")
    with pytest.raises(PluginError, match="boom"):
        system.current_state()


def log_one(system: Any, top: str) -> None:
    with system.logs(**{top: "INFO"}):
        logging.getLogger(f"{top}.x").info("text")


LATER: dict[str, tuple[object, object]] = {
    "handlers": (lambda outputs: ["no handler"], lambda outputs: boom()),
    "filters": (lambda: ["no function"], boom),
    "record_fields": (lambda: ["no field"], boom),
    "console_painters": (lambda outputs: ["no function"], lambda outputs: boom()),
    "trace_listeners": (lambda: ["no function"], boom),
}


@pytest.mark.parametrize("hook", LATER)
@pytest.mark.parametrize("fault", ["wrong", "raises"])
def test_fault_in_a_hook_that_runs_at_each_change_is_one_warning_and_the_record_comes_out(
    make_system: SystemFactory, capsys: pytest.CaptureFixture[str], top: str, hook: str, fault: str
) -> None:
    hooks: dict[str, Any] = {"components": [Component(top, [top])], hook: LATER[hook][fault == "raises"]}
    system = make_system(make_plugin(**hooks))
    log_one(system, top)
    log_one(system, top)
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith("complog: warning: ") for line in lines].count(True) == 1
    assert f"complog_{hook}" in lines[0]
    assert [line.endswith("] text") for line in lines[1:]] == [True, True]


class Raising(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        raise RuntimeError("boom")


AT_RECORDS: dict[str, Callable[..., Iterable[object]]] = {
    "handlers": lambda outputs: [Raising()],
    "filters": lambda: [boom],
    "record_fields": lambda: [Field("broken", "head", boom)],
}


@pytest.mark.parametrize("hook", AT_RECORDS)
def test_what_a_contribution_raises_for_a_record_is_a_warning_and_the_record_comes_out(
    make_system: SystemFactory, capsys: pytest.CaptureFixture[str], top: str, hook: str
) -> None:
    hooks: dict[str, Any] = {"components": [Component(top, [top])], hook: AT_RECORDS[hook]}
    log_one(make_system(make_plugin(**hooks)), top)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert sum(line.startswith("complog: warning: ") and "boom" in line for line in lines) == 1
    assert sum(line.endswith("] text") for line in lines) == 1


def test_state_changed_that_raises_or_sets_logs_disturbs_neither_caller_nor_next_observer(
    make_system: SystemFactory, capsys: pytest.CaptureFixture[str], top: str
) -> None:
    told: list[int] = []
    systems: list[Any] = []
    systems += [
        make_system(
            make_plugin(components=[Component(top, [top])]),
            make_plugin(state_changed=lambda state: systems[0].set_logs(all="DEBUG")),
            make_plugin(state_changed=boom),
            make_plugin(state_changed=lambda state: told.append(state.level(top))),
        )
    ]
    systems[0].set_logs(modules={top: "INFO"})
    assert told[-1] == logging.INFO
    assert "RuntimeError: complog_state_changed may not call set_logs" in capsys.readouterr().err


def test_awaits_names_lets_names_of_variables_wait_and_no_others(
    make_system: SystemFactory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], top: str
) -> None:
    monkeypatch.setenv("PROBE_LOGS", "+later_name")
    system = make_system(make_plugin(awaits_names="the library is not loaded"))
    assert system.current_state().pending == ("+later_name",)
    with pytest.raises(ValueError, match="later_name"):
        system.set_logs(later_name="DEBUG")
    system.register_log("later_name", top)
    state = system.current_state()
    assert (state.pending, state.level(top)) == ((), logging.DEBUG)
    assert not capsys.readouterr().err.count("unknown")


@pytest.mark.parametrize("answer", [None, boom])
def test_awaits_names_that_says_nothing_or_raises_lets_nothing_wait(
    make_system: SystemFactory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answer: object
) -> None:
    monkeypatch.setenv("PROBE_LOGS", "+later_name")
    assert make_system(make_plugin(awaits_names=answer)).current_state().pending == ()
    warnings = capsys.readouterr().err.splitlines()
    assert sum("unknown name" in line for line in warnings) == 1
    assert sum("boom" in line for line in warnings) == (answer is boom)


@pytest.mark.parametrize(("given", "notes"), [(["half of it is off"], ("half of it is off",)), (boom, ())])
def test_plugin_notes_are_listed_with_the_plugin(
    make_system: SystemFactory, capsys: pytest.CaptureFixture[str], given: object, notes: tuple[str, ...]
) -> None:
    system = make_system(make_plugin(plugin_notes=given))
    assert system.list_plugins()[-1].notes == notes
    assert capsys.readouterr().err.count("raised RuntimeError: boom") == (given is boom)


def test_keyword_that_another_plugin_has_fails_the_later_one(
    make_system: SystemFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    make = make_system(
        make_plugin(keywords=[Keyword("depth", int, 1)]),
        make_plugin(keywords=[Keyword("depth", int, 2)], artifacts=[Artifact("tiles")]),
    )
    assert [plugin.status for plugin in make.list_plugins()][1:] == ["loaded", "failed"]
    assert make.registry.names() == ()
    assert "the keyword 'depth' belongs to" in capsys.readouterr().err


def test_variable_of_a_keyword_has_precedence_over_its_argument(
    make_system: SystemFactory, monkeypatch: pytest.MonkeyPatch, top: str
) -> None:
    applied: list[object] = []
    keyword = Keyword("depth", int, 1, env_var="{prefix}_LOGS_DEPTH", apply=applied.append)
    system = make_system(make_plugin(components=[Component(top, [top])], keywords=[keyword]))
    system.set_logs(modules={top: "INFO"}, depth=2)
    monkeypatch.setitem(os.environ, "PROBE_LOGS_DEPTH", "3")
    system.set_logs(modules={top: "INFO"}, depth=2)
    assert applied[-2:] == [2, 3]
