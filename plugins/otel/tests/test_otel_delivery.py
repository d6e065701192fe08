"""Records reach a real receiver, whole and once; what does not is counted: quick, slow, refusing, absent, restarted."""

from __future__ import annotations

import socket
import time

import pytest
from plugins.otel.tests.programs import finish, run, start
from plugins.otel.tests.receiver import Answer, Receiver, receiving

from complog_otel.counts import Counts

LOG = "for number in range({}): log.info('%d', number)"


def texts(count: int, first: int = 0) -> list[str]:
    return [str(number) for number in range(first, first + count)]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def test_quick_receiver_gets_every_record_once_and_in_order() -> None:
    with receiving() as receiver:
        ended = run(receiver.url, LOG.format(3000), OTEL_BLRP_MAX_QUEUE_SIZE="4000")
        assert receiver.bodies == texts(3000)
        assert len(receiver.headers) >= 6
    assert ended.counts == Counts(logged=3000, sent=3000)
    assert (ended.errors, ended.status) == ([], 0)


@pytest.mark.parametrize("compression", ["gzip", "deflate", "none"])
def test_compression_and_headers_are_those_of_the_variables(compression: str) -> None:
    variables = {"OTEL_EXPORTER_OTLP_COMPRESSION": compression, "OTEL_EXPORTER_OTLP_HEADERS": "x-token=abc"}
    with receiving() as receiver:
        ended = run(receiver.url, LOG.format(700), **variables)
        assert receiver.bodies == texts(700)
        expected = (None if compression == "none" else compression, "abc", "application/x-protobuf")
        for headers in receiver.headers:
            told = {name.lower(): value for name, value in headers.items()}
            assert (told.get("content-encoding"), told["x-token"], told["content-type"]) == expected
    assert ended.counts == Counts(logged=700, sent=700)


def test_endpoint_of_logs_is_taken_as_it_is_and_wins() -> None:
    with receiving() as receiver:
        ended = run("http://127.0.0.1:9", LOG.format(3), OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=f"{receiver.url}/elsewhere")
        assert receiver.bodies == texts(3)
    assert ended.counts == Counts(logged=3, sent=3)


def test_slow_receiver_is_not_waited_for_by_those_who_log() -> None:
    code = LOG.format(400) + "\nimport complog_otel; print(complog_otel.get_counts().waiting); open_gate()"
    with receiving(is_open=False) as receiver:
        ended = run(receiver.url, code, OTEL_BLRP_MAX_EXPORT_BATCH_SIZE="50")
        assert receiver.bodies == texts(400)
    # the first answer came after the last record
    assert ended.output == "400"
    assert ended.counts == Counts(logged=400, sent=400)
    assert ended.errors == []


def test_receiver_that_takes_its_time_gets_everything() -> None:
    def answer(number: int) -> Answer:
        time.sleep(0.1)
        return Answer()

    with receiving(answer) as receiver:
        ended = run(receiver.url, LOG.format(1000), OTEL_BLRP_MAX_EXPORT_BATCH_SIZE="100")
        assert receiver.bodies == texts(1000)
    assert ended.counts == Counts(logged=1000, sent=1000)
    assert ended.errors == []


def test_full_queue_drops_and_counts_and_tells_once_and_at_the_end() -> None:
    code = LOG.format(1000) + "\nopen_gate()"
    with receiving(is_open=False) as receiver:
        ended = run(receiver.url, code, OTEL_BLRP_MAX_QUEUE_SIZE="100", OTEL_BLRP_MAX_EXPORT_BATCH_SIZE="30")
        assert receiver.bodies == texts(100)
    assert ended.counts == Counts(logged=1000, sent=100, full=900)
    begins, total = ended.errors
    assert "100 records, or 64 MiB of text, wait to be sent" in begins
    assert "900 of 1,000 records were not sent: 900 found no room" in total


def test_room_comes_back_when_the_receiver_has_taken_what_waited() -> None:
    code = LOG.format(300) + "\nopen_gate(); import complog_otel; complog_otel.flush()\n" + LOG.format(80)
    with receiving(is_open=False) as receiver:
        ended = run(receiver.url, code, OTEL_BLRP_MAX_QUEUE_SIZE="100")
        assert receiver.bodies == [*texts(100), *texts(80)]
    assert ended.counts == Counts(logged=380, sent=180, full=200)


def test_queue_is_bounded_in_bytes_too() -> None:
    code = "for number in range(80): log.info('%s', 'x' * 2**20)\nopen_gate()"
    with receiving(is_open=False) as receiver:
        ended = run(receiver.url, code)
        assert len(receiver.bodies) == 63
        # and no request is larger than collectors take
        assert all(int(headers["Content-Length"]) < 6 * 2**20 for headers in receiver.headers)
    assert ended.counts == Counts(logged=80, sent=63, full=17)


@pytest.mark.parametrize("status", [400, 401, 404, 413, 500, 302])
def test_refused_batch_is_dropped_without_another_attempt(status: int) -> None:
    with receiving(lambda number: Answer(status)) as receiver:
        ended = run(receiver.url, LOG.format(200), OTEL_BLRP_MAX_EXPORT_BATCH_SIZE="100")
        assert len(receiver.headers) == 2
    assert ended.counts == Counts(logged=200, refused=200)
    refusal, total = ended.errors
    assert f"records are refused and dropped: HTTP {status}" in refusal
    assert "200 of 200 records were not sent: 200 were refused" in total


def test_one_refused_batch_costs_no_other() -> None:
    with receiving(lambda number: Answer(400 if number == 1 else 200)) as receiver:
        ended = run(receiver.url, LOG.format(300), OTEL_BLRP_MAX_EXPORT_BATCH_SIZE="100")
        assert receiver.bodies == [*texts(100), *texts(100, 200)]
    assert ended.counts == Counts(logged=300, sent=200, refused=100)


def test_record_that_opentelemetry_refuses_costs_no_other() -> None:
    code = """
        from complog_otel.entries import Entry
        from complog_otel.sender import get_sender
        log.info("0")
        get_sender().take(Entry("probe", 0, 0, 99, "no such severity", "text", {}))
        log.info("1")
    """
    with receiving() as receiver:
        ended = run(receiver.url, code)
        assert receiver.bodies == texts(2)
    assert ended.counts == Counts(logged=3, sent=2, refused=1)
    assert "a record cannot be sent and is dropped: ValueError: 99" in ended.errors[0]


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_receiver_that_is_busy_for_a_while_gets_everything_once(status: int) -> None:
    busy = Answer(status, retry_after="0")
    with receiving(lambda number: busy if number < 9 else Answer()) as receiver:
        ended = run(receiver.url, LOG.format(200), OTEL_BLRP_MAX_EXPORT_BATCH_SIZE="100")
        assert receiver.bodies == texts(200)
    assert ended.counts == Counts(logged=200, sent=200)
    failure, recovery = ended.errors
    assert f"{receiver.url}/v1/logs does not take records (HTTP {status}" in failure
    assert "takes records again" in recovery


def test_receiver_that_stays_busy_is_given_up_at_the_end() -> None:
    with receiving(lambda number: Answer(503)) as receiver:
        ended = run(receiver.url, LOG.format(20), OTEL_BLRP_EXPORT_TIMEOUT="300")
    assert ended.counts == Counts(logged=20, left=20)
    assert len(ended.errors) == 2
    assert "20 of 20 records were not sent: 20 were left at the end" in ended.errors[1]


def test_absent_receiver_costs_one_warning_and_the_sum() -> None:
    ended = run(f"http://user:secret@127.0.0.1:{free_port()}", LOG.format(20), OTEL_BLRP_EXPORT_TIMEOUT="300")
    assert ended.counts == Counts(logged=20, left=20)
    failure, total = ended.errors
    assert "/v1/logs does not take records (Connection refused); they wait, up to 2,048 of them" in failure
    assert "20 of 20 records were not sent: 20 were left at the end" in total
    assert "secret" not in failure + total


def test_connection_that_is_closed_meanwhile_costs_nothing() -> None:
    with receiving(lambda number: Answer(0 if number == 1 else 200)) as receiver:
        ended = run(receiver.url, LOG.format(200), OTEL_BLRP_MAX_EXPORT_BATCH_SIZE="100")
        assert receiver.bodies == texts(200)
        assert len(receiver.headers) == 3
    assert ended.counts == Counts(logged=200, sent=200)
    assert ended.errors == []


def test_receiver_that_never_answers_is_given_up_at_the_end() -> None:
    with receiving(is_open=False) as receiver:
        ended = run(receiver.url, LOG.format(20), OTEL_BLRP_EXPORT_TIMEOUT="300")
    assert ended.counts == Counts(logged=20, left=20)
    assert len(ended.errors) == 1


@pytest.mark.parametrize("url", ["nonsense", "ftp://127.0.0.1", "http://"])
def test_endpoint_that_is_none_is_told(url: str) -> None:
    ended = run(url, LOG.format(20), OTEL_BLRP_EXPORT_TIMEOUT="300")
    assert ended.counts.sent == 0
    assert ended.counts.logged == ended.counts.dropped == 20
    assert len(ended.errors) == 2


def test_receiver_that_is_restarted_gets_what_was_logged_meanwhile() -> None:
    code = """
        import complog_otel
        number = 0
        for line in sys.stdin:
            for number in range(number, number + 100): log.info("%d", number)
            number += 1
            if line == "flush\\n": complog_otel.flush()
            if line == "fail\\n": wait_for_failure()
            print("done", flush=True)
    """
    first = Receiver()
    program = start(first.url, code, OTEL_EXPORTER_OTLP_TIMEOUT="1")

    def tell(word: str) -> None:
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write(f"{word}\n")
        program.stdin.flush()
        assert program.stdout.readline() == "done\n"

    tell("flush")
    first.stop()
    tell("fail")
    tell("more")
    with receiving(port=first.port) as second:
        second.wait_for(200)
        tell("flush")
        ended = finish(program)
        assert first.bodies == texts(100)
        assert second.bodies == texts(300, 100)
    assert ended.counts == Counts(logged=400, sent=400)
    assert len(ended.errors) == 2
    assert "takes records again" in ended.errors[1]


def test_records_that_the_receiver_rejects_count_as_dropped() -> None:
    with receiving(lambda number: Answer(rejected=3 if number == 0 else 0)) as receiver:
        ended = run(receiver.url, LOG.format(200), OTEL_BLRP_MAX_EXPORT_BATCH_SIZE="100")
        assert receiver.bodies == texts(197, 3)
    assert ended.counts == Counts(logged=200, sent=197, refused=3)
    assert "the receiver rejects some records: too old" in ended.errors[0]


@pytest.mark.parametrize("variable", ["MAX_QUEUE_SIZE", "MAX_EXPORT_BATCH_SIZE", "SCHEDULE_DELAY", "EXPORT_TIMEOUT"])
@pytest.mark.parametrize("value", ["0", "-1", "many", "1e3", "9" * 30])
def test_limit_that_is_no_number_costs_one_warning(variable: str, value: str) -> None:
    from unittest.mock import patch

    from complog_otel import limits

    with patch.object(limits, "warn") as warn:
        assert limits.read_limits({f"OTEL_BLRP_{variable}": value}) == limits.Limits()
    (warning,) = warn.call_args_list
    assert f"OTEL_BLRP_{variable}='{value}'" in warning.args[0]


def test_unsupported_protocol_is_told_and_http_is_spoken() -> None:
    with receiving() as receiver:
        ended = run(receiver.url, LOG.format(3), OTEL_EXPORTER_OTLP_PROTOCOL="grpc")
        assert receiver.bodies == texts(3)
    (warning,) = ended.errors
    assert "OTEL_EXPORTER_OTLP_PROTOCOL=grpc is not supported; records are sent as http/protobuf" in warning
