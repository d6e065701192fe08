"""What a format's text may ask for: the default line, a registered name, a %-format; anything else is a clear error."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from complog_core import report
from complog_core.builtins import complog_formatters
from complog_core.errors import FormatError
from complog_core.formats import BrokenFormatError, make_formatter
from complog_core.formatters import GlogFormatter
from complog_core.model import Artifact, Field

VARIABLE = "MYLIB_LOGS_FORMAT"


@pytest.fixture(autouse=True)
def _fresh_warnings() -> Iterator[None]:
    report.forget_warnings()
    yield
    report.forget_warnings()


def make_record(**more: Any) -> logging.LogRecord:
    record = logging.LogRecord("a.b", logging.INFO, "/nowhere/x.py", 7, "text", (), None)
    record.__dict__.update({"created": 1_700_000_000.0, "msecs": 774.0}, **more)
    return record


def choose(fmt: str | None, factories: Any = None, artifacts: Any = None) -> logging.Formatter:
    return make_formatter(
        fmt, complog_formatters() if factories is None else factories, (), artifacts or {}, variable=VARIABLE
    )


@pytest.mark.parametrize("fmt", [None, "", "  ", "glog", " glog "])
def test_no_format_is_the_default_line(fmt: str | None) -> None:
    assert choose(fmt).format(make_record()) == GlogFormatter().format(make_record())


@pytest.mark.parametrize("fmt", ["short", "basic"])
def test_short_and_basic_override_artifact_formats(fmt: str) -> None:
    artifacts = {"a.b": Artifact("bare", log_format="")}
    assert choose(fmt, artifacts=artifacts).format(make_record()) == "INFO:a.b:text"
    assert choose("%(lineno)d %(prefix)s", artifacts=artifacts).format(make_record()).startswith("7 I")


def test_prefix_is_made_only_where_it_is_asked_for() -> None:
    asked: list[logging.LogRecord] = []

    def ask(record: logging.LogRecord) -> str:
        asked.append(record)
        return ""

    fields = (Field("asked", "head", ask),)
    for fmt, count in (("%(message)s", 0), ("%(prefix)s", 1)):
        make_formatter(fmt, {}, fields, {}, variable=VARIABLE).format(make_record())
        assert len(asked) == count


BAD_FORMATS = [
    "%(mesage)s",
    "%(message)",
    "%(lineno)q",
    "%(message)d",
    "%(message)s %s",
    "%(message)s %",
    "%(lineno)*d",
]


@pytest.mark.parametrize("fmt", BAD_FORMATS)
def test_bad_percent_format_is_one_clear_error(fmt: str) -> None:
    with pytest.raises(FormatError) as caught_error:
        choose(fmt)
    text = str(caught_error.value)
    assert text.startswith(VARIABLE + ": '")
    assert "fields: asctime, created," in text
    assert "registered formats: basic, glog, json, short" in text


def test_every_unknown_field_is_told_with_its_nearest() -> None:
    with pytest.raises(FormatError) as caught_error:
        choose("%(mesage)s %(levelname)s %(lineo)d")
    first, second = caught_error.value.problems
    assert "did you mean message?" in first
    assert "did you mean lineno" in second


@pytest.mark.parametrize("fmt", ["shrt", "{message}", "$message", "100%", "%s"])
def test_other_texts_are_refused_with_the_valid_names(fmt: str) -> None:
    with pytest.raises(FormatError, match="registered formats: basic, glog, json, short"):
        choose(fmt)


def test_fields_of_the_record_factory_are_valid_and_a_record_without_gets_the_default_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Tagged(logging.LogRecord):
        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(*args, **more)
            self.tag = "T"

    usual = logging.getLogRecordFactory()
    logging.setLogRecordFactory(Tagged)
    try:
        formatter = choose("%(tag)s %(message)s")
    finally:
        logging.setLogRecordFactory(usual)
    assert formatter.format(make_record(tag="T")) == "T text"
    assert formatter.format(make_record()) == formatter.format(make_record()) == GlogFormatter().format(make_record())
    assert capsys.readouterr().err.count("does not fit") == 1


def leave() -> logging.Formatter:
    raise SystemExit(3)


@pytest.mark.parametrize(
    "factory", [leave, lambda: 1 / 0, lambda: None, lambda: "%(message)s", logging.Formatter.format]
)
def test_broken_factory_is_named_and_no_settings_error(factory: Any) -> None:
    with pytest.raises(
        BrokenFormatError, match=r"'mine' of (\S*test_percent|logging)\.\S+, instead of which"
    ) as caught:
        choose("mine", {"mine": factory})
    assert not isinstance(caught.value, ValueError)


def test_plugin_formatter_is_bound_and_may_subclass_the_default() -> None:
    class Shouting(GlogFormatter):
        def format(self, record: logging.LogRecord) -> str:
            return f"{self.prefix(record)}! {record.getMessage().upper()}"

    line = choose("mine", {"mine": Shouting}, {"a.b": Artifact("guards")}).format(make_record())
    assert line.endswith("] [__guards]! TEXT")
    assert choose("other", {"other": logging.Formatter}).format(make_record()) == "text"
