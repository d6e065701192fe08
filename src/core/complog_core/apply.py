"""Brings loggers to their targets; the only file that changes a logger, and it changes only what differs."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from . import report
from .drift import Drift
from .faults import describe
from .handlers import ComplogHandler, Sink
from .resolve import Plan, Target
from .values import NamedTuple


class _Known(NamedTuple):
    """A logger that was changed here: its handler of ours, if it carries one, and what it was like before that."""

    logger: logging.Logger
    handler: ComplogHandler | None
    level: int
    propagate: bool


class Applier:
    """Holds what the loggers of one system were before it touched them, and the handler that each carries.

    The caller serialises calls. `apply` returns the loggers whose overridden `setLevel` the caller has to call, once it
    holds no lock any more: foreign code runs there.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._loggers: dict[str, _Known] = {}
        self._targets: dict[str, Target] = {}
        self._applied: Mapping[str, Target] | None = None
        """The targets of the plan that was applied last: the next one says what differs from them."""
        self._drift: Drift | None = None
        """How the loggers were left then; None where a change of them was interrupted."""

    @property
    def targets(self) -> Mapping[str, Target]:
        """The targets that were applied last."""
        return self._targets

    def own_levels(self, names: Collection[str]) -> list[int]:
        """Return the level that each logger has, or had before it was touched here."""
        loggers, find = self._loggers, logging.Logger.manager.loggerDict.get
        if loggers.keys().isdisjoint(names):
            kind = logging.Logger
            return [each.level if isinstance(each, kind) else logging.NOTSET for each in map(find, names)]
        levels = []
        for name in names:
            if name in loggers:
                levels.append(loggers[name].level)
            else:
                logger = find(name)
                levels.append(logger.level if isinstance(logger, logging.Logger) else logging.NOTSET)
        return levels

    def current(self, overridden: Iterable[tuple[logging.Logger, int]]) -> list[tuple[logging.Logger, int]]:
        """Return the pairs with the levels that hold by now, where another thread has changed them since."""
        pairs = ((logger, level, self._targets.get(logger.name)) for logger, level in overridden)
        return [(logger, level if target is None else target.level) for logger, level, target in pairs]

    def apply(self, plan: Plan, *, only_new: bool = False) -> list[tuple[logging.Logger, int]]:
        """Bring every logger that the plan names to its target, and put back what it no longer names.

        New carriers get their handler before anything stops propagating or loses its own, so that a thread logging
        meanwhile loses nothing; the sink drops the copies that it may thereby see twice. `only_new` leaves alone the
        loggers whose target is the one that was applied last, and with it what the program itself did to them.
        """
        targets = plan.targets
        levels: list[tuple[logging.Logger, int]] = []
        relevelled: list[str] = []
        before = self._targets
        drift, self._drift = self._drift, None
        follows, self._applied = drift is not None and plan.base is not None and plan.base is self._applied, None
        if only_new:
            changed = [name for name, target in targets.items() if before.get(name) != target]
        elif drift is None:
            changed = self._find_changed(targets)
        else:
            drifted = drift.find()
            changed = [name for name in drifted if name in targets]
            for name in plan.touched if follows else targets:
                target, known = targets[name], before.get(name, _NOWHERE)
                if target == known or name in drifted:
                    continue
                if target.carries == known.carries and target.threshold == known.threshold:
                    # most changes are of levels only
                    levels.append((drift.relevel(name, target.level), target.level))
                    relevelled.append(name)
                else:
                    changed.append(name)
        # an interrupted change may have touched what has no target
        gone = () if follows else self._loggers.keys() - targets.keys()
        if changed or gone:
            with self._sink.transition():
                levels += self._bring_all(changed, targets)
                for name in gone:
                    levels += self._restore(name)
        left = _write_levels(levels)
        # only now, so that what an interrupt has left undone is still to be done
        if follows:
            before.update([(name, targets[name]) for name in itertools.chain(relevelled, changed)])
        else:
            self._targets = dict(targets)
            for name in gone:
                self._loggers.pop(name, None)
        if drift is not None and not gone:
            self._note(drift, changed)
        elif not only_new:  # what is left alone may not be there
            self._note(Drift(), targets)
        self._applied = targets
        return left

    def apply_one(self, name: str, target: Target, *, alone: bool) -> list[tuple[logging.Logger, int]]:
        """Bring one logger to its target, as `apply` does.

        If it is `alone`, without descendants as artifact loggers are, the cost does not depend on the others.
        """
        drift, self._drift = self._drift, None
        with self._sink.transition():
            levels = list(self._bring(name, target))
        left = _write_levels(levels, alone=alone)
        self._targets[name] = target
        if drift is not None:
            drift.expect(name)
        self._drift = drift
        return left

    def _note(self, drift: Drift, changed: Iterable[str]) -> None:
        find = logging.Logger.manager.loggerDict.get
        for name in changed:
            logger = find(name)
            if not isinstance(logger, logging.Logger):  # removed at this very moment
                return
            drift.put(name, logger, self._targets[name], self._loggers[name].handler)
        self._drift = drift

    def _find_changed(self, targets: Mapping[str, Target]) -> list[str]:
        # most loggers are there already, and seeing that is most of what a change costs where there are many of them
        loggers, find = self._loggers, logging.Logger.manager.loggerDict.get
        changed = []
        for name, (level, carries, threshold) in targets.items():
            known = loggers.get(name)
            if known is not None:
                logger, handler, _, _ = known
                if carries and handler is not None:
                    there = logger.level == level and handler.level == threshold and not logger.propagate
                    if there and handler in logger.handlers and not handler.retired and find(name) is logger:
                        continue
                elif not carries and handler is None:
                    found = find(name)
                    if isinstance(found, logging.Logger) and found.propagate and found.level == level:
                        continue
            changed.append(name)
        return changed

    def _bring_all(self, names: list[str], targets: Mapping[str, Target]) -> list[tuple[logging.Logger, int]]:
        levels: list[tuple[logging.Logger, int]] = []
        for name in names:
            if targets[name].carries:
                levels += self._bring(name, targets[name])
        for name in names:
            if not targets[name].carries:
                levels += self._bring(name, targets[name])
        return levels

    def _bring(self, name: str, target: Target) -> Iterable[tuple[logging.Logger, int]]:
        found = logging.Logger.manager.loggerDict.get(name)
        logger = found if isinstance(found, logging.Logger) else logging.getLogger(name)
        known = self._loggers.get(name)
        if known is None:
            known = self._loggers[name] = _Known(logger, None, logger.level, logger.propagate)
        if target.carries:
            _, handler, level, propagate = known
            if handler is not None and handler.retired:  # taking it off was interrupted
                self._release(name, logger, logger.propagate)
                handler = None
            if handler is None:
                handler = ComplogHandler(self._sink)
            if handler is not known.handler or logger is not known.logger:
                self._loggers[name] = _Known(logger, handler, level, propagate)
            if handler.level != target.threshold:
                handler.level = target.threshold
            if handler not in logger.handlers:
                logger.addHandler(handler)
            if logger.propagate:
                logger.propagate = False
        else:
            # whatever kept its records from the carrier above (PyTorch does that to silence an artifact) ends here
            self._release(name, logger, True)
        if logger.level != target.level:
            return ((logger, target.level),)
        return ()

    def _restore(self, name: str) -> Iterable[tuple[logging.Logger, int]]:
        logger = logging.getLogger(name)
        known = self._loggers[name]
        self._release(name, logger, known.propagate)
        return ((logger, known.level),) if logger.level != known.level else ()

    def _release(self, name: str, logger: logging.Logger, propagate: bool) -> None:
        if logger.propagate != propagate:
            logger.propagate = propagate
        known = self._loggers[name]
        handler = known.handler
        if handler is None:
            return
        handler.retired = True
        if handler in logger.handlers:
            # a new list: removing from the one that a thread is walking would make it miss a neighbour
            logger.handlers = [other for other in logger.handlers if other is not handler]
        self._loggers[name] = known._replace(handler=None)  # last, since whoever interrupts this leaves it to be done


_NOWHERE: Final = Target(logging.NOTSET, False, -1)
"""For a logger that had no target: no other one has such a threshold."""


def set_levels(overridden: Iterable[tuple[logging.Logger, int]]) -> None:
    """Call each logger's own setLevel, which is foreign code."""
    for logger, level in overridden:
        try:
            logger.setLevel(level)
        except Exception as error:
            report.warn_once(("setLevel", logger.name), f"setLevel of the logger {logger.name!r} {describe(error)}")


def _write_levels(levels: list[tuple[logging.Logger, int]], *, alone: bool = False) -> list[tuple[logging.Logger, int]]:
    # Logger.setLevel empties the cache of every logger each time it is called: write all, then empty once, or only that
    # of a logger that stands alone
    overridden = []
    for logger, level in sorted(levels, key=_place) if len(levels) > 1 else levels:
        # asking for its __dict__ would make every later call of the logger slower by a quarter
        if getattr(logger.setLevel, "__func__", None) is logging.Logger.setLevel:
            logger.level = level
        else:
            overridden.append((logger, level))
    if len(levels) > len(overridden):
        if alone:
            with logging._lock:  # type: ignore[attr-defined]  # private
                logger._cache.clear()  # type: ignore[attr-defined]  # private
        else:
            logging.root.manager._clear_cache()  # type: ignore[attr-defined]  # private
    return overridden


def _place(pair: tuple[logging.Logger, int]) -> tuple[bool, int]:
    # explicit levels from the deepest logger up, then inherited ones from the top down: so each logger's effective
    # level is, at any moment, the one that it had or the one that it will have
    logger, level = pair
    depth = logger.name.count(".")
    return level == logging.NOTSET, depth if level == logging.NOTSET else -depth
