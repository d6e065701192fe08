"""docs/benchmarks.md shows what benchmarks/ measures, all of it, and the arithmetic behind it is right."""

from __future__ import annotations

import doctest
import re

import pytest
from benchmarks import measuring, report
from tests.docs.documents import read
from tests.docs.sandbox import ROOT

PAGE = "docs/benchmarks.md"
SUPPORT = {"measuring", "report", "systems", "workers"}


def find_tables() -> dict[str, list[list[str]]]:
    """Return the rows of each table, cells stripped, the heading first, by the benchmark that the section names."""
    tables = {}
    for section in re.split(r"^## ", read(PAGE), flags=re.MULTILINE)[1:]:
        named = re.search(r"\(\.\./benchmarks/(\w+)\.py\)", section)
        lines = [line for line in section.splitlines() if line.startswith("| ")]
        if named:
            tables[named[1]] = [[cell.strip() for cell in line.strip("|").split(" |")] for line in lines]
    return tables


def test_page_shows_every_benchmark() -> None:
    files = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - SUPPORT
    tables = find_tables()
    assert set(tables) == files
    assert all(len(table) > 1 for table in tables.values())


def test_page_is_read_as_the_benchmarks_say() -> None:
    assert read(PAGE).startswith(report.BEGINNING)
    assert report.EXPLANATION in read(PAGE)


def test_a_part_is_renewed_only_where_the_rest_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    before = read(PAGE)
    monkeypatch.setattr("sys.argv", ["report.py", "lnes"])
    with pytest.raises(SystemExit, match=r"no benchmark is called lnes; there are disabled_calls, lines, "):
        report.main()
    monkeypatch.setattr("sys.argv", ["report.py", "lines"])
    monkeypatch.setattr(report, "describe_machine", lambda: "Measured on: a wax tablet\n")
    with pytest.raises(SystemExit, match="measured elsewhere"):
        report.main()
    assert read(PAGE) == before


def test_figures_to_reach_have_a_mark_and_others_have_none() -> None:
    for name, (heading, *rows) in find_tables().items():
        for row in rows:
            assert len(row) == len(heading), (name, row)
            cells = dict(zip(heading, row, strict=True))
            assert (cells[""] in ("✓", "✗", "?")) == bool(cells["reach"]), (name, row)


def test_marks_agree_with_the_figures() -> None:
    compared = 0
    for name, (heading, *rows) in find_tables().items():
        for row in rows:
            cells = dict(zip(heading, row, strict=True))
            limit = re.fullmatch(r"<= ([\d.]+)", cells["reach"])
            value = re.match(r"[\d.,]+", cells["complog"])
            if limit and value and cells[""] != "?":
                compared += 1
                is_reached = float(value[0].replace(",", "")) <= float(limit[1])
                assert cells[""] == ("✓" if is_reached else "✗"), (name, row)
    assert compared > 12


def test_page_says_what_it_was_measured_on() -> None:
    page = " ".join(read(PAGE).split())
    assert re.search(r"Measured on: .+, \d+ cores, \w+ \S+, CPython 3\.\d+\.\d+; .*\btorch 2\.", page)
    assert (ROOT / "docs" / "set_logs.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_examples_of_the_measuring_functions_are_true() -> None:
    assert doctest.testmod(measuring).attempted > 5
    assert doctest.testmod(measuring).failed == 0


def test_instructions_of_called_functions_count_too() -> None:
    def call() -> int:
        return 1 + 1

    def call_often() -> None:
        for _ in range(10):
            call()

    alone, often = measuring.count_instructions(call), measuring.count_instructions(call_often)
    assert alone > 0
    assert often > 10 * alone


@pytest.mark.parametrize(("large", "expected"), [(40, 1.0), (160, 2.0), (10, 0.0)])
def test_exponent_is_that_of_the_growth(large: float, expected: float) -> None:
    assert measuring.exponent(10, large, 4) == pytest.approx(expected)
