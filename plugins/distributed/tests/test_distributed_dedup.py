"""Identical warnings of ranks that run at once: one is printed, the others are counted, and the sum is told once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent

import pytest
from tests.support.fake_distributions import make_distribution

FOREIGN = ("TORCH", "COMPLOG", "MASTER_", "SLURM_", "OMPI_", "PMI", "MPI_", "RANK", "LOCAL_", "WORLD_SIZE")

HEAD = """
    import logging, os, signal, sys, time
    import complog

    log = logging.getLogger("json.decoder")
    rank = os.environ.get("RANK")

    def wait_for(*names):
        while not all(os.path.exists(name) for name in names):
            time.sleep(0.005)

    def reach(name):
        open(name, "w").close()

    def meet(name, count):
        reach(f"{name}.{rank}")
        wait_for(*(f"{name}.{each}" for each in range(count)))
"""


class Job:
    """The ranks of a job: processes of one program, each with a file for what it writes to stderr."""

    def __init__(self, folder: Path, source: str, **variables: str) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tmp").mkdir(exist_ok=True)
        (folder / "program.py").write_text(dedent(HEAD) + dedent(source), encoding="utf-8")
        self.variables = {
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(folder / "tmp"),
            "TORCH_LOGS": "json.decoder",
            "TORCH_LOGS_DEDUP": "ranks",
            **variables,
        }
        self.processes: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, *ranks: int, **variables: str) -> None:
        environ = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        for rank in ranks:
            with (self.folder / f"err.{rank}").open("wb") as err:
                self.processes[rank] = subprocess.Popen(
                    [sys.executable, "program.py"],
                    cwd=self.folder,
                    env={**environ, **self.variables, "RANK": str(rank), **variables},
                    stderr=err,
                )

    def wait(self, *ranks: int) -> None:
        for rank in ranks or tuple(self.processes):
            self.processes[rank].wait(60)

    def run(self, *ranks: int, **variables: str) -> list[str]:
        self.start(*ranks, **variables)
        self.wait(*ranks)
        return self.texts()

    def texts(self, *ranks: int) -> list[str]:
        """What the ranks have logged, without the prefix, sorted; and complog's own warnings."""
        written = "".join((self.folder / f"err.{rank}").read_text() for rank in ranks or self.processes)
        return sorted(re.sub(r"^[VIWEC]\d{4} \S+ \d+ \S+:\d+\] ", "", line) for line in written.splitlines())

    def left_over(self) -> list[str]:
        return [path.name for path in self.folder.glob("tmp/*/*")]

    def kill(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()


@pytest.fixture
def jobs() -> Iterator[list[Job]]:
    made: list[Job] = []
    yield made
    for job in made:
        job.kill()


def make_job(jobs: list[Job], folder: Path, source: str, variables: Mapping[str, str] | None = None) -> Job:
    jobs.append(Job(folder, source, **(variables or {})))
    return jobs[-1]


SIZED = [{"WORLD_SIZE": "8", "MASTER_PORT": "1"}, {"LOCAL_WORLD_SIZE": "8", "TORCHELASTIC_RUN_ID": "none"}, {}]


@pytest.mark.parametrize("variables", SIZED)
def test_one_of_eight_ranks_prints_and_the_sum_is_told_once(
    jobs: list[Job], tmp_path: Path, variables: dict[str, str]
) -> None:
    source = "log.warning('slow %s', 'path')\nlog.warning('I am %s', rank)"
    # where nothing says how many there are, they have to be there together to be seen
    job = make_job(jobs, tmp_path, source if variables else f"{source}\nmeet('all', 8)", variables)
    expected = [*(f"I am {rank}" for rank in range(8)), "repeated by 7 other ranks: slow path", "slow path"]
    assert job.run(*range(8)) == expected
    if variables:
        assert job.left_over() == []


def test_ranks_that_end_long_before_the_last_begins_are_still_one_job(jobs: list[Job], tmp_path: Path) -> None:
    job = make_job(jobs, tmp_path, "log.warning('slow')", {"WORLD_SIZE": "3", "MASTER_PORT": "1"})
    assert job.run(0) == ["slow"]
    assert job.run(1) == ["repeated by 1 other rank: slow", "slow"]
    assert job.run(2) == ["repeated by 1 other rank: slow", "repeated by 2 other ranks: slow", "slow"]
    assert job.left_over() == []


def test_every_repeat_is_counted_and_the_printing_rank_goes_on_printing(jobs: list[Job], tmp_path: Path) -> None:
    source = """
        if rank != "0":
            wait_for("printed")
        for _ in range(5):
            log.warning("slow")
        reach("printed")
        meet("done", 4)
    """
    job = make_job(jobs, tmp_path, source, {"WORLD_SIZE": "4", "MASTER_PORT": "1"})
    assert job.run(*range(4)) == ["repeated by 3 other ranks (15 times): slow", *["slow"] * 5]
    assert "slow" in job.texts(0)


def test_only_warnings_with_the_same_logger_line_text_exception_and_stack_are_one(
    jobs: list[Job], tmp_path: Path
) -> None:
    source = """
        def fail(text):
            try:
                raise ValueError(text)
            except ValueError:
                log.warning("failed", exc_info=True)

        fail("as all")
        fail(f"only {rank}")
        log.error("an error")
        log.critical("the end")
        log.log(35, "a level of its own")
        log.info("information")
        log.warning("%s places", 2); log.warning("2 places")
        log.warning("2 places")
        logging.getLogger("json.decoder.x").warning("2 places"); log.getChild("y").warning("2 places")
        log.warning("stack", stack_info=True)
        log.warning("lines\\n" + rank)
    """
    variables = {"WORLD_SIZE": "2", "MASTER_PORT": "1", "TORCH_LOGS_FORMAT": "%(levelname)s %(message)s"}
    lines = make_job(jobs, tmp_path, source, variables).run(0, 1)
    count = lines.count
    assert count("ValueError: as all") == count("ValueError: only 0") == count("ValueError: only 1") == 1
    others = ["ERROR an error", "CRITICAL the end", "Level 35 a level of its own", "INFO information"]
    assert [count(line) for line in others] == [2] * 4
    # of one line those with one text are one, of the others each is one
    assert count("WARNING 2 places") == 5
    assert count("WARNING stack") == count("Stack (most recent call last):") == 1
    assert count("WARNING lines") == 2
    sums = [line for line in lines if "repeated by" in line]
    assert sorted(sums) == sorted(
        [
            "WARNING repeated by 1 other rank: failed",
            "WARNING repeated by 1 other rank (2 times): 2 places",
            *["WARNING repeated by 1 other rank: 2 places"] * 3,
            "WARNING repeated by 1 other rank: stack",
        ]
    )


def test_process_without_a_rank_collapses_nothing_and_leaves_nothing(jobs: list[Job], tmp_path: Path) -> None:
    job = make_job(jobs, tmp_path, "log.warning('slow')", {"MASTER_PORT": "1"})
    for each in (0, 1):
        job.start(each, RANK="")
    job.wait()
    assert job.texts() == ["slow", "slow"]
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("variable", ["LOCAL_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"])
def test_rank_of_any_launcher_will_do(jobs: list[Job], tmp_path: Path, variable: str) -> None:
    job = make_job(jobs, tmp_path, "log.warning('slow')", {"LOCAL_WORLD_SIZE": "2", "SLURM_JOB_ID": "7"})
    for each in (0, 1):
        job.start(each, RANK="", **{variable: str(each)})
    job.wait()
    assert job.texts() == ["repeated by 1 other rank: slow", "slow"]


@pytest.mark.parametrize(
    "variables",
    [{"MASTER_PORT": "2"}, {"MASTER_ADDR": "b"}, {"TORCHELASTIC_RUN_ID": "x"}, {"SLURM_JOB_ID": "8"}]
    + [{"TORCHELASTIC_RESTART_COUNT": "1"}],
)
def test_two_jobs_at_once_do_not_mix(jobs: list[Job], tmp_path: Path, variables: dict[str, str]) -> None:
    source = "log.warning('slow'); reach(f'{os.environ[\"JOB\"]}.{rank}'); wait_for('a.0', 'a.1', 'b.2', 'b.3')"
    job = make_job(jobs, tmp_path, source, {"LOCAL_WORLD_SIZE": "2", "MASTER_PORT": "1", "SLURM_JOB_ID": "7"})
    job.start(0, 1, JOB="a")
    job.start(2, 3, JOB="b", **variables)
    job.wait()
    assert job.texts(0, 1) == job.texts(2, 3) == ["repeated by 1 other rank: slow", "slow"]


@pytest.mark.parametrize("variables", SIZED)
@pytest.mark.parametrize("killed", [False, True])
def test_job_that_is_started_again_prints_again(
    jobs: list[Job], tmp_path: Path, variables: dict[str, str], killed: bool
) -> None:
    sizes = {name: "2" for name in variables if name.endswith("SIZE")}
    source = "log.warning('slow'); meet(os.environ['ROUND'], 2)\nif os.environ['KILL']: os.kill(os.getpid(), 9)"
    job = make_job(jobs, tmp_path, source, variables | sizes)
    first = ["slow"] if killed else ["repeated by 1 other rank: slow", "slow"]
    assert job.run(0, 1, ROUND="first", KILL="1" if killed else "") == first
    assert job.run(1, 0, ROUND="second", KILL="") == ["repeated by 1 other rank: slow", "slow"]


def test_next_job_cleans_up_after_killed_ones(jobs: list[Job], tmp_path: Path) -> None:
    job = make_job(jobs, tmp_path, "log.warning('slow')\nif os.environ['KILL']: os.kill(os.getpid(), 9)")
    for port in ("1", "2", "3"):
        job.run(0, 1, MASTER_PORT=port, WORLD_SIZE="2", KILL="1")
    assert len(job.left_over()) == 1  # the second cleans up after the first
    assert job.run(0, 1, MASTER_PORT="4", WORLD_SIZE="2", KILL="")[-1:] == ["slow"]
    assert job.left_over() == []


@pytest.mark.parametrize("when", ["at once", "while the others end", "after the others"])
def test_killed_rank_takes_nobody_elses_count_with_it(jobs: list[Job], tmp_path: Path, when: str) -> None:
    source = """
        log.warning("slow")
        meet("all", 4)
        if rank == "2":
            if os.environ["WHEN"] == "at once":
                os.kill(os.getpid(), signal.SIGKILL)
            if os.environ["WHEN"] == "while the others end":
                time.sleep(0.2)
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)
    """
    job = make_job(jobs, tmp_path, source, {"MASTER_PORT": "1", "WORLD_SIZE": "4", "WHEN": when})
    job.start(*range(4))
    job.wait(0, 1, 3)
    job.kill()
    assert job.texts() == ["repeated by 3 other ranks: slow", "slow"]


def test_rank_that_others_outlast_leaves_its_count_to_them(jobs: list[Job], tmp_path: Path) -> None:
    source = """
        if rank == "2":
            wait_for("over")
        log.warning("slow")
        meet("all", 2) if rank != "2" else None
    """
    job = make_job(jobs, tmp_path, source, {"MASTER_PORT": "1", "WORLD_SIZE": "3"})
    job.start(0, 1, 2)
    job.wait(0, 1)
    assert job.texts(0, 1) == ["slow"]
    (tmp_path / "over").touch()
    job.wait(2)
    assert job.texts() == ["repeated by 2 other ranks: slow", "slow"]


def test_forks_of_a_rank_speak_for_it_and_children_with_a_rank_of_their_own_join(
    jobs: list[Job], tmp_path: Path
) -> None:
    source = """
        import multiprocessing

        def work(number):
            if os.environ["GIVE_RANKS"]:
                os.environ["RANK"] = str(number)
            for _ in range(2):
                log.warning("slow")

        if __name__ == "__main__":
            if rank:
                log.warning("from the start")
            context = multiprocessing.get_context("fork")
            children = [context.Process(target=work, args=(number,)) for number in range(3)]
            for child in children: child.start()
            for child in children: child.join()
            meet("done", 2) if rank else None
    """
    job = make_job(jobs, tmp_path / "a", source, {"MASTER_PORT": "1", "WORLD_SIZE": "2", "GIVE_RANKS": ""})
    lines = job.run(0, 1)
    assert lines.count("slow") == 6
    assert "repeated by 1 other rank (6 times): slow" in lines
    assert "repeated by 1 other rank: from the start" in lines
    job = make_job(jobs, tmp_path / "b", source, {"MASTER_PORT": "1", "WORLD_SIZE": "3", "GIVE_RANKS": "1"})
    job.start(0, RANK="")
    job.wait()
    lines = job.texts()
    assert lines.count("slow") == 2
    assert [line for line in lines if line != "slow"] == ["repeated by 2 other ranks (4 times): slow"]


LAZY = """
    for _ in range(3):
        log.warning("slow %s", complog.LazyString(lambda: print("evaluated", file=sys.stderr) or "path"))
"""
NOT_COLLAPSED = "complog: warning: dedup='ranks': identical warnings are not collapsed"


def test_lazy_message_is_evaluated_once_where_it_is_printed_and_where_it_is_not(
    jobs: list[Job], tmp_path: Path
) -> None:
    job = make_job(jobs, tmp_path, LAZY, {"WORLD_SIZE": "2", "MASTER_PORT": "1", "TORCH_LOGS_OUT": "{rank}.log"})
    lines = job.run(0, 1)
    assert lines.count("evaluated") == 6
    assert lines.count("slow path") == 3
    assert "".join((tmp_path / f"{rank}.log").read_text() for rank in (0, 1)).count("] slow path\n") == 3


def test_message_that_cannot_be_rendered_is_told_as_ever(jobs: list[Job], tmp_path: Path) -> None:
    source = "log.warning('%s and %s', 1)"
    lines = make_job(jobs, tmp_path, source, {"WORLD_SIZE": "2", "MASTER_PORT": "1"}).run(0, 1)
    assert lines.count("--- Logging error ---") == 2
    assert not any("complog: warning" in line for line in lines)


@pytest.mark.parametrize("bad", ["missing", "a file", "a link", "a dangling link", "open to all"])
def test_folder_that_cannot_be_used_costs_one_warning_and_collapses_nothing(
    jobs: list[Job], tmp_path: Path, bad: str
) -> None:
    job = make_job(jobs, tmp_path, LAZY, {"WORLD_SIZE": "2", "MASTER_PORT": "1"})
    meeting, elsewhere = tmp_path / "tmp" / f"complog-ranks-{os.getuid()}", tmp_path / "elsewhere"
    if bad == "missing":
        (tmp_path / "tmp").rmdir()
    elif bad == "a file":
        meeting.touch()
    elif bad == "open to all":
        meeting.mkdir()
        meeting.chmod(0o777)
    else:
        meeting.symlink_to(elsewhere)
        if bad == "a link":
            elsewhere.mkdir(mode=0o700)
    job.run(0, 1)
    for rank in (0, 1):
        lines = job.texts(rank)
        assert sum(line.startswith(NOT_COLLAPSED) for line in lines) == 1
        assert lines[1:] == ["evaluated"] * 3 + ["slow path"] * 3
    assert not elsewhere.exists() or list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("room", [10, 40, 60, 150])
def test_full_disk_costs_one_warning_and_no_record(jobs: list[Job], tmp_path: Path, room: int) -> None:
    source = """
        for number in range(3):
            log.warning("slow %s", number)
        written, sys.stderr = sys.stderr.getvalue(), sys.__stderr__
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        sys.stderr.write(written)
    """
    # a disk that is full, as far as this program can tell
    first = f"""
        import io, resource, signal, sys
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, hard))
        sys.stderr = io.StringIO()
    """
    job = make_job(jobs, tmp_path, source, {"WORLD_SIZE": "1", "MASTER_PORT": "1"})
    program = tmp_path / "program.py"
    program.write_text(dedent(first) + program.read_text())
    lines = job.run(0)
    assert lines[0].startswith(NOT_COLLAPSED)
    assert lines[1:] == ["slow 0", "slow 1", "slow 2"]


def test_warning_that_a_filter_of_another_plugin_drops_is_nobodys(jobs: list[Job], tmp_path: Path) -> None:
    plugin = """
        import os
        from complog_core import hookimpl

        @hookimpl
        def complog_filters():
            return [lambda record: os.environ["RANK"] != "1"]
    """
    points = {"complog": {"zz_last_in_the_alphabet": "zz_filter"}}
    site = make_distribution(tmp_path / "site", "zz", entry_points=points, modules={"zz_filter": plugin})
    source = """
        if rank == "0":
            wait_for("logged")
        log.warning("slow")
        reach("logged")
    """
    job = make_job(jobs, tmp_path, source, {"WORLD_SIZE": "2", "MASTER_PORT": "1", "PYTHONPATH": str(site)})
    assert job.run(0, 1) == ["slow"]


@pytest.mark.parametrize("form", ["json", "short", "basic", "glog", "%(message)s", "%(prefix)s %(message)s"])
def test_ranks_and_warnings_are_chosen_with_every_format(jobs: list[Job], tmp_path: Path, form: str) -> None:
    variables = {"WORLD_SIZE": "4", "MASTER_PORT": "1", "TORCH_LOGS_RANKS": "1-3", "TORCH_LOGS_FORMAT": form}
    text = "\n".join(make_job(jobs, tmp_path, "log.warning('slow')\nlog.info('fast')", variables).run(*range(4)))
    assert (text.count("slow"), text.count("fast"), text.count("repeated by 2 other ranks: slow")) == (2, 3, 1)
    assert "Traceback" not in text


def test_ranks_that_do_not_log_count_nothing(jobs: list[Job], tmp_path: Path) -> None:
    variables = {"WORLD_SIZE": "8", "MASTER_PORT": "1", "TORCH_LOGS_RANKS": "0,3-5"}
    job = make_job(jobs, tmp_path, "log.warning('slow')\nlog.warning('I am %s', rank)", variables)
    expected = [*(f"I am {rank}" for rank in (0, 3, 4, 5)), "repeated by 3 other ranks: slow", "slow"]
    assert job.run(*range(8)) == expected


@pytest.mark.parametrize("last", [0, 1, 2])
def test_sum_is_told_by_a_rank_that_logs(jobs: list[Job], tmp_path: Path, last: int) -> None:
    source = f"""
        log.warning("slow")
        meet("all", 3)
        if rank == "{last}":
            time.sleep(0.3)
    """
    variables = {"WORLD_SIZE": "3", "MASTER_PORT": "1", "TORCH_LOGS_RANKS": "0,2"}
    job = make_job(jobs, tmp_path, source, variables)
    assert job.run(0, 1, 2) == ["repeated by 1 other rank: slow", "slow"]
    assert job.texts(1) == []
    assert job.left_over() == []


def test_keyword_does_what_the_variable_does(jobs: list[Job], tmp_path: Path) -> None:
    source = """
        complog.set_logs(modules={"json.decoder": 20}, dedup="ranks")
        log.warning("slow")
        meet("first", 2)
        complog.set_logs(modules={"json.decoder": 20}, dedup=None)
        log.warning("all of us")
    """
    variables = {"WORLD_SIZE": "2", "MASTER_PORT": "1", "TORCH_LOGS": "", "TORCH_LOGS_DEDUP": ""}
    lines = make_job(jobs, tmp_path, source, variables).run(0, 1)
    assert lines == ["all of us", "all of us", "repeated by 1 other rank: slow", "slow"]


@pytest.mark.parametrize("value", ["rank", "1", "all", "ranks,ranks"])
def test_other_values_are_refused(jobs: list[Job], tmp_path: Path, value: str) -> None:
    lines = make_job(jobs, tmp_path, "", {"TORCH_LOGS_DEDUP": value}).run(0)
    assert any(f"TORCH_LOGS_DEDUP: dedup: {value!r} is neither 'ranks' nor 'off'" in line for line in lines)
