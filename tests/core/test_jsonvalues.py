"""Values become plain data: what JSON has a form for keeps it, everything else has a text, and nothing raises."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import json
import types
import uuid
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from complog_core.jsonvalues import DEEPEST, MORE, MOST_ITEMS, make_plain, write_out


class Colour(enum.IntEnum):
    RED = 1


class Name(enum.Enum):
    PAIR = (1, 2)


class Point(NamedTuple):
    x: int
    y: object


@dataclasses.dataclass
class Step:
    number: int
    inner: object = None


@dataclasses.dataclass
class Uncopyable:
    handle: object = dataclasses.field(default_factory=lambda: (item for item in ()))
    unset: int = dataclasses.field(init=False)


class Hostile(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError

    def __repr__(self) -> str:
        raise SystemError


class HostileText(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError

    def encode(self, *arguments: Any) -> bytes:
        raise RuntimeError

    def isascii(self) -> bool:
        raise RuntimeError


class Leaving:
    def __repr__(self) -> str:
        raise SystemExit(3)

    __str__ = __repr__


class Liar:
    @property
    def __class__(self) -> type:
        raise RuntimeError


class HostileKey:
    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __repr__(self) -> str:
        raise RuntimeError


class Nameless(type):
    @property
    def __name__(cls) -> str:
        raise RuntimeError


class OfNoName(Leaving, metaclass=Nameless):
    pass


CYCLE: list[Any] = []
CYCLE.append(CYCLE)
RING: dict[str, Any] = {}
RING["ring"] = [RING, Step(1, RING)]
DEEP: Any = []
for _ in range(5000):
    DEEP = [DEEP]
DEEP_DICT: Any = {}
for _ in range(5000):
    DEEP_DICT = {"k": DEEP_DICT}
BUSH: Any = [0]
for _ in range(40):
    BUSH = [BUSH] * 10
STEPS: Any = Step(0)
STEPS.inner = STEPS

STRANGE: list[tuple[str, object]] = [
    ("hostile", Hostile()),
    ("hostile text", HostileText("é\ud800")),
    ("leaving", Leaving()),
    ("liar", Liar()),
    ("of no name", [OfNoName, OfNoName(), {OfNoName(): 1}]),
    ("cycle", CYCLE),
    ("ring", RING),
    ("cyclic dataclass", STEPS),
    ("deep", DEEP),
    ("deep dict", DEEP_DICT),
    ("bush", BUSH),
    ("long list", list(range(MOST_ITEMS * 2))),
    ("huge int", 10**5000),
    ("huge ints", [10**5000, -(10**300), {10**5000: 1}]),
    ("numbers", [float("nan"), float("inf"), float("-inf"), -0.0, 5e-324, 1.7e308, 2**64, -(2**63)]),
    ("bytes", b"\xff\x00"),
    ("bytearray", bytearray(b"x")),
    ("memoryview", memoryview(b"x")),
    ("set", {1, "a", None}),
    ("keys", {1: 1, "1": 2, False: 3, None: 4, "null": 5, (1, 2): 6, 1.5: 7, float("nan"): 8, b"b": 9}),
    ("hostile key", {HostileKey(): 1}),
    ("surrogates", {"\udfff": ["\ud800", "\ud83d\ude00", "😀"]}),
    ("controls", "\0\x01\x1b[31m\r\n\t\x7f\x85\u2028\u2029\ufeff"),
    ("magic mock", mock.MagicMock()),
    *((f"mock of {kind.__name__}", mock.MagicMock(spec=kind)) for kind in (dict, list, str, int, float, bytes, set)),
    ("mock of an exception", mock.MagicMock(spec=ValueError("x"))),
    ("mock of a date", mock.MagicMock(spec=datetime.datetime.now())),
    ("exception", ValueError("x")),
    ("type", int),
    ("enum class", Colour),
    ("generator", (item for item in ())),
    ("uncopyable", Uncopyable()),
    ("module", json),
    ("function", len),
]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1),
        (True, True),
        (None, None),
        (Colour.RED, 1),
        (Name.PAIR, [1, 2]),
        (1.5, 1.5),
        (float("nan"), "nan"),
        ([float("-inf"), {"k": float("nan")}], ["-inf", {"k": "nan"}]),
        ({1: (2, {3})}, {"1": [2, [3]]}),
        (2**64 - 1, 2**64 - 1),
        (2**64, str(2**64)),
        (-(10**30), str(-(10**30))),
        ("lone \ud800", "lone \\ud800"),
        ({"\udfff": "\udfff"}, {"\\udfff": "\\udfff"}),
        (b"raw", "cmF3"),
        (datetime.date(2024, 1, 2), "2024-01-02"),
        (datetime.timedelta(seconds=1), "0:00:01"),
        (decimal.Decimal("1.10"), "1.10"),
        (uuid.UUID(int=1), str(uuid.UUID(int=1))),
        (PurePosixPath("/a"), "/a"),
        (Point(1, {2}), [1, [2]]),
        (Step(1, Step(2)), {"number": 1, "inner": {"number": 2, "inner": None}}),
        (types.MappingProxyType({"a": 1}), {"a": 1}),
        (collections.OrderedDict(a=1), {"a": 1}),
        (ValueError("x"), "ValueError: x"),
        (CYCLE, ["<contains itself>"]),
        ([CYCLE, CYCLE], [["<contains itself>"], ["<contains itself>"]]),
    ],
)
def test_values_have_the_form_that_readers_expect(value: object, expected: object) -> None:
    assert make_plain(value) == expected


def test_twice_the_same_is_no_cycle() -> None:
    inner = [1]
    assert make_plain([inner, inner]) == [[1], [1]]


def test_keys_that_would_be_one_stay_apart() -> None:
    plain = make_plain({1: "int", "1": "str", None: "none", "null": "text"})
    assert sorted(plain) == ["1", "1 (str)", "null", "null (str)"]
    assert sorted(make_plain({"1": "str", 1: "int"})) == ["1", "1 (int)"]


def test_depth_has_an_end_and_what_lies_deeper_a_placeholder() -> None:
    plain: Any = make_plain(DEEP)
    for _ in range(DEEPEST):
        (plain,) = plain
    assert plain == "<list, too deep>"


@pytest.mark.parametrize("value", [BUSH, list(range(MOST_ITEMS * 2)), dict.fromkeys(range(MOST_ITEMS * 2))])
def test_number_of_items_has_an_end(value: object) -> None:
    text = json.dumps(make_plain(value))
    assert MORE in text
    assert text.count(",") < 2 * MOST_ITEMS


@pytest.mark.parametrize(("name", "value"), STRANGE, ids=[name for name, _ in STRANGE])
def test_strange_values_become_plain_ones(name: str, value: object) -> None:
    json.loads(json.dumps(make_plain(value), allow_nan=False), parse_constant=pytest.fail)


def test_dataclass_is_not_copied() -> None:
    value = Step(1, mock.Mock(__deepcopy__=mock.Mock(side_effect=AssertionError)))
    make_plain(value)
    assert not value.inner.__deepcopy__.called


def test_interrupt_goes_through() -> None:
    class Interrupted:
        def __str__(self) -> str:
            raise KeyboardInterrupt

    for function in (make_plain, write_out):
        with pytest.raises(KeyboardInterrupt):
            function(Interrupted())


PAYLOADS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary() | st.datetimes(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.integers() | st.text(st.characters()) | st.none() | st.floats() | st.binary(), inner)
        | st.tuples(inner)
        | st.frozensets(st.integers() | st.binary())
    ),
    max_leaves=8,
)


def count(value: object) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(count, value.values()))
    return 1 + sum(map(count, value)) if isinstance(value, (list, tuple, frozenset)) else 1


@given(PAYLOADS)
def test_nothing_is_lost_of_any_payload(payload: object) -> None:
    plain = json.loads(json.dumps(make_plain(payload), allow_nan=False))
    assert count(plain) == count(payload)
    json.dumps(plain, ensure_ascii=False).encode()
