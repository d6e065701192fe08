"""The hooks of what is no plain module: pluggy finds them, checks them, and words what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from types import FunctionType, ModuleType
from typing import Any, Final

import pluggy

from . import hookspecs
from .faults import Fault
from .hookspecs import HOOKS, MARK, PREFIX, PROJECT, parameters_of, read_parameters

_NEVER_MARKED: Final = (type, ModuleType, str, tuple, dict, frozenset)


class _Manager(pluggy.PluginManager):
    """Looks only at names that can matter: telling what hides behind a name is most of the cost of a registration."""

    specified: Collection[str] = ()

    def __init__(self) -> None:
        super().__init__(PROJECT)
        self._options: dict[str, Any] = {}

    def parse_hookspec_opts(self, module_or_class: Any, name: str) -> Any:
        return super().parse_hookspec_opts(module_or_class, name) if name in self.specified else None

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        if name not in self._options:
            self._options[name] = self._read_options(plugin, name)
        return self._options[name]

    def _read_options(self, plugin: Any, name: str) -> Any:
        if name.startswith("__"):
            return None
        if isinstance(plugin, ModuleType):
            value = vars(plugin).get(name)
            if isinstance(value, _NEVER_MARKED) or (isinstance(value, FunctionType) and MARK not in vars(value)):
                return None
        return super().parse_hookimpl_opts(plugin, name)


def register(obj: object, label: str) -> Mapping[str, tuple[Callable[..., Any], ...]]:
    """Return what `find_implementations` does, for everything that may implement hooks; raises Fault as that does.

    >>> class Names:
    ...     @hookspecs.hookimpl
    ...     def complog_env_vars(self):
    ...         return ["MYLIB_LOGS"]
    >>> list(register(Names(), "Names"))
    ['complog_env_vars']
    """
    # one manager each: what one object's __eq__ or failed registration does reaches no other plugin
    manager = _Manager()
    marked: dict[str, object] = {}
    for name in dir(obj):
        options = manager.parse_hookimpl_opts(obj, name)
        if options is None:
            _refuse_unmarked(obj, name)
        elif options.get("wrapper") or options.get("hookwrapper"):
            raise Fault(f"wraps {name}: complog's hooks take no wrappers", getattr(obj, name))
        elif (hook := options.get("specname") or name) not in HOOKS and not options.get("optionalhook"):
            raise Fault(f"marks {hook} as a hook, but there is no such hook: {_suggest(hook)}", getattr(obj, name))
        else:
            marked[hook] = getattr(obj, name)
    manager.specified = [hook for hook in HOOKS if hook in marked]
    if not manager.specified:
        return {}
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(obj, name=label)
    except pluggy.PluginValidationError as error:
        raise _explain(error, marked) from None
    found = {hook: reversed(getattr(manager.hook, hook).get_hookimpls()) for hook in manager.specified}
    return {
        hook: tuple(_make_plain(hook, each.function, obj) for each in implementations)
        for hook, implementations in found.items()
    }


def show_specification(hook: str) -> str:
    """Return a hook's signature as its specification words it.

    >>> show_specification("complog_env_vars")
    'complog_env_vars() -> Iterable[str]'
    """
    import inspect

    specification = getattr(hookspecs, hook)
    worded = (specification.__doc__ or "").partition(": ")[0]  # there is no docstring under -OO
    return worded or f"{hook}({', '.join(inspect.signature(specification).parameters)})"


def _refuse_unmarked(obj: object, name: str) -> None:
    if not name.startswith(PREFIX):
        return
    import inspect

    value = inspect.getattr_static(obj, name, None)
    function = getattr(value, "__func__", value)  # a staticmethod or classmethod
    if hasattr(function, f"{PROJECT}_spec"):
        return
    if name in HOOKS:
        raise Fault(f"has {name} without @hookimpl: complog calls only what is marked", function)
    if isinstance(obj, ModuleType) and getattr(function, "__module__", None) != obj.__name__:
        return  # somebody else's function
    if isinstance(function, FunctionType):
        raise Fault(f"has {name} without @hookimpl, and there is no such hook: {_suggest(name)}", function)


def _suggest(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, HOOKS, 1)
    return f"did you mean {near[0]}?" if near else f"the hooks are {', '.join(HOOKS)}"


def _explain(error: pluggy.PluginValidationError, marked: Mapping[str, object]) -> Fault:
    text = str(error)
    match = re.search(r"for hook '(\w+)'", text)
    if match is None:
        return Fault(f"is refused: {' '.join(text.split())}")
    hook = match[1]
    detail = text.splitlines()[-1]
    text = f"implements {hook} wrongly: {detail}; the specification is {show_specification(hook)}"
    return Fault(text, marked.get(hook))


def _make_plain(hook: str, function: Callable[..., Any], obj: object) -> Callable[..., Any]:
    known = parameters_of(hook)
    names = read_parameters(function, hook)
    if names is not None and len(names) == len(known):
        return function
    import inspect

    parameters = inspect.signature(function).parameters.values()
    variadic = {each.kind for each in parameters} & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    plain = [each for each in parameters if each.kind not in variadic]
    foreign = [each.name for each in plain if each.default is each.empty and each.name not in known]
    if isinstance(obj, type) and foreign[:1] == ["self"]:
        raise Fault(f"is a class, and its {hook} needs an instance: pass one, or make it a staticmethod", function)
    if foreign:
        raise Fault(
            f"implements {hook} wrongly: it needs {', '.join(foreign)}; "
            f"the specification is {show_specification(hook)}",
            function,
        )
    positional = tuple(each.name for each in plain if each.kind is each.POSITIONAL_ONLY and each.name in known)
    if inspect.Parameter.VAR_KEYWORD in variadic:
        by_name = tuple(name for name in known if name not in positional)
    else:
        by_name = tuple(each.name for each in plain if each.name in known and each.name not in positional)
    if not positional and set(by_name) == set(known):
        return function

    def call(**arguments: Any) -> Any:
        return function(*[arguments[name] for name in positional], **{name: arguments[name] for name in by_name})

    setattr(call, MARK, getattr(function, MARK, None))
    return call
