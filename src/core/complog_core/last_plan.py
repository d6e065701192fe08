"""What the last plan for the artifact loggers came from, so that the next one looks only at what has changed since."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping

from .registry import Entry, Registry, parent_of
from .resolve import DEFAULT_LEVEL, Target, is_silent


class _Silent:
    """The artifact loggers of one module that are silent while nobody names them, and what their level comes from."""

    __slots__ = ("above", "between", "level", "loggers")

    def __init__(self, module: str, registry: Registry) -> None:
        above = registry.registered_above(module) or ""
        names = []
        while module and module != above:
            names.append(module)
            module = parent_of(module)
        self.between, self.above = tuple(names), above
        """The module and what is above it, up to the next registered logger, `above`."""
        self.level = logging.NOTSET
        self.loggers: list[str] = []


class LastPlan:
    """The artifact loggers' targets in the last plan with one registry, and what they came from.

    >>> last = LastPlan()
    >>> last.add("mylib.tiler.__tiles", "mylib.tiler", (), Registry())
    >>> last.find_relevelled([0, 0], {}, lambda name: 0), last.find_relevelled([0, 0], {}, lambda name: 0)
    ({'mylib.tiler.__tiles': 30}, {})
    """

    def __init__(self, unplanned: Iterable[str] = ()) -> None:
        self.unplanned = list(unplanned)
        self.targets: dict[str, Target] = {}
        self.all: Mapping[str, Target] | None = None
        """The whole of that plan, of other loggers too; None where there was none."""
        self.set_anew: frozenset[str] = frozenset()
        """The loggers whose own setting was another one in the plan before."""
        self.touched: Collection[str] = ()
        """Those, and the artifact loggers that were planned anew."""
        self.decisions: Mapping[str, bool] = {}
        self.by_key: dict[str, list[str]] = {}
        self.between: dict[str, None] = {}
        """Every unregistered logger whose own level a silent artifact's may come from."""
        self.is_mixed = False
        """Whether one of them is a component's logger too, and has a level of its own."""
        self._silent: dict[str, _Silent] = {}
        self._above: dict[str, int] = {}
        self._reached: dict[str, list[str]] = {}
        """Which of those above take their level from a logger, if it has one."""
        self._levels: Mapping[str, int] = {}
        self._own: list[int] | None = None

    def add(self, logger: str, module: str, entries: tuple[Entry, ...], registry: Registry) -> None:
        """Take in an artifact logger that stands for these entries."""
        self.is_mixed = self.is_mixed or logger in registry.loggers
        for entry in entries:
            self.by_key.setdefault(entry.key, []).append(logger)
        if is_silent(entries):
            group = self._silent.get(module)
            if group is None:
                group = self._silent[module] = _Silent(module, registry)
                self.between.update(dict.fromkeys(group.between))
                if group.above not in self._above:
                    self._add_above(group.above, registry)
                self._own = None
            group.loggers.append(logger)

    def _add_above(self, above: str, registry: Registry) -> None:
        self._above[above] = logging.NOTSET
        name = above
        while name:
            self._reached.setdefault(name, []).append(above)
            if name not in registry.loggers:
                self.between[name] = None
            name = parent_of(name)

    def find_relevelled(
        self, own: list[int], levels: Mapping[str, int], effective: Callable[[str], int]
    ) -> dict[str, int]:
        """Return the silent artifact loggers for which another level follows from the loggers above them, with that.

        `own` are the levels of the loggers `between`, `levels` those that are set, and `effective` tells what level a
        registered logger has by them.
        """
        before = self._levels
        self.set_anew = frozenset([name for name, _ in levels.items() ^ before.items()])
        is_same = own == self._own
        above: Iterable[str] = self._above
        if is_same:
            above = {each for name in self.set_anew for each in self._reached.get(name, ())}
        for name in above:
            # from there down it is all the same to a silent logger
            level = max(DEFAULT_LEVEL, effective(name))
            if level != self._above[name]:
                self._above[name] = level
                is_same = False
        self._levels, self._own = levels, own
        return {} if is_same else self._relevel(own)

    def _relevel(self, own: list[int]) -> dict[str, int]:
        known = dict(zip(self.between, own, strict=True)) | self._above
        loggers: dict[str, int] = {}
        for group in self._silent.values():
            level = next(filter(None, map(known.__getitem__, (*group.between, group.above))))
            level = max(DEFAULT_LEVEL, level)
            if level != group.level:
                group.level = level
                loggers.update(dict.fromkeys(group.loggers, level))
        return loggers
