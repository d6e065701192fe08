"""Keeps Dynamo from compiling complog's own frames, which run while a graph is broken by a log call."""

from __future__ import annotations

import sys
from typing import Final

from complog_core import LogSystem

PACKAGES: Final = ("complog_core", "complog", "complog_torch")


def skip_own_frames(system: LogSystem) -> None:
    """Put complog's packages, and the plugins' modules, into Dynamo's skip list, which has been loaded."""
    rules = sys.modules.get("torch._dynamo.trace_rules")
    add = getattr(rules, "add", None)
    if add is None:
        return
    modules = list(PACKAGES)
    for plugin in system.load().plugins:
        name = getattr(plugin.module, "__name__", "")
        if plugin.info.status != "loaded" or not name:
            continue
        ours = (plugin.info.distribution or "").startswith("complog-")
        modules.append(name.partition(".")[0] if ours else name)
    for name in dict.fromkeys(modules):
        try:
            add(name)
        except Exception:
            continue  # a module that has no file to skip
