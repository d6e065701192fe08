"""What PyTorch registered becomes complog's, and what complog knows is told to PyTorch's registry."""

from __future__ import annotations

from typing import Any, Final

from complog_core import Artifact, Component, PluginInfo
from complog_core.assembly import Adoption
from complog_core.registry import Item, Registry

FAMILIES: Final = frozenset({"complog", "complog-dynamo", "complog-inductor", "complog-distributed", "complog-onnx"})


def read_registrations(registry: Any, version: str, told: set[tuple[str, str]]) -> Adoption:
    """Return everything that PyTorch's registry holds, less what complog told it, as an adoption.

    PyTorch's loggers, flags and formats win; complog's families keep the ownership and the descriptions.
    """
    items: list[Item] = []
    for name, loggers in registry.log_alias_to_log_qnames.items():
        if ("component", name) not in told and "." not in name:
            items.append(Component(name, tuple([loggers] if isinstance(loggers, str) else loggers)))
    artifacts = sorted(name for name in registry.artifact_names if ("artifact", name) not in told)
    items += [_read_artifact(registry, name) for name in artifacts]
    return Adoption(PluginInfo("torch", "torch", version), tuple(items), FAMILIES)


def _read_artifact(registry: Any, name: str) -> Artifact:
    formatter = registry.artifact_log_formatters.get(name)
    return Artifact(
        name,
        registry.artifact_descriptions.get(name) or "",
        name in registry.visible_artifacts,
        name in registry.off_by_default_artifact_names,
        None if formatter is None else formatter._fmt,
    )


def tell_names(registry: Any, known: Registry) -> set[tuple[str, str]]:
    """Register at PyTorch's registry every name of complog's that it does not hold; return what was told.

    A name of several owners is told once, with everything that it selects.
    """
    told: set[tuple[str, str]] = set()
    for name in known.names("component"):
        if name not in registry.log_alias_to_log_qnames:
            loggers = [logger for entry in known.components(name) for logger in _loggers(entry.item)]
            registry.register_log(name, list(dict.fromkeys(loggers)))
            told.add(("component", name))
    for name in known.names("artifact"):
        if name not in registry.artifact_names:
            item = known.artifacts(name)[0].item
            assert isinstance(item, Artifact)
            registry.register_artifact_name(name, item.description, item.visible, item.off_by_default, item.log_format)
            told.add(("artifact", name))
    return told


def _loggers(item: Item) -> tuple[str, ...]:
    return item.loggers if isinstance(item, Component) else ()
