"""Loads the plugins of a system and keeps what they and the program register as one assembly, swapped in whole."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, Final

from . import builtins, ownership, report
from .assembly import Adoption, Assembly, assemble, fail
from .errors import OwnershipError
from .loading import Plugin
from .model import PluginInfo
from .registry import Item, Registry
from .sources import PluginSource, is_ready_again, join

_MANY: Final = 256

_LOADING: Final = Assembly(
    (Plugin(PluginInfo("plugins", "complog", status="set aside", cause="the plugins are being loaded")),)
)


class Assembler:
    """Holds the assembly of one system. Its lock is never held while foreign code loads or runs."""

    def __init__(self, prefix: str, group: str | None, plugins: Iterable[object]) -> None:
        self.prefix = prefix
        self.adoption: Adoption | None = None
        self.after_registration: Callable[[Item], None] | None = None
        """Called with what was registered by itself, without the rest being configured anew."""
        self._objects = (builtins, *plugins)
        self._source = PluginSource(group, self._objects, check_variables=group == "complog")
        self._lock = threading.RLock()
        self._version = 0
        self._assembly: Assembly | None = None
        self._runtime: dict[tuple[type, str], Item] = {}
        self._stale = False
        self._thread = threading.local()

    def refresh_texts(self, assembly: Assembly) -> None:
        """Generate again what is generated from the registry."""
        raise NotImplementedError

    def follow_registry(self, *, reread: bool) -> None:
        """Bring the configuration in line with an assembly that has changed; `reread` the variables too."""
        raise NotImplementedError

    def load(self) -> Assembly:
        """Return the assembly; load it at the first use, and what was set aside as soon as it can be.

        A plugin that calls its system while that loads, in the same thread, gets what there is by then.
        """
        assembly = self._assembly
        if getattr(self._thread, "loads", False):
            return assembly or _LOADING
        if assembly is None:
            return self._load(self._source.load)
        if assembly.has_waiting and any(is_ready_again(plugin) for plugin in assembly.plugins):
            known = assembly.plugins
            assembly = self._load(lambda: self._source.retry(known))
            # it may contribute variables that were never read
            self.follow_registry(reread=True)
        elif self._stale:
            assembly = self._swap(lambda current: current.plugins if current is not None else ())
        return assembly

    def _load(self, obtain: Callable[[], tuple[Plugin, ...]]) -> Assembly:
        self._thread.loads = True
        try:
            plugins = obtain()
        finally:
            self._thread.loads = False
        return self._swap(lambda current: plugins if current is None else join(current.plugins, plugins))

    @property
    def known(self) -> Registry:
        """The names as they are at this moment; nothing is loaded for it."""
        return Registry() if self._assembly is None else self._assembly.registry

    def check_kind(self, item: Item) -> None:
        """Raise ValueError for a name that the program has registered as the other kind."""
        if any(name == item.name and kind is not type(item) for kind, name in list(self._runtime)):
            raise ValueError(f"{item.name!r} is registered as the other kind, component or artifact, already")

    def register_at_run_time(self, item: Item) -> None:
        """Add or replace what the program itself registered, and configure anew."""
        slot = (type(item), item.name)
        with self._lock:
            known = self._runtime.get(slot)
            if known == item:
                return
            self._runtime[slot] = item
            self._version += 1
        if known is not None:
            text = f"{item.name!r} is registered again, differently; the last registration holds"
            report.warn_once((self.prefix, slot, item), text)
        self._add(item, is_new=known is None)

    def adopt(self, item: Item) -> None:
        """Add what the host framework has registered just now to what was adopted, and configure anew."""
        with self._lock:
            assert self.adoption is not None
            self.adoption = self.adoption._replace(items=(*self.adoption.items, item))
            self._version += 1
        self._add(item, is_new=True)

    def _add(self, item: Item, *, is_new: bool) -> None:
        count = len(self._runtime) + (0 if self.adoption is None else len(self.adoption.items))
        if is_new and count > _MANY and self.take_in(item):
            # with so many names the registry is built again when it is next looked at, so that registering a thousand
            # more costs a thousand times what one does
            self._stale = True
            if self.after_registration is not None:
                self.after_registration(item)
        else:
            self.reassemble()

    def take_in(self, item: Item) -> bool:
        """Configure a newly registered item by itself; return False where the whole has to be configured for it."""
        raise NotImplementedError

    def reassemble(self) -> None:
        """Build the registry again, because something was registered or adopted, and configure anew."""
        if self._assembly is None and not getattr(self._thread, "loads", False):
            self._load(self._source.load)  # which builds it from what there is by now
        else:
            self.load()
            self._swap(lambda current: current.plugins if current is not None else ())
        self.follow_registry(reread=False)

    def _swap(self, choose: Callable[[Assembly | None], tuple[Plugin, ...]]) -> Assembly:
        # built aside, since a plugin's fault is told meanwhile; whoever finds that the world moved on builds again
        while True:
            with self._lock:
                before, version = self._assembly, self._version
                self._stale = False
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
        displaced: list[Any] = []
        for position, plugin in enumerate(plugins):
            if plugin.info.status == "loaded":
                try:
                    displaced += ownership.claim((name for item in plugin.components for name in item.loggers), self)
                except OwnershipError as error:
                    if any(plugin.module is given for given in self._objects):
                        raise
                    plugins[position] = fail(plugin, str(error))
        release_modules(displaced)
        return assembly if plugins == list(assembly.plugins) else assemble(plugins, items, adoption)


def release_modules(displaced: Iterable[Any]) -> None:
    """Let systems that had set a logger as a module let go of it, now that another one has registered it."""
    for system in displaced:
        system.follow_registry(reread=False)
