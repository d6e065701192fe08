"""Records are sent on request only, and until there is one nothing of OpenTelemetry is imported."""

from __future__ import annotations

import pytest
from plugins.otel.tests.programs import run
from plugins.otel.tests.receiver import receiving

from complog_otel.counts import Counts
from complog_otel.plugin import complog_plugin_notes
from complog_otel.switch import read_switch

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}
LOGS_ENDPOINT = {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://collector:4318/v1/logs"}


@pytest.mark.parametrize(
    "variables",
    [
        {"COMPLOG_OTEL": "1"},
        {"COMPLOG_OTEL": " TRUE "},
        {"COMPLOG_OTEL": "yes"},
        ENDPOINT,
        LOGS_ENDPOINT,
        {"OTEL_LOGS_EXPORTER": "otlp"},
        {"OTEL_LOGS_EXPORTER": "console, otlp"},
        {"COMPLOG_OTEL": "1", "OTEL_LOGS_EXPORTER": "console"},
        {**ENDPOINT, "OTEL_SDK_DISABLED": "false"},
        {**ENDPOINT, "COMPLOG_OTEL": ""},
    ],
)
def test_request_switches_it_on(variables: dict[str, str]) -> None:
    assert read_switch(variables).is_on


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"COMPLOG_OTEL": "0", **ENDPOINT, **LOGS_ENDPOINT},
        {"COMPLOG_OTEL": "Off", **ENDPOINT},
        {"COMPLOG_OTEL": "no", **ENDPOINT},
        {"COMPLOG_OTEL": "false", **ENDPOINT},
        {"COMPLOG_OTEL": "1", "OTEL_SDK_DISABLED": "true"},
        {**ENDPOINT, "OTEL_SDK_DISABLED": " True "},
        {"COMPLOG_OTEL": "1", **ENDPOINT, "OTEL_LOGS_EXPORTER": "none"},
        {"OTEL_LOGS_EXPORTER": "console"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "  "},
        {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4318/v1/traces"},
        {"OTEL_SERVICE_NAME": "train"},
    ],
)
def test_without_a_request_or_with_a_refusal_it_is_off(variables: dict[str, str]) -> None:
    assert not read_switch(variables).is_on


def test_notes_say_whether_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COMPLOG_OTEL", "OTEL_SDK_DISABLED", "OTEL_LOGS_EXPORTER", *ENDPOINT, *LOGS_ENDPOINT):
        monkeypatch.delenv(name, raising=False)
    assert complog_plugin_notes() == ["it is off: neither COMPLOG_OTEL=1 nor OTEL_EXPORTER_OTLP_ENDPOINT is set"]
    monkeypatch.setenv("COMPLOG_OTEL", "1")
    assert complog_plugin_notes() == ["it sends records: COMPLOG_OTEL=1"]


LOADED = """
import sys
def loaded(): print(sorted({name.partition(".")[0] for name in sys.modules} & {"opentelemetry", "requests", "google"}))
import complog, logging
loaded()
complog.set_logs("+dynamo")
loaded()
"""


@pytest.mark.parametrize("switch", ["0", "1"])
def test_nothing_of_opentelemetry_is_imported_before_the_first_record(switch: str) -> None:
    with receiving() as receiver:
        ended = run(receiver.url, "print()", prelude=LOADED, COMPLOG_OTEL=switch)
        assert receiver.headers == []
    assert ended.errors == []
    assert ended.output == "[]\n[]"


def test_switched_off_it_loads_nothing_for_records_either() -> None:
    code = "logging.getLogger('torch._dynamo.x').info('a')\nloaded()\nprint()"
    with receiving() as receiver:
        ended = run(receiver.url, code, prelude=LOADED, OTEL_SDK_DISABLED="true")
        assert receiver.headers == []
    assert ended.output == "[]\n[]\n[]"


def test_switch_is_read_again_when_the_configuration_changes() -> None:
    code = """
        log.info("on")
        os.environ["COMPLOG_OTEL"] = "0"
        complog.set_logs(probe="INFO")
        log.info("off")
        os.environ["COMPLOG_OTEL"] = "1"
        complog.set_logs(probe="INFO")
        log.info("on again")
    """
    with receiving() as receiver:
        ended = run(receiver.url, code)
        assert receiver.bodies == ["on", "on again"]
    assert ended.counts == Counts(logged=2, sent=2)


@pytest.mark.parametrize("console", ["0", "1"])
def test_console_is_independent_of_it(console: str) -> None:
    with receiving() as receiver:
        ended = run(receiver.url, "log.info('a')", TORCH_LOGS_STDERR=console)
        assert receiver.bodies == ["a"]
    assert len(ended.errors) == int(console)


def test_name_and_attributes_of_the_service_are_the_variables() -> None:
    variables = {"OTEL_SERVICE_NAME": "train", "OTEL_RESOURCE_ATTRIBUTES": "job.id=7,host.name=mine"}
    with receiving() as receiver:
        run(receiver.url, "log.info('a')", **variables)
        (record,) = receiver.records
        resource = {name: record.resource[name] for name in ("service.name", "job.id", "host.name")}
        assert resource == {"service.name": "train", "job.id": "7", "host.name": "mine"}
