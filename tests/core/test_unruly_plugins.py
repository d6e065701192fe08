"""Plugins that call back, exit, clash or come too late cost the host nothing but a warning that names them."""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.systems import SystemFactory, make_names, make_plugin

from complog_core import Artifact, Component, Field, Keyword, LogSystem, PluginError
from complog_core.faults import _causes


@pytest.fixture(autouse=True)
def _forget_faults() -> None:
    _causes.clear()


def exiting(*arguments: Any, **named: Any) -> Any:
    raise SystemExit(3)


class ExitingHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        raise SystemExit(4)


def exit_on_state(state: Any) -> None:
    raise SystemExit(5)


def exit_on_outputs(outputs: Any) -> Any:
    raise SystemExit(6)


def exit_in_a_generator() -> Any:
    yield from ()
    raise SystemExit(7)


PLUGINS: dict[str, dict[str, Any]] = {
    "filters": {"filters": exit_in_a_generator},
    "a filter": {"filters": [exiting]},
    "a field": {"record_fields": [Field("f", "head", exiting)]},
    "handlers": {"handlers": exit_on_outputs},
    "a handler": {"handlers": lambda outputs: [ExitingHandler()]},
    "an observer": {"state_changed": exit_on_state},
    "a keyword's apply": {"keywords": [Keyword("depth", int, 3, apply=exiting)]},
    "a raising filter": {"filters": [lambda record: 1 / 0]},
    "plugin notes": {"plugin_notes": exit_in_a_generator},
    "awaits names": {"awaits_names": exit_in_a_generator},
}


@pytest.mark.parametrize("name", PLUGINS)
def test_exit_in_a_hook_is_one_warning_that_names_the_plugin(
    make_system: SystemFactory, top: str, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    system = make_system(make_names(top), make_plugin(**PLUGINS[name]))
    system.set_logs(tiler=10)
    system.set_logs(tiler=20)
    for _ in range(3):
        logging.getLogger(f"{top}.tiler").warning("printed")
    infos = system.list_plugins()
    error = capsys.readouterr().err
    assert error.count("printed\n") == 3
    warnings = [line for line in error.splitlines() if line.startswith("complog: warning")]
    if name == "awaits names":
        return
    assert len(warnings) == 1, warnings
    assert "[Plugin" in warnings[0]
    assert [info.status for info in infos].count("failed") == 1


def test_fault_of_a_hook_is_an_error_where_plugins_are_strict(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPLOG_STRICT_PLUGINS", "1")
    system = make_system(make_names(top), make_plugin(filters=exit_in_a_generator))
    with pytest.raises(PluginError, match="complog_filters"):
        system.set_logs(tiler=10)


CALLS: dict[str, Callable[[LogSystem], object]] = {
    "register": lambda system: system.register_artifact("dynamic", "made in a hook"),
    "registers anew each time": lambda system: system.register_artifact("dynamic", str(object())),
    "set_logs": lambda system: system.set_logs(tiler=10),
    "init_logs": lambda system: system.init_logs(),
    "reads": lambda system: (system.current_state(), system.is_enabled("tiles"), system.help_message()),
    "logger": lambda system: system.getArtifactLogger("elsewhere", "tiles"),
}


@pytest.mark.parametrize("hook", ["filters", "record_fields", "components", "handlers"])
@pytest.mark.parametrize("call", CALLS)
def test_hook_that_calls_its_system_back_neither_hangs_nor_harms(
    make_system: SystemFactory, top: str, hook: str, call: str
) -> None:
    system: Any = None

    def calling(outputs: Any = None) -> list[Any]:
        CALLS[call](system)
        return []

    def without_arguments() -> list[Any]:
        return calling()

    plugin = make_plugin(**{hook: calling if hook == "handlers" else without_arguments})
    system = make_system(plugin, make_names(top))
    done = threading.Event()

    def use() -> None:
        system.set_logs(tiles=True)
        done.set()

    thread = threading.Thread(target=use, daemon=True)
    thread.start()
    assert done.wait(20)
    assert {"tiler", "tiles"} <= set(system.registry.names())
    assert system.is_enabled("tiles")


@pytest.mark.parametrize("value", [5, "x", None, [1], {1: 2}])
def test_foreign_keyword_called_ranks_means_nothing_to_the_core(
    make_system: SystemFactory, top: str, value: Any
) -> None:
    system = make_system(make_names(top), make_plugin(keywords=[Keyword("ranks", object, value)]))
    system.set_logs(tiler=10)
    assert system.current_state().outputs.ranks is None


def test_keyword_takes_only_the_one_name_it_needs(
    make_system: SystemFactory, top: str, capsys: pytest.CaptureFixture[str]
) -> None:
    system = make_system(make_names(top), make_plugin(keywords=[Keyword("tiler", int, 3)]))
    assert system.registry.names() == ("bare", "boxed", "costs", "fuser", "lib", "tiles")
    assert "'tiler' is reserved" in capsys.readouterr().err
    assert all(info.status == "loaded" for info in system.list_plugins())


def test_one_plugin_cannot_use_a_name_for_both_kinds(
    make_system: SystemFactory, top: str, capsys: pytest.CaptureFixture[str]
) -> None:
    system = make_system(make_plugin(components=[Component("x", [top])], artifacts=[Artifact("x")]))
    assert system.list_plugins()[-1].status == "failed"
    system.register_log("y", f"{top}.y")
    with pytest.raises(ValueError, match="other kind"):
        system.register_artifact("y")
    assert "a component and an artifact" in capsys.readouterr().err


def test_system_that_changed_loggers_lives_until_it_puts_them_back(top: str) -> None:
    LogSystem("KEPT", plugins=[make_names(top)]).set_logs(tiler=10)
    gc.collect()
    logger = logging.getLogger(f"{top}.tiler")
    assert logger.level == 10
    assert len(logger.handlers) == 1
    system: LogSystem = logger.handlers[0].sink and next(s for s in _active_systems() if s.prefix == "KEPT")
    system.close()
    assert (logger.level, logger.handlers, logger.propagate) == (0, [], True)
    assert not [s for s in _active_systems() if s.prefix == "KEPT"]


def _active_systems() -> list[Any]:
    from complog_core import configurator

    return list(configurator._active)


def test_module_belongs_to_one_system_while_it_is_set(make_system: SystemFactory) -> None:
    logging.getLogger("ext_shared.x")
    one, two = make_system(prefix="ONE"), make_system(prefix="TWO")
    one.set_logs(modules={"ext_shared": 10})
    for module in ("ext_shared", "ext_shared.x"):
        with pytest.raises(ValueError, match="ONE_LOGS"):
            two.set_logs(modules={module: 20})
    one.set_logs()
    two.set_logs(modules={"ext_shared": 20})
    assert logging.getLogger("ext_shared").level == 20
    two.set_logs()
    logger = logging.getLogger("ext_shared")
    assert (logger.level, logger.handlers, logger.propagate) == (0, [], True)


def test_late_registration_leaves_alone_what_the_program_did_to_loggers(make_system: SystemFactory, top: str) -> None:
    system = make_system(make_names(top))
    system.set_logs(tiler=20)
    logger = logging.getLogger(f"{top}.tiler")
    logger.setLevel(10)
    system.register_artifact("later")
    assert logger.level == 10
    system.set_logs(tiler=20)
    assert logger.level == 20


def test_set_level_that_raises_is_a_warning(
    make_system: SystemFactory, top: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(level: int) -> None:
        raise RuntimeError("no levels here")

    logging.getLogger(f"{top}.tiler").setLevel = broken
    system = make_system(make_names(top))
    system.set_logs(tiler=10, fuser=20)
    assert logging.getLogger(f"{top}.fuser").level == 20
    assert "no levels here" in capsys.readouterr().err


def test_level_set_for_an_artifact_logger_as_a_module_stays(make_system: SystemFactory, top: str) -> None:
    logging.getLogger(f"{top}.m.__costs")
    system = make_system(make_names(top))
    system.set_logs(modules={f"{top}.m.__costs": 10})
    assert system.getArtifactLogger(f"{top}.m", "costs").level == 10
    system.set_logs(modules={f"{top}.m.__costs": 10})
    assert logging.getLogger(f"{top}.m.__costs").level == 10


def test_logger_that_two_owners_artifacts_share_is_on_if_either_is(make_system: SystemFactory) -> None:
    class One:
        complog_artifacts = make_plugin(artifacts=[Artifact("shared", off_by_default=True)]).complog_artifacts

    class Two:
        complog_artifacts = make_plugin(artifacts=[Artifact("shared")]).complog_artifacts

    system = make_system(One, Two)
    first = system.getArtifactLogger("ext_two", "One/shared")
    second = system.getArtifactLogger("ext_two", "Two/shared")
    assert first is second
    for name in ("One/shared", "Two/shared"):
        system.set_logs(name)
        assert first.isEnabledFor(10)


def test_handler_that_logs_ends(make_system: SystemFactory, top: str, capsys: pytest.CaptureFixture[str]) -> None:
    class Chatty(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            logging.getLogger(f"{top}.tiler").warning("again")

    system = make_system(make_names(top), make_plugin(handlers=lambda outputs: [Chatty()]))
    system.set_logs(tiler=10)
    logging.getLogger(f"{top}.tiler").warning("first")
    assert capsys.readouterr().err.count("\n") < 12


def test_thousands_of_registrations_are_taken_in_one_by_one(make_system: SystemFactory, top: str) -> None:
    system = make_system(make_names(top))
    system.set_logs(tiler=10)
    for number in range(600):
        system.register_log(f"name{number}", f"{top}many{number}")
        system.register_artifact(f"art{number}", off_by_default=True)
    logger = logging.getLogger(f"{top}many599")
    assert len(logger.handlers) == 1
    assert logger.level == logging.WARNING
    assert not system.getArtifactLogger(f"{top}many599", "art599").isEnabledFor(20)
    system.set_logs(name599=10, art599=True)
    assert logger.level == 10
    assert len(system.registry.names()) == 1207
