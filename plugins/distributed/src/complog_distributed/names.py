"""The components and artifacts of torch.distributed, as plain values."""

from __future__ import annotations

from typing import Final

from complog_core import Artifact, Component

COMPONENTS: Final = (
    Component(
        "distributed",
        ("torch.distributed", "torch._dynamo.backends.distributed", "torch.nn.parallel.distributed"),
        "everything in torch.distributed, and DistributedDataParallel",
    ),
    Component(
        "c10d",
        ("torch.distributed.distributed_c10d", "torch.distributed.rendezvous"),
        "process groups, collectives and how processes find each other",
    ),
    Component(
        "ddp",
        ("torch.nn.parallel.distributed", "torch._dynamo.backends.distributed"),
        "DistributedDataParallel, eager and compiled",
    ),
    Component(
        "fsdp",
        ("torch.distributed.fsdp", "torch.distributed._composable.fsdp"),
        "FullyShardedDataParallel, both generations",
    ),
    Component(
        "dtensor",
        ("torch.distributed._tensor", "torch.distributed.tensor"),
        "DTensor: placements, sharding decisions and redistribution",
    ),
    Component("pp", ("torch.distributed.pipelining",), "pipeline parallelism: stages and schedules"),
)

ARTIFACTS: Final = (
    Artifact("ddp_graphs", "the graphs into which a compiled DDP model is split, one per gradient bucket"),
)
