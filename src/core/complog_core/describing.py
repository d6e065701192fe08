"""What complog knows about a record besides what stands in it: for handlers that write no line but values."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .formatters import artifact_name, field_text
from .registry import nearest_above

if TYPE_CHECKING:
    from .model import Artifact, Field
    from .registry import Registry


class RecordDescriber:
    """Tells a record's artifact, its components and its contributed fields, as the configuration of the moment has it.

    `prefix` is that of the system. It may be asked from any thread, about any record, and never raises.

    >>> from complog_core import Component, PluginInfo
    >>> from complog_core.model import Field
    >>> from complog_core.registry import Registry
    >>> registry = Registry.build([(PluginInfo("mybackend"), Component("tiler", ["mybackend.tiler"]))])
    >>> describer = RecordDescriber("MYLIB", registry, [Field("rank", "head", lambda record: "[rank0]:")], {})
    >>> record = logging.LogRecord("mybackend.tiler.loops", logging.INFO, "/x/y.py", 3, "hello", (), None)
    >>> describer.artifact(record), describer.components(record), describer.fields(record)
    (None, ('tiler',), {'rank': '[rank0]:'})
    """

    def __init__(
        self, prefix: str, registry: Registry, fields: Sequence[Field], artifacts: Mapping[str, Artifact]
    ) -> None:
        self.prefix = prefix
        self._loggers = registry.loggers
        self._fields = tuple(fields)
        self._artifacts = artifacts

    def artifact(self, record: logging.LogRecord) -> str | None:
        """Return the name of the artifact that the record belongs to, None where it belongs to none."""
        return artifact_name(record.name, self._artifacts)

    def components(self, record: logging.LogRecord) -> tuple[str, ...]:
        """Return the names of the components whose logger is the nearest above the record's; () where none is."""
        nearest = nearest_above(record.name, self._loggers)
        entries = () if nearest is None else self._loggers[nearest]
        return tuple(dict.fromkeys(entry.name for entry in entries))

    def fields(self, record: logging.LogRecord) -> dict[str, str]:
        """Return the texts of the contributed fields that are not blank, without white space around, by their names."""
        texts = ((field.name, field_text(field, record).strip()) for field in self._fields)
        return {name: text for name, text in texts if text}
