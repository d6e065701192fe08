"""What PyTorch knows at this moment, asked only of modules that the program has loaded itself."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from logging import LogRecord
from typing import Any

from complog_core import find_loaded

_last: tuple[object, object, str] = (None, None, "")
_last_fields: tuple[object, object, dict[str, object]] = (None, None, {})
_naming: tuple[object, Callable[[], object] | None] = (None, None)
_guards: object = None
_local: threading.local | None = None


def current_trace_id() -> str | None:
    """Return the id of the compilation that runs in this thread, None outside of one.

    `0/1` is frame 0's second compilation, `0/1_2` its second restart; `!3/0/1` belongs to compiled autograd.

    >>> current_trace_id() is None
    True
    """
    global _last
    local = _local
    if local is None:
        if "torch._guards" not in sys.modules:
            return None
        local = _find_local()
        if local is None:
            return _ask_context()
    # what CompileContext.try_get() returns, in a quarter of its time where there is none
    context = local.__dict__.get("compile_context")
    if context is None:
        return None
    compile_id, attempt, text = _last
    # most records come in the compilation of the last one, and writing an id out costs as much as half a line
    if compile_id is None or compile_id is not context.compile_id or attempt != context.attempt:
        trace_id = _ask_context()
        if trace_id is None:
            return None
        text = trace_id
        _last = (context.compile_id, context.attempt, text)
    return text


def render_trace_id(record: LogRecord) -> str:
    """Return what the line shows of the running compilation, "" outside of one."""
    local = _local
    if local is not None and local.__dict__.get("compile_context") is None:
        return ""  # as most records are; a call more is half a hundredth of a line
    trace_id = current_trace_id()
    return "" if trace_id is None else f" [{trace_id}]"


def _find_local() -> threading.local | None:
    """Return, and remember, where PyTorch keeps the running compilation; None where it is not there yet, or elsewhere.

    It is asked for each line, so that looking for its module costs too much.
    """
    global _guards, _local
    _guards = find_loaded("torch._guards")
    local = getattr(_guards, "_TLS", None)
    _local = local if isinstance(local, threading.local) else None
    return _local


def _ask_context() -> str | None:
    trace_id = _ask_trace_id()
    return None if trace_id is None else str(trace_id)


def _ask_trace_id() -> Any:
    guards = find_loaded("torch._guards")
    return None if guards is None else guards.CompileContext.current_trace_id()


def current_trace_fields() -> dict[str, object]:
    """Return the id of the compilation that runs in this thread by its parts; those that it does not have are left out.

    `subgraph_name` is there while a part of a graph is compiled on its own.

    >>> current_trace_fields()
    {}
    """
    global _last_fields
    local = _local if sys.modules.get("torch._guards") is _guards else _find_local()
    # what CompileContext.current_trace_id() returns, which makes an object for it
    running = _ask_trace_id() if local is None else local.__dict__.get("compile_context")
    if running is None or running.compile_id is None:
        fields: dict[str, object] = {}
    else:
        compile_id, attempt, known = _last_fields
        if compile_id is not running.compile_id or attempt != running.attempt:
            known = _list_parts(running)
            if local is not None:
                _last_fields = (running.compile_id, running.attempt, known)
        fields = known.copy()
    traceback, find_subgraph = _naming
    if traceback is not sys.modules.get("torch.fx.traceback"):
        find_subgraph = _look_up_naming()
    subgraph = None if find_subgraph is None else find_subgraph()
    if subgraph is not None:
        fields["subgraph_name"] = subgraph
    return fields


def _list_parts(running: Any) -> dict[str, object]:
    """Return the fields of a compilation, of which PyTorch has its id and its attempt."""
    parts = ("compiled_autograd_id", "frame_id", "frame_compile_id")
    found = {part: getattr(running.compile_id, part, None) for part in parts}
    return {**{part: value for part, value in found.items() if value is not None}, "attempt": running.attempt}


def _look_up_naming() -> Callable[[], object] | None:
    """Return, and remember, what PyTorch names the part of a graph with that is compiled on its own."""
    global _naming
    traceback = find_loaded("torch.fx.traceback")
    _naming = (traceback, getattr(traceback, "_get_regional_inductor_subgraph_name", None))
    return _naming[1]


def is_dynamo_verbose() -> bool:
    """Return whether Dynamo was told to be verbose (TORCHDYNAMO_VERBOSE=1 or its config).

    >>> is_dynamo_verbose()
    False
    """
    return bool(getattr(sys.modules.get("torch._dynamo.config"), "verbose", False))
