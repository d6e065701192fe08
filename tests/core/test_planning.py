"""The targets of a plan that follows others are those of a first one, whatever was set or registered between."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.systems import make_plugin

from complog_core import Artifact, Component, LogSystem
from complog_core.assembly import Assembly
from complog_core.configuration import Configuration
from complog_core.planning import Planner
from complog_core.resolve import Plan, Target

LEVELS = st.sampled_from([logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR])
PLACES = [
    "",
    "_beside.inner",
    ".tiler",
    ".tiler.inner",
    ".tiler.inner.most",
    ".shared",
    ".fuser.a",
    ".other.a",
    ".other",
]
COMPONENTS = ["lib", "tiler", "fuser"]
ARTIFACTS = ["loops", "tiles", "plan", "notes"]
_tops = itertools.count()

STEPS = st.one_of(
    st.tuples(
        st.just("set"),
        st.dictionaries(st.sampled_from(COMPONENTS), LEVELS, max_size=2),
        st.dictionaries(st.sampled_from(ARTIFACTS), st.booleans(), max_size=2),
        st.dictionaries(st.sampled_from(PLACES), LEVELS, max_size=1),
    ),
    st.tuples(st.just("get"), st.sampled_from(PLACES), st.sampled_from(ARTIFACTS)),
    st.tuples(st.just("level"), st.sampled_from(PLACES), st.one_of(st.just(logging.NOTSET), LEVELS)),
    st.tuples(st.just("register"), st.sampled_from(PLACES)),
)


def make_system(top: str) -> LogSystem:
    """Return a system with components and artifacts, on by default and off, below `top`."""
    artifacts = [Artifact(name, off_by_default=place % 2 == 0) for place, name in enumerate(ARTIFACTS)]
    components = [Component("lib", [top]), Component("tiler", [f"{top}.tiler", f"{top}.shared"])]
    components.append(Component("fuser", [f"{top}.fuser", f"{top}.shared", f"{top}.other.__tiles"]))
    return LogSystem(top.upper(), plugins=[make_plugin(components=components, artifacts=artifacts)])


def take(system: LogSystem, top: str, step: tuple[Any, ...], number: int) -> None:
    """Do what a step says."""
    if step[0] == "set":
        modules = {f"{top}{place}": level for place, level in step[3].items()}
        for name in modules:
            logging.getLogger(name)
        system.set_logs(**step[1], **step[2], modules=modules)
    elif step[0] == "get":
        system.getArtifactLogger(f"{top}{step[1]}", step[2])
    elif step[0] == "level":
        logging.getLogger(f"{top}{step[1]}").setLevel(step[2])
    else:
        system.register_log(f"more{number}", f"{top}{step[1]}")


def plan_afresh(system: LogSystem) -> Mapping[str, Target]:
    """Return the targets that a planner finds which never made a plan before."""
    planner, assembly, configuration = system.planner, system._assembly, system._configuration
    assert assembly is not None
    assert configuration is not None
    fresh = Planner(planner._own_levels, planner._foreign)
    fresh._below = dict(planner._below)
    for logger, known in planner._artifact_loggers.items():
        for module, artifact in known.uses:
            fresh.note(logger, module, artifact)
    return fresh.plan(assembly, configuration).targets


def watch(system: LogSystem) -> None:
    """Let each plan be looked at: what it says of the one before has to be so."""
    make = system.planner.plan

    def plan(assembly: Assembly, configuration: Configuration) -> Plan:
        made = make(assembly, configuration)
        if made.base is not None:
            assert made.base.keys() <= made.targets.keys()
            different = {name for name, target in made.targets.items() if made.base.get(name) != target}
            assert different <= set(made.touched)
        return made

    system.planner.plan = plan  # type: ignore[method-assign]  # of this one system


@settings(deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=12))
def test_plan_is_what_it_would_be_without_the_plans_before(steps: list[tuple[Any, ...]]) -> None:
    top = f"planned{next(_tops)}"
    system = make_system(top)
    watch(system)
    try:
        system.set_logs()
        for number, step in enumerate(steps):
            take(system, top, step, number)
            assembly, configuration = system._assembly, system._configuration
            assert assembly is not None
            assert configuration is not None
            assert system.planner.plan(assembly, configuration).targets == plan_afresh(system)
    finally:
        system.close()


def test_artifact_that_is_known_after_all_is_no_more_silent() -> None:
    artifacts = [Artifact("tiles")]
    plugin = make_plugin(
        components=[Component("lib", ["known_late"])], artifacts=artifacts, awaits_names=lambda: "them"
    )
    system = LogSystem("KNOWNLATE", plugins=[plugin])
    try:
        system.set_logs(lib=30)
        system.getArtifactLogger("known_late.m", "nobody/tiles")
        system.set_logs(lib=10)
        logger = system.getArtifactLogger("known_late.m", "tiles")
        for level in (40, 20):
            system.set_logs(lib=level)
            assert (logger.level, logger.propagate, logger.handlers) == (logging.NOTSET, True, [])
    finally:
        system.close()


def test_plan_that_was_interrupted_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    top = f"planned{next(_tops)}"
    system = make_system(top)
    try:
        loggers = [system.getArtifactLogger(place, "loops") for place in (f"{top}.tiler", f"{top}_beside.inner")]
        system.set_logs()

        def interrupt(*arguments: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Planner, "plan_one", interrupt)
            with pytest.raises(KeyboardInterrupt):
                system.set_logs(loops=True)
        for _ in range(2):
            system.set_logs(loops=True)
            assert [logger.level for logger in loggers] == [logging.DEBUG] * 2
    finally:
        system.close()
