"""What the console of the moment can show: is it a terminal, and what do the variables say about it?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

_PLAIN_TERMINALS: Final = frozenset({"dumb", "unknown"})
_LINKLESS_TERMINALS: Final = frozenset({"ansi", "cygwin", "linux", "vt100", "vt220"})
_NOTEBOOKS: Final = ("ipykernel", "google.colab")


class Surroundings(NamedTuple):
    """What may be used: `shapes` are tables, `links` are hyperlinks, `wide` are characters beyond ASCII."""

    shapes: bool = False
    colours: bool = False
    links: bool = False
    wide: bool = False


def look(stream: Any, environ: Mapping[str, str] = os.environ, *, always: bool) -> Surroundings | None:
    """Return what the stream can show; None where its text is to stay as it is.

    `always`: the format is `rich`, so that a pipe gets harmless text too, and a notebook colours. NO_COLOR, which has
    precedence, and FORCE_COLOR are heard; `FORCE_HYPERLINK=0` turns links off.

    >>> import io
    >>> look(io.StringIO(), {}, always=True), look(io.StringIO(), {}, always=False)
    (Surroundings(shapes=False, colours=False, links=False, wide=False), None)
    """
    terminal = _is_terminal(stream)
    force = environ.get("FORCE_COLOR", "").strip().lower()
    forced = force not in ("", "0", "false")
    term = environ.get("TERM", "").strip().lower()
    plain = term in _PLAIN_TERMINALS
    notebook = always and type(stream).__module__.startswith(_NOTEBOOKS)
    if not (always or terminal or forced):
        return None
    shapes = forced or notebook or (terminal and not plain)
    colours = shapes and not environ.get("NO_COLOR") and force not in ("0", "false")
    if os.name == "nt" and terminal and shapes and _is_old_console():
        colours = False
    links = colours and terminal and not (notebook or plain or term in _LINKLESS_TERMINALS)
    links = links and environ.get("FORCE_HYPERLINK", "").strip() != "0"
    return Surroundings(shapes, colours, links, _is_wide(stream))


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except Exception:  # no method, or a closed stream
        return False


def _is_wide(stream: Any) -> bool:
    encoding = getattr(stream, "encoding", None)
    return isinstance(encoding, str) and encoding.lower().startswith("utf")


def _is_old_console() -> bool:
    from rich.console import detect_legacy_windows

    return detect_legacy_windows()
