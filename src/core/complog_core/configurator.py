"""Computes whole configurations aside and swaps them in: state, pipeline and loggers at one moment."""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from . import ownership
from .apply import Applier
from .assembler import Assembler
from .assembly import Assembly, Hook
from .configuration import Configuration, configure
from .environment import Texts
from .errors import HelpRequested, SettingsError
from .formatters import GlogFormatter
from .handlers import Pipeline, Sink
from .model import LogState, Request, Setting
from .modules import module_exists
from .observers import Observers
from .outlets import Outlets
from .planning import Planner
from .reading import Reader, Reading
from .repeats import Repeats, make_key
from .resolve import Plan, World
from .telling import why_names_wait
from .trace import Trace
from .values import NamedTuple

if TYPE_CHECKING:
    from .arguments import Arguments

_active: Final[set[Configurator]] = set()
"""Systems that have changed loggers: they live until they put those back, or the changes would outlive them."""

_MOST_ATTEMPTS: Final = 10


class Change(NamedTuple):
    """One change that was made: what holds now, what went before, and what is still to be done outside the lock."""

    assembly: Assembly
    configuration: Configuration
    old: Pipeline
    pipeline: Pipeline
    overridden: list[tuple[logging.Logger, int]]
    page: str
    bad: tuple[tuple[str, str], ...] | None
    kind: type[SettingsError]


class Configurator(Assembler):
    """Holds the configuration in force.

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
        self._reader = Reader(prefix)
        self._repeats = Repeats()
        self._texts = Texts()
        self._refused: frozenset[tuple[str, str]] = frozenset()
        self._request = Request()
        self._configuration: Configuration | None = None
        self._idle = Pipeline((), GlogFormatter(), True, None, (), False)
        self._sink = Sink(self._idle)
        self._applier = Applier(self._sink)
        self.planner = Planner(self._applier.own_levels, self._owner_elsewhere)
        self._outlets = Outlets(prefix, self.planner.rendered)
        self._observers = Observers()
        self._told: tuple[Hook, ...] = ()
        self.trace = Trace(prefix, prepare=self.ready)
        """The structured trace of this system."""

    # -- what the texts, which are generated from the registry, look like

    def ready(self) -> Assembly:
        """Return the assembly; load and configure at the first use."""
        raise NotImplementedError

    def help_page(self, verbose: bool) -> str:
        raise NotImplementedError

    def explain_unknown(self, name: str) -> str:
        raise NotImplementedError

    def read_environment(self, assembly: Assembly) -> Reading:
        """Return what the variables say at this moment."""
        return self._reader.read(os.environ, assembly, self.logs_variable, self.out_variable)

    def read_arguments(self, arguments: Arguments, assembly: Assembly) -> Request:
        """Return what the arguments of set_logs ask for; raise SettingsError that lists what is wrong with them."""
        key = make_key(arguments)
        known = self._repeats.find_request(key, assembly)
        if known is not None:
            return known
        from .arguments import read_arguments

        world = self.world(assembly, may_wait=False)
        request = read_arguments(arguments, assembly.registry, assembly.keywords_by_name, world, self.help_page)
        self._repeats.note_request(key, assembly, request)
        return request

    def forget(self) -> None:
        """Forget what was worked out, and whatever of plugins' that holds."""
        self._outlets.forget()
        self._reader.forget()
        self._repeats.forget()

    def _change(self, request: Request | None, *, reread: bool, strict: bool, late: bool) -> Change:
        for attempt in itertools.count():
            assembly = self.load()
            version, before, old = self._version, self._configuration, self._sink.pipeline
            reading = self.read_environment(assembly)
            texts = reading.texts if reread else self._texts
            if late:
                texts = texts.without(self._refused)
            asked = self._request if request is None else request
            page, bad, kind = "", None, SettingsError
            if texts is not reading.texts:
                reading = reading._replace(texts=texts)
            try:
                configuration, pipeline = self._compute(assembly, reading, asked, old)
            except HelpRequested as error:
                page = str(error)
            else:
                bad, kind = configuration.problems if strict else None, configuration.kind
            refused = frozenset(texts.texts) if page or bad else self._refused if late else frozenset()
            if page or bad:
                if bad:
                    self._outlets.retire(pipeline, old)
                texts = Texts()
                configuration, pipeline = self._compute(assembly, reading._replace(texts=texts), asked, old)
            with logging._lock, self._lock:  # type: ignore[attr-defined]  # private
                if version == self._version or attempt >= _MOST_ATTEMPTS:
                    self._version += 1
                    self._texts, self._request, self._configuration = texts, asked, configuration
                    self._refused = refused
                    if pipeline is not self._sink.pipeline:
                        self._sink.pipeline = pipeline
                    active = self._is_active(configuration)
                    plan = self.planner.plan(assembly, configuration) if active else Plan()
                    overridden = self._applier.apply(plan, only_new=late)
                    ownership.hold_modules(configuration.resolution.modules, self)
                    (_active.add if active else _active.discard)(self)
                    if self.after_change is not None:
                        self.after_change(configuration.state)
                    # noted here and told later, so that observers hear the states in the order in which they hold
                    hooks = assembly.hooks.get("complog_state_changed", ())
                    if not late or before is None or before.state != configuration.state or hooks != self._told:
                        self._told = hooks
                        if hooks:
                            self._observers.note(configuration.state, hooks)
                    break
            self._outlets.retire(pipeline, self._sink.pipeline)
        return Change(assembly, configuration, old, pipeline, overridden, page, bad, kind)

    def _compute(
        self, assembly: Assembly, reading: Reading, request: Request, old: Pipeline
    ) -> tuple[Configuration, Pipeline]:
        configuration = self._configure(assembly, reading, request)
        if not self._is_active(configuration):
            return configuration, self._idle
        built = self._outlets.build(assembly, configuration.state, old)
        if built.problems:
            kind = configuration.kind if configuration.problems else built.kind
            configuration = configuration._replace(problems=(*configuration.problems, *built.problems), kind=kind)
        if built.state is not configuration.state:
            configuration = configuration._replace(state=built.state)
        return configuration, built.pipeline

    def _configure(self, assembly: Assembly, reading: Reading, request: Request) -> Configuration:
        self._outlets.out_variable = self.out_variable
        if reading.outputs.path is None and self.default_path is not None:
            reading = reading._replace(outputs=reading.outputs._replace(path=self.default_path))
        known = self._repeats.find_configuration(assembly, reading, request)
        if known is not None:
            return known
        made = configure(assembly, self.prefix, reading, request, self.world(assembly), self.help_page)
        self._repeats.note_configuration(assembly, reading, request, made)
        return made

    def world(self, assembly: Assembly, *, may_wait: bool = True) -> World:
        """Return what resolution may ask; `may_wait` lets unknown names wait where the circumstances allow it."""
        asked = module_exists, self.provider_of, self.explain_unknown, self._owner_elsewhere
        return World(*asked, lambda: why_names_wait(assembly), self.is_settled) if may_wait else World(*asked)

    def _owner_elsewhere(self, logger: str) -> str | None:
        owner = ownership.owner_above(logger)
        return None if owner is None or owner is self else str(owner.prefix)

    def _is_active(self, configuration: Configuration) -> bool:
        return self.always_on or configuration.names_something


def forget_active(system: Configurator) -> None:
    """Let a system that has put everything back be collected."""
    _active.discard(system)
