"""The examples in the docstrings of every module run, and every public function and class has a docstring."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
from tests.docs.sandbox import FAMILIES, FOREIGN

import complog
import complog_core

PACKAGES = ("complog_core", "complog", "complog_torch", "complog_otel", *(f"complog_{family}" for family in FAMILIES))


def list_modules() -> Iterator[str]:
    """Yield the names of all modules that can be imported without PyTorch."""
    for package in PACKAGES:
        yield package
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                yield module.name


MODULES = tuple(list_modules())
RUN = """
import doctest, importlib, sys, traceback
for name in sys.argv[1:]:
    try:
        failed, attempted = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    except Exception:
        failed = traceback.format_exc()
    print(f"result {name} {failed}")
"""


@pytest.fixture(scope="module")
def results() -> dict[str, tuple[str, str]]:
    """What became of the examples of each module, run in one process apart, with all that was printed."""
    environment = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
    command = [sys.executable, "-c", RUN, *MODULES]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^result (\S+) (.*)$", done.stdout, re.MULTILINE)
    return {name: (failed, done.stdout) for name, failed in found}


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str, results: dict[str, tuple[str, str]]) -> None:
    failed, printed = results[name]
    assert failed == "0", printed


@pytest.mark.parametrize("name", MODULES)
def test_module_says_what_it_is_for(name: str) -> None:
    assert (importlib.import_module(name).__doc__ or "").strip()


def public_members(module: ModuleType) -> Iterator[tuple[str, object]]:
    for name in module.__all__:
        value: object = getattr(module, name)
        if isinstance(value, type):
            yield from ((f"{name}.{member}", function) for member, function in public_methods(value))
        if inspect.isclass(value) or inspect.isroutine(value):
            yield name, value


def public_methods(kind: type) -> Iterator[tuple[str, object]]:
    for name, function in vars(kind).items():
        # what an inner base class calls is not meant for users, though its name has no underscore
        is_inner = name.startswith("_") or any(name in vars(base) for base in kind.__mro__[1:])
        if not is_inner and (inspect.isfunction(function) or isinstance(function, property)):
            yield name, function


@pytest.mark.parametrize("module", [complog_core, complog], ids=lambda module: module.__name__)
def test_public_functions_and_classes_have_docstrings(module: ModuleType) -> None:
    assert not [name for name, value in public_members(module) if not inspect.getdoc(value)]
