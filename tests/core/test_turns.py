"""Short lines of some threads and long ones of others, which a pipe takes in pieces: none lands in another one."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.files import Console, in_child, open_file

from complog_core.turns import Turn, give_way, wait_for_others

SHORT, LONG = 1500, 60


@pytest.fixture(autouse=True)
def _many_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def write_from_threads(write: Callable[[str, Turn], object]) -> None:
    """Write as the handlers do, from three threads with short lines and two with long ones."""

    def work(line: str, count: int) -> None:
        turn = Turn()
        for _ in range(count):
            write(line, turn)

    lines = [("<short>", SHORT)] * 3 + [(f"<{'x' * 20_000}>", LONG)] * 2
    threads = [threading.Thread(target=work, args=each) for each in lines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def read_while(descriptor: int, work: Callable[[], object], end: Callable[[], object]) -> list[str]:
    """Return the lines that come while the work is done; `end` closes the other end."""
    chunks: list[bytes] = []

    def read() -> None:
        while chunk := os.read(descriptor, 65_536):
            chunks.append(chunk)

    reader = threading.Thread(target=read)
    reader.start()
    work()
    end()
    reader.join()
    return b"".join(chunks).decode().splitlines()


def check(lines: list[str]) -> None:
    torn = [line[:20] for line in lines if not (line == "<short>" or line.replace("x", "") == "<>")]
    assert torn == []
    assert len(lines) == 3 * SHORT + 2 * LONG


def test_console_that_is_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console()
    receiver, sender = os.pipe()
    with open(sender, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        lines = read_while(
            receiver, lambda: write_from_threads(lambda line, turn: console.write(line, None, turn)), stream.close
        )
    os.close(receiver)
    check(lines)


def test_file_that_is_a_fifo(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    receiver = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    output = open_file(tmp_path / "fifo")
    os.set_blocking(receiver, True)
    lines = read_while(receiver, lambda: write_from_threads(output.write), output.close)
    os.close(receiver)
    check(lines)


def test_closing_a_file_under_writers_reaches_no_other_file(tmp_path: Path) -> None:
    stop, others = threading.Event(), list[Path]()

    def open_others() -> None:
        while not stop.is_set():
            others.append(tmp_path / f"other{len(others)}")
            with open(others[-1], "w"):
                pass

    opener = threading.Thread(target=open_others)
    opener.start()
    try:
        for number in range(30):
            output = open_file(tmp_path / f"log{number}")
            threads = [threading.Thread(target=write_some, args=(output,)) for _ in range(3)]
            for thread in threads:
                thread.start()
            output.close()
            for thread in threads:
                thread.join()
            assert (tmp_path / f"log{number}").read_text() == "x\n" * 120
    finally:
        stop.set()
        opener.join()
    assert not any(path.stat().st_size for path in tmp_path.glob("other*"))


def write_some(output: Any) -> None:
    turn = Turn()
    for _ in range(40):
        output.write("x", turn)


def test_child_waits_for_no_thread_that_it_does_not_have() -> None:
    turns: list[Turn] = []
    stop, ready = threading.Event(), threading.Event()

    def write_for_ever() -> None:
        turns.append(Turn())
        turns[0].writing = True
        ready.set()
        stop.wait()
        turns[0].writing = False

    thread = threading.Thread(target=write_for_ever)
    thread.start()
    ready.wait()
    try:
        in_child(lambda: not turns[0].writing or os._exit(1))
        assert turns[0].writing
        give_way()
        assert turns[0].writing
    finally:
        stop.set()
        thread.join()
    wait_for_others()
