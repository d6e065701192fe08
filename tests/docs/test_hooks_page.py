"""Each hook is documented, shown at work, tested, and used by something in the tree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.documents import read
from tests.docs.sandbox import ROOT

from complog_core.hookspecs import HOOKS, STATIC_HOOKS
from complog_core.registration import show_specification

PAGE = "docs/hooks.md"


def section(hook: str) -> str:
    """Return the section of a hook, "" where the page has none."""
    found = re.search(rf"^## {hook}\n(.*?)(?=^## |\Z)", read(PAGE), re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def search(hook: str, pattern: str, *folders: str) -> list[Path]:
    """Return the Python files below these folders in which the pattern stands."""
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    return [file for file in files if re.search(pattern.format(hook=hook), file.read_text(encoding="utf-8"))]


def when(hook: str) -> str:
    """Return when a hook runs, in the words of its specification."""
    from complog_core import hookspecs

    words = (getattr(hookspecs, hook).__doc__ or "").splitlines()[0].partition(": ")[2]
    return words.removesuffix(".")


@pytest.mark.parametrize("hook", HOOKS)
def test_section_has_signature_occasion_example_errors_and_user(hook: str) -> None:
    text = section(hook)
    assert f"`{show_specification(hook)}` {when(hook)}" in text
    assert re.search(rf"```python\n>>> .*def {hook}\(.*?```", text, re.DOTALL)
    assert "\n**Errors" in text
    assert "\n**In the tree:**" in text


@pytest.mark.parametrize("hook", HOOKS)
def test_users_that_the_page_names_implement_the_hook(hook: str) -> None:
    named = re.findall(r"\]\(\.\./(\S+?\.py)\)", section(hook).partition("**In the tree:**")[2])
    assert named
    for path in named:
        assert f"@hookimpl\ndef {hook}(" in (ROOT / path).read_text(encoding="utf-8"), path


@pytest.mark.parametrize("hook", HOOKS)
def test_hook_is_used_in_the_tree(hook: str) -> None:
    assert search(hook, r"@hookimpl[^\n]*\ndef {hook}\(", "plugins", "examples", "src")


@pytest.mark.parametrize("hook", HOOKS)
def test_hook_is_tested(hook: str) -> None:
    # make_plugin(filters=...) stands for a plugin that implements complog_filters
    short = hook.removeprefix("complog_")
    tested = search(hook, rf"\b{{hook}}\b|make_plugin\([^)]*\b{short}=", "tests", "plugins")
    assert [file for file in tested if "tests" in file.parts and file != Path(__file__)]


def test_overview_lists_every_hook_and_no_other() -> None:
    rows = re.findall(r"^\| \[`(\w+)`\]\(#(\w+)\) \| .*? \| (.*?) \|$", read(PAGE), re.MULTILINE)
    assert sorted(name for name, _, _ in rows) == sorted(HOOKS)
    assert all(name == anchor for name, anchor, _ in rows)
    assert {name for name, _, occasion in rows if occasion == "when the plugin is loaded"} == set(STATIC_HOOKS)


def test_page_has_no_section_for_a_hook_that_does_not_exist() -> None:
    assert sorted(re.findall(r"^## (complog_\w+)$", read(PAGE), re.MULTILINE)) == sorted(HOOKS)
