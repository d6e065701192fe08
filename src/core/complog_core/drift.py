"""Notices whether the program, or a library, has changed loggers since they were brought to their targets."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any

from .resolve import Target


class Drift:
    """Knows how loggers were left. Asking whether they still are so goes attribute by attribute, not logger by logger,
    since that is most of what a change of settings costs where few of many loggers are to change.

    >>> logger = logging.getLogger("mylib.tiler")
    >>> drift = Drift()
    >>> drift.put("mylib.tiler", logger, Target(logging.NOTSET, False), None)
    >>> drift.find(), logger.setLevel("DEBUG"), drift.find()
    (set(), None, {'mylib.tiler'})
    """

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._loggers: list[logging.Logger] = []
        self._levels: list[int] = []
        self._propagates: list[bool] = []
        self._handlers: list[list[logging.Handler]] = []
        self._own: list[logging.Handler] = []
        self._thresholds: list[int] = []
        self._unseen: list[str] = []

    def expect(self, name: str) -> None:
        """Note that a logger is at a target that is not noted here: `find` names it, once, for it to be `put`.

        A program may make thousands of loggers between two changes of settings, and each is to cost little.
        """
        self._unseen.append(name)

    def put(self, name: str, logger: logging.Logger, target: Target, handler: logging.Handler | None) -> None:
        """Note that a logger is at its target, with that handler of ours.

        `name` is what leads to it; what it says itself that it is called is for the program to change.
        """
        level, carries, threshold = target
        # one with others' handlers is looked at each time; to note those would keep them alive
        handlers = [] if handler is None else [handler]
        if handler is None:
            handler = _NO_HANDLER
        place = self._places.setdefault(name, len(self._loggers))
        if place == len(self._loggers):
            self._loggers.append(logger)
            self._levels.append(level)
            self._propagates.append(not carries)
            self._handlers.append(handlers)
            self._own.append(handler)
            self._thresholds.append(threshold if carries else logging.NOTSET)
        else:
            self._loggers[place] = logger
            self._levels[place] = level
            self._propagates[place] = not carries
            self._handlers[place] = handlers
            self._own[place] = handler
            self._thresholds[place] = threshold if carries else logging.NOTSET

    def relevel(self, name: str, level: int) -> logging.Logger:
        """Note that this logger, of which nothing else is to change, gets another level; return it."""
        place = self._places[name]
        self._levels[place] = level
        return self._loggers[place]

    def find(self) -> Collection[str]:
        """Return the loggers that are not as they were left, or are no more what their name leads to, or not noted."""
        names, loggers, find = self._places, self._loggers, logging.Logger.manager.loggerDict.get
        drifted = set(self._unseen)
        self._unseen.clear()
        pairs: tuple[tuple[list[Any], list[Any]], ...] = (
            ([logger.level for logger in loggers], self._levels),
            ([logger.propagate for logger in loggers], self._propagates),
            ([logger.handlers for logger in loggers], self._handlers),
            ([handler.level for handler in self._own], self._thresholds),
            (list(map(find, names)), loggers),
        )
        for now, left in pairs:
            if now != left:
                drifted.update([name for name, a, b in zip(names, now, left, strict=True) if a != b])
        return drifted


_NO_HANDLER = logging.NullHandler()
"""In the place of a handler, for a logger that carries none of ours; nobody else has it."""
