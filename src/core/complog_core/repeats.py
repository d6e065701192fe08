"""Programs ask for the same few settings again and again; what was worked out for them then holds still."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from .assembly import Assembly
from .configuration import Configuration
from .model import Request
from .reading import Reading

if TYPE_CHECKING:
    from .arguments import Arguments

_MOST: Final = 64
_PLAIN: Final = frozenset({bool, int, str, type(None)})

Key = tuple[object, ...]


class Repeats:
    """Remembers requests by the arguments they were made of, and configurations by their requests.

    Only what follows from the registered names alone is remembered: not what modules exist, nor what plugins' code says
    of a value. Another assembly, as after a registration, begins anew, and so do variables that have changed.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Remember nothing."""
        self._requests: tuple[Assembly | None, dict[Key, Request]] = (None, {})
        self._configurations: tuple[Assembly | None, Reading | None, dict[int, tuple[Request, Configuration]]]
        self._configurations = (None, None, {})

    def find_request(self, key: Key | None, assembly: Assembly) -> Request | None:
        """Return the request that was made of such arguments."""
        known, requests = self._requests
        return requests.get(key) if key is not None and known is assembly else None

    def note_request(self, key: Key | None, assembly: Assembly, request: Request) -> None:
        """Remember what arguments came to, if that follows from the names alone."""
        known = assembly.registry.by_spelling
        if (
            key is None
            or request.keywords
            or not all(name == "all" or name in known for name in _names_of(key, request))
        ):
            return
        known_for, requests = self._requests
        if known_for is not assembly or len(requests) >= _MOST:
            requests = {}
            self._requests = (assembly, requests)
        requests[key] = request

    def find_configuration(self, assembly: Assembly, reading: Reading, request: Request) -> Configuration | None:
        """Return the configuration that came from all of these."""
        known_for, known_reading, configurations = self._configurations
        if known_for is not assembly or known_reading is not reading:
            return None
        found = configurations.get(id(request))
        return found[1] if found is not None and found[0] is request else None

    def note_configuration(
        self, assembly: Assembly, reading: Reading, request: Request, configuration: Configuration
    ) -> None:
        """Remember the configuration, if it follows from the names alone."""
        resolution = configuration.resolution
        if not request.made or reading.texts or configuration.problems or resolution.modules or resolution.pending:
            return
        known_for, known_reading, configurations = self._configurations
        if known_for is not assembly or known_reading is not reading or len(configurations) >= _MOST:
            configurations = {}
            self._configurations = (assembly, reading, configurations)
        configurations[id(request)] = (request, configuration)


def make_key(arguments: Arguments) -> Key | None:
    """Return what is the same for the same arguments only; None where they are not plain values.

    >>> from complog_core.arguments import Arguments
    >>> make_key(Arguments(None, None, None, {"tiles": True})) == make_key(Arguments(None, None, None, {"tiles": 1}))
    False
    """
    settings, every, modules, names = arguments
    values = (settings, every, *names.values())
    kinds = tuple(map(type, values))
    if modules is not None or not _PLAIN.issuperset(kinds):
        return None
    if settings is not None and (type(settings) is not str or ":" in settings):
        return None
    # which levels there are, and what they are called, is for the program to say, at any time
    meant: list[object] = []
    for value in values[1:]:
        if type(value) is str:
            word = value.strip()
            if word.isdigit():
                return None
            meant += [logging.getLevelName(word), logging.getLevelName(word.upper())]
        elif type(value) is int:
            meant.append(logging.getLevelName(value))
    return (tuple(names), values, kinds, *meant)


def _names_of(key: Key, request: Request) -> list[str]:
    names = key[0]
    assert isinstance(names, tuple)
    return [*names, *[setting.name for setting in request.settings]]
