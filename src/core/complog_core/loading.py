"""Candidates become plugins: each is loaded and asked by itself, and what one does wrong stays its own."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from . import report
from .contributions import Fault, read_contribution
from .discovery import Candidate, sort_out
from .errors import PluginError
from .faults import is_strict
from .hookspecs import STATIC_HOOKS
from .implementations import Implementations, find_implementations
from .model import Artifact, Component, Keyword, PluginInfo, PluginStatus
from .modules import is_importing
from .values import NamedTuple

if TYPE_CHECKING:
    import logging


_LONGEST_CAUSE: Final = 500
_OWN: Final = frozenset({"complog", "complog_core"})
_LOCK: Final = r"_ModuleLock\('([^']+)'\)"
_TORCH_NOTE: Final = "loading it imported torch, which slows down and may break programs that do without"


class Plugin(NamedTuple):
    """What became of a candidate, or of an object passed to a system, and what it contributes: nothing unless loaded.

    `hooks` maps the hooks that are called later to plain functions, in calling order, which take each argument of the
    specification by keyword. `module` is the module or object that implements the hooks. `candidate` and `awaits`, the
    name of the module whose import was under way, are for `retry`.

    >>> Plugin(PluginInfo("mybackend")).components
    ()
    """

    info: PluginInfo
    module: object | None = None
    components: tuple[Component, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    keywords: tuple[Keyword, ...] = ()
    formatters: Mapping[str, Callable[[], logging.Formatter]] = MappingProxyType({})
    env_vars: tuple[str, ...] = ()
    hooks: Mapping[str, tuple[Callable[..., Any], ...]] = MappingProxyType({})
    candidate: Candidate | None = None
    awaits: str = ""


def load_plugins(
    candidates: Iterable[Candidate], *, environ: Mapping[str, str], name_unknown: bool
) -> tuple[Plugin, ...]:
    """Load the candidates one by one in sorted order; return one Plugin each, whatever becomes of it.

    COMPLOG_PLUGINS and COMPLOG_DISABLE_PLUGINS keep candidates out (`name_unknown`: warn about names that nobody has).
    Each failure is one warning. Raises KeyboardInterrupt where it comes up, and PluginError, after the last one, where
    COMPLOG_STRICT_PLUGINS is set and a plugin failed.

    >>> load_plugins([Candidate("a", "a")], environ={"COMPLOG_PLUGINS": ""}, name_unknown=True)[0].info.cause
    'COMPLOG_PLUGINS does not name it'
    """
    plugins: list[Plugin] = []
    failures: list[str] = []
    for candidate, refusal in sort_out(candidates, environ, name_unknown=name_unknown):
        if refusal:
            plugins.append(Plugin(candidate.describe("disabled", refusal), candidate=candidate))
        else:
            plugins.append(_load(candidate))
            failures += _report(plugins[-1], environ)
    if failures:
        raise PluginError("\n".join(failures))
    return tuple(plugins)


def load_object(obj: object, *, environ: Mapping[str, str] | None = None) -> Plugin:
    """Ask a module or object that was passed to a system; it is treated and reported like one behind an entry point.

    The family is the top-level package of a module, and the class of any other object. `environ` (default:
    os.environ) is asked for COMPLOG_STRICT_PLUGINS, which raises PluginError for a failure.

    >>> import types
    >>> load_object(types.ModuleType("mybackend.names")).info.family
    'mybackend'
    """
    return _insist(_load_object(obj), environ)


def retry(plugin: Plugin, *, environ: Mapping[str, str] | None = None) -> Plugin:
    """Load a plugin that was set aside again; any other one is returned as it is.

    So is one that waits for an import which is still under way. `environ` is as for `load_object`.

    >>> plugin = Plugin(PluginInfo("mybackend"))
    >>> retry(plugin) is plugin
    True
    """
    if plugin.info.status != "set aside" or awaits_import(plugin):
        return plugin
    return _insist(_load_object(plugin.module) if plugin.candidate is None else _load(plugin.candidate), environ)


def awaits_import(plugin: Plugin) -> bool:
    """Return whether the import that this plugin was set aside for is still under way; cheap enough for every call.

    >>> awaits_import(Plugin(PluginInfo("mybackend")))
    False
    """
    return is_importing(plugin.awaits)


def _load(candidate: Candidate) -> Plugin:
    plugin = _guard(candidate.describe(), candidate.load, lambda: candidate.module)
    return plugin._replace(candidate=candidate)


def _load_object(obj: object) -> Plugin:
    if isinstance(obj, ModuleType):
        name = obj.__name__
        plugin = _guard(PluginInfo(name.partition(".")[0], value=name), lambda: obj, lambda: name)
    else:
        kind = obj if isinstance(obj, type) else type(obj)
        # an object is complete, even while the module that made it is not
        plugin = _guard(PluginInfo(kind.__name__, value=f"{kind.__module__}:{kind.__qualname__}"), lambda: obj, str)
    return plugin._replace(module=obj)


def _guard(info: PluginInfo, obtain: Callable[[], object], locate: Callable[[], str]) -> Plugin:
    """Obtain the plugin and collect what it contributes; whatever goes wrong is told in the Plugin that comes back.

    `locate` names the module that has to be complete before the plugin can be asked.
    """
    torch_was_there = "torch" in sys.modules
    handled = sys.exc_info()[1]
    try:
        if not _can_qualify(info.family):
            raise Fault(f"{info.family!r} cannot stand before the / of a qualified name")
        module_name = locate()
        if is_importing(module_name):
            return _set_aside(info, module_name)
        plugin = _collect(info, obtain())
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        awaited = _find_unfinished_import(error, handled)
        if awaited is not None:
            return _set_aside(info, awaited)
        cause = str(error) if isinstance(error, Fault) else f"loading {info.value!r} raised {_describe(error)}"
        failed: PluginStatus = "failed"
        plugin = Plugin(info._replace(status=failed, cause=cause, traceback=_trace(error, cause)))
    if "torch" in sys.modules and not torch_was_there:
        plugin = plugin._replace(info=plugin.info._replace(notes=(*plugin.info.notes, _TORCH_NOTE)))
    return plugin


def _collect(info: PluginInfo, module: object) -> Plugin:
    try:
        implementations = find_implementations(module, info.value)
    except Fault as fault:
        raise Fault(f"{info.value} {fault}", fault.culprit) from None
    if not implementations:
        if not isinstance(module, ModuleType):
            raise Fault(f"{info.value} is a {type(module).__name__} that implements no hook")
        return Plugin(info._replace(notes=("it implements no hook",)), module)
    results = {hook: _call(hook, implementations, info.value) for hook in STATIC_HOOKS}
    named = {item.name for items in results["complog_components"] for item in items}
    both = sorted({item.name for items in results["complog_artifacts"] for item in items if item.name in named})
    if both:
        raise Fault(f"{info.value}: {', '.join(both)} cannot be a component and an artifact of one plugin")
    formatters: dict[str, Callable[[], logging.Formatter]] = {}
    for mapping in results["complog_formatters"]:
        formatters = {**mapping, **formatters}
    return Plugin(
        info,
        module,
        components=tuple(item for items in results["complog_components"] for item in items),
        artifacts=tuple(item for items in results["complog_artifacts"] for item in items),
        keywords=tuple(item for items in results["complog_keywords"] for item in items),
        formatters=MappingProxyType(formatters),
        env_vars=tuple(dict.fromkeys(item for items in results["complog_env_vars"] for item in items)),
        hooks=MappingProxyType({hook: each for hook, each in implementations.items() if hook not in STATIC_HOOKS}),
    )


def _call(hook: str, implementations: Implementations, label: str) -> list[Any]:
    results: list[Any] = []
    for function in implementations.get(hook, ()):
        try:
            results.append(read_contribution(hook, function()))
        except KeyboardInterrupt:
            raise
        except Fault as fault:
            raise Fault(f"{label}: {hook}() {fault}", function) from None
        except BaseException as error:
            raise Fault(f"{label}: {hook}() raised {_describe(error)}") from error
    return results


def _can_qualify(family: str) -> bool:
    begins = family[:1].isalnum() or family[:1] == "_"
    return begins and all(letter.isalnum() or letter in "_.-" for letter in family)


def _set_aside(info: PluginInfo, awaited: str) -> Plugin:
    status: PluginStatus = "set aside"
    cause = f"the import of {awaited} is under way" if awaited else "its import met an import in another thread"
    return Plugin(info._replace(status=status, cause=cause), awaits=awaited)


def _find_unfinished_import(error: BaseException, handled: BaseException | None) -> str | None:
    """Name the module, begun by somebody else and still incomplete, that made a load fail; None: there is none.

    The name is "" after a deadlock of import locks that tells none. complog itself is no excuse: what a plugin
    misses there will not come. `handled` is where the exceptions begin that the caller was handling already.
    """
    current: BaseException | None = error
    seen: set[int] = {id(handled)}
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        if type(current).__name__ == "_DeadlockError":
            lock = re.search(_LOCK, str(current))
            return lock[1] if lock else ""
        name = None
        if isinstance(current, ImportError):
            name = current.name
        elif isinstance(current, AttributeError) and isinstance(current.obj, ModuleType):
            name = object.__getattribute__(current.obj, "__dict__").get("__name__")
        if name and is_importing(name) and name.partition(".")[0] not in _OWN:
            return str(name)
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return None


def _describe(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = "(its text cannot be had)"
    if len(text) > _LONGEST_CAUSE:
        text = text[:_LONGEST_CAUSE] + "..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _trace(error: BaseException, cause: str) -> str:
    """Return the traceback of what the plugin raised, or where the thing stands that complog refuses."""
    import traceback

    origin = error.__cause__ if isinstance(error, Fault) else error
    if origin is not None:
        try:
            return "".join(traceback.format_exception(origin))
        except Exception:
            return f"{cause}\n"
    culprit = getattr(error, "culprit", None)
    code = getattr(getattr(culprit, "__func__", culprit), "__code__", None)
    place = f'  File "{code.co_filename}", line {code.co_firstlineno}, in {code.co_name}\n' if code else ""
    return f"{place}{cause}\n"


def _report(plugin: Plugin, environ: Mapping[str, str] | None) -> list[str]:
    """Warn about a failure; where failures are errors, return its line instead."""
    info = plugin.info
    subject = f"{info}: {'plugin object' if plugin.candidate is None else 'entry point'} {info.value!r}"
    strict = is_strict(os.environ if environ is None else environ)
    if info.status == "failed":
        line = f"{subject} failed: {info.cause}; run `complog plugins` for the traceback"
        if strict:
            return [line]
        report.warn_once(("failed", str(info), info.value, info.cause), line)
    elif _TORCH_NOTE in info.notes:
        report.warn_once(("torch", str(info), info.value), f"{subject}: {_TORCH_NOTE}")
    return []


def _insist(plugin: Plugin, environ: Mapping[str, str] | None) -> Plugin:
    failures = _report(plugin, environ)
    if failures:
        raise PluginError(failures[0])
    return plugin
