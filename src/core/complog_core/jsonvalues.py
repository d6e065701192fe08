"""Whatever a program logs as plain data that every JSON parser reads; what has no such form appears as a text."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pythonjsonlogger.defaults import unknown_default
from pythonjsonlogger.json import JsonEncoder

DEEPEST: Final = 16
"""How deep values may be nested; what lies deeper has a placeholder."""

MOST_ITEMS: Final = 100_000
"""How many items one value may have, those of its items included: a few lists in each other can stand for billions."""

MORE: Final = "..."
"""What stands for the items that are too many."""

_ENCODER: Final = JsonEncoder()
_TYPE_NAME: Final = vars(type)["__name__"].__get__
_LONGEST_INT: Final = 64
_SEQUENCES: Final = (list, tuple, set, frozenset)


def make_plain(value: object) -> Any:
    """Return the value as None, bools, ints, floats, texts, lists and dicts with texts as keys; never raises.

    >>> make_plain({1: (2, {3}), "loss": float("nan"), "raw": b"raw"})
    {'1': [2, [3]], 'loss': 'nan', 'raw': 'cmF3'}
    """
    if type(value) is str and value.isascii():
        return value
    return _Reader().read(value, 0)


def write_out(value: object) -> str:
    """Return `str(value)` as a text that can be encoded; a placeholder where that raises.

    >>> write_out(ValueError("lone \\ud800"))
    'lone \\\\ud800'
    """
    try:
        return _escape_surrogates(str(value))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # somebody's __str__ may do anything
        return f"<{_name_type(value)}: its text raised {_name_type(error)}>"


class _Reader:
    def __init__(self) -> None:
        self._left = MOST_ITEMS
        self._around: set[int] = set()

    def read(self, value: object, depth: int) -> Any:
        if value is None or value is True or value is False:
            return value
        try:
            return self._read(value, depth)
        except KeyboardInterrupt:
            raise
        except BaseException:  # an object of somebody's own making; its text is as much as can be had
            return write_out(value)

    def _read(self, value: Any, depth: int) -> Any:
        # the type itself: objects may pretend to be of another class, and then lack what that has
        kind = type(value)
        if issubclass(kind, str):
            return _escape_surrogates(value)
        if issubclass(kind, int):
            return _read_int(int.__index__(value))
        if issubclass(kind, float):
            return float.__float__(value) if math.isfinite(value) else float.__repr__(value)
        is_mapping = issubclass(kind, Mapping)
        if not (is_mapping or issubclass(kind, _SEQUENCES) or hasattr(kind, "__dataclass_fields__")):
            return self.read(_ENCODER.default(value), depth + 1) if depth < 2 * DEEPEST else write_out(value)
        if id(value) in self._around:
            return "<contains itself>"
        if depth >= DEEPEST:
            return f"<{_name_type(value)}, too deep>"
        self._around.add(id(value))
        try:
            if is_mapping:
                return self._read_items(list(value.items()), depth)
            if issubclass(kind, _SEQUENCES):
                return self._read_sequence(list(value), depth)
            # not the encoder's own way with them, which makes deep copies of whatever they hold
            return self._read_items([(field.name, getattr(value, field.name)) for field in _fields(value)], depth)
        finally:
            self._around.discard(id(value))

    def _read_items(self, items: Iterable[tuple[object, object]], depth: int) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for key, item in items:
            if self._left <= 0:
                plain[MORE] = MORE
                break
            self._left -= 1
            name = _name_key(key)
            while name in plain:  # 1 and "1" are two keys
                name += f" ({_name_type(key)})"
            plain[name] = self.read(item, depth + 1)
        return plain

    def _read_sequence(self, items: Iterable[object], depth: int) -> list[Any]:
        plain: list[Any] = []
        for item in items:
            if self._left <= 0:
                plain.append(MORE)
                break
            self._left -= 1
            plain.append(self.read(item, depth + 1))
        return plain


def _fields(value: Any) -> Iterable[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(value) if hasattr(value, field.name)]


def _read_int(value: int) -> int | str:
    if value.bit_length() <= _LONGEST_INT:
        return value
    try:
        return str(value)
    except ValueError:  # Python itself writes no more than so many digits
        return f"<int of {value.bit_length()} bits>"


def _name_key(key: object) -> str:
    if isinstance(key, str):
        return _escape_surrogates(key)
    if key is None or key is True or key is False:
        return {None: "null", True: "true", False: "false"}[key]
    try:
        return _escape_surrogates(unknown_default(key))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return f"<{_name_type(key)}>"


def _name_type(value: object) -> str:
    # past a metaclass, which may do anything where it is asked for the name
    return str(_TYPE_NAME(type(value)))


def _escape_surrogates(text: str) -> str:
    text = str.__str__(text)
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
