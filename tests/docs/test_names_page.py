"""docs/names.md, the registry, the signature of set_logs, the help page and the command line tell the same names."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.docs.documents import read
from tests.docs.sandbox import ROOT, Sandbox


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A world with the published families and nothing else."""
    return Sandbox(tmp_path_factory.mktemp("names"))


def ask(sandbox: Sandbox, expression: str) -> object:
    """Return the value of an expression, `complog` being imported."""
    done = sandbox.run_python(f"import complog, json; print(json.dumps({expression}))")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def rows() -> dict[str, list[str]]:
    """Return the rows of the page: the cells of each by the name."""
    lines = [line for line in read("docs/names.md").splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return {row[0].strip("`"): row[1:] for row in cells}


def test_page_is_what_make_docs_writes(sandbox: Sandbox) -> None:
    copy = sandbox.folder / "write_names.py"
    shutil.copy(ROOT / "docs" / "write_names.py", copy)
    done = sandbox.run("python write_names.py", TORCH_LOGS="nonsense")
    assert done.returncode == 0, done.stdout
    assert (sandbox.folder / "names.md").read_text(encoding="utf-8") == read("docs/names.md"), "run `make docs`"


def test_page_is_not_written_where_a_family_is_missing(sandbox: Sandbox, tmp_path: Path) -> None:
    shutil.copy(ROOT / "docs" / "write_names.py", tmp_path)
    done = sandbox.run(f"python {tmp_path}/write_names.py", PYTHONPATH=f"{sandbox.site}:{ROOT / 'src' / 'core'}")
    assert done.returncode == 1
    assert "not installed or broken: distributed, dynamo, inductor, onnx" in done.stdout
    assert not (tmp_path / "names.md").exists()


def test_page_and_registry_have_the_same_names_and_flags(sandbox: Sandbox) -> None:
    done = sandbox.run("complog names --json")
    known = {entry["name"]: entry for entry in json.loads(done.stdout)}
    page = rows()
    assert set(page) == set(known)
    for name, (kind, visible, off_by_default, loggers, description, distribution) in page.items():
        entry = known[name]
        assert (kind, visible == "yes", off_by_default == "yes") == (
            entry["kind"],
            entry["visible"],
            entry["off_by_default"],
        )
        assert loggers.replace("`", "").split() == entry["loggers"]
        assert description.replace("\\|", "|") == " ".join(entry["description"].split())
        assert distribution == ", ".join(entry["distributions"])


def test_page_and_signature_have_the_same_names(sandbox: Sandbox) -> None:
    signature = ask(sandbox, "list(__import__('inspect').signature(complog.set_logs).parameters)")
    assert isinstance(signature, list)
    assert set(rows()) == set(signature) - {"settings", "all", "modules", "inherit", "ranks", "dedup", "names"}


@pytest.mark.parametrize("text", ["complog.help_message(True)", "complog.set_logs.__doc__"])
def test_every_name_stands_in_the_texts_with_its_description(sandbox: Sandbox, text: str) -> None:
    shown = " ".join(str(ask(sandbox, text)).split())
    for name, (_, _, _, _, description, distribution) in rows().items():
        assert re.search(rf"\b{name}\b", shown), name
        assert f"{description} [{distribution}]".replace("\\|", "|") in shown, name


def test_short_help_has_the_visible_names_only(sandbox: Sandbox) -> None:
    shown = str(ask(sandbox, "complog.help_message()"))
    listed = set(re.findall(r"^  (\w+)(?:  |$)", shown.partition("\nComponents")[2], re.MULTILINE)) - {"all"}
    assert listed == {name for name, row in rows().items() if row[1] == "yes"}


def test_names_have_descriptions() -> None:
    assert not [name for name, row in rows().items() if len(row[4].split()) < 3]
