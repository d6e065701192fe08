"""What PyTorch knows at this moment, asked only of modules that the program has loaded itself."""

from __future__ import annotations

import sys

from complog_core import find_loaded

_last: tuple[object, object, str] = (None, None, "")


def current_trace_id() -> str | None:
    """Return the id of the compilation that runs in this thread, None outside of one.

    `0/1` is frame 0's second compilation, `0/1_2` its second restart; `!3/0/1` belongs to compiled autograd.

    >>> current_trace_id() is None
    True
    """
    global _last
    guards = find_loaded("torch._guards")
    if guards is None:
        return None
    try:
        # what CompileContext.try_get() returns, in a quarter of its time where there is none
        context = guards._TLS.__dict__.get("compile_context")
    except AttributeError:  # another PyTorch
        return _write_id(guards.CompileContext.current_trace_id())
    if context is None:
        return None
    compile_id, attempt, text = _last
    # most records come in the compilation of the last one, and writing an id out costs as much as half a line
    if compile_id is None or compile_id is not context.compile_id or attempt != context.attempt:
        trace_id = guards.CompileContext.current_trace_id()
        if trace_id is None:
            return None
        text = str(trace_id)
        _last = (context.compile_id, context.attempt, text)
    return text


def _write_id(trace_id: object) -> str | None:
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
