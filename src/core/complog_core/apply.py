"""Brings loggers to their targets; the only file that changes a logger, and it changes only what differs."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from .handlers import ComplogHandler, Sink
from .resolve import Target


class Applier:
    """Holds what the loggers of one system were before it touched them, and the handler that each carries.

    The caller serialises calls. `apply` returns the loggers whose overridden `setLevel` the caller has to call, once it
    holds no lock any more: foreign code runs there.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._handlers: dict[str, ComplogHandler] = {}
        self._before: dict[str, tuple[int, bool]] = {}
        self._targets: dict[str, Target] = {}

    @property
    def targets(self) -> Mapping[str, Target]:
        """The targets that were applied last."""
        return self._targets

    def owns(self, handler: logging.Handler) -> bool:
        """Return whether the handler is one of ours."""
        return isinstance(handler, ComplogHandler) and handler.sink is self._sink

    def apply(self, targets: Mapping[str, Target]) -> list[tuple[logging.Logger, int]]:
        """Bring every logger named in `targets` there, and put back what no longer is.

        New carriers get their handler before they stop propagating, and lose it after they propagate again, so that a
        thread logging meanwhile loses nothing; the sink drops the copies that it may thereby see twice.
        """
        levels: list[tuple[logging.Logger, int]] = []
        with self._sink.transition():
            for name in self._targets.keys() - targets.keys():
                levels += self._restore(name)
            for name, target in targets.items():
                levels += self._bring(name, target)
        self._targets = dict(targets)
        return _write_levels(levels)

    def apply_one(self, name: str, target: Target) -> list[tuple[logging.Logger, int]]:
        """Bring one logger to its target, as `apply` does, at a cost that does not depend on the others."""
        with self._sink.transition():
            levels = list(self._bring(name, target))
        self._targets[name] = target
        return _write_levels(levels, alone=True)

    def _bring(self, name: str, target: Target) -> Iterable[tuple[logging.Logger, int]]:
        logger = logging.getLogger(name)
        if name not in self._before:
            self._before[name] = (logger.level, logger.propagate)
        handler = self._handlers.get(name)
        if target.carries:
            if handler is None:
                handler = self._handlers[name] = ComplogHandler(self._sink)
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
        handler = self._handlers.pop(logger.name, None)
        if handler is None:
            return
        handler.retired = True
        if handler in logger.handlers:
            # a new list: removing from the one that a thread is walking would make it miss a neighbour
            logger.handlers = [other for other in logger.handlers if other is not handler]


def _write_levels(levels: list[tuple[logging.Logger, int]], *, alone: bool = False) -> list[tuple[logging.Logger, int]]:
    # Logger.setLevel empties the cache of every logger each time it is called: write all, then empty once; one artifact
    # logger has no descendants, so that its own cache is all there is to empty
    overridden = []
    for logger, level in levels:
        if type(logger).setLevel is logging.Logger.setLevel and "setLevel" not in logger.__dict__:
            logger.level = level
        else:
            overridden.append((logger, level))
    if len(levels) > len(overridden):
        if alone:
            with logging._lock:  # type: ignore[attr-defined]
                logger._cache.clear()  # type: ignore[attr-defined]
        else:
            logging.root.manager._clear_cache()  # type: ignore[attr-defined]
    return overridden
