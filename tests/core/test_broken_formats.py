"""What is wrong with a format: the plugin's faults are warnings that name it, the user's an error of its own kind."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from tests.support.systems import SystemFactory, make_plugin, make_system, top

from complog_core import Component, FormatError, LogSystem, PluginError, SettingsError
from complog_core.faults import _causes

__all__ = ["make_system", "top"]


def make_names_and(make: SystemFactory, top: str, *more: object) -> LogSystem:
    return make(make_plugin(components=[Component("lib", [top])]), *more)


def leave() -> logging.Formatter:
    raise SystemExit(3)


class Unbindable(logging.Formatter):
    def bind(self, fields: object) -> None:
        raise AssertionError


class Componentless(logging.Formatter):
    def bind_components(self, find: object) -> None:
        raise RuntimeError


BROKEN: list[Any] = [leave, lambda: 1 / 0, lambda: None, lambda: "%(message)s", Unbindable, Componentless]


@pytest.fixture
def broken(request: pytest.FixtureRequest, make_system: SystemFactory, top: str) -> LogSystem:
    _causes.clear()
    return make_names_and(make_system, top, make_plugin(formatters={"mine": request.param}))


@pytest.mark.parametrize("broken", BROKEN, indirect=True)
def test_broken_factory_is_one_warning_that_names_the_plugin_and_the_default_line(
    broken: LogSystem, top: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROBE_LOGS_FORMAT", "mine")
    broken.init_logs(strict=True)
    for level in ("INFO", "DEBUG"):
        broken.set_logs(lib=level)
        logging.getLogger(f"{top}.x").info("text")
    warning, *lines = capsys.readouterr().err.splitlines()
    assert warning.startswith("complog: warning: ")
    assert "[Plugin" in warning
    assert "the format 'mine' of " in warning
    assert [line.endswith("] text") for line in lines] == [True, True]
    assert broken.current_state().outputs.format is None
    assert [info.status for info in broken.list_plugins()].count("failed") == 1


@pytest.mark.parametrize("broken", BROKEN[:2], indirect=True)
def test_broken_factory_is_an_error_where_plugins_are_strict(
    broken: LogSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPLOG_STRICT_PLUGINS", "1")
    monkeypatch.setenv("PROBE_LOGS_FORMAT", "mine")
    with pytest.raises(PluginError, match="the format 'mine' of "):
        broken.set_logs(lib="INFO")


def test_broken_factory_that_nobody_chose_costs_nothing(
    make_system: SystemFactory, top: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_names_and(make_system, top, make_plugin(formatters={"mine": leave})).set_logs(lib="INFO")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("answer", [5, ZeroDivisionError, SystemExit, "each differs"])
def test_formatter_that_fails_for_records_is_one_warning_that_names_the_plugin(
    make_system: SystemFactory,
    top: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: Any,
) -> None:
    class Failing(logging.Formatter):
        count = 0

        def format(self, record: logging.LogRecord) -> Any:
            self.count += 1
            if answer == "each differs":
                raise ValueError(f"number {self.count}")
            if isinstance(answer, type):
                raise answer
            return answer

    _causes.clear()
    system = make_names_and(make_system, top, make_plugin(formatters={"mine": Failing}))
    monkeypatch.setenv("PROBE_LOGS_FORMAT", "mine")
    system.set_logs(lib="INFO")
    for _ in range(3):
        logging.getLogger(f"{top}.x").info("text")
    lines = capsys.readouterr().err.splitlines()
    warnings = [line for line in lines if line.startswith("complog: warning")]
    assert len(warnings) == 1
    assert "[Plugin" in warnings[0]
    assert "the formatter " in warnings[0]
    assert lines.count(f"INFO:{top}.x:text") == 3


@pytest.mark.parametrize(
    ("variables", "kind"),
    [
        ({"FORMAT": "%(nope)s"}, "FormatError"),
        ({"FORMAT": "%(nope)s %(neither)s"}, "FormatError"),
        ({"OUT": "/dev/null/x"}, "OutputError"),
        ({"FORMAT": "%(nope)s", "OUT": "/dev/null/x"}, "SettingsError"),
        ({"FORMAT": "%(nope)s", "": "lib,unknown_name"}, "SettingsError"),
        ({"FORMAT": "%(nope)s", "STDERR": "perhaps"}, "SettingsError"),
    ],
)
def test_error_is_of_the_kind_of_its_problems(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], kind: str
) -> None:
    monkeypatch.setenv("PROBE_LOGS", "lib")
    for name, value in variables.items():
        monkeypatch.setenv(f"PROBE_LOGS_{name}" if name else "PROBE_LOGS", value)
    system = make_names_and(make_system, top)
    with pytest.raises(SettingsError) as caught:
        system.init_logs(strict=True)
    assert type(caught.value).__name__ == kind
    assert len(caught.value.problems) == (2 if len(variables) == 2 or "neither" in variables.get("FORMAT", "") else 1)


def test_set_logs_warns_of_a_bad_format_in_the_variable_and_does_its_work(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROBE_LOGS_FORMAT", "%(nope)s")
    system = make_names_and(make_system, top)
    system.set_logs(lib="DEBUG")
    assert logging.getLogger(top).level == logging.DEBUG
    assert "PROBE_LOGS_FORMAT: '%(nope)s'" in capsys.readouterr().err
    assert issubclass(FormatError, SettingsError)
