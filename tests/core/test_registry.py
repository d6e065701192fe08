"""What is known, by which spelling, and what becomes of two registrations of one name."""

from __future__ import annotations

import pytest

from complog_core.model import Artifact, Component, PluginInfo
from complog_core.registry import RESERVED, Registry, check_name, nearest_above

ONE = PluginInfo("one", "dist-one", "1.0")
TWO = PluginInfo("two", "dist-two", "2.0")


def test_identical_registration_twice_is_one_name_with_two_owners() -> None:
    registry = Registry.build(
        [(ONE, Component("tiler", ["m.a", "m.b"], "mine")), (TWO, Component("tiler", ["m.b", "m.a"], "yours"))]
    )
    (entry,) = registry.lookup("tiler")
    assert entry.owners == (ONE, TWO)
    assert entry.description == "mine"
    assert registry.lookup("one/tiler") == registry.lookup("two/tiler") == (entry,)


@pytest.mark.parametrize(
    "other",
    [
        Artifact("tiles", visible=True),
        Artifact("tiles", off_by_default=True),
        Artifact("tiles", log_format=""),
        Artifact("tiles", show_exception=False),
    ],
)
def test_registrations_that_differ_in_a_flag_stay_apart(other: Artifact) -> None:
    registry = Registry.build([(ONE, Artifact("tiles")), (TWO, other)])
    assert len(registry.lookup("tiles")) == 2
    assert [entry.item for entry in registry.lookup("one/tiles")] == [Artifact("tiles")]
    assert [entry.item for entry in registry.lookup("two/tiles")] == [other]


def test_bare_name_finds_every_kind() -> None:
    registry = Registry.build([(ONE, Component("tiles", ["m"])), (TWO, Artifact("tiles"))])
    assert {entry.kind for entry in registry.lookup("tiles")} == {"component", "artifact"}
    assert [entry.kind for entry in registry.artifacts("tiles")] == ["artifact"]


def test_top_level_loggers_are_those_without_a_registered_ancestor() -> None:
    registry = Registry.build([(ONE, Component("c", ["m.a.b", "m.a", "x", "m.ab"])), (TWO, Component("d", ["x.y.z"]))])
    assert set(registry.top_level) == {"m.a", "x", "m.ab"}


def test_names_leave_out_what_the_short_help_leaves_out() -> None:
    registry = Registry.build([(ONE, Component("c", ["m"])), (ONE, Artifact("a", visible=True)), (ONE, Artifact("b"))])
    assert registry.names() == ("a", "b", "c")
    assert registry.names(visible_only=True) == ("a", "c")
    assert registry.names("artifact") == ("a", "b")


@pytest.mark.parametrize("name", ["a", "_", "A1", "a.b", "with_ünicode", "x" * 200])
def test_name_that_may_be_registered(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize("name", [*sorted(RESERVED), "", "1a", "a-b", "a b", ".a", "é", "a/b", "a,b", "+a", None, 3])
def test_name_that_may_not_be_registered(name: object) -> None:
    with pytest.raises(ValueError, match=r"name|reserved"):
        check_name(name)


def test_nearest_above_goes_by_whole_parts() -> None:
    assert nearest_above("a.bc", {"a.b"}) is None
    assert nearest_above("a.b.c", {"a", "a.b"}) == "a.b"
    assert nearest_above("", {"a"}) is None
