"""Where a system's plugins come from: its entry-point group and the objects passed to it; loads them, retries some."""

from __future__ import annotations

import os
from collections.abc import Iterable

from .faults import find_fault
from .loading import Plugin, awaits_import, load_object, load_plugins, retry
from .version import VERSION


class PluginSource:
    """Loads the plugins of one system. It keeps none: whoever calls decides which result counts.

    Nothing here takes a lock, since loading runs foreign code that may call the system again.
    """

    def __init__(self, group: str | None, objects: Iterable[object], *, check_variables: bool) -> None:
        self._group = group
        self._objects = tuple(objects)
        self._check_variables = check_variables

    def load(self) -> tuple[Plugin, ...]:
        """Load every plugin: the objects in their order, then the entry points in that of their names."""
        loaded = _number(_name_own(load_object(plugin)) for plugin in self._objects)
        if self._group is None:
            return loaded
        from .discovery import find_candidates

        candidates = find_candidates(self._group)
        return loaded + load_plugins(candidates, environ=os.environ, name_unknown=self._check_variables)

    def retry(self, plugins: tuple[Plugin, ...]) -> tuple[Plugin, ...]:
        """Try those again that were set aside and whose import is no longer under way."""
        return tuple(retry(plugin) if is_ready_again(plugin) else plugin for plugin in plugins)


def _number(plugins: Iterable[Plugin]) -> tuple[Plugin, ...]:
    # several objects of one class, or of one package, are several plugins
    numbered: list[Plugin] = []
    taken: dict[str, int] = {}
    for plugin in plugins:
        family = plugin.info.family
        taken[family] = taken.get(family, 0) + 1
        name = family if taken[family] == 1 else f"{family}-{taken[family]}"
        numbered.append(plugin._replace(info=plugin.info._replace(family=name)))
    return tuple(numbered)


def _name_own(plugin: Plugin) -> Plugin:
    # what comes with complog says so; finding that out from metadata would cost a scan
    if plugin.info.family not in ("complog", "complog_core"):
        return plugin
    family = "complog" if plugin.info.family == "complog" else "engine"
    return plugin._replace(info=plugin.info._replace(family=family, distribution="complog", version=VERSION))


def is_ready_again(plugin: Plugin) -> bool:
    """Return whether the plugin was set aside and its module's import has ended since."""
    return plugin.info.status == "set aside" and not awaits_import(plugin)


def join(current: tuple[Plugin, ...], mine: tuple[Plugin, ...]) -> tuple[Plugin, ...]:
    """Join two loads of the same plugins: what either has loaded is loaded."""
    if len(current) != len(mine):
        return mine
    pairs = zip(current, mine, strict=True)
    return tuple(other if known.info.status == "set aside" else known for known, other in pairs)


def with_news(plugin: Plugin, notes: Iterable[str]) -> Plugin:
    """Return the plugin with what it has to say of itself, and with the fault that a hook of its has shown since."""
    info = plugin.info._replace(notes=(*plugin.info.notes, *notes))
    fault = find_fault(info)
    if fault is not None and info.status == "loaded":
        info = info._replace(status="failed", cause=fault[0], traceback=fault[1])
    return plugin._replace(info=info)
