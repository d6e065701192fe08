"""PyTorch's `log_state` object as a face of complog's state: what it shows, and what somebody made of it."""

from __future__ import annotations

import logging
from typing import Any

from complog_core import LogState, Setting
from complog_core.model import Request


class StateExchange:
    """Shows each state of complog's in `torch._logging._internal.log_state`, and reads back what was put there."""

    def __init__(self, internal: Any) -> None:
        self._internal = internal

        class Face(internal.LogState):  # type: ignore[misc]  # a base known at run time
            """A LogState that remembers the request behind it, so that putting it back loses nothing of that."""

            request = Request()
            shown: tuple[dict[str, int], set[str]] = ({}, set())

        self._face = Face
        self._current: Any = None

    def show(self, state: LogState, request: Request) -> None:
        """Put a new face of `state` in place; `request` is what the API has asked for."""
        levels = dict(state.levels)
        artifacts = {name for name, on in state.artifacts.items() if on and "/" not in name}
        face = self._face(dict(levels), set(artifacts))
        face.request, face.shown = request, (levels, artifacts)
        self._current = self._internal.log_state = face

    def read_change(self) -> Request | None:
        """Return the request that the object now in place stands for, None where it is the one that was shown."""
        now = self._internal.log_state
        levels, artifacts = _read(now)
        if isinstance(now, self._face) and (levels, artifacts) == now.shown:
            return None if now is self._current else now.request
        settings = [Setting(name, int(level), name) for name, level in levels.items()]
        settings += [Setting(name, logging.DEBUG, name) for name in sorted(artifacts)]
        if self._current is None:  # nobody has asked for anything where nothing is set yet
            return Request(tuple(settings), made=True) if settings else None
        return Request(tuple(settings), self._current.request.keywords, made=True)

    def stop(self) -> None:
        """Leave a stock object in place that says the same."""
        self._internal.log_state = self._internal.LogState(*_read(self._internal.log_state))


def _read(state: Any) -> tuple[dict[str, int], set[str]]:
    # where TORCH_LOGS is blank, stock PyTorch has an empty dict in the place of a LogState
    return dict(getattr(state, "log_qname_to_level", ())), set(getattr(state, "artifact_names", ()))
