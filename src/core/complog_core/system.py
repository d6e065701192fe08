"""LogSystem: the public face of one engine; set_logs and its kin as methods, the default system's being complog's."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from . import ownership, report
from .apply import set_levels
from .assembler import release_modules
from .assembly import Assembly
from .configurator import forget_active
from .contributions import check_artifact, check_component, gather
from .engine import Engine
from .environment import Texts, hand_down, name_inherited
from .errors import SettingsError
from .loading import Plugin
from .model import Artifact, Component, Keyword, LogState, PluginInfo, Request
from .registry import Item, Registry
from .resolve import Plan
from .sources import with_news
from .telling import why_names_wait

if TYPE_CHECKING:
    from .arguments import Arguments
    from .functions import Functions, Logs, SetLogs


class _Made:
    """A function of one system, made at its first use: its texts cost a tenth of an import that may never call it."""

    def __set_name__(self, owner: type[LogSystem], name: str) -> None:
        self._name = name

    def __get__(self, system: LogSystem | None, owner: type[LogSystem]) -> object:
        if system is None:
            return self
        # from here on found before this is
        return vars(system).setdefault(self._name, system._make_functions()[self._name])


class LogSystem(Engine):
    """An engine of its own: `<PREFIX>_LOGS` and its kin, the names of a group's entry points and of passed plugins.

    `prefix` begins the names of its variables. `group` is the entry-point group whose plugins it loads (None: none);
    `plugins` are modules or objects with hook implementations, which need no packaging. Nothing happens until the first
    use, and no logger changes until the variable or the API names something.

    >>> import types
    >>> from complog_core import Component, hookimpl
    >>> @hookimpl
    ... def complog_components():
    ...     return [Component("tiler", ["mylib.tiler"], "loop tiling")]
    >>> mylib = LogSystem("MYLIB", plugins=[types.SimpleNamespace(complog_components=complog_components)])
    >>> with mylib.logs(tiler="DEBUG"):
    ...     mylib.current_state().level("mylib.tiler.loops")
    10
    >>> mylib.close()
    """

    def __init__(self, prefix: str = "TORCH", group: str | None = None, plugins: Iterable[object] = ()) -> None:
        if not isinstance(prefix, str) or not (prefix.isascii() and prefix.isidentifier()):
            raise ValueError(f"a prefix begins the names of environment variables; {prefix!r} cannot")
        super().__init__(prefix, group, plugins)
        self._told_ignored = False
        self._handed_down: str | None = None
        self._functions: Functions = {}

    if TYPE_CHECKING:
        set_logs: SetLogs
        logs: Logs
    else:
        set_logs, logs = _Made(), _Made()

    def _make_functions(self) -> Functions:
        if not self._functions:
            from .functions import make_functions

            with self._lock:
                self._functions = self._functions or make_functions(self._set_logs, self._logs)
            described: Assembly | None = None
            while (assembly := self._assembly) is not described:  # another thread may exchange it meanwhile
                self.refresh_texts(described := assembly)
        return self._functions

    def refresh_texts(self, assembly: Assembly | None) -> None:
        if self._functions and assembly is not None:
            from .functions import describe_functions

            describe_functions(self._functions, assembly.registry, assembly.keywords, prefix=self.prefix)

    # -- settings

    def _set_logs(self, arguments: Arguments, inherit: bool) -> None:
        self._refuse_observers("set_logs")
        self._ask(arguments, inherit)

    @contextmanager
    def _logs(self, arguments: Arguments, inherit: bool) -> Iterator[LogState]:
        self._refuse_observers("logs")
        self.ready()
        before, handed_down = self.remember(), os.environ.get(name_inherited(self.prefix))
        speaks = self._ask(arguments, inherit)
        try:
            yield self.state()
        finally:
            if speaks:
                hand_down(os.environ, self.prefix, handed_down)
                self.recall(before)

    def _ask(self, arguments: Arguments, inherit: object) -> bool:
        assembly = self.ready()
        if not isinstance(inherit, bool):
            raise SettingsError("set_logs", (f"inherit={inherit!r} is neither True nor False",))
        request = self.read_arguments(arguments, assembly)
        packed = None
        if inherit:
            from .inheritance import pack

            packed = pack(request)
        reading = self.read_environment(assembly)
        if reading.texts:
            self._tell_ignored(reading.texts)
            return False
        self.reconfigure(request, reread=True)
        if packed is not None or name_inherited(self.prefix) in os.environ:
            hand_down(os.environ, self.prefix, packed)
        self._handed_down = packed
        return True

    def _refuse_observers(self, what: str) -> None:
        if self.is_configuring:
            raise RuntimeError(f"a hook that runs while a configuration is computed may not call {what}")
        if self._observers.speaking:
            raise RuntimeError(f"complog_state_changed may not call {what}: it is told of a change, it makes none")

    def _tell_ignored(self, texts: Texts) -> None:
        if not self._told_ignored:
            self._told_ignored = True
            report.warn(f"{texts.variables} is set and has precedence; what set_logs and logs() ask for is ignored")

    def init_logs(self, strict: bool | None = None) -> None:
        """Read the environment again and configure anew.

        With `strict` (None: only the default system) a bad variable raises SettingsError and `help` HelpRequested,
        both ValueErrors, and nothing of the variables' settings holds; otherwise each problem is a warning.
        """
        self._refuse_observers("init_logs")
        self.load()
        self.reconfigure(reread=True, strict=self.always_on if strict is None else strict)

    def current_state(self) -> LogState:
        """Return the configuration in force, an immutable value."""
        return self.state()

    def is_enabled(self, artifact: str) -> bool:
        """Return whether the artifact is named in the settings in force and not muted."""
        return self.state().enabled(artifact)

    # -- loggers

    def getArtifactLogger(self, module_qname: str, artifact_name: str) -> logging.Logger:
        """Return the logger `<module_qname>.__<artifact_name>`, on or off as the settings say, now and later.

        `module_qname` is any module's name, `artifact_name` a registered artifact, bare or qualified; an unknown one
        is a ValueError, except while a plugin that may register it is not loaded. Raises OwnershipError where the
        logger belongs to another system.
        """
        if not isinstance(module_qname, str) or not isinstance(artifact_name, str):
            raise SettingsError("getArtifactLogger", ("both arguments must be of type str",))
        assembly = self.ready()
        if not assembly.registry.artifacts(artifact_name) and why_names_wait(assembly) is None:
            reason = f"{artifact_name!r} is no artifact: {self.explain_unknown(artifact_name)}"
            raise SettingsError("getArtifactLogger", (reason,))
        bare = artifact_name.rpartition("/")[2]
        logger = logging.getLogger(f"{module_qname}.__{bare}")
        self.adopt_artifact_logger(logger, module_qname, artifact_name)
        return logger

    def register_log(self, setting_name: str, log_name: str | list[str] | tuple[str, ...]) -> None:
        """Register a component at run time; the last registration of a name wins, with a warning if it differs.

        Raises ValueError for a name that cannot be registered, OwnershipError for another system's logger.
        """
        self._register(Component(setting_name, log_name))

    def register_artifact(
        self,
        setting_name: str,
        description: str = "",
        visible: bool = False,
        off_by_default: bool = False,
        log_format: str | None = None,
    ) -> None:
        """Register an artifact at run time; the last registration of a name wins, with a warning if it differs."""
        self._register(Artifact(setting_name, description, visible, off_by_default, log_format))

    def _register(self, item: Item) -> None:
        if isinstance(item, Component):
            check_component(item)
        else:
            check_artifact(item)
        # what it knows is enough: looking would build a registry again that may be waiting for more names
        assembly = self._assembly if self._assembly and self._configuration else self.ready()
        if item.name in assembly.keywords_by_name:
            raise ValueError(f"{item.name!r} is reserved: it is a keyword of set_logs")
        self.check_kind(item)
        if isinstance(item, Component):
            release_modules(ownership.claim(item.loggers, self))
        self.register_at_run_time(item)

    def get_loggers(self) -> list[logging.Logger]:
        """Return every registered logger."""
        return [logging.getLogger(name) for name in self.registry.loggers]

    # -- what is known

    @property
    def registry(self) -> Registry:
        """The registered names."""
        return self.ready().registry

    @property
    def keywords(self) -> tuple[tuple[PluginInfo, Keyword], ...]:
        """The contributed keywords with their owners."""
        return self.ready().keywords

    @property
    def formats(self) -> tuple[str, ...]:
        """The names valid in `<PREFIX>_LOGS_FORMAT`."""
        return tuple(sorted(self.ready().formatters))

    @property
    def env_vars(self) -> tuple[str, ...]:
        """The contributed variables that are read like `<PREFIX>_LOGS`."""
        return self.ready().env_vars

    def list_plugins(self) -> tuple[PluginInfo, ...]:
        """Return what became of each plugin, with the notes that it has to give on itself."""
        return tuple(plugin.info for plugin in self.list_loaded())

    def list_loaded(self) -> tuple[Plugin, ...]:
        """Return the plugins with what each contributes."""
        assembly = self.ready()
        notes: dict[str, list[str]] = {}
        for owner, ask in assembly.hooks.get("complog_plugin_notes", ()):
            given = gather(owner, ask, "complog_plugin_notes")
            notes.setdefault(str(owner), []).extend(given)
        return tuple(with_news(plugin, notes.get(str(plugin.info), ())) for plugin in assembly.plugins)

    def help_message(self, verbose: bool = False) -> str:
        """Return the help page: the visible names, or with `verbose` all of them, and how settings are written."""
        return self.help_page(verbose)

    def help_page(self, verbose: bool) -> str:
        from .texts import help_text

        assembly = self.load()
        return help_text(
            assembly.registry,
            assembly.keywords,
            tuple(plugin.info for plugin in assembly.plugins),
            prefix=self.prefix,
            variable=self.logs_variable,
            env_vars=assembly.env_vars,
            formats=tuple(sorted(assembly.formatters)),
            verbose=verbose,
        )

    def explain_unknown(self, name: str) -> str:
        from .texts import unknown_name

        assembly = self.load()
        provider = self.provider_of(name)
        text = unknown_name(name, assembly.registry, assembly.keywords, prefix=self.prefix, provider=provider)
        return "; ".join([text, *[f"{info} is {info.status}" for info in assembly.troubled()]])

    def close(self) -> None:
        """Put every logger back as it was, close the outputs and give up the ownership of the loggers."""
        if self._handed_down is not None and self._handed_down == os.environ.get(name_inherited(self.prefix)):
            hand_down(os.environ, self.prefix, None)
        with logging._lock, self._lock:  # type: ignore[attr-defined]  # private
            overridden = self._applier.apply(Plan())
            old, self._sink.pipeline = self._sink.pipeline, self._idle
            self._assembly, self._configuration, self._request = None, None, Request()
            self._runtime.clear()
            self.planner.forget()
            self._version += 1
            forget_active(self)
        set_levels(overridden)
        self._outlets.retire(old, self._idle)
        self.forget()
        self.trace.close()
        self.trace.listeners = ()
        ownership.release(self)
