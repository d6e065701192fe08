"""What this package adds to TORCH_LOGS. It is loaded in every program that uses complog: keep its imports light."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping

from complog_core import Artifact, Component, LogState, Outputs, hookimpl

native_level = logging.WARNING
"""What the backend would tell its C++ part, which does its own logging."""


@hookimpl
def complog_components() -> Iterable[Component]:
    """TORCH_LOGS="+my_backend" shows every record of the loggers at and below `my_artifact`."""
    return [Component("my_backend", ["my_artifact"], "the example backend's own progress")]


@hookimpl
def complog_artifacts() -> Iterable[Artifact]:
    """`my_artifact` prints only when it is named; `my_summary` also under my_backend, without the usual prefix."""
    return [
        Artifact("my_artifact", "the code that the example backend generates", visible=True, off_by_default=True),
        Artifact("my_summary", "one bare line for each compiled function", log_format="my_summary: %(message)s"),
    ]


@hookimpl
def complog_formatters() -> Mapping[str, Callable[[], logging.Formatter]]:
    """TORCH_LOGS_FORMAT=my_brief."""
    return {"my_brief": lambda: logging.Formatter("%(levelname).1s %(name)s: %(message)s")}


@hookimpl
def complog_handlers(outputs: Outputs) -> Iterable[logging.Handler]:
    """MY_ARTIFACT_FILE=backend.log keeps a copy of the backend's records, whatever else is logged."""
    path = os.environ.get("MY_ARTIFACT_FILE")
    if not path:
        return []
    handler = logging.FileHandler(path, delay=True)
    handler.addFilter(lambda record: record.name.startswith("my_artifact"))
    return [handler]


@hookimpl
def complog_env_vars() -> Iterable[str]:
    """MY_ARTIFACT_LOGS="+my_backend" is read after TORCH_LOGS, in the same way."""
    return ["MY_ARTIFACT_LOGS"]


@hookimpl
def complog_state_changed(state: LogState) -> None:
    """Keep the C++ part's level in step."""
    global native_level
    native_level = state.level("my_artifact.native")
