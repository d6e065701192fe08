"""The command line `complog`: which command runs, and how it ends; each command has a file of its own."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Final

from . import help as help_command
from . import names, plugins, stub

COMMANDS: Final = (help_command, names, plugins, stub)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command with `argv` (None: sys.argv[1:]) and return the exit status: 0, 1 for a failure, 2 for bad usage.

    >>> main(["names", "--json", "--no-such-option"])
    Traceback (most recent call last):
        ...
    SystemExit: 2
    """
    _accept_every_letter()
    # whoever asks which plugins are broken has to get an answer
    strict = os.environ.pop("COMPLOG_STRICT_PLUGINS", None)
    try:
        try:
            return _run(argv)
        except SystemExit:
            # argparse leaves by itself after --help; what it wrote has to get out while that can still be caught
            sys.stdout.flush()
            raise
    except BrokenPipeError:
        # the reader, `head` say, has seen enough; the interpreter would complain when it flushes at exit
        _discard_stdout()
        return 0
    except KeyboardInterrupt:
        return 130
    finally:
        if strict is not None:
            os.environ["COMPLOG_STRICT_PLUGINS"] = strict


def _run(argv: Sequence[str] | None) -> int:
    parser = _build_parser()
    options = parser.parse_args(argv)
    status = 0
    if options.version:
        print(f"complog {_find_version()}")
    elif options.run is None:
        parser.print_help()
    else:
        status = int(options.run(options))
    sys.stdout.flush()
    return status


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="complog",
        description="Shows what TORCH_LOGS can say in this environment, and which installed package contributes what.",
    )
    parser.add_argument("--version", action="store_true", help="show the version and end")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(title="commands", metavar="<command>")
    for command in COMMANDS:
        command.add_command(commands)
    return parser


def _accept_every_letter() -> None:
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _find_version() -> str:
    from importlib_metadata import PackageNotFoundError, version

    try:
        return version("complog")
    except PackageNotFoundError:
        return "(not installed)"


def _discard_stdout() -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        pass  # not a real file: then nothing is flushed to it either
