"""The bridge's own plugin of complog: names may still come from PyTorch, and PyTorch's state follows complog's."""

from __future__ import annotations

import sys

import complog_torch
from complog_core import LogState, hookimpl


@hookimpl
def complog_awaits_names() -> str | None:
    """Let names wait while PyTorch, which may register them, is installed but not imported."""
    if complog_torch.is_active() or complog_torch.is_switched_off():
        return None
    # while PyTorch's import is under way its own registrations have not all been seen yet
    if "torch" in sys.modules:
        return None
    from importlib.util import find_spec

    return "PyTorch, which is not imported yet, may register them" if find_spec("torch") is not None else None


@hookimpl
def complog_state_changed(state: LogState) -> None:
    """Show the new state where PyTorch looks for it."""
    if complog_torch.is_active():
        from .takeover import show_state

        show_state(state)
