"""What PyTorch registered becomes complog's, and what complog knows is told to PyTorch's registry."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from complog_core import Artifact, Component, LogSystem, PluginInfo, report
from complog_core.assembly import Adoption
from complog_core.contributions import check_artifact, check_component
from complog_core.registry import Item, Registry

from .moment import is_dynamo_verbose

FAMILIES: Final = frozenset({"complog", "complog-dynamo", "complog-inductor", "complog-distributed", "complog-onnx"})
"""The distributions that describe PyTorch's names: they keep the ownership, PyTorch's loggers and flags win."""


class RegistryExchange:
    """Keeps complog's registry and PyTorch's `log_registry` equal, each the owner of its own names."""

    def __init__(self, system: LogSystem, registry: Any) -> None:
        self._system = system
        self._registry = registry
        self._stock_class: type[Any] = type(registry)
        self._told: dict[tuple[str, str], object] = {}
        self._told_all_of: Registry | None = None
        self._thread = threading.local()

    def start(self) -> None:
        """Adopt what is there, tell what is missing, and follow every later registration."""
        self.follow()
        self._registry.__class__ = _make_following(self._stock_class, self._follow_one)
        self._system.after_registration = self._tell_one

    def stop(self) -> None:
        """Take everything that was told out of PyTorch's registry, and leave that as it was."""
        self._registry.__class__ = self._stock_class
        self._system.after_registration = None
        for (kind, name), value in self._told.items():
            self._forget(kind, name, value)
        self._told.clear()

    def follow(self) -> None:
        """Adopt what PyTorch's registry holds by now, and tell it what it does not."""
        with self._once() as first:
            if not first:
                return
            adoption = self._read()
            if adoption != self._system.adoption:
                self._system.adoption = adoption
                self._system.reassemble()
            self._tell()

    def _follow_one(self, kind: type[Item], name: str, is_new: bool) -> None:
        """Adopt what PyTorch has registered just now; what it has changed takes a look at everything."""
        items: list[Item] = []
        with self._once() as first:
            known = self._system.known.lookup(name) if first and is_new and self._system.adoption else True
            if not known:
                self._read_one(kind, name, items)
                for item in items:
                    self._system.adopt(item)
        if first and known:
            self.follow()

    def tell(self) -> None:
        """Tell PyTorch's registry what it does not hold; loads and adopts nothing."""
        if self._system.known is self._told_all_of:
            return
        with self._once() as first:
            if first:
                self._tell()

    @contextmanager
    def _once(self) -> Iterator[bool]:
        # what is told to the registry comes back here as a registration, in the same thread
        first = not getattr(self._thread, "busy", False)
        self._thread.busy = True
        try:
            yield first
        finally:
            if first:
                self._thread.busy = False

    def _read(self) -> Adoption:
        registry = self._registry
        items: list[Item] = []
        for name in registry.log_alias_to_log_qnames:
            self._read_one(Component, name, items)
        for name in sorted(registry.artifact_names, key=str):
            self._read_one(Artifact, name, items)
        version = getattr(sys.modules.get("torch.version"), "__version__", "")
        return Adoption(PluginInfo("torch", "torch", version), tuple(items), FAMILIES)

    def _read_one(self, kind: type[Item], name: str, items: list[Item]) -> None:
        registry = self._registry
        if kind is Component:
            loggers = registry.log_alias_to_log_qnames[name]
            # stock PyTorch registers a module that was set as a name of its own; a module is no name here
            is_module = "." in name and loggers in (name, [name])
            if self._told.get(("component", name)) is not loggers and not is_module:
                _add_readable(items, partial(Component, name, loggers), name)
            return
        told = self._told.get(("artifact", name))
        if told is not None and told != _read_artifact(registry, name):
            del self._told["artifact", name]  # PyTorch's own registration since
            told = None
        if told is None:
            _add_readable(items, partial(_read_artifact, registry, name), name)

    def _tell(self) -> None:
        known = self._system.known
        if known is self._told_all_of:
            return
        self._told_all_of = known
        for name in known.names("component"):
            entries = known.components(name)
            loggers = [it for entry in entries if isinstance(entry.item, Component) for it in entry.item.loggers]
            self._tell_name(Component(name, loggers))
        for name in known.names("artifact"):
            self._tell_name(known.artifacts(name)[0].item)

    def _tell_one(self, item: Item) -> None:
        with self._once() as first:
            if first:
                self._tell_name(item)

    def _tell_name(self, item: Item) -> None:
        registry, name = self._registry, item.name
        if isinstance(item, Component):
            if name not in registry.log_alias_to_log_qnames:
                registry.register_log(name, list(item.loggers))
                self._told["component", name] = registry.log_alias_to_log_qnames[name]
        elif name not in registry.artifact_names:
            flags = (item.description, item.visible, item.off_by_default, item.log_format)
            registry.register_artifact_name(name, *flags)
            self._told["artifact", name] = _read_artifact(registry, name)

    def _forget(self, kind: str, name: str, value: object) -> None:
        registry = self._registry
        if kind == "component":
            if registry.log_alias_to_log_qnames.get(name) is value:
                del registry.log_alias_to_log_qnames[name]
            return
        for names in (registry.artifact_names, registry.visible_artifacts, registry.off_by_default_artifact_names):
            names.discard(name)
        registry.artifact_descriptions.pop(name, None)
        registry.artifact_log_formatters.pop(name, None)


def tell_names_only(system: LogSystem, registry: Any) -> None:
    """Register complog's names at a PyTorch whose logging is otherwise not the one that is known."""
    RegistryExchange(system, registry)._tell()


def _add_readable(items: list[Item], make: Callable[[], Item], name: object) -> None:
    try:
        item = make()
        check_component(item) if isinstance(item, Component) else check_artifact(item)
    except (TypeError, ValueError) as error:
        report.warn_once(("adopt", name), f"PyTorch's registration of {name!r} is left out: {error}")
    else:
        items.append(item)


def _read_artifact(registry: Any, name: str) -> Artifact:
    formatter = registry.artifact_log_formatters.get(name)
    return Artifact(
        name,
        str(registry.artifact_descriptions.get(name) or ""),
        name in registry.visible_artifacts,
        name in registry.off_by_default_artifact_names,
        None if formatter is None else formatter._fmt,
        # stock's formatter knows this one by its name
        is_dynamo_verbose if name == "graph_breaks" else True,
    )


def _make_following(stock: type[Any], follow: Callable[[type[Item], str, bool], None]) -> type[Any]:
    def register_log(self: Any, alias: str, log_qnames: Any) -> None:
        is_new = alias not in self.log_alias_to_log_qnames
        stock.register_log(self, alias, log_qnames)
        follow(Component, alias, is_new)

    def register_artifact_name(self: Any, name: str, *arguments: Any, **named: Any) -> None:
        is_new = name not in self.artifact_names
        stock.register_artifact_name(self, name, *arguments, **named)
        follow(Artifact, name, is_new)

    # the object stays the same one, whoever holds it; only what its methods do changes
    return type(
        stock.__name__,
        (stock,),
        {"register_log": register_log, "register_artifact_name": register_artifact_name, "__slots__": ()},
    )
