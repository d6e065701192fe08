"""The bridge's own plugin of complog: names that PyTorch may still register, and what its lines show of a record.

The rank and the compilation come from the families that have them; what is here stands in where those are missing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from logging import LogRecord
from typing import Final

import complog_torch
from complog_core import Field, hookimpl

from .moment import describe_compilation, find_rank, find_trace_id, read_wanted_ids, render_rank, render_trace_id

_FAMILIES: Final = {"complog_distributed.plugin", "complog_dynamo.plugin"}
_FIELDS: Final = (Field("rank", "head", render_rank), Field("trace_id", "tail", render_trace_id))


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


@hookimpl
def complog_record_fields() -> Iterable[Field]:
    """The rank and the compilation in each line, `[rank0]:` and ` [0/0]`, as in every line of stock PyTorch."""
    return _FIELDS


@hookimpl
def complog_filters() -> Iterable[Callable[[LogRecord], bool]]:
    """Where TORCH_LOGS_TRACE_ID_FILTER is set, drop the records of every other compilation and of none."""
    wanted = frozenset() if "complog_dynamo.plugin" in sys.modules else read_wanted_ids()
    return (lambda record: str(find_trace_id()) in wanted,) if wanted else ()


@hookimpl
def complog_trace_context() -> Mapping[str, object] | None:
    """The rank and the running compilation, in each structured record."""
    if sys.modules.keys() >= _FAMILIES:
        return None  # they say it, and a record has each field once
    rank = find_rank()
    fields = describe_compilation()
    return fields if rank is None or rank < 0 else {"rank": rank, **fields}
