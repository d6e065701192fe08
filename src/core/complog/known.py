"""Names of the families that are published with complog, installed or not: for errors, help and DEFAULT_LOGGING."""

from __future__ import annotations

import logging
from collections.abc import Container
from typing import Final

FAMILIES: Final[dict[str, str]] = {
    "dynamo": """
        dynamo dynamic aot autograd export fake_tensor
        annotation aot_graphs aot_graphs_effects aot_joint_graph bytecode compiled_autograd compiled_autograd_verbose
        cudagraph_static_inputs graph graph_breaks graph_code graph_code_verbose graph_region_expansion graph_sizes
        guards hierarchical_compile not_implemented recompiles recompiles_verbose side_effects sym_node trace_bytecode
        trace_call trace_shape_events trace_source verbose_guards
    """,
    "inductor": """
        inductor async_compile cache flex_gemm native_dsl
        auto_chunker autotuning autotuning_inputs benchmarking caching compute_dependencies cudagraphs fusion
        incremental inductor_metrics ir_post_fusion ir_pre_fusion kernel_code loop_ordering loop_tiling
        native_dsl_compile node_runtime_estimation output_code overlap overlap_scheduling partitioned_scatter perf_hints
        post_grad_graphs pre_grad_graphs schedule
    """,
    "distributed": "distributed c10d ddp fsdp dtensor pp ddp_graphs ranks dedup",
    "onnx": "onnx onnx_diagnostics",
}
"""The names that each family's distribution, `complog-<family>`, contributes, separated by white space."""

DEFAULT_LOGGING: Final[dict[str, int | bool]] = {
    "dynamo": logging.INFO,
    "aot": logging.INFO,
    "inductor": logging.INFO,
    "fsdp": logging.INFO,
    "ddp_graphs": True,
    "graph_breaks": True,
    "side_effects": True,
    "guards": True,
    "recompiles": True,
    "dynamic": logging.INFO,
}
"""A fair first choice of what to see of a compilation, as `set_logs` keywords."""


def provider_of(name: str) -> str | None:
    """Return the distribution that would provide a bare or qualified name, None where none of ours would.

    >>> provider_of("output_code"), provider_of("onnx/onnx_diagnostics"), provider_of("my_artifact")
    ('complog-inductor', 'complog-onnx', None)
    """
    wanted, _, bare = name.rpartition("/")
    for family, names in FAMILIES.items():
        if wanted in ("", family) and bare in names.split():
            return f"complog-{family}"
    return None


def default_logging(installed: Container[str]) -> dict[str, int | bool]:
    """Return DEFAULT_LOGGING without the names that are not installed, which `set_logs` would refuse.

    >>> default_logging({"aot", "guards"})
    {'aot': 20, 'guards': True}
    """
    return {name: value for name, value in DEFAULT_LOGGING.items() if name in installed}
