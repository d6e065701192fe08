"""What is remembered of plain values: only what is short, a few hundred of them, and never one for another."""

from __future__ import annotations

import json
from typing import Any

import numpy
import pytest

from complog_core.trace_memo import Memo


def make_memo() -> tuple[Memo[str], list[Any]]:
    """Return a memo, and the values that it had written."""
    written: list[Any] = []

    def write(values: Any) -> str | None:
        written.append(values)
        return None if values.get("refused") else repr(values)

    return Memo(write), written


@pytest.mark.parametrize("values", [{}, {"a": 1, "b": [None, 2.5]}, {"refused": True}])
def test_values_that_come_again_are_not_written_again(values: dict[str, Any]) -> None:
    memo, written = make_memo()
    first = memo.find(values)
    assert memo.find(dict(values)) == first == (None if "refused" in values else repr(values))
    assert written == [values]


@pytest.mark.parametrize(
    "others", [[{"a": 1}, {"a": True}, {"a": 1.0}], [{"a": 0.0}, {"a": -0.0}], [{"a": 1, "b": 2}, {"b": 2, "a": 1}]]
)
def test_equal_values_are_told_apart(others: list[dict[str, Any]]) -> None:
    memo, _ = make_memo()
    assert [memo.find(values) for values in others * 2] == [repr(values) for values in others * 2]


class Text(str):
    """A text of a program's own kind."""

    __slots__ = ()


@pytest.mark.parametrize("value", [object(), Text("a"), "x" * 1000])
def test_nothing_is_said_of_what_is_long_or_not_plain(value: object) -> None:
    memo, written = make_memo()
    assert memo.find({"a": value}) is None
    assert written == []


def test_what_is_remembered_is_bounded() -> None:
    memo, written = make_memo()
    for number in range(10_000):
        memo.find({"a": number})
    assert memo.find({"a": 9_999}) == "{'a': 9999}"
    assert len(written) == 10_000
    memo.find({"a": 0})
    assert len(written) == 10_001


def test_numbers_that_look_alike_in_memory_are_told_apart() -> None:
    def write(values: Any) -> str | None:
        try:
            return json.dumps(values)
        except TypeError:
            return None

    memo = Memo(write)
    alike = (numpy.float64(0.0), numpy.int64(0), b"\0" * 8, 0.0)
    assert [memo.find({"v": value}) for value in alike] == ['{"v": 0.0}', None, None, '{"v": 0.0}']
    # None has the caller look for itself
    assert [memo.find({"v": value}) for value in reversed(alike[1:])] == ['{"v": 0.0}', None, None]
    assert memo.find({"v": alike[0]}) in ('{"v": 0.0}', None)
