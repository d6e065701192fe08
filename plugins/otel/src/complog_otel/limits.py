"""How much waits, for how long, and how much is sent at once: the OTEL_BLRP_* variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from complog_core import warn

LARGEST_QUEUE: Final = 64 * 2**20
"""How many bytes of text may wait: a few payloads of a trace take more memory than thousands of lines."""

LARGEST_BATCH: Final = 4 * 2**20
"""How many bytes of text are sent at once, if they are of several records; collectors refuse more than 20 MiB."""

EXIT_WITHOUT_ANSWER: Final = 5.0
"""Seconds that the end of a program waits for a receiver that does not take records."""


class Limits(NamedTuple):
    """Numbers of records, and seconds.

    >>> Limits().queue, Limits().batch, Limits().delay, Limits().export
    (2048, 512, 1.0, 30.0)
    """

    queue: int = 2048
    batch: int = 512
    delay: float = 1.0
    export: float = 30.0


def read_limits(environ: Mapping[str, str]) -> Limits:
    """Return what the variables say, whose times are in milliseconds; what cannot be used costs a warning.

    >>> read_limits({"OTEL_BLRP_MAX_QUEUE_SIZE": "100", "OTEL_BLRP_SCHEDULE_DELAY": "250"})
    Limits(queue=100, batch=100, delay=0.25, export=30.0)
    """
    usual = Limits()
    queue = _read(environ, "OTEL_BLRP_MAX_QUEUE_SIZE", usual.queue)
    return Limits(
        queue=queue,
        batch=min(queue, _read(environ, "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", usual.batch)),
        delay=_read(environ, "OTEL_BLRP_SCHEDULE_DELAY", int(usual.delay * 1000)) / 1000,
        export=_read(environ, "OTEL_BLRP_EXPORT_TIMEOUT", int(usual.export * 1000)) / 1000,
    )


def _read(environ: Mapping[str, str], variable: str, usual: int) -> int:
    text = environ.get(variable, "").strip()
    if not text:
        return usual
    if text.isascii() and text.isdecimal() and len(text) < 10 and int(text) > 0:
        return int(text)
    warn(f"otel: {variable}={text[:40]!r} is no number from 1 to 999999999; {usual} is used")
    return usual
