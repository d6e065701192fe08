"""What code generation logs, seen through PyTorch's testing helpers; test_helpers_outcomes runs it."""

# ruff: noqa: PT009 (unittest runs them too)
from __future__ import annotations

import logging

import torch
from suite_dynamo import Records, artifacts
from torch.testing._internal.logging_utils import (
    LoggingTestCase,
    log_api,
    logs_to_string,
    make_logging_test,
    make_settings_test,
    multiple_logs_to_string,
)


def generate() -> None:
    torch._dynamo.reset()
    torch.compile(work)(torch.ones(8, 8))


def schedule() -> None:
    generate()
    # without a GPU nothing of PyTorch 2.13 calls it
    torch._inductor.codegen.common.data_type_logger("float32")


def work(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() + 1).sum(-1)


class InductorTest(LoggingTestCase):
    @make_logging_test(output_code=True)
    def test_output_code(self, records: Records) -> None:
        generate()
        self.assertEqual(artifacts(records), {"output_code"})
        self.assertTrue(self.hasRecord(records, "def call("))

    @make_logging_test(kernel_code=True)
    def test_kernel_code(self, records: Records) -> None:
        generate()
        self.assertEqual(artifacts(records), {"kernel_code"})
        self.assertTrue(self.hasRecord(records, "kernel("))

    @make_logging_test(schedule=True)
    def test_schedule(self, records: Records) -> None:
        schedule()
        self.assertEqual(artifacts(records), {"schedule"})

    @make_logging_test(fusion=True)
    def test_fusion(self, records: Records) -> None:
        generate()
        self.assertEqual(artifacts(records), {"fusion"})

    @make_logging_test(perf_hints=True)
    def test_perf_hints(self, records: Records) -> None:
        generate()
        self.assertEqual(artifacts(records), {"perf_hints"})
        self.assertTrue(self.hasRecord(records, "padding"))

    @make_settings_test("output_code, schedule,fusion,  perf_hints, kernel_code")
    def test_all_of_them(self, records: Records) -> None:
        schedule()
        self.assertEqual(artifacts(records), {"output_code", "schedule", "fusion", "perf_hints", "kernel_code"})

    @make_logging_test(inductor=logging.DEBUG)
    def test_component_at_debug_shows_no_artifact_that_is_off_by_default(self, records: Records) -> None:
        generate()
        shown = artifacts(records)
        self.assertIn("", shown)
        self.assertFalse(shown & {"output_code", "schedule", "fusion", "perf_hints", "kernel_code"}, shown)

    @make_logging_test(modules={"torch._inductor.scheduler": logging.DEBUG})
    def test_dotted_name(self, records: Records) -> None:
        generate()
        self.assertEqual({it.name for it in records}, {"torch._inductor.scheduler"})

    def test_logs_to_string(self) -> None:
        stream, logs = logs_to_string("torch._inductor.compile_fx", "post_grad_graphs")
        with logs():
            generate()
        text = stream.getvalue()
        self.assertIn("def forward(", text)
        self.assertNotIn("[__post_grad_graphs]", text)
        generate()
        self.assertEqual(stream.getvalue(), text)

    def test_multiple_logs_to_string(self) -> None:
        streams, logs = multiple_logs_to_string("torch._inductor.compile_fx", "pre_grad_graphs", "post_grad_graphs")
        with logs():
            generate()
        before, after = (stream.getvalue() for stream in streams)
        self.assertIn("BEFORE PRE GRAD", before)
        self.assertNotIn("BEFORE PRE GRAD", after)
        self.assertIn("torch.ops.aten", after)

    def test_inductors_own_capture_of_generated_code_shows_nothing_on_the_console(self) -> None:
        from torch._inductor.utils import run_and_get_cpp_code

        records: Records = []
        with log_api(), self._handler_watcher(records):
            _, code = run_and_get_cpp_code(torch.compile(work), torch.ones(8, 8))
        self.assertIn("cpp_fused", code)
        self.assertNotIn("output_code", artifacts(records))
