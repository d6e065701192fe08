"""Under the same settings the bridge lets the same records reach the console as stock PyTorch, each of them once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from plugins.torch.tests import decisions_probe
from plugins.torch.tests.decisions_rules import (
    MEANT,
    Case,
    Difference,
    Facts,
    find_differences,
    make_calls,
    make_texts,
    sort_out,
)
from tests.support.environments import make_environment
from tests.support.fake_distributions import make_distribution

pytestmark = pytest.mark.torch

SEED = 2130
CASES: dict[str, Callable[[Facts], list[Case]]] = {
    "texts": lambda facts: make_texts(facts, SEED, 250, dotted=False),
    "dotted names": lambda facts: make_texts(facts, SEED + 1, 60, dotted=True),
    "calls": lambda facts: make_calls(facts, SEED + 2, 60),
    "nothing": lambda facts: [Case((), {"keywords": {}, "late": "guards"}, dotted=False)],
    "blank": lambda facts: [
        Case((), {"text": blank, "late": "guards", "dotted": True}, dotted=True) for blank in ("", " ")
    ],
}


class Probe:
    """A process that answers cases; it starts at once, so that two of them get ready side by side."""

    def __init__(self, paths: list[Path], **variables: str) -> None:
        environ = make_environment(PYTHONPATH=os.pathsep.join(map(str, paths)), **variables)
        command = [sys.executable, str(Path(decisions_probe.__file__))]
        self._process = subprocess.Popen(
            command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._timer = threading.Timer(600, self._process.kill)
        self._timer.start()

    def read(self) -> Any:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        assert self._process.stderr is not None
        raise AssertionError(f"the process ended with {self._process.wait()}:\n{self._process.stderr.read()}")

    def write(self, work: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(work) + "\n")
        self._process.stdin.flush()

    def end(self) -> None:
        self._timer.cancel()
        self._process.kill()
        self._process.communicate()


class Asked(NamedTuple):
    """A case with both answers; `names` are the loggers that the answers go through."""

    case: Case
    names: list[str]
    stock: dict[str, Any]
    ours: dict[str, Any]


class Answers(NamedTuple):
    facts: Facts
    asked: dict[str, list[Asked]]

    def differences(self, *kinds: str) -> Iterator[Difference]:
        for kind in kinds:
            for case, names, stock, ours in self.asked[kind]:
                yield from find_differences(self.facts, case, names, stock["answer"], ours["answer"])

    def count(self, kind: str) -> int:
        return sum(len(it.stock["answer"]) for it in self.asked[kind])


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    path = make_distribution(
        tmp_path_factory.mktemp("site"),
        "thirdparty",
        entry_points={"complog": {"thirdparty": "thirdparty_names"}},
        modules={
            "thirdparty_names": """
                from complog_core import Component, hookimpl
                @hookimpl
                def complog_components():
                    return [Component("thirdparty", ["thirdparty"])]
            """,
            "faraway": "",
            "faraway.near": "",
        },
    )
    stock, bridged = Probe([path], COMPLOG_TORCH="0"), Probe([path])
    try:
        facts, ours = Facts(**stock.read()), Facts(**bridged.read())
        assert (facts.active, ours.active) == (False, True)
        cases = {kind: make(facts) for kind, make in CASES.items()}
        for probe in (stock, bridged):
            probe.write(
                {"loggers": list(facts.loggers), "cases": [case.asked for many in cases.values() for case in many]}
            )
        number = 0
        asked: dict[str, list[Asked]] = {}
        for kind, many in cases.items():
            for case in many:
                late = f"torch._inductor.late.m{number}"
                names = [*facts.loggers, late, f"{late}.__{case.asked['late']}"]
                asked.setdefault(kind, []).append(Asked(case, names, stock.read(), bridged.read()))
                number += 1
        yield Answers(facts, asked)
    finally:
        stock.end()
        bridged.end()


def test_every_name_and_logger_of_pytorch_is_asked_about(answers: Answers) -> None:
    facts = answers.facts
    assert len(facts.components) > 15
    assert len(facts.artifacts) > 40
    assert sum(artifact is not None for artifact in facts.loggers.values()) > 80
    assert len(facts.loggers) > 400
    asked = {name for it in answers.asked["texts"] for name, _ in it.case.settings}
    assert {*facts.components, *facts.artifacts, "all"} <= asked


@pytest.mark.parametrize(("kind", "least"), [("texts", 500_000), ("dotted names", 100_000), ("calls", 100_000)])
def test_decisions_are_those_of_stock(
    answers: Answers, kind: str, least: int, record_property: Callable[[str, object], None]
) -> None:
    met, rest = sort_out(answers.facts, answers.differences(kind))
    count = answers.count(kind)
    record_property("decisions", count)
    record_property("meant differences", dict(met))
    faults = [
        f"{it.case}\n    {it.stock['fault']} | {it.ours['fault']}"
        for it in answers.asked[kind]
        if it.stock["fault"] or it.ours["fault"]
    ]
    assert not faults, "stock | complog raised:\n" + "\n".join(faults[:5])
    assert count > least
    if rest:
        pytest.fail(f"{len(rest)} of {count} decisions differ:\n" + show(rest))


@pytest.mark.parametrize("reason", MEANT)
def test_every_meant_difference_occurs(answers: Answers, reason: str) -> None:
    assert sort_out(answers.facts, answers.differences("texts", "dotted names", "calls"))[0][reason]


def test_no_artifact_is_enabled_and_prints_nothing(answers: Answers) -> None:
    size = len(decisions_probe.LEVELS)
    for asked in answers.asked.values():
        for case, names, _, ours in asked:
            silent = [
                name for index, name in enumerate(names) if "e" in ours["answer"][index * size : index * size + size]
            ]
            assert not [name for name in silent if answers.facts.loggers.get(name)], str(case)


def test_blank_variable_means_nothing_where_stock_raises(answers: Answers) -> None:
    (nothing,) = answers.asked["nothing"]
    size = len(answers.facts.loggers)
    for it in answers.asked["blank"]:
        assert it.stock["fault"]
        assert not it.ours["fault"]
        assert it.ours["answer"][:size] == nothing.ours["answer"][:size]


def test_dotted_name_imports_what_it_names_in_stock_only(answers: Answers) -> None:
    far = [
        it for it in answers.asked["dotted names"] if any(name.startswith("faraway") for name, _ in it.case.settings)
    ]
    assert len(far) > 5
    assert all(it.stock["imported"] for it in far)
    assert not [str(it.case) for it in far if it.ours["imported"]]


def show(differences: list[Difference]) -> str:
    """Return one line for each logger and kind of difference, with the shortest setting that shows it."""
    kinds: dict[tuple[str, str, str], list[Difference]] = {}
    for it in differences:
        kinds.setdefault((it.logger, it.stock, it.ours), []).append(it)
    by_frequency = sorted(kinds.values(), key=len, reverse=True)
    lines = [f"{len(many)} times: {min(map(str, many), key=len)}" for many in by_frequency]
    return "\n".join([*lines[:20], f"{len(lines)} kinds in all"])
