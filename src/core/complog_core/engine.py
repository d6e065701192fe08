"""The state machine under LogSystem: loads plugins, computes a configuration aside, swaps it in, tells observers."""

from __future__ import annotations

import itertools
import logging
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from . import ownership, report
from .apply import Applier, set_levels
from .arguments import Request
from .assembler import Assembler
from .assembly import Assembly, Hook
from .configuration import Configuration, Outlets, configure
from .environment import Texts, read_outputs, read_texts
from .errors import HelpRequested
from .formatters import GlogFormatter
from .handlers import Pipeline, Sink
from .model import Artifact, LogState, Setting
from .modules import module_exists
from .observers import Observers
from .planning import Planner
from .registry import Item
from .resolve import World
from .telling import join_problems, tell, tell_at_exit, why_names_wait
from .trace import Trace

_engines: Final[weakref.WeakSet[Engine]] = weakref.WeakSet()


_active: Final[set[Engine]] = set()
"""Systems that have changed loggers: they live until they put those back, or the changes would outlive them."""

_MOST_ATTEMPTS: Final = 10


class _Change(NamedTuple):
    assembly: Assembly
    configuration: Configuration
    old: Pipeline
    pipeline: Pipeline
    overridden: list[tuple[logging.Logger, int]]
    page: str
    bad: tuple[tuple[str, str], ...] | None


class Engine(Assembler):
    """Holds the mutable state of one system. Its lock is never held while foreign code loads or runs.

    Where loggers are changed, logging's own lock is taken first: code that holds it (logging.config does, while it
    imports and builds handlers) may call a system, and would otherwise wait for a thread that waits for it.
    """

    def __init__(self, prefix: str, group: str | None, plugins: Iterable[object]) -> None:
        super().__init__(prefix, group, plugins)
        self.always_on = False
        """Whether registered loggers are configured although nothing was named: so in the default system."""
        self.deferred = False
        """Whether the first configuration is somebody's explicit act, as it is in the default system."""
        self.logs_variable = f"{prefix}_LOGS"
        self.out_variable = f"{prefix}_LOGS_OUT"
        self.default_path: str | None = None
        """The file that is written where no variable names one."""
        self.after_change: Callable[[LogState], None] | None = None
        """Called with each new state before anybody else can see it; it may run nothing but complog's own code."""
        self.is_settled: Callable[[Setting], bool] = lambda setting: False
        """Whether a name that nobody registered here is somebody else's, and nothing to report at exit."""
        self.provider_of: Callable[[str], str | None] = lambda name: None
        self._texts = Texts()
        self._refused: frozenset[tuple[str, str]] = frozenset()
        self._request = Request()
        self._configuration: Configuration | None = None
        self._idle = Pipeline((), GlogFormatter(), True, None, (), False)
        self._sink = Sink(self._idle)
        self._applier = Applier(self._sink)
        self.planner = Planner(self._applier.own_level)
        self._outlets = Outlets(prefix, self.planner.rendered)
        self._observers = Observers()
        self._told: tuple[Hook, ...] = ()
        self.trace = Trace(prefix, prepare=self.ready)
        """The structured trace of this system."""
        self._reports_at_exit = False
        _engines.add(self)

    # -- what the texts, which are generated from the registry, look like

    def help_page(self, verbose: bool) -> str:
        raise NotImplementedError

    def explain_unknown(self, name: str) -> str:
        raise NotImplementedError

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
        if self.after_change is not None or configuration.state.pending or {"all", item.name} & configuration.names:
            return False
        if assembly.registry.lookup(item.name):
            return False
        if isinstance(item, Artifact):
            return not self.planner.awaits(item.name)
        if not self._is_active(configuration):
            return True
        overridden: list[tuple[logging.Logger, int]] = []
        with logging._lock, self._lock:  # type: ignore[attr-defined]
            for name in item.loggers:
                if not self.planner.leaves_alone(name):
                    target = self.planner.plan_new(name, assembly, configuration)
                    overridden += self._applier.apply_one(name, target, alone=False)
        set_levels(overridden)
        return True

    # -- configuring

    def read_environment(self, assembly: Assembly) -> Texts:
        """Return what the variables say at this moment."""
        return read_texts(os.environ, self.logs_variable, assembly.env_vars)

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
            raise join_problems(change.bad)

    def _change(self, request: Request | None, *, reread: bool, strict: bool, late: bool) -> _Change:
        for attempt in itertools.count():
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
            refused = frozenset(texts.texts) if page or bad else self._refused if late else frozenset()
            if page or bad:
                if bad:
                    self._outlets.retire(pipeline, old)
                texts = Texts()
                configuration, pipeline = self._compute(assembly, texts, asked, old)
            with logging._lock, self._lock:  # type: ignore[attr-defined]
                if version == self._version or attempt >= _MOST_ATTEMPTS:
                    self._version += 1
                    self._texts, self._request, self._configuration = texts, asked, configuration
                    self._refused = refused
                    self._sink.pipeline = pipeline
                    active = self._is_active(configuration)
                    plan = self.planner.plan(assembly, configuration) if active else {}
                    overridden = self._applier.apply(plan, only_new=late)
                    ownership.hold_modules(configuration.resolution.levels, self)
                    (_active.add if active else _active.discard)(self)
                    if self.after_change is not None:
                        self.after_change(configuration.state)
                    # noted here and told later, so that observers hear the states in the order in which they hold
                    hooks = assembly.hooks.get("complog_state_changed", ())
                    if not late or before is None or before.state != configuration.state or hooks != self._told:
                        self._told = hooks
                        self._observers.note(configuration.state, hooks)
                    break
            self._outlets.retire(pipeline, self._sink.pipeline)
        return _Change(assembly, configuration, old, pipeline, overridden, page, bad)

    def _compute(
        self, assembly: Assembly, texts: Texts, request: Request, old: Pipeline
    ) -> tuple[Configuration, Pipeline]:
        configuration = self._configure(assembly, texts, request)
        if not self._is_active(configuration):
            return configuration, self._idle
        pipeline, state, problems = self._outlets.build(assembly, configuration.state, old)
        return configuration._replace(state=state, problems=(*configuration.problems, *problems)), pipeline

    def _configure(self, assembly: Assembly, texts: Texts, request: Request) -> Configuration:
        outputs, problems = read_outputs(os.environ, self.prefix, self.out_variable)
        self._outlets.out_variable = self.out_variable
        if outputs.path is None:
            outputs = outputs._replace(path=self.default_path)
        world = self.world(assembly)
        configuration = configure(assembly, self.prefix, outputs, texts, request, world, self.help_page)
        return configuration._replace(problems=(*configuration.problems, *problems))

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
        owner = ownership.owner_above(logger)
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
            overridden = self._applier.apply_one(logger.name, target, alone=True)
        set_levels(overridden)

    def _report_at_exit(self, configuration: Configuration) -> None:
        if not configuration.state.pending or self._reports_at_exit:
            return
        self._reports_at_exit = True
        engine = weakref.ref(self)

        def pending() -> tuple[Setting, ...]:
            configuration = None if (living := engine()) is None else living._configuration
            if configuration is None or living is None:
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


def forget_active(engine: Engine) -> None:
    """Let a system that has put everything back be collected."""
    _active.discard(engine)


def _renew_locks() -> None:
    for engine in list(_engines):
        engine.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
