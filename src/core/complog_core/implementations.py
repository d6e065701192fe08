"""The hooks that a module or object implements, as plain functions; most are found at a glance, the rest by pluggy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any

from .hookspecs import HOOKS, MARK, PREFIX, parameters_of, read_parameters

Implementations = Mapping[str, tuple[Callable[..., Any], ...]]


def find_implementations(obj: object, label: str) -> Implementations:
    """Return the implementations of each hook that `obj` implements, in calling order (tryfirst first).

    They take the specification's arguments by keyword, and get those that they declare. Raises Fault, whose text
    continues "<label> ...", for a mark that fits no hook, a hook's name without a mark, a wrapper, and arguments that
    the specification does not have.

    >>> from complog_core import hookimpl
    >>> class Names:
    ...     @hookimpl
    ...     def complog_env_vars(self):
    ...         return ["MYLIB_LOGS"]
    >>> [function() for function in find_implementations(Names(), "Names")["complog_env_vars"]]
    [['MYLIB_LOGS']]
    """
    plain = _read_plain_module(obj) if type(obj) is ModuleType else None
    if plain is not None:
        return plain
    from .registration import register

    return register(obj, label)


def _read_plain_module(module: ModuleType) -> Implementations | None:
    """Return what `module` implements if it is as nearly all are, None where pluggy has to look at it.

    Those have marked functions that take nothing but what the specification has. Pluggy would find no more in them, and
    take longer over it than importing them does.
    """
    found: dict[str, list[Callable[..., Any]]] = {}
    for name, value in vars(module).items():
        options = vars(value).get(MARK) if type(value) is FunctionType else None
        if options is None:
            if name == "__dir__" or name in HOOKS or (name.startswith(PREFIX) and type(value) is FunctionType):
                return None
            if type(value) is not FunctionType and hasattr(type(value), "__get__"):
                return None  # a function of another kind, which may be marked
            continue
        hook = type(options) is dict and (options.get("specname") or name)
        if hook not in HOOKS or options.get("wrapper") or options.get("hookwrapper"):
            return None
        names = read_parameters(value, hook)
        if names is None:
            return None
        found.setdefault(hook, []).append(value if len(names) == len(parameters_of(hook)) else _narrow(value, names))
    for functions in found.values():
        if len(functions) > 1:
            functions.sort(key=find_place)
            if len(set(map(find_place, functions))) < len(functions):
                return None  # their order is pluggy's to say
    return {hook: tuple(found[hook]) for hook in HOOKS if hook in found}


def _narrow(function: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    def call(**arguments: Any) -> Any:
        return function(**{name: arguments[name] for name in names})

    setattr(call, MARK, vars(function)[MARK])
    return call


def find_place(function: Callable[..., Any]) -> int:
    """Return where an implementation stands among those of all plugins: -1 for tryfirst, 1 for trylast, else 0.

    >>> from complog_core import hookimpl
    >>> find_place(hookimpl(trylast=True)(lambda: []))
    1
    """
    options = getattr(function, MARK, None)
    return options["trylast"] - options["tryfirst"] if isinstance(options, dict) else 0
