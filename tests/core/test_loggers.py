"""What a state does to loggers: levels, handlers, propagation, and that everything is put back."""

from __future__ import annotations

import io
import logging
import threading

import pytest
from tests.support.systems import SystemFactory, make_names, make_plugin

from complog_core import Artifact, Component, LogSystem
from complog_core.handlers import ComplogHandler

Snapshot = dict[str, tuple[int, bool, list[logging.Handler]]]


@pytest.fixture
def system(make_system: SystemFactory, top: str) -> LogSystem:
    return make_system(make_names(top))


def ours(logger: logging.Logger) -> int:
    return sum(isinstance(handler, ComplogHandler) for handler in logger.handlers)


def snapshot(top: str) -> Snapshot:
    loggers = logging.root.manager.loggerDict
    return {
        name: (logger.level, logger.propagate, list(logger.handlers))
        for name, logger in loggers.items()
        if isinstance(logger, logging.Logger) and (name == top or name.startswith((f"{top}.", "ext_")))
    }


def test_library_touches_no_logger_until_something_is_named(system: LogSystem, top: str) -> None:
    system.getArtifactLogger(f"{top}.tiler", "costs")
    for name in ("", ".tiler", ".shared", ".fuser"):
        logging.getLogger(top + name)
    before = snapshot(top)
    system.init_logs()
    system.set_logs()
    assert snapshot(top) == before
    system.set_logs(tiler=10)
    assert snapshot(top) != before
    system.set_logs()
    assert snapshot(top) == before


def test_registered_loggers_carry_one_handler_and_do_not_propagate(system: LogSystem, top: str) -> None:
    for _ in range(3):
        system.set_logs(tiler=10)
    for name in ("", ".tiler", ".shared", ".fuser"):
        logger = logging.getLogger(top + name)
        assert ours(logger) == len(logger.handlers) == 1
        assert not logger.propagate
    assert logging.getLogger(top).level == logging.WARNING
    assert logging.getLogger(f"{top}.fuser").level == logging.NOTSET


def test_root_logger_and_foreign_handlers_are_left_alone(system: LogSystem, top: str) -> None:
    root = (logging.root.level, list(logging.root.handlers))
    foreign = logging.NullHandler()
    logger = logging.getLogger(f"{top}.tiler")
    logger.addHandler(foreign)
    system.set_logs(tiler=10)
    assert foreign in logger.handlers
    system.set_logs()
    assert logger.handlers == [foreign]
    assert (logging.root.level, logging.root.handlers) == root


def test_named_off_by_default_artifact_prints_with_its_name(
    system: LogSystem, top: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = system.getArtifactLogger(f"{top}.tiler.x", "costs")
    system.set_logs(costs=True)
    log.debug("one\ntwo")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all("] [__costs] " in line and line.startswith("V") for line in lines)


def test_unnamed_off_by_default_artifact_is_off_under_a_debug_component_but_warns(
    system: LogSystem, top: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = system.getArtifactLogger(f"{top}.tiler.x", "costs")
    system.set_logs(tiler=10)
    assert not log.isEnabledFor(logging.INFO)
    assert log.isEnabledFor(logging.WARNING)
    log.info("hidden")
    log.warning("shown")
    assert capsys.readouterr().err.count("shown\n") == 1
    system.set_logs(tiler="CRITICAL")
    assert not log.isEnabledFor(logging.ERROR)


def test_capture_that_lowers_the_level_of_a_silent_artifact_does_not_reach_the_console(
    system: LogSystem, top: str, capsys: pytest.CaptureFixture[str]
) -> None:
    quiet = system.getArtifactLogger(f"{top}.tiler.x", "costs")
    muted = system.getArtifactLogger(f"{top}.tiler.x", "tiles")
    system.set_logs(tiler=10, tiles=False)
    for log in (quiet, muted):
        log.setLevel(logging.DEBUG)
        log.info("for a capture of its own")
    quiet.warning("a warning")
    assert [line.partition("] ")[2] for line in capsys.readouterr().err.splitlines()] == ["[__costs] a warning"]


def test_level_of_a_module_between_counts_for_a_silent_artifact(system: LogSystem, top: str) -> None:
    log = system.getArtifactLogger(f"{top}.tiler.own.x", "costs")
    own = logging.getLogger(f"{top}.tiler.own")
    own.setLevel(logging.INFO)
    system.set_logs(tiler=40)
    assert log.isEnabledFor(logging.WARNING)
    own.setLevel(logging.NOTSET)
    system.set_logs(tiler=40)
    assert not log.isEnabledFor(logging.WARNING)


def test_module_is_set_with_what_its_own_code_gave_a_level_or_cut_off(
    system: LogSystem, capsys: pytest.CaptureFixture[str]
) -> None:
    leveled, cut = logging.getLogger("ext_pack.sub.leveled"), logging.getLogger("ext_pack.sub.cut.off")
    leveled.setLevel(logging.ERROR)
    cut.propagate = False
    before = snapshot("ext_pack")
    system.set_logs(modules={"ext_pack": 10})
    leveled.debug("one")
    cut.debug("two")
    assert capsys.readouterr().err.count("\n") == 2
    for before_that in ({}, {"ext_pack.sub.cut.off": 20}, {}):
        system.set_logs(modules=before_that)
        system.set_logs(modules={"ext_pack": 10})
        cut.debug("still")
    assert capsys.readouterr().err.count("still") == 3
    system.set_logs(modules={"ext_pack": 10, "ext_pack.sub.leveled": 40})
    leveled.warning("hidden")
    assert not capsys.readouterr().err
    system.set_logs()
    assert {name: snapshot("ext_pack")[name] for name in before} == before


def test_other_artifact_follows_its_component(system: LogSystem, top: str, capsys: pytest.CaptureFixture[str]) -> None:
    log = system.getArtifactLogger(f"{top}.tiler.x", "tiles")
    system.set_logs(fuser=10)
    log.debug("no")
    system.set_logs(tiler=10)
    log.debug("by level")
    system.set_logs(tiles=True)
    log.debug("by name")
    system.set_logs(tiler=10, tiles=False)
    log.critical("muted")
    assert not log.isEnabledFor(10**6)
    error = capsys.readouterr().err
    assert "by level" in error
    assert "by name" in error
    assert "no\n" not in error
    assert "muted" not in error


def test_component_off_is_silent_but_its_named_artifacts_print(
    system: LogSystem, top: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = system.getArtifactLogger(f"{top}.tiler.x", "tiles")
    system.set_logs("tiler:off,tiles")
    logging.getLogger(f"{top}.tiler.x").critical("silent")
    log.debug("printed")
    error = capsys.readouterr().err
    assert "printed" in error
    assert "silent" not in error


def test_artifact_outside_every_component_prints_when_it_is_named(
    system: LogSystem, capsys: pytest.CaptureFixture[str]
) -> None:
    log = system.getArtifactLogger("ext_out.side", "costs")
    system.set_logs(costs=True)
    log.debug("printed")
    assert capsys.readouterr().err.count("printed") == 1
    system.set_logs(tiler=10)
    log.info("hidden")
    log.warning("in the normal line")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("] [__costs] in the normal line")
    system.set_logs()
    assert not ours(log)
    assert log.propagate


@pytest.mark.parametrize("module", ["__main__", "a..b", "", "with space", "é.x", "." * 3])
def test_artifact_logger_takes_any_module_string(
    system: LogSystem, capsys: pytest.CaptureFixture[str], module: str
) -> None:
    system.set_logs(costs=True)
    system.getArtifactLogger(module, "costs").debug("printed")
    assert capsys.readouterr().err.count("printed") == 1


def test_artifact_logger_is_the_plain_logger_that_torch_would_use(system: LogSystem, top: str) -> None:
    log = system.getArtifactLogger(f"{top}.x", "tiles")
    assert type(log) is logging.Logger
    assert log.name == f"{top}.x.__tiles"
    assert log.artifact_name == "tiles"
    assert system.getArtifactLogger(f"{top}.x", "tiles") is log


@pytest.mark.parametrize("name", ["tilse", "tiler", "", "probe/tiles"])
def test_unknown_artifact_is_a_value_error(system: LogSystem, top: str, name: str) -> None:
    with pytest.raises(ValueError, match="no artifact"):
        system.getArtifactLogger(top, name)


def test_log_format_of_an_artifact(system: LogSystem, top: str, capsys: pytest.CaptureFixture[str]) -> None:
    system.set_logs(bare=True, boxed=True)
    system.getArtifactLogger(top, "bare").info("text %d", 1)
    system.getArtifactLogger(top, "boxed").info("framed")
    bare, boxed = capsys.readouterr().err.splitlines()
    assert bare == "text 1"
    assert boxed.endswith("[__boxed]| framed")


def test_module_outside_carries_our_handler_while_it_is_set(
    system: LogSystem, capsys: pytest.CaptureFixture[str]
) -> None:
    logger = logging.getLogger("ext_app.db")
    foreign = logging.StreamHandler(io.StringIO())
    parent = logging.getLogger("ext_app")
    parent.addHandler(foreign)
    logger.setLevel(logging.ERROR)
    logging.getLogger("ext_app.db.pool")
    before = snapshot("ext_app")
    system.set_logs(modules={"ext_app.db": 10, "ext_app.db.pool": 20})
    logging.getLogger("ext_app.db.later.created").debug("below")
    logging.getLogger("ext_app.db.pool").info("pool")
    logging.getLogger("ext_app.db.pool").debug("hidden")
    error = capsys.readouterr().err
    assert (error.count("below"), error.count("pool\n"), error.count("hidden")) == (1, 1, 0)
    system.set_logs()
    after = snapshot("ext_app")
    assert {name: after[name] for name in before} == before
    parent.info("again")
    logger.error("back")
    assert "back" in foreign.stream.getvalue()
    parent.removeHandler(foreign)


def test_loggers_created_later_are_covered(system: LogSystem, top: str, capsys: pytest.CaptureFixture[str]) -> None:
    system.set_logs(tiler=10)
    logging.getLogger(f"{top}.tiler.made.later").debug("covered")
    assert "covered" in capsys.readouterr().err


def test_overridden_set_level_is_called(make_system: SystemFactory, top: str) -> None:
    calls: list[int] = []
    logger = logging.getLogger(f"{top}.tiler")
    stock = logger.setLevel

    def set_level(level: int) -> None:
        calls.append(level)
        stock(level)

    logger.setLevel = set_level
    system = make_system(make_names(top))
    system.set_logs(tiler=10)
    system.set_logs(tiler=10)
    system.set_logs(tiler=20)
    assert calls == [10, 20]


def test_level_changes_reach_cached_loggers(system: LogSystem, top: str) -> None:
    deep = logging.getLogger(f"{top}.tiler.deep.er")
    art = system.getArtifactLogger(f"{top}.tiler.deep", "tiles")
    for level in (10, 40, 20, 10):
        system.set_logs(tiler=level)
        assert [deep.isEnabledFor(probe) for probe in (10, 20, 40)] == [level <= probe for probe in (10, 20, 40)]
        assert art.isEnabledFor(10) == (level <= 10)


def test_foreign_capture_sees_each_record_once(
    system: LogSystem, top: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    foreign = logging.StreamHandler(stream)
    logging.root.addHandler(foreign)
    try:
        system.set_logs(tiler=10)
        logging.getLogger(f"{top}.tiler").info("first")
        assert stream.getvalue() == ""
        monkeypatch.setenv("PROBE_LOGS_PROPAGATE", "1")
        system.init_logs()
        logging.getLogger(f"{top}.tiler").info("second")
        assert stream.getvalue() == "second\n"
    finally:
        logging.root.removeHandler(foreign)
    error = capsys.readouterr().err
    assert (error.count("first"), error.count("second")) == (1, 1)


def test_registration_at_run_time_is_applied_at_once(
    system: LogSystem, top: str, capsys: pytest.CaptureFixture[str]
) -> None:
    system.set_logs(tiler=10, tiles=True)
    system.register_log("late", [f"{top}.late", "ext_late"])
    system.register_artifact("extra", "late one", off_by_default=True)
    assert {"late", "extra"} <= set(system.registry.names())
    assert ours(logging.getLogger("ext_late")) == 1
    assert logging.getLogger("ext_late").level == logging.WARNING
    assert not system.getArtifactLogger("ext_late", "extra").isEnabledFor(20)
    with system.logs(late=10, extra=True):
        logging.getLogger(f"{top}.late.x").debug("deep")
        system.getArtifactLogger("ext_late", "extra").debug("extra")
    assert capsys.readouterr().err.count("\n") == 2


def test_registering_again_never_raises_and_the_last_one_holds(
    system: LogSystem, top: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        system.register_log("late", f"{top}.one")
    assert not capsys.readouterr().err
    system.register_log("late", f"{top}.two")
    system.register_artifact("extra")
    system.register_artifact("extra", off_by_default=True)
    assert capsys.readouterr().err.count("registered again") == 2
    system.set_logs(late=10)
    assert system.current_state().levels == {f"{top}.two": 10}


@pytest.mark.parametrize("name", ["all", "help", "off", "a-b", "", "1"])
def test_name_that_cannot_be_registered_is_a_value_error(system: LogSystem, name: str) -> None:
    with pytest.raises(ValueError, match=r"name|reserved"):
        system.register_log(name, "ext_x")
    with pytest.raises(ValueError, match=r"name|reserved"):
        system.register_artifact(name)


def test_threads_lose_and_double_nothing_while_settings_change(make_system: SystemFactory, top: str) -> None:
    class Keep(logging.Handler):
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[str] = []

        def emit(self, record: logging.LogRecord) -> None:
            self.seen.append(record.getMessage())

    keep = Keep()
    system = make_system(
        make_plugin(
            components=[Component("lib", [top])], artifacts=[Artifact("tiles")], handlers=lambda outputs: [keep]
        )
    )
    logging.getLogger(f"{top}.deep.worker0")
    system.set_logs(lib="INFO", modules={f"{top}.deep": 10})
    stop = threading.Event()
    sent: list[list[str]] = []

    def work(number: int) -> None:
        mine: list[str] = []
        sent.append(mine)
        logger = logging.getLogger(f"{top}.deep.worker{number}")
        while not stop.is_set():
            text = f"{number}/{len(mine)}"
            mine.append(text)
            logger.info(text)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for round_ in range(150):
        system.set_logs(lib="INFO" if round_ % 2 else "DEBUG", modules={f"{top}.deep": 10, f"{top}.deep.worker0": 20})
        system.set_logs(lib="INFO", tiles=True)
        system.register_log(f"part{round_ % 7}", [f"{top}.deep.worker1"] if round_ % 2 else [f"{top}.deep"])
    stop.set()
    for thread in threads:
        thread.join()
    expected = sorted(text for mine in sent for text in mine)
    assert len(expected) > 300
    assert sorted(keep.seen) == expected
