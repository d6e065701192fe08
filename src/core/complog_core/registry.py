"""Which names are known, who registered each, and what happens where two registrations meet; immutable once built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from .model import Artifact, Component, Kind, PluginInfo
from .values import NamedTuple

RESERVED: Final = frozenset({"all", "help", "off", "modules", "settings", "inherit"})

Item = Component | Artifact
Contribution = tuple[PluginInfo, Item]


def check_name(name: object) -> None:
    """Raise ValueError, saying why, unless `name` may be registered.

    >>> check_name("my_artifact")
    >>> check_name("all")
    Traceback (most recent call last):
        ...
    ValueError: 'all' is reserved
    """
    if not isinstance(name, str):
        raise ValueError(f"a name must be a str, not {type(name).__name__}")
    if not _is_name(name):
        raise ValueError(f"{name!r} is not a name: it takes a letter or _, then letters, digits, _ and .")
    if name in RESERVED:
        raise ValueError(f"{name!r} is reserved")


def _is_name(text: str) -> bool:
    # what [A-Za-z_][\w.]* matches, without compiling a pattern at every start
    begins = text[:1] == "_" or (text[:1].isascii() and text[:1].isalpha())
    if text.isascii():  # as nearly all are, and looking at each letter takes longer
        return begins and text.replace(".", "_").isidentifier()
    return begins and all(letter.isalnum() or letter in "_." for letter in text)


class Entry(NamedTuple):
    """One registered thing: the item, and every plugin that registered it identically, in order."""

    item: Item
    owners: tuple[PluginInfo, ...]

    @property
    def name(self) -> str:
        return self.item.name

    @property
    def kind(self) -> Kind:
        return "component" if isinstance(self.item, Component) else "artifact"

    @property
    def key(self) -> str:
        """The qualified spelling by its first owner: unique in a registry for this kind of item."""
        return f"{self.owners[0].family}/{self.item.name}"

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every qualified spelling, `family/name`, one per owner."""
        return tuple(dict.fromkeys(f"{owner.family}/{self.name}" for owner in self.owners))

    @property
    def description(self) -> str:
        return self.item.description


def _order(entry: Entry) -> tuple[bool, str, str]:
    item, owners = entry
    return (isinstance(item, Artifact), item.name, f"{owners[0].family}/{item.name}")


class Registry(NamedTuple):
    """The names of one system; `Registry.build` makes it from contributions, lookups never change it.

    >>> tiler = Component("tiler", ["mybackend.tiler"])
    >>> registry = Registry.build([(PluginInfo("mybackend"), tiler)])
    >>> [entry.key for entry in registry.lookup("tiler")], registry.registered_above("mybackend.tiler.loops")
    (['mybackend/tiler'], 'mybackend.tiler')
    """

    entries: tuple[Entry, ...] = ()
    by_spelling: Mapping[str, tuple[Entry, ...]] = MappingProxyType({})
    loggers: Mapping[str, tuple[Entry, ...]] = MappingProxyType({})
    top_level: tuple[str, ...] = ()

    @staticmethod
    def build(contributions: Iterable[Contribution]) -> Registry:
        """Join identical registrations of one name, keep different ones apart, and index both."""
        merged: dict[tuple[str, tuple[object, ...]], Entry] = {}
        for owner, item in contributions:
            slot = (item.name, item.identity)
            known = merged.get(slot)
            if known is None:
                merged[slot] = Entry(item, (owner,))
            elif owner not in known.owners:
                merged[slot] = Entry(known.item, (*known.owners, owner))
        entries = tuple(sorted(merged.values(), key=_order))
        by_spelling: dict[str, tuple[Entry, ...]] = {}
        loggers: dict[str, tuple[Entry, ...]] = {}
        for entry in entries:
            item, owners = entry
            # as a dict, since owners may be of one family
            for spelling in dict.fromkeys((item.name, *[f"{owner.family}/{item.name}" for owner in owners])):
                by_spelling[spelling] = (*by_spelling.get(spelling, ()), entry)
            if isinstance(item, Component):
                for logger in item.loggers:
                    loggers[logger] = (*loggers.get(logger, ()), entry)
        top_level = tuple(name for name in loggers if nearest_above(parent_of(name), loggers) is None)
        return Registry(entries, MappingProxyType(by_spelling), MappingProxyType(loggers), top_level)

    def lookup(self, spelling: str) -> tuple[Entry, ...]:
        """Return every entry that a bare or qualified spelling stands for; none where it is unknown."""
        return self.by_spelling.get(spelling, ())

    def artifacts(self, name: str) -> tuple[Entry, ...]:
        """Return the artifact entries that a spelling stands for."""
        return tuple(entry for entry in self.lookup(name) if entry.kind == "artifact")

    def components(self, name: str) -> tuple[Entry, ...]:
        """Return the component entries that a spelling stands for."""
        return tuple(entry for entry in self.lookup(name) if entry.kind == "component")

    def names(self, kind: Kind | None = None, *, visible_only: bool = False) -> tuple[str, ...]:
        """Return the bare names, sorted; `visible_only` leaves out the artifacts that the short help leaves out."""
        return tuple(
            sorted(
                {
                    entry.name
                    for entry in self.entries
                    if kind in (None, entry.kind)
                    and (not visible_only or isinstance(entry.item, Component) or entry.item.visible)
                }
            )
        )

    def registered_above(self, logger_name: str) -> str | None:
        """Return the nearest registered logger that is `logger_name` or an ancestor of it."""
        return nearest_above(logger_name, self.loggers)

    def components_above(self, logger_name: str) -> tuple[str, ...]:
        """Return the names of the components that the nearest registered logger belongs to."""
        nearest = self.registered_above(logger_name)
        return () if nearest is None else tuple(dict.fromkeys(entry.name for entry in self.loggers[nearest]))


def parent_of(logger_name: str) -> str:
    """Return the dotted name above, "" for a top-level one.

    >>> parent_of("a.b.c"), parent_of("a")
    ('a.b', '')
    """
    return logger_name.rpartition(".")[0]


def nearest_above(logger_name: str, among: Mapping[str, object] | frozenset[str] | set[str]) -> str | None:
    """Return the nearest of `among` that is `logger_name` or an ancestor of it.

    >>> nearest_above("a.b.c", {"a", "x"})
    'a'
    """
    name = logger_name
    while name:
        if name in among:
            return name
        name = parent_of(name)
    return None


def by_spelling(artifacts: Mapping[str, bool], registry: Registry) -> dict[str, bool]:
    """Return the decisions about artifacts by every spelling; a bare name is on if one of its owners' is."""
    result: dict[str, bool] = {}
    for key, decision in artifacts.items():
        for entry in registry.artifacts(key):
            if entry.key == key:
                for spelling in (entry.name, *entry.spellings):
                    result[spelling] = result.get(spelling, False) or decision
    return result


def bind_artifact(module: str, name: str, registry: Registry) -> tuple[Entry, ...]:
    """Return the entries that an artifact logger of this module stands for.

    Where several owners share the bare name, the owner whose own loggers cover the module has it, else the one whose
    family is the module's top-level package, else all of them do.
    """
    entries = registry.artifacts(name)
    if len(entries) < 2:
        return entries
    above = registry.registered_above(module)
    if above is not None:
        near = {owner for entry in registry.loggers[above] for owner in entry.owners}
        owned = tuple(entry for entry in entries if near.intersection(entry.owners))
        if owned:
            return owned
    top = module.partition(".")[0]
    return tuple(e for e in entries if any(owner.family.replace("-", "_") == top for owner in e.owners)) or entries
