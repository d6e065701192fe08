"""What a hook may return: the result is read once, item by item, and what cannot be used is refused in one line."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from .faults import Fault as Fault
from .faults import note_fault
from .model import Artifact, Component, Field, Keyword, PluginInfo
from .registry import check_name

_VALUES: Final = (Artifact, Component, Field, Keyword)


def read_contribution(hook: str, result: object) -> tuple[Any, ...] | Mapping[str, Any]:
    """Return what a hook returned, checked: a tuple for the hooks of iterables, a mapping for the two of mappings.

    Raises Fault, whose text continues "complog_x() ...", for what the hook may not return; what a generator raises
    while it is read comes out as it is.

    >>> read_contribution("complog_env_vars", ["MYLIB_LOGS"])
    ('MYLIB_LOGS',)
    >>> read_contribution("complog_components", None)
    Traceback (most recent call last):
        ...
    complog_core.faults.Fault: returned None instead of an iterable of Component
    """
    if hook == "complog_formatters":
        return _read_formatters(result)
    if hook == "complog_trace_context":
        return _read_trace_context(result)
    wanted, check = _ITEMS[hook]
    # the contributions are tuples themselves: one that was not put into a list is no iterable of such
    if isinstance(result, (str, bytes, *_VALUES)) or not isinstance(result, Iterable):
        if isinstance(result, Coroutine):
            result.close()  # Python would warn that it was never awaited
        raise Fault(f"returned {_name_type(result)} instead of an iterable of {wanted}")
    items: list[Any] = []
    for item in result:
        try:
            check(item)
        except ValueError as error:
            raise Fault(f"gave {_name_item(item)}: {error}") from None
        items.append(item)
    return tuple(items)


def check_component(item: object) -> None:
    """Raise ValueError, saying why, unless `item` is a Component that can be registered.

    >>> check_component(Component("tiler", ["mybackend..tiler"]))
    Traceback (most recent call last):
        ...
    ValueError: 'mybackend..tiler' is not the name of a logger
    """
    _check_type(item, Component)
    assert isinstance(item, Component)
    check_name(item.name)
    _check_type(item.description, str, "its description")
    if not item.loggers:
        raise ValueError("it has no loggers")
    for logger in item.loggers:
        _check_type(logger, str, "a logger")
        if logger.split() != [logger] or "" in logger.split("."):
            raise ValueError(f"{logger!r} is not the name of a logger")
        if logger == "root":
            raise ValueError("'root' is the root logger, which no component may have")


def check_artifact(item: object) -> None:
    """Raise ValueError, saying why, unless `item` is an Artifact that can be registered.

    >>> check_artifact(Artifact("tiles", log_format="%(message"))
    Traceback (most recent call last):
        ...
    ValueError: its log_format '%(message' is not a %-format: incomplete format key
    """
    _check_type(item, Artifact)
    assert isinstance(item, Artifact)
    check_name(item.name)
    _check_type(item.description, str, "its description")
    _check_type(item.visible, bool, "visible")
    _check_type(item.off_by_default, bool, "off_by_default")
    if not callable(item.show_exception):
        _check_type(item.show_exception, bool, "show_exception")
    if item.log_format is not None:
        _check_type(item.log_format, str, "its log_format")
        _check_percent_format(item.log_format)


def check_keyword(item: object) -> None:
    """Raise ValueError, saying why, unless `item` is a Keyword that can be registered.

    >>> check_keyword(Keyword("ranks", env_var="{prefix} RANKS"))
    Traceback (most recent call last):
        ...
    ValueError: its env_var '{prefix} RANKS' is not the name of a variable
    """
    _check_type(item, Keyword)
    assert isinstance(item, Keyword)
    check_name(item.name)
    _check_type(item.doc, str, "its doc")
    if item.env_var is not None:
        _check_type(item.env_var, str, "its env_var")
        if not _is_variable(item.env_var.replace("{prefix}", "TORCH")):
            raise ValueError(f"its env_var {item.env_var!r} is not the name of a variable")
    for what, function in (("apply", item.apply), ("convert", item.convert)):
        if function is not None and not callable(function):
            raise ValueError(f"{what} must be callable, not {_name_type(function)}")


def check_field(item: object) -> None:
    """Raise ValueError, saying why, unless `item` is a Field that can be put on a line.

    >>> check_field(Field("rank", "middle", str))
    Traceback (most recent call last):
        ...
    ValueError: its slot must be 'head' or 'tail', not 'middle'
    """
    _check_type(item, Field)
    assert isinstance(item, Field)
    check_name(item.name)
    slot: object = item.slot
    if slot not in ("head", "tail"):
        raise ValueError(f"its slot must be 'head' or 'tail', not {slot!r}")
    if not callable(item.value):
        raise ValueError(f"its value must be callable, not {_name_type(item.value)}")


def _is_variable(text: str) -> bool:
    return text.isascii() and text.isidentifier()


def _check_env_var(item: object) -> None:
    _check_type(item, str)
    assert isinstance(item, str)
    if not _is_variable(item):
        raise ValueError("it is not the name of a variable")


def _check_callable(item: object) -> None:
    if not callable(item):
        raise ValueError("it is not callable")


def _check_handler(item: object) -> None:
    _check_type(item, logging.Handler)


def _check_note(item: object) -> None:
    _check_type(item, str)


_ITEMS: Final[Mapping[str, tuple[str, Callable[[object], None]]]] = {
    "complog_components": ("Component", check_component),
    "complog_artifacts": ("Artifact", check_artifact),
    "complog_keywords": ("Keyword", check_keyword),
    "complog_env_vars": ("str", _check_env_var),
    "complog_handlers": ("logging.Handler", _check_handler),
    "complog_filters": ("callables", _check_callable),
    "complog_console_painters": ("callables", _check_callable),
    "complog_record_fields": ("Field", check_field),
    "complog_trace_listeners": ("callables", _check_callable),
    "complog_plugin_notes": ("str", _check_note),
}


def _read_formatters(result: object) -> Mapping[str, Any]:
    if not isinstance(result, Mapping):
        raise Fault(f"returned {_name_type(result)} instead of a mapping of names to formatter factories")
    factories = dict(result.items())
    for name, factory in factories.items():
        try:
            check_name(name)
        except ValueError as error:
            raise Fault(f"gave a formatter: {error}") from None
        if not callable(factory):
            raise Fault(f"gave the formatter {name!r}: {_name_type(factory)} is not a callable that makes a formatter")
    return MappingProxyType(factories)


def _read_trace_context(result: object) -> Mapping[str, Any]:
    if result is None:
        return MappingProxyType({})
    if not isinstance(result, Mapping):
        raise Fault(f"returned {_name_type(result)} instead of a mapping of field names to values, or None")
    fields = dict(result.items())
    for name in fields:
        if not isinstance(name, str):
            raise Fault(f"gave a field whose name is no str but {_name_type(name)}")
    return fields


def _check_percent_format(text: str) -> None:
    if re.search(r"%(?!\()", text.replace("%%", "")):
        raise ValueError(f"its log_format {text!r} is not a %-format: a lone % is written %%")
    sample = logging.LogRecord("name", logging.INFO, "path", 1, "message", None, None).__dict__
    try:
        text % _AnyField(sample, message="", asctime="", prefix="", taskName="")
        logging.PercentStyle(text).validate()
    except Exception as error:
        raise ValueError(f"its log_format {text!r} is not a %-format: {error}") from None


class _AnyField(dict[str, Any]):
    """Stands for a record: a record may carry fields that only the plugin knows, of whatever type."""

    def __missing__(self, name: str) -> int:
        return 0


def _check_type(value: object, kind: type, what: str = "it") -> None:
    if not isinstance(value, kind):
        raise ValueError(f"{what} must be a {kind.__name__}, not {_name_type(value)}")


def _name_type(value: object) -> str:
    return "None" if value is None else type(value).__name__


def _name_item(item: object) -> str:
    name = item if isinstance(item, str) else getattr(item, "name", None)
    kind = _name_type(item)
    return f"the {kind} {name!r}" if isinstance(name, str) else kind


def _are_same(given: Sequence[Any], before: tuple[Any, ...]) -> bool:
    # a field is made anew each time; whatever else is equal to another one need not be the same to its plugin
    if len(given) != len(before):
        return False
    if not before:
        return True
    pairs = zip(given, before, strict=True)
    return all(a is b or (type(a) is Field and type(b) is Field and a == b) for a, b in pairs)


def gather(owner: PluginInfo, function: Callable[..., object], hook: str) -> tuple[Any, ...]:
    """Return what one plugin's hook gives, checked; nothing, and one warning, where it fails."""
    return check_reply(owner, hook, function, None)[1]


def check_reply(
    owner: PluginInfo, hook: str, ask: Callable[[], object], known: tuple[object, tuple[Any, ...]] | None
) -> tuple[object, tuple[Any, ...]]:
    """Return the tuple that the hook gives, None where it gives something else or fails, and what of it is sound.

    `known` is what it gave before: most give the same each time, and checking that takes longer than they do.
    """
    try:
        result = ask()
        if known is not None:
            raw, given = known
            if raw is not None and result is raw:
                return known
            if isinstance(result, (tuple, list)) and _are_same(result, given):
                return (result if type(result) is tuple else None, given)
        given = tuple(read_contribution(hook, result))
    except BaseException as error:
        note_fault(owner, f"{hook}()", error, may_raise=True)
        return (None, ())
    return (result if type(result) is tuple else None, given)
