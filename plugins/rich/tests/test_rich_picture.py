"""The picture in the README is what the records look like now."""

from __future__ import annotations

import importlib.util
import random
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def picture() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_picture", ROOT / "docs" / "write_picture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_picture_is_what_make_docs_draws(
    picture: ModuleType, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if where == "elsewhere":
        monkeypatch.chdir(tmp_path)
        for variable, value in {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "20"}.items():
            monkeypatch.setenv(variable, value)
        random.seed(2)
    assert picture.draw() == (ROOT / "docs" / "rich.svg").read_text(encoding="utf-8"), "run `make docs`"


def test_no_line_of_the_picture_is_wrapped(picture: ModuleType) -> None:
    from tests.support.terminals import readable

    lines = readable(picture.log_records()).splitlines()
    assert max(map(len, lines)) <= picture.WIDTH
    assert re.fullmatch(r"I1129 15:57:26\.774000 4408 tiny/front\.py:112\] \[0/0\] compiling .*", lines[0])


def test_readme_shows_the_picture() -> None:
    assert "](docs/rich.svg)" in (ROOT / "README.md").read_text(encoding="utf-8")
