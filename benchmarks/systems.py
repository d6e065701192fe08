"""The loggers that are compared: complog's with what the families bring to a line, stock PyTorch's, and the peers'."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from measuring import find_peer

import complog_distributed.plugin
import complog_dynamo.plugin
from complog_core import Artifact, Component, LogSystem, hookimpl


class Names:
    """Two names under a logger of their own; the fields and filters are those of the families."""

    def __init__(self, top: str) -> None:
        self.top = top

    @hookimpl
    def complog_components(self) -> list[Component]:
        """One component."""
        return [Component("bench", [self.top], "what is measured")]

    @hookimpl
    def complog_artifacts(self) -> list[Artifact]:
        """Two artifacts."""
        return [Artifact("guards", "some text"), Artifact("code", "more text", off_by_default=True)]

    @hookimpl
    def complog_record_fields(self) -> list[Any]:
        """The rank and the compile id."""
        return [*complog_distributed.plugin.complog_record_fields(), *complog_dynamo.plugin.complog_record_fields()]

    @hookimpl
    def complog_filters(self) -> list[Any]:
        """The filters by rank and by compile id, where a variable asks for one."""
        return [*complog_distributed.plugin.complog_filters(), *complog_dynamo.plugin.complog_filters()]

    @hookimpl
    def complog_trace_context(self) -> dict[str, object]:
        """The rank and the compile id, in structured records."""
        rank = complog_distributed.plugin.complog_trace_context() or {}
        return {**rank, **(complog_dynamo.plugin.complog_trace_context() or {})}


def make_system(top: str, settings: str, variables: Mapping[str, str] | None = None) -> LogSystem:
    """Return a system whose component is the logger `top`, set, with variables that hold while it is configured."""
    with environment(variables or {}):
        system = LogSystem(top.upper(), plugins=[Names(top)])
        system.set_logs(settings)
    return system


def configure_stock(internal: Any, variables: Mapping[str, str] | None = None, **settings: Any) -> None:
    """Let stock PyTorch read its variables anew and apply the settings, as it does when it is imported."""
    with environment(variables or {}):
        internal.DEFAULT_FORMATTER = internal._default_formatter()
        internal.set_logs(**settings)


@contextlib.contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables for the length of a block."""
    kept = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


@contextlib.contextmanager
def compilation() -> Iterator[None]:
    """Let the block be part of frame 0's first compilation."""
    guards = importlib.import_module("torch._guards")
    with guards.compile_context(guards.CompileContext(guards.CompileId(frame_id=0, frame_compile_id=0))):
        yield


@contextlib.contextmanager
def process_group() -> Iterator[None]:
    """Let this process be rank 0 of a job of one process for the length of a block."""
    distributed: Any = importlib.import_module("torch.distributed")
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        distributed.destroy_process_group()


def make_stdlib(name: str, handler: logging.Handler | None = None, level: int = logging.DEBUG) -> logging.Logger:
    """Return a logger of the standard library with one handler and BASIC_FORMAT."""
    logger = logging.getLogger(name)
    handler = logging.StreamHandler(sys.stderr) if handler is None else handler
    handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
    logger.addHandler(handler)
    logger.propagate = False
    logger.setLevel(level)
    return logger


def make_peers(level: str) -> dict[str, tuple[str, Any]]:
    """Return, by name, how each peer that is installed logs the same record and the logger, set to `level`."""
    peers: dict[str, tuple[str, Any]] = {}
    pico = find_peer("picologging")
    if pico is not None:
        logger = pico.Logger("bench_pico", getattr(pico, level))
        handler = pico.StreamHandler(sys.stderr)
        handler.setFormatter(pico.Formatter(logging.BASIC_FORMAT))
        logger.addHandler(handler)
        peers["picologging"] = ('log.debug("hello %s", 1)', logger)
    loguru = find_peer("loguru")
    if loguru is not None:
        loguru.logger.remove()
        loguru.logger.add(sys.stderr, level=level, format="{level}:{name}:{message}", colorize=False)
        peers["loguru"] = ('log.debug("hello {}", 1)', loguru.logger)
    structlog = find_peer("structlog")
    if structlog is not None:
        structlog.configure(
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper("%m%d %H:%M:%S"),
                structlog.processors.LogfmtRenderer(),
            ],
            wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level)),
            logger_factory=structlog.WriteLoggerFactory(sys.stderr),
            cache_logger_on_first_use=True,
        )
        peers["structlog"] = ('log.debug("hello %s", 1)', structlog.get_logger().bind())
    return peers
