"""A change of settings brings every logger to its target, whatever the program has done to it since the last one."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.test_planning import ARTIFACTS, PLACES, STEPS, _tops, make_system, plan_afresh, take, watch

from complog_core import LogSystem
from complog_core.handlers import ComplogHandler

LOGGERS = st.sampled_from([*PLACES, *[f"{place}.__{artifact}" for place in PLACES[:4] for artifact in ARTIFACTS[:2]]])
DEEDS = st.tuples(
    st.sampled_from(["level", "write", "cut", "join", "strip", "replace", "lend", "threshold", "remove", "block"]),
    LOGGERS,
)
FOREIGN = logging.NullHandler()


def interfere(system: LogSystem, top: str, deed: tuple[str, str]) -> None:
    """Do to a logger what programs and libraries do."""
    what, place = deed
    name = f"{top}{place}"
    logger = logging.getLogger(name)
    if what == "level":
        logger.setLevel(logging.CRITICAL)
    elif what == "write":
        logger.level = logging.INFO
    elif what in ("cut", "join"):
        logger.propagate = what == "join"
    elif what == "strip":
        for handler in list(logger.handlers):
            logger.removeHandler(handler)
    elif what == "replace":
        logger.handlers = []
    elif what == "lend":
        logger.handlers.insert(0, FOREIGN)
    elif what == "threshold":
        for handler in logger.handlers:
            handler.setLevel(logging.ERROR)
    elif what == "remove":
        logging.Logger.manager.loggerDict.pop(name)
    else:
        with system.logs(lib="INFO", loops=True):
            pass


@settings(deadline=None)
@given(st.lists(st.one_of(STEPS, DEEDS), min_size=1, max_size=15), st.booleans())
def test_every_logger_is_brought_to_its_target(steps: list[tuple[Any, ...]], twice: bool) -> None:
    top = f"drifted{next(_tops)}"
    system = make_system(top)
    watch(system)
    try:
        for place in PLACES[:4]:
            for artifact in ARTIFACTS[:2]:
                system.getArtifactLogger(f"{top}{place}", artifact)
        system.set_logs()
        for number, step in enumerate(steps):
            if len(step) == 2:
                interfere(system, top, step)
            else:
                take(system, top, step, number)
                if step[0] == "set":
                    check(system)
        for _ in range(1 + twice):
            system.set_logs(tiler="INFO")
            check(system)
    finally:
        system.close()


def check(system: LogSystem) -> None:
    configuration = system._configuration
    assert configuration is not None
    assert system._applier.targets == (plan_afresh(system) if configuration.names_something else {})
    for name, target in system._applier.targets.items():
        logger = logging.getLogger(name)
        assert (logger.level, logger.propagate) == (target.level, not target.carries), name
        own = [handler for handler in logger.handlers if isinstance(handler, ComplogHandler)]
        assert [handler.level for handler in own] == ([target.threshold] if target.carries else []), name


def test_logger_that_is_set_again_is_set_as_it_was() -> None:
    top = f"drifted{next(_tops)}"
    system = make_system(top)
    logger = logging.getLogger(f"{top}.tiler")
    try:
        for number in range(9):
            settings = ({"tiler": "INFO"}, {}, {"loops": True})[number % 3]
            system.set_logs(**settings)
            is_set = "tiler" in settings
            assert (logger.level, logger.propagate) == (logging.INFO if is_set else logging.NOTSET, not logger.handlers)
            assert bool(logger.handlers) == bool(settings)
    finally:
        system.close()


def test_logger_that_calls_itself_otherwise_is_brought_to_its_target() -> None:
    top = f"drifted{next(_tops)}"
    system = make_system(top)
    logger = logging.getLogger(f"{top}.tiler")
    logger.name = "short"
    try:
        for level in (logging.INFO, logging.DEBUG) * 3:
            system.set_logs(tiler=level)
            assert logger.level == level
        system.set_logs()
        assert logger.level == logging.NOTSET
    finally:
        system.close()


@pytest.mark.parametrize("what", ["write", "cut", "join", "strip", "replace", "threshold", "remove", "lend"])
def test_each_deed_is_noticed(what: str) -> None:
    top = f"drifted{next(_tops)}"
    system = make_system(top)
    try:
        for number in range(4):
            system.set_logs(tiler=("INFO", "DEBUG")[number % 2], fuser="ERROR")
        logger = logging.getLogger(f"{top}.tiler")
        before = (logger.level, logger.propagate, [type(each) for each in logger.handlers])
        interfere(system, top, (what, ".tiler"))
        system.set_logs(tiler="DEBUG", fuser="INFO")
        logger = logging.getLogger(f"{top}.tiler")
        found = (logger.level, logger.propagate, [type(each) for each in logger.handlers if each is not FOREIGN])
        assert found == before
        assert [each.level for each in logger.handlers if each is not FOREIGN] == [logging.NOTSET]
    finally:
        system.close()


def test_handlers_that_others_have_lent_stay() -> None:
    top = f"drifted{next(_tops)}"
    system = make_system(top)
    try:
        system.set_logs(tiler="DEBUG")
        logger = logging.getLogger(f"{top}.tiler")
        logger.addHandler(FOREIGN)
        for level in ("INFO", "DEBUG"):
            system.set_logs(tiler=level)
            assert FOREIGN in logger.handlers
    finally:
        system.close()


@pytest.mark.parametrize("moment", ["_bring", "_note"])
def test_change_that_was_interrupted_is_made_up_for(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    top = f"drifted{next(_tops)}"
    system = make_system(top)
    try:
        system.getArtifactLogger(f"{top}_beside.inner", "loops")
        system.set_logs(tiler="DEBUG")

        def interrupt(*arguments: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(type(system._applier), moment, interrupt)
            with pytest.raises(KeyboardInterrupt):
                system.set_logs(tiler="INFO", loops=True)
        for level in ("INFO", "INFO", "DEBUG"):
            system.set_logs(tiler=level, loops=True)
            check(system)
    finally:
        system.close()
