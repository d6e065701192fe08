"""Which system a logger belongs to: the first one in the process that registered it."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterable
from typing import Any, Final

from .errors import OwnershipError

_owners: Final[dict[str, weakref.ref[Any]]] = {}
_modules: Final[dict[str, weakref.ref[Any]]] = {}
"""Those of the owned loggers that are owned only as long as a setting names them."""


def claim(loggers: Iterable[str], system: Any) -> list[Any]:
    """Give the loggers to `system` (anything with a `prefix`); raise OwnershipError, claiming none, if one is taken.

    A system that has only set a logger as a module does not keep it from one that registers it; those systems are
    returned, to be told.
    """
    wanted = tuple(loggers)
    displaced: list[Any] = []
    for name in wanted:
        owner = owner_of(name)
        if owner is None or owner is system:
            continue
        if name not in _modules:
            raise OwnershipError(f"the logger {name!r} belongs to the system {owner.prefix}, not to {system.prefix}")
        if owner not in displaced:
            displaced.append(owner)
    mine = weakref.ref(system)
    for name in wanted:
        _owners[name] = mine
        _modules.pop(name, None)
    return displaced


def owner_of(logger: str) -> Any:
    """Return the system that owns the logger, None where no living one does.

    >>> owner_of("nobody.has.this") is None
    True
    """
    reference = _owners.get(logger)
    return None if reference is None else reference()


def owner_above(logger: str) -> Any:
    """Return the system that owns the logger, or the nearest owned one above it; None where there is none."""
    name = logger
    while name:
        owner = owner_of(name)
        if owner is not None:
            return owner
        name = name.rpartition(".")[0]
    return None


def hold_modules(loggers: Collection[str], system: Any) -> None:
    """Let `system` own the loggers that it has set as modules, and no more those that it had set before."""
    if not loggers and not _modules:
        return
    wanted = {name for name in loggers if owner_of(name) is None or name in _modules}
    for name in [name for name, holder in list(_modules.items()) if holder() is system and name not in wanted]:
        _modules.pop(name, None)
        _owners.pop(name, None)
    mine = weakref.ref(system)
    for name in wanted:
        if owner_of(name) in (None, system):
            _owners[name] = _modules[name] = mine


def release(system: Any) -> None:
    """Give up every logger of `system`."""
    for table in (_owners, _modules):
        for name in [name for name, reference in list(table.items()) if reference() in (system, None)]:
            table.pop(name, None)
