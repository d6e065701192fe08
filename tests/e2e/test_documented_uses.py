"""The five uses that PyTorch's documentation shows, as a variable and as a call, without PyTorch and with it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.docs.sandbox import FOREIGN, Sandbox

PROGRAM = """
import logging, sys
exec(sys.argv[1])
import complog, json
state = complog.current_state()
LOGGERS = {
    "dynamo": "torch._dynamo.probe",
    "shapes": "torch.fx.experimental.symbolic_shapes.probe",
    "aot": "torch._functorch.aot_autograd.probe",
    "inductor": "torch._inductor.probe",
    "module": "some.random.module",
    "below": "some.random.module.below",
    "beside": "some.random.other",
}
print(json.dumps({
    "source": state.source,
    "levels": {short: state.level(name) for short, name in LOGGERS.items()},
    "artifacts": sorted(name for name, on in state.artifacts.items() if on and "/" not in name),
    "effective": {short: logging.getLogger(name).getEffectiveLevel() for short, name in LOGGERS.items()},
    "imported": "some" in sys.modules,
}))
for short, name in LOGGERS.items():
    for level in ("debug", "info", "warning", "error"):
        getattr(logging.getLogger(name), level)(f"{short} {level}")
for artifact, module in (
    ("aot_graphs", "torch._functorch.aot_autograd.probe"),
    ("schedule", "torch._inductor.probe"),
    ("guards", "torch._dynamo.probe"),
):
    complog.getArtifactLogger(module, artifact).debug(f"artifact {artifact}")
"""
DEBUG, INFO, WARNING, ERROR = 10, 20, 30, 40
UNSET = {"dynamo": WARNING, "shapes": WARNING, "aot": WARNING, "inductor": WARNING, "module": WARNING, "below": WARNING}


@dataclass(frozen=True)
class Use:
    """One documented use: the variable's text, the call, and what both mean."""

    text: str
    call: str
    levels: dict[str, int]
    artifacts: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()
    """The artifacts whose records come out: the named ones, and those that a component at DEBUG admits."""


USES = (
    Use(
        "+dynamo,aot",
        "dynamo=logging.DEBUG, aot=logging.INFO",
        {"dynamo": DEBUG, "shapes": DEBUG, "aot": INFO},
        printed=("guards",),
    ),
    Use(
        "-dynamo,+inductor",
        "dynamo=logging.ERROR, inductor=logging.DEBUG",
        {"dynamo": ERROR, "shapes": ERROR, "inductor": DEBUG},
    ),
    Use("aot_graphs", "aot_graphs=True", {}, ("aot_graphs",), ("aot_graphs",)),
    Use(
        "+dynamo,schedule",
        "dynamo=logging.DEBUG, schedule=True",
        {"dynamo": DEBUG, "shapes": DEBUG},
        ("schedule",),
        ("schedule", "guards"),
    ),
    Use(
        "+some.random.module,schedule",
        'modules={"some.random.module": logging.DEBUG}, schedule=True',
        {"module": DEBUG, "below": DEBUG},
        ("schedule",),
        ("schedule",),
    ),
)


def lines_of(use: Use) -> list[str]:
    """Return the texts of all records that are to come out, in order."""
    levels = {**UNSET, **use.levels}
    texts = [
        f"{short} {name}"
        for short, least in levels.items()
        for level, name in ((DEBUG, "debug"), (INFO, "info"), (WARNING, "warning"), (ERROR, "error"))
        if level >= least and short not in ("module", "below")
    ]
    if "module" in use.levels:
        texts += [f"{short} {name}" for short in ("module", "below") for name in ("debug", "info", "warning", "error")]
    return texts + [f"artifact {name}" for name in use.printed]


def make_random_module(folder: Path) -> None:
    """Make `some.random.module` exist, where importing any part of it would end the program."""
    package = folder / "some" / "random"
    package.mkdir(parents=True)
    for file in (folder / "some" / "__init__.py", package / "__init__.py", package / "module.py"):
        file.write_text("raise SystemExit('imported')\n", encoding="utf-8")


def check(use: Use, source: str, stdout: str, stderr: str) -> None:
    told = json.loads(stdout.splitlines()[-1])
    levels = {**UNSET, **use.levels}
    assert told["source"] == source
    assert {short: told["levels"][short] for short in levels} == levels
    assert {short: told["effective"][short] for short in levels} == levels
    assert told["levels"]["beside"] == WARNING
    assert tuple(told["artifacts"]) == use.artifacts
    assert not told["imported"]
    # a logger that nobody registered or set is left to the standard library: bare text, no prefix
    ours = [line for line in stderr.splitlines() if re.match(r"[VIWE]\d{4} ", line)]
    assert [re.sub(r"^.*?\] (?:\[__\w+\] )?", "", line) for line in ours] == lines_of(use)
    marked = [name for line in ours for name in re.findall(r"\] \[__(\w+)\] artifact ", line)]
    assert tuple(marked) == use.printed


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    made = Sandbox(tmp_path)
    make_random_module(made.folder)
    return made


def run(sandbox: Sandbox, preamble: str, **variables: str) -> subprocess.CompletedProcess[str]:
    # the random module lies in the working directory, which -c puts on the path
    command = [sys.executable, "-S", "-c", PROGRAM, preamble]
    return subprocess.run(
        command,
        cwd=sandbox.folder,
        env={**sandbox.environment, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("use", USES, ids=lambda use: use.text)
def test_use_as_a_variable(use: Use, sandbox: Sandbox) -> None:
    done = run(sandbox, "", TORCH_LOGS=use.text)
    assert done.returncode == 0, done.stderr
    check(use, "environment", done.stdout, done.stderr)


@pytest.mark.parametrize("use", USES, ids=lambda use: use.text)
def test_use_as_a_call_with_keywords(use: Use, sandbox: Sandbox) -> None:
    done = run(sandbox, f"import complog; complog.set_logs({use.call})")
    assert done.returncode == 0, done.stderr
    check(use, "api", done.stdout, done.stderr)


@pytest.mark.parametrize("use", USES, ids=lambda use: use.text)
def test_use_as_a_call_with_a_text(use: Use, sandbox: Sandbox) -> None:
    done = run(sandbox, f"import complog; complog.set_logs({use.text!r})")
    assert done.returncode == 0, done.stderr
    check(use, "api", done.stdout, done.stderr)


def test_without_the_module_its_use_is_an_error_that_names_it(sandbox: Sandbox) -> None:
    done = run(sandbox, "", TORCH_LOGS="+some.random.missing,schedule")
    assert done.returncode == 1
    assert "'+some.random.missing': unknown name" in done.stderr


@pytest.mark.torch
@pytest.mark.parametrize("use", USES, ids=lambda use: use.text)
@pytest.mark.parametrize("way", ["variable", "call"])
def test_use_with_real_torch(use: Use, way: str, tmp_path: Path) -> None:
    make_random_module(tmp_path)
    environment = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
    preamble = "import torch"
    if way == "variable":
        environment["TORCH_LOGS"] = use.text
    else:
        preamble += f"; torch._logging.set_logs({use.call})"
    command = [sys.executable, "-c", PROGRAM, preamble]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    # what PyTorch itself logs at these settings is not what is looked at
    stderr = "\n".join(line for line in done.stderr.splitlines() if " <string>:" in line or "/<string>:" in line)
    check(use, "environment" if way == "variable" else "api", done.stdout, stderr)
