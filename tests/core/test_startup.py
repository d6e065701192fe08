"""Who reports bad settings by itself, and which processes of torch stay silent; seen in real processes."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.support.fake_distributions import SOURCES, clean_environment, write_modules

from complog_core.startup import find_program

BAD = {"TORCH_LOGS": "torch:loud"}
CONSOLE_SCRIPT = "import sys\nfrom complog.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
SAY_WORKER = "from complog_core.startup import in_worker; print(in_worker(), flush=True)\n"


def run(
    command: Sequence[str | Path], cwd: Path, env: dict[str, str] | None = None, paths: Sequence[Path] = ()
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        env=clean_environment(paths, env),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("argv", "program"),
    [
        (["python", "-m", "complog", "help"], ("module", "complog")),
        (["python", "-mcomplog"], ("module", "complog")),
        (["python", "-X", "dev", "-Wignore", "-W", "error", "-uIm", "complog"], ("module", "complog")),
        (["python", "--check-hash-based-pycs", "always", "x.py"], ("script", "x.py")),
        (["python", "train.py", "-m", "complog"], ("script", "train.py")),
        (["python", "-c", "import x", "-m", "complog"], ("code", "import x")),
        (["python", "-Em"], ("module", "")),
        (["python", "-", "-m", "complog"], ("none", "")),
        (["python"], ("none", "")),
        ([], ("none", "")),
    ],
)
def test_the_program_of_an_interpreter_is_found(argv: list[str], program: tuple[str, str]) -> None:
    assert find_program(argv) == program


class TestCommandLine:
    """A command line shows its own page and status; an ordinary program ends with the error."""

    def check_reports_itself(self, command: Sequence[str | Path], cwd: Path) -> None:
        for value in ("torch:loud", "help", "+help"):
            result = run(command, cwd, {"TORCH_LOGS": value})
            assert result.returncode == 0, result.stderr
            assert "Traceback" not in result.stderr
            assert result.stdout.startswith("TORCH_LOGS chooses")

    def check_raises(self, command: Sequence[str | Path], cwd: Path) -> None:
        result = run(command, cwd, BAD)
        assert result.returncode == 1
        assert "SettingsError" in result.stderr

    @pytest.mark.parametrize(
        "options", [["-m", "complog"], ["-m", "complog.__main__"], ["-mcomplog"], ["-X", "dev", "-um", "complog"]]
    )
    def test_module(self, options: list[str], tmp_path: Path) -> None:
        self.check_reports_itself([*options, "help"], tmp_path)

    @pytest.mark.parametrize("name", ["complog", "complog-script.py", "complog-3.11", "cl"])
    def test_console_script_of_any_name(self, name: str, tmp_path: Path) -> None:
        (tmp_path / name).write_text(CONSOLE_SCRIPT)
        self.check_reports_itself([tmp_path / name, "help"], tmp_path)

    def test_console_script_where_complog_was_imported_earlier(self, tmp_path: Path) -> None:
        (tmp_path / "complog").write_text(f"import complog\n{CONSOLE_SCRIPT}")
        self.check_reports_itself([tmp_path / "complog", "help"], tmp_path)

    def test_module_run_by_another_program(self, tmp_path: Path) -> None:
        runner = "import runpy, sys; sys.argv = ['x', 'help']; runpy.run_module('complog', run_name='__main__')"
        (tmp_path / "runner.py").write_text(runner)
        self.check_reports_itself([tmp_path / "runner.py"], tmp_path)
        self.check_reports_itself(["-m", "cProfile", "-o", tmp_path / "profile", "-m", "complog", "help"], tmp_path)

    @pytest.mark.parametrize("name", ["complog", "complog.py.txt", "my-complog", "complog/train.py", "complog/complog"])
    def test_a_users_script_raises_whatever_its_path(self, name: str, tmp_path: Path) -> None:
        script = tmp_path / name
        script.parent.mkdir(exist_ok=True)
        script.write_text("import complog\n")
        self.check_raises([script], tmp_path)

    @pytest.mark.parametrize(
        "command", [["-c", "import complog", "-m", "complog"], ["-c", "import complog", "complog", "help"]]
    )
    def test_arguments_of_a_program_are_not_its_name(self, command: list[str], tmp_path: Path) -> None:
        self.check_raises(command, tmp_path)

    def test_a_directory_of_that_name_is_a_users_program(self, tmp_path: Path) -> None:
        (tmp_path / "complog").mkdir()
        (tmp_path / "complog" / "__main__.py").write_text("import complog\n")
        self.check_raises([tmp_path / "complog"], tmp_path)


class TestPytest:
    def run_pytest(self, cwd: Path, *arguments: str, env: dict[str, str] | None = None) -> str:
        (cwd / "test_nothing.py").write_text("def test_nothing(): pass\n")
        options = ["-m", "pytest", "-p", "no:cacheprovider", *arguments]
        result = run(options, cwd, {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **BAD, **(env or {})})
        return f"{result.returncode}\n{result.stdout}{result.stderr}"

    @pytest.mark.parametrize("way", ["option", "conftest", "variable"])
    def test_the_plugin_tells_a_usage_error(self, way: str, tmp_path: Path) -> None:
        if way == "conftest":
            (tmp_path / "conftest.py").write_text('pytest_plugins = ["complog.testing"]\n')
        options = ["-p", "complog.testing"] if way == "option" else []
        told = self.run_pytest(
            tmp_path, *options, env={"PYTEST_PLUGINS": "complog.testing"} if way == "variable" else {}
        )
        assert told.startswith("4\n")
        assert "ERROR: TORCH_LOGS: 'torch:loud'" in told
        assert "Traceback" not in told

    def test_without_the_plugin_the_import_raises(self, tmp_path: Path) -> None:
        (tmp_path / "conftest.py").write_text("import complog\n")
        assert "SettingsError" in self.run_pytest(tmp_path)

    def test_another_plugin_that_imports_complog_does_not_hide_the_error(self, tmp_path: Path) -> None:
        (tmp_path / "other_plugin.py").write_text("import complog\n")
        assert "SettingsError" in self.run_pytest(tmp_path, "-p", "other_plugin", env={"PYTHONPATH": f"{SOURCES}:."})

    def test_a_marker_expression_is_no_command_line(self, tmp_path: Path) -> None:
        (tmp_path / "conftest.py").write_text("import complog\n")
        assert "SettingsError" in self.run_pytest(tmp_path, "-m", "complog")


class TestWorker:
    """Fake trees with the paths of torch show each way of starting; the last tests start the real things."""

    def say(self, command: Sequence[str | Path], cwd: Path, *, paths: Sequence[Path] = ()) -> list[str]:
        result = run(command, cwd, paths=[cwd, *paths])
        assert result.returncode == 0, result.stderr
        return result.stdout.split()

    @pytest.mark.parametrize("module", ["torch._inductor.compile_worker.__main__", "torch._inductor.__autotune_main__"])
    def test_a_compile_worker_is_one(self, module: str, tmp_path: Path) -> None:
        write_modules(tmp_path, {module: SAY_WORKER})
        assert self.say([tmp_path.joinpath(*module.split(".")).with_suffix(".py"), "--parent=1"], tmp_path) == ["True"]

    def test_a_compile_worker_run_as_module_is_one(self, tmp_path: Path) -> None:
        write_modules(tmp_path, {"torch._inductor.compile_worker.__main__": SAY_WORKER})
        assert self.say(["-m", "torch._inductor.compile_worker"], tmp_path) == ["True"]

    def test_a_compile_worker_with_a_binary_of_its_own_is_told_by_its_options(self, tmp_path: Path) -> None:
        (tmp_path / "binary").write_text(SAY_WORKER)
        options = ["--pickler=a.b", "--kind=fork", "--workers=2", "--parent=1", "--read-fd=3", "--write-fd=4"]
        assert self.say([tmp_path / "binary", *options], tmp_path) == ["True"]

    @pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
    def test_children_of_a_compile_worker_are_workers(self, method: str, tmp_path: Path) -> None:
        program = (
            "import multiprocessing\nfrom complog_core.startup import in_worker\n"
            "def say(): print(in_worker(), flush=True)\n"
            "if __name__ == '__main__':\n"
            f"    child = multiprocessing.get_context({method!r}).Process(target=say)\n"
            "    child.start(); child.join()\n"
        )
        write_modules(tmp_path, {"torch._inductor.compile_worker.__main__": program})
        script = tmp_path / "torch/_inductor/compile_worker/__main__.py"
        assert self.say([script], tmp_path) == ["True"]

    @pytest.mark.parametrize(
        "command",
        [
            ["-m", "torch.distributed.run", "--nproc-per-node=2", "train.py"],
            ["-m", "torch.distributed.launch", "train.py"],
            ["torch/distributed/run.py", "train.py"],
            ["bin/torchrun", "train.py"],
            ["bin/torchrun-script.py", "train.py"],
        ],
    )
    def test_the_agent_of_torchrun_is_one(self, command: list[str], tmp_path: Path) -> None:
        write_modules(tmp_path, {"torch.distributed.run": SAY_WORKER, "torch.distributed.launch": SAY_WORKER})
        (tmp_path / "bin").mkdir()
        for name in ("torchrun", "torchrun-script.py"):
            (tmp_path / "bin" / name).write_text(SAY_WORKER)
        assert self.say(command, tmp_path) == ["True"]

    @pytest.mark.parametrize("method", ["fork", "spawn"])
    def test_programs_in_processes_of_the_agent_are_not(self, method: str, tmp_path: Path) -> None:
        program = (
            "import multiprocessing\nfrom complog_core.startup import in_worker\n"
            "def say(): print(in_worker(), flush=True)\n"
            "if __name__ == '__main__':\n"
            "    say()\n"
            f"    child = multiprocessing.get_context({method!r}).Process(target=say)\n"
            "    child.start(); child.join()\n"
        )
        (tmp_path / "torchrun").write_text(program)
        assert self.say([tmp_path / "torchrun"], tmp_path) == ["True", "False"]

    @pytest.mark.parametrize(
        "name", ["train.py", "run.py", "__main__.py", "compile_worker/__main__.py", "my_torchrun", "torchrun/train.py"]
    )
    def test_other_programs_are_not(self, name: str, tmp_path: Path) -> None:
        script = tmp_path / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(SAY_WORKER)
        assert self.say([script, "--parent=1", "torchrun", "-m", "torch.distributed.run"], tmp_path) == ["False"]

    def test_asking_imports_nothing(self, tmp_path: Path) -> None:
        program = (
            "import sys, complog_core.startup as startup\nbefore = set(sys.modules)\n"
            "startup.in_worker(), startup.reports_itself()\nprint(sorted(set(sys.modules) - before))\n"
        )
        assert run(["-c", program], tmp_path).stdout == "[]\n"


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["FORK", "SPAWN"])
def test_real_compile_workers_know_that_they_are(kind: str, tmp_path: Path) -> None:
    program = (
        "from torch._inductor.compile_worker.subproc_pool import SubprocPool, SubprocKind\n"
        "from complog_core.startup import in_worker\n"
        "if __name__ == '__main__':\n"
        f"    pool = SubprocPool(1, kind=SubprocKind.{kind})\n"
        "    print(in_worker(), pool.submit(in_worker).result(timeout=100))\n"
        "    pool.shutdown()\n"
    )
    (tmp_path / "program.py").write_text(program)
    result = run([tmp_path / "program.py"], tmp_path)
    assert result.stdout == "False True\n", result.stderr


@pytest.mark.torch
@pytest.mark.parametrize("started", ["module", "script"])
def test_the_real_agent_knows_that_it_is_one_and_its_programs_are_not(started: str, tmp_path: Path) -> None:
    # sitecustomize runs at the start of each interpreter, before anything of torch
    note = f"import os\nfrom complog_core.startup import in_worker\nopen({str(tmp_path / 'notes')!r}, 'a').write"
    (tmp_path / "sitecustomize.py").write_text(f"{note}('%s\\n' % in_worker())\n")
    (tmp_path / "train.py").write_text("pass\n")
    command: list[str | Path] = ["-m", "torch.distributed.run"]
    if started == "script":
        found = shutil.which("torchrun", path=os.path.dirname(sys.executable))
        assert found is not None
        assert os.stat(found).st_mode & stat.S_IXUSR
        command = [found]
    result = run([*command, "--standalone", "--nproc-per-node=1", "train.py"], tmp_path, paths=[tmp_path])
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "notes").read_text().split() == ["True", "False"]
