"""What the commands share: aligned columns, JSON, and the note about a TORCH_LOGS that cannot be used."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import complog
from complog_core.wording import flatten


def report_bad_settings() -> None:
    """Tell in one line on stderr what is wrong with the variables; a wish for help is no fault."""
    try:
        complog.init_logs(strict=True)
    except complog.HelpRequested:
        pass
    except complog.SettingsError as error:
        more = f" (and {len(error.problems) - 1} more)" if len(error.problems) > 1 else ""
        print(f"complog: note: {error.source}: {flatten(error.problems[0])}{more}", file=sys.stderr)


def print_json(value: object) -> None:
    """Print a value as JSON with one space of indentation per level."""
    import json

    print(json.dumps(value, indent=1))


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a line per row with its cells in columns, two spaces apart.

    >>> align([("a", "bb"), ("ccc", "d")])
    ['a    bb', 'ccc  d']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
