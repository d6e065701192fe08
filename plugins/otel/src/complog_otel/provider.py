"""The LoggerProvider that the program itself has set, if it has one: then records go there and nowhere else."""

from __future__ import annotations

import sys
from typing import Any

from .entries import Entry
from .quiet import sending

_cannot_be_had = False


def find_provider() -> Any:
    """Return the program's global LoggerProvider, None where it has set none; nothing is imported for it."""
    global _cannot_be_had
    if _cannot_be_had:
        return None
    get_provider = getattr(sys.modules.get("opentelemetry._logs"), "get_logger_provider", None)
    if get_provider is None:
        return None
    try:
        provider = get_provider()
    except Exception:  # a variable names one that is not there, which OpenTelemetry tells each time
        _cannot_be_had = True
        return None
    # what stands in until one is set has no public name
    return None if type(provider).__name__ == "ProxyLoggerProvider" else provider


def hand_to(provider: Any, entry: Entry) -> None:
    """Emit the entry with the provider's logger of that scope, in this thread."""
    with sending():
        from .records import make_record

        provider.get_logger(entry.scope).emit(make_record(entry))
