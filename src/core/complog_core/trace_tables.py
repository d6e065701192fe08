"""Tables that grow with a program, bounded: interned strings with their numbers, and totals per key."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, MutableMapping
from typing import Final

from .descriptors import renew_after_fork

MOST_STRINGS: Final = 10_000
"""How many interned strings are remembered; the one that was asked for longest ago is forgotten first."""

MOST_CHARACTERS: Final = 16 * 2**20
"""How many characters the remembered strings have together, at most; a single longer one is kept alone."""

MOST_TOTALS: Final = 10_000
"""How many keys `Totals` remembers; the oldest is forgotten first."""


class InternTable(MutableMapping[str, int]):
    """Strings and the numbers that stand for them; a number never comes back for another string.

    It is a mapping so that code which keeps such a table as a dict can use it: `len(table)` is the next free number
    and not a count, since that is what such code takes for it. A string that was forgotten gets a new number. `missing`
    holds the remembered numbers that the trace file of the moment does not explain yet.

    >>> table = InternTable()
    >>> table.intern("a.py"), table.intern("b.py"), table.intern("a.py"), len(table)
    ((0, True), (1, True), (0, False), 2)
    """

    def __init__(self) -> None:
        self.missing: set[int] = set()
        self._numbers: OrderedDict[str, int] = OrderedDict()
        self._strings: dict[int, str] = {}
        self._next = 0
        self._characters = 0
        self._lock = threading.RLock()  # re-entrant: a finalizer may intern a string in the middle of this
        renew_after_fork(self)

    def intern(self, text: str) -> tuple[int, bool]:
        """Return the number of the string, and whether it was given only now."""
        with self._lock:
            number = self._numbers.get(text)
            if number is not None:
                self._numbers.move_to_end(text)
                return number, False
            number = self._next
            self._remember(text, number)
            return number, True

    def explain(self, number: int) -> str | None:
        """Return the string that the number stands for, None where it is not, or no longer, known.

        >>> table = InternTable()
        >>> table["a.py"] = 7
        >>> table.explain(7), table.explain(8)
        ('a.py', None)
        """
        return self._strings.get(number)

    def begin_file(self) -> None:
        """Take note of a new trace file, which explains no number yet."""
        with self._lock:
            self.missing = set(self._strings)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __getitem__(self, text: str) -> int:
        return self._numbers[text]

    def __setitem__(self, text: str, number: int) -> None:
        with self._lock:
            if self._numbers.get(text) != number:
                self._forget(text)
                self._remember(text, number)

    def __delitem__(self, text: str) -> None:
        with self._lock:
            if text not in self._numbers:
                raise KeyError(text)
            self._forget(text)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._numbers))

    def __len__(self) -> int:
        return self._next

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def clear(self) -> None:
        """Forget every string; the numbers go on, so that those in the file keep their meaning."""
        with self._lock:
            self._numbers.clear()
            self._strings.clear()
            self.missing.clear()
            self._characters = 0

    def _after_fork(self) -> None:
        self._lock = threading.RLock()

    def _remember(self, text: str, number: int) -> None:
        self._next = max(self._next, number + 1)
        self._numbers[text] = number
        self._strings[number] = text
        self.missing.add(number)
        self._characters += len(text)
        while len(self._numbers) > MOST_STRINGS or (self._characters > MOST_CHARACTERS and len(self._numbers) > 1):
            self._forget(next(iter(self._numbers)))

    def _forget(self, text: str) -> None:
        number = self._numbers.pop(text, None)
        if number is not None:
            self._characters -= len(text)
            if self._strings.get(number) == text:
                del self._strings[number]
                self.missing.discard(number)


class Totals(dict[str, float]):
    """Sums per key, 0.0 where nothing was added, of the last 10,000 keys.

    >>> totals = Totals()
    >>> totals["0_0"] += 0.5
    >>> totals["0_0"] += 0.25
    >>> totals["0_0"], totals.get("0_1")
    (0.75, None)
    """

    def add(self, key: str, value: float) -> None:
        """Add to the sum of a key."""
        if key in self:
            dict.__setitem__(self, key, self[key] + value)  # the table gets no longer by that
        else:
            self[key] = value

    def __missing__(self, key: str) -> float:
        return 0.0

    def __setitem__(self, key: str, value: float) -> None:
        super().__setitem__(key, value)
        while len(self) > MOST_TOTALS:
            self.pop(next(iter(self)), None)
