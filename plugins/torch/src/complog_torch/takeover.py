"""Puts complog's engine behind the doors of `torch._logging`, and takes it away again."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any, Final

from complog_core import LogState, LogSystem, report, startup
from complog_core.handlers import ComplogHandler

from .adoption import RegistryExchange, tell_names_only
from .dynamo import skip_own_frames
from .imports import after_import, stop_waiting
from .redirect import Redirection, find_stock
from .state import StateExchange
from .tracing import TraceExchange

DOORS: Final = (
    "_init_logs",
    "_is_torch_handler",
    "configure_artifact_log",
    "get_loggers",
    "help_message",
    "register_artifact",
    "register_log",
    "set_logs",
    "trace_structured",
)
NEEDED: Final = (
    *DOORS,
    "DTRACE_ENV_VAR",
    "LOG_ENV_VAR",
    "LOG_OUT_ENV_VAR",
    "LOG_TRACE_HANDLER",
    "LazyTraceHandler",
    "LogState",
    "TRACE_ENV_VAR",
    "TorchLogsFormatter",
    "handlers",
    "log_registry",
    "log_state",
    "structured_logging_overhead",
    "trace_log",
)

_bridge: Bridge | None = None


class Bridge:
    """One takeover: the doors that are open, and what has to be put back when they are shut."""

    def __init__(self, system: LogSystem, internal: Any) -> None:
        self.system = system
        self.internal = internal
        self.names = RegistryExchange(system, internal.log_registry)
        self.states = StateExchange(internal)
        self.traces = TraceExchange(system, internal)
        self._redirections: list[Redirection] = []

    def open(self) -> None:
        """Adopt what PyTorch has registered and redirect the doors."""
        functions = {name: find_stock(self.internal, name) for name in DOORS}
        lost = [name for name, function in functions.items() if function is None]
        if lost:
            raise RuntimeError(f"somebody else has replaced {', '.join(lost)}")
        self.system.planner.left_alone = frozenset()
        self.names.start()
        for name in list(self.internal.log_registry.artifact_log_qnames):
            self._adopt(logging.getLogger(name))
        self.system.after_change = self._show
        for name, function in functions.items():
            if function is not None:
                self._redirections.append(Redirection(function, getattr(self, f"_{name.lstrip('_')}")))
        self._drop_stock_handlers()
        self.traces.start()
        self._describe()
        after_import("torch._dynamo.trace_rules", lambda: skip_own_frames(self.system))

    def shut(self) -> None:
        """Put everything back; stock functions and objects are in place afterwards."""
        while self._redirections:
            self._redirections.pop().undo()
        stop_waiting()
        self.system.after_change = None
        self.traces.stop()
        self.names.stop()
        self.states.stop()
        self.system.planner.left_alone = frozenset({"torch"})
        self.system.logs_variable, self.system.out_variable = "TORCH_LOGS", "TORCH_LOGS_OUT"
        self.system.default_path = None
        self.system.adoption = None
        # names that only PyTorch registered are unknown from here on, which is nobody's mistake
        report.set_quiet(True)
        try:
            self.system.reassemble()
        finally:
            report.set_quiet(startup.in_worker())

    # -- the doors

    def _init_logs(self, log_file_name: str | None = None) -> None:
        self.names.follow()
        request = self.states.read_change()
        if request is not None:
            self.system.assume(request)
        self.system.logs_variable = self.internal.LOG_ENV_VAR
        self.system.out_variable = self.internal.LOG_OUT_ENV_VAR
        self.system.default_path = log_file_name
        try:
            self.system.init_logs(strict=startup.may_raise())
        finally:
            self.traces.set_up()

    def _set_logs(self, settings: str | None = None, /, **names: Any) -> None:
        self.system.set_logs(settings, **names)

    def _trace_structured(self, *arguments: Any, **named: Any) -> None:
        self.system.trace.trace_structured(*arguments, **named)

    def _get_loggers(self) -> list[logging.Logger]:
        return self.system.get_loggers()

    def _help_message(self, verbose: bool = False) -> str:
        return self.system.help_message(verbose)

    def _register_log(self, setting_name: str, log_name: str | list[str]) -> None:
        self.internal.log_registry.register_log(setting_name, log_name)

    def _register_artifact(
        self,
        setting_name: str,
        description: str,
        visible: bool = False,
        off_by_default: bool = False,
        log_format: str | None = None,
    ) -> None:
        registry = self.internal.log_registry
        registry.register_artifact_name(setting_name, description, visible, off_by_default, log_format)

    def _configure_artifact_log(self, log: logging.Logger) -> None:
        self._adopt(log)

    def _is_torch_handler(self, handler: logging.Handler) -> bool:
        return isinstance(handler, ComplogHandler) or handler in self.internal.handlers

    # -- behind them

    def _adopt(self, logger: logging.Logger) -> None:
        artifact = str(getattr(logger, "artifact_name", ""))
        self.system.adopt_artifact_logger(logger, logger.name.removesuffix(f".__{artifact}"), artifact)

    def _show(self, state: LogState) -> None:
        self.states.show(state, self.system.request)
        self.names.tell()
        self._describe()

    def _describe(self) -> None:
        set_logs = self.system.set_logs
        for redirection in self._redirections:
            function = redirection.function
            if function.__name__ == "set_logs" and function.__doc__ is not set_logs.__doc__:
                function.__doc__ = set_logs.__doc__
                vars(function)["__wrapped__"] = set_logs

    def _drop_stock_handlers(self) -> None:
        stock = self.internal.handlers
        for name in self.internal.log_registry.get_log_qnames():
            logger = logging.getLogger(name)
            if any(handler in stock for handler in logger.handlers):
                logger.handlers = [handler for handler in logger.handlers if handler not in stock]


for _name in DOORS:
    # who calls one with wrong arguments is told so by the name that they called
    getattr(Bridge, f"_{_name.lstrip('_')}").__qualname__ = _name


def was_initialised() -> bool:
    """Return whether PyTorch has set up its logging already, as before 2.13 when it calls its entry points."""
    return sys.modules["torch._logging._internal"].LOG_TRACE_HANDLER is not None


def take_over() -> str:
    """Put complog behind the doors; return "" or why that cannot be. Any fault leaves everything as it was."""
    global _bridge
    internal: Any = sys.modules["torch._logging._internal"]
    startup.hold_start()
    from complog import default_system

    missing = [name for name in NEEDED if not hasattr(internal, name)]
    if missing:
        if hasattr(internal, "log_registry"):
            tell_names_only(default_system, internal.log_registry)
        return f"this PyTorch's logging is not the one that is known (it has no {', '.join(missing)})"
    bridge = Bridge(default_system, internal)
    try:
        bridge.open()
    except BaseException:
        bridge.shut()
        raise
    _bridge = bridge
    return ""


def apply_now() -> None:
    """Configure as PyTorch's `_init_logs` does at the end of its import."""
    sys.modules["torch._logging._internal"]._init_logs()


def give_back() -> None:
    """Shut the doors, and let stock PyTorch configure its loggers."""
    global _bridge
    bridge, _bridge = _bridge, None
    if bridge is not None:
        bridge.shut()
        _configure_stock(bridge.internal)


def _configure_stock(internal: Any) -> None:
    """Let stock PyTorch configure its loggers, by its defaults where it refuses what only complog understands."""
    variable, state = internal.LOG_ENV_VAR, internal.log_state
    text = os.environ.get(variable)
    try:
        if text is None or text.strip():
            internal._init_logs()
            return
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        report.warn(f"stock PyTorch does not take {variable}={text!r} ({reason}); its loggers keep what was set")
    internal.log_state = state
    internal.LOG_ENV_VAR = f"{variable}_OF_STOCK_PYTORCH"
    try:
        internal._init_logs()
    finally:
        internal.LOG_ENV_VAR = variable
