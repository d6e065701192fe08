"""One rendering per record and one evaluation of its message, whoever listens and whatever is broken."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pytest
from tests.support.records import PLAIN, Collector, Counting, Lazy, make_record, make_sink, send, shown

from complog_core import report
from complog_core.files import FileOutput
from complog_core.formatters import GlogFormatter
from complog_core.handlers import ComplogHandler, Pipeline


@pytest.fixture(autouse=True)
def _fresh_warnings() -> Iterator[None]:
    report.forget_warnings()
    yield
    report.forget_warnings()


def test_one_rendering_feeds_console_file_and_handlers_without_formatter(tmp_path: Path) -> None:
    file, first, second = FileOutput(str(tmp_path / "log"), variable="V"), Collector(), Collector()
    sink = make_sink(formatter=Counting(), file=file, handlers=(first, second))
    console = send(sink, make_record("a"), make_record("b"))
    file.close()
    assert console == (tmp_path / "log").read_text() == "#1 a\n#2 b\n"
    assert first.texts == second.texts == ["#1 a", "#2 b"]


def test_nothing_is_rendered_for_nobody() -> None:
    formatter, lazy = Counting(), Lazy()
    ComplogHandler(make_sink(formatter=formatter, console=False)).emit(make_record(lazy))
    assert (formatter.count, lazy.count) == (0, 0)


@pytest.mark.parametrize("in_args", [True, False])
def test_lazy_message_is_evaluated_once_whoever_listens(in_args: bool) -> None:
    lazy, own, shared = Lazy(), Collector(PLAIN), Collector()
    record = make_record("%s", lazy) if in_args else make_record(lazy)
    sink = make_sink(handlers=(own, shared, Collector(GlogFormatter())))
    assert send(sink, record) == "INFO evaluated 1\n"
    assert own.texts == shared.texts == ["INFO evaluated 1"]
    assert own.records[0].getMessage() == "evaluated 1"
    assert lazy.count == 1
    assert record.msg is (lazy if not in_args else record.msg)
    assert record.args == ((lazy,) if in_args else ())


def test_handlers_see_the_message_as_it_was_when_logged() -> None:
    items, own = [1], Collector(PLAIN)
    send(make_sink(handlers=(own,)), make_record("%s", items))
    items.append(2)
    assert own.records[0].getMessage() == "[1]"


def test_plain_message_keeps_its_template() -> None:
    own, record = Collector(PLAIN), make_record("%s of %d", "one", 2)
    send(make_sink(handlers=(own,)), record)
    assert own.records == [record]
    assert own.texts == ["INFO one of 2"]


def test_record_class_with_its_own_message_is_evaluated_once() -> None:
    class Braces(logging.LogRecord):
        def getMessage(self) -> str:
            return str(self.msg).format(*(self.args or ()))

    own = Collector(PLAIN)
    record = Braces("a", 20, "/x.py", 1, "{} tiles", ("{4}",), None)
    assert send(make_sink(handlers=(own,)), record) == "INFO {4} tiles\n"
    assert own.texts == ["INFO {4} tiles"]


def test_handler_that_keeps_records_renders_them_later_with_the_current_formatter() -> None:
    kept: list[logging.LogRecord] = []
    handler = Collector()
    handler.emit = kept.append
    sink = make_sink(handlers=(handler,))
    send(sink, make_record("later"))
    sink.pipeline = Pipeline(formatter=logging.Formatter("new %(message)s"))
    assert handler.format(kept[0]) == "new later"


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    "record", [make_record("%d", "x"), make_record(Unprintable()), make_record("%s", Unprintable())]
)
@pytest.mark.parametrize("handlers", [(), (Collector(PLAIN),)])
def test_unrenderable_record_is_told_as_the_standard_library_does(
    record: Any, handlers: tuple[logging.Handler, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = make_sink(handlers=handlers)
    assert send(sink, record).startswith("--- Logging error ---\n")
    monkeypatch.setattr(logging, "raiseExceptions", False)
    assert send(sink, record) == ""


def test_unrenderable_record_with_a_closed_console_is_no_exception() -> None:
    stream = io.StringIO()
    stream.close()
    with redirect_stderr(stream):
        ComplogHandler(make_sink()).emit(make_record("%d", "x"))


@pytest.mark.parametrize("returned", [None, b"bytes", ZeroDivisionError()])
def test_broken_formatter_costs_one_warning_and_no_record(returned: object) -> None:
    class Broken(logging.Formatter):
        def format(self, record: logging.LogRecord) -> Any:
            if isinstance(returned, Exception):
                raise returned
            return returned

    sink = make_sink(formatter=Broken())
    console = send(sink, make_record("a"), make_record("b"))
    assert [line for line in console.splitlines() if "warning:" not in line] == [
        "INFO:output_test:a",
        "INFO:output_test:b",
    ]
    assert console.count("warning:") == 1


def test_message_that_logs_while_it_is_rendered_comes_out_with_its_own() -> None:
    shared = Collector()
    handler = ComplogHandler(make_sink(handlers=(shared,)))

    class Chatty:
        def __str__(self) -> str:
            handler.handle(make_record("inner"))
            return "outer"

    assert shown(lambda: handler.handle(make_record(Chatty()))) == "INFO inner\nINFO outer\n"
    assert shared.texts == ["INFO inner", "INFO outer"]
