"""The state machine under LogSystem: loads plugins, computes a configuration aside, swaps it in, tells observers."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Final

from . import builtins, ownership, report
from .apply import Applier
from .arguments import Request
from .assembly import Adoption, Assembly, Hook, assemble, fail
from .configuration import Configuration, Outlets, configure
from .environment import Texts, read_texts
from .errors import HelpRequested, OwnershipError
from .formatters import GlogFormatter
from .handlers import Pipeline, Sink
from .loading import Plugin
from .model import LogState
from .modules import module_exists
from .observers import Observers
from .planning import Planner
from .registry import Item
from .resolve import World
from .sources import PluginSource, is_ready_again, join
from .telling import join_problems, tell, tell_at_exit, why_names_wait

_engines: Final[weakref.WeakSet[Engine]] = weakref.WeakSet()


class Engine:
    """Holds the mutable state of one system. Its lock is never held while foreign code loads or runs.

    Where loggers are changed, logging's own lock is taken first: code that holds it (logging.config does, while it
    imports and builds handlers) may call a system, and would otherwise wait for a thread that waits for it.
    """

    def __init__(self, prefix: str, group: str | None, plugins: Iterable[object]) -> None:
        self.prefix = prefix
        self.always_on = False
        """Whether registered loggers are configured although nothing was named: so in the default system."""
        self.deferred = False
        """Whether the first configuration is somebody's explicit act, as it is in the default system."""
        self.provider_of: Callable[[str], str | None] = lambda name: None
        self.adoption: Adoption | None = None
        self._objects = (builtins, *plugins)
        self._source = PluginSource(group, self._objects, check_variables=group == "complog")
        self._lock = threading.RLock()
        self._version = 0
        self._assembly: Assembly | None = None
        self._runtime: dict[tuple[type, str], Item] = {}
        self._texts = Texts()
        self._refused: frozenset[tuple[str, str]] = frozenset()
        self._request = Request()
        self._configuration: Configuration | None = None
        self.planner = Planner()
        self._outlets = Outlets(prefix, self.planner.rendered)
        self._idle = Pipeline((), GlogFormatter(), True, None, (), False)
        self._sink = Sink(self._idle)
        self._applier = Applier(self._sink)
        self._observers = Observers()
        self._told: tuple[Hook, ...] = ()
        self._reports_at_exit = False
        _engines.add(self)

    # -- what the texts, which are generated from the registry, look like

    def help_page(self, verbose: bool) -> str:
        raise NotImplementedError

    def explain_unknown(self, name: str) -> str:
        raise NotImplementedError

    def refresh_texts(self, assembly: Assembly) -> None:
        raise NotImplementedError

    # -- loading

    def load(self) -> Assembly:
        """Return the assembly; load it at the first use, and what was set aside as soon as it can be."""
        assembly = self._assembly
        if assembly is None:
            plugins = self._source.load()
            return self._swap(lambda current: plugins if current is None else join(current.plugins, plugins))
        if any(is_ready_again(plugin) for plugin in assembly.plugins):
            plugins = self._source.retry(assembly.plugins)
            assembly = self._swap(lambda current: plugins if current is None else join(current.plugins, plugins))
            if self._configuration is not None:
                # it may contribute variables that were never read
                self.reconfigure(reread=True, late=True)
        return assembly

    def ready(self) -> Assembly:
        """Return the assembly; load and configure at the first use."""
        assembly = self.load()
        if self._configuration is None and not self.deferred:
            self.reconfigure(reread=True)
        return assembly

    def assume(self, request: Request) -> None:
        """Take `request` for what the API asked for last; it counts from the next configuration on."""
        with self._lock:
            self._request = request

    def register_at_run_time(self, item: Item) -> None:
        """Add or replace what the program itself registered, and configure anew."""
        slot = (type(item), item.name)
        with self._lock:
            known = self._runtime.get(slot)
            self._runtime[slot] = item
            self._version += 1
        if known == item:
            return
        if known is not None:
            text = f"{item.name!r} is registered again, differently; the last registration holds"
            report.warn_once((self.prefix, slot, item), text)
        self.reassemble()

    def reassemble(self) -> None:
        """Build the registry again, because something was registered or adopted, and configure anew."""
        self.load()
        self._swap(lambda current: current.plugins if current is not None else ())
        if self._configuration is not None:
            self.reconfigure(late=True)

    def _swap(self, choose: Callable[[Assembly | None], tuple[Plugin, ...]]) -> Assembly:
        # built aside, since a plugin's fault is told meanwhile; whoever finds that the world moved on builds again
        while True:
            with self._lock:
                before, version = self._assembly, self._version
                items, adoption = tuple(self._runtime.values()), self.adoption
            assembly = self._claim(assemble(choose(before), items, adoption), items, adoption)
            with self._lock:
                if version == self._version:
                    self._assembly = assembly
                    self._version += 1
                    break
        self.refresh_texts(assembly)
        return assembly

    def _claim(self, assembly: Assembly, items: tuple[Item, ...], adoption: Adoption | None) -> Assembly:
        plugins = list(assembly.plugins)
        for position, plugin in enumerate(plugins):
            if plugin.info.status == "loaded":
                try:
                    ownership.claim((name for item in plugin.components for name in item.loggers), self)
                except OwnershipError as error:
                    if any(plugin.module is given for given in self._objects):
                        raise
                    plugins[position] = fail(plugin, str(error))
        return assembly if plugins == list(assembly.plugins) else assemble(plugins, items, adoption)

    # -- configuring

    def read_environment(self, assembly: Assembly) -> Texts:
        """Return what the variables say at this moment."""
        return read_texts(os.environ, self.prefix, assembly.env_vars)

    def reconfigure(
        self, request: Request | None = None, *, reread: bool = False, strict: bool = False, late: bool = False
    ) -> None:
        """Compute the configuration of `request` (None: the last one) and the environment, swap it in, tell observers.

        `reread` looks at the variables again. `strict` raises what is wrong with them, and then nothing of them holds;
        otherwise that is warned about, and what is good in them holds. `late`: nobody asked for this, something was
        registered; texts that were refused stay so, and observers are told only if there is news for them.
        """
        self.deferred = False
        while True:
            assembly = self.load()
            version, before, old = self._version, self._configuration, self._sink.pipeline
            texts = self.read_environment(assembly) if reread else self._texts
            if late:
                texts = texts.without(self._refused)
            asked = self._request if request is None else request
            page, bad = "", None
            try:
                configuration, pipeline = self._compute(assembly, texts, asked, old)
            except HelpRequested as error:
                page = str(error)
            else:
                bad = configuration.problems if strict else None
            refused = frozenset(texts.texts) if page or bad else self._refused
            if page or bad:
                if bad:
                    self._outlets.retire(pipeline, old)
                texts = Texts()
                configuration, pipeline = self._compute(assembly, texts, asked, old)
            with logging._lock, self._lock:  # type: ignore[attr-defined]
                if version == self._version:
                    self._version += 1
                    self._texts, self._request, self._configuration = texts, asked, configuration
                    self._refused = refused
                    self._sink.pipeline = pipeline
                    plan = self.planner.plan(assembly, configuration) if self._is_active(configuration) else {}
                    overridden = self._applier.apply(plan)
                    break
            self._outlets.retire(pipeline, self._sink.pipeline)
        for logger, level in overridden:
            logger.setLevel(level)
        self._outlets.retire(old, pipeline)
        if not bad:
            tell(self.prefix, assembly, configuration)
            self._report_at_exit(configuration)
        hooks = assembly.hooks.get("complog_state_changed", ())
        if not late or before is None or before.state != configuration.state or hooks != self._told:
            self._told = hooks
            self._observers.post(configuration.state, hooks)
        if page and strict:
            raise HelpRequested(page)
        if page:
            report.show_once((self.prefix, "help"), page)
        if bad:
            raise join_problems(bad)

    def _compute(
        self, assembly: Assembly, texts: Texts, request: Request, old: Pipeline
    ) -> tuple[Configuration, Pipeline]:
        configuration = self._configure(assembly, texts, request)
        if not self._is_active(configuration):
            return configuration, self._idle
        pipeline, state, problems = self._outlets.build(assembly, configuration.state, old)
        return configuration._replace(state=state, problems=(*configuration.problems, *problems)), pipeline

    def _configure(self, assembly: Assembly, texts: Texts, request: Request) -> Configuration:
        return configure(assembly, self.prefix, texts, request, self.world(assembly), self.help_page)

    def world(self, assembly: Assembly, *, may_wait: bool = True) -> World:
        """Return what resolution may ask; `may_wait` lets unknown names wait where the circumstances allow it."""
        return World(
            exists=module_exists,
            provider=self.provider_of,
            explain=self.explain_unknown,
            foreign=self._owner_elsewhere,
            waiting=(lambda: why_names_wait(assembly)) if may_wait else lambda: None,
        )

    def _owner_elsewhere(self, logger: str) -> str | None:
        owner = ownership.owner_of(logger)
        return None if owner is None or owner is self else str(owner.prefix)

    def _is_active(self, configuration: Configuration) -> bool:
        return self.always_on or configuration.names_something

    def adopt_artifact_logger(self, logger: logging.Logger, module: str, name: str) -> None:
        """Make `logger` the artifact logger of `module` for the artifact `name`, configured now and from now on.

        Its cost does not depend on how many other loggers there are.
        """
        with logging._lock, self._lock:  # type: ignore[attr-defined]
            if self.planner.knows(logger.name, module, name):
                return
            ownership.claim((logger.name,), self)
            logger.artifact_name = name.rpartition("/")[2]  # type: ignore[attr-defined]
            self.planner.note(logger.name, module, name)
            assembly, configuration = self._assembly, self._configuration
            if assembly is None or configuration is None or self.planner.leaves_alone(logger.name):
                return
            target = self.planner.plan_one(assembly, configuration, logger.name, self._applier.targets)
            if not self._is_active(configuration):
                return
            overridden = self._applier.apply_one(logger.name, target)
        for changed, level in overridden:
            changed.setLevel(level)

    def _report_at_exit(self, configuration: Configuration) -> None:
        if not configuration.state.pending or self._reports_at_exit:
            return
        self._reports_at_exit = True
        engine = weakref.ref(self)

        def pending() -> tuple[str, ...]:
            living = engine()
            return () if living is None else living.state().pending

        tell_at_exit(self.prefix, pending, lambda name: living.explain_unknown(name) if (living := engine()) else "")

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
