"""What complog itself contributes to the default system, through the same hooks as every plugin."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

from complog_core import Component, Outputs, hookimpl

captures: Final[list[logging.Handler]] = []
"""The handlers that `complog.testing` adds for a while."""


@hookimpl
def complog_components() -> Iterable[Component]:
    """Register PyTorch's top-level logger, which the families' loggers lie under."""
    return [Component("torch", ("torch",), "everything in PyTorch that no other component covers")]


@hookimpl
def complog_handlers(outputs: Outputs) -> Iterable[logging.Handler]:
    """Add the handlers of captures that are in progress."""
    return tuple(captures)
