"""The components and artifacts of PyTorch's ONNX exporter, as plain values."""

from __future__ import annotations

from typing import Final

from complog_core import Artifact, Component

COMPONENTS: Final = (Component("onnx", ("torch.onnx",), "the ONNX exporter"),)

ARTIFACTS: Final = (
    Artifact("onnx_diagnostics", "the ONNX exporter's diagnostics of single conversions", off_by_default=True),
)
