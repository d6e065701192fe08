"""What an interrupt has cut short, wherever that was, is made up for by the next change, and nothing stays behind."""

from __future__ import annotations

import itertools
import logging
import sys
from collections.abc import Callable
from typing import Any

import pytest
from tests.core.test_planning import make_system, plan_afresh

from complog_core import LogSystem
from complog_core.apply import Applier, _write_levels
from complog_core.drift import Drift
from complog_core.planning import Planner

_tops = itertools.count()


def interrupt_at(line: int, where: Any, act: Callable[[], object]) -> bool:
    """Interrupt `act` so many lines into the function, counted over its calls; return whether it came so far."""
    left = line

    def trace(frame: Any, event: str, argument: object) -> Any:
        return follow if frame.f_code is where.__code__ else None

    def follow(frame: Any, event: str, argument: object) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return follow

    sys.settrace(trace)
    try:
        act()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
        # a line is also where a `with` block has ended and its lock is not given back yet; there no signal comes
        while logging._lock._is_owned():  # type: ignore[attr-defined]  # private
            logging._lock.release()  # type: ignore[attr-defined]  # private
    return False


def set_all(system: LogSystem, top: str) -> None:
    system.set_logs(lib=10, fuser=20, tiles=True, loops=True)


def set_nothing(system: LogSystem, top: str) -> None:
    system.set_logs()


def silence(system: LogSystem, top: str) -> None:
    system.set_logs(lib=30, tiles=False)


def hand_out(system: LogSystem, top: str) -> None:
    system.getArtifactLogger(f"{top}.fuser", "loops")


def register(system: LogSystem, top: str) -> None:
    system.register_log("more", f"{top}_more")


PLACES = [
    *(Planner.plan, Planner._plan_changed, Planner.note),
    *(
        Applier.apply,
        Applier.apply_one,
        Applier._bring,
        Applier._release,
        Applier._restore,
        _write_levels,
        Drift.relevel,
    ),
]


@pytest.mark.parametrize("where", PLACES, ids=lambda where: where.__qualname__)
@pytest.mark.parametrize("act", [set_all, set_nothing, silence, hand_out, register])
@pytest.mark.parametrize("is_repeated", [True, False])
def test_next_change_makes_up_for_it(where: Any, act: Callable[[LogSystem, str], None], is_repeated: bool) -> None:
    line = 0
    while interrupt_and_go_on(line, where, act, is_repeated):
        line += 1


def interrupt_and_go_on(line: int, where: Any, act: Callable[[LogSystem, str], None], is_repeated: bool) -> bool:
    top = f"interrupted{next(_tops)}"
    system = make_system(top)
    try:
        for place in ("", ".tiler"):
            for artifact in ("loops", "tiles"):
                system.getArtifactLogger(f"{top}{place}", artifact)
        for level in (30, 40):
            system.set_logs(lib=level, fuser=level, loops=True)
        was_interrupted = interrupt_at(line, where, lambda: act(system, top))
        if not is_repeated:
            # which leaves alone what was brought to its target, and brings what was not
            system.register_log("another", f"{top}_another")
        elif act in (hand_out, register):
            act(system, top)  # that it is known already does no harm
            system.set_logs(lib=20, fuser=20, loops=True)
        else:
            act(system, top)
        if is_repeated or act is set_all:
            check(system, line)
    finally:
        system.close()
    for name in [name for name in logging.root.manager.loggerDict if name.startswith(top)]:
        logger = logging.root.manager.loggerDict.pop(name)  # thousands of them would make everything slow
        if isinstance(logger, logging.Logger):
            assert (logger.level, logger.propagate, logger.handlers) == (logging.NOTSET, True, []), (line, name)
    return was_interrupted


def check(system: LogSystem, line: int) -> None:
    configuration = system._configuration
    assert configuration is not None
    for name, target in (plan_afresh(system) if configuration.names_something else {}).items():
        logger = logging.getLogger(name)
        own = [each.level for each in logger.handlers]
        assert (logger.level, logger.propagate, own) == (
            target.level,
            not target.carries,
            [target.threshold] * target.carries,
        ), (line, name)
