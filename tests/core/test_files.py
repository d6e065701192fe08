"""The file: what it is called, and what happens when it moves, fills up or goes away."""

from __future__ import annotations

import errno
import itertools
import os
import sys
import threading
import time
import weakref
from pathlib import Path

import pytest
from tests.support.files import count_descriptors, descriptor_of, open_file, record_writes

from complog_core.errors import OutputError
from complog_core.files import FileOutput, expand_path


@pytest.mark.parametrize(
    ("path", "environ", "expected"),
    [
        ("{rank}.{local_rank}", {}, "0.0"),
        ("{rank}.{local_rank}", {"RANK": "3", "LOCAL_RANK": "1", "SLURM_PROCID": "9"}, "3.1"),
        ("{rank}", {"SLURM_PROCID": "4", "PMI_RANK": "5"}, "4"),
        ("{rank}", {"OMPI_COMM_WORLD_RANK": "6", "PMI_RANK": "5"}, "6"),
        ("{rank}", {"RANK": "", "PMI_RANK": "5"}, "5"),
        ("{rank}", {"RANK": "../x"}, "0"),
        ("{rank}", {"LOCAL_RANK": "2", "PMI_RANK": "5"}, "2"),
        ("{local_rank}", {"RANK": "7"}, "0"),
        ("{local_rank}", {"SLURM_LOCALID": "1", "OMPI_COMM_WORLD_LOCAL_RANK": "2", "MPI_LOCALRANKID": "3"}, "1"),
        ("{local_rank}", {"OMPI_COMM_WORLD_LOCAL_RANK": "2", "MPI_LOCALRANKID": "3"}, "2"),
        ("{local_rank}", {"MPI_LOCALRANKID": "3"}, "3"),
        ("{pid}", {}, "{os.getpid()}"),
        ("{host}", {}, "{os.uname().nodename}"),
        ("~/{name}{}{{rank}}{ rank}%(pid)s", {"RANK": "2"}, "~/{name}{}{2}{ rank}%(pid)s"),
    ],
)
def test_places_in_paths(path: str, environ: dict[str, str], expected: str) -> None:
    known = {"{os.getpid()}": str(os.getpid()), "{os.uname().nodename}": os.uname().nodename}
    assert expand_path(path, environ) == known.get(expected, expected)


def test_parents_are_created_and_old_content_is_kept(tmp_path: Path) -> None:
    for _ in range(2):
        output = open_file(tmp_path / "a" / "b" / "{rank}.log")
        assert output.write("one\ntwo")
        output.close()
    assert (tmp_path / "a" / "b" / "0.log").read_text() == "one\ntwo\none\ntwo\n"


@pytest.mark.parametrize("make", ["", "{dir}", "{dir}/", "{dir}/file/x.log", "nul\0", "/proc/nothing/x.log"])
def test_what_cannot_be_opened_is_a_clear_error(make: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    before = count_descriptors()
    with pytest.raises(OutputError, match=r"^MYLIB_LOGS_OUT: cannot open '.*: .+"):
        FileOutput(make.replace("{dir}", str(tmp_path)), variable="MYLIB_LOGS_OUT")
    assert count_descriptors() == before
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("text", ["", "é", "lone \ud800 and \udcff", "\r\n", "x" * 2**20])
def test_any_text_is_written_whole(text: str, tmp_path: Path) -> None:
    output = open_file(tmp_path / "log")
    assert output.write(text)
    assert (tmp_path / "log").read_bytes() == text.encode("utf-8", "backslashreplace") + b"\n"


def test_one_record_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = open_file(tmp_path / "log")
    writes = record_writes(descriptor_of(tmp_path / "log"), monkeypatch)
    output.write("a\n" * 100_000)
    assert [len(data) for data in writes] == [200_001]


def test_short_write_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output, write = open_file(tmp_path / "log"), os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:7]))
    assert output.write("0123456789" * 10)
    assert (tmp_path / "log").read_text() == "0123456789" * 10 + "\n"


def test_full_device_costs_one_warning(capsys: pytest.CaptureFixture[str]) -> None:
    output = open_file("/dev/full")
    assert [output.write("x"), output.write("y")] == [False, False]
    warning = capsys.readouterr().err
    assert warning.count("\n") == 1
    assert "No space left" in warning


def test_each_failing_period_has_one_warning_and_a_torn_line_is_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    output, write, room = open_file(tmp_path / "log"), os.write, [0]

    def write_some(fd: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count = write(fd, data[: room[0]])
        room[0] -= count
        return count

    monkeypatch.setattr(os, "write", write_some)
    results = []
    for space in (3, 0, 1000, 0, 0, 1000):
        room[0] = space
        results.append(output.write("record"))
    assert results == [False, False, True, False, False, True]
    assert capsys.readouterr().err.count("warning") == 2
    assert (tmp_path / "log").read_text() == "rec\nrecord\nrecord\n"


def test_warning_survives_a_broken_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def write(self, text: str) -> None:
            raise RuntimeError

    for stream in (Broken(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        assert open_file("/dev/full").write("x") is False


def test_moved_or_removed_file_is_opened_anew(tmp_path: Path) -> None:
    log, before = tmp_path / "log", count_descriptors()
    output = open_file(log)
    output.write("one")
    log.rename(tmp_path / "log.1")
    output.write("two")
    assert ((tmp_path / "log.1").read_text(), log.read_text()) == ("one\n", "two\n")
    log.unlink()
    output.write("three")
    assert log.read_text() == "three\n"
    assert count_descriptors() == before + 1


def test_file_moved_in_the_middle_of_a_burst_is_missed_for_a_millisecond_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.count(1000.0, 10e-6)
    monkeypatch.setattr(time, "monotonic", clock.__next__)
    output, log = open_file(tmp_path / "log"), tmp_path / "log"
    for _ in range(2000):
        output.write("before")
    log.rename(tmp_path / "log.1")
    for _ in range(2000):
        output.write("after")
    missed = (tmp_path / "log.1").read_text().count("after\n")
    assert missed <= 100
    assert log.read_text() == "after\n" * (2000 - missed)


def test_removed_directory_is_not_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "d" / "log"
    output = open_file(log)
    log.unlink()
    log.parent.rmdir()
    assert [output.write("x"), output.write("y")] == [False, False]
    assert not log.parent.exists()
    assert capsys.readouterr().err.count("No such file") == 1
    log.parent.mkdir()
    assert output.write("z")
    assert log.read_text() == "z\n"


def test_changed_working_directory_does_not_move_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    output = open_file("here.log")
    monkeypatch.chdir("/")
    assert output.write("x")
    assert (tmp_path / "here.log").read_text() == "x\n"


def test_record_after_close_is_not_lost_and_nothing_leaks(tmp_path: Path) -> None:
    before = count_descriptors()
    output, dropped = open_file(tmp_path / "log"), open_file(tmp_path / "other")
    output.close()
    output.close()
    assert output.write("late")
    assert (tmp_path / "log").read_text() == "late\n"
    assert count_descriptors() == before + 1
    reference = weakref.ref(dropped)
    del dropped
    assert reference() is None
    assert count_descriptors() == before


def test_closing_while_threads_write_loses_nothing(tmp_path: Path) -> None:
    for name in map(str, range(20)):
        output = open_file(tmp_path / name)
        threads = [threading.Thread(target=lambda o=output: [o.write("x") for _ in range(30)]) for _ in range(3)]
        for thread in threads:
            thread.start()
        output.close()
        for thread in threads:
            thread.join()
        assert (tmp_path / name).read_text() == "x\n" * 90
