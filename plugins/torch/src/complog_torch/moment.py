"""What PyTorch knows at the moment of a record, asked only of modules that the program has loaded itself."""

from __future__ import annotations

import os
import sys
from logging import LogRecord
from typing import Final

from complog_core import find_loaded

TRACE_ID_FILTER: Final = "TORCH_LOGS_TRACE_ID_FILTER"
"""Variable with the compile ids that log, comma-separated, brackets optional: `0/0,[1/0]`."""

_COMPILE_ID: Final = ("compiled_autograd_id", "frame_id", "frame_compile_id")


def find_rank() -> int | None:
    """Return the rank in the default process group, None while there is none.

    >>> find_rank() is None
    True
    """
    distributed = find_loaded("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return int(distributed.get_rank())


def find_trace_id() -> object | None:
    """Return the id of the compilation that runs in this thread, which prints as `0/1_2`; None outside of one.

    >>> find_trace_id() is None
    True
    """
    guards = find_loaded("torch._guards")
    return None if guards is None else guards.CompileContext.current_trace_id()


def describe_compilation() -> dict[str, object]:
    """Return the parts of the running compilation's id, and the part of a graph that is compiled on its own.

    >>> describe_compilation()
    {}
    """
    parts: dict[str, object] = {}
    trace_id = find_trace_id()
    if trace_id is not None:
        compile_id = getattr(trace_id, "compile_id", None)
        parts = {part: getattr(compile_id, part, None) for part in _COMPILE_ID}
        parts["attempt"] = getattr(trace_id, "attempt", None)
    find_subgraph = getattr(find_loaded("torch.fx.traceback"), "_get_regional_inductor_subgraph_name", None)
    parts["subgraph_name"] = None if find_subgraph is None else find_subgraph()
    return {part: value for part, value in parts.items() if value is not None}


def render_rank(record: LogRecord) -> str:
    """Return the rank as the line shows it, "" outside of an initialised process group."""
    rank = find_rank()
    return "" if rank is None else f"[rank{rank}]:"


def render_trace_id(record: LogRecord) -> str:
    """Return the compilation as the line shows it, "" outside of one."""
    trace_id = find_trace_id()
    return "" if trace_id is None else f" [{trace_id}]"


def read_wanted_ids() -> frozenset[str]:
    """Return the compile ids that the variable asks for, none where it is unset or blank."""
    items = os.environ.get(TRACE_ID_FILTER, "").split(",")
    return frozenset(filter(None, (item.strip().removeprefix("[").removesuffix("]").strip() for item in items)))


def is_dynamo_verbose() -> bool:
    """Return whether Dynamo was told to be verbose, as the exceptions of graph breaks need to be shown.

    >>> is_dynamo_verbose()
    False
    """
    return bool(getattr(sys.modules.get("torch._dynamo.config"), "verbose", False))
