"""Ranks: which one this process has, and which of them log."""

from __future__ import annotations

import re
import sys
import weakref
from logging import LogRecord
from typing import Any, Final

from complog_core import find_launcher_rank, find_loaded

HIGHEST_RANK: Final = 999_999
"""The highest rank that may be named, so that a slip of the pen does not become a set of a billion numbers."""

_ITEM: Final = r"(?a)(\d{1,9})(?:\s*-\s*(\d{1,9}))?"
_c10d: Any = None
_group: tuple[weakref.ref[Any] | None, int] = (None, 0)
_wanted: frozenset[int] | None = None


def read_ranks(value: object) -> frozenset[int] | None:
    """Return the ranks that a text or a collection of ints names; None, like a blank text, stands for every rank.

    >>> sorted(read_ranks("0,3-5") or ())
    [0, 3, 4, 5]
    >>> read_ranks([0, -1])
    Traceback (most recent call last):
        ...
    ValueError: ranks: -1 is not a rank: ranks are ints from 0 to 999999
    """
    if value is None:
        return None
    if isinstance(value, str):
        return _read_text(value) if value.strip() else None
    if not isinstance(value, (list, tuple, set, frozenset, range)):
        raise ValueError(f"ranks: {value!r} is neither a text such as '0,3-5' nor a collection of ints such as [0, 3]")
    return frozenset(_check_rank(rank) for rank in value)


def _read_text(text: str) -> frozenset[int]:
    ranks: set[int] = set()
    for item in text.split(","):
        match = re.fullmatch(_ITEM, item.strip())
        if match is None:
            raise ValueError(f"ranks: {item.strip()!r} in {text!r} is neither a rank such as 0 nor a range such as 3-5")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(f"ranks: {item.strip()!r} in {text!r} runs backwards; write {last}-{first}")
        ranks.update(range(_check_rank(first), _check_rank(last) + 1))
    return frozenset(ranks)


def _check_rank(rank: object) -> int:
    if not isinstance(rank, int) or isinstance(rank, bool) or not 0 <= rank <= HIGHEST_RANK:
        raise ValueError(f"ranks: {rank!r} is not a rank: ranks are ints from 0 to {HIGHEST_RANK}")
    return rank


def set_wanted(ranks: frozenset[int] | None) -> None:
    """Remember which ranks are to log; None: every rank."""
    global _wanted
    _wanted = ranks


def get_wanted() -> frozenset[int] | None:
    """Return which ranks are to log; None: every rank."""
    return _wanted


def is_among(wanted: frozenset[int]) -> bool:
    """Return whether this process's rank is one of `wanted`; a process without a rank counts as wanted."""
    rank = find_rank()
    return rank is None or rank in wanted


def find_rank() -> int | None:
    """Return this process's rank: torch.distributed's once it is initialised, before that the launcher's."""
    rank = find_group_rank()
    return find_launcher_rank() if rank is None else rank


def find_group_rank() -> int | None:
    """Return the rank in the default process group, None while there is none; torch is never imported for it."""
    if _c10d is None:
        return _ask_rank() if "torch.distributed" in sys.modules else None
    try:
        # asked for each line: PyTorch's public ways to the group are three calls deep
        world = _c10d._world._default_pg
    except AttributeError:  # a world per thread, as PyTorch's own tests have, or another PyTorch
        return _ask_rank()
    if world is None:
        return None
    known, rank = _group
    if known is None or known() is not world:
        return _ask_rank(world)
    return rank


def render_rank(record: LogRecord) -> str:
    """Return the rank as the line shows it, "" outside of an initialised process group."""
    # what most programs are is asked here: a call more is half a hundredth of a line
    try:
        if _c10d is not None and _c10d._world._default_pg is None:
            return ""
    except AttributeError:
        pass
    rank = find_group_rank()
    return "" if rank is None else f"[rank{rank}]:"


def _ask_rank(world: object = None) -> int | None:
    global _c10d, _group
    distributed = find_loaded("torch.distributed")
    if distributed is None or not distributed.is_available():
        return None
    _c10d = getattr(distributed, "distributed_c10d", None)
    if not distributed.is_initialized():
        return None
    rank = int(distributed.get_rank())
    try:
        # asking costs as much as a third of a line, and a group's answer stays the same
        _group = (weakref.ref(world), rank)
    except TypeError:  # no group, or the number that stands for one which this process has left
        pass
    return rank
