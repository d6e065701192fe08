"""The frozen values that plugins contribute and that the engine hands out.

They are named tuples and not dataclasses because making those costs an import a hundred times as much.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

from .values import NamedTuple

OFF: Final = sys.maxsize
"""The level of a logger that was switched off: above every level that a record can have."""

Kind = Literal["component", "artifact"]
PluginStatus = Literal["loaded", "failed", "disabled", "set aside"]
Source = Literal["environment", "api", "inherited", "default"]


_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class _ComponentFields(NamedTuple):
    name: str
    loggers: tuple[str, ...]
    description: str = ""


class Component(_ComponentFields):
    """A name with a level: setting it sets the level of its loggers.

    >>> Component("tiler", ["mybackend.tiler"], "loop tiling of the backend").loggers
    ('mybackend.tiler',)
    """

    __slots__ = ()

    def __new__(cls, name: str, loggers: str | Iterable[str], description: str = "") -> Component:
        if not hasattr(loggers, "__iter__"):
            raise ValueError(f"the loggers of {name!r} are {loggers!r}, not a str or several")
        qualified = (loggers,) if isinstance(loggers, str) else tuple(loggers)
        return super().__new__(cls, name, tuple(dict.fromkeys(qualified)), description)

    @property
    def identity(self) -> tuple[object, ...]:
        """What makes two registrations the same: the loggers, not the description."""
        return ("component", frozenset(self.loggers))


class Artifact(NamedTuple):
    """A kind of output that is on or off, whatever the level of the component it lies under.

    `visible` artifacts stand in the short help. An `off_by_default` one prints only when it is named. `log_format` is a
    %-format that replaces the default line ("" is a format: the bare message); `%(prefix)s` in it stands for the
    default line's prefix. `show_exception` may be a callable that is asked per record.

    >>> Artifact("tiles", "the chosen tile sizes", off_by_default=True).visible
    False
    """

    name: str
    description: str = ""
    visible: bool = False
    off_by_default: bool = False
    log_format: str | None = None
    show_exception: bool | Callable[[], bool] = True

    @property
    def identity(self) -> tuple[object, ...]:
        """What makes two registrations the same: the flags, not the description."""
        return ("artifact", self.visible, self.off_by_default, self.log_format, self.show_exception)


class Keyword(NamedTuple):
    """A `set_logs` keyword that is neither a component nor an artifact.

    `type` is what the signature shows. `env_var` names the variable that sets it too, where `{prefix}` stands for the
    system's prefix ("{prefix}_LOGS_RANKS"). `convert` turns an argument, or the variable's text, into the value and
    raises ValueError for a bad one; without it the value must be an instance of `type`, and a text is read as one.
    `apply` is called with the value, or with `default`, whenever the configuration changes.

    >>> Keyword("ranks", "list[int] | None", None, "ranks that log", env_var="{prefix}_LOGS_RANKS").default is None
    True
    """

    name: str
    type: Any = bool
    default: Any = None
    doc: str = ""
    env_var: str | None = None
    apply: Callable[[Any], object] | None = None
    convert: Callable[[Any], Any] | None = None


class Field(NamedTuple):
    """A piece of the default line: `value(record)` is put at its head (`[rank0]:`) or its tail (` [0/0]`).

    >>> Field("rank", "head", lambda record: "[rank0]:").slot
    'head'
    """

    name: str
    slot: Literal["head", "tail"]
    value: Callable[[logging.LogRecord], str]


class Setting(NamedTuple):
    """One item of a settings text: `level` is a logging level or OFF, `text` the item as it was written.

    `source` names the variable that it stood in, "set_logs" for one that did not.

    >>> Setting("dynamo", logging.DEBUG, "+dynamo").level
    10
    """

    name: str
    level: int
    text: str
    source: str = "set_logs"


class Request(NamedTuple):
    """What the API asked for last: settings in order, and the values of contributed keywords.

    `made` tells that somebody did ask, be it for nothing: what a parent process handed down does not count then.
    """

    settings: tuple[Setting, ...] = ()
    keywords: Mapping[str, Any] = _NOTHING
    made: bool = False

    def __bool__(self) -> bool:
        return bool(self.settings or self.keywords)


class Outputs(NamedTuple):
    """Where records go: `path` of the file (None: none), `format` (None: the default line), whether to the console.

    `ranks` is the set of ranks that log (None: all); `propagate` tells that root's handlers get each record too.

    >>> Outputs().stderr
    True
    """

    path: str | None = None
    format: str | None = None
    stderr: bool = True
    propagate: bool = False
    ranks: frozenset[int] | None = None


class RecordDescriber(NamedTuple):
    """What complog knows about a record besides what stands in it; asked from any thread, and never raises.

    `prefix` is that of the system. `artifact` returns the name of the artifact that a record belongs to, or None,
    `components` the names of the components whose logger is the nearest above the record's, `fields` the texts of the
    contributed fields by their names, without white space around, blank ones left out.

    >>> RecordDescriber().fields(logging.makeLogRecord({}))
    {}
    """

    prefix: str = "TORCH"
    artifact: Callable[[logging.LogRecord], str | None] = lambda record: None
    components: Callable[[logging.LogRecord], tuple[str, ...]] = lambda record: ()
    fields: Callable[[logging.LogRecord], Mapping[str, str]] = lambda record: {}


class TraceRecord(NamedTuple):
    """One record of the structured trace, as listeners get it: `metadata` is `{name: ..., further fields}`.

    `payload` is the text that stands in the file, None where there is none; `created` is in seconds since the epoch,
    `pathname` and `lineno` are the caller's. Records hold file names as numbers; `explain` returns what a number stands
    for, None where that is not known. The values are the program's: who keeps them copies them.

    >>> TraceRecord("tiles", {"tiles": {"count": 3}}, None, 0.0, "/x/y.py", 3).metadata["tiles"]
    {'count': 3}
    """

    name: str
    metadata: Mapping[str, Any]
    payload: str | None
    created: float
    pathname: str
    lineno: int
    explain: Callable[[int], str | None] = lambda number: None


class PluginInfo(NamedTuple):
    """What became of one entry point, or of one plugin object that was passed to a system.

    `family` qualifies its names (`family/name`). `cause` is one line, `traceback` the whole story of a failure, `notes`
    are warnings about a plugin that works.

    >>> str(PluginInfo("onnx", "complog-onnx", "0.1.0", "complog_onnx"))
    'complog-onnx[onnx] 0.1.0'
    """

    family: str
    distribution: str | None = None
    version: str | None = None
    value: str = ""
    status: PluginStatus = "loaded"
    cause: str = ""
    traceback: str = ""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"{self.distribution or 'unknown distribution'}[{self.family}]"
        return f"{text} {self.version}" if self.version else text


class LogState(NamedTuple):
    """The configuration in force, as values: what is set explicitly, and how to ask for the rest.

    `levels` maps logger names to the levels that were set for them; `artifacts` maps every spelling of a named
    artifact to True or False (muted); `pending` lists names that wait for somebody to register them; `defaults` maps
    the top-level registered loggers to the level that they have unset.

    >>> state = LogState(levels={"a": logging.DEBUG}, defaults={"a": logging.WARNING})
    >>> state.level("a.b"), state.level("elsewhere"), state.enabled("tiles")
    (10, 30, False)
    """

    prefix: str = "TORCH"
    source: Source = "default"
    levels: Mapping[str, int] = _NOTHING
    artifacts: Mapping[str, bool] = _NOTHING
    keywords: Mapping[str, Any] = _NOTHING
    outputs: Outputs = Outputs()
    pending: tuple[str, ...] = ()
    defaults: Mapping[str, int] = _NOTHING

    def level(self, logger_name: str) -> int:
        """Return the effective level that this configuration gives the logger; WARNING where it says nothing."""
        name = logger_name
        while name:
            level = self.levels.get(name, logging.NOTSET) or self.defaults.get(name, logging.NOTSET)
            if level:
                return level
            name = name.rpartition(".")[0]
        return logging.WARNING

    def enabled(self, artifact: str) -> bool:
        """Return whether the artifact was named and not muted; `family/name` asks for one owner's."""
        return self.artifacts.get(artifact, False)
