"""The hooks: a handler and a listener while the variables ask for them; until then nothing more is loaded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from logging import Handler
from typing import TYPE_CHECKING

from complog_core import RecordDescriber, TraceRecord, hookimpl

from .switch import read_switch

if TYPE_CHECKING:
    from .handler import OtelHandler

_handlers: dict[str, OtelHandler] = {}


@hookimpl
def complog_handlers(describer: RecordDescriber) -> Iterable[Handler]:
    """The handler of the system, always the same one, while records are to be sent."""
    if not read_switch(os.environ).is_on:
        _handlers.pop(describer.prefix, None)
        return ()
    from .handler import OtelHandler

    handler = _handlers.get(describer.prefix)
    if handler is None:
        handler = _handlers[describer.prefix] = OtelHandler(describer)
    handler.describer = describer
    return (handler,)


@hookimpl
def complog_trace_listeners() -> Iterable[Callable[[TraceRecord], object]]:
    """What sends structured records, while records are to be sent."""
    if not read_switch(os.environ).is_on:
        return ()
    from .handler import send_trace

    return (send_trace,)


@hookimpl
def complog_plugin_notes() -> Iterable[str]:
    """Say whether records are sent, and why."""
    switch = read_switch(os.environ)
    return [f"it {'sends records' if switch.is_on else 'is off'}: {switch.reason}"]
