"""`complog plugins`: what became of each installed plugin, what it contributes, and why one failed."""

from __future__ import annotations

import argparse
from typing import Any

from complog import default_system
from complog_core.loading import Plugin
from complog_core.wording import flatten

from ._output import print_json, report_bad_settings


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `plugins` to the commands."""
    about = "list the plugins with what each contributes; failed ones with cause and traceback"
    parser = commands.add_parser("plugins", help=about, description=about)
    parser.add_argument("--json", action="store_true", help="a JSON list of objects")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the plugins; return 0 also where some failed."""
    plugins = default_system.list_loaded()
    report_bad_settings()
    if options.json:
        print_json([describe(plugin) for plugin in plugins])
    else:
        for plugin in plugins:
            print("\n".join(_lines(plugin)))
    return 0


def describe(plugin: Plugin) -> dict[str, Any]:
    """Return what is known of a plugin, in values that JSON has.

    >>> from complog_core.model import PluginInfo
    >>> describe(Plugin(PluginInfo("onnx", "complog-onnx", "0.1.0")))["plugin"]
    'complog-onnx[onnx] 0.1.0'
    """
    info = plugin.info
    return {
        "plugin": str(info),
        "family": info.family,
        "distribution": info.distribution,
        "version": info.version,
        "value": info.value,
        "status": info.status,
        "contributes": count(plugin),
        "notes": list(info.notes),
        "cause": info.cause,
        "traceback": info.traceback,
    }


def count(plugin: Plugin) -> dict[str, int]:
    """Return how many things of each kind a plugin contributes."""
    return {
        "components": len(plugin.components),
        "artifacts": len(plugin.artifacts),
        "keywords": len(plugin.keywords),
        "formats": len(plugin.formatters),
        "variables": len(plugin.env_vars),
        "hooks": sum(len(functions) for functions in plugin.hooks.values()),
    }


def _lines(plugin: Plugin) -> list[str]:
    info = plugin.info
    if info.status == "loaded":
        counted = [
            f"{number} {what.removesuffix('s') if number == 1 else what}"
            for what, number in count(plugin).items()
            if number
        ]
        about = ", ".join(counted) or "contributes nothing"
    else:
        about = flatten(info.cause)
    lines = [f"{info}  {info.status}: {about}" if about else f"{info}  {info.status}"]
    lines += [f"    note: {flatten(note)}" for note in info.notes]
    lines += [f"    {line}".rstrip() for line in info.traceback.splitlines()]
    return lines
