"""Keeps PyTorch's Dynamo from compiling rich, hundreds of frames of it, while a log call breaks a graph."""

from __future__ import annotations

import sys
from collections.abc import Callable
from logging import LogRecord

from .surroundings import Surroundings

Work = Callable[[LogRecord, str, str | None, Surroundings], str]

_wrapped: tuple[object, Work, Work] | None = None


def keep_dynamo_out(work: Work) -> Work:
    """Return the function so that Dynamo looks at no frame below it, once Dynamo is loaded; nothing is imported.

    >>> from complog_rich.first_use import make_lines
    >>> keep_dynamo_out(make_lines) is make_lines
    True
    """
    global _wrapped
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is None or getattr(getattr(dynamo, "__spec__", None), "_initializing", False):
        return work
    known = _wrapped
    if known is not None and known[0] is dynamo and known[1] is work:
        return known[2]
    try:
        wrapped: Work = dynamo.disable(work)
    except Exception:  # another PyTorch than those that are known
        wrapped = work
    _wrapped = (dynamo, work, wrapped)
    return wrapped
