"""A receiver of OTLP over HTTP on the loopback interface: decodes with the official classes, and may misbehave."""

from __future__ import annotations

import contextlib
import gzip
import http.server
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse


class Received(NamedTuple):
    """One log record as it arrived, with the attributes of its resource and the name of its scope."""

    body: Any
    severity: tuple[int, str]
    attributes: dict[str, Any]
    event: str
    scope: str
    resource: dict[str, Any]
    span: str
    times: tuple[int, int]


class Answer(NamedTuple):
    """What the receiver says: it keeps nothing at a status other than 200, nor `rejected` ones; 0 is no answer."""

    status: int = 200
    rejected: int = 0
    retry_after: str | None = None


class Receiver:
    """Listens until it is stopped. `answer` is asked at each request, after `gate` is open."""

    def __init__(self, port: int = 0, answer: Callable[[int], Answer] = lambda number: Answer()) -> None:
        self.records: list[Received] = []
        self.headers: list[dict[str, str]] = []
        self.gate = threading.Event()
        self.gate.set()
        self._answer = answer
        self._lock = threading.Lock()
        receiver = self
        self._connections: list[Any] = []
        connections = self._connections

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.gate.wait(60)
                answer, content = receiver.take(dict(self.headers.items()), data)
                if answer.status == 0:
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                if answer.retry_after is not None:
                    self.send_header("Retry-After", answer.retry_after)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def do_GET(self) -> None:
                receiver.gate.set()
                self.send_response(204)
                self.end_headers()

            def log_message(self, *arguments: object) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # a client that has gone

            def process_request(self, request: Any, client_address: Any) -> None:
                connections.append(request)
                super().process_request(request, client_address)

        self._server = Server(("127.0.0.1", port), Handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def bodies(self) -> list[Any]:
        return [record.body for record in self.records]

    def take(self, headers: dict[str, str], data: bytes) -> tuple[Answer, bytes]:
        unpack = {"gzip": gzip.decompress, "deflate": zlib.decompress}.get(headers.get("Content-Encoding", ""), bytes)
        batch = list(decode(unpack(data)))
        with self._lock:
            answer = self._answer(len(self.headers))
            self.headers.append(headers)
            if answer.status == 200:
                self.records += batch[answer.rejected :]
        response = ExportLogsServiceResponse()
        if answer.rejected:
            response.partial_success.rejected_log_records = answer.rejected
            response.partial_success.error_message = "too old"
        return answer, response.SerializeToString()

    def wait_for(self, number: int) -> None:
        """Wait until so many records have arrived; whoever looks then sees what is missing or too much."""
        end = time.monotonic() + 30
        while len(self.records) < number and time.monotonic() < end:
            time.sleep(0.01)

    def stop(self) -> None:
        """Stop listening, and break the connections, as a process that ends does."""
        self._server.shutdown()
        self._server.server_close()
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()


@contextmanager
def receiving(
    answer: Callable[[int], Answer] = lambda number: Answer(), *, port: int = 0, is_open: bool = True
) -> Iterator[Receiver]:
    """Run a receiver for the length of a with block; unless it `is_open`, it answers after the first GET."""
    receiver = Receiver(port, answer)
    if not is_open:
        receiver.gate.clear()
    try:
        yield receiver
    finally:
        receiver.gate.set()
        receiver.stop()


def decode(data: bytes) -> Iterator[Received]:
    for of_resource in ExportLogsServiceRequest.FromString(data).resource_logs:
        resource = {item.key: read_value(item.value) for item in of_resource.resource.attributes}
        for of_scope in of_resource.scope_logs:
            for record in of_scope.log_records:
                yield Received(
                    read_value(record.body),
                    (record.severity_number, record.severity_text),
                    {item.key: read_value(item.value) for item in record.attributes},
                    record.event_name,
                    of_scope.scope.name,
                    resource,
                    record.span_id.hex(),
                    (record.time_unix_nano, record.observed_time_unix_nano),
                )


def read_value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [read_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return {item.key: read_value(item.value) for item in value.kvlist_value.values}
    return getattr(value, kind)
