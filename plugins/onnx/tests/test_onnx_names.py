"""The onnx family registers exactly the names that PyTorch 2.14 has, with its loggers and flags."""

from __future__ import annotations

from complog_onnx.plugin import complog_artifacts, complog_components

COMPONENTS: dict[str, set[str]] = {
    "onnx": {"torch.onnx"},
}

ARTIFACTS: dict[str, set[str]] = {
    "onnx_diagnostics": {"off_by_default"},
}


def test_components_and_their_loggers_are_those_of_pytorch() -> None:
    assert [(item.name, set(item.loggers)) for item in complog_components()] == list(COMPONENTS.items())


def test_artifacts_and_their_flags_are_those_of_pytorch() -> None:
    assert [
        (item.name, {flag for flag in ("visible", "off_by_default") if getattr(item, flag)})
        for item in sorted(complog_artifacts(), key=lambda item: item.name)
    ] == list(ARTIFACTS.items())
