"""What the sending itself logs is neither sent, which would never end, nor shown: the sender tells what matters."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from collections.abc import Iterator
from typing import Final

_TALKATIVE: Final = ("opentelemetry", "urllib3", "requests")
_local = threading.local()


@contextlib.contextmanager
def sending() -> Iterator[None]:
    """Mark this thread as one that sends, for the length of a with block."""
    before = is_sending()
    _local.sending = True
    try:
        yield
    finally:
        _local.sending = before


def is_sending() -> bool:
    """Return whether this thread sends: what is logged in it must not be sent in turn.

    >>> with sending():
    ...     is_sending()
    True
    """
    return bool(getattr(_local, "sending", False))


def comes_from_sending(record: logging.LogRecord) -> bool:
    """Return whether a record that was just logged comes from OpenTelemetry, or from an export of any thread."""
    if record.name == "opentelemetry" or record.name.startswith("opentelemetry."):
        return True
    return is_sending() or _is_suppressed()


def silence_own_thread() -> None:
    """Let loggers of OpenTelemetry and of what it sends with drop what a marked thread logs; others' stays as it is."""
    for name, logger in list(logging.Logger.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and name.partition(".")[0] in _TALKATIVE:
            logger.addFilter(_passes)


def _passes(record: logging.LogRecord) -> bool:
    return not is_sending()


def _is_suppressed() -> bool:
    # the mark that the SDK's own processors leave in the context while they export
    context = sys.modules.get("opentelemetry.context")
    key = getattr(context, "_SUPPRESS_INSTRUMENTATION_KEY", None)
    get_value = getattr(context, "get_value", None)
    return bool(key is not None and get_value is not None and get_value(key))
