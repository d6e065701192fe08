"""A record that goes to the console and to a file: each of them gets it as it would alone, whatever the other does."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.files import own_turn

from complog_core.console import ConsoleOutput
from complog_core.files import FileOutput

TEXTS = ["hello", "", "é und 日本", "x" * 511, "x" * 512, "y" * 70_000]


class Both:
    """A console and a file, written to as a handler does it."""

    def __init__(self, path: object) -> None:
        self.console = ConsoleOutput()
        self.file = FileOutput(str(path), variable="MYLIB_LOGS_OUT")

    def write(self, text: str) -> None:
        self.file.write_beside(self.console, text, own_turn())


@pytest.fixture
def both(tmp_path: Path) -> Both:
    return Both(tmp_path / "log")


def read(tmp_path: Path, name: str = "log") -> str:
    return (tmp_path / name).read_text("utf-8")


def descriptors_of(both: Both, stream: Any, which: str) -> list[int]:
    """Return the descriptors of the console, of the file, or of both."""
    assert both.file._opened is not None
    console, file = stream.fileno(), both.file._opened.descriptor
    return {"console": [console], "file": [file], "both": [console, file]}[which]


def make_closed(tmp_path: Path) -> Any:
    stream = open(tmp_path / "shown", "w", encoding="utf-8")  # noqa: SIM115 - it is to be closed
    stream.close()
    return stream


def make_detached(tmp_path: Path) -> Any:
    stream = open(tmp_path / "shown", "w", encoding="utf-8")  # noqa: SIM115 - its buffer is taken away
    stream.detach().close()
    return stream


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "ascii"])
def test_each_gets_every_line(both: Both, encoding: str, text: str, tmp_path: Path, monkeypatch: Any) -> None:
    with open(tmp_path / "shown", "w", encoding=encoding, errors="backslashreplace") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        stream.write("before ")
        for _ in range(3):
            both.write(text)
    expected = f"{text}\n" * 3
    assert read(tmp_path) == expected
    shown = expected.encode("ascii", "backslashreplace").decode() if encoding == "ascii" else expected
    assert (tmp_path / "shown").read_text(encoding) == f"before {shown}"


@pytest.mark.parametrize("make", [make_closed, make_detached, lambda _: None, lambda _: io.BytesIO(), lambda _: 7])
@pytest.mark.parametrize("is_known", [False, True])
def test_stream_that_is_broken_costs_its_copy(
    both: Both, make: Callable[[Path], Any], is_known: bool, tmp_path: Path, monkeypatch: Any
) -> None:
    if is_known:
        with open(tmp_path / "first", "w", encoding="utf-8") as stream:
            monkeypatch.setattr(sys, "stderr", stream)
            both.write("first")
    monkeypatch.setattr(sys, "stderr", make(tmp_path))
    for _ in range(2):
        both.write("hello")
    assert read(tmp_path).splitlines()[is_known:] == ["hello"] * 2


def test_stream_that_breaks_after_a_line_costs_its_copy(both: Both, tmp_path: Path, monkeypatch: Any) -> None:
    for breaks in (io.TextIOWrapper.close, lambda stream: stream.detach().close()):
        stream = open(tmp_path / "shown", "w", encoding="utf-8")  # noqa: SIM115 - it is to be closed
        monkeypatch.setattr(sys, "stderr", stream)
        both.write("hello")
        breaks(stream)
        both.write("hello")
    assert read(tmp_path) == "hello\n" * 4


def test_stream_whose_encoding_changes_is_written_in_that(both: Both, tmp_path: Path, monkeypatch: Any) -> None:
    with open(tmp_path / "shown", "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        both.write("hello")
        stream.reconfigure(encoding="utf-16-le")
        both.write("hello")
    assert (tmp_path / "shown").read_bytes() == b"hello\n" + "hello\n".encode("utf-16-le")
    assert read(tmp_path) == "hello\n" * 2


@pytest.mark.parametrize("which", ["console", "file", "both"])
def test_short_writes_are_finished(both: Both, which: str, tmp_path: Path, monkeypatch: Any) -> None:
    write = os.write
    with open(tmp_path / "shown", "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        both.write("hello")
        short = descriptors_of(both, stream, which)
        monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:3] if fd in short else data))
        both.write("hello")
        both.write("hello")
        monkeypatch.undo()
    assert read(tmp_path) == read(tmp_path, "shown") == "hello\n" * 3


@pytest.mark.parametrize("which", ["console", "file", "both"])
def test_writes_that_are_refused_once_are_tried_again(both: Both, which: str, tmp_path: Path, monkeypatch: Any) -> None:
    write, refused = os.write, []
    with open(tmp_path / "shown", "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        both.write("hello")
        numbers = descriptors_of(both, stream, which)

        def refuse_once(fd: int, data: bytes) -> int:
            if fd in numbers and fd not in refused:
                refused.append(fd)
                raise BlockingIOError
            return write(fd, data)

        monkeypatch.setattr(os, "write", refuse_once)
        both.write("hello")
        monkeypatch.undo()
    assert sorted(refused) == sorted(numbers)
    assert read(tmp_path) == read(tmp_path, "shown") == "hello\n" * 2


def test_file_that_is_full_costs_its_copy(tmp_path: Path, monkeypatch: Any) -> None:
    both = Both("/dev/full")
    with open(tmp_path / "shown", "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        for _ in range(3):
            both.write("hello")
    assert [line for line in read(tmp_path, "shown").splitlines() if "MYLIB_LOGS_OUT" not in line] == ["hello"] * 3


def test_file_that_is_closed_or_removed_is_opened_anew(both: Both, tmp_path: Path, monkeypatch: Any) -> None:
    with open(os.devnull, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        both.write("first")
        (tmp_path / "log").unlink()
        both.write("second")
        assert read(tmp_path) == "second\n"
        assert both.file._opened is not None
        os.close(both.file._opened.descriptor)
        both.write("third")
        both.file.close()
        both.write("fourth")
    assert read(tmp_path) == "second\nthird\nfourth\n"


def test_threads_with_short_and_long_lines_tear_none(both: Both, tmp_path: Path, monkeypatch: Any) -> None:
    reading, writing = os.pipe()
    received: list[bytes] = []

    def receive() -> None:
        while piece := os.read(reading, 65_536):
            received.append(piece)

    reader = threading.Thread(target=receive)
    reader.start()
    lines = [str(number) * size for number, size in enumerate([5, 400, 9_000, 100, 70_000, 20])]
    with open(writing, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        threads = [threading.Thread(target=lambda line=line: [both.write(line) for _ in range(60)]) for line in lines]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    reader.join()
    os.close(reading)
    for text in (read(tmp_path), b"".join(received).decode()):
        assert sorted(text.splitlines()) == sorted(lines * 60)


def test_stream_that_is_gone_costs_its_copy(both: Both, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(tmp_path / "shown", "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        both.write("one")
        monkeypatch.delattr(sys, "stderr")
        both.write("two")
    assert read(tmp_path) == "one\ntwo\n"


@pytest.mark.parametrize("flush", [None, lambda: 1 / 0, [].pop])
def test_stream_that_cannot_be_flushed_costs_its_copy(
    both: Both, flush: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(tmp_path / "shown", "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        both.write("one")
        stream.flush = flush  # type: ignore[method-assign]  # as a program may
        both.write("two")
        del stream.flush  # type: ignore[method-assign]  # the file's own one again
    assert read(tmp_path) == "one\ntwo\n"


@pytest.mark.parametrize("which", ["console", "file"])
def test_line_after_half_a_line_begins_anew(
    both: Both, which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(tmp_path / "shown", "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        both.write("one")
        if which == "console":
            both.console._torn = both.console.is_careful = True
        else:
            both.file._torn, both.file._is_usual = True, False
        both.write("two")
        both.write("three")
    usual, torn = "one\ntwo\nthree\n", "one\n\ntwo\nthree\n"
    shown = (tmp_path / "shown").read_text("utf-8")
    assert (shown, read(tmp_path)) == ((torn, usual) if which == "console" else (usual, torn))
