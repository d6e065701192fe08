"""Painters: the console gets what they make of a record's text, everybody else the text itself."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any, TextIO

import pytest
from tests.support.records import Collector, Counting, Lazy, make_record, make_sink, send
from tests.support.systems import SystemFactory, make_plugin, make_system, top

from complog_core import Component, Outputs, report
from complog_core.files import FileOutput
from complog_core.handlers import ComplogHandler

__all__ = ["make_system", "top"]


@pytest.fixture(autouse=True)
def _fresh_warnings() -> Iterator[None]:
    report.forget_warnings()
    yield
    report.forget_warnings()


def loud(record: logging.LogRecord, text: str, stream: TextIO) -> str:
    return text.upper()


def framed(record: logging.LogRecord, text: str, stream: TextIO) -> str:
    return f"<{text}>"


def broken(record: logging.LogRecord, text: str, stream: TextIO) -> str:
    raise RuntimeError("boom")


def test_each_painter_gets_what_the_one_before_made() -> None:
    assert send(make_sink(painters=(loud, framed)), make_record("hello")) == "<INFO HELLO>\n"


def test_file_and_handlers_get_the_text_itself(tmp_path: Path) -> None:
    file, collector = FileOutput(str(tmp_path / "log"), variable="V"), Collector()
    sink = make_sink(painters=(loud,), file=file, handlers=(collector,))
    assert send(sink, make_record("hello")) == "INFO HELLO\n"
    file.close()
    assert (tmp_path / "log").read_text() == "INFO hello\n"
    assert collector.texts == ["INFO hello"]


def test_message_is_evaluated_and_rendered_once_and_the_painter_has_it(tmp_path: Path) -> None:
    messages: list[object] = []

    def look(record: logging.LogRecord, text: str, stream: TextIO) -> str:
        messages.extend([record.message, record.getMessage()])
        return text

    lazy, file = Lazy(), FileOutput(str(tmp_path / "log"), variable="V")
    sink = make_sink(painters=(look, look), file=file, formatter=Counting("%(message)s"))
    assert send(sink, make_record("%s", lazy)) == "#1 evaluated 1\n"
    file.close()
    assert (messages, lazy.count) == (["evaluated 1"] * 4, 1)


def test_painter_has_the_message_whatever_the_formatter_does() -> None:
    class Bare(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return "bare"

    def tell(record: logging.LogRecord, text: str, stream: TextIO) -> str:
        return f"{text}: {record.message}"

    assert send(make_sink(painters=(tell,), formatter=Bare()), make_record("%d tiles", 3)) == "bare: 3 tiles\n"


def test_painter_gets_the_stream_of_the_moment() -> None:
    streams: list[TextIO] = []

    def note(record: logging.LogRecord, text: str, stream: TextIO) -> str:
        streams.append(stream)
        return text

    sink = make_sink(painters=(note,))
    for stream in (io.StringIO(), io.StringIO()):
        with redirect_stderr(stream):
            ComplogHandler(sink).emit(make_record())
        assert streams[-1] is stream


@pytest.mark.parametrize("console", [True, False])
def test_painters_work_for_the_console_only(console: bool) -> None:
    asked: list[str] = []

    def note(record: logging.LogRecord, text: str, stream: TextIO) -> str:
        asked.append(text)
        return text

    send(make_sink(painters=(note,), console=console), make_record("hello"))
    assert asked == ["INFO hello"] * console


def test_text_that_a_file_refuses_is_painted_too(tmp_path: Path) -> None:
    file = FileOutput(str(tmp_path / "log"), variable="V")
    file.write = lambda text: False
    assert send(make_sink(painters=(loud,), file=file, console=False), make_record("hello")) == "INFO HELLO\n"
    file.close()


@pytest.mark.parametrize(
    ("painter", "cause"),
    [(broken, "raised RuntimeError: boom"), (lambda *_: 3, "returned int"), (lambda *_: sys.exit(3), "SystemExit")],
)
def test_fault_leaves_the_text_as_it_was_with_one_warning(painter: Callable[..., Any], cause: str) -> None:
    shown = send(make_sink(painters=(loud, painter, framed)), make_record("hello"), make_record("again"))
    warning, first, second = shown.splitlines()
    assert warning.startswith("complog: warning: the painter ")
    assert cause in warning
    assert (first, second) == ("<INFO HELLO>", "<INFO AGAIN>")


def test_interrupt_in_a_painter_is_the_programs(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(record: logging.LogRecord, text: str, stream: TextIO) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ComplogHandler(make_sink(painters=(interrupt,))).emit(make_record())


def test_hook_is_asked_at_each_change_with_the_outputs(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Outputs] = []

    def complog_console_painters(outputs: Outputs) -> list[Any]:
        asked.append(outputs)
        return [loud] if outputs.format == "%(message)s" else []

    system = make_system(make_plugin(components=[Component(top, [top])], console_painters=complog_console_painters))
    shown = []
    for fmt in ("%(message)s", "%(levelname)s"):
        monkeypatch.setenv("PROBE_LOGS_FORMAT", fmt)
        with system.logs(**{top: "INFO"}), redirect_stderr(io.StringIO()) as stream:
            logging.getLogger(f"{top}.x").info("text")
        shown.append(stream.getvalue())
    assert shown == ["TEXT\n", "INFO\n"]
    assert {outputs.format for outputs in asked} == {"%(message)s", "%(levelname)s"}
