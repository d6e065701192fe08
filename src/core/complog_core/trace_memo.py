"""What plain values were written as before: most records say the same as an earlier one, up to their payload."""

from __future__ import annotations

import marshal
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

Result = TypeVar("Result")

_MOST: Final = 256
_LONGEST: Final = 256


class Memo(Generic[Result]):
    """Remembers what `write` makes of short dicts of plain values, a few hundred of them; None is an answer too.

    `write` has to return None for what is not JSON as it stands: two such objects may look the same here.

    >>> memo = Memo(str)
    >>> memo.find({"frame_id": 1}), memo.find({"frame_id": True}), memo.find({"frame_id": object()})
    ("{'frame_id': 1}", "{'frame_id': True}", None)
    """

    def __init__(self, write: Callable[[Any], Result | None]) -> None:
        self._write = write
        self._known: dict[bytes, Result | None] = {}

    def find(self, values: Any) -> Result | None:
        """Return what `write` makes of the values; None where that is None, or they are not short or not plain."""
        try:
            # tells True from 1, and one order from another, as no comparison of dicts does
            exact = marshal.dumps(values, 2)
        except ValueError:
            return None
        try:
            return self._known[exact]
        except KeyError:
            return self._add(exact, values)

    def _add(self, exact: bytes, values: Any) -> Result | None:
        if len(exact) > _LONGEST:
            return None
        if len(self._known) >= _MOST:
            self._known = {}
        written = self._write(values)
        # what has a buffer, as numbers of numpy do, looks like bytes here; and another thread may change them meanwhile
        if written is None or repr(marshal.loads(exact)) == repr(values):
            self._known[exact] = written
        return written
