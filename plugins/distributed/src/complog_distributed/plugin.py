"""The hooks of the distributed family: names, the rank in each line and structured record, which ranks log what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from logging import LogRecord
from typing import Final

from complog_core import Artifact, Component, Field, Keyword, hookimpl

from .names import ARTIFACTS, COMPONENTS
from .ranks import find_group_rank, get_wanted, is_among, read_ranks, render_rank, set_wanted

_collapses = False


@hookimpl
def complog_components() -> Iterable[Component]:
    """The components of torch.distributed."""
    return COMPONENTS


@hookimpl
def complog_artifacts() -> Iterable[Artifact]:
    """The artifacts of torch.distributed."""
    return ARTIFACTS


@hookimpl
def complog_keywords() -> Iterable[Keyword]:
    """The keywords `ranks` and `dedup`, and the variables TORCH_LOGS_RANKS and TORCH_LOGS_DEDUP."""
    return (
        Keyword(
            "ranks",
            "str | Collection[int] | None",
            None,
            "which ranks log: '0,3-5' or [0, 3, 4, 5]; None: all of them",
            env_var="{prefix}_LOGS_RANKS",
            apply=set_wanted,
            convert=read_ranks,
        ),
        Keyword(
            "dedup",
            "Literal['ranks'] | None",
            None,
            "'ranks': of identical warnings of the ranks of one host one is printed; None: all of them",
            env_var="{prefix}_LOGS_DEDUP",
            apply=set_dedup,
            convert=read_dedup,
        ),
    )


@hookimpl
def complog_filters() -> Iterable[Callable[[LogRecord], bool]]:
    """While `ranks` is set, one filter which drops the records of the other ranks; `ranks` is applied before."""
    wanted = get_wanted()
    return () if wanted is None else (lambda record: is_among(wanted),)


@hookimpl(specname="complog_filters", trylast=True)
def collapse_warnings() -> Iterable[Callable[[LogRecord], bool | LogRecord]]:
    """While `dedup` is set, a filter that drops the warnings which another rank prints.

    It comes after all others, since a warning that it lets pass has to be printed.
    """
    if not _collapses:
        return ()
    from .dedup import collapse, take_part  # not needed by anybody who has not asked for it

    take_part()
    return (collapse,)


@hookimpl
def complog_record_fields() -> Iterable[Field]:
    """The rank at the head of the line: `[rank0]:`."""
    return _FIELDS


@hookimpl
def complog_trace_context() -> Mapping[str, object] | None:
    """The rank, in each structured record and in the name of the trace file."""
    rank = find_group_rank()
    return None if rank is None or rank < 0 else {"rank": rank}


_FIELDS: Final = (Field("rank", "head", render_rank),)


def read_dedup(value: object) -> str | None:
    """Return "ranks" or, for None, a blank text or "off", None; anything else is a ValueError.

    >>> read_dedup("Ranks"), read_dedup("off")
    ('ranks', None)
    """
    word = value.strip().lower() if isinstance(value, str) else value
    if word is None or word in ("", "off"):
        return None
    if word != "ranks":
        raise ValueError(f"dedup: {value!r} is neither 'ranks' nor 'off'")
    return "ranks"


def set_dedup(mode: str | None) -> None:
    """Remember whether identical warnings are to be collapsed."""
    global _collapses
    _collapses = mode is not None
