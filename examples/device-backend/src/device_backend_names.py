"""What the backend adds to TORCH_LOGS: loaded wherever complog is, so it imports neither torch nor the backend.

It lies beside the package, not in it, because importing `device_backend.names` would import `device_backend` first.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable

from complog_core import Artifact, Component, LogState, hookimpl


@hookimpl
def complog_components() -> Iterable[Component]:
    """TORCH_LOGS="+device_backend" shows every record of the loggers at and below `device_backend`."""
    return [Component("device_backend", ["device_backend"], "the device backend's progress")]


@hookimpl
def complog_artifacts() -> Iterable[Artifact]:
    """`memory` prints when named or under +device_backend; `dispatch`, which is long, only when it is named."""
    return [
        Artifact("memory", "each allocation on the device", visible=True),
        Artifact("dispatch", "each operator that is launched on the device", visible=True, off_by_default=True),
    ]


@hookimpl
def complog_env_vars() -> Iterable[str]:
    """DEVICE_BACKEND_LOGS="memory" is read after TORCH_LOGS, in the same way."""
    return ["DEVICE_BACKEND_LOGS"]


@hookimpl
def complog_state_changed(state: LogState) -> None:
    """Keep the C++ part in step; there is nothing to do while it is not loaded."""
    set_level = getattr(sys.modules.get("device_backend.native"), "set_native_level", None)
    if set_level is not None:
        set_level("runtime", state.level("device_backend"))
        set_level("memory", logging.DEBUG if state.enabled("memory") else state.level("device_backend.memory"))
