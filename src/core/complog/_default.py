"""The one default system of the process, and the way it starts; it outlives a failed import of `complog`."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from complog_core import HelpRequested, LogSystem, PluginError, SettingsError, report

from . import builtin
from .stock_torch import (
    is_initializing,
    is_known_to_torch,
    is_torch_under_way,
    warn_of_refusals,
    why_torch_keeps_its_loggers,
)

default_system: Final = LogSystem("TORCH", "complog", [builtin])
default_system.always_on = True
default_system.deferred = True

startup_error: SettingsError | HelpRequested | PluginError | None = None
"""What the variables' settings were refused for at start, where the program reports that itself."""

_started = False


def start(startup: ModuleType) -> None:
    """Load the plugins and apply the environment, once per process; raise what is wrong with the variables.

    The command line and the pytest plugin find it in `startup_error` instead. In processes that PyTorch starts to
    compile, and in torchrun's agent, nothing is raised or said: an error there would hang the job.
    """
    global _started, startup_error
    if _started:
        return
    _started = True
    default_system.provider_of = _find_provider
    in_worker = startup.in_worker()
    report.set_quiet(in_worker)
    if startup.start_is_held() or is_torch_under_way():
        # PyTorch's own initialisation configures, once everything that it registers is known
        return
    reason = why_torch_keeps_its_loggers()
    if reason is not None:
        default_system.planner.left_alone = frozenset({"torch"})
        default_system.is_settled = is_known_to_torch
    try:
        if reason is not None:
            warn_of_refusals(default_system, reason)
        # within its own import stock PyTorch reads the variable next, and says by itself what is wrong with it
        default_system.init_logs(strict=startup.may_raise() and (reason is None or not is_initializing()))
    except (SettingsError, HelpRequested, PluginError) as error:
        if not (in_worker or startup.reports_itself()):
            raise
        startup_error = error


def _find_provider(name: str) -> str | None:
    from .known import provider_of

    return provider_of(name)
