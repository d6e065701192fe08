"""The onnx family: its names, as plain values, and the hooks that contribute them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from complog_core import Artifact, Component, hookimpl

COMPONENTS: Final = (Component("onnx", ("torch.onnx",), "the ONNX exporter"),)

ARTIFACTS: Final = (
    Artifact("onnx_diagnostics", "the ONNX exporter's diagnostics of single conversions", off_by_default=True),
)


@hookimpl
def complog_components() -> Iterable[Component]:
    """The components of the ONNX exporter."""
    return COMPONENTS


@hookimpl
def complog_artifacts() -> Iterable[Artifact]:
    """The artifacts of the ONNX exporter."""
    return ARTIFACTS
