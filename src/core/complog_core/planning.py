"""Which logger is to be what: the targets of a configuration, and the artifact loggers that a system has handed out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping

from .assembly import Assembly
from .configuration import Configuration
from .last_plan import LastPlan
from .model import Artifact
from .registry import Entry, Registry, bind_artifact, nearest_above, parent_of
from .resolve import (
    DEFAULT_LEVEL,
    Plan,
    Target,
    effective_level,
    nearest_carrier,
    plan_artifact,
    plan_loggers,
    plan_unset,
    silent_target,
)


class _ArtifactLogger:
    """The modules and artifacts that a logger was handed out for, and the entries which that means in a registry."""

    __slots__ = ("entries", "mark", "uses")

    def __init__(self, module: str, artifact: str) -> None:
        self.uses: tuple[tuple[str, str], ...] = ((module, artifact),)
        self.entries: tuple[Entry, ...] = ()
        self.mark: object = None
        """The planner's mark of that registry: thousands of loggers may be made with thousands of registries."""


class Planner:
    """Remembers the artifact loggers of a system, and which loggers are not its to configure.

    `own_levels` tells the levels that loggers have apart from the system's doing, `foreign` the other system, if any,
    that a logger belongs to. `rendered` maps an artifact logger's name to the artifact whose format and name its
    records carry.
    """

    def __init__(
        self, own_levels: Callable[[Collection[str]], list[int]], foreign: Callable[[str], str | None]
    ) -> None:
        self._own_levels = own_levels
        self._foreign = foreign
        self.left_alone: frozenset[str] = frozenset()
        self.rendered: dict[str, Artifact] = {}
        self._below: dict[str, Target] = {}
        self._artifact_loggers: dict[str, _ArtifactLogger] = {}
        self._registry: Registry | None = None
        self._mark = object()
        self._unset: dict[str, Target] = {}
        """What was made from that registry: the targets while nothing is set."""
        self._last: LastPlan | None = None

    def _own_level(self, name: str) -> int:
        return self._own_levels((name,))[0]

    def knows(self, logger: str, module: str, artifact: str) -> bool:
        """Return whether the logger was noted as that artifact's logger of that module."""
        known = self._artifact_loggers.get(logger)
        return known is not None and (module, artifact) in known.uses

    def note(self, logger: str, module: str, artifact: str) -> None:
        """Note that `logger` is the logger of `module` for the artifact, given by any spelling.

        Who asks for two owners' artifacts of one name gets one logger, which is on if either is.
        """
        known = self._artifact_loggers.get(logger)
        if known is None:
            if self._last is not None:
                self._last.unplanned.append(logger)
            self._artifact_loggers[logger] = _ArtifactLogger(module, artifact)
        else:
            self._last = None  # it may be silent there, and not be so any more
            known.mark = None
            known.uses = (*known.uses, (module, artifact))

    def awaits(self, artifact: str) -> bool:
        """Return whether a logger was handed out for that artifact."""
        return any(name.rpartition("/")[2] == artifact for it in self._artifact_loggers.values() for _, name in it.uses)

    def forget(self) -> None:
        """Forget every artifact logger."""
        self._artifact_loggers.clear()
        self._last = None

    def plan(self, assembly: Assembly, configuration: Configuration) -> Plan:
        """Return the target of every logger that the configuration has a say in."""
        resolution = configuration.resolution
        registry = assembly.registry
        if self._registry is not registry:
            self._last = None
            self._mark = object()
            self._registry, self._unset = registry, plan_unset(registry)
        targets = plan_loggers(resolution.levels, registry, self._unset)
        # what is special about a logger cannot be seen any more while it is set
        self._below = self._plan_below(resolution.modules, targets) if resolution.modules else {}
        targets.update(self._below)
        last: LastPlan | None = None
        if resolution.modules:
            self._last = None
            # any logger at all may have a target then
            artifacts: Mapping[str, Target] = {
                each: self.plan_one(assembly, configuration, each, targets) for each in self._artifact_loggers
            }
        else:
            last = self._take_last()
            artifacts = self._plan_changed(last, assembly, configuration, targets)
        targets.update(artifacts)
        if self.left_alone:
            self._last = last
            return Plan({name: target for name, target in targets.items() if not self.leaves_alone(name)})
        if last is None:
            return Plan(targets)
        base, last.all = last.all, targets
        self._last = last  # whole again, and what the next one follows
        return Plan(targets, base, last.touched)

    def plan_new(self, logger: str, assembly: Assembly, configuration: Configuration) -> Target:
        """Return the target of a logger that was registered just now, and that no setting can have meant."""
        levels = configuration.resolution.levels
        level = levels.get(logger, logging.NOTSET)
        above = parent_of(logger)
        if level == logging.NOTSET and not (assembly.registry.registered_above(above) or nearest_above(above, levels)):
            level = DEFAULT_LEVEL
        return Target(level, True)

    def plan_one(
        self, assembly: Assembly, configuration: Configuration, logger: str, targets: Mapping[str, Target]
    ) -> Target:
        """Return the target of one artifact logger, and note how its records are rendered."""
        levels = configuration.resolution.levels
        if logger in levels:  # somebody has set this very logger, as a module or as a component's
            return Target(levels[logger], nearest_carrier(parent_of(logger), targets) is None)
        module = self._artifact_loggers[logger].uses[0][0]
        entries = self._find_entries(logger, assembly.registry)
        if entries and isinstance(entries[0].item, Artifact):
            self.rendered[logger] = entries[0].item
        return plan_artifact(module, entries, configuration.resolution.artifacts, targets, self._own_level)

    def _take_last(self) -> LastPlan:
        """Return the last plan, which is nobody's until the next one is whole; one of nothing where that was not."""
        last, self._last = self._last, None
        return LastPlan(self._artifact_loggers) if last is None else last

    def _plan_changed(
        self, last: LastPlan, assembly: Assembly, configuration: Configuration, targets: Mapping[str, Target]
    ) -> Mapping[str, Target]:
        """Return the targets of the artifact loggers, of which most are what they were in the last plan.

        They change with what is decided about their artifacts, and those of silent ones with the levels above them.
        """
        registry = assembly.registry
        # one is not known where handing it out was interrupted
        replanned, last.unplanned = self._artifact_loggers.keys() & last.unplanned, []
        for logger in replanned:
            last.add(logger, self._artifact_loggers[logger].uses[0][0], self._find_entries(logger, registry), registry)
        if last.is_mixed:
            replanned = set(self._artifact_loggers)
        resolution = configuration.resolution
        decisions = resolution.artifacts
        if decisions != last.decisions:
            for key in decisions.keys() | last.decisions.keys():
                if decisions.get(key) is not last.decisions.get(key):
                    replanned.update(last.by_key.get(key, ()))
            last.decisions = decisions
        own = self._own_levels(last.between)
        relevelled = last.find_relevelled(
            own, resolution.levels, lambda name: effective_level(name, targets, self._own_level)
        )
        if decisions:
            replanned.update(relevelled)
        elif relevelled:  # silent they all are, then
            last.targets.update([(logger, silent_target(level)) for logger, level in relevelled.items()])
        for logger in replanned:
            last.targets[logger] = self.plan_one(assembly, configuration, logger, targets)
        last.touched = {*replanned, *relevelled, *last.set_anew}
        return last.targets

    def _find_entries(self, logger: str, registry: Registry) -> tuple[Entry, ...]:
        known = self._artifact_loggers[logger]
        if known.mark is self._mark and registry is self._registry:
            return known.entries
        found = (entry for where, name in known.uses for entry in bind_artifact(where, name, registry))
        entries = tuple(dict.fromkeys(found))
        if registry is self._registry:
            known.entries, known.mark = entries, self._mark
        return entries

    def _plan_below(self, modules: frozenset[str], targets: Mapping[str, Target]) -> dict[str, Target]:
        # a module is set with everything below it, also what its own code has given a level or cut off
        below: dict[str, Target] = {}
        for name, logger in list(logging.root.manager.loggerDict.items()):
            if name in targets or name in self._artifact_loggers or not isinstance(logger, logging.Logger):
                continue
            above = nearest_above(name, modules)
            is_special = logger.level != logging.NOTSET or not logger.propagate or name in self._below
            if above is None or not is_special:
                continue
            registered = nearest_above(parent_of(name), targets)
            if registered == above and self._foreign(name) is None:
                below[name] = Target(logging.NOTSET, False)
        return below

    def leaves_alone(self, logger: str) -> bool:
        """Return whether somebody else configures this logger."""
        return bool(self.left_alone) and nearest_above(logger, self.left_alone) is not None
