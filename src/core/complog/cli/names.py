"""`complog names`: every registered name, one a line, or as JSON for other programs."""

from __future__ import annotations

import argparse
from typing import Any

from complog import default_system
from complog_core.model import Artifact, Component
from complog_core.registry import Entry, Registry
from complog_core.wording import flatten, providers

from ._output import align, print_json, report_bad_settings


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `names` to the commands."""
    about = "list every registered name: its kind, who contributes it, flags and loggers"
    parser = commands.add_parser("names", help=about, description=about)
    parser.add_argument("--json", action="store_true", help="a JSON list of objects")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the names; return 0."""
    registry = default_system.registry
    report_bad_settings()
    if options.json:
        print_json([describe(entry, registry) for entry in registry.entries])
    else:
        for line in align([_row(entry) for entry in registry.entries]):
            print(line)
    return 0


def describe(entry: Entry, registry: Registry) -> dict[str, Any]:
    """Return what is known of a name, in values that JSON has.

    >>> from complog_core.model import PluginInfo
    >>> registry = Registry.build([(PluginInfo("x", "complog-x"), Component("tiler", "x.tiler"))])
    >>> describe(registry.entries[0], registry)["distributions"]
    ['complog-x']
    """
    item = entry.item
    return {
        "name": entry.name,
        "kind": entry.kind,
        "spellings": list(entry.spellings),
        "ambiguous": len(registry.lookup(entry.name)) > 1,
        "distributions": list(dict.fromkeys(owner.distribution for owner in entry.owners)),
        "description": item.description,
        "visible": isinstance(item, Component) or item.visible,
        "off_by_default": isinstance(item, Artifact) and item.off_by_default,
        "loggers": list(item.loggers) if isinstance(item, Component) else [],
    }


def _row(entry: Entry) -> tuple[str, ...]:
    item = entry.item
    flags = []
    if isinstance(item, Artifact):
        flags = ["visible"] * item.visible + ["off-by-default"] * item.off_by_default
    loggers = f" (loggers: {', '.join(item.loggers)})" if isinstance(item, Component) else ""
    spellings = " ".join(entry.spellings)
    description = f"{flatten(item.description)}{loggers}".strip()
    return entry.name, entry.kind, providers(entry.owners), ",".join(flags), spellings, description
