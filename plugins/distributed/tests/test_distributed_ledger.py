"""The file in which ranks meet survives killed writers and nonsense, stays small, and is nobody else's."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from complog_distributed import ledger as ledger_module
from complog_distributed.jobs import find_local_size, find_start, make_directory, name_job
from complog_distributed.ledger import Ledger

DIGESTS = [bytes([number]) * 16 for number in range(4)]


def open_ledger(path: Path) -> Ledger:
    ledger = Ledger(str(path))
    with ledger.locked(create=True):
        pass
    return ledger


def fill(ledger: Ledger) -> None:
    with ledger.locked():
        ledger.add_member(3, 100, 1, 2**40)
        ledger.add_claim(DIGESTS[0], 3, b"some text")
        ledger.add_repeat(DIGESTS[0], 4)
        ledger.add_repeat(DIGESTS[0], 4)
        ledger.add_repeat(DIGESTS[0], 5)


def describe(ledger: Ledger) -> object:
    with ledger.locked():
        ledger.read_again()
        return (
            [member[1:] for member in ledger.members],
            {digest: claim[1:] for digest, claim in ledger.claims.items()},
            {digest: {rank: each.times for rank, each in found.items()} for digest, found in ledger.repeats.items()},
        )


FILLED = ([(3, 100, 1, 2**40, False, False)], {DIGESTS[0]: (3, 0, b"some text")}, {DIGESTS[0]: {4: 2, 5: 1}})


def test_what_one_writes_others_read(tmp_path: Path) -> None:
    one, other = open_ledger(tmp_path / "x"), open_ledger(tmp_path / "x")
    fill(one)
    assert describe(one) == describe(other) == FILLED
    with other.locked():
        other.set_state(other.members[0], left=True, silenced=False)
        other.set_told(other.claims[DIGESTS[0]], 3)
    expected = ([(3, 100, 1, 2**40, True, False)], {DIGESTS[0]: (3, 3, b"some text")}, FILLED[2])
    assert describe(one) == expected


def test_row_that_a_killed_writer_left_unfinished_is_cut_off_wherever_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "x"
    fill(open_ledger(path))
    whole = path.read_bytes()
    reader = open_ledger(path)
    assert describe(reader) == FILLED
    with reader.locked():
        reader.add_claim(DIGESTS[1], 5, b"more text")
    grown = path.read_bytes()
    for end in range(len(whole), len(grown)):
        path.write_bytes(grown[:end])
        assert describe(Ledger(str(path))) == FILLED
        assert path.read_bytes() == whole


@pytest.mark.parametrize("content", [b"", b"x", b"complog0" + bytes(100), bytes(5000), b"complog1"])
def test_nonsense_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    ledger = Ledger(str(path))
    assert describe(ledger) == ([], {}, {})
    fill(ledger)
    assert describe(Ledger(str(path))) == FILLED


def test_another_run_is_noticed_by_those_of_the_last_one(tmp_path: Path) -> None:
    one, other = open_ledger(tmp_path / "x"), open_ledger(tmp_path / "x")
    fill(one)
    before = one.run
    with other.locked():
        other.begin_anew()
    assert describe(one) == ([], {}, {})
    assert before != one.run == other.run


def test_file_does_not_grow_beyond_its_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_module, "MOST_BYTES", 1000)
    ledger = open_ledger(tmp_path / "x")
    fill(ledger)

    def overfill() -> None:
        for number in range(100):
            ledger.add_claim(bytes([number]) * 16, 0, b"text")

    with ledger.locked(), pytest.raises(OSError, match="too many different warnings"):
        overfill()
    assert (tmp_path / "x").stat().st_size <= 1000
    with ledger.locked():
        ledger.add_repeat(DIGESTS[0], 4)  # counting on takes no room
    assert describe(ledger)[2][DIGESTS[0]][4] == 3


def test_threads_and_processes_lose_no_count(tmp_path: Path) -> None:
    path = tmp_path / "x"
    fill(open_ledger(path))
    program = (
        "import sys; from complog_distributed.ledger import Ledger\n"
        "ledger = Ledger(sys.argv[1])\n"
        "for _ in range(200):\n"
        "    with ledger.locked(): ledger.add_repeat(b'y' * 16, 9)\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", program, str(path)]) for _ in range(3)]

    def count() -> None:
        ledger = Ledger(str(path))
        for _ in range(200):
            with ledger.locked():
                ledger.add_repeat(b"y" * 16, 9)

    threads = [threading.Thread(target=count) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [child.wait(60) for child in children] == [0] * 3
    assert describe(Ledger(str(path)))[2][b"y" * 16] == {9: 1200}


def test_lock_that_nobody_lets_go_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    one, other = open_ledger(tmp_path / "x"), open_ledger(tmp_path / "x")
    with one.locked(), pytest.raises(TimeoutError, match="stays locked"), other.locked(patience=0.01):
        pass
    fill(other)


def test_removed_file_is_missed_and_made_again_only_by_who_joins(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "x")
    fill(ledger)
    with ledger.locked():
        ledger.remove()
    with pytest.raises(FileNotFoundError), ledger.locked():
        pass
    assert describe(open_ledger(tmp_path / "x")) == ([], {}, {})


def test_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("text")
    (tmp_path / "x").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="x"):
        open_ledger(tmp_path / "x")
    assert (tmp_path / "precious").read_text() == "text"


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    before = sorted(os.listdir("/proc/self/fd"))
    fill(open_ledger(tmp_path / "x"))
    with pytest.raises(IsADirectoryError):
        open_ledger(tmp_path)
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_folder_and_files_are_for_their_user_alone(tmp_path: Path) -> None:
    folder = make_directory({"TMPDIR": str(tmp_path)})
    assert make_directory({"TMPDIR": str(tmp_path)}) == folder
    assert os.stat(folder).st_mode & 0o777 == 0o700
    open_ledger(Path(folder) / "x")
    assert os.stat(f"{folder}/x").st_mode & 0o777 == 0o600


def test_dead_processes_do_not_live_even_if_nobody_has_waited_for_them() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert find_start(child.pid)
    assert child.stdin is not None
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert find_start(child.pid) is None
    child.wait()
    assert find_start(child.pid) is None
    assert find_start(os.getpid()) == find_start(os.getpid()) != None  # noqa: E711 - in a chain of comparisons


@pytest.mark.parametrize("variable", ["RANK", "LOCAL_RANK", "HOME", "LOCAL_WORLD_SIZE"])
def test_what_differs_between_ranks_names_no_job(variable: str) -> None:
    for environ in ({}, {"MASTER_PORT": "1"}):
        assert name_job(environ) == name_job({**environ, variable: "7"})


def test_size_is_that_of_the_host_where_it_is_known() -> None:
    assert find_local_size({"OMPI_COMM_WORLD_LOCAL_SIZE": "4", "WORLD_SIZE": "8"}) == 4
    assert find_local_size({"LOCAL_WORLD_SIZE": "x", "WORLD_SIZE": "8"}) == 8
    assert find_local_size({"LOCAL_WORLD_SIZE": "", "WORLD_SIZE": "-1"}) == 0
