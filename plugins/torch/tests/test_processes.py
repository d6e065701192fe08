"""Programs of several processes: workers, ranks and children know the names, and no setting hangs a job."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.backend_names import BACKEND_NAMES
from tests.support.fake_distributions import make_distribution
from tests.support.torch_programs import Finished, run_program

pytestmark = pytest.mark.torch

WORK = """
    import logging, os

    def work(number):
        import complog_torch, torch
        torch._logging.getArtifactLogger("backend.x", "tiles").debug("tile %d", number)
        logging.getLogger("backend.x").debug("not shown")
        assert complog_torch.is_active(), complog_torch.why_inactive()
        return os.getpid()
"""


@pytest.fixture
def backend(tmp_path: Path) -> Path:
    """A distribution that contributes `backend` and `tiles`, beside a module with work for children."""
    points = {"complog": {"backend": "backend_names"}}
    modules = {"backend_names": BACKEND_NAMES, "backend_work": WORK}
    return make_distribution(tmp_path / "site", "backend", entry_points=points, modules=modules)


def tiles(done: Finished) -> list[str]:
    return sorted(text for text in done.texts if text.startswith("[__tiles]"))


def expect_tiles(done: Finished, count: int) -> None:
    """The program succeeded, and what was logged in each process was shown once, and nothing else."""
    assert done.returncode == 0, done.stderr
    assert tiles(done) == [f"[__tiles] tile {number}" for number in range(count)], done.stderr
    assert len(done.stderr.splitlines()) == count, done.stderr


# -- inductor's compile workers

POOL = """
    import os
    import torch
    from backend_work import work
    from torch._inductor.async_compile import AsyncCompile, shutdown_compile_workers

    if __name__ == "__main__":
        if not os.environ["TORCH_LOGS"]:
            torch._logging.set_logs(tiles=True, inherit=True)
        work(0)
        if "LATER" in os.environ:
            os.environ["TORCH_LOGS"] = os.environ["LATER"]
        pool = AsyncCompile.process_pool()
        pids = {job.result(80) for job in [pool.submit(work, number) for number in (1, 2)]}
        assert os.getpid() not in pids
        shutdown_compile_workers()
        print("done")
"""


def run_pool(backend: Path, tmp_path: Path, start: str, **variables: str) -> Finished:
    settings = {
        "TORCHINDUCTOR_WORKER_START": start,
        "TORCHINDUCTOR_COMPILE_THREADS": "2",
        "TORCHINDUCTOR_WORKER_SUPPRESS_LOGGING": "0",  # PyTorch would hide what a worker says
        "TORCH_LOGS": "tiles",
    }
    return run_program(POOL, tmp_path, paths=[backend], env=settings | variables)


@pytest.mark.parametrize("start", ["subprocess", "fork"])
def test_compile_workers_know_the_names(backend: Path, tmp_path: Path, start: str) -> None:
    done = run_pool(backend, tmp_path, start)
    expect_tiles(done, 3)
    assert done.stdout == "done\n"


@pytest.mark.parametrize("start", ["subprocess", "fork", "spawn"])
def test_compile_workers_get_what_the_program_hands_down(backend: Path, tmp_path: Path, start: str) -> None:
    done = run_pool(backend, tmp_path, start, TORCH_LOGS="")
    expect_tiles(done, 3)
    assert done.stdout == "done\n"


@pytest.mark.parametrize("start", ["subprocess", "spawn"])
def test_compile_workers_neither_fail_nor_speak_for_a_bad_setting(backend: Path, tmp_path: Path, start: str) -> None:
    done = run_pool(backend, tmp_path, start, LATER="no_such_name,tiles")
    expect_tiles(done, 3)
    assert done.stdout == "done\n"


def test_compile_workers_print_no_help(backend: Path, tmp_path: Path) -> None:
    done = run_pool(backend, tmp_path, "subprocess", LATER="help")
    expect_tiles(done, 1)
    assert done.stdout == "done\n"


# -- torchrun

RANK = """
    import torch
    import torch.distributed as dist
    from backend_work import work

    dist.init_process_group("gloo")
    total = torch.ones(1)
    dist.all_reduce(total)
    assert total.item() == 2
    work(dist.get_rank())
    dist.destroy_process_group()
"""

TORCHRUN = """
    import sys
    from torch.distributed.run import main

    sys.exit(main(["--standalone", "--nproc-per-node", "2", "rank.py"]))
"""


def run_torchrun(backend: Path, tmp_path: Path, **variables: str) -> Finished:
    """Run the two ranks as the console script `torchrun` does."""
    make_program = (tmp_path / "rank.py").write_text
    make_program("\n".join(line.removeprefix("    ") for line in RANK.splitlines()), encoding="utf-8")
    return run_program(TORCHRUN, tmp_path, name="torchrun", paths=[backend], env=variables)


def test_ranks_of_torchrun_know_the_names_and_say_who_they_are(backend: Path, tmp_path: Path) -> None:
    done = run_torchrun(backend, tmp_path, TORCH_LOGS="tiles")
    assert done.returncode == 0, done.stderr
    assert tiles(done) == ["[__tiles] tile 0", "[__tiles] tile 1"]
    heads = sorted(line.partition(":")[0] for line in done.stderr.splitlines() if "[__tiles]" in line)
    assert heads == ["[rank0]", "[rank1]"]
    assert "complog" not in done.stderr


@pytest.mark.parametrize(("value", "expected"), [("tils", "nearest: tiles"), ("help", "[backend]")])
def test_torchrun_ends_with_each_ranks_own_error(backend: Path, tmp_path: Path, value: str, expected: str) -> None:
    done = run_torchrun(backend, tmp_path, TORCH_LOGS=value)
    assert done.returncode == 1
    # one traceback for each rank, at most: the other may be stopped before it gets so far; none of the agent's import
    assert 1 <= done.stderr.count(f'\n  File "{tmp_path / "rank.py"}"') <= 2
    assert expected in done.stderr
    assert "ChildFailedError" in done.stderr
    assert "complog: warning" not in done.stderr


# -- children of the program's own

CHILDREN = """
    import concurrent.futures, multiprocessing, os
    import torch
    from backend_work import work

    if __name__ == "__main__":
        work(0)
        os.environ["TORCH_LOGS"] = os.environ.get("LATER", os.environ["TORCH_LOGS"])
        context = multiprocessing.get_context(os.environ["METHOD"])
        pool = context.Pool(1)
        executor = concurrent.futures.ProcessPoolExecutor(1, mp_context=context)
        child = context.Process(target=work, args=(3,))
        child.start()
        jobs = pool.apply_async(work, (1,)), executor.submit(work, 2)
        assert os.getpid() not in (jobs[0].get(60), jobs[1].result(60))
        child.join(60)
        assert child.exitcode == 0
        pool.close()
        pool.join()
        executor.shutdown()
        print("done")
"""


def run_children(backend: Path, tmp_path: Path, method: str, **variables: str) -> Finished:
    settings = {"TORCH_LOGS": "tiles", "METHOD": method, **variables}
    return run_program(CHILDREN, tmp_path, paths=[backend], env=settings)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_of_every_kind_know_the_names(backend: Path, tmp_path: Path, method: str) -> None:
    done = run_children(backend, tmp_path, method)
    expect_tiles(done, 4)
    assert done.stdout == "done\n"


def test_child_does_not_fail_for_a_setting_that_its_parent_was_spared(backend: Path, tmp_path: Path) -> None:
    # a pool would start its worker anew for ever, and the program would wait for it as long
    done = run_children(backend, tmp_path, "spawn", LATER="no_such_name,tiles")
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-3000:]
    assert tiles(done) == [f"[__tiles] tile {number}" for number in range(4)]


# -- a door that is shut: PyTorch loads no backends

SHUT = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}


@pytest.mark.parametrize(
    "imports",
    ["import complog_torch, torch", "import complog_torch, complog, torch", "import complog_torch.plugin, torch"],
)
def test_import_of_the_bridge_before_torch_takes_over(backend: Path, tmp_path: Path, imports: str) -> None:
    code = f"{imports}\nfrom backend_work import work\nwork(0)"
    expect_tiles(run_program(code, tmp_path, paths=[backend], env=SHUT | {"TORCH_LOGS": "tiles"}), 1)


def test_install_takes_over_after_torch_and_reads_the_variables(backend: Path, tmp_path: Path) -> None:
    code = """
        import os, torch, complog_torch
        from backend_work import work
        os.environ["TORCH_LOGS"] = "tils"
        try:
            complog_torch.install()
        except ValueError as error:
            assert "nearest: tiles" in str(error)
        else:
            raise AssertionError("no error")
        os.environ["TORCH_LOGS"] = "tiles"
        torch._logging._init_logs()
        assert complog_torch.install()
        work(0)
    """
    expect_tiles(run_program(code, tmp_path, paths=[backend], env=SHUT), 1)


def test_import_of_complog_in_the_middle_of_torchs_takes_over(backend: Path, tmp_path: Path) -> None:
    code = """
        import sys
        class Middle:
            def find_spec(self, name, path=None, target=None):
                if name == "torch._tensor" and "complog" not in sys.modules:
                    import complog
        sys.meta_path.insert(0, Middle())
        import torch
        assert "complog" in sys.modules
        from backend_work import work
        work(0)
    """
    expect_tiles(run_program(code, tmp_path, paths=[backend], env=SHUT | {"TORCH_LOGS": "tiles"}), 1)


def test_plain_import_of_torch_is_stock(backend: Path, tmp_path: Path) -> None:
    code = """
        import sys
        try:
            import torch
        except ValueError as error:
            assert "Valid settings:" in str(error), error
        else:
            raise AssertionError("stock PyTorch does not know the name")
        assert not [name for name in sys.modules if name.startswith("complog")]
    """
    done = run_program(code, tmp_path, paths=[backend], env=SHUT | {"TORCH_LOGS": "tiles"})
    assert (done.returncode, done.stderr) == (0, "")


# -- threads

THREADS = """
    import importlib, sys, threading
    from backend_work import work

    sys.setswitchinterval(1e-5)
    start = threading.Barrier(2)
    faults = []

    def load(names):
        start.wait()
        try:
            for name in names.split():
                importlib.import_module(name)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=load, args=(names,), daemon=True) for names in sys.argv[1].split(",")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(80)
        assert not thread.is_alive(), "deadlock"
    assert not faults, faults
    work(0)
"""


@pytest.mark.parametrize("order", ["torch,complog", "torch,complog_torch torch", "complog torch,torch complog"])
def test_imports_in_two_threads_at_once_end_well(backend: Path, tmp_path: Path, order: str) -> None:
    source = THREADS.replace("sys.argv[1]", repr(order))
    expect_tiles(run_program(source, tmp_path, paths=[backend], env={"TORCH_LOGS": "tiles"}), 1)
