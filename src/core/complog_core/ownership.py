"""Which system a logger belongs to: the first one in the process that registered it."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any, Final

from .errors import OwnershipError

_owners: Final[dict[str, weakref.ref[Any]]] = {}


def claim(loggers: Iterable[str], system: Any) -> None:
    """Give the loggers to `system` (anything with a `prefix`); raise OwnershipError, claiming none, if one is taken."""
    wanted = tuple(loggers)
    for name in wanted:
        owner = owner_of(name)
        if owner is not None and owner is not system:
            raise OwnershipError(f"the logger {name!r} belongs to the system {owner.prefix}, not to {system.prefix}")
    mine = weakref.ref(system)
    for name in wanted:
        _owners[name] = mine


def owner_of(logger: str) -> Any:
    """Return the system that owns the logger, None where no living one does.

    >>> owner_of("nobody.has.this") is None
    True
    """
    reference = _owners.get(logger)
    return None if reference is None else reference()


def release(system: Any) -> None:
    """Give up every logger of `system`."""
    for name in [name for name, reference in list(_owners.items()) if reference() in (system, None)]:
        _owners.pop(name, None)
