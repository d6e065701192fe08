"""The default system: prefix TORCH, entry-point group `complog`, assembled and configured when this is imported.

Settings errors in the variables are raised as the last act of the import, and a later import then succeeds with
nothing set. The functions here are the methods of `default_system`.

>>> import complog
>>> with complog.logs(torch="INFO"):
...     complog.current_state().level("torch.anything")
20
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from complog_core import (
    OFF,
    Artifact,
    ComplogError,
    Component,
    Field,
    FormatError,
    GlogFormatter,
    HelpRequested,
    Keyword,
    LogState,
    LogSystem,
    OutputError,
    Outputs,
    OwnershipError,
    PluginError,
    PluginInfo,
    RecordDescriber,
    Setting,
    SettingsError,
    TraceRecord,
    __version__,
    find_launcher_rank,
    find_loaded,
    hookimpl,
    settle_message,
    warn,
    warn_once,
)
from complog_core import startup as _startup

from ._default import default_system, start

if TYPE_CHECKING:
    from complog_core import LazyString, hide_warnings, warning_once

    DEFAULT_LOGGING: dict[str, Any]
    set_logs = default_system.set_logs
    logs = default_system.logs

init_logs = default_system.init_logs
current_state = default_system.current_state
is_enabled = default_system.is_enabled
getArtifactLogger = default_system.getArtifactLogger
register_log = default_system.register_log
register_artifact = default_system.register_artifact
get_loggers = default_system.get_loggers
help_message = default_system.help_message
list_plugins = default_system.list_plugins
trace_structured = default_system.trace.trace_structured
trace_structured_artifact = default_system.trace.trace_structured_artifact
dtrace_structured = default_system.trace.dtrace_structured
intern_string = default_system.trace.intern_string
from_traceback = default_system.trace.from_traceback
dump_file = default_system.trace.dump_file
get_structured_logging_overhead = default_system.trace.get_structured_logging_overhead
set_trace = default_system.trace.set_trace


def __getattr__(name: str) -> Any:
    if name == "DEFAULT_LOGGING":
        from .known import default_logging

        return default_logging(default_system.registry.names())
    # what many programs never use is made, or imported, at its first use
    if name in ("set_logs", "logs"):
        return globals().setdefault(name, getattr(default_system, name))
    if name in ("LazyString", "hide_warnings", "warning_once"):
        import complog_core

        return globals().setdefault(name, getattr(complog_core, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "DEFAULT_LOGGING",
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
    "current_state",
    "default_system",
    "dtrace_structured",
    "dump_file",
    "find_launcher_rank",
    "find_loaded",
    "from_traceback",
    "getArtifactLogger",
    "get_loggers",
    "get_structured_logging_overhead",
    "help_message",
    "hide_warnings",
    "hookimpl",
    "init_logs",
    "intern_string",
    "is_enabled",
    "list_plugins",
    "logs",
    "register_artifact",
    "register_log",
    "set_logs",
    "set_trace",
    "settle_message",
    "trace_structured",
    "trace_structured_artifact",
    "warn",
    "warn_once",
    "warning_once",
]

# the last act: whatever it raises, everything above is defined, also for a plugin that imports complog meanwhile
start(_startup)
