"""Coloured text as pieces, and what a terminal gets for them: each line ends as it began, without colour or link."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import quote

from rich.color import ColorSystem
from rich.style import Style

from .surroundings import Surroundings

Piece = tuple[str, Style | None]
"""Some text and how it looks; the sixteen colours of the terminal's own theme are all that is used."""

_LONGEST: Final = 2_000
"""Characters of a line up to which it is searched for links."""

_PLACE: Final = re.compile(
    r'File "(?P<file>/[^"\n]{1,1000})", line (?P<row>\d+)'
    r"|(?<![\w./:-])(?P<path>/[\w./+@~-]{1,1000}\.\w{1,9}):(?P<line>\d+)"
)


def split_lines(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Return the pieces of each line, without the line ends.

    >>> split_lines([("a\\nb", None), ("c", None)])
    [[('a', None)], [('b', None), ('c', None)]]
    """
    lines: list[list[Piece]] = [[]]
    for text, style in pieces:
        first, *others = text.split("\n")
        if first:
            lines[-1].append((first, style))
        lines += [[(other, style)] if other else [] for other in others]
    return lines


def show(pieces: Sequence[Piece], surroundings: Surroundings) -> str:
    """Return what a terminal is sent for the pieces of one line, places in files linked."""
    if not surroundings.colours:
        return "".join(text for text, _ in pieces)
    if not surroundings.links:
        return "".join(_colour(pieces))
    line = "".join(text for text, _ in pieces)
    if len(line) > _LONGEST or "/" not in line:
        return "".join(_colour(pieces))
    shown: list[str] = []
    done = 0
    for match in _PLACE.finditer(line):
        shown += _colour(_cut(pieces, done, match.start()))
        target = (match["file"], match["row"]) if match["file"] else (match["path"], match["line"])
        shown.append(link("".join(_colour(_cut(pieces, match.start(), match.end()))), *target))
        done = match.end()
    shown += _colour(_cut(pieces, done, len(line)))
    return "".join(shown)


def link(text: str, path: str, line: str | int) -> str:
    """Return the text as a hyperlink to a line of a file.

    Not rich's: each of its links takes a number from the program's own `random`.

    >>> link("here", "/a b/c.py", 3)
    '\\x1b]8;;file:///a%20b/c.py#3\\x1b\\\\here\\x1b]8;;\\x1b\\\\'
    """
    slashed = path.replace("\\", "/") if os.name == "nt" else path
    address = quote(
        slashed.encode("utf-8", "surrogateescape" if _is_escaped(slashed) else "backslashreplace"), safe="/:"
    )
    return f"\x1b]8;;file://{'' if address.startswith('/') else '/'}{address}#{line}\x1b\\{text}\x1b]8;;\x1b\\"


def _is_escaped(path: str) -> bool:
    return all(not "\ud800" <= letter <= "\udfff" or "\udc80" <= letter <= "\udcff" for letter in path)


def _colour(pieces: Iterable[Piece]) -> Iterator[str]:
    # neighbours of one look share their escapes: highlighted code has many
    gathered, look = "", None
    for text, style in pieces:
        if style == look or (not text.strip() and not (look and (look.underline or look.bgcolor))):
            gathered += text
            continue
        yield _escape(gathered, look)
        gathered, look = text, style
    yield _escape(gathered, look)


def _escape(text: str, style: Style | None) -> str:
    return style.render(text, color_system=ColorSystem.STANDARD) if style is not None and text else text


def _cut(pieces: Sequence[Piece], start: int, end: int) -> Iterator[Piece]:
    position = 0
    for text, style in pieces:
        part = text[max(start - position, 0) : max(end - position, 0)]
        if part:
            yield part, style
        position += len(text)
