"""The inductor family registers exactly the names that PyTorch 2.14 has, with its loggers and flags."""

from __future__ import annotations

from complog_inductor.plugin import complog_artifacts, complog_components

COMPONENTS: dict[str, set[str]] = {
    "inductor": {"torch._inductor", "torch._inductor.cudagraph_trees"},
    "async_compile": {"torch._inductor.async_compile", "torch._inductor.compile_worker.tracked_process_pool"},
    "cache": {"torch._inductor.remote_cache", "torch._inductor.fb.remote_cache"},
    "flex_gemm": {"torch._inductor.kernel.flex_gemm.debug"},
    "native_dsl": {"torch._native"},
}

ARTIFACTS: dict[str, set[str]] = {
    "auto_chunker": {"off_by_default"},
    "autotuning": {"off_by_default"},
    "autotuning_inputs": {"off_by_default"},
    "benchmarking": {"off_by_default"},
    "caching": {"off_by_default"},
    "compute_dependencies": {"off_by_default"},
    "cudagraphs": set(),
    "fusion": {"off_by_default"},
    "incremental": {"off_by_default"},
    "inductor_metrics": {"off_by_default"},
    "ir_post_fusion": {"off_by_default"},
    "ir_pre_fusion": {"off_by_default"},
    "kernel_code": {"visible", "off_by_default"},
    "loop_ordering": {"off_by_default"},
    "loop_tiling": {"off_by_default"},
    "native_dsl_compile": {"off_by_default"},
    "node_runtime_estimation": {"off_by_default"},
    "output_code": {"visible", "off_by_default"},
    "overlap": {"off_by_default"},
    "overlap_scheduling": {"off_by_default"},
    "partitioned_scatter": {"off_by_default"},
    "perf_hints": {"off_by_default"},
    "post_grad_graphs": set(),
    "pre_grad_graphs": set(),
    "schedule": {"off_by_default"},
}


def test_components_and_their_loggers_are_those_of_pytorch() -> None:
    assert [(item.name, set(item.loggers)) for item in complog_components()] == list(COMPONENTS.items())


def test_artifacts_and_their_flags_are_those_of_pytorch() -> None:
    assert [
        (item.name, {flag for flag in ("visible", "off_by_default") if getattr(item, flag)})
        for item in sorted(complog_artifacts(), key=lambda item: item.name)
    ] == list(ARTIFACTS.items())
