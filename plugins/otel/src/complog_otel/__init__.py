"""Sends complog's records to a receiver of OTLP; switched on by variables, see `switch`.

Importing it loads nothing of OpenTelemetry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .counts import Counts

__version__ = "0.1.0"
__all__ = ["__version__", "flush", "get_counts"]


def flush(timeout: float | None = None) -> bool:
    """Wait until every record of this process is sent or dropped, or for `timeout` seconds; return whether all are.

    None stands for `OTEL_BLRP_EXPORT_TIMEOUT`, which is in milliseconds there, and 30 seconds where it is not set.

    >>> flush()
    True
    """
    from .sender import get_sender

    return get_sender().flush(timeout)


def get_counts() -> Counts:
    """Return how many records this process has logged, sent, dropped, and still has.

    >>> counts = get_counts()
    >>> counts.logged == counts.sent + counts.dropped + counts.waiting
    True
    """
    from .sender import get_sender

    return get_sender().counts
