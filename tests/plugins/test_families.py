"""What holds for every family's contributions, and that complog's own list of their names is right."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import pluggy
import pytest

from complog.known import DEFAULT_LOGGING, FAMILIES, default_logging, provider_of
from complog_core import hookspecs
from complog_core.model import Artifact, Component, Keyword, PluginInfo
from complog_core.registry import Registry, check_name

FAMILY_NAMES = ("dynamo", "inductor", "distributed", "onnx")


def load(family: str) -> ModuleType:
    return import_module(f"complog_{family}.plugin")


def contributions(family: str) -> list[Component | Artifact]:
    """What a plugin manager with complog's own specifications collects; a misspelt hook is an error."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    manager.register(load(family))
    manager.check_pending()
    hooks = manager.hook
    return [item for items in (*hooks.complog_components(), *hooks.complog_artifacts()) for item in items]


def keywords(family: str) -> list[Keyword]:
    return list(getattr(load(family), "complog_keywords", list)())


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_each_name_may_be_registered_and_has_a_one_line_description(family: str) -> None:
    for item in contributions(family):
        check_name(item.name)
        assert 10 < len(item.description) <= 110, item
        assert item.description.isprintable(), item
        assert not item.description.endswith("."), item


def test_families_together_have_18_components_and_53_artifacts_without_a_clash() -> None:
    owned = [(PluginInfo(family), item) for family in FAMILY_NAMES for item in contributions(family)]
    registry = Registry.build(owned)
    assert len(registry.names("component")) == 18
    assert len(registry.names("artifact")) == 53
    for owner, item in owned:
        assert [entry.key for entry in registry.lookup(item.name)] == [f"{owner.family}/{item.name}"]


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_known_names_are_those_that_the_family_contributes(family: str) -> None:
    contributed = [item.name for item in (*contributions(family), *keywords(family))]
    assert sorted(FAMILIES[family].split()) == sorted(contributed)


def test_known_families_are_those_that_exist() -> None:
    assert sorted(FAMILIES) == sorted(FAMILY_NAMES)


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_provider_is_found_by_bare_and_by_qualified_name(family: str) -> None:
    for item in contributions(family):
        assert provider_of(item.name) == provider_of(f"{family}/{item.name}") == f"complog-{family}"


@pytest.mark.parametrize("name", ["", "nobody", "onnx/guards", "torch.onnx", "inductor/"])
def test_no_provider_is_made_up(name: str) -> None:
    assert provider_of(name) is None


def test_default_logging_fits_the_kinds_of_its_names() -> None:
    kinds = {item.name: type(item) for family in FAMILY_NAMES for item in contributions(family)}
    for name, value in DEFAULT_LOGGING.items():
        assert kinds[name] is (Artifact if value is True else Component)


def test_default_logging_keeps_to_what_is_installed() -> None:
    assert default_logging(FAMILIES["inductor"].split()) == {"inductor": 20}
    assert default_logging(()) == {}
