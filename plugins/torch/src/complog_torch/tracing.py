"""PyTorch's structured trace, set up as its `_init_logs` does."""

from __future__ import annotations

import logging
import os
from typing import Any


def set_up_trace(internal: Any) -> None:
    """Give the logger `torch.__trace` its handler, by TORCH_TRACE, TORCH_DTRACE and TORCH_COMPILE_DEBUG."""
    directory = os.environ.get(internal.TRACE_ENV_VAR)
    if directory is None and os.environ.get("TORCH_COMPILE_DEBUG", "0") == "1":
        from torch._dynamo import config

        directory = os.path.join(config.debug_dir_root, "tlparse")
    detailed = os.environ.get(internal.DTRACE_ENV_VAR)
    if detailed:
        internal.GET_DTRACE_STRUCTURED = True
        directory = detailed
    if internal.LOG_TRACE_HANDLER is None:
        internal.LOG_TRACE_HANDLER = internal.LazyTraceHandler(directory)
    trace, handler = internal.trace_log, internal.LOG_TRACE_HANDLER
    trace.propagate = False
    trace.setLevel(logging.DEBUG)
    # logging.disable() does not stop a trace
    trace.isEnabledFor = lambda level: level >= trace.level
    internal.handlers.add(handler)
    handler.setFormatter(internal.TorchLogsFormatter(trace=True))
    trace.addHandler(handler)
