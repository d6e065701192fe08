"""The hooks of the onnx family: its names."""

from __future__ import annotations

from collections.abc import Iterable

from complog_core import Artifact, Component, hookimpl

from .names import ARTIFACTS, COMPONENTS


@hookimpl
def complog_components() -> Iterable[Component]:
    """The components of the ONNX exporter."""
    return COMPONENTS


@hookimpl
def complog_artifacts() -> Iterable[Artifact]:
    """The artifacts of the ONNX exporter."""
    return ARTIFACTS
