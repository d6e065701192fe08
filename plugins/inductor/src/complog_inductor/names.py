"""The components and artifacts of TorchInductor, as plain values."""

from __future__ import annotations

from typing import Final

from complog_core import Artifact, Component

COMPONENTS: Final = (
    Component(
        "inductor",
        ("torch._inductor", "torch._inductor.cudagraph_trees"),
        "TorchInductor, the default backend, which lowers graphs to Triton or C++ kernels",
    ),
    Component(
        "async_compile",
        ("torch._inductor.async_compile", "torch._inductor.compile_worker.tracked_process_pool"),
        "the pool of worker processes that compile kernels in parallel",
    ),
    Component(
        "cache",
        ("torch._inductor.remote_cache", "torch._inductor.fb.remote_cache"),
        "remote caches of compiled code and tuning results",
    ),
    Component(
        "flex_gemm",
        ("torch._inductor.kernel.flex_gemm.debug",),
        "the flex_gemm operator: a matrix multiplication with a user-written function on its result (PyTorch 2.14+)",
    ),
    Component("native_dsl", ("torch._native",), "eager operators that are written in kernel languages such as Triton"),
)

ARTIFACTS: Final = (
    Artifact(
        "auto_chunker",
        "which operations are split along a dimension to keep large intermediates from existing at once",
        off_by_default=True,
    ),
    Artifact(
        "autotuning",
        "the candidates of each tuning run: source, parameters and measured time",
        off_by_default=True,
    ),
    Artifact(
        "autotuning_inputs",
        "shape, dtype and strides of the inputs with which each kernel is tuned (PyTorch 2.14+)",
        off_by_default=True,
    ),
    Artifact("benchmarking", "how measurements are taken, and which were skipped", off_by_default=True),
    Artifact("caching", "hits, misses and contents of the compile caches in detail", off_by_default=True),
    Artifact(
        "compute_dependencies",
        "who reads and writes each buffer, as the scheduler worked it out",
        off_by_default=True,
    ),
    Artifact("cudagraphs", "what is recorded and replayed as a CUDA graph, and why something is not"),
    Artifact("fusion", "each pair of nodes that the scheduler considers fusing, and its verdict", off_by_default=True),
    Artifact("incremental", "tuning that goes on while the program runs", off_by_default=True),
    Artifact(
        "inductor_metrics",
        "per graph: bytes moved, elements per node, estimated run times",
        off_by_default=True,
    ),
    Artifact("ir_post_fusion", "Inductor's intermediate code after fusion", off_by_default=True),
    Artifact("ir_pre_fusion", "Inductor's intermediate code before fusion", off_by_default=True),
    Artifact("kernel_code", "each generated kernel by itself", visible=True, off_by_default=True),
    Artifact("loop_ordering", "why loops were reordered to make a fusion possible", off_by_default=True),
    Artifact("loop_tiling", "how memory accesses were analysed to choose tiles", off_by_default=True),
    Artifact(
        "native_dsl_compile",
        "each lookup of an eager operator's kernel in the compile cache, hit or compiled (PyTorch 2.14+)",
        off_by_default=True,
    ),
    Artifact("node_runtime_estimation", "the estimated run time of single graph nodes", off_by_default=True),
    Artifact(
        "output_code",
        "the whole generated program of each graph: the Python wrapper with its Triton or C++ kernels",
        visible=True,
        off_by_default=True,
    ),
    Artifact("overlap", "how collectives are moved and bucketed to hide behind computation", off_by_default=True),
    Artifact(
        "overlap_scheduling",
        "the pass that schedules communication against computation, step by step",
        off_by_default=True,
    ),
    Artifact(
        "partitioned_scatter",
        "which scatters are split to avoid contended atomics, and the memory that it takes (PyTorch 2.14+)",
        off_by_default=True,
    ),
    Artifact("perf_hints", "what in the program keeps the generated code slow", off_by_default=True),
    Artifact("post_grad_graphs", "the graph after the passes that run behind AOTAutograd: what is lowered"),
    Artifact("pre_grad_graphs", "the graph before Inductor's first passes, as Dynamo captured it"),
    Artifact("schedule", "the scheduler's nodes and the kernels that they end up in", off_by_default=True),
)
