"""`complog stub`: a stub file for type checkers and editors, with the keywords of this environment in it."""

from __future__ import annotations

import argparse
import sys

from complog import default_system
from complog_core.stubs import set_logs_stub


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `stub` to the commands."""
    about = "write a stub file in which set_logs and logs have every keyword of this environment"
    parser = commands.add_parser(
        "stub",
        help=about,
        description=f"{about}; type checkers look for it in complog/__init__.pyi below a directory of stubs",
    )
    parser.add_argument(
        "--output", metavar="FILE", help="the file to write; its directory is created (default: stdout)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the stub; return 1, saying why, if that is impossible."""
    text = set_logs_stub(default_system.registry, default_system.keywords, prefix=default_system.prefix)
    if options.output in (None, "-"):
        print(text, end="")
        return 0
    from pathlib import Path

    file = Path(options.output)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"complog stub: {file}: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0
