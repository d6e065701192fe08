"""The documents, taken apart: fenced blocks, commands with what they print, words in code style, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.docs.sandbox import ROOT

DOCUMENTS: Final = tuple(
    path.relative_to(ROOT).as_posix()
    for path in [
        *sorted(ROOT.glob("*.md")),
        *sorted(ROOT.glob("docs/*.md")),
        *sorted(ROOT.glob("plugins/*/README.md")),
    ]
)
_FENCE: Final = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE: Final = re.compile(r"# (?P<path>[\w./-]+\.(?:py|toml))\n")
_MOMENT: Final = re.compile(r"\b([VIWEC])\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ ")


@dataclass(frozen=True)
class Block:
    """A fenced block; `path` is the file that it shows, "" if it shows none; `line` is where it begins."""

    document: str
    line: int
    language: str
    body: str

    @property
    def path(self) -> str:
        match = _FILE.match(self.body)
        return match["path"] if match and self.language in ("python", "toml") else ""

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


@dataclass(frozen=True)
class Step:
    """A command of a console block, and what is shown of its output ("": nothing)."""

    command: str
    output: str


def read(document: str) -> str:
    """Return the text of a document."""
    return (ROOT / document).read_text(encoding="utf-8")


def find_blocks(document: str) -> tuple[Block, ...]:
    """Return the fenced blocks of a document, in order."""
    text = read(document)
    return tuple(
        Block(document, text.count("\n", 0, match.start()) + 1, match["language"], match["body"])
        for match in _FENCE.finditer(text)
    )


def strip_blocks(text: str) -> str:
    """Return the prose of a document: all but the fenced blocks."""
    return _FENCE.sub("", text)


def find_code_words(text: str) -> tuple[str, ...]:
    """Return what stands in backquotes in a document's prose."""
    return tuple(re.findall(r"`([^`\n]+)`", strip_blocks(text)))


def find_steps(block: Block) -> Iterator[Step]:
    """Yield the commands of a console block; a command goes on in the next line after a backslash."""
    command: str | None = None
    shown: list[str] = []
    for line in block.body.replace("\\\n", "").splitlines():
        if line.startswith("$ "):
            if command is not None:
                yield Step(command, "\n".join(shown))
            command, shown = line[2:].partition("  #")[0].rstrip(), []
        else:
            shown.append(line)
    if command is not None:
        yield Step(command, "\n".join(shown))


def is_shown(printed: str, shown: str) -> bool:
    """Return whether a document shows truly what was printed.

    `...` on a line of its own stands for any lines, elsewhere for any letters; times, dates and processes may differ.

    >>> is_shown("I1129 15:57:26.774000 4408 a.py:1] x", "I0101 00:00:00.000000 1 a.py:1] ...")
    True
    >>> is_shown("one\\ntwo", "two")
    False
    """
    lines = _settle(printed).rstrip().split("\n")
    first, *pieces = _split(_settle(shown).rstrip().split("\n"))
    if not _fits(lines[: len(first)], first):
        return False
    if not pieces:
        return len(first) == len(lines)
    *middle, last = pieces
    position = len(first)
    for piece in middle:
        places = range(position, len(lines) - len(piece) + 1)
        found = next((place for place in places if _fits(lines[place : place + len(piece)], piece)), None)
        if found is None:
            return False
        position = found + len(piece)
    return len(lines) - len(last) >= position and _fits(lines[len(lines) - len(last) :], last)


def _split(lines: list[str]) -> list[list[str]]:
    pieces: list[list[str]] = [[]]
    for line in lines:
        if line.strip() == "...":
            pieces.append([])
        else:
            pieces[-1].append(line)
    return pieces


def _fits(printed: list[str], shown: list[str]) -> bool:
    if len(printed) != len(shown):
        return False
    for line, pattern in zip(printed, shown, strict=True):
        letters = "[^\n]*".join(re.escape(part) for part in pattern.rstrip().split("..."))
        if not re.fullmatch(letters, line.rstrip()):
            return False
    return True


def _settle(text: str) -> str:
    return _MOMENT.sub(r"\1 ", text)
