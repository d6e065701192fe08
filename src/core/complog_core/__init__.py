"""The engine of complog: everything is defined here, and importing it does nothing else.

Plugins import their vocabulary from this package; `complog` assembles the default system from it.
"""

from typing import TYPE_CHECKING, Any

from .errors import (
    ComplogError,
    FormatError,
    HelpRequested,
    OutputError,
    OwnershipError,
    PluginError,
    SettingsError,
)
from .formatters import GlogFormatter
from .hookspecs import hookimpl
from .launcher import find_launcher_rank
from .model import (
    OFF,
    Artifact,
    Component,
    Field,
    Keyword,
    LogState,
    Outputs,
    PluginInfo,
    RecordDescriber,
    Setting,
    TraceRecord,
)
from .modules import find_loaded
from .rendering import settle_message, warn_once
from .report import warn
from .system import LogSystem
from .version import VERSION

if TYPE_CHECKING:
    from .lazy import LazyString, hide_warnings, warning_once

__version__ = VERSION


def __getattr__(name: str) -> Any:
    # what many programs never use is imported at its first use
    if name in ("LazyString", "hide_warnings", "warning_once"):
        from . import lazy

        return globals().setdefault(name, getattr(lazy, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "OFF",
    "Artifact",
    "ComplogError",
    "Component",
    "Field",
    "FormatError",
    "GlogFormatter",
    "HelpRequested",
    "Keyword",
    "LazyString",
    "LogState",
    "LogSystem",
    "OutputError",
    "Outputs",
    "OwnershipError",
    "PluginError",
    "PluginInfo",
    "RecordDescriber",
    "Setting",
    "SettingsError",
    "TraceRecord",
    "__version__",
    "find_launcher_rank",
    "find_loaded",
    "hide_warnings",
    "hookimpl",
    "settle_message",
    "warn",
    "warn_once",
    "warning_once",
]
