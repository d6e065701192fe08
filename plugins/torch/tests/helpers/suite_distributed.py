"""Ranks, and the graphs of DDP, seen through PyTorch's testing helpers; test_helpers_outcomes runs it."""

# ruff: noqa: PT009 (unittest runs them too)
from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Iterator

import torch
import torch.distributed as dist
from suite_dynamo import Records, artifacts, capture, plain
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.testing._internal.logging_utils import LoggingTestCase, log_settings, make_logging_test


@contextlib.contextmanager
def group(backend: str, rank: int, size: int) -> Iterator[None]:
    store = FakeStore() if backend == "fake" else dist.HashStore()
    dist.init_process_group(backend, store=store, rank=rank, world_size=size)
    try:
        yield
    finally:
        dist.destroy_process_group()


def head(record: logging.LogRecord) -> str:
    return logging.getLogger("torch._dynamo").handlers[0].format(record)[:9]


class Layers(torch.nn.Module):
    """More than a bucket of 1 MiB holds, so that the graph is split."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = (torch.nn.Linear(600, 600) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.other(self.one(x).relu())


class DistributedTest(LoggingTestCase):
    @make_logging_test(ddp_graphs=True)
    def test_ddp_graphs(self, records: Records) -> None:
        with group("gloo", 0, 1):
            model = torch.nn.parallel.DistributedDataParallel(Layers(), bucket_cap_mb=1)
            torch._dynamo.reset()
            torch.compile(model, backend="eager")(torch.ones(2, 600))
        self.assertEqual(artifacts(records), {"ddp_graphs"})
        self.assertTrue(self.hasRecord(records, "split graph"))

    @make_logging_test(dynamo=logging.INFO)
    def test_rank_heads_each_line(self, records: Records) -> None:
        logger = logging.getLogger("torch._dynamo.suite")
        for backend, rank, size in (("gloo", 0, 1), ("fake", 3, 8)):
            with group(backend, rank, size):
                logger.info("a line")
                self.assertEqual(head(records[-1])[:8], f"[rank{rank}]:")
        self.assertRegex(head(records[-1]), r"^I\d{4} ")

    def test_rank_on_the_console(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as stream, log_settings("guards"), group("fake", 5, 8):
            capture(plain)
        torch._logging._init_logs()
        lines = stream.getvalue().splitlines()
        self.assertTrue(lines)
        self.assertEqual({line[:8] for line in lines}, {"[rank5]:"})

    @make_logging_test(distributed=logging.INFO, c10d=logging.ERROR)
    def test_components_of_distributed(self, records: Records) -> None:
        for name in (
            "torch.distributed.fsdp.suite",
            "torch.distributed.distributed_c10d",
            "torch.distributed.rendezvous",
        ):
            logging.getLogger(name).info("of %s", name)
        self.assertEqual([it.getMessage() for it in records], ["of torch.distributed.fsdp.suite"])
