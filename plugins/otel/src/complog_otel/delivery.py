"""The way to the receiver, on OpenTelemetry's classes; imported when there is something to send, it is heavy."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

import requests
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.sdk._logs import LogRecordLimits, ReadableLogRecord, ReadWriteLogRecord
from opentelemetry.sdk._logs.export import LogRecordExportResult
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from .entries import Entry
from .records import make_record

_RETRYABLE: Final = frozenset({429, 502, 503, 504})
_CREDENTIALS: Final = "OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER"
_LOGS_CREDENTIALS: Final = "OTEL_PYTHON_EXPORTER_OTLP_HTTP_LOGS_CREDENTIAL_PROVIDER"


class Outcome(NamedTuple):
    """What became of a batch: the receiver took it, less `rejected` records, refused it, or failed for now."""

    kind: Literal["taken", "refused", "failed"]
    reason: str = ""
    rejected: int = 0


class Delivery:
    """Sends batches, one at a time, from one thread. `on_failure` is called at each attempt that fails for now.

    Making one reads the OTEL_* variables; it raises whatever OpenTelemetry raises for what they hold.
    """

    def __init__(self, on_failure: Callable[[str, str], None]) -> None:
        self._resource = _describe_process()
        self._limits = LogRecordLimits()
        self._attempts = _Attempts(on_failure)
        # a session of somebody's own, with credentials, cannot be watched
        self._session = None if _has_credentials() else _WatchedSession(self._attempts)
        self._exporter = OTLPLogExporter(session=self._session)

    @property
    def is_failing(self) -> bool:
        """Whether the last attempt failed for now."""
        return self._attempts.is_failing

    def convert(self, entries: Iterable[Entry]) -> tuple[list[ReadableLogRecord], str]:
        """Return the records that the exporter takes, without those that OpenTelemetry refuses, and why it does."""
        records, reason = [], ""
        for entry in entries:
            try:
                records.append(self._convert(entry))
            except Exception as error:  # it must not cost the others of the batch
                reason = f"{type(error).__name__}: {error}"
        return records, reason

    def export(self, records: Sequence[ReadableLogRecord]) -> Outcome:
        """Send a batch; blocks for up to OTEL_EXPORTER_OTLP_TIMEOUT, within which the exporter tries several times."""
        attempts = self._attempts
        attempts.begin()
        result = self._exporter.export(records)
        if result is LogRecordExportResult.SUCCESS:
            # the exporter takes a redirection for a success
            if attempts.status >= 300:
                return Outcome("refused", attempts.reason)
            return Outcome("taken", attempts.reason, min(attempts.rejected, len(records)))
        if self._session is None:
            return Outcome("refused", "the exporter gave up")
        if not attempts.number:
            return Outcome(
                "refused",
                "no request could be made: it cannot be encoded, is too large, or the endpoint is none",
            )
        return Outcome("failed" if attempts.is_failing else "refused", attempts.reason)

    def shutdown(self) -> None:
        """Let an export that waits for its next attempt give up."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]  # theirs has no types

    def _convert(self, entry: Entry) -> ReadableLogRecord:
        scope = InstrumentationScope(entry.scope)
        record = ReadWriteLogRecord(make_record(entry), self._resource, scope, self._limits)
        return ReadableLogRecord(record.log_record, self._resource, scope, self._limits)


class _Attempts:
    """How the attempts to send one batch went."""

    def __init__(self, on_failure: Callable[[str, str], None]) -> None:
        self._on_failure = on_failure
        self.is_failing = False
        self.begin()

    def begin(self) -> None:
        self.number = self.status = self.rejected = 0
        self.reason = ""

    def note_answer(self, url: str, response: requests.Response) -> None:
        self.number += 1
        self.status = response.status_code
        self.reason = f"HTTP {response.status_code} {response.reason or ''}".rstrip()
        self.is_failing = self.status in _RETRYABLE
        if self.is_failing:
            self._on_failure(url, self.reason)
        elif self.status == 200 and response.content:
            self._read(response.content)

    def note_error(self, url: str, error: Exception) -> None:
        self.number += 1
        self.status = 0
        self.reason = _find_cause(error)
        self.is_failing = isinstance(error, (requests.ConnectionError, requests.Timeout))
        # the exporter makes up for a connection that was closed meanwhile at once
        if self.is_failing and self.number > 1:
            self._on_failure(url, self.reason)

    def _read(self, content: bytes) -> None:
        try:
            told = ExportLogsServiceResponse.FromString(content).partial_success
        except Exception:
            return  # some receivers answer with a text
        self.rejected = max(told.rejected_log_records, 0)
        self.reason = told.error_message


class _WatchedSession(requests.Session):
    def __init__(self, attempts: _Attempts) -> None:
        super().__init__()
        self._attempts = attempts

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        url = _hide_secrets(request.url or "")
        try:
            response = super().send(request, **kwargs)
        except Exception as error:
            self._attempts.note_error(url, error)
            raise
        self._attempts.note_answer(url, response)
        return response


def _describe_process() -> Resource:
    own: dict[str, str | int] = {"host.name": socket.gethostname(), "process.pid": os.getpid()}
    try:
        return Resource(own).merge(Resource.create())
    except RuntimeError:  # detectors run in threads, which cannot be started any more when the interpreter ends
        return Resource(own)


def _has_credentials() -> bool:
    return bool(os.environ.get(_CREDENTIALS) or os.environ.get(_LOGS_CREDENTIALS))


def _hide_secrets(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _find_cause(error: BaseException) -> str:
    """Return the operating system's word for it, "Connection refused", where there is one."""
    seen: list[BaseException] = []
    queue: list[object] = [error]
    while queue and len(seen) < 50:
        found = queue.pop(0)
        if isinstance(found, BaseException) and found not in seen:
            if isinstance(found, OSError) and found.strerror and found.errno:
                return found.strerror
            seen.append(found)
            queue += [*found.args, getattr(found, "reason", None), found.__cause__, found.__context__]
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
