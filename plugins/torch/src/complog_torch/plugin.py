"""The bridge's own plugin of complog: names may still come from PyTorch while that has not been imported."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import complog_torch
from complog_core import hookimpl


@hookimpl
def complog_awaits_names() -> str | None:
    """Let names wait while PyTorch, which may register them, is installed but not imported."""
    if "torch" in sys.modules or not complog_torch.will_be_active():
        return None
    from importlib.util import find_spec

    return "PyTorch, which is not imported yet, may register them" if find_spec("torch") is not None else None


@hookimpl
def complog_plugin_notes() -> Iterable[str]:
    """Say whether complog is behind PyTorch's logging, or why it is not."""
    if complog_torch.is_active():
        return ["it is the engine behind torch._logging"]
    if complog_torch.will_be_active():
        return ["it takes over torch._logging when PyTorch is imported"]
    return [f"it is not active: {complog_torch.why_inactive()}"]
