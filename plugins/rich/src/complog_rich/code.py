"""Highlighted code: Python, C++ and what is embedded in it, bytecode, tracebacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from rich.style import Style
from rich.syntax import Syntax

from .language import Language, guess_code
from .pieces import Piece

_LEXERS: Final[dict[Language, str]] = {"python": "python", "cpp": "cpp", "traceback": "pytb"}
_QUOTED: Final = re.compile(r"(?P<open>\b[rR]?(?P<quotes>'''|\"\"\"))(?P<text>.*?)(?P<close>(?P=quotes))", re.DOTALL)
_INSTRUCTION: Final = re.compile(
    r"^(?P<before>(?:[ \t\d>-]|L\d+:)+)(?P<name>[A-Z][A-Z_0-9]{2,})\b(?P<after>.*)$", re.DOTALL
)
_LONGEST_TEXT: Final = 150_000
_LONGEST_LINE: Final = 10_000
"""Characters up to which code is highlighted: colours are not worth a second of waiting."""
_LONGEST_GAP: Final = " " * 200
"""What the lexers take a time for that grows with its square."""

_STRING: Final = Style(color="yellow")
_NAME: Final = Style(color="cyan", bold=True)
_ASIDE: Final = Style(dim=True)


def highlight(code: str, language: Language) -> list[Piece]:
    """Return the code in pieces, which together are the code exactly.

    >>> pieces = highlight("def f(): ...", "python")
    >>> "".join(text for text, _ in pieces), len(pieces) > 3
    ('def f(): ...', True)
    """
    if len(code) > _LONGEST_TEXT or max(map(len, code.split("\n"))) > _LONGEST_LINE:
        return [(code, None)]
    if _LONGEST_GAP in code.replace("\t", " "):
        return [(code, None)]
    if language == "bytecode":
        return list(_highlight_bytecode(code))
    pieces = list(_highlight_python(code)) if language == "python" else list(_lex(code, language))
    return pieces if "".join(text for text, _ in pieces) == code else [(code, None)]


def _highlight_python(code: str) -> Iterator[Piece]:
    # the kernels that generated Python compiles stand in it as texts
    done = 0
    for match in _QUOTED.finditer(code):
        found = guess_code(match["text"], least=1) if match["text"].count("\n") > 2 else None
        if found is None or found.language is None:
            continue
        yield from _lex(code[done : match.start()], "python")
        yield match["open"], _STRING
        yield from _lex(match["text"], found.language)
        yield match["close"], _STRING
        done = match.end()
    yield from _lex(code[done:], "python")


def _lex(code: str, language: Language) -> Iterator[Piece]:
    lexer, theme = _tools(language)
    for kind, text in lexer.get_tokens(code):
        yield text, _style(theme, kind)


def load_all() -> None:
    """Import whatever any code needs, so that nothing is imported later on."""
    for language in _LEXERS:
        highlight("x = 1\n", language)


@lru_cache(maxsize=4096)
def _style(theme: Any, kind: Any) -> Style:
    style: Style = theme.get_style_for_token(kind)
    return style


@lru_cache
def _tools(language: Language) -> tuple[Any, Any]:
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]  # has no types

    # not rich's own lexer, which turns tabs into spaces
    return get_lexer_by_name(_LEXERS[language], stripnl=False, ensurenl=False), Syntax.get_theme("ansi_dark")


def _highlight_bytecode(code: str) -> Iterator[Piece]:
    end = ""
    for line in code.split("\n"):
        yield end, None
        end = "\n"
        match = _INSTRUCTION.match(line)
        if match is None:
            yield line, None
            continue
        yield match["before"], _ASIDE
        yield match["name"], _NAME
        number, bracket, meant = match["after"].partition("(")
        yield number, None
        yield bracket + meant, _STRING
