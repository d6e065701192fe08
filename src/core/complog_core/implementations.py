"""The hooks that a module or object implements, found by pluggy's marks and checked by pluggy, as plain functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from types import FunctionType, ModuleType
from typing import Any, Final

import pluggy

from . import hookspecs
from .faults import Fault
from .hookspecs import PROJECT

_PREFIX: Final = f"{PROJECT}_"
_MARK: Final = f"{PROJECT}_impl"  # as pluggy calls the attribute that a marker sets

HOOKS: Final = tuple(name for name in vars(hookspecs) if name.startswith(_PREFIX))
"""The names of all hooks."""

Implementations = Mapping[str, tuple[Callable[..., Any], ...]]


_VARIADIC: Final = 0x4 | 0x8  # as inspect, which programs can do without, has them
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
            if isinstance(value, _NEVER_MARKED) or (isinstance(value, FunctionType) and _MARK not in vars(value)):
                return None
        return super().parse_hookimpl_opts(plugin, name)


def find_implementations(obj: object, label: str) -> Implementations:
    """Return the implementations of each hook that `obj` implements, in calling order (tryfirst first).

    They take the specification's arguments by keyword, and get those that they declare. Raises Fault, whose text
    continues "<label> ...", for a mark that fits no hook, a hook's name without a mark, a wrapper, and arguments that
    the specification does not have.

    >>> class Names:
    ...     @hookspecs.hookimpl
    ...     def complog_env_vars(self):
    ...         return ["MYLIB_LOGS"]
    >>> [function() for function in find_implementations(Names(), "Names")["complog_env_vars"]]
    [['MYLIB_LOGS']]
    """
    plain = _read_plain_module(obj) if type(obj) is ModuleType else None
    if plain is not None:
        return plain
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


def _read_plain_module(module: ModuleType) -> Implementations | None:
    """Return what `module` implements if it is as nearly all are, None where pluggy has to look at it.

    Those have marked functions that take exactly what the specification has. Pluggy would find nothing more in them,
    and take longer over it than importing them does.
    """
    found: dict[str, list[Callable[..., Any]]] = {}
    for name, value in vars(module).items():
        options = vars(value).get(_MARK) if type(value) is FunctionType else None
        if options is None:
            if name == "__dir__" or name in HOOKS or (name.startswith(_PREFIX) and type(value) is FunctionType):
                return None
            if type(value) is not FunctionType and hasattr(type(value), "__get__"):
                return None  # a function of another kind, which may be marked
            continue
        hook = options.get("specname") or name
        if hook not in HOOKS or options.get("wrapper") or options.get("hookwrapper"):
            return None
        if not _names_exactly(value, _parameters(hook)):
            return None
        found.setdefault(hook, []).append(value)
    for functions in found.values():
        if len(functions) > 1:
            functions.sort(key=find_place)
            if len(set(map(find_place, functions))) < len(functions):
                return None  # their order is pluggy's to say
    return {hook: tuple(found[hook]) for hook in HOOKS if hook in found}


def find_place(function: Callable[..., Any]) -> int:
    """Return where an implementation stands among those of all plugins: -1 for tryfirst, 1 for trylast, else 0.

    >>> find_place(hookspecs.hookimpl(trylast=True)(lambda: []))
    1
    """
    options = getattr(function, _MARK, None)
    return options["trylast"] - options["tryfirst"] if isinstance(options, dict) else 0


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
    if not name.startswith(_PREFIX):
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


def _parameters(hook: str) -> tuple[str, ...]:
    specification = getattr(hookspecs, hook).__code__
    names: tuple[str, ...] = specification.co_varnames[: specification.co_argcount]
    return names


def _names_exactly(function: object, known: tuple[str, ...]) -> bool:
    # most are plain functions that take what the specification has; inspect takes its time to see that
    if type(function) is not FunctionType or hasattr(function, "__wrapped__") or hasattr(function, "__signature__"):
        return False
    code = function.__code__
    plain = not (code.co_flags & _VARIADIC or code.co_posonlyargcount or code.co_kwonlyargcount)
    return plain and sorted(code.co_varnames[: code.co_argcount]) == sorted(known)


def _make_plain(hook: str, function: Callable[..., Any], obj: object) -> Callable[..., Any]:
    known = _parameters(hook)
    if _names_exactly(function, known):
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

    setattr(call, _MARK, getattr(function, _MARK, None))
    return call
