"""How a record becomes text: the default line, and what it takes from plugins."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from .faults import note_fault_of
from .rendering import hide_exception, shows_exception, warn_once

if TYPE_CHECKING:
    FieldValue = Callable[[logging.LogRecord], str]

    from .model import Artifact, Field
    from .percent import PercentFormatter

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
        entries, known = _paths = (list(sys.path or ()), {})  # there is none any more while the interpreter ends
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
    if ".__" not in logger_name:  # as the names of all artifact loggers are made
        return None
    # getLogger would create a logger for each foreign name
    return getattr(logging.Logger.manager.loggerDict.get(logger_name), "artifact_name", None)


def field_text(field: Field, record: logging.LogRecord) -> str:
    """Return what a plugin's field says about the record; "" and one warning where it raises."""
    try:
        return _as_text(field, field.value(record))
    except BaseException as error:
        note_field(field, error)
        return ""


def note_field(field: Field | None, error: BaseException) -> None:
    """Note that a field raised, as `note_fault_of` does: one warning; an interrupt is raised again."""
    name = field and field.name
    note_fault_of(field, f"the record field {name!r}, which is then left out,", error)


def _as_text(field: Field | None, value: object) -> str:
    try:
        # of a kind of str the characters, whatever it prints as
        return str.__str__(value) if isinstance(value, str) else "" if value is None else str(value)
    except BaseException as error:
        note_field(field, error)
        return ""


def _join(fields: Sequence[Field]) -> Field | None:
    """Return one field that says what these say one after the other, None for none."""
    if len(fields) < 2:
        return fields[0] if fields else None
    return fields[0]._replace(value=lambda record: "".join([field_text(field, record) for field in fields]))


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
        self._fields: tuple[Field | None, Field | None] = (None, None)
        self._head: FieldValue | None = None
        self._tail: FieldValue | None = None
        self._artifacts: Mapping[str, Artifact] = {}
        self._customs: dict[str, PercentFormatter | None] = {}
        self._last = (0.0, -1.0, "")
        self._own_prefix = type(self).prefix is GlogFormatter.prefix
        self._own_clock = type(self).formatTime is not logging.Formatter.formatTime

    def bind(self, fields: Sequence[Field], artifacts: Mapping[str, Artifact]) -> None:
        """Take the pieces of the line and the mapping from logger names to artifacts, which is read at each record."""
        head, tail = (_join([field for field in fields if field.slot == slot]) for slot in ("head", "tail"))
        self._fields = (head, tail)
        self._head, self._tail = head and head.value, tail and tail.value
        self._artifacts = artifacts

    def prefix(self, record: logging.LogRecord) -> str:
        """Return what stands before the text on each line of the record, without the space between them."""
        return GlogFormatter.format(self, record, "")[:-1]

    def format(self, record: logging.LogRecord, _text: str | None = None) -> str:
        """Return the record as text, without a line end."""
        # all in one, since each call less is a hundredth of a line; given a text, it is only that behind the prefix
        artifact = self._artifacts.get(record.name)
        if _text is None:
            if artifact is not None and artifact.log_format is not None:
                custom = self._custom(artifact)
                if custom is not None:
                    return custom.format(hide_exception(record, artifact))
            record.message = _text = record.getMessage()
            if record.exc_info or record.exc_text or record.stack_info:
                _text = self._with_traces(record, _text, artifact)
            if not self._own_prefix or "\n" in _text:
                prefix = self.prefix(record) + " "
                return prefix + _text.replace("\n", f"\n{prefix}")
        head: object = ""
        tail: object = ""
        # one after the other, not in a loop, which takes a fiftieth of a line
        value = self._head
        if value is not None:
            try:
                head = value(record)
            except BaseException as error:
                note_field(self._fields[0], error)
        value = self._tail
        if value is not None:
            try:
                tail = value(record)
            except BaseException as error:
                note_field(self._fields[1], error)
        if type(head) is not str or type(tail) is not str:
            head, tail = (_as_text(*each) for each in zip(self._fields, (head, tail), strict=True))
        if artifact is not None:
            tail = f"{tail} [__{artifact.name}]"
        elif ".__" in record.name:
            name = artifact_name(record.name, self._artifacts)
            tail = tail if name is None else f"{tail} [__{name}]"
        created, msecs, stamp = self._last
        if msecs != record.msecs or not -0.5 < record.created - created < 0.5:
            stamp = self._renew(record)
        level, pathname = record.levelname, record.pathname
        return (
            f"{head}{_LETTERS.get(level, level)}{stamp} {record.process} "
            f"{_paths[1].get(pathname) or relative_path(pathname)}:{record.lineno}]{tail} {_text}"
        )

    def _renew(self, record: logging.LogRecord) -> str:
        """Make what is the same for all records of one millisecond: strftime alone is a tenth of a line's cost."""
        relative_path(record.pathname)  # looks at sys.path
        stamp = f"{self.formatTime(record, '%m%d %H:%M:%S')}.{int(record.msecs * 1000):06d}"
        if not self._own_clock:
            self._last = (record.created, record.msecs, stamp)
        return stamp

    def _with_traces(self, record: logging.LogRecord, text: str, artifact: Artifact | None) -> str:
        if (record.exc_info or record.exc_text) and shows_exception(artifact):
            exception = self._exception(record)
            if exception:
                text = _below(text, exception)
        return _below(text, self.formatStack(record.stack_info)) if record.stack_info else text

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
        from .percent import PercentFormatter

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
