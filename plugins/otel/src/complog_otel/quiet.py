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
    """Return whether this thread sends.

    >>> with sending():
    ...     is_sending()
    True
    """
    return bool(getattr(_local, "sending", False))


def comes_from_sending(record: logging.LogRecord) -> bool:
    """Return whether a record that is just being logged is OpenTelemetry's own, or about this thread's sending.

    What else is logged in a thread that sends is the program's: a finalizer runs in whatever thread there is.
    """
    return is_talk("opentelemetry", record.name) or (is_sending() and _talks(record.name))


def is_exporting() -> bool:
    """Return whether one of the SDK's own processors exports in this thread: it marks the context meanwhile."""
    context = sys.modules.get("opentelemetry.context")
    key = getattr(context, "_SUPPRESS_INSTRUMENTATION_KEY", None)
    get_value = getattr(context, "get_value", None)
    return bool(key is not None and get_value is not None and get_value(key))


def silence_own_thread() -> None:
    """Let loggers of OpenTelemetry and of what it sends with drop what a marked thread logs; others' stays as it is."""
    for name, logger in list(logging.Logger.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and _talks(name):
            logger.addFilter(_passes)


def is_talk(package: str, logger: str) -> bool:
    """Return whether a logger is a package's.

    >>> is_talk("urllib3", "urllib3.connectionpool"), is_talk("urllib3", "urllib34")
    (True, False)
    """
    return logger == package or logger.startswith(f"{package}.")


def _talks(logger: str) -> bool:
    return any(is_talk(package, logger) for package in _TALKATIVE)


def _passes(record: logging.LogRecord) -> bool:
    return not is_sending()
