"""What PyTorch knows at this moment, asked only of modules that the program has loaded itself."""

from __future__ import annotations

import sys
from types import ModuleType


def find_loaded(name: str) -> ModuleType | None:
    """Return the module if its import has finished; nothing is imported, and a half-loaded module is not touched."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    return None if getattr(spec, "_initializing", False) else module


def current_trace_id() -> str | None:
    """Return the id of the compilation that runs in this thread, None outside of one.

    `0/1` is frame 0's second compilation, `0/1_2` its second restart; `!3/0/1` belongs to compiled autograd.

    >>> current_trace_id() is None
    True
    """
    guards = find_loaded("torch._guards")
    if guards is None:
        return None
    trace_id = guards.CompileContext.current_trace_id()
    return None if trace_id is None else str(trace_id)


def current_trace_fields() -> dict[str, object]:
    """Return the id of the compilation that runs in this thread by its parts; those that it does not have are left out.

    `subgraph_name` is there while a part of a graph is compiled on its own.

    >>> current_trace_fields()
    {}
    """
    fields: dict[str, object] = {}
    guards = find_loaded("torch._guards")
    trace_id = None if guards is None else guards.CompileContext.current_trace_id()
    if trace_id is not None:
        for part in ("compiled_autograd_id", "frame_id", "frame_compile_id"):
            value = getattr(trace_id.compile_id, part, None)
            if value is not None:
                fields[part] = value
        fields["attempt"] = trace_id.attempt
    traceback = find_loaded("torch.fx.traceback")
    find_subgraph = getattr(traceback, "_get_regional_inductor_subgraph_name", None)
    subgraph = None if find_subgraph is None else find_subgraph()
    if subgraph is not None:
        fields["subgraph_name"] = subgraph
    return fields


def is_dynamo_verbose() -> bool:
    """Return whether Dynamo was told to be verbose (TORCHDYNAMO_VERBOSE=1 or its config).

    >>> is_dynamo_verbose()
    False
    """
    return bool(getattr(sys.modules.get("torch._dynamo.config"), "verbose", False))
