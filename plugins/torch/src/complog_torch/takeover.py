"""Puts complog's engine behind the doors of `torch._logging`, and takes it away again."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from complog_core import LogState, LogSystem, Setting, startup
from complog_core.arguments import Request
from complog_core.handlers import ComplogHandler
from complog_core.model import OFF

from .adoption import read_registrations, tell_names

_DOORS: Final = ("_init_logs", "set_logs", "register_log", "register_artifact")
_INTERNAL_DOORS: Final = (
    *_DOORS,
    "configure_artifact_log",
    "get_loggers",
    "help_message",
    "_is_torch_handler",
)
_NEEDED: Final = (
    *_INTERNAL_DOORS,
    "LOG_TRACE_HANDLER",
    "LazyTraceHandler",
    "LogState",
    "TorchLogsFormatter",
    "handlers",
    "log_registry",
    "log_state",
    "trace_log",
)

_stock: dict[tuple[str, str], Any] = {}
_told: set[tuple[str, str]] = set()
_shown: tuple[Any, dict[str, int], set[str]] | None = None


def take_over(*, initialised: bool) -> str:
    """Put complog behind the doors; return "" or why that cannot be. `initialised`: PyTorch has set up its loggers."""
    internal = sys.modules["torch._logging._internal"]
    package = sys.modules["torch._logging"]
    missing = [name for name in _NEEDED if not hasattr(internal, name)]
    if missing:
        return f"this PyTorch's logging is not the one that is known (no {', '.join(missing)})"
    system = _default_system()
    try:
        _adopt(system, internal)
        doors = _make_doors(system, internal)
        for module, names in ((internal, _INTERNAL_DOORS), (package, _DOORS)):
            for name in names:
                if not hasattr(module, name):
                    continue
                _stock[(module.__name__, name)] = getattr(module, name)
                setattr(module, name, doors[name])
        if initialised:
            _drop_stock_handlers(internal)
    except BaseException:
        _restore_doors()
        _leave_alone(system)
        raise
    return ""


def apply_now() -> None:
    """Configure as PyTorch's `_init_logs` does at the end of its import."""
    sys.modules["torch._logging._internal"]._init_logs()


def give_back() -> None:
    """Put the stock functions back and let them configure PyTorch's loggers."""
    internal = sys.modules["torch._logging._internal"]
    system = _default_system()
    _restore_doors()
    for kind, name in _told:
        _forget_name(internal.log_registry, kind, name)
    _told.clear()
    _leave_alone(system)
    internal._init_logs()


def show_state(state: LogState) -> None:
    """Let `torch._logging._internal.log_state` say what complog's state says."""
    global _shown
    internal = sys.modules["torch._logging._internal"]
    levels = {
        name: min(level, logging.CRITICAL + 10) if level == OFF else level for name, level in state.levels.items()
    }
    artifacts = {name for name, on in state.artifacts.items() if on and "/" not in name}
    face = internal.LogState(dict(levels), set(artifacts))
    internal.log_state = face
    _shown = (face, dict(levels), set(artifacts))


def _default_system() -> LogSystem:
    startup.hold_start()
    from complog import default_system

    return default_system


def _adopt(system: LogSystem, internal: Any) -> None:
    version = getattr(sys.modules.get("torch.version"), "__version__", "")
    system.planner.left_alone = frozenset()
    system.adoption = read_registrations(internal.log_registry, version, _told)
    system.reassemble()
    _told.update(tell_names(internal.log_registry, system.registry))
    for name in list(internal.log_registry.artifact_log_qnames):
        _adopt_artifact_logger(system, logging.getLogger(name))


def _adopt_artifact_logger(system: LogSystem, logger: logging.Logger) -> None:
    artifact = getattr(logger, "artifact_name", "")
    module = logger.name.removesuffix(f".__{artifact}")
    system.adopt_artifact_logger(logger, module, artifact)


def _make_doors(system: LogSystem, internal: Any) -> Mapping[str, Callable[..., Any]]:
    def _init_logs(log_file_name: str | None = None) -> None:
        _follow_registry(system, internal)
        request = _read_changed_state(internal)
        if request is not None:
            system.assume(request)
        try:
            system.init_logs(strict=not startup.in_worker())
        finally:
            _set_up_trace(internal)

    def register_log(setting_name: str, log_name: str | list[str]) -> None:
        internal.log_registry.register_log(setting_name, log_name)
        _follow_registry(system, internal)

    def register_artifact(
        setting_name: str,
        description: str,
        visible: bool = False,
        off_by_default: bool = False,
        log_format: str | None = None,
    ) -> None:
        internal.log_registry.register_artifact_name(setting_name, description, visible, off_by_default, log_format)
        _follow_registry(system, internal)

    def configure_artifact_log(log: logging.Logger) -> None:
        if not system.registry.artifacts(getattr(log, "artifact_name", "")):
            _follow_registry(system, internal)
        _adopt_artifact_logger(system, log)

    def _is_torch_handler(handler: logging.Handler) -> bool:
        return isinstance(handler, ComplogHandler) or handler in internal.handlers

    return {
        "_init_logs": _init_logs,
        "set_logs": system.set_logs,
        "register_log": register_log,
        "register_artifact": register_artifact,
        "configure_artifact_log": configure_artifact_log,
        "get_loggers": system.get_loggers,
        "help_message": system.help_message,
        "_is_torch_handler": _is_torch_handler,
    }


def _follow_registry(system: LogSystem, internal: Any) -> None:
    version = getattr(sys.modules.get("torch.version"), "__version__", "")
    adoption = read_registrations(internal.log_registry, version, _told)
    if adoption != system.adoption:
        system.adoption = adoption
        system.reassemble()
        _told.update(tell_names(internal.log_registry, system.registry))


def _read_changed_state(internal: Any) -> Request | None:
    """Return what somebody made of PyTorch's state object since it was shown, None where nothing was changed."""
    if _shown is None:
        return None
    face, levels, artifacts = _shown
    now = internal.log_state
    if now is face and now.log_qname_to_level == levels and now.artifact_names == artifacts:
        return None
    settings = [Setting(name, int(level), name) for name, level in now.log_qname_to_level.items()]
    settings += [Setting(name, logging.DEBUG, name) for name in sorted(now.artifact_names)]
    return Request(tuple(settings))


def _set_up_trace(internal: Any) -> None:
    directory = os.environ.get(internal.TRACE_ENV_VAR)
    if directory is None and os.environ.get("TORCH_COMPILE_DEBUG", "0") == "1":
        from torch._dynamo import config  # type: ignore[import-not-found]

        directory = os.path.join(config.debug_dir_root, "tlparse")
    detailed = os.environ.get(internal.DTRACE_ENV_VAR)
    if detailed:
        internal.GET_DTRACE_STRUCTURED = True
        directory = detailed
    if internal.LOG_TRACE_HANDLER is None:
        internal.LOG_TRACE_HANDLER = internal.LazyTraceHandler(directory)
    trace, handler = internal.trace_log, internal.LOG_TRACE_HANDLER
    trace.propagate = False
    trace.setLevel(logging.DEBUG)
    # logging.disable() does not stop a trace
    trace.isEnabledFor = lambda level: level >= trace.level
    internal.handlers.add(handler)
    handler.setFormatter(internal.TorchLogsFormatter(trace=True))
    trace.addHandler(handler)


def _drop_stock_handlers(internal: Any) -> None:
    names = internal.log_registry.get_log_qnames()
    for name in names:
        logger = logging.getLogger(name)
        logger.handlers = [handler for handler in logger.handlers if handler not in internal.handlers]


def _leave_alone(system: LogSystem) -> None:
    system.planner.left_alone = frozenset({"torch"})
    system.adoption = None
    system.reassemble()


def _restore_doors() -> None:
    for (module, name), value in _stock.items():
        setattr(sys.modules[module], name, value)
    _stock.clear()


def _forget_name(registry: Any, kind: str, name: str) -> None:
    if kind == "component":
        registry.log_alias_to_log_qnames.pop(name, None)
        return
    for names in (registry.artifact_names, registry.visible_artifacts, registry.off_by_default_artifact_names):
        names.discard(name)
    registry.artifact_descriptions.pop(name, None)
    registry.artifact_log_formatters.pop(name, None)
