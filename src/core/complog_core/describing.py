"""What complog knows about a record besides what stands in it: for handlers that write no line but values."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .formatters import artifact_name, field_text
from .model import RecordDescriber

if TYPE_CHECKING:
    from .model import Artifact, Field
    from .registry import Registry


def make_describer(
    prefix: str, registry: Registry, fields: Sequence[Field], artifacts: Mapping[str, Artifact]
) -> RecordDescriber:
    """Return what describes records as this configuration has it; `artifacts` maps logger names, and may change.

    >>> from complog_core.model import Component, Field, PluginInfo
    >>> from complog_core.registry import Registry
    >>> registry = Registry.build([(PluginInfo("mybackend"), Component("tiler", ["mybackend.tiler"]))])
    >>> describer = make_describer("MYLIB", registry, [Field("rank", "head", lambda record: "[rank0]:")], {})
    >>> record = logging.LogRecord("mybackend.tiler.loops", logging.INFO, "/x/y.py", 3, "hello", (), None)
    >>> describer.artifact(record), describer.components(record), describer.fields(record)
    (None, ('tiler',), {'rank': '[rank0]:'})
    """

    def read_fields(record: logging.LogRecord) -> dict[str, str]:
        texts = ((field.name, field_text(field, record).strip()) for field in fields)
        return {name: text for name, text in texts if text}

    return RecordDescriber(
        prefix,
        lambda record: artifact_name(record.name, artifacts),
        lambda record: registry.components_above(record.name),
        read_fields,
    )
