"""Tables: the rows that `tabulate` prints, as an FX graph's nodes are, become a table of rich's."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.style import Style
from rich.table import Table
from rich.text import Text

from .pieces import Piece

_RULE: Final = re.compile(r"[ \t]*-{2,}(?: {2}-+)+[ \t]*")
_GAP: Final = re.compile(r"(?<=\S) +(?=\S)")
_COLUMNS: Final = ("cyan", "green", "yellow", "magenta", "blue")
_VAST: Final = 1_000_000
"""More columns than any row has: a terminal wraps what is too wide for it, so that it can be copied in one piece."""

_MOST_CELLS: Final = 10_000
"""A larger table is left as it is: drawing it takes about a second for each so many cells."""

_ASIDE: Final = Style(dim=True)


class Found(NamedTuple):
    """A table among lines: where it begins and ends, the cells of its head and its rows.

    `title` is what stands on the line of the head, before it: PyTorch puts a file's name there.
    """

    start: int
    end: int
    rows: tuple[tuple[str, ...], ...]
    title: str = ""


def find_tables(lines: Sequence[str]) -> list[Found]:
    """Return the tables that stand in the lines: a head, a rule of dashes, and rows in the columns of the rule.

    >>> [found.rows for found in find_tables(["op    name", "----  ----", "call  mul", "", "x"])]
    [(('op', 'name'), ('call', 'mul'))]
    """
    found: list[Found] = []
    done = 0
    for at, rule in enumerate(lines):
        if at <= done or not rule.lstrip(" \t").startswith("--") or not _RULE.fullmatch(rule):
            continue
        columns = [match.span() for match in re.finditer("-+", rule)]
        title, head = _find_head(lines[at - 1], columns)
        cells = [head]
        end = at + 1
        while end < len(lines) and (row := _cut(lines[end], columns)) is not None:
            cells.append(row)
            end += 1
        rows = tuple(row for row in cells if row is not None)
        if len(rows) == len(cells) > 1 and len(rows) * len(columns) <= _MOST_CELLS:
            found.append(Found(at - 1, end, rows, title))
        done = max(done, end if head is not None else 0)
    return found


def _find_head(line: str, columns: Sequence[tuple[int, int]]) -> tuple[str, tuple[str, ...] | None]:
    title, head = "", _cut(line, columns)
    if head is None:
        # the head ends in the last column, which leaves few places where it can begin
        first, last = (len(line) + columns[0][0] - end for end in reversed(columns[-1]))
        for match in _GAP.finditer(line, max(0, first - 1), max(0, last)):
            shifted = _cut(" " * columns[0][0] + line[match.end() :], columns)
            if shifted is not None and all(shifted):
                title, head = line[: match.end() - 1], shifted
    return title, head


def _cut(line: str, columns: Sequence[tuple[int, int]]) -> tuple[str, ...] | None:
    """Return the cells of a row, None where it does not keep to the columns."""
    cells = tuple(line[start:end] for start, end in columns)
    rest = list(line)
    for start, end in columns:
        rest[start:end] = " " * len(rest[start:end])
    return None if not line.strip() or "\t" in line or "".join(rest).strip() else tuple(cell.strip() for cell in cells)


def draw_table(rows: Sequence[Sequence[str]], *, wide: bool) -> list[list[Piece]]:
    """Return the lines of a table as pieces; its first row is the head. `wide`: its frame may be other than ASCII.

    >>> ["".join(text for text, _ in line) for line in draw_table([("op", "n"), ("mul", "1")], wide=False)]
    ['+---------+', '| op  | n |', '|-----+---|', '| mul | 1 |', '+---------+']
    """
    table = Table(box=box.ROUNDED if wide else box.ASCII, border_style=_ASIDE, safe_box=False)
    head, *others = rows
    for position, name in enumerate(head):
        style = _COLUMNS[position] if position < len(_COLUMNS) else ""
        table.add_column(Text(name), style=style, header_style="bold", no_wrap=True, overflow="ignore")
    for row in others:
        table.add_row(*map(Text, row))
    # one for each table: a console has a lock, which a forked child might find held
    console = Console(
        file=io.StringIO(), width=_VAST, height=25, color_system=None, force_jupyter=False, legacy_windows=False
    )
    width = Measurement.get(console, console.options, table).maximum
    lines = console.render_lines(table, console.options.update_width(width), pad=False)
    return [[(segment.text, segment.style) for segment in line if not segment.control] for line in lines]
