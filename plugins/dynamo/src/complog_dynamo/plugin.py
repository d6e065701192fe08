"""The hooks of the dynamo family: names, the compile id in each line and structured record, and a filter by that id."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from logging import LogRecord
from typing import Final

from complog_core import Artifact, Component, Field, hookimpl

from .names import ARTIFACTS, COMPONENTS
from .running import current_trace_fields, current_trace_id, render_trace_id

TRACE_ID_FILTER: Final = "TORCH_LOGS_TRACE_ID_FILTER"
"""Variable with the compile ids that log, comma-separated, brackets optional: `0/0,[1/0]`."""


@hookimpl
def complog_components() -> Iterable[Component]:
    """The components of graph capture."""
    return COMPONENTS


@hookimpl
def complog_artifacts() -> Iterable[Artifact]:
    """The artifacts of graph capture."""
    return ARTIFACTS


@hookimpl
def complog_record_fields() -> Iterable[Field]:
    """The id of the running compilation: ` [0/0]`."""
    return _FIELDS


@hookimpl
def complog_filters() -> Iterable[Callable[[LogRecord], bool]]:
    """Where the variable is set, one filter which drops the records of every other compilation and of none."""
    wanted = read_wanted_ids(os.environ.get(TRACE_ID_FILTER, ""))
    return (lambda record: current_trace_id() in wanted,) if wanted else ()


@hookimpl
def complog_trace_context() -> Mapping[str, object] | None:
    """The parts of the running compilation's id, in each structured record."""
    return current_trace_fields()


_FIELDS: Final = (Field("trace_id", "tail", render_trace_id),)


def read_wanted_ids(text: str) -> frozenset[str]:
    """Return the ids that a filter text lists.

    >>> sorted(read_wanted_ids("0/0, [1/0],"))
    ['0/0', '1/0']
    """
    ids = (item.strip().removeprefix("[").removesuffix("]").strip() for item in text.split(","))
    return frozenset(filter(None, ids))
