"""Whole records in the file, whatever threads, full disks and other people's descriptors do."""

from __future__ import annotations

import errno
import gc
import os
import resource
import shutil
import signal
import threading
import time
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from tests.support.files import count_descriptors, descriptor_of, in_child, record_writes
from tests.support.records import shown
from tests.support.traces import file_of, make_trace, read_all, read_file, texts, unexplained, write

from complog_core import report
from complog_core.trace import Trace


@pytest.fixture(autouse=True)
def _forget_warnings() -> None:
    report.forget_warnings()


# -- writing


def test_one_record_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = make_trace(tmp_path)
    write(trace, "first")
    writes = record_writes(descriptor_of(file_of(trace)), monkeypatch)
    write(trace, "a\n" * 100_000)
    write(trace, "b")
    assert len(writes) == 2
    assert b"".join(writes) == file_of(trace).read_bytes().partition(b"\tfirst\n")[2]
    trace.close()


def test_short_writes_are_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace, whole = make_trace(tmp_path), os.write
    monkeypatch.setattr(os, "write", lambda fd, data: whole(fd, bytes(data[:7])))
    write(trace, "0123456789\n" * 10)
    assert [record.payload for record in read_all(tmp_path)] == ["0123456789\n" * 10]
    trace.close()


def test_threads_tear_and_lose_nothing(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)

    def work(mark: int) -> None:
        for number in range(50):
            write(trace, f"{mark} {number}\n" * 40)
            trace.intern_string(f"{mark}.{number}")

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = Counter(texts(file_of(trace)))
    assert found == Counter(f"{mark} {number}\n" * 40 for mark in range(6) for number in range(50))
    trace.close()


def test_threads_that_begin_together_make_one_file(tmp_path: Path) -> None:
    for attempt in range(20):
        trace = make_trace(tmp_path / str(attempt))
        barrier = threading.Barrier(6)

        def work(trace: Trace = trace, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            write(trace, "a")

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert texts(*(tmp_path / str(attempt)).iterdir()) == ["a"] * 6
        trace.close()


def test_no_lock_is_held_while_the_programs_functions_run(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    trace.intern_string("a.py")
    done = threading.Event()

    def write_elsewhere() -> str:
        thread = threading.Thread(target=lambda: (write(trace, "inner"), trace.intern_string("b.py"), done.set()))
        thread.start()
        assert done.wait(10)
        done.clear()
        thread.join()
        return "outer"

    trace.trace_structured(
        "outer", lambda: {"text": write_elsewhere()}, payload_fn=write_elsewhere, suppress_context=True
    )
    assert [record.name for record in read_all(tmp_path)] == ["tiles", "tiles", "outer"]
    trace.close()


def test_large_payload_takes_little_more_than_its_own_size(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    write(trace, "warm up")
    payload = ("x" * 39 + "\n") * (2**20 // 40)
    gc.collect()
    tracemalloc.start()
    try:
        trace.trace_structured("tiles", payload_fn=lambda: payload, suppress_context=True)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2.1 * len(payload)
    trace.close()


def test_closing_leaves_no_descriptor(tmp_path: Path) -> None:
    before = count_descriptors()
    trace = make_trace(tmp_path)
    write(trace, "a")
    assert count_descriptors() == before + 1
    trace.close()
    trace.close()
    assert count_descriptors() == before
    write(trace, "b")
    assert sorted(text for path in tmp_path.iterdir() for text in texts(path)) == ["a", "b"]
    trace.close()


def test_removed_file_is_replaced_and_explains_its_strings(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    write(trace, "gone")
    number = trace.intern_string("a.py")
    shutil.rmtree(tmp_path)
    trace.trace_structured("tiles", lambda: {"text": "b", "filename": number}, suppress_context=True)
    assert not unexplained(read_file(file_of(trace)))
    assert texts(file_of(trace)) == ["b"]
    trace.close()


def test_file_that_is_removed_in_a_burst_is_missed_for_a_moment_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace, now = make_trace(tmp_path), 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)

    def burst(text: str) -> None:
        nonlocal now
        for _ in range(200):
            now += 10e-6
            write(trace, text)

    burst("before")
    file_of(trace).unlink()
    burst("after")
    found = texts(file_of(trace))
    assert set(found) == {"after"}
    assert len(found) > 90
    trace.close()


def test_descriptor_that_others_closed_or_reused_gets_nothing(tmp_path: Path) -> None:
    trace = make_trace(tmp_path / "traces")
    write(trace, "a")
    os.close(descriptor_of(file_of(trace)))
    write(trace, "b")
    number = descriptor_of(file_of(trace))
    victim = os.open(tmp_path / "victim", os.O_WRONLY | os.O_CREAT)
    os.dup2(victim, number)
    os.close(victim)
    write(trace, "c")
    trace.close()
    os.write(number, b"theirs")
    os.close(number)
    assert (tmp_path / "victim").read_bytes() == b"theirs"
    assert sorted(text for path in (tmp_path / "traces").iterdir() for text in texts(path)) == ["a", "b", "c"]


# -- what cannot be written


@pytest.mark.parametrize("make", ["{dir}/file", "{dir}/file/below", "/proc/nothing", "{dir}/nul\0", "/dev/full"])
def test_directory_that_cannot_be_had_costs_one_warning(make: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    trace = make_trace(None)

    def work() -> None:
        trace.set_trace(make.replace("{dir}", str(tmp_path)))
        for _ in range(3):
            write(trace, "lost")
            trace.intern_string("a.py")

    warnings = shown(work)
    assert warnings.startswith("complog: warning: set_trace(): cannot write to ")
    assert warnings.count("\n") == 1
    assert os.listdir(tmp_path) == ["file"]
    trace.close()


def test_directory_that_comes_later_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "traces").touch()
    trace = make_trace(tmp_path / "traces")
    shown(lambda: write(trace, "lost"))
    number = trace.intern_string("a.py")
    (tmp_path / "traces").unlink()
    trace.trace_structured("tiles", lambda: {"text": "a", "filename": number}, suppress_context=True)
    assert texts(file_of(trace)) == ["a"]
    assert not unexplained(read_file(file_of(trace)))
    trace.close()


def test_full_disk_loses_whole_records_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace, whole, room = make_trace(tmp_path), os.write, [10_000]
    numbers: list[int] = []

    def write_some(fd: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count = whole(fd, bytes(data[: room[0]]))
        room[0] -= count
        return count

    def work() -> None:
        for space, text in ((10_000, "a"), (50, "b" * 100), (0, "c"), (10_000, "d"), (3, "e"), (10_000, "f")):
            room[0] = space
            write(trace, text)
            numbers.append(trace.intern_string(text))
        trace.trace_structured("used", lambda: [{"filename": number} for number in numbers], suppress_context=True)

    monkeypatch.setattr(os, "write", write_some)
    warnings = shown(work)
    monkeypatch.undo()
    assert texts(file_of(trace)) == ["a", "d", "f"]
    assert not unexplained(read_file(file_of(trace)))
    assert warnings.count("\n") == 1
    assert "No space left" in warnings
    trace.close()


def test_limited_file_size_loses_whole_records_only(tmp_path: Path) -> None:
    def work() -> None:
        trace = make_trace(tmp_path)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
        for size in (1000, 8000, 1000, 4000, 100):
            write(trace, "x" * size)
        trace.close()

    shown(lambda: in_child(work))
    (path,) = tmp_path.iterdir()
    assert [len(text) for text in texts(path)] == [1000, 1000, 100]


def test_interrupted_record_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace, whole = make_trace(tmp_path), os.write
    write(trace, "a")
    calls: list[int] = []

    def interrupt(fd: int, data: bytes) -> int:
        calls.append(fd)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return whole(fd, bytes(data[:7]))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write(trace, "b")
    write(trace, "c")
    assert texts(file_of(trace)) == ["a", "c"]
    trace.close()


def test_half_a_record_that_cannot_be_taken_back_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace, whole = make_trace(tmp_path), os.write
    first = None

    def tear(fd: int, data: bytes) -> int:
        if len(data) > 100:
            return whole(fd, bytes(data[:100]))
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    write(trace, "a")
    first = file_of(trace)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", tear)
        patch.setattr(os, "ftruncate", lambda fd, size: os.close(-1))
        assert "cannot write" in shown(lambda: write(trace, "b" * 20))
    write(trace, "c")
    assert file_of(trace) != first
    assert texts(file_of(trace)) == ["c"]
    trace.close()
