"""Whatever is wrong costs the colours at most: streams, rich itself, threads, forks, messages."""

from __future__ import annotations

import io
import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pytest
from tests.support.systems import SystemFactory, make_plugin, make_system, top
from tests.support.terminals import readable, run_in_terminal

import complog_rich.plugin
from complog_core import Artifact, Component, LogSystem
from complog_rich import first_use
from complog_rich.surroundings import Surroundings, look

__all__ = ["make_system", "top"]

LINES = "op    name\n----  ----\ncall  mul"


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def system(make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch) -> LogSystem:
    for variable in ("NO_COLOR", "FORCE_COLOR", "FORCE_HYPERLINK"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("PROBE_LOGS_FORMAT", "rich")
    names = make_plugin(components=[Component("probe", [top])], artifacts=[Artifact("output_code")])
    made = make_system(complog_rich.plugin, names)
    made.set_logs("+probe")
    return made


@pytest.fixture
def log(system: LogSystem, top: str) -> logging.Logger:
    return logging.getLogger(f"{top}.x")


def shown(work: Callable[[], object], stream: io.StringIO | None = None) -> str:
    with redirect_stderr(stream or Terminal()) as target:
        work()
    return target.getvalue()


def test_lazy_message_is_evaluated_once_for_terminal_and_file(tmp_path: Path) -> None:
    program = """
        import complog, logging
        count = 0
        def evaluate():
            global count
            count += 1
            return f"evaluated {count}"
        logging.getLogger("torch.toy").warning("%s", complog.LazyString(evaluate))
        print(count)
    """
    env = {"TORCH_LOGS_FORMAT": "rich", "TORCH_LOGS_OUT": str(tmp_path / "log")}
    sent, count = run_in_terminal(program, tmp_path, env=env).splitlines()
    assert count == "1"
    assert "\x1b[" in sent
    assert readable(sent) + "\n" == (tmp_path / "log").read_text(encoding="utf-8")


def test_record_is_one_write(log: logging.Logger) -> None:
    writes: list[str] = []

    class Counting(Terminal):
        def write(self, text: str) -> int:
            writes.append(text)
            return len(text)

    shown(lambda: log.info(LINES), Counting())
    assert len(writes) == 1
    assert readable(writes[0]).count("\n") == 5


class Broken(Terminal):
    def __init__(self, method: str, error: BaseException) -> None:
        super().__init__()
        self.broken, self.error = method, error

    def isatty(self) -> bool:
        if self.broken == "isatty":
            raise self.error
        return True

    def write(self, text: str) -> int:
        if self.broken == "write":
            raise self.error
        return super().write(text)


@pytest.mark.parametrize("error", [OSError("gone"), ValueError("closed"), RuntimeError("what")])
@pytest.mark.parametrize("method", ["isatty", "write"])
def test_broken_console_costs_its_copy_only(
    system: LogSystem,
    log: logging.Logger,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    error: Exception,
) -> None:
    monkeypatch.setenv("PROBE_LOGS_OUT", str(tmp_path / "log"))
    system.set_logs("+probe")
    shown(lambda: log.info("text"), Broken(method, error))
    assert (tmp_path / "log").read_text(encoding="utf-8").endswith("] text\n")


@pytest.mark.parametrize("stream", [None, object()])
def test_console_that_is_none_costs_nothing(
    system: LogSystem, log: logging.Logger, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stream: object
) -> None:
    monkeypatch.setenv("PROBE_LOGS_OUT", str(tmp_path / "log"))
    system.set_logs("+probe")
    monkeypatch.setattr(sys, "stderr", stream)
    log.info("text")
    assert (tmp_path / "log").read_text(encoding="utf-8").endswith("] text\n")


def test_stream_of_another_encoding_gets_what_it_can_show(log: logging.Logger) -> None:
    raw = io.BytesIO()

    class Latin(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    stream: Any = Latin(raw, "latin-1")
    with redirect_stderr(stream):
        log.info("%s\n\né 漢", LINES)
    text = readable(raw.getvalue().decode("latin-1"))
    assert "| call | mul  |" in text
    assert r"é \u6f22" in text


@pytest.mark.parametrize("where", ["highlight", "draw_table", "guess", "show_prefix"])
def test_fault_while_painting_is_one_warning_and_harmless_lines(
    log: logging.Logger, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    import complog_rich.lines

    def fail(*arguments: object, **keywords: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(complog_rich.lines, where, fail)
    message = f"\x1b]0;t\x07import os\ndef f(): ...\ndef g(): ...\n\n{LINES if where == 'draw_table' else ''}"
    sent = shown(lambda: [log.info(message), log.info(message)])
    assert sent.count("complog: warning: ") == sent.count("raised RecursionError: too deep") == 1
    assert "\x1b" not in sent
    assert sent.count(r"] \x1b]0;t\x07import os") == 2


def test_missing_rich_is_one_warning_and_harmless_lines(tmp_path: Path) -> None:
    program = """
        import sys
        class Refuse:
            asked = 0
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] == "rich":
                    Refuse.asked += 1
                    raise ImportError("rich is broken")
        sys.meta_path.insert(0, Refuse())
        import complog, logging
        for number in range(3):
            logging.getLogger("torch.toy").warning("%d \\x1b[2J", number)
        print(Refuse.asked)
    """
    sent = run_in_terminal(program, tmp_path, env={"TORCH_LOGS_FORMAT": "rich"})
    assert sent.count("complog: warning: ") == sent.count("rich is broken") == 1
    assert "complog-rich[rich]" in sent
    assert [line.partition("] ")[2] for line in sent.splitlines() if line.startswith("W")] == [
        f"{number} \\x1b[2J" for number in range(3)
    ]
    assert sent.splitlines()[-1] == "1"


def test_threads_get_whole_lines(log: logging.Logger) -> None:
    def work(number: int) -> None:
        for count in range(30):
            log.info("%s", f"{number} {count}\n{LINES}\n\nimport os\ndef f(): ...\ndef g(): ...")

    def run() -> None:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    lines = readable(shown(run)).splitlines()
    assert len(lines) == 8 * 30 * 10
    assert all("] " in line and line.startswith("I") for line in lines)
    # what it raises would be a warning
    assert not [line for line in lines if "complog" in line.partition("] ")[0] and "warning" in line]


def test_child_forked_while_others_paint_goes_on(tmp_path: Path) -> None:
    program = f"""
        import complog, logging, os, threading
        log = logging.getLogger("torch.toy")
        stop = threading.Event()
        def work():
            while not stop.is_set():
                log.debug({LINES!r})
        complog.set_logs("+torch")
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(10):
            child = os.fork()
            if not child:
                log.warning("child\\n" + {LINES!r})
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        stop.set()
    """
    sent = readable(run_in_terminal(program, tmp_path, env={"TORCH_LOGS_FORMAT": "rich"}))
    assert sent.count("] child\n") == 10


def test_child_forked_during_the_import_of_rich_does_not_wait_for_it(
    log: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_use, "_make", None)
    monkeypatch.setattr(first_use, "_begun_in", os.getppid())
    monkeypatch.setattr(first_use, "_load", lambda: pytest.fail("it would hang"))
    assert shown(lambda: log.info("\x1b[2J")).endswith("] \\x1b[2J\n")


def test_records_at_exit_come_out(tmp_path: Path) -> None:
    program = """
        import atexit, complog, logging
        log = logging.getLogger("torch.toy")
        atexit.register(lambda: log.warning("at exit"))
        class Last:
            def __del__(self):
                log.warning("at the end")
        last = Last()
        last.itself = last
    """
    sent = readable(run_in_terminal(program, tmp_path, env={"TORCH_LOGS_FORMAT": "rich"}))
    assert "] at exit\n" in sent
    assert "at the end\n" in sent
    assert "Traceback" not in sent


def test_notebook_gets_colours_and_no_links(log: logging.Logger) -> None:
    kind = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream", "encoding": "UTF-8"})
    sent = shown(lambda: log.info(LINES), kind())
    assert ("\x1b[1;32mI" in sent, "\x1b]8" in sent, "│ call │" in readable(sent)) == (True, False, True)


def test_notebook_is_no_terminal_for_auto() -> None:
    kind = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})
    assert look(kind(), {}, always=False) is None


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, Surroundings(True, True, True, True)),
        ({"NO_COLOR": ""}, Surroundings(True, True, True, True)),
        ({"NO_COLOR": "0"}, Surroundings(True, False, False, True)),
        ({"TERM": "dumb"}, Surroundings(False, False, False, True)),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, Surroundings(True, True, False, True)),
        ({"TERM": "linux"}, Surroundings(True, True, False, True)),
        ({"FORCE_COLOR": "false"}, Surroundings(True, False, False, True)),
        ({"FORCE_HYPERLINK": "0"}, Surroundings(True, True, False, True)),
    ],
)
def test_variables_decide_what_a_terminal_shows(environ: dict[str, str], expected: Surroundings) -> None:
    assert look(Terminal(), environ, always=False) == expected


def test_format_rich_and_glog_write_the_same_text(make_system: SystemFactory) -> None:
    from complog_core import GlogFormatter

    assert type(complog_rich.plugin.complog_formatters()["rich"]()) is GlogFormatter
    assert os.path.basename(complog_rich.plugin.__file__ or "") == "plugin.py"
