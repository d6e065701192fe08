"""Values of the program as OpenTelemetry can carry them: copied, bounded, and always encodable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_DEEPEST: Final = 16
_MOST_VALUES: Final = 10_000
_LARGEST: Final = 2**63


def make_plain(value: object) -> Any:
    """Return a copy of the value in which everything is a bool, int, float, str, bytes, None, list or dict.

    Any other object, an int of more than 64 bits, and what is nested more than 16 deep appear as texts; of a value with
    more than 10,000 parts, the rest is left out. Never raises.

    >>> make_plain({"sizes": (4, 2**70), 3: {None}})
    {'sizes': [4, '1180591620717411303424'], '3': [None]}
    """
    return _copy(value, 0, [_MOST_VALUES])


def make_text(text: str) -> str:
    r"""Return the text with surrogates, which protobuf refuses, as escapes.

    >>> make_text("a\ud800")
    'a\\ud800'
    """
    text = str.__str__(text)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def write_out(value: object) -> str:
    """Return the value's `str`, or what stands for it where that fails."""
    try:
        return make_text(str(value))
    except Exception as error:
        return f"<{type(value).__qualname__}: str raised {type(error).__name__}>"


def _copy(value: object, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if value is None or value is True or value is False:
        return value
    try:
        if isinstance(value, str):
            return make_text(value)
        if isinstance(value, int):
            number = int.__index__(value)
            return number if -_LARGEST <= number < _LARGEST else write_out(number)
        if isinstance(value, float):
            return float.__float__(value)
        if isinstance(value, (bytes, bytearray)):
            return bytes(value)
        if depth < _DEEPEST:
            if isinstance(value, Mapping):
                pairs = _take(list(value.items()), left)
                return {_name_key(key): _copy(item, depth + 1, left) for key, item in pairs}
            if isinstance(value, (list, tuple, set, frozenset)):
                return [_copy(item, depth + 1, left) for item in _take(list(value), left)]
    except Exception:
        pass  # a value of somebody's own making; its text is as much as can be had
    return write_out(value)


def _take(items: list[Any], left: list[int]) -> list[Any]:
    return items[: max(left[0], 0)]


def _name_key(key: object) -> str:
    return make_text(key) if isinstance(key, str) and key else write_out(key) or "''"
