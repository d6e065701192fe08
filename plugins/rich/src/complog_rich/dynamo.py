"""Keeps PyTorch's Dynamo from compiling rich's frames, which run while a log call breaks a graph."""

from __future__ import annotations

import sys

_told: object = None


def keep_out() -> None:
    """Put what paints into Dynamo's skip list, once it is loaded; nothing is imported for it."""
    global _told
    rules = sys.modules.get("torch._dynamo.trace_rules")
    if rules is None or rules is _told:
        return
    add = getattr(rules, "add", None)
    if add is None:
        return  # it is being imported
    _told = rules
    for package in ("complog_rich", "rich", "pygments"):
        add(package)
