"""Random settings for test_decisions, and the differences from stock PyTorch that are meant, each as small as it is."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from .decisions_probe import LEVELS, OUTSIDE

SHARING = ("dynamo", "dynamic", "export", "distributed", "c10d", "ddp", "torch", "all")
"""Components that share loggers, or lie below each other, where the order counts."""
SIGNS = {"": logging.INFO, "+": logging.DEBUG, "-": logging.ERROR}
FAR = ("faraway", "faraway.near")
PACKAGES = ("torch.fx", "torch._functorch", "torch.distributed.tensor", "torch._export", *FAR * 3)
CHOSEN = [
    [("", "torch.fx.passes.utils.source_matcher_utils")],
    [("-", "dynamic"), ("", "torch.fx")],
    [("+", "faraway.near"), ("", "faraway")],
]
"""Settings that show what chance may miss."""
WORDS = {
    ".": "nothing",
    "e": "enabled, and nothing",
    "b": "one bare line",
    "x": "something of the module's own handler",
    "y": "one line, and something of the module's own handler",
}


class Facts(NamedTuple):
    """What the stock process says that its PyTorch has."""

    active: bool
    components: dict[str, list[str]]
    artifacts: list[str]
    off_by_default: list[str]
    keywords: list[str]
    loggers: dict[str, str | None]
    modules: list[str]


class Case(NamedTuple):
    """One setting: `text` for the variable or `keywords` for set_logs, as (name, level or bool) in order."""

    settings: tuple[tuple[str, int | bool], ...]
    asked: dict[str, Any]
    dotted: bool

    def __str__(self) -> str:
        if "text" in self.asked:
            return f"TORCH_LOGS={self.asked['text']!r}"
        return f"set_logs(**{self.asked['keywords']!r})"

    def named(self, artifact: str | None) -> bool | None:
        """Return what the case says of an artifact, None for nothing."""
        said = [bool(value) for name, value in self.settings if name == artifact]
        return any(said) if said else None


class Difference(NamedTuple):
    case: Case
    logger: str
    artifact: str | None
    level: int
    stock: str
    ours: str

    def __str__(self) -> str:
        stock, ours = (WORDS.get(it, f"{it} formatted line(s)") for it in (self.stock, self.ours))
        return f"{self.case}\n    {self.logger} at {self.level}: stock {stock}, complog {ours}"


def make_case(facts: Facts, items: list[tuple[str, str]], rng: random.Random, *, dotted: bool) -> Case:
    text = rng.choice((",", ", ")).join(sign + name for sign, name in items)
    settings = tuple((name, SIGNS[sign]) for sign, name in items)
    return Case(settings, {"text": text, "late": rng.choice(facts.artifacts), "dotted": dotted}, dotted)


def make_texts(facts: Facts, seed: int, count: int, *, dotted: bool) -> list[Case]:
    """Return cases of one to six items; with `dotted`, at least one of them is a module's dotted name."""
    rng = random.Random(seed)
    names = [*facts.components, *facts.artifacts, *SHARING * 3]
    modules = [*facts.modules, *PACKAGES * 15]
    cases = [make_case(facts, items, rng, dotted=True) for items in CHOSEN] if dotted else []
    while len(cases) < count:
        chosen = [rng.choice(names) for _ in range(rng.randint(1, 6))]
        if dotted:
            chosen[rng.randrange(len(chosen)) :] = rng.choices(modules, k=rng.randint(1, 2))
            rng.shuffle(chosen)
        items = [(rng.choice(list(SIGNS)), name) for name in chosen]
        cases.append(make_case(facts, items, rng, dotted=dotted))
    return cases


def make_calls(facts: Facts, seed: int, count: int) -> list[Case]:
    """Return calls of set_logs, whose names are keywords where stock has one, and modules= where it has none."""
    rng = random.Random(seed)
    names = [*facts.components, *facts.artifacts, *SHARING * 5, *facts.modules[::10], *PACKAGES]
    cases = []
    for _ in range(count):
        chosen = dict.fromkeys(rng.choice(names) for _ in range(rng.randint(1, 6)))
        values: dict[str, int | bool] = {
            name: rng.random() < 0.7 if name in facts.artifacts else rng.choice((0, *LEVELS[1:])) for name in chosen
        }
        # stock has an order of its own for keywords, here the later one counts: in stock's order both say the same
        keywords: dict[str, Any] = {name: values[name] for name in facts.keywords if name in values}
        modules = {name: value for name, value in values.items() if name not in facts.keywords}
        if modules:
            keywords["modules"] = modules
        dotted = any("." in name or name in FAR for name in modules)
        settings = tuple(
            {name: value for name, value in [*keywords.items(), *modules.items()] if name != "modules"}.items()
        )
        asked = {"keywords": keywords, "late": rng.choice(facts.artifacts), "dotted": dotted}
        cases.append(Case(settings, asked, dotted))
    return cases


def find_differences(facts: Facts, case: Case, names: list[str], stock: str, ours: str) -> Iterator[Difference]:
    """Yield where the two answers differ."""
    late = case.asked["late"]
    for index, (theirs, mine) in enumerate(zip(stock, ours, strict=True)):
        if theirs != mine:
            position, level = divmod(index, len(LEVELS))
            logger = names[position]
            artifact = late if logger.endswith(f".__{late}") else facts.loggers.get(logger)
            yield Difference(case, logger, artifact, LEVELS[level], theirs, mine)


def _unnamed_off_by_default(facts: Facts, it: Difference) -> bool:
    return it.artifact in facts.off_by_default and it.case.named(it.artifact) is None


def _is_disabled_artifact(facts: Facts, it: Difference) -> bool:
    return _unnamed_off_by_default(facts, it) and (it.stock, it.ours) == ("e", ".")


def _is_warning_of_silent_artifact(facts: Facts, it: Difference) -> bool:
    is_warning = (it.stock, it.ours) == ("b", "1") and it.level >= logging.WARNING
    return is_warning and (_unnamed_off_by_default(facts, it) or it.logger.startswith(f"{OUTSIDE}.__"))


def _is_muted(facts: Facts, it: Difference) -> bool:
    return it.artifact is not None and it.case.named(it.artifact) is False and it.ours == "."


def _is_artifact_outside(facts: Facts, it: Difference) -> bool:
    return it.logger.startswith(OUTSIDE) and it.case.named(it.artifact) is True and it.ours == "1"


def _is_third_partys_all(facts: Facts, it: Difference) -> bool:
    said = dict(it.case.settings).get("all")
    return it.logger.startswith("thirdparty") and said is not None and it.ours == _print_from(said, it.level)


def _is_third_partys_warning(facts: Facts, it: Difference) -> bool:
    return (
        it.logger.startswith("thirdparty")
        and it.case.named("all") is None
        and (it.stock, it.ours) == ("b", "1")
        and it.level >= logging.WARNING
    )


def _is_more_specific(facts: Facts, it: Difference) -> bool:
    said: dict[str, tuple[int, int]] = {}
    for position, (name, level) in enumerate(it.case.settings):
        for logger in facts.components.get(name, [name]):
            said[logger] = (position, level)
    above = [name for name in said if f"{it.logger}.".startswith(f"{name}.")]
    nearest = max(above, key=len, default=None)
    if nearest is None or it.ours != _print_from(said[nearest][1], it.level):
        return False
    return any(said[name][0] > said[nearest][0] and name not in facts.components for name in above if name != nearest)


def _is_doubled_by_stock(facts: Facts, it: Difference) -> bool:
    return it.case.dotted and it.stock in "23456789" and it.ours == "1"


def _is_cut_off_in_stock(facts: Facts, it: Difference) -> bool:
    said = {name: level for name, level in it.case.settings if f"{it.logger}.".startswith(f"{name}.")}
    nearest = max(said, key=len, default=None)
    if nearest is None:
        return False
    prints = it.level >= said[nearest] and (it.stock, it.ours) in (("e", "1"), ("x", "y"))
    return prints or (it.level < said[nearest] and (it.stock, it.ours) in (("e", "."), ("x", ".")))


def _is_held_back_by_component(facts: Facts, it: Difference) -> bool:
    is_warning = (it.stock, it.ours) == ("b", ".") and it.level >= logging.WARNING
    return is_warning and _unnamed_off_by_default(facts, it)


def _print_from(level: int | bool, at: int) -> str:
    return "1" if at >= level else "."


MEANT: Mapping[str, Callable[[Facts, Difference], bool]] = {
    "an artifact that prints nothing is not enabled, so that code guarded by it is skipped": _is_disabled_artifact,
    "a warning on an artifact that was not named comes in the normal line": _is_warning_of_silent_artifact,
    "a warning on such an artifact is held back where its component is set higher": _is_held_back_by_component,
    "False mutes an artifact": _is_muted,
    "a named artifact prints though its module lies under no component": _is_artifact_outside,
    "`all` reaches a third party's loggers": _is_third_partys_all,
    "a third party's warning comes in the normal line": _is_third_partys_warning,
    "a setting for a logger beats a later one for a package above it": _is_more_specific,
    "a record comes once, also below a dotted name": _is_doubled_by_stock,
    "a module is set with all below it, also what keeps its records from PyTorch": _is_cut_off_in_stock,
}


def sort_out(facts: Facts, differences: Iterator[Difference]) -> tuple[Counter[str], list[Difference]]:
    """Return how often each meant difference occurs, and those that nobody meant."""
    met: Counter[str] = Counter()
    rest = []
    for difference in differences:
        reason = next((reason for reason, applies in MEANT.items() if applies(facts, difference)), None)
        if reason is None:
            rest.append(difference)
        else:
            met[reason] += 1
    return met, rest
