"""The format `json`: whatever a record carries, one line of valid JSON."""

from __future__ import annotations

import datetime
import enum
import json
import logging
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from complog_core.builtins import complog_formatters
from complog_core.formatters import make_formatter
from complog_core.model import Artifact, Field

FIELDS = (Field("rank", "head", lambda _: "[rank0]:"), Field("none", "tail", lambda _: ""))


def render(msg: object = "text", **extras: Any) -> dict[str, Any]:
    record = logging.LogRecord("a.b", logging.WARNING, "/x/y.py", 3, msg, (), None, "work")
    record.__dict__.update(extras)
    artifacts = {"a.b": Artifact("guards", log_format="")}
    text = make_formatter("json", complog_formatters(), FIELDS, artifacts, variable="V").format(record)
    assert "\n" not in text
    assert text.isascii()
    decoded: dict[str, Any] = json.loads(text, parse_constant=pytest.fail)
    return decoded


def test_standard_fields_have_their_common_names() -> None:
    fields = render("é\nline", created=1_700_000_000.25)
    assert fields.pop("process.pid")
    assert fields == {
        "@timestamp": "2023-11-14T22:13:20.250000Z",
        "log.level": "warning",
        "log.logger": "a.b",
        "message": "é\nline",
        "artifact": "guards",
        "process.thread.name": "MainThread",
        "log.origin.file.name": "y.py",
        "log.origin.file.line": 3,
        "log.origin.function": "work",
        "labels.rank": "[rank0]:",
    }


def test_exception_has_type_message_and_trace() -> None:
    class Special(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    for error, message in ((ValueError("a\nb"), "a\nb"), (Special(), "<")):
        try:
            raise error
        except Exception:
            fields = render(exc_info=sys.exc_info())
        assert fields["error.type"] == type(error).__qualname__
        assert fields["error.message"].startswith(message)
        assert fields["error.stack_trace"].startswith("Traceback ")
    assert "error.type" not in render(exc_info=(None, None, None))


class Colour(enum.IntEnum):
    RED = 1


class Hostile(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError

    def __repr__(self) -> str:
        raise SystemError


CYCLE: list[Any] = []
CYCLE.append(CYCLE)
DEEP: Any = []
for _ in range(5000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1),
        (True, True),
        (None, None),
        (Colour.RED, 1),
        (1.5, 1.5),
        (float("nan"), "nan"),
        ([float("-inf"), {"k": float("nan")}], ["-inf", {"k": "nan"}]),
        ({1: (2, {3})}, {"1": [2, "{3}"]}),
        ("lone \ud800", "lone \\ud800"),
        ({"\udfff": "\udfff"}, {"\\udfff": "\\udfff"}),
        (b"raw", "b'raw'"),
        (datetime.date(2024, 1, 2), "datetime.date(2024, 1, 2)"),
    ],
)
def test_extras_are_plain_data_or_their_repr(value: object, expected: object) -> None:
    assert render(extra_value=value)["extra_value"] == expected


@pytest.mark.parametrize("value", [Hostile(), CYCLE, DEEP, 10**5000, [10**5000]], ids="abcde")
def test_hopeless_extras_still_give_a_line(value: object) -> None:
    assert "extra_value" in render(extra_value=value)


def test_extra_does_not_replace_a_field() -> None:
    fields = render(**{"artifact": "mine", "log.level": "mine"})
    assert (fields["artifact"], fields["extra.artifact"]) == ("guards", "mine")
    assert (fields["log.level"], fields["extra.log.level"]) == ("warning", "mine")


PAYLOADS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.integers() | st.text(st.characters()), inner) | st.tuples(inner),
    max_leaves=8,
)


@given(PAYLOADS, st.text(st.characters()))
def test_any_payload_gives_valid_json(payload: object, message: str) -> None:
    assert render(message, extra_value=payload)["message"] == message.encode("utf-8", "backslashreplace").decode()
