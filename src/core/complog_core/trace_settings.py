"""Where the variables want a trace: `<PREFIX>_TRACE`, `<PREFIX>_DTRACE` and `<PREFIX>_COMPILE_DEBUG`."""

from __future__ import annotations

import os
from collections.abc import Mapping

from .values import NamedTuple


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


def read_trace_settings(environ: Mapping[str, str], prefix: str, debug_directory: str | None = None) -> TraceSettings:
    """Return what the variables say; a blank one counts as unset, `<prefix>_DTRACE` comes first.

    `<prefix>_COMPILE_DEBUG=1` alone asks for a trace in the folder `tlparse` of `debug_directory`, which is by default
    the folder `<prefix>_compile_debug` of `<prefix>_COMPILE_DEBUG_DIR` or of the working directory.

    >>> read_trace_settings({"TORCH_TRACE": "/tmp/a", "TORCH_DTRACE": "/tmp/b"}, "TORCH")
    TraceSettings(directory='/tmp/b', detailed=True)
    """
    plain, detailed = (environ.get(f"{prefix}_{name}", "") for name in ("TRACE", "DTRACE"))
    if detailed.strip():
        return TraceSettings(detailed, True)
    if plain.strip():
        return TraceSettings(plain)
    if environ.get(f"{prefix}_COMPILE_DEBUG") == "1":
        if debug_directory is None:
            parent = environ.get(f"{prefix}_COMPILE_DEBUG_DIR", "")
            debug_directory = os.path.join(parent, f"{prefix.lower()}_compile_debug")
        return TraceSettings(os.path.join(debug_directory, "tlparse"))
    return TraceSettings()
