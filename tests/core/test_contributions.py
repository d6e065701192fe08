"""What hooks return is read once and checked item by item; one bad item names itself and why."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest

from complog_core.contributions import Fault, read_contribution
from complog_core.model import Artifact, Component, Field, Keyword

TILER = Component("tiler", ["mybackend.tiler", "my-app.db"], "loop tiling")
TILES = Artifact("tiles", "sizes", visible=True, off_by_default=True, log_format="%(prefix)s %(message)s")
RANKS = Keyword("ranks", "list[int] | None", None, "ranks that log", env_var="{prefix}_LOGS_RANKS", apply=print)
RANK = Field("rank", "head", str)


def make_filter(record: logging.LogRecord) -> bool:
    return True


@pytest.mark.parametrize(
    ("hook", "items"),
    [
        ("complog_components", [TILER]),
        ("complog_artifacts", [TILES, Artifact("bare", log_format=""), Artifact("asks", show_exception=lambda: False)]),
        ("complog_keywords", [RANKS, Keyword("plain")]),
        ("complog_env_vars", ["MYLIB_LOGS", "_x9"]),
        ("complog_handlers", [logging.NullHandler()]),
        ("complog_filters", [make_filter]),
        ("complog_record_fields", [RANK]),
    ],
)
def test_any_iterable_of_the_right_items_is_read_as_a_tuple(hook: str, items: list[Any]) -> None:
    assert read_contribution(hook, items) == tuple(items)
    assert read_contribution(hook, iter(items)) == tuple(items)
    assert read_contribution(hook, (item for item in items)) == tuple(items)
    assert read_contribution(hook, []) == ()


def test_formatters_are_read_as_a_mapping_of_its_own() -> None:
    given: dict[str, Any] = {"line": logging.Formatter}
    read = read_contribution("complog_formatters", given)
    given["later"] = None
    assert read == {"line": logging.Formatter}


class NoIterable:
    pass


async def forget_to_await() -> list[Component]:
    return []


@pytest.mark.parametrize("result", [None, "tiler", b"tiler", 3, NoIterable(), TILER])
def test_result_that_is_no_iterable_is_refused(result: object) -> None:
    with pytest.raises(Fault, match=f"returned {type(result).__name__.replace('Type', '')} instead of an iterable"):
        read_contribution("complog_components", result)


def test_coroutine_is_refused_and_closed(recwarn: pytest.WarningsRecorder) -> None:
    with pytest.raises(Fault, match="returned coroutine instead of an iterable of Component"):
        read_contribution("complog_components", forget_to_await())
    assert not recwarn.list


def test_what_a_generator_raises_comes_out() -> None:
    def give() -> Iterator[Component]:
        yield TILER
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        read_contribution("complog_components", give())


BAD_COMPONENTS = [
    (TILES, "the Artifact 'tiles': it must be a Component, not Artifact"),
    ("tiler", "the str 'tiler': it must be a Component, not str"),
    (None, "None: it must be a Component"),
    (Component("all", ["m"]), "'all' is reserved"),
    (Component("a/b", ["m"]), "'a/b' is not a name"),
    (Component("", ["m"]), "'' is not a name"),
    (Component(3, ["m"]), "a name must be a str, not int"),
    (Component("x", []), "it has no loggers"),
    (Component("x", ""), "'' is not the name of a logger"),
    (Component("x", ["m", "a..b"]), "'a..b' is not the name of a logger"),
    (Component("x", [".a"]), "'.a' is not the name of a logger"),
    (Component("x", ["a."]), "'a.' is not the name of a logger"),
    (Component("x", ["a b"]), "'a b' is not the name of a logger"),
    (Component("x", ["a\n"]), "is not the name of a logger"),
    (Component("x", [None]), "a logger must be a str, not None"),
    (Component("x", ["root"]), "root logger"),
    (Component("x", ["m"], None), "its description must be a str, not None"),
]
BAD_ARTIFACTS = [
    (TILER, "it must be a Artifact, not Component"),
    (Artifact("help"), "'help' is reserved"),
    (Artifact("x", 3), "its description must be a str, not int"),
    (Artifact("x", visible=1), "visible must be a bool, not int"),
    (Artifact("x", off_by_default="no"), "off_by_default must be a bool, not str"),
    (Artifact("x", show_exception="no"), "show_exception must be a bool, not str"),
    (Artifact("x", log_format=3), "its log_format must be a str, not int"),
]
BAD_KEYWORDS = [
    ("ranks", "it must be a Keyword, not str"),
    (Keyword("off"), "'off' is reserved"),
    (Keyword("a b"), "'a b' is not a name"),
    (Keyword("x", doc=None), "its doc must be a str"),
    (Keyword("x", env_var=""), "its env_var '' is not the name of a variable"),
    (Keyword("x", env_var="A=B"), "its env_var 'A=B' is not the name"),
    (Keyword("x", env_var="{suffix}_X"), "is not the name of a variable"),
    (Keyword("x", env_var=3), "its env_var must be a str, not int"),
    (Keyword("x", apply=3), "apply must be callable, not int"),
    (Keyword("x", convert="int"), "convert must be callable, not str"),
]
BAD_FIELDS = [
    (RANKS, "it must be a Field, not Keyword"),
    (Field("", "head", str), "'' is not a name"),
    (Field("x", "foot", str), "its slot must be 'head' or 'tail', not 'foot'"),
    (Field("x", "tail", "text"), "its value must be callable, not str"),
]
BAD_VARIABLES = [
    (3, "it must be a str, not int"),
    ("", "the str '': it is not the name of a variable"),
    ("MY LOGS", "it is not the name of a variable"),
    ("9X", "it is not the name of a variable"),
    ("A=B", "it is not the name of a variable"),
    ("LÖGS", "it is not the name of a variable"),
    ("A\n", "it is not the name of a variable"),
]


@pytest.mark.parametrize(
    ("hook", "item", "why"),
    [
        *(("complog_components", *case) for case in BAD_COMPONENTS),
        *(("complog_artifacts", *case) for case in BAD_ARTIFACTS),
        *(("complog_keywords", *case) for case in BAD_KEYWORDS),
        *(("complog_record_fields", *case) for case in BAD_FIELDS),
        *(("complog_env_vars", *case) for case in BAD_VARIABLES),
        ("complog_handlers", logging.Formatter(), "it must be a Handler, not Formatter"),
        ("complog_filters", "text", "it is not callable"),
    ],
)
def test_bad_item_is_refused_with_its_reason(hook: str, item: object, why: str) -> None:
    with pytest.raises(Fault, match=re.escape(why)) as caught:
        read_contribution(hook, [item])
    assert str(caught.value).startswith("gave ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (None, "returned None instead of a mapping"),
        ([("line", logging.Formatter)], "returned list instead of a mapping"),
        ({"line": logging.Formatter()}, "gave the formatter 'line': Formatter is not a callable"),
        ({"line": "%(message)s"}, "gave the formatter 'line': str is not a callable"),
        ({"": logging.Formatter}, "gave a formatter: '' is not a name"),
        ({3: logging.Formatter}, "gave a formatter: a name must be a str, not int"),
    ],
)
def test_bad_formatters_are_refused(result: object, why: str) -> None:
    with pytest.raises(Fault, match=re.escape(why)):
        read_contribution("complog_formatters", result)


def render(log_format: str) -> str:
    record = logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None)
    record.__dict__.update(prefix="I", step=7, own=0.5)
    return logging.Formatter(log_format).format(record)


@pytest.mark.parametrize(
    "log_format",
    [
        "",
        "%(message)s",
        "%(prefix)s] %(message)-20.5s|",
        "100%% %(lineno)05d %(asctime)s",
        "%(step)d",
        "%(own).2f",
    ],
)
def test_percent_formats_that_a_record_can_fill_are_taken(log_format: str) -> None:
    assert read_contribution("complog_artifacts", [Artifact("x", log_format=log_format)])
    assert render(log_format)


@pytest.mark.parametrize(
    "log_format",
    [
        "%(message",
        "%(message)",
        "%(message)q",
        "%(message)d",
        "%(message)ld",
        "%(message)*d",
        "%s",
        "%(message)s 100%",
        "%(message)s %d",
        "%s %(message)s",
        "{message}",
        "$message",
        "plain text",
        "%%",
    ],
)
def test_other_texts_are_no_percent_formats(log_format: str) -> None:
    with pytest.raises(Fault, match="is not a %-format") as caught:
        read_contribution("complog_artifacts", [Artifact("x", log_format=log_format)])
    assert repr(log_format) in str(caught.value)
