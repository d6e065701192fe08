"""The lines of one record, painted: the prefix, which each line keeps, and behind it text, code and tables."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import lru_cache
from logging import ERROR, WARNING, LogRecord
from typing import Final
from zlib import crc32

from rich.style import Style

from .code import highlight
from .harmless import tame
from .language import Guess, guess
from .pieces import Piece, link, show, split_lines
from .surroundings import Surroundings
from .tables import draw_table, find_tables

_WHEN_AND_WHERE: Final = r"(?P<when>\d{4} \d\d:\d\d:\d\d\.\d{6} \S+ )(?P<place>.*:-?\d+)(?P<tail>\].*)"
_LETTERS: Final = {"DEBUG": "V", "INFO": "I", "WARNING": "W", "ERROR": "E", "CRITICAL": "C"}
_TAG: Final = re.compile(r"\[__[^\]]*\]")
_LEVELS: Final = {
    "V": Style(color="cyan"),
    "I": Style(color="green", bold=True),
    "W": Style(color="yellow", bold=True),
    "E": Style(color="red", bold=True),
    "C": Style(color="white", bgcolor="red", bold=True),
}
_HEAD: Final = Style(color="magenta", bold=True)
_ASIDE: Final = Style(dim=True)
_PLACE: Final = Style(color="blue")
_TAIL: Final = Style(color="magenta")
_TAGS: Final = tuple(
    Style(color=color, bold=True)
    for color in ("bright_cyan", "bright_green", "bright_yellow", "bright_magenta", "bright_blue", "cyan", "green")
)
_WARNING: Final = Style(color="yellow")
_ERROR: Final = Style(color="red")
_TITLE: Final = Style(bold=True)


def make_lines(record: LogRecord, text: str, artifact: str | None, surroundings: Surroundings) -> str:
    """Return the record's harmless text as a terminal is to get it; every line of it keeps its prefix."""
    prefix, lines, repeated = split_prefix(text, getattr(record, "message", ""))
    painted = show_prefix(prefix, record, surroundings)
    shown = [show(pieces, surroundings) for pieces in paint(record, lines, artifact, surroundings)]
    if repeated:
        return "\n".join([painted + line for line in shown])
    return painted + "\n".join(shown)


def split_prefix(text: str, message: object) -> tuple[str, list[str], bool]:
    """Return what stands before the message, the lines without it, and whether each line had it.

    >>> split_prefix("I] a\\nI] b", "a\\nb"), split_prefix("I: a\\nb", "a\\nb")
    (('I] ', ['a', 'b'], True), ('I: ', ['a', 'b'], False))
    """
    lines = text.split("\n")
    first = tame(str(message).partition("\n")[0] + "\n")[:-1]
    prefix = lines[0][: len(lines[0]) - len(first)] if lines[0].endswith(first) else ""
    if all(line.startswith(prefix) for line in lines):
        return prefix, [line[len(prefix) :] for line in lines], True
    return prefix, [lines[0][len(prefix) :], *lines[1:]], False


def show_prefix(prefix: str, record: LogRecord, surroundings: Surroundings) -> str:
    """Return the prefix in its colours, with a link to the line of the program that logged."""
    match = _prefix_pattern(record.levelname).fullmatch(prefix)
    if match is None or not surroundings.colours:
        return show([(prefix, _ASIDE)], surroundings._replace(links=False))
    plain = surroundings._replace(links=False)
    place = show([(match["place"], _PLACE)], plain)
    if surroundings.links and os.path.isabs(record.pathname):
        place = link(place, record.pathname, record.lineno)
    before = [(match["head"], _HEAD), (match["level"], _LEVELS.get(match["level"], _TITLE)), (match["when"], _ASIDE)]
    return show(before, plain) + place + show(_paint_tail(match["tail"]), plain)


@lru_cache(maxsize=64)
def _prefix_pattern(level: str) -> re.Pattern[str]:
    letter = re.escape(_LETTERS.get(level, tame(level)))
    return re.compile(f"(?P<head>.*?)(?P<level>{letter}){_WHEN_AND_WHERE}")


def _paint_tail(tail: str) -> list[Piece]:
    pieces: list[Piece] = [(tail[:1], _ASIDE)]
    done = 1
    for match in _TAG.finditer(tail):
        pieces += [(tail[done : match.start()], _TAIL), (match[0], _TAGS[crc32(match[0].encode()) % len(_TAGS)])]
        done = match.end()
    return [*pieces, (tail[done:], _TAIL)]


def paint(
    record: LogRecord, lines: Sequence[str], artifact: str | None, surroundings: Surroundings
) -> list[list[Piece]]:
    """Return the lines as pieces, with tables drawn, code highlighted and the rest in the colour of the level."""
    found = find_tables(lines)
    if not found:
        # the language tells nothing but colours
        guessed = guess(artifact, "\n".join(lines)) if surroundings.colours else Guess()
        return _paint_text(record, lines, guessed)
    painted: list[list[Piece]] = []
    done = 0
    for table in found:
        title = [table.title] if table.title else []
        painted += _paint_text(record, [*lines[done : table.start], *title], Guess())
        painted += draw_table(table.rows, wide=surroundings.wide)
        done = table.end
    return painted + _paint_text(record, lines[done:], Guess())


def _paint_text(record: LogRecord, lines: Sequence[str], guessed: Guess) -> list[list[Piece]]:
    level = _ERROR if record.levelno >= ERROR else _WARNING if record.levelno >= WARNING else None
    plain = lines if guessed.language is None else lines[: guessed.header]
    style = _TITLE if plain is not lines and level is None else level
    painted: list[list[Piece]] = [[(line, style)] for line in plain]
    if guessed.language is not None:
        painted += split_lines(highlight("\n".join(lines[guessed.header :]), guessed.language))
    return painted
