"""Every example, installed and run as its README says, in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
FAMILIES = tuple(f"plugins/{name}" for name in ("torch", "dynamo", "inductor", "distributed", "onnx"))
OURS = re.compile(r"(TORCH|COMPLOG|MY_ARTIFACT|MYLIB|HELION|PYTHON)", re.IGNORECASE)
SETTINGS = "+inductor,output_code,my_artifact"


@dataclass(frozen=True)
class Machine:
    """A directory with installed distributions, and how to run a program that sees them."""

    site: Path
    variables: dict[str, str] = field(default_factory=dict)

    def run(self, program: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the examples' folder (or `-c`) with these variables and none that the test run has."""
        environment = {name: value for name, value in os.environ.items() if not OURS.match(name)}
        environment |= {"PYTHONPATH": str(self.site), "PYTHONDONTWRITEBYTECODE": "1", **self.variables, **variables}
        command = [sys.executable, program, *arguments]
        done = subprocess.run(
            command, cwd=EXAMPLES, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, done.stderr
        return done


def install(site: Path, *projects: str) -> Machine:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-index", "--no-deps"]
    command = [*pip, "--no-build-isolation", "--target", str(site), *(str(ROOT / project) for project in projects)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return Machine(site)


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """complog, its torch families and examples/my-artifact."""
    return install(tmp_path_factory.mktemp("examples"), ".", *FAMILIES, "examples/my-artifact")


@pytest.fixture(scope="session")
def bare_machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """complog and its torch families."""
    return install(tmp_path_factory.mktemp("bare"), ".", *FAMILIES)


def messages(stderr: str, marker: str) -> list[str]:
    """The texts of the lines that carry this artifact's marker, or of those without any if it is ""."""
    lines = re.findall(r"^[VIWE]\d{4} \S+ \d+ \S+:\d+\](?: \[[\d/_]+\])?(?: \[__(\w+)\])? (.*)$", stderr, re.MULTILINE)
    return [text for name, text in lines if name == marker]


# -- toy_compiler.py


def test_toy_compiler_shows_component_own_artifact_and_third_partys(machine: Machine) -> None:
    done = machine.run("toy_compiler.py", "a * x + b", TORCH_LOGS=SETTINGS)
    assert done.stdout == "a * x + b: 2 steps\n"
    assert messages(done.stderr, "") == [
        "compiling a * x + b",
        "lowering Mult of a and x",
        "lowering Add of t1 and b",
    ]
    assert messages(done.stderr, "output_code") == [
        "Output code:",
        "auto t1 = mult(a, x);",
        "auto t2 = add(t1, b);",
        "return t2;",
    ]
    assert messages(done.stderr, "my_artifact") == [
        "generated code:",
        "kernel toy {",
        "    mult(a, x);",
        "    add(t1, b);",
        "}",
    ]
    assert len(done.stderr.splitlines()) == 12


def test_toy_compiler_is_silent_by_default(machine: Machine) -> None:
    assert machine.run("toy_compiler.py").stderr == ""


def test_toy_compiler_imports_no_torch(machine: Machine) -> None:
    script = "import sys, toy_compiler; toy_compiler.main('a + b'); sys.exit('torch' in sys.modules)"
    machine.run("-c", f"import sys; sys.path.insert(0, '.'); {script}", TORCH_LOGS=SETTINGS)


# -- my-artifact


def test_my_artifact_takes_less_than_a_hundred_lines_of_python() -> None:
    files = list((EXAMPLES / "my-artifact").rglob("*.py"))
    assert len(files) == 3
    assert sum(len(file.read_text().splitlines()) for file in files) < 100


def test_component_shows_progress_and_bare_summary_but_not_the_code(machine: Machine) -> None:
    done = machine.run("toy_compiler.py", "a + b", TORCH_LOGS="+my_backend")
    assert messages(done.stderr, "") == ["compiling toy, native log level DEBUG"]
    assert done.stderr.splitlines()[1:] == ["my_summary: toy: 1 operations"]


def test_own_variable_is_read_like_torch_logs(machine: Machine) -> None:
    done = machine.run("toy_compiler.py", "a + b", MY_ARTIFACT_LOGS="my_backend,my_artifact", TORCH_LOGS="schedule")
    assert messages(done.stderr, "schedule") == ["1 steps, no two of them fused"]
    assert messages(done.stderr, "my_artifact")[1] == "kernel toy {"
    assert "my_summary: toy: 1 operations" in done.stderr.splitlines()
    assert "native log level" not in done.stderr


def test_own_format_is_valid_in_torch_logs_format(machine: Machine) -> None:
    done = machine.run("toy_compiler.py", "a", TORCH_LOGS="+my_backend,+inductor", TORCH_LOGS_FORMAT="my_brief")
    assert done.stderr.splitlines() == [
        "I torch._inductor.toy: compiling a",
        "D my_artifact.backend: compiling toy, native log level DEBUG",
        "I my_artifact.backend.__my_summary: toy: 0 operations",
    ]


def test_own_file_gets_the_backends_records_only(machine: Machine, tmp_path: Path) -> None:
    file = tmp_path / "backend.log"
    done = machine.run("toy_compiler.py", "a", TORCH_LOGS="+my_backend,+inductor", MY_ARTIFACT_FILE=str(file))
    kept = file.read_text().splitlines()
    assert len(kept) == 2
    assert "compiling toy" in kept[0]
    assert set(kept) < set(done.stderr.splitlines())


def test_help_lists_the_third_partys_names(machine: Machine) -> None:
    done = machine.run("-c", "import complog; print(complog.help_message())")
    for expected in ("my_backend", "my_artifact", "the code that the example backend generates", "output_code"):
        assert expected in done.stdout


def test_third_partys_plugin_imports_neither_torch_nor_its_backend(machine: Machine) -> None:
    script = "import sys, complog; print([m for m in sys.modules if m == 'torch' or m.startswith('my_artifact')])"
    done = machine.run("-c", script, TORCH_LOGS="my_artifact")
    assert done.stdout == "['my_artifact', 'my_artifact.plugin']\n"


# -- own-prefix


def test_own_prefix_is_silent_and_deaf_to_torch_logs(machine: Machine) -> None:
    done = machine.run("own-prefix/program.py", "2", TORCH_LOGS="no_such_name")
    assert (done.stdout, done.stderr) == ("1.414213562373095\n", "")


def test_own_prefix_is_switched_by_its_own_variable(machine: Machine) -> None:
    done = machine.run("own-prefix/program.py", "16", MYLIB_LOGS="+solver,iterates")
    assert done.stdout == "4.0\n"
    assert messages(done.stderr, "") == ["square root of 16.0"]
    assert messages(done.stderr, "iterates")[0] == "16.000000000000"
    assert messages(done.stderr, "iterates")[-1] == "4.000000000000"


def test_own_prefix_is_switched_by_its_api(machine: Machine) -> None:
    done = machine.run("own-prefix/program.py", "16", "--verbose")
    assert messages(done.stderr, "") == ["square root of 16.0"]
    assert messages(done.stderr, "iterates")[-1] == "4.000000000000"


def test_own_prefix_takes_a_bad_variable_as_a_warning(machine: Machine) -> None:
    done = machine.run("own-prefix/program.py", "16", MYLIB_LOGS="solvre")
    assert done.stdout == "4.0\n"
    (line,) = done.stderr.splitlines()
    assert line.startswith("complog: warning: MYLIB_LOGS: ")
    assert "solver" in line


def test_own_prefix_has_a_help_page(machine: Machine) -> None:
    done = machine.run("own-prefix/program.py", "16", MYLIB_LOGS="help")
    assert "4.0\n" in done.stdout
    assert "each approximation of the solver" in done.stdout + done.stderr


# -- train.py


@pytest.mark.torch
def test_train_shows_inductor_its_code_and_the_third_party_also_with_warm_caches(
    machine: Machine, bare_machine: Machine, tmp_path: Path
) -> None:
    caches = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    alone = bare_machine.run("train.py", TORCH_LOGS="output_code", **caches)
    assert "cpp_fused" in "".join(messages(alone.stderr, "output_code"))
    assert not messages(alone.stderr, "my_artifact")
    done = machine.run("train.py", TORCH_LOGS=SETTINGS, **caches)
    assert done.stdout == alone.stdout
    assert done.stdout.startswith("loss: ")
    assert re.search(r"^V\d{4} .* torch/_inductor/", done.stderr, re.MULTILINE)
    assert "cpp_fused" in "".join(messages(done.stderr, "output_code"))
    assert messages(done.stderr, "my_artifact")[:2] == ["generated code:", "kernel forward {"]
