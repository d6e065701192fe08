"""The console: whatever sys.stderr is, each record comes out whole, and a broken one never harms the program."""

from __future__ import annotations

import gzip
import io
import os
import signal
import sys
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pytest
from tests.support.files import Console, record_writes


class Pipe:
    """A pipe with a stream over its writing end, and a reader that runs aside where a test asks for it."""

    def __init__(self) -> None:
        self.reader, writer = os.pipe()
        self.stream = open(writer, "w", encoding="utf-8")  # noqa: SIM115 - outlives this function
        self.received = b""
        self._thread = threading.Thread(target=self._collect)

    def read_aside(self) -> None:
        self._thread.start()

    def _collect(self) -> None:
        while data := os.read(self.reader, 65536):
            self.received += data

    def finish(self) -> bytes:
        """Return everything that was written."""
        self.stream.close()
        self._thread.join()
        return self.received


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    made.stream.close()
    os.close(made.reader)


@pytest.fixture
def writes(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    return record_writes(pipe.stream.fileno(), monkeypatch)


def show(stream: Any, text: str, console: Console | None = None) -> bool:
    with redirect_stderr(stream):
        return (console or Console()).write(text)


def run_threads(*work: Callable[[], object]) -> None:
    threads = [threading.Thread(target=function) for function in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_record_follows_what_the_stream_held_back(pipe: Pipe, writes: list[bytes]) -> None:
    pipe.stream.write("first ")
    assert show(pipe.stream, "a\nb \ud800 é")
    assert os.read(pipe.reader, 100) == "first a\nb \\ud800 é\n".encode()
    assert len(writes) == 1


def test_pipe_gets_whole_lines_in_writes_that_it_takes_whole(pipe: Pipe, writes: list[bytes]) -> None:
    lines = ["x" * 3000, "", "y" * 1000, "z" * 2000, "w" * 9000, "v"]
    assert show(pipe.stream, "\n".join(lines))
    assert os.read(pipe.reader, 100_000).decode() == "\n".join(lines) + "\n"
    assert [len(data) for data in writes] == [3001 + 1 + 1001, 2001, 4096, 4096, 9001 - 8192 + 2]


def test_file_gets_one_write_even_after_dup2_over_a_pipe(pipe: Pipe, writes: list[bytes], tmp_path: Path) -> None:
    console = Console()
    show(pipe.stream, "x\n" * 3000, console)
    with open(tmp_path / "file", "w") as file:
        os.dup2(file.fileno(), pipe.stream.fileno())
    show(pipe.stream, "y\n" * 100_000, console)
    assert [len(data) for data in writes] == [4096, 6001 - 4096, 200_001]
    assert (tmp_path / "file").read_text() == "y\n" * 100_000 + "\n"


def lines_of(who: str) -> list[str]:
    return [f"<{who}{'x' * 37 * size}{who}>" for size in range(100)]


def write_lines(who: str, console: Console) -> Callable[[], object]:
    return lambda: [console.write("\n".join(lines_of(who))) for _ in range(3)]


def test_processes_and_threads_on_one_pipe_tear_no_line(pipe: Pipe) -> None:
    console, children = Console(), []
    with redirect_stderr(pipe.stream):
        for number in "0123":
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                run_threads(*(write_lines(number + thread, console) for thread in "ab"))
                os._exit(0)
            children.append(child)
    pipe.read_aside()
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    expected = [line for number in "0123" for thread in "ab" for line in lines_of(number + thread)]
    assert sorted(pipe.finish().decode().splitlines()) == sorted(expected * 3)


def test_threads_do_not_mix_lines_longer_than_a_pipe_takes(pipe: Pipe) -> None:
    console = Console()
    pipe.read_aside()
    with redirect_stderr(pipe.stream):
        run_threads(*(lambda c=c: [console.write(c * 50_000) for _ in range(5)] for c in "abc"))
    assert sorted(pipe.finish().decode().split()) == sorted(["a" * 50_000, "b" * 50_000, "c" * 50_000] * 5)


def test_full_non_blocking_pipe_waits_for_its_reader(pipe: Pipe) -> None:
    os.set_blocking(pipe.stream.fileno(), False)
    timer = threading.Timer(0.1, pipe.read_aside)
    timer.start()
    assert show(pipe.stream, "x\n" * 200_000 + "end")
    timer.join()
    assert pipe.finish() == b"x\n" * 200_000 + b"end\n"


def test_full_non_blocking_pipe_without_reader_costs_its_patience_and_the_torn_line_is_ended(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("complog_core.descriptors.PATIENCE", 0.2)
    os.set_blocking(pipe.stream.fileno(), False)
    console, start = Console(), time.monotonic()
    assert show(pipe.stream, "x" * 200_000, console) is False
    assert 0.15 < time.monotonic() - start < 2
    os.read(pipe.reader, 1 << 20)
    assert show(pipe.stream, "next", console)
    assert os.read(pipe.reader, 100) == b"\nnext\n"


def test_terminal_gets_the_whole_record() -> None:
    leader, follower = os.openpty()
    tty.setraw(follower)
    received = b""

    def collect() -> None:
        nonlocal received
        while not received.endswith(b"end\n"):
            received += os.read(leader, 65536)

    with open(follower, "w") as stream, redirect_stderr(stream):
        run_threads(collect, lambda: Console().write("line\n" * 5000 + "end"))
    os.close(leader)
    assert received == b"line\n" * 5000 + b"end\n"


@pytest.mark.parametrize(
    ("encoding", "errors", "expected"),
    [
        ("ascii", "strict", b"\\xe9 \\ud800\ntwo\n"),
        ("ascii", "replace", b"? ?\ntwo\n"),
        ("latin-1", "strict", b"\xe9 \\ud800\ntwo\n"),
        ("utf-8", "surrogateescape", b"\xc3\xa9 \\ud800\ntwo\n"),
        ("utf-16-le", "strict", "é \\ud800\ntwo\n".encode("utf-16-le")),
    ],
)
def test_what_the_encoding_lacks_is_escaped_unless_the_stream_says_otherwise(
    encoding: str, errors: str, expected: bytes, tmp_path: Path
) -> None:
    with open(tmp_path / "file", "w", encoding=encoding, errors=errors) as stream:
        assert show(stream, "é \ud800")
        assert show(stream, "two")
    assert (tmp_path / "file").read_bytes() == expected


def test_encoding_with_a_mark_gets_it_once(tmp_path: Path) -> None:
    with open(tmp_path / "file", "w", encoding="utf-16") as stream:
        assert [show(stream, "one"), show(stream, "two")] == [True, True]
    assert (tmp_path / "file").read_bytes() == "one\ntwo\n".encode("utf-16")


def test_stream_over_a_transforming_buffer_is_written_through_it(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "file.gz", "wt", encoding="utf-8") as stream:
        assert show(stream, "x")
    assert gzip.decompress((tmp_path / "file.gz").read_bytes()) == b"x\n"


class Recorder:
    encoding = "ascii"

    def __init__(self, fault: type[BaseException] | None = None) -> None:
        self.fault = fault
        self.written: list[str] = []

    def write(self, text: str) -> None:
        text.encode("ascii")
        self.written.append(text)
        if self.fault is not None:
            raise self.fault


def test_foreign_stream_gets_one_text_per_record() -> None:
    stream = Recorder()
    assert show(stream, "a\nb")
    assert show(stream, "é")
    assert stream.written == ["a\nb\n", "\\xe9\n"]


def make_closed() -> Any:
    stream = open(os.devnull, "w")  # noqa: SIM115 - outlives this function
    stream.close()
    return stream


def make_detached() -> Any:
    stream = open(os.devnull, "w")  # noqa: SIM115 - outlives this function
    stream.detach().close()
    return stream


def make_robbed() -> Any:
    descriptor = os.open(os.devnull, os.O_WRONLY)
    stream = io.TextIOWrapper(io.BufferedWriter(io.FileIO(descriptor, "w", closefd=False)), encoding="utf-8")
    os.close(descriptor)
    return stream


def make_unread() -> Any:
    reader, writer = os.pipe()
    os.close(reader)
    return open(writer, "w")


def make_full() -> Any:
    return open("/dev/full", "w")


BROKEN = {
    "none": lambda: None,
    "closed": make_closed,
    "detached": make_detached,
    "closed descriptor": make_robbed,
    "gone reader": make_unread,
    "full device": make_full,
    "no stream": object,
    "raising": lambda: Recorder(RuntimeError),
    "failing": lambda: Recorder(OSError),
}


@pytest.mark.parametrize("make", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("text", ["x", "x\n" * 5000])
def test_broken_stream_is_no_more_than_an_answer(make: Callable[[], Any], text: str) -> None:
    stream = make()
    assert show(stream, text) is False
    if make is not make_detached and isinstance(stream, io.TextIOWrapper):
        stream.close()


def test_missing_stderr_is_no_more_than_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.delattr(sys, "stderr")
        answer = Console().write("x")
    assert answer is False


def test_interrupt_is_let_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        show(Recorder(KeyboardInterrupt), "x")


def test_stream_written_in_python_is_entered_by_one_thread_at_a_time() -> None:
    class Slow(io.TextIOBase):
        inside = overlaps = 0

        def write(self, text: str) -> int:
            self.inside += 1
            self.overlaps += self.inside > 1
            time.sleep(0.0005)
            self.inside -= 1
            return len(text)

    stream, console = Slow(), Console()
    with redirect_stderr(stream):
        threads = [threading.Thread(target=lambda: [console.write("x") for _ in range(20)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert stream.overlaps == 0
