"""Which logger is to be what: the targets of a configuration, and the artifact loggers that a system has handed out."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from .assembly import Assembly
from .configuration import Configuration
from .model import Artifact
from .registry import nearest_above, parent_of
from .resolve import DEFAULT_LEVEL, Target, bind_artifact, nearest_carrier, plan_artifact, plan_loggers


class Planner:
    """Remembers the artifact loggers of a system, and which loggers are not its to configure.

    `rendered` maps an artifact logger's name to the artifact whose format and name its records carry.
    """

    def __init__(self) -> None:
        self.left_alone: frozenset[str] = frozenset()
        self.rendered: dict[str, Artifact] = {}
        self._artifact_loggers: dict[str, tuple[tuple[str, str], ...]] = {}

    def knows(self, logger: str, module: str, artifact: str) -> bool:
        """Return whether the logger was noted as that artifact's logger of that module."""
        return (module, artifact) in self._artifact_loggers.get(logger, ())

    def note(self, logger: str, module: str, artifact: str) -> None:
        """Note that `logger` is the logger of `module` for the artifact, given by any spelling.

        Who asks for two owners' artifacts of one name gets one logger, which is on if either is.
        """
        self._artifact_loggers[logger] = (*self._artifact_loggers.get(logger, ()), (module, artifact))

    def awaits(self, artifact: str) -> bool:
        """Return whether a logger was handed out for that artifact."""
        return any(name.rpartition("/")[2] == artifact for uses in self._artifact_loggers.values() for _, name in uses)

    def forget(self) -> None:
        """Forget every artifact logger."""
        self._artifact_loggers.clear()

    def plan(self, assembly: Assembly, configuration: Configuration) -> dict[str, Target]:
        """Return the target of every logger that the configuration has a say in."""
        resolution = configuration.resolution
        targets = plan_loggers(resolution.levels, assembly.registry)
        artifacts = {
            logger: self.plan_one(assembly, configuration, logger, targets) for logger in self._artifact_loggers
        }
        targets.update(artifacts)
        if self.left_alone:
            return {name: target for name, target in targets.items() if not self.leaves_alone(name)}
        return targets

    def plan_new(self, logger: str, assembly: Assembly, configuration: Configuration) -> Target:
        """Return the target of a logger that was registered just now, and that no setting can have meant."""
        level = configuration.resolution.levels.get(logger, logging.NOTSET)
        if level == logging.NOTSET and assembly.registry.registered_above(logger) is None:
            level = DEFAULT_LEVEL
        return Target(level, True)

    def plan_one(
        self, assembly: Assembly, configuration: Configuration, logger: str, targets: Mapping[str, Target]
    ) -> Target:
        """Return the target of one artifact logger, and note how its records are rendered."""
        levels = configuration.resolution.levels
        if logger in levels:  # somebody has set this very logger, as a module
            return Target(levels[logger], nearest_carrier(parent_of(logger), targets) is None)
        uses = self._artifact_loggers[logger]
        module = uses[0][0]
        found = (entry for where, name in uses for entry in bind_artifact(where, name, assembly.registry))
        entries = tuple(dict.fromkeys(found))
        if entries and isinstance(entries[0].item, Artifact):
            self.rendered[logger] = entries[0].item
        return plan_artifact(module, entries, configuration.resolution.artifacts, targets)

    def leaves_alone(self, logger: str) -> bool:
        """Return whether somebody else configures this logger."""
        return bool(self.left_alone) and nearest_above(logger, self.left_alone) is not None
