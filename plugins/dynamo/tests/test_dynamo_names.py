"""The dynamo family registers exactly the names that PyTorch 2.14 has, with its loggers and flags."""

from __future__ import annotations

from complog_dynamo.plugin import complog_artifacts, complog_components

COMPONENTS: dict[str, set[str]] = {
    "dynamo": {
        "torch._dynamo",
        "torch.fx.experimental.symbolic_shapes",
        "torch.fx.experimental.sym_node",
        "torch.fx.experimental.recording",
    },
    "dynamic": {
        "torch.fx.experimental.symbolic_shapes",
        "torch.fx.experimental.sym_node",
        "torch.fx.experimental.recording",
    },
    "aot": {"torch._functorch.aot_autograd", "torch._functorch._aot_autograd"},
    "autograd": {"torch.autograd"},
    "export": {
        "torch._dynamo",
        "torch.export",
        "torch.export.dynamic_shapes",
        "torch.fx.experimental.symbolic_shapes",
        "torch.fx.experimental.sym_node",
        "torch.fx.experimental.recording",
        "torch._export.converter",
        "torch._export.non_strict_utils",
        "torch._export.serde.serialize",
        "torch.fx.experimental.proxy_tensor",
    },
    "fake_tensor": {"torch._subclasses.fake_tensor"},
}

ARTIFACTS: dict[str, set[str]] = {
    "annotation": {"off_by_default"},
    "aot_graphs": {"visible"},
    "aot_graphs_effects": {"visible"},
    "aot_joint_graph": set(),
    "bytecode": {"off_by_default"},
    "compiled_autograd": {"visible"},
    "compiled_autograd_verbose": {"off_by_default"},
    "cudagraph_static_inputs": {"off_by_default"},
    "graph": set(),
    "graph_breaks": {"visible"},
    "graph_code": set(),
    "graph_code_verbose": set(),
    "graph_region_expansion": {"off_by_default"},
    "graph_sizes": set(),
    "guards": {"visible"},
    "hierarchical_compile": {"off_by_default"},
    "not_implemented": set(),
    "recompiles": {"visible"},
    "recompiles_verbose": {"visible", "off_by_default"},
    "side_effects": {"visible"},
    "sym_node": {"off_by_default"},
    "trace_bytecode": set(),
    "trace_call": set(),
    "trace_shape_events": {"off_by_default"},
    "trace_source": set(),
    "verbose_guards": {"off_by_default"},
}


def test_components_and_their_loggers_are_those_of_pytorch() -> None:
    assert [(item.name, set(item.loggers)) for item in complog_components()] == list(COMPONENTS.items())


def test_artifacts_and_their_flags_are_those_of_pytorch() -> None:
    assert [
        (item.name, {flag for flag in ("visible", "off_by_default") if getattr(item, flag)})
        for item in sorted(complog_artifacts(), key=lambda item: item.name)
    ] == list(ARTIFACTS.items())
