"""Where the variables want a trace: `<PREFIX>_TRACE`, `<PREFIX>_DTRACE` and `<PREFIX>_COMPILE_DEBUG`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final

from .environment import Glance
from .values import NamedTuple

_DECIDING: Final = ("TRACE", "DTRACE", "COMPILE_DEBUG")
"""Of the variables, those without which there is no trace."""


class TraceSettings(NamedTuple):
    """The directory of the trace files (None: no trace), and whether detailed records are written too.

    >>> TraceSettings("traces").settle().directory == os.path.abspath("traces")
    True
    """

    directory: str | None = None
    detailed: bool = False

    def settle(self) -> TraceSettings:
        """Return these settings with an absolute path: a later chdir must not move the trace."""
        try:
            return self if self.directory is None else self._replace(directory=os.path.abspath(self.directory))
        except OSError:  # the working directory is gone
            return self


def read_trace_settings(
    environ: Mapping[str, str], prefix: str, find_debug_directory: Callable[[], str | None] = lambda: None
) -> TraceSettings:
    """Return what the variables say; a blank one counts as unset, `<prefix>_DTRACE` comes first.

    `<prefix>_COMPILE_DEBUG=1` alone asks for a trace in the folder `tlparse` of what `find_debug_directory` returns,
    and where that is None, of the folder `<prefix>_compile_debug` of `<prefix>_COMPILE_DEBUG_DIR` or of the working
    directory.

    >>> read_trace_settings({"TORCH_TRACE": "/tmp/a", "TORCH_DTRACE": "/tmp/b"}, "TORCH")
    TraceSettings(directory='/tmp/b', detailed=True)
    """
    plain, detailed, debugs = (environ.get(f"{prefix}_{name}", "") for name in _DECIDING)
    if detailed.strip():
        return TraceSettings(detailed, True)
    if plain.strip():
        return TraceSettings(plain)
    if debugs == "1":
        debug_directory = find_debug_directory()
        if debug_directory is None:
            parent = environ.get(f"{prefix}_COMPILE_DEBUG_DIR", "")
            debug_directory = os.path.join(parent, f"{prefix.lower()}_compile_debug")
        return TraceSettings(os.path.join(debug_directory, "tlparse"))
    return TraceSettings()


class TraceReader:
    """Reads the settings of one prefix again and again, which takes next to nothing while no trace is asked for.

    >>> TraceReader({"TORCH_TRACE": "/tmp/a"}, "TORCH").read().directory
    '/tmp/a'
    """

    __slots__ = ("_environ", "_glance", "_prefix")

    def __init__(self, environ: Mapping[str, str], prefix: str) -> None:
        self._environ, self._prefix = environ, prefix
        self._glance = Glance(f"{prefix}_{name}" for name in _DECIDING)

    def read(self, find_debug_directory: Callable[[], str | None] = lambda: None) -> TraceSettings:
        """Return what `read_trace_settings` does."""
        if not any(self._glance(self._environ)):
            return TraceSettings()
        return read_trace_settings(self._environ, self._prefix, find_debug_directory)
