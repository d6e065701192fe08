"""The distributed family registers exactly the names that PyTorch 2.14 has, with its loggers and flags."""

from __future__ import annotations

from complog_distributed.plugin import complog_artifacts, complog_components

COMPONENTS: dict[str, set[str]] = {
    "distributed": {"torch.distributed", "torch._dynamo.backends.distributed", "torch.nn.parallel.distributed"},
    "c10d": {"torch.distributed.distributed_c10d", "torch.distributed.rendezvous"},
    "ddp": {"torch.nn.parallel.distributed", "torch._dynamo.backends.distributed"},
    "fsdp": {"torch.distributed.fsdp", "torch.distributed._composable.fsdp"},
    "dtensor": {"torch.distributed._tensor", "torch.distributed.tensor"},
    "pp": {"torch.distributed.pipelining"},
}

ARTIFACTS: dict[str, set[str]] = {
    "ddp_graphs": set(),
}


def test_components_and_their_loggers_are_those_of_pytorch() -> None:
    assert [(item.name, set(item.loggers)) for item in complog_components()] == list(COMPONENTS.items())


def test_artifacts_and_their_flags_are_those_of_pytorch() -> None:
    assert [
        (item.name, {flag for flag in ("visible", "off_by_default") if getattr(item, flag)})
        for item in sorted(complog_artifacts(), key=lambda item: item.name)
    ] == list(ARTIFACTS.items())
