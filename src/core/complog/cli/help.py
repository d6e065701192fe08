"""`complog help`: the page that TORCH_LOGS=help shows."""

from __future__ import annotations

import argparse

from complog import default_system


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `help` to the commands."""
    about = "show how settings are written, and every name with its description and distribution"
    parser = commands.add_parser("help", help=about, description=about)
    parser.add_argument("--all", action="store_true", help="also the artifacts of minor interest, flags and loggers")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the page, whatever TORCH_LOGS holds; return 0."""
    print(default_system.help_message(verbose=options.all), end="")
    return 0
