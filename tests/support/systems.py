"""Systems made for one test: plugin objects, and a factory that closes what it made and hides variables."""

from __future__ import annotations

import itertools
import os
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from complog_core import Artifact, Component, LogSystem, hookimpl, report

_numbers = itertools.count()

SystemFactory = Callable[..., LogSystem]


def make_plugin(**hooks: Any) -> Any:
    """Return an object that implements `complog_<name>` for each keyword: a function, or a value to return.

    >>> make_plugin(components=[]).complog_components()
    []
    """
    plugin = type(f"Plugin{next(_numbers)}", (types.SimpleNamespace,), {})()
    for name, value in hooks.items():
        setattr(plugin, f"complog_{name}", hookimpl(value if callable(value) else _returning(value)))
    return plugin


def _returning(value: Any) -> Callable[[], Any]:
    def give() -> Any:
        return value

    return give


def make_names(top: str) -> Any:
    """Return a plugin with two components and four artifacts whose loggers lie under `top`."""
    return make_plugin(
        components=[
            Component("lib", [top], "everything"),
            Component("tiler", [f"{top}.tiler", f"{top}.shared"], "tiles"),
            Component("fuser", [f"{top}.fuser", f"{top}.shared"], "fuses"),
        ],
        artifacts=[
            Artifact("tiles", "the tiles", visible=True),
            Artifact("costs", "the costs", off_by_default=True),
            Artifact("bare", "bare text", log_format="", off_by_default=True),
            Artifact("boxed", "boxed text", log_format="%(prefix)s| %(message)s"),
        ],
    )


@pytest.fixture
def top() -> str:
    """A logger name that no other test uses."""
    return f"probe{next(_numbers)}"


@pytest.fixture
def make_system(monkeypatch: pytest.MonkeyPatch) -> Iterator[SystemFactory]:
    """Make LogSystems with the prefix PROBE; they are closed after the test."""
    for variable in list(os.environ):
        if variable.startswith(("TORCH_LOGS", "PROBE_", "COMPLOG_")):
            monkeypatch.delenv(variable)
    made: list[LogSystem] = []

    def make(*plugins: object, prefix: str = "PROBE", group: str | None = None) -> LogSystem:
        system = LogSystem(prefix, group, plugins)
        made.append(system)
        return system

    report.forget_warnings()
    yield make
    for system in made:
        system.close()
    report.forget_warnings()
