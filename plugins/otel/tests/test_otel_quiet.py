"""What the sending logs is never sent, so that it ends, and never shown; a provider of the program's goes first."""

from __future__ import annotations

import pytest
from plugins.otel.tests.programs import run
from plugins.otel.tests.receiver import receiving
from plugins.otel.tests.test_otel_delivery import free_port

from complog_otel.counts import Counts

TALKATIVE = """
import opentelemetry.sdk.resources
logging.basicConfig(level=logging.DEBUG)
complog.set_logs(probe="DEBUG", modules={"urllib3": "DEBUG", "requests": "DEBUG", "opentelemetry": "DEBUG"})
import complog_otel
for number in range(5):
    log.info("%d", number)
    complog_otel.flush()
"""


def test_talk_of_the_exporter_is_neither_sent_nor_shown() -> None:
    with receiving() as receiver:
        ended = run(receiver.url, TALKATIVE, TORCH_LOGS_STDERR="1", TORCH_LOGS_PROPAGATE="1")
        assert receiver.bodies == [str(number) for number in range(5)]
        assert len(receiver.headers) == 5
    assert ended.counts == Counts(logged=5, sent=5)
    # each record once by complog, once by the root logger's handler
    assert len(ended.errors) == 10
    assert [line for line in ended.errors if "urllib3" in line or "opentelemetry" in line] == []


def test_failures_are_told_by_one_line_and_not_by_opentelemetry() -> None:
    variables = {"OTEL_BLRP_EXPORT_TIMEOUT": "300", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    ended = run(f"http://127.0.0.1:{free_port()}", "logging.basicConfig(level=0)\nlog.info('a')", **variables)
    assert len(ended.errors) == 2
    assert all(line.startswith("complog: warning: otel: ") for line in ended.errors)


def test_what_others_do_with_the_same_libraries_is_sent() -> None:
    code = """
        complog.set_logs(modules={"urllib3": "DEBUG"})
        import requests
        requests.get(os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"])
    """
    with receiving() as receiver:
        ended = run(receiver.url, code)
        assert [record.scope for record in receiver.records] == ["urllib3.connectionpool"] * 2
    assert ended.counts.dropped == 0


def test_hook_that_logs_each_request_does_not_keep_the_sender_busy() -> None:
    code = """
        import complog_otel, requests.sessions
        send = requests.sessions.Session.send
        def logged_send(*arguments, **keywords):
            log.info("a request")
            return send(*arguments, **keywords)
        requests.sessions.Session.send = logged_send
        log.info("first")
        complog_otel.flush()
        before = complog_otel.get_counts().logged
        time.sleep(0.5)
        print(complog_otel.get_counts().logged - before)
    """
    with receiving() as receiver:
        ended = run(receiver.url, code, OTEL_BLRP_SCHEDULE_DELAY="10")
        assert receiver.bodies[:2] == ["first", "a request"]
        assert len(receiver.headers) < 6
    assert ended.output == "0"


PROVIDER = """
from opentelemetry._logs import set_logger_provider
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import {classes}
provider = LoggerProvider()
provider.add_log_record_processor({processor})
"""
IN_MEMORY = PROVIDER.format(
    classes="InMemoryLogRecordExporter, SimpleLogRecordProcessor",
    processor="SimpleLogRecordProcessor(memory := InMemoryLogRecordExporter())",
)
OVER_HTTP = "from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter\n" + PROVIDER


def test_programs_own_provider_gets_the_records_and_the_endpoint_nothing() -> None:
    code = """
        set_logger_provider(provider)
        log.warning("hello", extra={"tiles": [1]})
        (kept,) = memory.get_finished_logs()
        record = kept.log_record
        print(record.body, record.severity_number.name, record.attributes["tiles"], kept.instrumentation_scope.name)
    """
    with receiving() as receiver:
        ended = run(receiver.url, "\n" + code, prelude=_prelude(IN_MEMORY))
        assert receiver.headers == []
    assert ended.output == "hello WARN (1,) probe.here"
    assert ended.counts == Counts(logged=1, sent=1)


def test_provider_that_is_set_later_is_used_from_then_on() -> None:
    code = """
        log.info("before")
        set_logger_provider(provider)
        log.info("after")
        print([kept.log_record.body for kept in memory.get_finished_logs()])
    """
    with receiving() as receiver:
        ended = run(receiver.url, code, prelude=_prelude(IN_MEMORY))
        assert receiver.bodies == ["before"]
    assert ended.output == "['after']"
    assert ended.counts == Counts(logged=2, sent=2)


@pytest.mark.parametrize("processor", ["SimpleLogRecordProcessor", "BatchLogRecordProcessor"])
def test_exporter_of_the_programs_own_provider_causes_no_loop(processor: str) -> None:
    setup = OVER_HTTP.format(classes=processor, processor=f"{processor}(OTLPLogExporter())")
    code = """
        set_logger_provider(provider)
        complog.set_logs(probe="DEBUG", modules={"urllib3": "DEBUG", "requests": "DEBUG", "opentelemetry": "DEBUG"})
        for number in range(5):
            log.info("%d", number)
            provider.force_flush()
    """
    with receiving() as receiver:
        ended = run(receiver.url, code, prelude=_prelude(setup), OTEL_BLRP_SCHEDULE_DELAY="10")
        assert receiver.bodies == [str(number) for number in range(5)]
    assert ended.counts == Counts(logged=5, sent=5)
    assert ended.errors == []


def test_provider_that_raises_costs_one_warning() -> None:
    code = """
        from opentelemetry._logs import LoggerProvider as Provider
        class Broken(Provider):
            def get_logger(self, *arguments, **keywords): raise RuntimeError("boom")
        set_logger_provider(Broken())
        for number in range(3): log.info("%d", number)
    """
    with receiving() as receiver:
        ended = run(receiver.url, code, prelude=_prelude(IN_MEMORY))
    assert ended.counts == Counts(logged=3, refused=3)
    assert len([line for line in ended.errors if "boom" in line]) == 1


def test_provider_that_a_variable_names_in_vain_is_asked_for_once() -> None:
    code = """
        import opentelemetry._logs
        for number in range(3): log.info("%d", number)
    """
    with receiving() as receiver:
        ended = run(receiver.url, code, OTEL_PYTHON_LOGGER_PROVIDER="nobody")
        assert receiver.bodies == ["0", "1", "2"]
    assert ended.errors.count("Failed to load configured provider logger_provider") == 1


def _prelude(setup: str) -> str:
    from plugins.otel.tests.programs import PRELUDE

    return PRELUDE + setup
