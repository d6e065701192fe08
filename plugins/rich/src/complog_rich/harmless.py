"""Text that a terminal shows and does not obey: control characters become what one can read."""

from __future__ import annotations

import re
from typing import Final

_COLOURS: Final = re.compile("(?:\x1b\\[|\x9b)[0-9;:]*m")
_OBEYED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and line feed, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # the direction of what follows
    "\u2028\u2029\ufeff\ud800-\udfff]"  # line ends for some, nothing for others; what no encoding has
)


def tame(text: str) -> str:
    r"""Return the text with control characters, direction marks and surrogates as escapes: ESC as ``\x1b``.

    Tabs and line feeds stay. Changes of colour and a carriage return before a line feed go without a trace: they are
    no text.

    >>> tame("a\x1b[31mb\x1b[0m \x1b]0;title\x07 c\r\n")
    'ab \\x1b]0;title\\x07 c\n'
    """
    if text.isascii() and text.isprintable():
        return text
    if "\x1b" in text or "\x9b" in text:
        text = _COLOURS.sub("", text)
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
    return _OBEYED.sub(_spell, text)


def _spell(match: re.Match[str]) -> str:
    return (
        match[0].encode("ascii", "backslashreplace").decode("ascii") if match[0] > "\x7f" else f"\\x{ord(match[0]):02x}"
    )
