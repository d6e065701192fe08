"""Records that come while a record is being written, and records that only look like one that was seen already."""

from __future__ import annotations

import enum
import logging
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.records import PLAIN, make_record, make_sink, send

from complog_core import Component, Field, GlogFormatter, LogSystem, TraceRecord, hookimpl, report
from complog_core.files import FileOutput
from complog_core.handlers import ComplogHandler


@pytest.fixture(autouse=True)
def _fresh_warnings() -> Iterator[None]:
    report.forget_warnings()
    yield
    report.forget_warnings()


def make_system(**hooks: Any) -> LogSystem:
    @hookimpl
    def complog_components() -> list[Component]:
        return [Component("reentry", ["reentry_test"])]

    return LogSystem("REENTRY", plugins=[SimpleNamespace(complog_components=complog_components, **hooks)])


def test_handler_that_reconfigures_and_logs_ends(capsys: pytest.CaptureFixture[str]) -> None:
    calls = []

    class Endless(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            calls.append(record)
            system.set_logs(reentry="DEBUG")
            logging.getLogger("reentry_test").info("again")

    endless = Endless()
    system = make_system(complog_handlers=hookimpl(lambda: [endless]))
    system.set_logs(reentry="DEBUG")
    logging.getLogger("reentry_test").info("first")
    system.close()
    assert 0 < len(calls) < 20
    assert "logged while a record is being written are dropped" in capsys.readouterr().err


def test_records_of_one_moment_are_different_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1.7e9)
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_000_000_000, raising=False)
    sink, seen = make_sink(), []
    handler = ComplogHandler(sink)

    def log() -> None:
        for number in range(200):
            seen.append(number)
            handler.emit(make_record(f"{number}"))  # which is freed at once, so that the next one may lie where it lay

    # within a change that another thread makes, all of them
    with sink.transition():
        worker = threading.Thread(target=log)
        lines = []
        sink._console.write = lambda text, paint=None, turn=None: lines.append(text) or True
        worker.start()
        worker.join()
    assert lines == [f"INFO {number}" for number in seen]


@pytest.mark.parametrize("value", [lambda record: 7, lambda record: None, lambda record: 1 / 0])
def test_field_is_asked_once_for_a_record(value: Any) -> None:
    calls = []
    formatter = GlogFormatter()
    formatter.bind([Field("odd", "tail", lambda record: calls.append(record) or value(record))], {})
    assert formatter.format(make_record("text")).endswith(" text")
    assert len(calls) == 1


def test_interrupt_in_a_field_is_let_through() -> None:
    def interrupt(record: logging.LogRecord) -> str:
        raise KeyboardInterrupt

    formatter = GlogFormatter()
    formatter.bind([Field("odd", "head", interrupt)], {})
    with pytest.raises(KeyboardInterrupt):
        formatter.format(make_record("text"))


def test_text_of_a_kind_of_its_own_is_rendered_once() -> None:
    class Markup(str):
        pass

    class Marking(logging.Formatter):
        count = 0

        def format(self, record: logging.LogRecord) -> str:
            self.count += 1
            return Markup(super().format(record))

    formatter = Marking(PLAIN._fmt)
    assert send(make_sink(formatter=formatter), make_record("text")) == "INFO text\n"
    assert formatter.count == 1


def test_listener_of_the_trace_that_records_ends(tmp_path: Path) -> None:
    told: list[TraceRecord] = []

    def listen(record: TraceRecord) -> None:
        told.append(record)
        system.trace.trace_structured("again", expect_trace_id=False)

    system = make_system(complog_trace_listeners=hookimpl(lambda: [listen]))
    system.trace.set_trace(tmp_path)
    for name in ("one", "two"):
        system.trace.trace_structured(name, expect_trace_id=False)
    system.close()
    assert [record.name for record in told] == ["one", "two"]
    (file,) = tmp_path.iterdir()
    assert file.read_text().count('"again"') == 2


def test_no_record_goes_to_what_took_the_descriptors_place(tmp_path: Path) -> None:
    output = FileOutput(str(tmp_path / "log"), variable="MYLIB_LOGS_OUT")
    with open(tmp_path / "theirs", "w") as theirs:
        for _ in range(50):
            output.write("ours")
            assert output._opened is not None
            os.dup2(theirs.fileno(), output._opened.descriptor)
            assert output.write("ours")
    output.close()
    assert (tmp_path / "theirs").read_text() == ""
    assert (tmp_path / "log").read_text() == "ours\n" * 100


class Failing:
    """A message that cannot be evaluated, and counts how often that is tried."""

    def __init__(self, error: BaseException) -> None:
        self.error, self.count = error, 0

    def __str__(self) -> str:
        self.count += 1
        raise self.error


@pytest.mark.parametrize("formatter", [GlogFormatter(), PLAIN])
def test_message_that_raises_is_evaluated_once_and_no_formatter_is_blamed(
    formatter: logging.Formatter, capsys: pytest.CaptureFixture[str]
) -> None:
    message = Failing(RuntimeError("mine"))
    ComplogHandler(make_sink(formatter=formatter)).emit(make_record("%s", message))
    told = capsys.readouterr().err
    assert message.count == 1
    assert "RuntimeError: mine" in told
    assert "complog: warning" not in told


def test_formatter_that_fails_has_the_message_evaluated_once(capsys: pytest.CaptureFixture[str]) -> None:
    class Late(logging.Formatter):
        def formatMessage(self, record: logging.LogRecord) -> str:
            raise LookupError("late")

    calls = []

    class Message:
        def __str__(self) -> str:
            calls.append(1)
            return "text"

    assert send(make_sink(formatter=Late()), make_record("%s", Message())).endswith("text\n")
    assert calls == [1]


def test_field_of_a_kind_of_str_shows_its_characters() -> None:
    class Phase(str, enum.Enum):
        FORWARD = "[fwd]"

    formatter = GlogFormatter()
    formatter.bind([Field("phase", "head", lambda record: Phase.FORWARD)], {})
    assert formatter.format(make_record("text")).startswith("[fwd]I")


def test_record_that_lacks_what_records_have_ends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    record = make_record("text")
    del record.relativeCreated, record.created
    ComplogHandler(make_sink()).emit(record)
    assert "text" in capsys.readouterr().err
