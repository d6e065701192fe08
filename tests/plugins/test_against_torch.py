"""The families' names, loggers and flags against those of the PyTorch that is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest

pytestmark = pytest.mark.torch

SINCE_2_14 = {"flex_gemm", "autotuning_inputs", "native_dsl_compile", "partitioned_scatter"}
NOT_OURS = {"torch", "custom_format_test_artifact"}
"""The core's own component, and what PyTorch registers for one of its own tests."""

ASK_STOCK_TORCH = """
import json, torch
from torch._logging._internal import log_registry as registry
print(json.dumps([torch.__version__, registry.log_alias_to_log_qnames, {
    name: [
        name in registry.visible_artifacts,
        name in registry.off_by_default_artifact_names,
        name in registry.artifact_log_formatters,
    ]
    for name in registry.artifact_names
}]))
"""


@pytest.fixture(scope="module")
def stock() -> tuple[set[str], dict[str, Any]]:
    """The names that PyTorch may lack because it is too old, and what it has registered for each that it has."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TORCH_", "COMPLOG_"))}
    environment |= {"COMPLOG_TORCH": "0", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    command = [sys.executable, "-c", ASK_STOCK_TORCH]
    asked = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    version, components, artifacts = json.loads(asked.stdout)
    release = tuple(int(part) for part in version.split(".")[:2])
    registered = {**{name: set(loggers) for name, loggers in components.items()}, **artifacts}
    return (SINCE_2_14 if release < (2, 14) else set()), {k: v for k, v in registered.items() if k not in NOT_OURS}


def ours() -> dict[str, Any]:
    names: dict[str, Any] = {}
    for family in ("dynamo", "inductor", "distributed", "onnx"):
        tables = import_module(f"complog_{family}.names")
        names |= {item.name: set(item.loggers) for item in tables.COMPONENTS}
        names |= {
            item.name: [item.visible, item.off_by_default, item.log_format is not None] for item in tables.ARTIFACTS
        }
    return names


def test_every_name_of_the_installed_pytorch_is_ours_with_the_same_facts(
    stock: tuple[set[str], dict[str, Any]],
) -> None:
    _, registered = stock
    assert {name: ours().get(name) for name in registered} == registered


def test_no_name_is_ours_alone(stock: tuple[set[str], dict[str, Any]]) -> None:
    too_new, registered = stock
    assert set(ours()) - set(registered) == too_new
