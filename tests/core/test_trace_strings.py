"""Interned strings: one number each, explained in every file that uses it, in tables that do not grow for ever."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.support.records import shown
from tests.support.traces import file_of, make_trace, read_file, unexplained

from complog_core import report, trace_tables
from complog_core.trace_tables import InternTable, Totals

PREFIX = "V1129 15:57:26.774000 4408 a.py:3]"


@pytest.fixture(autouse=True)
def _forget_warnings() -> None:
    report.forget_warnings()


def test_string_is_explained_once(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    assert [trace.intern_string(text) for text in ("a.py", "b.py", "a.py", "")] == [0, 1, 0, 2]
    assert trace.intern_string(None) == -1
    assert [record.fields["str"] for record in read_file(file_of(trace))] == [["a.py", 0], ["b.py", 1], ["", 2]]
    trace.close()


def test_number_given_before_the_trace_began_is_explained_where_it_is_used(tmp_path: Path) -> None:
    trace = make_trace(None)
    numbers = [trace.intern_string(text) for text in ("a.py", "b.py", "c.py", "unused.py")]
    trace.set_trace(tmp_path)
    for number in (numbers[0], numbers[0], numbers[1]):
        trace.trace_structured("tiles", lambda number=number: [{"filename": number}], suppress_context=True)
    trace.trace_structured("guards", payload_fn=lambda: [{"stack": [{"filename": numbers[2]}]}], suppress_context=True)
    records = read_file(file_of(trace))
    assert [record.fields["str"] for record in records if record.name == "str"] == [
        ["a.py", 0],
        ["b.py", 1],
        ["c.py", 2],
    ]
    assert not unexplained(records)
    trace.close()


def test_forgotten_string_gets_a_new_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_tables, "MOST_STRINGS", 3)
    trace = make_trace(tmp_path)
    numbers = [trace.intern_string(f"{index % 5}.py") for index in range(20)]
    assert len(trace.strings._numbers) == 3
    explained = [record.fields["str"] for record in read_file(file_of(trace))]
    assert len({number for _, number in explained}) == len(explained) == len(set(numbers))
    meaning = {number: text for text, number in explained}
    assert [meaning[number] for number in numbers] == [f"{index % 5}.py" for index in range(20)]
    trace.close()


def test_string_in_use_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_tables, "MOST_STRINGS", 3)
    table = InternTable()
    for index in range(20):
        table.intern("always.py")
        table.intern(f"{index}.py")
    assert table.intern("always.py") == (0, False)


def test_characters_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_tables, "MOST_CHARACTERS", 100)
    table = InternTable()
    for index in range(50):
        table.intern(f"{index:030}")
    assert len(list(table)) == 3
    assert table.intern("x" * 1000) == (50, True)
    assert list(table) == ["x" * 1000]


def test_bounds_are_those_that_are_documented() -> None:
    assert (trace_tables.MOST_STRINGS, trace_tables.MOST_CHARACTERS, trace_tables.MOST_TOTALS) == (
        10_000,
        2**24,
        10_000,
    )


def test_totals_forget_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_tables, "MOST_TOTALS", 3)
    totals = Totals()
    for key in "abcdc":
        totals[key] += 1.0
    assert totals == {"b": 1.0, "c": 2.0, "d": 1.0}


# -- the table in the place of a host framework's own


def test_code_that_numbers_by_length_fits_in(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    first = trace.intern_string("ours.py")
    table: dict[str, int] = trace.strings
    number = len(table)
    assert (table.get("theirs.py"), number) == (None, first + 1)
    table["theirs.py"] = number
    trace.writer.write(PREFIX, {"str": ("theirs.py", number)})
    trace.writer.write(PREFIX, {"tiles": {"filename": number}})
    assert trace.intern_string("theirs.py") == number
    assert trace.intern_string("later.py") == number + 1
    explained = [record.fields["str"] for record in read_file(file_of(trace)) if record.name == "str"]
    assert explained == [["ours.py", first], ["theirs.py", number], ["later.py", number + 1]]
    trace.close()


def test_cleared_table_begins_no_number_anew(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    assert trace.intern_string("a.py") == 0
    trace.strings.clear()
    assert not trace.strings
    assert trace.intern_string("b.py") == 1
    assert trace.intern_string("a.py") == 2
    trace.close()


def test_table_is_a_mapping() -> None:
    table = InternTable()
    table["a"] = 5
    assert (table["a"], "a" in table, dict(table.items()), len(table)) == (5, True, {"a": 5}, 6)
    table["a"] = 7
    assert (table.explain(5), table.explain(7)) == (None, "a")
    del table["a"]
    with pytest.raises(KeyError):
        table["a"]
    with pytest.raises(KeyError):
        del table["a"]


def test_number_stands_for_one_string_only(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    number = trace.intern_string("a.py")
    trace.trace_structured("str", lambda: ("a.py", number), suppress_context=True)
    warnings = shown(lambda: trace.trace_structured("str", lambda: ("b.py", number), suppress_context=True))
    assert "a second string" in warnings
    trace.trace_structured("str", lambda: ("c.py", 77), payload_fn=lambda: "unread", suppress_context=True)
    assert trace.intern_string("c.py") == 77
    assert trace.intern_string("d.py") == 78
    explained = [record.fields["str"] for record in read_file(file_of(trace))]
    assert explained == [["a.py", number], ["c.py", 77], ["d.py", 78]]
    trace.close()


def test_threads_agree_on_the_numbers(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    found: list[list[int]] = []

    def intern() -> None:
        found.append([trace.intern_string(f"{index}.py") for index in range(200)])

    threads = [threading.Thread(target=intern) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(numbers == found[0] for numbers in found)
    explained = [record.fields["str"] for record in read_file(file_of(trace))]
    assert sorted(explained, key=lambda pair: pair[1]) == [[f"{i}.py", n] for i, n in enumerate(found[0])] or (
        sorted(number for _, number in explained) == sorted(found[0])
    )
    trace.close()
