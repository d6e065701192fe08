"""What the documents show is what happens: their files are written, their programs and commands run, in order."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.documents import DOCUMENTS, Block, Step, find_blocks, find_steps, is_shown
from tests.docs.sandbox import ROOT, Sandbox, read_project

LEFT_TO_OTHERS = re.compile(
    r"(?:\w+=(?:\"[^\"]*\"|\S*) +)*(?:python (?:train|export)\.py|torchrun|make|git|cd|\.ci/run)\b"
)
"""Commands that need PyTorch, or that test themselves: test_claims looks at what they say."""
INSTALLATION = re.compile(r"pip install (?!\./)")
NEEDS_TORCH = re.compile(
    r"^(?:>>> |\.\.\. )?\s*(?:import torch$|from torch\b)|-c \"import torch\b|examples/train\.py", re.MULTILINE
)
DOCTEST = "import doctest, sys; from pathlib import Path; file = sys.argv[1]; " + (
    "test = doctest.DocTestParser().get_doctest(Path(file).read_text(), {}, file, file, 0); "
    "runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS); runner.run(test); sys.exit(bool(runner.failures))"
)


def is_torch_block(block: Block) -> bool:
    return NEEDS_TORCH.search(block.body) is not None


@pytest.mark.parametrize("document", DOCUMENTS)
def test_snippets_of_the_document_are_true(document: str, tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    for block in find_blocks(document):
        if block.path:
            file = sandbox.folder / block.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.body, encoding="utf-8")
        elif is_torch_block(block):
            continue  # the next test
        elif block.language == "python":
            run_program(sandbox, block)
        elif block.language == "console":
            for step in find_steps(block):
                if not (LEFT_TO_OTHERS.match(step.command) or INSTALLATION.match(step.command)):
                    run_step(sandbox, block, step)


def run_program(sandbox: Sandbox, block: Block) -> None:
    file = sandbox.folder / "snippet.py"
    file.write_text(block.body, encoding="utf-8")
    arguments = f"-c '{DOCTEST}' snippet.py" if ">>> " in block.body else "snippet.py"
    done = sandbox.run(f"PYTHONPATH=.:$PYTHONPATH python {arguments}")
    assert done.returncode == 0, f"{block}\n{done.stdout}"


def run_step(sandbox: Sandbox, block: Block, step: Step) -> None:
    done = sandbox.run(step.command)
    if step.output:
        assert is_shown(done.stdout, step.output), f"{block}: $ {step.command}\n{done.stdout}"
    else:
        assert done.returncode == 0, f"{block}: $ {step.command}\n{done.stdout}"


@pytest.mark.torch
@pytest.mark.parametrize("document", [each for each in DOCUMENTS if any(map(is_torch_block, find_blocks(each)))])
def test_snippets_that_need_torch_are_true(document: str, tmp_path: Path) -> None:
    # this time with everything that `make test` has installed
    sandbox = Sandbox(tmp_path)
    environment = {**sandbox.environment, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "caches")}
    environment["PYTHONPATH"] = str(tmp_path)
    for block in filter(is_torch_block, find_blocks(document)):
        file = tmp_path / "snippet.py"
        file.write_text(block.body, encoding="utf-8")
        for step in find_steps(block) if block.language == "console" else [Step("python snippet.py", "")]:
            command = re.sub(r"\bpython ", f"{sys.executable} ", step.command)
            if ">>> " in block.body and block.language == "python":
                command = f"{sys.executable} -c '{DOCTEST}' snippet.py"
            if INSTALLATION.match(command) or command.startswith(("pip", "make", "cd")):
                continue
            done = subprocess.run(
                ["/bin/sh", "-c", f"{command} 2>&1"],
                cwd=tmp_path,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            assert done.returncode == 0, f"{block}: {command}\n{done.stdout}"
            assert not step.output or is_shown(done.stdout, step.output), f"{block}: {command}\n{done.stdout}"


def test_packages_that_documents_install_exist() -> None:
    published = {read_project(path.parent)["name"] for path in ROOT.glob("plugins/*/pyproject.toml")}
    published |= {"complog", "torch"}
    named: set[str] = set()
    for document in DOCUMENTS:
        for block in find_blocks(document):
            for step in find_steps(block) if block.language == "console" else ():
                if INSTALLATION.match(step.command):
                    named |= {word for word in step.command.split()[2:] if not word.startswith((".", "-"))}
    assert named
    assert {re.split(r"[=<>\[]", name)[0] for name in named} <= published
