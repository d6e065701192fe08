"""Whether records are sent, and what the standard variables say about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

SWITCH: Final = "COMPLOG_OTEL"
"""Variable: 1 sends records, 0 does not, whatever the others say."""

_NO: Final = ("0", "false", "no", "off")
_REQUESTS: Final = ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")


class Switch(NamedTuple):
    """Whether records are sent, and which variable says so."""

    is_on: bool
    reason: str


def read_switch(environ: Mapping[str, str]) -> Switch:
    """Return whether the variables ask for sending records.

    >>> read_switch({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"})
    Switch(is_on=True, reason='OTEL_EXPORTER_OTLP_ENDPOINT is set')
    >>> read_switch({"COMPLOG_OTEL": "1", "OTEL_SDK_DISABLED": "true"})
    Switch(is_on=False, reason='OTEL_SDK_DISABLED=true')
    """
    if _read(environ, "OTEL_SDK_DISABLED") == "true":
        return Switch(False, "OTEL_SDK_DISABLED=true")
    exporters = [name.strip() for name in _read(environ, "OTEL_LOGS_EXPORTER").split(",")]
    if "none" in exporters:
        return Switch(False, "OTEL_LOGS_EXPORTER=none")
    wanted = _read(environ, SWITCH)
    if wanted:
        return Switch(wanted not in _NO, f"{SWITCH}={wanted}")
    for variable in _REQUESTS:
        if _read(environ, variable):
            return Switch(True, f"{variable} is set")
    if "otlp" in exporters:
        return Switch(True, "OTEL_LOGS_EXPORTER=otlp")
    return Switch(False, f"neither {SWITCH}=1 nor {_REQUESTS[1]} is set")


def find_other_protocol(environ: Mapping[str, str]) -> str:
    """Return what the variables ask for that is not OTLP over HTTP in protobuf, as `VARIABLE=value`; "" for nothing.

    >>> find_other_protocol({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})
    'OTEL_EXPORTER_OTLP_PROTOCOL=grpc'
    """
    for variable in _PROTOCOLS:
        value = _read(environ, variable)
        if value:
            return "" if value == "http/protobuf" else f"{variable}={value}"
    return ""


def _read(environ: Mapping[str, str], variable: str) -> str:
    return environ.get(variable, "").strip().lower()
