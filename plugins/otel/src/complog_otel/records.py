"""Entries as OpenTelemetry's API has them."""

from __future__ import annotations

from opentelemetry._logs import LogRecord, SeverityNumber

from .entries import Entry


def make_record(entry: Entry) -> LogRecord:
    """Return the entry as a log record that any LoggerProvider takes."""
    return LogRecord(
        timestamp=entry.created,
        observed_timestamp=entry.observed,
        context=entry.context,
        severity_text=entry.severity_text,
        severity_number=SeverityNumber(entry.severity),
        body=entry.body,
        attributes=entry.attributes,
        event_name=entry.event,
    )
