"""Brings loggers to their targets; the only file that changes a logger, and it changes only what differs."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from . import report
from .faults import describe
from .handlers import ComplogHandler, Sink
from .resolve import Target


class Applier:
    """Holds what the loggers of one system were before it touched them, and the handler that each carries.

    The caller serialises calls. `apply` returns the loggers whose overridden `setLevel` the caller has to call, once it
    holds no lock any more: foreign code runs there.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._held: dict[str, tuple[logging.Logger, ComplogHandler]] = {}
        self._before: dict[str, tuple[int, bool]] = {}
        self._targets: dict[str, Target] = {}

    @property
    def targets(self) -> Mapping[str, Target]:
        """The targets that were applied last."""
        return self._targets

    def own_levels(self, names: Iterable[str]) -> list[int]:
        """Return the level that each logger has, or had before it was touched here."""
        before, find = self._before, logging.Logger.manager.loggerDict.get
        levels = []
        for name in names:
            if name in before:
                levels.append(before[name][0])
            else:
                logger = find(name)
                levels.append(logger.level if isinstance(logger, logging.Logger) else logging.NOTSET)
        return levels

    def current(self, overridden: Iterable[tuple[logging.Logger, int]]) -> list[tuple[logging.Logger, int]]:
        """Return the pairs with the levels that hold by now, where another thread has changed them since."""
        pairs = ((logger, level, self._targets.get(logger.name)) for logger, level in overridden)
        return [(logger, level if target is None else target.level) for logger, level, target in pairs]

    def apply(self, targets: Mapping[str, Target], *, only_new: bool = False) -> list[tuple[logging.Logger, int]]:
        """Bring every logger named in `targets` there, and put back what no longer is.

        New carriers get their handler before anything stops propagating or loses its own, so that a thread logging
        meanwhile loses nothing; the sink drops the copies that it may thereby see twice. `only_new` leaves alone the
        loggers whose target is the one that was applied last, and with it what the program itself did to them.
        """
        levels: list[tuple[logging.Logger, int]] = []
        before = self._targets
        if only_new:
            changed = [name for name, target in targets.items() if before.get(name) != target]
        else:
            changed = self._find_changed(targets)
        with self._sink.transition():
            for name in changed:
                if targets[name].carries:
                    levels += self._bring(name, targets[name])
            for name in changed:
                if not targets[name].carries:
                    levels += self._bring(name, targets[name])
            if before.keys() != targets.keys():
                for name in before.keys() - targets.keys():
                    levels += self._restore(name)
        self._targets = dict(targets)
        return _write_levels(levels)

    def apply_one(self, name: str, target: Target, *, alone: bool) -> list[tuple[logging.Logger, int]]:
        """Bring one logger to its target, as `apply` does.

        If it is `alone`, without descendants as artifact loggers are, the cost does not depend on the others.
        """
        with self._sink.transition():
            levels = list(self._bring(name, target))
        self._targets[name] = target
        return _write_levels(levels, alone=alone)

    def _find_changed(self, targets: Mapping[str, Target]) -> list[str]:
        # most loggers are there already, and seeing that is most of what a change costs where there are many of them
        held, find = self._held, logging.Logger.manager.loggerDict.get
        changed = []
        for name, (level, carries, threshold) in targets.items():
            pair = held.get(name)
            if pair is not None:
                logger, handler = pair
                there = logger.level == level and handler.level == threshold and carries and not logger.propagate
                if there and handler in logger.handlers and find(name) is logger:
                    continue
            elif not carries:
                found = find(name)
                if (
                    isinstance(found, logging.Logger)
                    and found.propagate
                    and found.level == level
                    and name in self._before
                ):
                    continue
            changed.append(name)
        return changed

    def _bring(self, name: str, target: Target) -> Iterable[tuple[logging.Logger, int]]:
        found = logging.Logger.manager.loggerDict.get(name)
        logger = found if isinstance(found, logging.Logger) else logging.getLogger(name)
        if name not in self._before:
            self._before[name] = (logger.level, logger.propagate)
        if target.carries:
            known, handler = self._held.get(name, (None, None))
            if handler is None:
                handler = ComplogHandler(self._sink)
            if known is not logger:
                self._held[name] = (logger, handler)
            if handler.level != target.threshold:
                handler.level = target.threshold
            if handler not in logger.handlers:
                logger.addHandler(handler)
            if logger.propagate:
                logger.propagate = False
        else:
            # whatever kept its records from the carrier above (PyTorch does that to silence an artifact) ends here
            self._release(logger, True)
        if logger.level != target.level:
            return ((logger, target.level),)
        return ()

    def _restore(self, name: str) -> Iterable[tuple[logging.Logger, int]]:
        logger = logging.getLogger(name)
        level, propagate = self._before.pop(name)
        self._release(logger, propagate)
        return ((logger, level),) if logger.level != level else ()

    def _release(self, logger: logging.Logger, propagate: bool) -> None:
        if logger.propagate != propagate:
            logger.propagate = propagate
        held = self._held.pop(logger.name, None)
        if held is None:
            return
        handler = held[1]
        handler.retired = True
        if handler in logger.handlers:
            # a new list: removing from the one that a thread is walking would make it miss a neighbour
            logger.handlers = [other for other in logger.handlers if other is not handler]


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
