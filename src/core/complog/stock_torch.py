"""Whether PyTorch configures its own loggers in this process, so that complog has to leave those alone."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec

from complog_core import LogSystem, Setting, report
from complog_core.modules import is_importing, module_exists

FIX = "pip install complog-torch"


def why_torch_keeps_its_loggers() -> str | None:
    """Return why loggers under `torch` are PyTorch's own affair; None where they are complog's.

    They are complog's where PyTorch is not installed at all, and where the bridge has taken over or will do so.
    """
    try:
        installed = "torch" in sys.modules or find_spec("torch") is not None
        bridged = installed and ("complog_torch" in sys.modules or find_spec("complog_torch") is not None)
    except (ImportError, ValueError):
        return None
    if not installed:
        return None
    if not bridged:
        return f"PyTorch is installed without the bridge ({FIX})"
    bridge = import_module("complog_torch")
    return None if bridge.will_be_active() else str(bridge.why_inactive())


def is_initializing() -> bool:
    """Return whether `import torch` is going on."""
    return is_importing("torch")


def is_torch_under_way() -> bool:
    """Return whether `import torch` is going on and will call the bridge before it is done."""
    return is_initializing() and why_torch_keeps_its_loggers() is None


def is_known_to_torch(setting: Setting) -> bool:
    """Return whether stock PyTorch, which reads TORCH_LOGS too, knows the name, or has accepted it already."""
    if setting.source != "TORCH_LOGS":
        return False
    from .known import provider_of

    return provider_of(setting.name) is not None or ("torch" in sys.modules and not is_initializing())


def warn_of_refusals(system: LogSystem, reason: str) -> None:
    """Warn if TORCH_LOGS holds what PyTorch, which reads it too, will refuse: others' names, complog's own forms."""
    from complog_core.settings import parse  # late: most programs set none

    refused = []
    for setting in parse(os.environ.get("TORCH_LOGS", "")).settings:
        owners = [owner.distribution for entry in system.registry.lookup(setting.name) for owner in entry.owners]
        foreign = owners and not any(owner and owner.startswith("complog") for owner in owners)
        # PyTorch takes what can be imported for a module
        foreign = foreign and not module_exists(setting.name)
        if foreign or ":" in setting.text or "/" in setting.text:
            refused.append(repr(setting.text))
    if refused:
        report.warn(f"TORCH_LOGS: PyTorch will refuse {', '.join(refused)}: {reason}")
