"""The two markers, and the specification of every hook that a plugin may implement."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from types import CodeType

    import pluggy

    from .model import Artifact, Component, Field, Keyword, LogState, Outputs, RecordDescriber, TraceRecord

PROJECT: Final = "complog"
PREFIX: Final = f"{PROJECT}_"
MARK: Final = f"{PROJECT}_impl"
"""The attribute that pluggy's marker sets."""
_VARIADIC: Final = 0x4 | 0x8  # as inspect, which programs can do without, has them

if TYPE_CHECKING:
    hookspec: Final = pluggy.HookspecMarker(PROJECT)
    hookimpl: Final = pluggy.HookimplMarker(PROJECT)
else:
    # what pluggy's markers do, which work as well: importing it takes a sixth of all that complog needs, and only
    # plugins that are no plain modules are given to it

    def hookspec(function):
        options = {"firstresult": False, "historic": False, "warn_on_impl": None, "warn_on_impl_args": None}
        setattr(function, f"{PROJECT}_spec", options)
        return function

    def hookimpl(
        function=None,
        hookwrapper=False,
        optionalhook=False,
        tryfirst=False,
        trylast=False,
        specname=None,
        wrapper=False,
    ):
        """Mark a function of a plugin as the implementation of the hook of the same name."""
        options = {
            "hookwrapper": hookwrapper,
            "wrapper": wrapper,
            "optionalhook": optionalhook,
            "tryfirst": tryfirst,
            "trylast": trylast,
            "specname": specname,
        }

        def mark(function):
            setattr(function, MARK, dict(options))
            return function

        return mark if function is None else mark(function)


FormatterFactory = Callable[[], logging.Formatter]
RecordFilter = Callable[[logging.LogRecord], "bool | logging.LogRecord"]
Painter = Callable[[logging.LogRecord, str, TextIO], str]


@hookspec
def complog_components() -> Iterable[Component]:
    """complog_components() -> Iterable[Component]: runs once, when the plugin is loaded.

    Each component becomes a name that takes a level.
    """
    raise NotImplementedError


@hookspec
def complog_artifacts() -> Iterable[Artifact]:
    """complog_artifacts() -> Iterable[Artifact]: runs once, when the plugin is loaded.

    Each artifact becomes a name that is on or off.
    """
    raise NotImplementedError


@hookspec
def complog_keywords() -> Iterable[Keyword]:
    """complog_keywords() -> Iterable[Keyword]: runs once, when the plugin is loaded.

    Each becomes a keyword of `set_logs` and, where it says so, an environment variable.
    """
    raise NotImplementedError


@hookspec
def complog_formatters() -> Mapping[str, FormatterFactory]:
    """complog_formatters() -> Mapping[str, Callable[[], logging.Formatter]]: runs once, when the plugin is loaded.

    Each name becomes valid in `<PREFIX>_LOGS_FORMAT`; its factory is called whenever a configuration asks for it.
    """
    raise NotImplementedError


@hookspec
def complog_handlers(outputs: Outputs, describer: RecordDescriber) -> Iterable[logging.Handler]:
    """complog_handlers(outputs, describer) -> Iterable[logging.Handler]: runs at each change of the configuration.

    Each handler gets every enabled record; one without a formatter gets the line that the console gets. `describer`
    tells a record's artifact, components and fields. Handlers that a later call no longer returns are closed.
    """
    raise NotImplementedError


@hookspec
def complog_console_painters(outputs: Outputs) -> Iterable[Painter]:
    """complog_console_painters(outputs) -> Iterable[Painter]: runs at each change of the configuration.

    Each is a Callable[[LogRecord, str, TextIO], str]: it is given a record, the text that the console would get and the
    stream, and returns what the console gets instead. Files and handlers get the text as it was.
    """
    raise NotImplementedError


@hookspec
def complog_filters() -> Iterable[RecordFilter]:
    """complog_filters() -> Iterable[Callable[[LogRecord], bool | LogRecord]]: runs at each change of the configuration.

    Each is asked about every enabled record before anything is rendered; False drops the record from all outputs, and
    a record that is returned goes on in its place.
    """
    raise NotImplementedError


@hookspec
def complog_record_fields() -> Iterable[Field]:
    """complog_record_fields() -> Iterable[Field]: runs at each change of the configuration.

    Each adds a piece to the head or the tail of the default line's prefix.
    """
    raise NotImplementedError


@hookspec
def complog_trace_context() -> Mapping[str, object] | None:
    """complog_trace_context() -> Mapping[str, object] | None: runs at each structured record, while there is a trace.

    Its items become fields of the record: `rank`, the parts of a compile id, or the plugin's own.
    """
    raise NotImplementedError


@hookspec
def complog_trace_listeners() -> Iterable[Callable[[TraceRecord], object]]:
    """complog_trace_listeners() -> Iterable[Callable[[TraceRecord], object]]: runs at each change of the configuration.

    Each is called with every record of the structured trace, once it is written, while there is a trace.
    """
    raise NotImplementedError


@hookspec
def complog_env_vars() -> Iterable[str]:
    """complog_env_vars() -> Iterable[str]: runs once, when the plugin is loaded.

    Each names a further variable that is read like `TORCH_LOGS`, after it, in the order of the names.
    """
    raise NotImplementedError


@hookspec
def complog_state_changed(state: LogState) -> None:
    """complog_state_changed(state) -> None: runs after each change of the configuration, the first one included.

    It may not call `set_logs` (RuntimeError); a fault in it is a warning and reaches nobody else.
    """
    raise NotImplementedError


@hookspec
def complog_awaits_names() -> str | None:
    """complog_awaits_names() -> str | None: runs when a variable holds a name that nobody has registered.

    A text says why names may still be registered later in this process; they then wait instead of being an error.
    """
    raise NotImplementedError


@hookspec
def complog_plugin_notes() -> Iterable[str]:
    """complog_plugin_notes() -> Iterable[str]: runs when plugins are listed, by `list_plugins` or `complog plugins`.

    Each is a line on how the plugin is doing; it stands under the plugin's name.
    """
    raise NotImplementedError


STATIC_HOOKS: Final = (
    "complog_components",
    "complog_artifacts",
    "complog_keywords",
    "complog_formatters",
    "complog_env_vars",
)
"""Hooks whose contribution is collected once, when the plugin is loaded."""

HOOKS: Final = tuple(name for name in list(globals()) if name.startswith(PREFIX))
"""The names of all hooks."""


def parameters_of(hook: str) -> tuple[str, ...]:
    """Return the names of the arguments that a hook is called with.

    >>> parameters_of("complog_handlers")
    ('outputs', 'describer')
    """
    code: CodeType = globals()[hook].__code__
    return code.co_varnames[: code.co_argcount]


def read_parameters(function: object, hook: str) -> tuple[str, ...] | None:
    """Return what a plain function takes of the specification's arguments, in any order; None for what is less plain.

    >>> read_parameters(complog_env_vars, "complog_env_vars"), read_parameters(lambda other: [], "complog_env_vars")
    ((), None)
    """
    # most are like that; inspect takes its time to see it
    if type(function) is not FunctionType or hasattr(function, "__wrapped__") or hasattr(function, "__signature__"):
        return None
    code = function.__code__
    if code.co_flags & _VARIADIC or code.co_posonlyargcount or code.co_kwonlyargcount:
        return None
    names = code.co_varnames[: code.co_argcount]
    return names if set(names) <= set(parameters_of(hook)) else None
