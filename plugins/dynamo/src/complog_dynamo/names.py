"""The components and artifacts of PyTorch's graph capture, as plain values."""

from __future__ import annotations

from typing import Final

from complog_core import Artifact, Component

from .running import is_dynamo_verbose

_DYNAMIC_SHAPES: Final = (
    "torch.fx.experimental.symbolic_shapes",
    "torch.fx.experimental.sym_node",
    "torch.fx.experimental.recording",
)

COMPONENTS: Final = (
    Component(
        "dynamo",
        ("torch._dynamo", *_DYNAMIC_SHAPES),
        "TorchDynamo, which captures graphs from Python bytecode, with the dynamic shapes that it reasons about",
    ),
    Component(
        "dynamic",
        _DYNAMIC_SHAPES,
        "dynamic shapes: which sizes became symbols, and what is known and assumed about them",
    ),
    Component(
        "aot",
        ("torch._functorch.aot_autograd", "torch._functorch._aot_autograd"),
        "AOTAutograd, which derives the backward graph and removes mutation before the backend compiles",
    ),
    Component("autograd", ("torch.autograd",), "the autograd engine's Python side"),
    Component(
        "export",
        (
            "torch._dynamo",
            "torch.export",
            "torch.export.dynamic_shapes",
            *_DYNAMIC_SHAPES,
            "torch._export.converter",
            "torch._export.non_strict_utils",
            "torch._export.serde.serialize",
            "torch.fx.experimental.proxy_tensor",
        ),
        "torch.export, from capture to serialisation",
    ),
    Component(
        "fake_tensor",
        ("torch._subclasses.fake_tensor",),
        "fake tensors, which carry shapes and dtypes through tracing without data",
    ),
)

ARTIFACTS: Final = (
    Artifact(
        "annotation",
        "how each traced node gets the sequence number that ties forward to backward",
        off_by_default=True,
    ),
    Artifact(
        "aot_graphs",
        "the forward and backward graphs that AOTAutograd hands to the backend",
        visible=True,
    ),
    Artifact(
        "aot_graphs_effects",
        "AOTAutograd's graphs while effect tokens are still among their inputs and outputs",
        visible=True,
    ),
    Artifact("aot_joint_graph", "AOTAutograd's one graph of forward and backward, before it is cut in two"),
    Artifact(
        "bytecode",
        "each frame's bytecode as Python compiled it, and as Dynamo rewrote it",
        off_by_default=True,
    ),
    Artifact(
        "compiled_autograd",
        "the graphs that compiled autograd captures from backward passes, and its other decisions",
        visible=True,
    ),
    Artifact(
        "compiled_autograd_verbose",
        "compiled autograd with the C++ node behind each graph node; slows the program down",
        off_by_default=True,
    ),
    Artifact(
        "cudagraph_static_inputs",
        "which inputs count as static for CUDA graphs, followed from Dynamo through AOTAutograd",
        off_by_default=True,
    ),
    Artifact("graph", "each captured graph as a table, before AOTAutograd sees it"),
    Artifact(
        "graph_breaks",
        "why and where a graph ended early; the first thing to look at when torch.compile brings no speed-up",
        visible=True,
        show_exception=is_dynamo_verbose,
    ),
    Artifact("graph_code", "each captured graph as Python code"),
    Artifact("graph_code_verbose", "graphs as Python code after single FX passes over captured sizes and asserts"),
    Artifact(
        "graph_region_expansion",
        "how repeated regions of a graph grow, node by node, while duplicates are looked for",
        off_by_default=True,
    ),
    Artifact("graph_sizes", "the shape of every value in each captured graph"),
    Artifact(
        "guards",
        "the conditions under which each compiled frame may be reused",
        visible=True,
    ),
    Artifact(
        "hierarchical_compile",
        "why a repeated subgraph was or was not compiled once and shared",
        off_by_default=True,
    ),
    Artifact("not_implemented", "which type declined an operation (NotImplemented) on the way to the one that took it"),
    Artifact(
        "recompiles",
        "which guard failed, each time a frame is compiled again",
        visible=True,
    ),
    Artifact(
        "recompiles_verbose",
        "every guard that would have failed at a recompilation, also those not reached at run time",
        visible=True,
        off_by_default=True,
    ),
    Artifact(
        "side_effects",
        "mutations of variables, attributes, cells and globals that Dynamo replays after a graph",
        visible=True,
    ),
    Artifact("sym_node", "every operation on a symbolic number, with operands and result", off_by_default=True),
    Artifact("trace_bytecode", "each instruction that Dynamo interprets, with the stack at that point"),
    Artifact("trace_call", "the expression in the source line that each call in the graph comes from (Python 3.11+)"),
    Artifact("trace_source", "each source line when Dynamo starts on it"),
    Artifact(
        "trace_shape_events",
        "each recorded call on the shape environment, nested, with its result",
        off_by_default=True,
    ),
    Artifact(
        "verbose_guards",
        "each guard by itself, with the framework's and the user's stack that asked for it",
        off_by_default=True,
    ),
)
