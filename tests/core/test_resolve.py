"""Settings and registry give levels, decisions, problems and targets, and nothing else has a say."""

from __future__ import annotations

import logging

import pytest

from complog_core.model import OFF, Artifact, Component, PluginInfo
from complog_core.registry import Registry, bind_artifact, by_spelling
from complog_core.resolve import Target, World, plan_artifact, plan_loggers, resolve
from complog_core.settings import parse

ONE = PluginInfo("one", "dist-one", "1.0")
TWO = PluginInfo("two", "dist-two", "2.0")
NAMES = Registry.build(
    [
        (ONE, Component("top", ["m"])),
        (ONE, Component("comp", ["m.a", "m.b.c"])),
        (ONE, Component("part", ["m.b.c"])),
        (ONE, Artifact("art")),
        (ONE, Artifact("quiet", off_by_default=True)),
        (TWO, Component("other", ["x.y"])),
    ]
)
EXISTING = World(exists=lambda name: name.startswith(("m", "ext")), explain=lambda name: f"unknown {name}")


def levels_of(text: str, registry: Registry = NAMES, world: World = EXISTING) -> dict[str, int]:
    resolution = resolve(parse(text).settings, registry, world)
    assert not resolution.problems
    return dict(resolution.levels)


def test_component_sets_each_of_its_loggers() -> None:
    assert levels_of("+comp") == {"m.a": 10, "m.b.c": 10}


@pytest.mark.parametrize(
    ("text", "level"), [("+comp,part", 20), ("part,+comp", 10), ("part,+m.b.c", 10), ("+m.b.c,part", 20)]
)
def test_later_setting_wins_for_the_same_logger(text: str, level: int) -> None:
    assert levels_of(text)["m.b.c"] == level


@pytest.mark.parametrize("text", ["+m.a.deep,-comp", "-comp,+m.a.deep"])
def test_most_specific_logger_wins_whatever_the_order(text: str) -> None:
    levels = levels_of(text)
    assert (levels["m.a.deep"], levels["m.a"]) == (10, 40)


def test_all_reaches_every_registered_logger_without_registered_ancestor() -> None:
    assert levels_of("+all") == {"m": 10, "x.y": 10}


def test_named_component_is_kept_apart_from_all() -> None:
    assert levels_of("+all,-comp") == levels_of("-comp,+all")


@pytest.mark.parametrize("text", ["art", "+art", "-art", "art:CRITICAL", "art:NOTSET", "art:off,art"])
def test_anything_but_off_turns_an_artifact_on(text: str) -> None:
    assert resolve(parse(text).settings, NAMES, EXISTING).artifacts == {"one/art": True}


@pytest.mark.parametrize("text", ["art:off", "+art,art:OFF"])
def test_off_mutes_an_artifact(text: str) -> None:
    assert resolve(parse(text).settings, NAMES, EXISTING).artifacts == {"one/art": False}


def test_every_unknown_name_is_a_problem_of_its_own() -> None:
    resolution = resolve(parse("+nope,comp,nada.b").settings, NAMES, EXISTING)
    assert [problem for _, problem in resolution.problems] == ["'+nope': unknown nope", "'nada.b': unknown nada.b"]


def test_unknown_name_waits_where_it_may() -> None:
    resolution = resolve(parse("nope,+nada").settings, NAMES, World(waiting=lambda: "somebody is late"))
    assert [setting.text for setting in resolution.pending] == ["nope", "+nada"]
    assert resolution.waiting == "somebody is late"
    assert not resolution.problems


def test_undotted_name_of_a_known_distribution_is_no_module() -> None:
    world = World(exists=lambda name: True, provider=lambda name: "complog-x", explain=lambda name: "install complog-x")
    assert resolve(parse("schedule").settings, NAMES, world).problems == (
        ("set_logs", "'schedule': install complog-x"),
    )
    assert resolve(parse("pkg.schedule").settings, NAMES, world).levels == {"pkg.schedule": 20}


def test_logger_of_another_system_is_refused() -> None:
    world = World(exists=lambda name: True, foreign=lambda name: "MYLIB")
    assert "MYLIB" in resolve(parse("+mylib.core").settings, NAMES, world).problems[0][1]


CLASH = Registry.build(
    [
        (ONE, Component("name", ["m.one"])),
        (TWO, Component("name", ["m.two"])),
        (ONE, Artifact("mixed")),
        (TWO, Component("mixed", ["m.mixed"])),
        (ONE, Artifact("art")),
        (TWO, Artifact("art", off_by_default=True)),
    ]
)


def test_bare_name_of_several_owners_selects_all_with_one_notice() -> None:
    resolution = resolve(parse("+name,+name").settings, CLASH, EXISTING)
    assert resolution.levels == {"m.one": 10, "m.two": 10}
    (notice,) = resolution.notices
    assert "one/name" in notice
    assert "two/name" in notice
    assert "dist-one" in notice


def test_qualified_name_selects_one_owner() -> None:
    resolution = resolve(parse("+two/name,one/art:off").settings, CLASH, EXISTING)
    assert resolution.levels == {"m.two": 10}
    assert resolution.artifacts == {"one/art": False}
    assert not resolution.notices


def test_name_of_two_kinds_is_an_error_only_where_it_is_used() -> None:
    assert not resolve(parse("name").settings, CLASH, EXISTING).problems
    ((_, problem),) = resolve(parse("mixed").settings, CLASH, EXISTING).problems
    assert "one/mixed" in problem
    assert "two/mixed" in problem
    assert resolve(parse("two/mixed").settings, CLASH, EXISTING).levels == {"m.mixed": 20}


def test_artifact_logger_belongs_to_the_owner_whose_component_covers_it() -> None:
    assert [entry.key for entry in bind_artifact("m.two.deep", "art", CLASH)] == ["two/art"]
    assert [entry.key for entry in bind_artifact("two.x", "art", CLASH)] == ["two/art"]
    assert len(bind_artifact("elsewhere", "art", CLASH)) == 2
    assert [entry.key for entry in bind_artifact("m.two", "one/art", CLASH)] == ["one/art"]


def test_decisions_are_known_by_every_spelling() -> None:
    assert by_spelling({"two/art": True, "one/art": False}, CLASH) == {"art": True, "one/art": False, "two/art": True}


def test_targets_of_an_unset_system() -> None:
    targets = plan_loggers({}, NAMES)
    assert targets["m"] == targets["x.y"] == Target(logging.WARNING, True)
    assert targets["m.a"] == targets["m.b.c"] == Target(logging.NOTSET, True)


def test_module_outside_carries_and_one_inside_does_not() -> None:
    targets = plan_loggers({"ext": 10, "ext.b": 20, "m.a.deep": 10, "extra": 40}, NAMES)
    assert targets["ext"] == Target(10, True)
    assert targets["ext.b"] == Target(20, False)
    assert targets["m.a.deep"] == Target(10, False)
    assert targets["extra"] == Target(40, True)


@pytest.mark.parametrize(
    ("levels", "module", "artifact", "decisions", "target"),
    [
        ({}, "m.a.x", "art", {}, Target(0, False)),
        ({"m.a": 10}, "m.a.x", "art", {}, Target(0, False)),
        ({}, "m.a.x", "art", {"one/art": True}, Target(10, False)),
        ({"m.a": OFF}, "m.a.x", "art", {"one/art": True}, Target(10, False)),
        ({}, "m.a.x", "art", {"one/art": False}, Target(OFF, True, OFF)),
        ({"m.a": 10}, "m.a.x", "quiet", {}, Target(30, True, 30)),
        ({"m": 40}, "m.a.x", "quiet", {}, Target(40, True, 40)),
        ({"m.a": OFF}, "m.a.x", "quiet", {}, Target(OFF, True, OFF)),
        ({}, "ext.x", "quiet", {}, Target(30, True, 30)),
        ({}, "ext.x", "quiet", {"one/quiet": True}, Target(10, True)),
        ({"ext": 20}, "ext.x", "quiet", {"one/quiet": True}, Target(10, False)),
    ],
)
def test_target_of_an_artifact_logger(
    levels: dict[str, int], module: str, artifact: str, decisions: dict[str, bool], target: Target
) -> None:
    entries = bind_artifact(module, artifact, NAMES)
    assert plan_artifact(module, entries, decisions, plan_loggers(levels, NAMES)) == target
