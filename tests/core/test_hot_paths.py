"""The four paths that every program takes, held at the number of instructions that they need; no clock is asked.

What is counted are instructions of Python, as multiples of what the standard library needs for the same in the same
run. A path may need a tenth more than when it was counted; whoever makes one shorter writes down the new figure.
"""

from __future__ import annotations

import itertools
import logging
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from benchmarks.measuring import count_instructions
from tests.support.systems import SystemFactory, make_plugin, make_system, top

from complog_core import Artifact, Component, Field

__all__ = ["make_system", "top"]

COUNTED = {
    (3, 10): {"line": 0.701, "artifact line": 0.724, "set_logs": 4.19, "new settings": 7.91, "block": 13.44},
    (3, 11): {"line": 0.676, "artifact line": 0.696, "set_logs": 3.99, "new settings": 7.71, "block": 13.01},
    (3, 12): {"line": 0.698, "artifact line": 0.715, "set_logs": 4.08, "new settings": 7.72, "block": 13.08},
    (3, 13): {"line": 0.749, "artifact line": 0.767, "set_logs": 3.73, "new settings": 7.29, "block": 12.18},
}
"""Multiples of the reference by the version of Python; a later one is held to the last."""
TOLERANCE = 1.1
RECORDS = 20
COMPONENTS, ARTIFACTS, MODULES = 35, 55, 76


def count_calls(log: logging.Logger, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the instructions of some calls, ten of which fall into each millisecond."""
    seconds, nanoseconds = itertools.count(1.7e9, 1e-4), itertools.count(1_700_000_000 * 10**9, 10**5)

    def call() -> None:
        for _ in range(RECORDS):
            log.debug("hello %s", 1)

    with monkeypatch.context() as patch, open(os.devnull, "w", encoding="utf-8") as stream:
        patch.setattr(sys, "stderr", stream)
        for handler in log.handlers:
            if type(handler) is logging.StreamHandler:
                handler.setStream(stream)
        call()
        patch.setattr(time, "time", seconds.__next__)
        patch.setattr(time, "time_ns", nanoseconds.__next__)
        return count_instructions(call)


@pytest.fixture
def stdlib(top: str) -> logging.Logger:
    """A logger of the standard library with a stream and the format that it has by itself."""
    log = logging.getLogger(f"stdlib_{top}")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
    log.addHandler(handler)
    log.propagate = False
    log.setLevel(logging.DEBUG)
    return log


def make_names_like_the_families(top: str) -> Any:
    """Return a plugin with as many names as the families bring, and a rank and an id in each line."""
    return make_plugin(
        components=[Component(f"part{number}", [f"{top}.part{number}"]) for number in range(COMPONENTS)],
        artifacts=[Artifact(f"item{number}", off_by_default=number % 2 == 0) for number in range(ARTIFACTS)],
        record_fields=[
            Field("rank", "head", lambda record: "[rank0]:"),
            Field("trace_id", "tail", lambda record: " [0/0]"),
        ],
    )


def hold(path: str, count: int, reference: int) -> None:
    """Fail where a path needs a tenth more than it did."""
    version = min(sys.version_info[:2], max(COUNTED))
    counted, ratio = COUNTED[version][path], count / reference
    text = f"{path}: {count:,} instructions, {ratio:.3f} of the reference's {reference:,}; it was {counted}"
    assert ratio <= counted * TOLERANCE, text


@pytest.mark.parametrize("kind", ["plain", "artifact"])
def test_disabled_call_takes_no_more_instructions_than_the_standard_librarys(
    kind: str, make_system: SystemFactory, top: str, stdlib: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = make_system(make_names_like_the_families(top))
    system.set_logs(part0="WARNING")
    module = f"{top}.part0.module"
    log = logging.getLogger(module) if kind == "plain" else system.getArtifactLogger(module, "item1")
    stdlib.setLevel(logging.WARNING)
    count, reference = count_calls(log, monkeypatch), count_calls(stdlib, monkeypatch)
    assert count <= reference


def test_default_line_takes_no_more_instructions_than_it_did(
    make_system: SystemFactory, top: str, stdlib: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = make_plugin(components=[Component("part0", [f"{top}.part0"])])
    make_system(names).set_logs(part0="DEBUG")
    log = logging.getLogger(f"{top}.part0.module")
    count, reference = count_calls(log, monkeypatch), count_calls(stdlib, monkeypatch)
    hold("line", count, reference)


def test_artifacts_line_with_ids_takes_no_more_instructions_than_it_did(
    make_system: SystemFactory, top: str, stdlib: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = make_system(make_names_like_the_families(top))
    system.set_logs(item0=True)
    log = system.getArtifactLogger(f"{top}.part0.module", "item0")
    count, reference = count_calls(log, monkeypatch), count_calls(stdlib, monkeypatch)
    hold("artifact line", count, reference)


def test_set_logs_takes_no_more_instructions_than_it_did(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # that of the standard library takes the longer the more loggers other tests have made
    monkeypatch.setattr(logging.Manager, "_clear_cache", lambda self: None)
    system = make_system(make_names_like_the_families(top))
    for number in range(MODULES):
        system.getArtifactLogger(f"{top}.part{number % COMPONENTS}.module{number}", f"item{number % ARTIFACTS}")
    levels = itertools.cycle(["DEBUG", "INFO"])
    parts = map("part{}".format, itertools.count(1))

    def set_logs() -> None:
        system.set_logs(part0=next(levels), item0=True)

    def set_what_was_not_asked_before() -> None:
        system.set_logs(item0=True, **{next(parts): "ERROR"})

    def set_for_a_block() -> None:
        with system.logs(part0=next(levels)):
            pass

    loggers = [*system.get_loggers(), *map(logging.getLogger, map(str, range(MODULES)))]

    def write_each_once() -> None:
        for log in loggers:
            log.level = log.level
            log.propagate = bool(log.propagate)

    reference = count_steady(write_each_once)
    hold("set_logs", count_steady(set_logs), reference)
    hold("new settings", count_steady(set_what_was_not_asked_before), reference)
    hold("block", count_steady(set_for_a_block), reference)


def count_steady(function: Callable[[], object]) -> int:
    """Return the instructions of a call after some others, from which on all are alike."""
    for _ in range(4):
        function()
    return count_instructions(function)
