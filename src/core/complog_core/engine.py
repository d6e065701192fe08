"""The state machine under LogSystem: loads plugins, computes a configuration aside, swaps it in, tells observers."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Iterable
from typing import Final

from . import ownership, report
from .apply import set_levels
from .assembly import Assembly
from .configuration import Configuration
from .configurator import Configurator
from .contributions import gather
from .environment import Texts
from .errors import HelpRequested
from .model import Artifact, LogState, Request, Setting
from .registry import Item
from .telling import join_problems, tell, tell_at_exit

_engines: Final[weakref.WeakSet[Engine]] = weakref.WeakSet()


class Engine(Configurator):
    """Holds the mutable state of one system. Its lock is never held while foreign code loads or runs."""

    def __init__(self, prefix: str, group: str | None, plugins: Iterable[object]) -> None:
        super().__init__(prefix, group, plugins)
        self._reports_at_exit = False
        _engines.add(self)

    def ready(self) -> Assembly:
        """Return the assembly; load and configure at the first use."""
        assembly = self.load()
        if self._configuration is None and not self.deferred and not self.is_configuring:
            self.reconfigure(reread=True)
        return assembly

    @property
    def is_configuring(self) -> bool:
        """Whether this thread is computing a configuration, which is when plugins' hooks run."""
        return bool(getattr(self._thread, "configures", False))

    @property
    def request(self) -> Request:
        """What the API asked for last."""
        return self._request

    def remember(self) -> tuple[Request, Texts, frozenset[tuple[str, str]]]:
        """Return what `recall` needs to put the present state back."""
        return self._request, self._texts, self._refused

    def recall(self, remembered: tuple[Request, Texts, frozenset[tuple[str, str]]]) -> None:
        """Put a remembered state back, whatever the variables say by now."""
        with self._lock:
            self._request, self._texts, self._refused = remembered
            self._version += 1
        self.reconfigure()

    def assume(self, request: Request) -> None:
        """Take `request` for what the API asked for last; it counts from the next configuration on."""
        with self._lock:
            self._request = request

    def follow_registry(self, *, reread: bool) -> None:
        """Bring the configuration in line with an assembly that has changed; `reread` the variables too."""
        if self.is_configuring:
            self._thread.again = True
        elif self._configuration is not None:
            self.reconfigure(reread=reread, late=True)

    def take_in(self, item: Item) -> bool:
        """Configure a newly registered item by itself; return False where the whole has to be configured for it."""
        assembly, configuration = self._assembly, self._configuration
        if assembly is None or configuration is None:
            return False
        if configuration.state.pending or {"all", item.name} & configuration.names:
            return False
        if assembly.registry.lookup(item.name):
            return False
        if isinstance(item, Artifact):
            return not self.planner.awaits(item.name)
        if not self._is_active(configuration):
            return True
        overridden: list[tuple[logging.Logger, int]] = []
        with logging._lock, self._lock:  # type: ignore[attr-defined]  # private
            for name in item.loggers:
                if not self.planner.leaves_alone(name):
                    target = self.planner.plan_new(name, assembly, configuration)
                    overridden += self._applier.apply_one(name, target, alone=False)
        set_levels(overridden)
        return True

    def reconfigure(
        self,
        request: Request | None = None,
        *,
        reread: bool = False,
        strict: bool = False,
        late: bool = False,
        repeated: bool = False,
    ) -> None:
        """Compute the configuration of `request` (None: the last one) and the environment, swap it in, tell observers.

        `reread` looks at the variables again. `strict` raises what is wrong with them, and then nothing of them holds;
        otherwise that is warned about, and what is good in them holds. `late`: nobody asked for this, something was
        registered; texts that were refused stay so, and observers are told only if there is news for them. `repeated`:
        it follows what a hook registered during the last one; a hook that always does so is not followed for ever.
        """
        self.deferred = False
        if self.is_configuring:
            raise RuntimeError("a hook that runs while a configuration is computed may not ask for another one")
        self._thread.configures = True
        self._thread.again = False
        try:
            change = self._change(request, reread=reread, strict=strict, late=late)
        finally:
            self._thread.configures = False
        assembly, configuration = change.assembly, change.configuration
        set_levels(self._applier.current(change.overridden))
        self._outlets.retire(change.old, change.pipeline)
        self.trace.listeners = tuple(
            (owner, listener)
            for owner, function in assembly.hooks.get("complog_trace_listeners", ())
            for listener in gather(owner, function, "complog_trace_listeners")
        )
        self.trace.configure(assembly.hooks.get("complog_trace_context", ()), reread=reread)
        if not change.bad:
            tell(self.prefix, assembly, configuration)
            self._report_at_exit(configuration)
        self._observers.deliver()
        if getattr(self._thread, "again", False):
            self._thread.again = False
            if not repeated:
                self.reconfigure(late=True, repeated=True)
        if change.page and strict:
            raise HelpRequested(change.page)
        if change.page:
            report.show_once((self.prefix, "help"), change.page)
        if change.bad:
            raise join_problems(change.bad, change.kind)

    def adopt_artifact_logger(self, logger: logging.Logger, module: str, name: str) -> None:
        """Make `logger` the artifact logger of `module` for the artifact `name`, configured now and from now on.

        Its cost does not depend on how many other loggers there are.
        """
        if self._stale:
            self.load()  # its artifact may be what was registered last
        with logging._lock, self._lock:  # type: ignore[attr-defined]  # private
            if self.planner.knows(logger.name, module, name):
                return
            ownership.claim((logger.name,), self)
            logger.artifact_name = name.rpartition("/")[2]  # type: ignore[attr-defined]  # as PyTorch names it
            self.planner.note(logger.name, module, name)
            assembly, configuration = self._assembly, self._configuration
            if assembly is None or configuration is None or self.planner.leaves_alone(logger.name):
                return
            target = self.planner.plan_one(assembly, configuration, logger.name, self._applier.targets)
            if not self._is_active(configuration):
                return
            overridden = self._applier.apply_one(logger.name, target, alone=True)
        set_levels(overridden)

    def _report_at_exit(self, configuration: Configuration) -> None:
        if not configuration.state.pending or self._reports_at_exit:
            return
        self._reports_at_exit = True
        engine = weakref.ref(self)

        def pending() -> tuple[Setting, ...]:
            configuration = None if (living := engine()) is None else living._configuration
            if configuration is None or living is None or configuration.state.source == "inherited":
                return ()
            return tuple(each for each in configuration.resolution.pending if not living.is_settled(each))

        tell_at_exit(pending, lambda name: living.explain_unknown(name) if (living := engine()) else "")

    def state(self) -> LogState:
        """Return the state in force, configuring at the first use."""
        self.ready()
        return self._configuration.state if self._configuration is not None else LogState(prefix=self.prefix)

    def forked(self) -> None:
        """Make locks new in a forked child: the thread that held one may not exist there."""
        self._lock = threading.RLock()
        self._observers.renew_lock()


def _renew_locks() -> None:
    for engine in list(_engines):
        engine.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
