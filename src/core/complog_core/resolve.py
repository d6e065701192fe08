"""Settings meet the registry: which levels, which artifacts, what is unknown; and the targets of each logger. Pure."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from .model import OFF, Artifact, Setting
from .registry import Entry, Registry, nearest_above, parent_of
from .values import NamedTuple

DEFAULT_LEVEL: Final = logging.WARNING


class World(NamedTuple):
    """What resolution has to ask about the process; each answer is a plain function, so that tests can give them.

    `exists` tells whether a module or logger of that name exists, `provider` names the distribution that would bring
    an unknown name, `explain` words the reason for an unknown name, `foreign` names the system that owns a logger
    if that is another one, `waiting` says why unknown names may still be registered (None: they may not), `settled`
    that somebody else, who reads the same variable, knows the name.
    """

    exists: Callable[[str], bool] = lambda name: False
    provider: Callable[[str], str | None] = lambda name: None
    explain: Callable[[str], str] = lambda name: "unknown name"
    foreign: Callable[[str], str | None] = lambda logger: None
    waiting: Callable[[], str | None] = lambda: None
    settled: Callable[[Setting], bool] = lambda setting: False


class Resolution(NamedTuple):
    """What settings come to: levels by logger, artifacts (True on, False muted) by key, and everything to be told.

    `modules` are the loggers that were set by their own dotted name. `pending` holds the settings that wait, `problems`
    pairs of a setting's source and what is wrong with it.
    """

    levels: Mapping[str, int] = MappingProxyType({})
    artifacts: Mapping[str, bool] = MappingProxyType({})
    pending: tuple[Setting, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()
    notices: tuple[str, ...] = ()
    waiting: str | None = None
    modules: frozenset[str] = frozenset()


class Target(NamedTuple):
    """What a logger is to be: `level`, and whether it `carries` our handler (and so does not propagate).

    Below `threshold` that handler is silent, even where somebody else lowers the logger's level for a capture.
    """

    level: int
    carries: bool
    threshold: int = logging.NOTSET


class Plan(NamedTuple):
    """The targets of all loggers; all but the `touched` are the same as in the plan whose targets were `base`.

    Where there is no `base`, all of them may differ.
    """

    targets: Mapping[str, Target] = MappingProxyType({})
    base: Mapping[str, Target] | None = None
    touched: Collection[str] = ()


def resolve(settings: Iterable[Setting], registry: Registry, world: World) -> Resolution:
    """Resolve settings in order; the later one wins for the same logger or artifact, nothing is ever raised.

    >>> resolve([Setting("a.b", 10, "+a.b")], Registry(), World(exists=lambda name: True)).levels
    {'a.b': 10}
    """
    levels: dict[str, int] = {}
    artifacts: dict[str, bool] = {}
    pending: list[Setting] = []
    problems: list[tuple[str, str]] = []
    notices: list[str] = []
    modules: set[str] = set()
    waiting: str | None = None
    for setting in settings:
        name = setting.name
        if name == "all":
            levels.update(dict.fromkeys(registry.top_level, setting.level))
            continue
        entries = registry.lookup(name)
        if entries:
            if len({entry.kind for entry in entries}) > 1:
                problems.append((setting.source, f"'{setting.text}': {_describe_mixed(name, entries)}"))
                continue
            if len(entries) > 1:
                notices.append(_describe_several(name, entries))
            for entry in entries:
                if isinstance(entry.item, Artifact):
                    artifacts[entry.key] = setting.level != OFF
                else:
                    levels.update(dict.fromkeys(entry.item.loggers, setting.level))
            continue
        owner = world.foreign(name)
        if owner is not None or name in registry.loggers or ("/" not in name and is_module(name, world)):
            if owner is None:
                levels[name] = setting.level
                modules.add(name)
            else:
                text = f"'{setting.text}': the logger belongs to the system {owner}; set {owner}_LOGS"
                problems.append((setting.source, text))
            continue
        waiting = waiting or world.waiting()
        if waiting is not None or world.settled(setting):
            pending.append(setting)
        else:
            problems.append((setting.source, f"'{setting.text}': {world.explain(name)}"))
    return Resolution(
        levels,
        artifacts,
        tuple(dict.fromkeys(pending)),
        tuple(dict.fromkeys(problems)),
        tuple(dict.fromkeys(notices)),
        waiting if pending else None,
        frozenset(modules),
    )


def is_module(name: str, world: World) -> bool:
    """Return whether a name that nobody registered is to be taken for a module or logger."""
    # `schedule` without complog-inductor is more likely that artifact than PyPI's package of the same name
    if "." not in name and world.provider(name) is not None:
        return False
    return world.exists(name)


def _describe_mixed(name: str, entries: tuple[Entry, ...]) -> str:
    listed = ", ".join(f"{entry.kind} {entry.key} of {_owners(entry)}" for entry in entries)
    return f"{name} is registered as different kinds ({listed}); use a qualified spelling"


def _describe_several(name: str, entries: tuple[Entry, ...]) -> str:
    listed = ", ".join(f"{entry.key} of {_owners(entry)}" for entry in entries)
    return f"{name} selects every {entries[0].kind} of that name: {listed}"


def _owners(entry: Entry) -> str:
    return " and ".join(str(owner) for owner in entry.owners)


def set_above(levels: Mapping[str, int], registry: Registry) -> frozenset[str]:
    """Return the top-level registered loggers that lie below one that was set, and inherit from there.

    >>> set_above({"a": 10}, Registry(top_level=("a.b", "c")))
    frozenset({'a.b'})
    """
    if levels.keys() <= registry.loggers.keys():
        return frozenset()  # no registered logger lies above a top-level one
    return frozenset(name for name in registry.top_level if nearest_above(parent_of(name), levels) is not None)


def plan_unset(registry: Registry) -> dict[str, Target]:
    """Return the targets of the registered loggers while nothing is set.

    >>> plan_unset(Registry())
    {}
    """
    return {
        **dict.fromkeys(registry.loggers, Target(logging.NOTSET, True)),
        **dict.fromkeys(registry.top_level, Target(DEFAULT_LEVEL, True)),
    }


def plan_loggers(
    levels: Mapping[str, int], registry: Registry, unset: Mapping[str, Target] | None = None
) -> dict[str, Target]:
    """Return the targets of the registered loggers and of the modules that were set.

    `unset` is what `plan_unset` returned for that registry: the rest costs what is set, not what is registered.

    >>> targets = plan_loggers({"a": 10, "a.b": 20}, Registry())
    >>> targets["a"].carries, targets["a.b"].carries
    (True, False)
    """
    targets = dict(plan_unset(registry) if unset is None else unset)
    for name in set_above(levels, registry):
        targets[name] = Target(logging.NOTSET, True)
    for name, level in levels.items():
        if name in registry.loggers:
            if level != logging.NOTSET:
                targets[name] = _carrying(level)
        else:
            above = parent_of(name)
            inside = registry.registered_above(name) is not None or nearest_above(above, levels) is not None
            targets[name] = Target(level, not inside)
    return targets


@lru_cache(maxsize=64)
def _carrying(level: int) -> Target:
    # one object for each level: that a target is the one that it was is then seen at once
    return Target(level, True)


@lru_cache(maxsize=64)
def silent_target(level: int) -> Target:
    """Return the target of a silent artifact's logger, which is to print what has that level or a higher one.

    >>> silent_target(30)
    Target(level=30, carries=True, threshold=30)
    """
    return Target(level, True, level)


_ALONE: Final = Target(logging.NOTSET, True)
_BELOW: Final = Target(logging.NOTSET, False)


def plan_artifact(
    module: str,
    entries: tuple[Entry, ...],
    artifacts: Mapping[str, bool],
    targets: Mapping[str, Target],
    actual: Callable[[str], int] = lambda logger: logging.NOTSET,
) -> Target:
    """Return the target of the artifact logger of `module` that stands for `entries` (none: not registered yet).

    `actual` tells the level that a logger without a target has. A muted or silent artifact has a handler of its own
    that holds back what is below its level; one outside every component carries one for its warnings.
    """
    decisions = [artifacts[key] for key in [entry.key for entry in entries] if key in artifacts] if artifacts else []
    if decisions and not any(decisions):
        return Target(OFF, True, OFF)
    if decisions:
        return Target(logging.DEBUG, nearest_carrier(module, targets) is None)
    if is_silent(entries):
        return silent_target(max(DEFAULT_LEVEL, effective_level(module, targets, actual)))
    return _ALONE if nearest_carrier(module, targets) is None else _BELOW


def is_silent(entries: tuple[Entry, ...]) -> bool:
    """Return whether an artifact logger that stands for these prints warnings only while nobody names its artifact.

    >>> is_silent(())
    True
    """
    return not entries or any(isinstance(entry.item, Artifact) and entry.item.off_by_default for entry in entries)


def nearest_carrier(logger_name: str, targets: Mapping[str, Target]) -> str | None:
    """Return the nearest logger at or above `logger_name` that carries our handler."""
    name = logger_name
    while name:
        target = targets.get(name)
        if target is not None and target.carries:
            return name
        name = parent_of(name)
    return None


def effective_level(
    logger_name: str, targets: Mapping[str, Target], actual: Callable[[str], int] = lambda logger: logging.NOTSET
) -> int:
    """Return the level that the nearest logger with one gives `logger_name`; NOTSET where there is none.

    A target counts instead of the logger's `actual` level.
    """
    name = logger_name
    while name:
        target = targets.get(name)
        level = actual(name) if target is None else target.level
        if level != logging.NOTSET:
            return level
        name = parent_of(name)
    return logging.NOTSET
