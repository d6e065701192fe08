"""Loaded plugins, and what was registered at run time, become one immutable assembly that a system works from."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from . import report
from .errors import PluginError
from .faults import is_strict
from .implementations import find_place
from .loading import Plugin
from .model import Artifact, Component, Keyword, PluginInfo
from .registry import Contribution, Item, Registry
from .values import NamedTuple

RUNTIME: Final = PluginInfo("runtime", "registered at run time")
"""The owner of what register_log and register_artifact registered."""

Hook = tuple[PluginInfo, Callable[..., Any]]


class Adoption(NamedTuple):
    """Registrations of a host framework: they win over those of the distributions that describe it."""

    owner: PluginInfo
    items: tuple[Item, ...]
    describers: frozenset[str] = frozenset()


class Assembly(NamedTuple):
    """Everything that plugins contribute, joined: names, keywords, formats, variables, and the hooks still to call."""

    plugins: tuple[Plugin, ...] = ()
    registry: Registry = Registry()
    keywords: tuple[tuple[PluginInfo, Keyword], ...] = ()
    formatters: Mapping[str, Callable[[], logging.Formatter]] = MappingProxyType({})
    env_vars: tuple[str, ...] = ()
    hooks: Mapping[str, tuple[Hook, ...]] = MappingProxyType({})
    format_owners: Mapping[str, PluginInfo] = MappingProxyType({})
    has_waiting: bool = False
    """Whether a plugin was set aside, since its module was being imported."""

    @property
    def keywords_by_name(self) -> dict[str, Keyword]:
        return {keyword.name: keyword for _, keyword in self.keywords}

    def troubled(self) -> tuple[PluginInfo, ...]:
        """Return the plugins whose names are not known, for whatever reason."""
        return tuple(plugin.info for plugin in self.plugins if plugin.info.status != "loaded")


def assemble(plugins: Iterable[Plugin], runtime: Iterable[Item] = (), adoption: Adoption | None = None) -> Assembly:
    """Join what the plugins contribute; one whose names clash with a keyword, or the reverse, is failed with a warning.

    >>> tiler = Plugin(PluginInfo("mybackend"), components=(Component("tiler", ["mybackend.tiler"]),))
    >>> assemble([tiler]).registry.names()
    ('tiler',)
    """
    checked = _without_clashes(tuple(plugins))
    contributions: list[Contribution] = []
    formatters: dict[str, Callable[[], logging.Formatter]] = {}
    format_owners: dict[str, PluginInfo] = {}
    env_vars: list[str] = []
    keywords: dict[str, tuple[PluginInfo, Keyword]] = {}
    hooks: dict[str, list[Hook]] = {}
    for plugin in checked:
        if plugin.info.status != "loaded":
            continue
        items: tuple[Item, ...] = (*plugin.components, *plugin.artifacts)
        contributions += [(plugin.info, item) for item in items]
        env_vars += plugin.env_vars
        for keyword in plugin.keywords:
            keywords.setdefault(keyword.name, (plugin.info, keyword))
        for name, factory in plugin.formatters.items():
            if name in formatters:
                text = f"the format {name!r} of {plugin.info} is ignored: another plugin has that name"
                report.warn_once(("format", name, plugin.info.family), text)
            formatters.setdefault(name, factory)
            format_owners.setdefault(name, plugin.info)
        for hook, functions in plugin.hooks.items():
            hooks.setdefault(hook, []).extend((plugin.info, function) for function in functions)
    if adoption is not None:
        contributions = _adopt(contributions, adoption)
    contributions += [(RUNTIME, item) for item in runtime]
    if any(isinstance(item, Artifact) and item.log_format is not None for _, item in contributions):
        # a record that needs it may come when nothing can be imported
        from . import percent  # noqa: F401 - loaded, not used
    return Assembly(
        checked,
        Registry.build(contributions),
        tuple(keywords[name] for name in sorted(keywords)),
        formatters,
        tuple(sorted(set(env_vars))),
        {hook: tuple(sorted(functions, key=lambda each: find_place(each[1]))) for hook, functions in hooks.items()},
        format_owners,
        any(plugin.info.status == "set aside" for plugin in checked),
    )


def _without_clashes(plugins: tuple[Plugin, ...]) -> tuple[Plugin, ...]:
    owners: dict[str, tuple[PluginInfo, Keyword]] = {}
    checked: list[Plugin] = []
    for plugin in plugins:
        clash = ""
        for keyword in plugin.keywords if plugin.info.status == "loaded" else ():
            owner, known = owners.setdefault(keyword.name, (plugin.info, keyword))
            if known != keyword:
                clash = f"the keyword {keyword.name!r} belongs to {owner}"
        checked.append(fail(plugin, clash) if clash else plugin)
    if not owners:
        return tuple(checked)
    return tuple(_without_reserved(plugin, owners) for plugin in checked)


def _without_reserved(plugin: Plugin, owners: Mapping[str, tuple[PluginInfo, Keyword]]) -> Plugin:
    # one plugin's keyword must not cost another one more than the name itself
    items: tuple[Item, ...] = (*plugin.components, *plugin.artifacts)
    lost = sorted({item.name for item in items if item.name in owners})
    if not lost:
        return plugin
    note = "; ".join(f"its name {name!r} is reserved: a keyword of {owners[name][0]}" for name in lost)
    report.warn_once(("reserved", str(plugin.info), note), f"{plugin.info}: {note}")
    return plugin._replace(
        info=plugin.info._replace(notes=(*plugin.info.notes, note)),
        components=tuple(item for item in plugin.components if item.name not in owners),
        artifacts=tuple(item for item in plugin.artifacts if item.name not in owners),
    )


def fail(plugin: Plugin, cause: str) -> Plugin:
    text = f"{plugin.info} contributes nothing: {cause}"
    if is_strict():
        raise PluginError(text)
    report.warn_once(("clash", str(plugin.info), cause), text)
    return Plugin(plugin.info._replace(status="failed", cause=cause), module=plugin.module)


def _adopt(contributions: list[Contribution], adoption: Adoption) -> list[Contribution]:
    adopted = {(type(item), item.name) for item in adoption.items}
    described: dict[tuple[type, str], Contribution] = {}
    rest: list[Contribution] = []
    for owner, item in contributions:
        slot = (type(item), item.name)
        if owner.distribution in adoption.describers and slot in adopted:
            described.setdefault(slot, (owner, item))
        else:
            rest.append((owner, item))
    for item in adoption.items:
        owner, description = described.get((type(item), item.name), (adoption.owner, item))
        text = description.description or item.description
        if isinstance(item, Component):
            rest.append((owner, Component(item.name, item.loggers, text)))
        elif isinstance(description, Artifact):
            # what to do with exceptions is nothing that the host's registration can say
            rest.append((owner, item._replace(description=text, show_exception=description.show_exception)))
    return rest
