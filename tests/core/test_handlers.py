"""The sink and its handlers: each record once per output, and no fault of anybody's that reaches the caller."""

from __future__ import annotations

import io
import itertools
import logging
import os
import signal
import threading
import unittest.mock
import weakref
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pytest
from tests.support.records import PLAIN, Collector, Counting, Lazy, make_record, make_sink, send, shown

from complog_core import report, settle_message
from complog_core.files import FileOutput
from complog_core.handlers import ComplogHandler, Pipeline


@pytest.fixture(autouse=True)
def _fresh_warnings() -> Iterator[None]:
    report.forget_warnings()
    yield
    report.forget_warnings()


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    """A logger below another one, neither of which reaches the root."""
    parent, child = logging.getLogger("output_test"), logging.getLogger("output_test.child")
    parent.propagate = False
    parent.setLevel(logging.DEBUG)
    yield child
    for each in (parent, child):
        each.handlers.clear()
        each.propagate = True
        each.setLevel(logging.NOTSET)


@pytest.fixture
def on_root() -> Iterator[Callable[[logging.Handler], None]]:
    added: list[logging.Handler] = []

    def add(handler: logging.Handler) -> None:
        added.append(handler)
        logging.root.addHandler(handler)

    yield add
    for handler in added:
        logging.root.removeHandler(handler)


def test_contributed_handler_keeps_its_level_and_filters() -> None:
    strict, filtered, broad = Collector(level=logging.ERROR), Collector(), Collector()
    filtered.addFilter(lambda record: False)
    send(make_sink(handlers=(strict, filtered, broad)), make_record())
    assert (strict.texts, filtered.texts, broad.texts) == ([], [], ["INFO text"])


def test_raising_handler_is_told_once_and_the_next_gets_the_record() -> None:
    class Raising(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise RuntimeError

    last = Collector()
    sink = make_sink(handlers=(Raising(), last))
    console = send(sink, make_record("a"), make_record("b"))
    assert last.texts == ["INFO a", "INFO b"]
    assert console.count("Raising raised RuntimeError") == 1


def test_filters_drop_before_rendering_and_a_raising_one_lets_pass() -> None:
    formatter = Counting()
    sink = make_sink(formatter=formatter, filters=(lambda record: record.msg != "dropped",))
    assert send(sink, make_record("dropped")) == ""
    assert formatter.count == 0
    sink = make_sink(filters=(lambda record: bool(1 // 0), lambda record: record.levelno > 10))
    console = send(sink, *(make_record(level=level) for level in (10, 20, 30)))
    assert [line for line in console.splitlines() if "warning:" not in line] == ["INFO text", "WARNING text"]
    assert console.count("ZeroDivisionError") == 1


def test_record_that_a_filter_returns_goes_on_in_place_of_the_one_it_got(tmp_path: Path) -> None:
    other, asked = make_record("other"), []
    collector = Collector()
    filters = (lambda record: other, lambda record: asked.append(record) or True)
    sink = make_sink(filters=filters, handlers=(collector,))
    assert send(sink, make_record("text")) == "INFO other\n"
    assert (asked, collector.records) == ([other], [other])


@pytest.mark.parametrize("handlers", [0, 2])
def test_message_that_a_filter_has_settled_is_evaluated_once(handlers: int, tmp_path: Path) -> None:
    lazy, file = Lazy(), FileOutput(str(tmp_path / "log"), variable="X")
    collectors = tuple(Collector(PLAIN) for _ in range(handlers))
    sink = make_sink(filters=(settle_message, settle_message), file=file, handlers=collectors)
    assert send(sink, make_record("%s", lazy)) == "INFO evaluated 1\n"
    assert (tmp_path / "log").read_text() == "INFO evaluated 1\n"
    assert [collector.texts for collector in collectors] == [["INFO evaluated 1"]] * handlers
    assert lazy.count == 1
    file.close()


def test_what_the_file_refuses_goes_to_a_silenced_console() -> None:
    file = FileOutput("/dev/full", variable="V")
    for console in (True, False):
        sink = make_sink(file=file, console=console)
        lines = send(sink, make_record()).splitlines()
        assert lines.count("INFO text") == 1
    file.close()


def test_file_without_console_leaves_stderr_alone(tmp_path: Path) -> None:
    file = FileOutput(str(tmp_path / "log"), variable="V")
    assert send(make_sink(file=file, console=False), make_record()) == ""
    assert (tmp_path / "log").read_text() == "INFO text\n"
    file.close()


def test_propagation_passes_each_record_once_to_roots_handlers(on_root: Any, logger: logging.Logger) -> None:
    sink = make_sink(propagate=True)
    strict, broad = Collector(level=logging.ERROR), Collector()
    for handler in (strict, broad, ComplogHandler(sink)):
        on_root(handler)
    logger.addHandler(ComplogHandler(sink))
    logger.propagate = False
    assert shown(lambda: logger.info("a")) == "INFO a\n"
    assert (len(strict.records), len(broad.records)) == (0, 1)
    sink.pipeline = Pipeline(formatter=PLAIN)
    shown(lambda: logger.info("b"))
    assert len(broad.records) == 1


@pytest.mark.parametrize("carrier", ["itself", "ancestor"])
def test_handler_of_root_that_sits_on_the_logger_too_gets_a_record_once(
    carrier: str, on_root: Any, logger: logging.Logger
) -> None:
    # pytest puts its handler on every logger that does not propagate
    collector, ancestor = Collector(), logging.getLogger("output_test")
    on_root(collector)
    logger.addHandler(ComplogHandler(make_sink(propagate=True)))
    (logger if carrier == "itself" else ancestor).addHandler(collector)
    shown(lambda: logger.info("a"))
    assert len(collector.records) == 1


def test_record_that_reaches_root_by_itself_is_not_passed_again(on_root: Any) -> None:
    logger, collector = logging.getLogger("output_test_native"), Collector()
    on_root(collector)
    logger.addHandler(ComplogHandler(make_sink(propagate=True)))
    shown(lambda: logger.error("a"))
    logger.handlers.clear()
    assert len(collector.records) == 1


def test_transition_counts_a_record_once_that_comes_through_two_loggers(logger: logging.Logger) -> None:
    sink = make_sink()
    assert logger.parent is not None
    for each in (logger, logger.parent):
        each.addHandler(ComplogHandler(sink))

    def change_meanwhile() -> None:
        with sink.transition():
            logger.info("a")
            logger.info("a")

    assert shown(change_meanwhile) == "INFO a\n" * 2
    assert shown(lambda: logger.info("b")) == "INFO b\n" * 2


@pytest.mark.parametrize("phase", ["begins", "ends", "begins and ends"])
def test_record_under_way_when_a_transition_comes_or_goes_counts_once(phase: str, logger: logging.Logger) -> None:
    sink, between = make_sink(), logging.Handler()
    change = sink.transition()
    if phase == "ends":
        change.__enter__()

    def elsewhere(record: logging.LogRecord) -> None:
        steps = {"begins": ["__enter__"], "ends": ["__exit__"], "begins and ends": ["__enter__", "__exit__"]}[phase]
        for step in steps:
            thread = threading.Thread(target=getattr(change, step), args=(None, None, None)[: 3 * (step == "__exit__")])
            thread.start()
            thread.join()

    between.emit = elsewhere
    assert logger.parent is not None
    logger.addHandler(ComplogHandler(sink))
    logger.addHandler(between)
    logger.parent.addHandler(ComplogHandler(sink))
    assert shown(lambda: logger.info("a")) == "INFO a\n"
    if phase == "begins":
        change.__exit__(None, None, None)


def test_walk_that_still_held_a_removed_handler_writes_its_record_once(logger: logging.Logger) -> None:
    sink = make_sink()
    removed = ComplogHandler(sink)

    def change_before_the_walk_goes_on(record: logging.LogRecord) -> bool:
        with sink.transition():
            removed.retired = True
            logger.handlers = []
        return True

    assert logger.parent is not None
    logger.parent.addHandler(ComplogHandler(sink))
    removed.addFilter(change_before_the_walk_goes_on)
    logger.addHandler(removed)
    assert shown(lambda: logger.info("a")) == "INFO a\n"


def test_handing_in_a_record_again_outside_transitions_writes_it_again() -> None:
    sink, record = make_sink(), make_record()
    first, second = ComplogHandler(sink), ComplogHandler(sink)

    def change() -> None:
        with sink.transition():
            pass

    def change_elsewhere() -> None:
        thread = threading.Thread(target=change)
        thread.start()
        thread.join()

    def hand_in(*handlers: ComplogHandler) -> None:
        for handler in handlers:
            handler.handle(record)

    assert shown(lambda: hand_in(first, first, second), change, lambda: hand_in(first)) == "INFO text\n" * 4
    assert shown(change_elsewhere, lambda: hand_in(first)) == "INFO text\n"


def test_records_are_not_kept_alive() -> None:
    sink, record = make_sink(handlers=(logging.NullHandler(),)), make_record(Lazy())
    with redirect_stderr(io.StringIO()):
        ComplogHandler(sink).handle(record)
    reference = weakref.ref(record)
    del record
    assert reference() is None


def test_forked_child_is_not_stuck_in_a_transition_of_another_thread() -> None:
    sink, record = make_sink(), make_record()
    change = sink.transition()
    thread = threading.Thread(target=change.__enter__)
    thread.start()
    thread.join()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        with redirect_stderr(io.StringIO()) as stream:
            ComplogHandler(sink).emit(record)
            ComplogHandler(sink).emit(record)
        os._exit(stream.getvalue() != "INFO text\n" * 2)
    change.__exit__(None, None, None)
    assert os.waitpid(child, 0)[1] == 0


def test_emit_is_looked_up_on_the_instance(logger: logging.Logger) -> None:
    handler, seen = ComplogHandler(make_sink()), list[logging.LogRecord]()
    logger.addHandler(handler)
    with unittest.mock.patch.object(handler, "emit", seen.append):
        assert shown(lambda: logger.info("a")) == ""
    assert shown(lambda: logger.info("b")) == "INFO b\n"
    assert [record.msg for record in seen] == ["a"]


def test_handler_filters_apply_to_that_handler() -> None:
    sink = make_sink()
    filtered, other = ComplogHandler(sink), ComplogHandler(sink)
    filtered.addFilter(lambda record: False)
    assert shown(lambda: [filtered.handle(make_record("a")), other.handle(make_record("b"))]) == "INFO b\n"


def test_formatter_reads_as_the_sinks_current_one_unless_set() -> None:
    sink = make_sink()
    handler = ComplogHandler(sink)
    sink.pipeline = Pipeline(formatter=logging.Formatter("new %(message)s"))
    assert handler.formatter is sink.pipeline.formatter
    handler.setFormatter(logging.Formatter("mine %(message)s"))
    assert handler.format(make_record()) == "mine text"
    assert shown(lambda: handler.handle(make_record())) == "new text\n"


def test_handlers_behave_as_standard_ones_and_cost_no_lock() -> None:
    handler = ComplogHandler(make_sink())
    handler.set_name("output_test")
    assert logging.getHandlerByName("output_test") is handler if hasattr(logging, "getHandlerByName") else True
    handler.acquire()
    handler.release()
    handler.setLevel(logging.ERROR)
    handler.flush()
    handler.close()
    assert (handler.level, handler.lock, repr(handler)) == (logging.ERROR, None, "<ComplogHandler (ERROR)>")
    assert all(reference() is not handler for reference in logging._handlerList)


def test_many_threads_and_a_changing_pipeline_lose_nothing(tmp_path: Path) -> None:
    files = [FileOutput(str(tmp_path / str(number)), variable="V") for number in range(20)]
    sink = make_sink(console=False, file=files[0])
    handler = ComplogHandler(sink)
    threads = [threading.Thread(target=lambda: [handler.handle(make_record()) for _ in range(300)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for old, new in itertools.pairwise(files):
        sink.pipeline = Pipeline(formatter=PLAIN, console=False, file=new)
        old.close()
    for thread in threads:
        thread.join()
    files[-1].close()
    assert "".join(path.read_text() for path in tmp_path.iterdir()) == "INFO text\n" * 1200
