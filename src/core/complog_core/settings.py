"""A settings text becomes settings and problems, both at once; pure: it knows no registry and does no I/O."""

from __future__ import annotations

import logging
import re
import sys
from typing import Final, Literal

from .model import OFF, Setting
from .values import NamedTuple

_SIGNS: Final = {"": logging.INFO, "+": logging.DEBUG, "-": logging.ERROR}
# patterns are compiled at their first use: most programs set no variable, and compiling is slow
_NAME: Final = r"(?:[^\s,:/+\-\"'][^\s,:/\"']*/)?[A-Za-z_][\w.]*"
_QUOTES: Final = "\"'"


class Parsed(NamedTuple):
    """What a text says: its settings in order, its bad items with the reason, and whether it asks for help."""

    settings: tuple[Setting, ...] = ()
    problems: tuple[str, ...] = ()
    help: Literal["help", "+help"] | None = None


def parse(text: str, *, windows: bool = sys.platform == "win32") -> Parsed:
    """Parse `item ("," item)*`; a blank text holds nothing, and `windows` strips one outer pair of quotes.

    >>> [(setting.name, setting.level) for setting in parse("+dynamo, aot:warning").settings]
    [('dynamo', 10), ('aot', 30)]
    >>> parse("dynamo,,+aot:INFO").problems
    ('item 2 is empty: two commas follow each other', "'+aot:INFO': a level after ':' does not go together with '+'")
    """
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in _QUOTES:
        if not windows:
            bare = "".join(letter for letter in text if letter not in _QUOTES)
            problem = f"{text}: the quotes are part of the value here; give it without them: {bare}"
            return Parsed(problems=(problem,))
        text = text[1:-1].strip()
    if not text:
        return Parsed()
    items = [item.strip() for item in text.split(",")]
    asked = [item for item in items if item in ("help", "+help")]
    settings: list[Setting] = []
    problems: list[str] = []
    for position, item in enumerate(items, 1):
        if item in ("help", "+help"):
            continue
        try:
            settings.append(_parse_item(item, position, len(items)))
        except ValueError as error:
            problems.append(str(error))
    return Parsed(tuple(settings), tuple(problems), ("+help" if "+help" in asked else "help") if asked else None)


def parse_level(value: object) -> int:
    """Return the level that a stdlib level name (in any case), its number, or `off` stands for; else ValueError.

    >>> parse_level("warning"), parse_level(10), parse_level("40"), parse_level("off") == OFF
    (30, 10, 40, True)
    >>> parse_level(True)
    Traceback (most recent call last):
        ...
    ValueError: True is a bool, not a level: give CRITICAL, ERROR, WARNING, INFO, DEBUG, NOTSET, their number, or off
    """
    if isinstance(value, bool):
        raise ValueError(f"{value} is a bool, not a level: give {_valid_levels()}")
    if isinstance(value, str):
        word = value.strip()
        if word.lower() == "off":
            return OFF
        if word.isascii() and word.isdigit() and len(word) < 20:
            value = int(word)
        else:
            for spelling in (word, word.upper()):
                level = logging.getLevelName(spelling)
                if isinstance(level, int):
                    return level
    if isinstance(value, int) and (value == OFF or not str(logging.getLevelName(value)).startswith("Level ")):
        return int(value)
    raise ValueError(f"{value!r} is not a level: give {_valid_levels()}")


def _valid_levels() -> str:
    words = ["CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG", "NOTSET"]
    return f"{', '.join(words)}, their number, or off"


def _parse_item(item: str, position: int, count: int) -> Setting:
    if not item:
        where = "two commas follow each other" if 1 < position < count else "a comma has nothing beside it"
        raise ValueError(f"item {position} is empty: {where}")
    if any(quote in item for quote in _QUOTES):
        raise ValueError(f"{item}: quotes are no part of a name; give the value without them")
    if any(letter.isspace() for letter in item):
        raise ValueError(f"{item!r}: white space inside an item; items are separated by commas")
    sign = item[0] if item[0] in "+-" else ""
    name, colon, word = item[len(sign) :].partition(":")
    if not re.fullmatch(_NAME, name):
        raise ValueError(f"{item!r}: {_why_no_name(name)}")
    if name == "help":
        raise ValueError(f"{item!r}: write help or +help to see the help page")
    if not colon:
        return Setting(name, _SIGNS[sign], item)
    if sign:
        raise ValueError(f"{item!r}: a level after ':' does not go together with '{sign}'")
    try:
        return Setting(name, parse_level(word), item)
    except ValueError as error:
        raise ValueError(f"{item!r}: {error}") from None


def _why_no_name(name: str) -> str:
    if not name:
        return "there is no name in it"
    if name[0] in "+-":
        return "only one sign, + or -, may stand before a name"
    if name.count("/") > 1:
        return "a qualified name has one slash: family/name"
    return f"{name!r} is not a name: it takes a letter or _, then letters, digits, _ and ."
