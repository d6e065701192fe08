"""Descriptors: whole records from threads and processes, none in a stranger's file, and life after a fork."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.support.files import descriptor_of, in_child, open_file, record_writes

from complog_core.files import FileOutput


def test_descriptor_that_others_closed_or_reused_gets_nothing(tmp_path: Path) -> None:
    output = open_file(tmp_path / "log")
    os.close(descriptor_of(tmp_path / "log"))
    assert output.write("one")
    number = descriptor_of(tmp_path / "log")
    victim = os.open(tmp_path / "victim", os.O_WRONLY | os.O_CREAT)
    os.dup2(victim, number)
    os.close(victim)
    assert output.write("two")
    os.write(number, b"theirs")
    os.close(number)
    assert (tmp_path / "victim").read_bytes() == b"theirs"
    assert (tmp_path / "log").read_text() == "one\ntwo\n"


@pytest.mark.parametrize("system", ["Linux", "another"])
def test_what_a_descriptor_stands_for_is_told_on_every_system(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if system == "another":
        monkeypatch.delattr(fcntl, "F_SETSIG")
    output, victim = open_file(tmp_path / "log"), open_file(tmp_path / "victim")
    assert output.write("one")
    os.dup2(descriptor_of(tmp_path / "victim"), descriptor_of(tmp_path / "log"))
    assert output.write("two")
    assert (tmp_path / "log").read_text() == "one\ntwo\n"
    assert (tmp_path / "victim").read_text() == ""
    assert victim.write("theirs")


def test_closing_spares_a_descriptor_that_others_reused(tmp_path: Path) -> None:
    output = open_file(tmp_path / "log")
    number = descriptor_of(tmp_path / "log")
    with open(tmp_path / "victim", "w") as victim:
        os.dup2(victim.fileno(), number)
    output.close()
    os.write(number, b"theirs")
    os.close(number)
    assert (tmp_path / "victim").read_bytes() == b"theirs"


def test_file_never_becomes_a_standard_stream(tmp_path: Path) -> None:
    script = (
        "import os, sys; from complog_core.files import FileOutput\n"
        "os.close(0); os.close(2); output = FileOutput(sys.argv[1], variable='V'); output.write('x')\n"
        "assert os.open('/dev/null', os.O_RDONLY) == 0"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "log")], check=True)
    assert (tmp_path / "log").read_text() == "x\n"


def test_descriptor_is_not_inherited_by_other_programs(tmp_path: Path) -> None:
    output = open_file(tmp_path / "log")
    listing = subprocess.run(["ls", "-l", "/proc/self/fd"], close_fds=False, capture_output=True, text=True, check=True)
    assert output.path not in listing.stdout


def test_threads_and_processes_tear_no_record(tmp_path: Path) -> None:
    output = open_file(tmp_path / "log")
    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            threads = [threading.Thread(target=write_many, args=(output, f"{number}{t}")) for t in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    check_records((tmp_path / "log").read_text(), 8)


def test_moving_the_file_under_threads_loses_nothing_and_reaches_no_other_file(tmp_path: Path) -> None:
    output, log, threads = open_file(tmp_path / "log"), tmp_path / "log", []
    for number in range(3):
        threads.append(threading.Thread(target=lambda n=number: [output.write(f"{n} {c}") for c in range(3000)]))
        threads[-1].start()
    turn = 0
    while any(thread.is_alive() for thread in threads):
        turn += 1
        with contextlib.suppress(FileNotFoundError):
            log.rename(tmp_path / f"log.{turn}")
        with open(tmp_path / f"other.{turn}", "w") as other:
            other.flush()
    for thread in threads:
        thread.join()
    lines = [line for path in tmp_path.glob("log*") for line in path.read_text().splitlines()]
    assert sorted(lines) == sorted(f"{number} {count}" for number in range(3) for count in range(3000))
    assert not any(path.stat().st_size for path in tmp_path.glob("other.*"))


def write_many(output: FileOutput, who: str) -> None:
    for count in range(50):
        output.write(f"<{who}{'x' * (count * 41)}\n{who}>")


def check_records(text: str, writers: int) -> None:
    records = text.split(">\n")
    assert records.pop() == ""
    assert len(records) == 50 * writers
    for record in records:
        head, tail = record.split("\n")
        assert head.rstrip("x") == "<" + tail


def test_forked_child_has_its_own_file_only_with_pid(tmp_path: Path) -> None:
    shared, own = open_file(tmp_path / "shared"), open_file(tmp_path / "{pid}" / "own")
    in_child(lambda: [shared.write("child"), own.write("child")])
    shared.write("parent")
    own.write("parent")
    assert (tmp_path / "shared").read_text() == "child\nparent\n"
    assert sorted(path.read_text() for path in tmp_path.glob("*/own")) == ["child\n", "parent\n"]
    assert Path(own.path).read_text() == "parent\n"


def test_fork_while_another_thread_writes_leaves_no_lock_held(tmp_path: Path) -> None:
    output, stop = open_file(tmp_path / "log"), threading.Event()

    def hammer() -> None:
        while not stop.is_set():
            output.write("x" * 5000)

    thread = threading.Thread(target=hammer)
    thread.start()
    try:
        for _ in range(20):
            in_child(lambda: output.write("child"))
    finally:
        stop.set()
        thread.join()
    assert (tmp_path / "log").read_text().count("child\n") == 20


def test_signal_handler_may_log_while_a_record_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output, write, calls = open_file(tmp_path / "log"), os.write, list[bytes]()

    def interrupted(fd: int, data: bytes) -> int:
        calls.append(data)
        if len(calls) == 1:
            output.write("from the handler")
        return write(fd, data)

    monkeypatch.setattr(os, "write", interrupted)
    assert output.write("outer")
    assert (tmp_path / "log").read_text() == "from the handler\nouter\n"


def test_fifo_gets_whole_lines_and_a_gone_reader_costs_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    output = open_file(fifo)
    writes = record_writes(descriptor_of(fifo, besides=reader), monkeypatch)
    output.write("\n".join(["y" * 1500] * 10))
    assert [(len(data), data[-1:]) for data in writes] == [(3002, b"\n")] * 5
    assert os.read(reader, 100_000) == (b"y" * 1500 + b"\n") * 10
    os.close(reader)
    assert [output.write("x"), output.write("y")] == [False, False]
    assert capsys.readouterr().err.count("Broken pipe") == 1
    fifo.unlink()
    os.mkfifo(fifo)
    assert output.write("nobody reads the new one, and nobody waits") is False
