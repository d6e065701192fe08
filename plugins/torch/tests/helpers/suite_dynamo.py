"""What graph capture logs, seen through PyTorch's testing helpers; test_helpers_outcomes runs it."""

# ruff: noqa: PT009 (unittest runs them too)
from __future__ import annotations

import logging
from collections.abc import Callable

import torch
from torch.testing._internal.logging_utils import LoggingTestCase, make_logging_test, make_settings_test

Records = list[logging.LogRecord]


def artifacts(records: Records) -> set[str]:
    """Return the artifacts of the records, "" for those below WARNING that are of none."""
    names = {getattr(logging.getLogger(it.name), "artifact_name", "") for it in records if it.levelno < logging.WARNING}
    return {str(name) for name in names}


def capture(function: Callable[[torch.Tensor], object], *sizes: int, **options: object) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, **{"backend": "eager", **options})
    for size in sizes or (3,):
        compiled(torch.ones(size))


def plain(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


def broken(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    torch._dynamo.graph_break()
    return y.cos()


class DynamoTest(LoggingTestCase):
    @make_logging_test(guards=True)
    def test_guards(self, records: Records) -> None:
        capture(plain)
        self.assertEqual(artifacts(records), {"guards"})
        self.assertTrue(self.hasRecord(records, "TENSOR_MATCH"))

    @make_logging_test(recompiles=True)
    def test_recompiles(self, records: Records) -> None:
        capture(plain, 3, 4, dynamic=False)
        self.assertEqual(artifacts(records), {"recompiles"})
        self.assertIn("Recompiling function plain", self.getRecord(records, "Recompiling").getMessage())

    @make_logging_test(recompiles_verbose=True)
    def test_recompiles_verbose(self, records: Records) -> None:
        capture(plain, 3, 4, dynamic=False)
        self.assertEqual(artifacts(records), {"recompiles_verbose"})

    @make_logging_test(graph_breaks=True)
    def test_graph_breaks(self, records: Records) -> None:
        capture(broken)
        self.assertEqual(artifacts(records), {"graph_breaks"})
        self.assertIn("Call to `torch._dynamo.graph_break()`", self.getRecord(records, "Graph break").getMessage())

    @make_logging_test(side_effects=True)
    def test_side_effects(self, records: Records) -> None:
        kept: list[torch.Tensor] = []

        def keep(x: torch.Tensor) -> torch.Tensor:
            kept.append(x)
            return x + 1

        capture(keep)
        self.assertEqual(artifacts(records), {"side_effects"})

    @make_logging_test(bytecode=True)
    def test_bytecode(self, records: Records) -> None:
        capture(plain)
        self.assertEqual(artifacts(records), {"bytecode"})
        for title in ("ORIGINAL BYTECODE", "MODIFIED BYTECODE"):
            self.assertIn("plain", self.getRecord(records, title).getMessage())

    @make_logging_test(trace_source=True)
    def test_trace_source(self, records: Records) -> None:
        capture(plain)
        self.assertEqual(artifacts(records), {"trace_source"})
        self.assertTrue(self.hasRecord(records, "return x.sin() + 1"))

    @make_logging_test(trace_call=True)
    def test_trace_call(self, records: Records) -> None:
        capture(plain)
        self.assertEqual(artifacts(records), {"trace_call"})
        self.assertEqual(len(records), 2)

    @make_logging_test(trace_bytecode=True)
    def test_trace_bytecode(self, records: Records) -> None:
        capture(plain)
        self.assertEqual(artifacts(records), {"trace_bytecode"})

    @make_logging_test(graph_code=True)
    def test_graph_code(self, records: Records) -> None:
        capture(plain)
        self.assertEqual(artifacts(records), {"graph_code"})
        self.assertIn("def forward(", self.getRecord(records, "TRACED GRAPH").getMessage())

    @make_logging_test(aot_graphs=True)
    def test_aot_graphs(self, records: Records) -> None:
        compiled = torch.compile(plain, backend="aot_eager")
        compiled(torch.ones(3, requires_grad=True)).sum().backward()
        self.assertEqual(artifacts(records), {"aot_graphs"})
        for title in ("Forward graph", "Backward graph"):
            self.assertTrue(self.hasRecord(records, title), title)

    @make_logging_test(aot_joint_graph=True)
    def test_aot_joint_graph(self, records: Records) -> None:
        torch.compile(plain, backend="aot_eager")(torch.ones(3, requires_grad=True))
        self.assertEqual(artifacts(records), {"aot_joint_graph"})
        self.assertIn("joint", self.getRecord(records, "Joint graph").getMessage().lower())

    @make_logging_test(dynamic=logging.INFO)
    def test_dynamic_shapes_at_info(self, records: Records) -> None:
        capture(plain, 5, dynamic=True)
        self.assertEqual({it.name for it in records}, {"torch.fx.experimental.symbolic_shapes"})
        self.assertEqual({it.levelno for it in records}, {logging.INFO})
        self.assertIn("L['x'].size()[0]", self.getRecord(records, "create_symbol").getMessage())

    @make_logging_test(dynamo=logging.DEBUG)
    def test_component_at_debug_brings_its_artifacts_but_those_off_by_default(self, records: Records) -> None:
        capture(broken)
        shown = artifacts(records)
        self.assertLessEqual({"", "guards", "graph_code", "graph_breaks", "trace_source"}, shown)
        self.assertFalse(shown & {"bytecode", "verbose_guards", "recompiles_verbose"}, shown)

    @make_logging_test(dynamo=logging.INFO)
    def test_component_at_info(self, records: Records) -> None:
        capture(broken)
        self.assertTrue(self.hasRecord(records, "start tracing"))
        self.assertGreaterEqual(min(it.levelno for it in records), logging.INFO)

    @make_logging_test(dynamo=logging.ERROR)
    def test_component_at_error(self, records: Records) -> None:
        def refuse(graph: torch.fx.GraphModule, inputs: object) -> None:
            raise RuntimeError("refused")

        # LoggingTestCase suppresses errors: the failure itself is a warning
        capture(plain, backend=refuse)
        self.assertEqual(records, [])
        logging.getLogger("torch._dynamo.convert_frame").error("an error")
        self.assertEqual([it.getMessage() for it in records], ["an error"])

    @make_logging_test()
    def test_warnings_only_without_settings(self, records: Records) -> None:
        def refuse(graph: torch.fx.GraphModule, inputs: object) -> None:
            raise RuntimeError("refused")

        capture(broken)
        self.assertEqual([it.getMessage() for it in records], [])
        capture(plain, backend=refuse)
        self.assertEqual({it.levelno for it in records}, {logging.WARNING})
        self.assertTrue(self.hasRecord(records, "refused"))

    @make_settings_test("torch._dynamo.guards, +torch._dynamo.output_graph")
    def test_dotted_names_in_the_variable(self, records: Records) -> None:
        capture(broken)
        self.assertEqual(
            {it.name for it in records if it.levelno < logging.INFO and ".__" not in it.name}, OUTPUT_GRAPH
        )
        self.assertTrue(self.hasRecord(records, "Step 2"))

    @make_logging_test(modules={"torch._dynamo.output_graph": logging.DEBUG})
    def test_dotted_name(self, records: Records) -> None:
        capture(broken)
        self.assertEqual({it.name.partition(".__")[0] for it in records}, OUTPUT_GRAPH)
        self.assertIn("graph_code", artifacts(records))

    @make_settings_test("+dynamo, -dynamic, trace_source")
    def test_several_settings(self, records: Records) -> None:
        capture(plain, 5, dynamic=True)
        self.assertIn("trace_source", artifacts(records))
        self.assertFalse([it for it in records if it.name.startswith("torch.fx.experimental.symbolic_shapes")])

    @make_logging_test(all=logging.DEBUG)
    def test_all(self, records: Records) -> None:
        torch.compile(plain, backend="aot_eager")(torch.ones(3))
        tops = {".".join(it.name.split(".")[:2]) for it in records}
        self.assertLessEqual({"torch._dynamo", "torch._functorch", "torch.fx"}, tops)
        self.assertFalse(artifacts(records) & {"bytecode", "verbose_guards"})

    @make_settings_test("all")
    def test_all_at_info(self, records: Records) -> None:
        torch.compile(plain, backend="aot_eager")(torch.ones(3))
        self.assertGreaterEqual(min(it.levelno for it in records), logging.INFO)
        self.assertTrue(self.hasRecord(records, "start tracing"))


OUTPUT_GRAPH = {"torch._dynamo.output_graph"}
