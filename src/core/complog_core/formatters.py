"""How a record becomes text: the default line, and the choice between it, %-formats and the registered names."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from .errors import FormatError
from .faults import note_fault_of
from .percent import PercentFormatter, check_format, list_formats, nearest_text
from .rendering import warn_once

if TYPE_CHECKING:
    from .model import Artifact, Field

_LETTERS: Final = {"DEBUG": "V", "INFO": "I", "WARNING": "W", "ERROR": "E", "CRITICAL": "C"}
_MOST_REMEMBERED: Final = 1024
_paths: tuple[list[str], dict[str, str]] = ([], {})


def relative_path(pathname: str) -> str:
    """Return the resolved path relative to the first `sys.path` entry that contains it, or whole where none does.

    >>> import logging
    >>> relative_path(logging.__file__).replace("\\\\", "/")
    'logging/__init__.py'
    """
    global _paths
    entries, known = _paths
    if entries != sys.path:
        entries, known = _paths = (list(sys.path), {})
    text = known.get(pathname)
    if text is None:
        if len(known) >= _MOST_REMEMBERED:
            known.clear()
        text = known[pathname] = _search(pathname, entries)
    return text


def _search(pathname: str, entries: list[str]) -> str:
    import pathlib

    try:
        resolved = pathlib.Path(pathname).resolve()
    except (OSError, RuntimeError, ValueError):  # a working directory that is gone, a loop of links, a null character
        return pathname
    for entry in entries:
        try:
            return str(resolved.relative_to(entry))
        except (TypeError, ValueError):  # programs put all kinds of things on sys.path
            continue
    return str(resolved)


def artifact_name(logger_name: str, artifacts: Mapping[str, Artifact]) -> str | None:
    """Return the name of the artifact that this logger prints: as registered, else its logger's `artifact_name`."""
    artifact = artifacts.get(logger_name)
    if artifact is not None:
        return artifact.name
    # getLogger would create a logger for each foreign name
    return getattr(logging.Logger.manager.loggerDict.get(logger_name), "artifact_name", None)


def field_text(field: Field, record: logging.LogRecord) -> str:
    """Return what a plugin's field says about the record; "" and one warning where it raises."""
    try:
        text = field.value(record)
        return text if isinstance(text, str) else "" if text is None else str(text)
    except BaseException as error:
        note_fault_of(field, f"the record field {field.name!r}, which is then left out,", error)
        return ""


class GlogFormatter(logging.Formatter):
    """The default line, `V1129 15:57:26.774000 4408 pkg/mod.py:241] [__guards] text`, repeated for every line of text.

    An artifact with a `log_format` is rendered with that instead. Formatters of plugins may subclass it, or use one's
    `prefix`.

    >>> record = logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "first\\nsecond", (), None)
    >>> [line.split("]")[1] for line in GlogFormatter().format(record).split("\\n")]
    [' first', ' second']
    """

    def __init__(self) -> None:
        super().__init__()
        self._heads: tuple[Field, ...] = ()
        self._tails: tuple[Field, ...] = ()
        self._artifacts: Mapping[str, Artifact] = {}
        self._customs: dict[str, PercentFormatter | None] = {}
        self._second = (-1, "")
        self._own_clock = type(self).formatTime is not logging.Formatter.formatTime

    def bind(self, fields: Sequence[Field], artifacts: Mapping[str, Artifact]) -> None:
        """Take the pieces of the line and the mapping from logger names to artifacts, which is read at each record."""
        self._heads = tuple(field for field in fields if field.slot == "head")
        self._tails = tuple(field for field in fields if field.slot == "tail")
        self._artifacts = artifacts

    def prefix(self, record: logging.LogRecord) -> str:
        """Return what stands before the text on each line of the record, without the space between them."""
        head = tail = ""
        for field in self._heads:
            head += field_text(field, record)
        for field in self._tails:
            tail += field_text(field, record)
        name = artifact_name(record.name, self._artifacts)
        if name is not None:
            tail += f" [__{name}]"
        return (
            f"{head}{_LETTERS.get(record.levelname, record.levelname)}{self._time(record)}"
            f".{int(record.msecs * 1000):06d} {record.process} {relative_path(record.pathname)}:{record.lineno}]{tail}"
        )

    def _time(self, record: logging.LogRecord) -> str:
        if self._own_clock:
            return self.formatTime(record, "%m%d %H:%M:%S")
        second, text = self._second
        if second != int(record.created):
            # most records come within the second of the last one, and strftime is a tenth of a line's cost
            text = self.formatTime(record, "%m%d %H:%M:%S")
            self._second = (int(record.created), text)
        return text

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text, without a line end."""
        artifact = self._artifacts.get(record.name)
        if artifact is not None and artifact.log_format is not None:
            custom = self._custom(artifact)
            if custom is not None:
                return custom.format(record)
        record.message = text = record.getMessage()
        if (record.exc_info or record.exc_text) and _shows_exception(artifact):
            exception = self._exception(record)
            if exception:
                text = _below(text, exception)
        if record.stack_info:
            text = _below(text, self.formatStack(record.stack_info))
        prefix = self.prefix(record)
        if "\n" not in text:
            return f"{prefix} {text}"
        return "\n".join([f"{prefix} {line}" for line in text.split("\n")])

    def _exception(self, record: logging.LogRecord) -> str:
        text = record.exc_text
        if not text and record.exc_info:
            text = self.formatException(record.exc_info)
            if type(self).formatException is logging.Formatter.formatException:
                record.exc_text = text  # others reuse it, so a subclass' own rendering must not get there
        return text or ""

    def _custom(self, artifact: Artifact) -> PercentFormatter | None:
        fmt = artifact.log_format or ""
        try:
            return self._customs[fmt]
        except KeyError:
            pass
        custom = None
        try:
            custom = PercentFormatter(fmt, self.prefix)
        except ValueError as error:
            warn_once(("log_format", fmt), f"artifact {artifact.name!r}: {error}; it prints the default line")
        if len(self._customs) >= _MOST_REMEMBERED:
            self._customs.clear()
        self._customs[fmt] = custom
        return custom


def _below(text: str, more: str) -> str:
    return text + more if text.endswith("\n") else f"{text}\n{more}"


def _shows_exception(artifact: Artifact | None) -> bool:
    if artifact is None:
        return True
    shown = artifact.show_exception
    if not callable(shown):
        return shown
    try:
        return bool(shown())
    except BaseException as error:
        note_fault_of(shown, f"show_exception of the artifact {artifact.name!r}", error)
        return True


def make_formatter(
    fmt: str | None,
    factories: Mapping[str, Callable[[], logging.Formatter]],
    fields: Sequence[Field],
    artifacts: Mapping[str, Artifact],
    *,
    variable: str,
) -> logging.Formatter:
    """Return the formatter that a format's text asks for: None or blank, a registered name, or a %-format.

    Raises FormatError, whose source is `variable`, for anything else and for a %-format that cannot render a record.

    >>> type(make_formatter(None, {}, (), {}, variable="TORCH_LOGS_FORMAT")).__name__
    'GlogFormatter'
    >>> make_formatter("%(mesage)s", {}, (), {}, variable="TORCH_LOGS_FORMAT")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    complog_core.errors.FormatError: TORCH_LOGS_FORMAT: '%(mesage)s': unknown field 'mesage'; did you mean message...
    """
    glog = GlogFormatter()
    glog.bind(fields, artifacts)
    if fmt is None or not fmt.strip():
        return glog
    name = fmt.strip()
    if name in factories:
        return _call_factory(name, factories[name], fields, artifacts, variable)
    if "%(" in fmt:
        problems = check_format(fmt)
        if problems:
            raise FormatError(variable, (*problems[:-1], problems[-1] + list_formats(factories)))
        return PercentFormatter(fmt, glog.prefix)
    problem = f"{fmt!r}: neither a registered format nor a %-format such as '%(levelname)s %(message)s'"
    raise FormatError(variable, (f"{problem}{nearest_text(name, factories)}{list_formats(factories)}",))


def _call_factory(
    name: str,
    factory: Callable[[], logging.Formatter],
    fields: Sequence[Field],
    artifacts: Mapping[str, Artifact],
    variable: str,
) -> logging.Formatter:
    try:
        made: object = factory()
        if not isinstance(made, logging.Formatter):
            raise TypeError(f"it returned {type(made).__name__}, not a logging.Formatter")
        bind = getattr(made, "bind", None)
        if bind is not None:
            bind(fields, artifacts)
    except (Exception, SystemExit) as error:
        where = f"{getattr(factory, '__module__', '?')}.{getattr(factory, '__qualname__', type(factory).__qualname__)}"
        problem = f"{name!r}: its factory {where} failed: {type(error).__name__}: {error}"
        raise FormatError(variable, (problem,)) from error
    return made
