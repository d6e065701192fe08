"""The arguments of `set_logs` become a request: settings and keyword values, or one error that lists every problem."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from .environment import convert
from .errors import HelpRequested, SettingsError
from .model import OFF, Keyword, Request, Setting
from .registry import Registry
from .resolve import Resolution, World, is_module, resolve
from .settings import parse, parse_level
from .values import NamedTuple

_ON: Final = 10


class Arguments(NamedTuple):
    """The arguments of one `set_logs` call, as they came."""

    settings: str | None
    all: object
    modules: object
    names: Mapping[str, object]


def read_arguments(
    arguments: Arguments, registry: Registry, keywords: Mapping[str, Keyword], world: World, help_page: Any
) -> Request:
    """Validate the arguments of a `set_logs` call; raise SettingsError (a ValueError) that lists each bad one.

    `help_page(verbose)` is called, and its text raised as HelpRequested, where the settings text asks for help.
    """
    problems: list[str] = []
    settings: list[Setting] = []
    values: dict[str, Any] = {}
    if "settings" in arguments.names:
        raise SettingsError("set_logs", ("settings is positional: give the settings text as the first argument",))
    if arguments.settings is not None:
        if not isinstance(arguments.settings, str):
            raise SettingsError("set_logs", (f"the settings are {arguments.settings!r}, not a str",))
        parsed = parse(arguments.settings)
        if parsed.help:
            raise HelpRequested(help_page(parsed.help == "+help"))
        problems += parsed.problems
        settings += parsed.settings
    named: dict[str, str] = {_canonical(setting.name, registry): setting.text for setting in settings}
    for name, value, shown in _in_order(arguments, problems):
        if value is None:
            if not _is_known(name, registry, keywords, world):
                problems.append(f"{shown}: {world.explain(name)}")
            continue
        key = _canonical(name, registry)
        if key in named:
            problems.append(f"{shown}: {name} is given twice ({named[key]} and {shown})")
            continue
        named[key] = shown
        try:
            if name in keywords:
                values[name] = convert(keywords[name], value)
            else:
                settings.append(_read_one(name, value, shown, registry, world))
        except ValueError as error:
            problems.append(str(error))
    resolution: Resolution = resolve(settings, registry, world)
    problems += [problem for _, problem in resolution.problems]
    if problems:
        raise SettingsError("set_logs", tuple(dict.fromkeys(problems)), _list_valid(registry, keywords))
    return Request(tuple(settings), values, made=True)


def _in_order(arguments: Arguments, problems: list[str]) -> Iterable[tuple[str, object, str]]:
    yield "all", arguments.all, f"all={arguments.all!r}"
    for name, value in arguments.names.items():
        yield name, value, f"{name}={value!r}"
    modules = arguments.modules
    if modules is None:
        return
    if not isinstance(modules, Mapping):
        problems.append(f"modules={modules!r} is not a mapping of names to levels")
        return
    for name, value in modules.items():
        if isinstance(name, str):
            yield name, value, f"modules={{{name!r}: {value!r}}}"
        else:
            problems.append(f"modules={{{name!r}: ...}}: a name must be a str")


def _canonical(name: str, registry: Registry) -> str:
    entries = registry.lookup(name)
    return entries[0].key if len(entries) == 1 else name


def _read_one(name: str, value: object, shown: str, registry: Registry, world: World) -> Setting:
    kinds = {entry.kind for entry in registry.lookup(name)}
    if kinds == {"artifact"}:
        if not isinstance(value, bool):
            raise ValueError(f"{shown}: {name} is an artifact and takes True or False")
        return Setting(name, _ON if value else OFF, shown)
    if len(kinds) > 1:
        return Setting(name, _ON, shown)  # whatever the value is, resolution says that the name is ambiguous
    if not _is_known(name, registry, {}, world):
        # that the name is unknown is the more useful thing to say
        raise ValueError(f"{shown}: {world.explain(name)}")
    try:
        return Setting(name, parse_level(value), shown)
    except ValueError as error:
        raise ValueError(f"{shown}: {error}") from None


def _is_known(name: str, registry: Registry, keywords: Mapping[str, Keyword], world: World) -> bool:
    if name == "all" or name in keywords or registry.lookup(name) or name in registry.loggers:
        return True
    return world.foreign(name) is not None or is_module(name, world)


def _list_valid(registry: Registry, keywords: Mapping[str, Keyword]) -> str:
    components = ", ".join(["all", *registry.names("component")])
    parts = [f"levels for: {components}", f"True or False for: {', '.join(registry.names('artifact')) or 'none'}"]
    if keywords:
        parts.append(f"further keywords: {', '.join(sorted(keywords))}")
    return "valid are " + "; ".join(parts)
