"""The names that MYLIB_LOGS knows: the same hooks that an installed plugin has, in a module of the library itself."""

from __future__ import annotations

from collections.abc import Iterable

from complog_core import Artifact, Component, hookimpl


@hookimpl
def complog_components() -> Iterable[Component]:
    """MYLIB_LOGS=+solver."""
    return [Component("solver", ["mylib.solver"], "what the solver decides")]


@hookimpl
def complog_artifacts() -> Iterable[Artifact]:
    """MYLIB_LOGS=iterates."""
    return [Artifact("iterates", "each approximation of the solver", visible=True, off_by_default=True)]
