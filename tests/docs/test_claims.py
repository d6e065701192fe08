"""What the documents name exists: variables, hooks, exceptions, functions, commands, settings, files, headings."""

from __future__ import annotations

import builtins
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.docs.documents import DOCUMENTS, find_blocks, find_code_words, find_steps, read, strip_blocks
from tests.docs.sandbox import ROOT, Sandbox

import complog
import complog.testing
import complog_core
import complog_otel
import complog_torch
from complog_core.implementations import HOOKS
from complog_core.settings import parse
from complog_core.trace_settings import read_trace_settings

TORCHS_OWN = {"TORCH_DEVICE_BACKEND_AUTOLOAD", "TORCH_INSTALL"}
SOURCES = [*(ROOT / "src").rglob("*.py"), *ROOT.glob("plugins/*/src/**/*.py")]
VARIABLE = re.compile(r"\b(?:COMPLOG|TORCH)_[A-Z][A-Z_]*[A-Z]\b")


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return Sandbox(tmp_path_factory.mktemp("claims"))


def variables_in_help(sandbox: Sandbox) -> set[str]:
    """Return the variables that the help page lists."""
    page = sandbox.run("complog help").stdout
    return set(re.findall(r"^  (TORCH_\w+)", page.partition("\nVariables\n")[2], re.MULTILINE))


class Noting(dict[str, str]):
    """Variables of which none is set, and the names that somebody asked for."""

    def get(self, name: str, default: Any = None) -> Any:
        self.asked = {*getattr(self, "asked", ()), name}
        # one value that leads to the question for the next variable
        return "1" if name.endswith("_COMPILE_DEBUG") else default


def variables_of_the_trace() -> set[str]:
    """Return the variables that are read for the structured trace."""
    noting = Noting()
    read_trace_settings(noting, "TORCH")
    return set(noting.asked)


def variables_of_complog(sandbox: Sandbox) -> set[str]:
    """Return every variable that complog, its bridge or its families read: the help page's, and those in their code."""
    code = "".join(file.read_text(encoding="utf-8") for file in SOURCES)
    named = set(re.findall(r"[\"'](COMPLOG_[A-Z_]+|TORCH_LOGS_[A-Z_]+)[\"']", code))
    return named | variables_in_help(sandbox) | variables_of_the_trace()


def test_reference_lists_exactly_the_variables_that_are_read(sandbox: Sandbox) -> None:
    table = read("docs/settings.md").partition("\n## Variables\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == variables_of_complog(sandbox)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_variables_exist(document: str, sandbox: Sandbox) -> None:
    assert set(VARIABLE.findall(read(document))) <= variables_of_complog(sandbox) | TORCHS_OWN


@pytest.mark.parametrize("document", DOCUMENTS)
def test_hooks_exist(document: str) -> None:
    named = set(re.findall(r"\bcomplog_[a-z_]+\b", read(document)))
    packages = {path.name for path in ROOT.glob("plugins/*/src/*")} | {
        "complog_core",
        "complog_capture",
        "complog_state",
    }
    assert named - packages <= set(HOOKS)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_public_names_exist(document: str) -> None:
    modules = {"complog": complog, "complog.testing": complog.testing, "complog_torch": complog_torch}
    modules["complog_otel"] = complog_otel
    attributes = (ROOT / "plugins/otel/src/complog_otel/entries.py").read_text(encoding="utf-8")
    named = re.findall(r"\b(complog(?:\.testing)?|complog_torch|complog_otel)\.([A-Za-z_]+)\b", read(document))
    for module, name in named:
        if f'"{module}.{name}' in attributes:
            continue
        if f"{module}.{name}" in modules or (module, name) in {("complog", "cli"), ("complog_torch", "plugin")}:
            continue
        assert name in modules[module].__all__, f"{module}.{name}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_exceptions_and_types_exist(document: str) -> None:
    named = {word for word in find_code_words(read(document)) if re.fullmatch(r"[A-Z][a-z]\w+", word)}
    known = {*complog_core.__all__, *dir(builtins)}
    assert named <= known


def test_reference_lists_every_exception_and_every_function() -> None:
    # what plugins call stands with the hooks
    page = read("docs/settings.md") + read("docs/hooks.md")
    for name in complog.__all__:
        value = getattr(complog, name)
        is_error = isinstance(value, type) and issubclass(value, Exception)
        if is_error or (callable(value) and not isinstance(value, type)):
            assert name == "hookimpl" or re.search(rf"\b{name}\b", page), name


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_of_complog_exist(document: str, sandbox: Sandbox) -> None:
    known = set(re.findall(r"^    (\w+) ", sandbox.run("complog --help").stdout, re.MULTILINE))
    named = re.findall(r"(?:`|\$ |m )complog (\w+)", read(document))
    assert set(named) <= known
    for command, option in re.findall(r"complog (\w+) (--\w+)", read(document)):
        assert option in sandbox.run(f"complog {command} --help").stdout


def test_reference_lists_every_command_and_option(sandbox: Sandbox) -> None:
    table = read("docs/settings.md").partition("\n## The command line\n")[2]
    for command in re.findall(r"^    (\w+) ", sandbox.run("complog --help").stdout, re.MULTILINE):
        row = re.search(rf"^\| `complog {command}` \| (.*) \|$", table, re.MULTILINE)
        assert row, command
        options = re.findall(r"^  (--\w+)", sandbox.run(f"complog {command} --help").stdout, re.MULTILINE)
        assert all(f"`{option}" in row[1] for option in options), command


@pytest.mark.parametrize("document", DOCUMENTS)
def test_targets_of_make_exist(document: str) -> None:
    named = set(re.findall(r"(?:`|\$ )make ([\w-]+)", read(document)))
    defined = set(re.findall(r"^([\w-]+):(?!=)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert named <= defined


@pytest.mark.parametrize("document", DOCUMENTS)
def test_settings_that_are_shown_as_good_are_good(document: str, sandbox: Sandbox) -> None:
    known = set(sandbox.run_python("import complog; print(*complog.default_system.registry.names())").stdout.split())
    known |= {"my_artifact", "my_backend", "tiler", "tiles", "all"}
    for block in find_blocks(document):
        for step in find_steps(block) if block.language == "console" else ():
            for text in re.findall(r"\bTORCH_LOGS=\"?([^\" ]*(?:[^\"]*(?=\"))?)", step.command):
                parsed = parse(text)
                if "Error" not in step.output and "python" in step.command and "nonsense" not in text:
                    assert not parsed.problems, f"{block}: {text}"
                    assert all(setting.name in known or "." in setting.name for setting in parsed.settings), text


def test_rooms_of_the_house_exist() -> None:
    page = read("CONTRIBUTING.md")
    picture = page.partition("```\n")[2].partition("```")[0].partition("complog_core.engine")[2]
    rooms = {path.stem for path in (ROOT / "src" / "core" / "complog_core").glob("*.py")}
    rows = [re.split(r"  (?= )", line.strip())[0] for line in picture.partition("\n\n   plugins")[0].splitlines()[1:]]
    named = {word for row in rows for word in row.split() if word.isidentifier()}
    assert len(named) > 15
    assert named <= rooms
    files = set(re.findall(r"`([\w/<>.]+\.(?:py|toml))`", page)) - {"plugins/<family>/src/complog_<family>/names.py"}
    assert {file for file in files if not (ROOT / file).exists()} <= {f"{room}.py" for room in rooms}


def heading_anchors(document: str) -> set[str]:
    """Return the anchors that a document's headings have."""
    headings = re.findall(r"^#+ (.*)$", strip_blocks(read(document)), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", strip_blocks(read(document))):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / document).parent / path if path else ROOT / document
        assert file.exists(), target
        if anchor:
            assert anchor in heading_anchors(file.resolve().relative_to(ROOT).as_posix()), target


@pytest.mark.parametrize("document", DOCUMENTS)
def test_text_is_not_cut_short_and_lines_are_not_endless(document: str) -> None:
    assert read(document).strip()
    if document != "docs/names.md":
        prose = [line for line in strip_blocks(read(document)).splitlines() if not line.startswith("|")]
        assert not [line for line in prose if len(line) > 160]


def test_license_stands_in_every_distribution() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "The complog authors" in text
    for project in ROOT.glob("plugins/*/pyproject.toml"):
        assert (project.parent / "LICENSE").read_text(encoding="utf-8") == text


def test_make_lists_its_targets() -> None:
    done = subprocess.run(["make", "-C", str(ROOT), "help"], capture_output=True, text=True, timeout=60, check=True)
    for target in ("demo", "test", "test-versions", "lint", "docs", "bench", "wheels", "clean"):
        assert f"make {target} " in done.stdout


def test_changelog_begins_with_the_version() -> None:
    version = complog_core.__version__
    headings = re.findall(r"^## (\S+)", Path(ROOT, "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == version
