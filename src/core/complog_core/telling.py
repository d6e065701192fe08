"""What a configuration has to tell people: problems, notices, names that wait, and those that waited in vain."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterable

from . import report
from .assembly import Assembly
from .configuration import Configuration
from .errors import SettingsError
from .faults import note_fault
from .model import Setting


def why_names_wait(assembly: Assembly) -> str | None:
    """Return why an unknown name may still be registered later in this process; None where it may not."""
    if _is_lenient():
        return "COMPLOG_LENIENT is set"
    troubled = assembly.troubled()
    lost = [f"{info} is {info.status}" for info in troubled if info.status != "set aside"]
    if lost:
        return "; ".join(lost)
    if troubled:
        return f"{', '.join(map(str, troubled))} is still being imported"
    for owner, ask in assembly.hooks.get("complog_awaits_names", ()):
        try:
            reason = ask()
        except BaseException as error:
            note_fault(owner, "complog_awaits_names()", error)
            continue
        if reason:
            return str(reason)
    return None


def tell(prefix: str, assembly: Assembly, configuration: Configuration) -> None:
    """Warn of the configuration's problems and notices, and of names that wait where something is amiss."""
    for variable, problem in configuration.problems:
        report.warn_once((prefix, variable, problem), f"{variable}: {problem}")
    if configuration.state.source == "inherited":
        return  # what its parent was told, a child need not repeat; and names that it lacks are nobody's mistake
    for notice in configuration.resolution.notices:
        report.warn_once((prefix, notice), notice)
    if not configuration.resolution.pending:
        return
    if not (_is_lenient() or any(info.status in ("failed", "disabled") for info in assembly.troubled())):
        return
    reason = configuration.resolution.waiting
    for setting in configuration.resolution.pending:
        text = f"{setting.source}: {setting.text!r} is not known so far ({reason}); it waits to be registered"
        report.warn_once((prefix, "pending", setting), text)


def tell_at_exit(pending: Callable[[], Iterable[Setting]], explain: Callable[[str], str]) -> None:
    """At the end of this very process, not of its forks, report each setting that `pending()` then still gives."""
    process = os.getpid()

    def tell_of_pending() -> None:
        if os.getpid() == process:
            for setting in pending():
                report.warn(f"{setting.source}: nothing ever registered {setting.text!r}: {explain(setting.name)}")

    atexit.register(tell_of_pending)


def join_problems(problems: Iterable[tuple[str, str]], kind: type[SettingsError] = SettingsError) -> SettingsError:
    """Return one error of this kind for problems given as (variable, problem).

    >>> str(join_problems([("A", "bad"), ("B", "worse")])).splitlines()
    ['A and B: 2 problems', '  A: bad', '  B: worse']
    """
    listed = tuple(problems)
    variables = list(dict.fromkeys(variable for variable, _ in listed))
    if len(variables) == 1:
        return kind(variables[0], tuple(problem for _, problem in listed))
    return kind(" and ".join(variables), tuple(f"{variable}: {problem}" for variable, problem in listed))


def _is_lenient() -> bool:
    return os.environ.get("COMPLOG_LENIENT", "").strip() not in ("", "0")
