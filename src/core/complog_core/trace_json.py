"""JSON that every parser reads, made of whatever a program hands in; what cannot be shown gets a placeholder."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

DEEPEST: Final = 100
"""How deep values may be nested: common parsers give up at 128."""

SURROGATES: Final = "holds surrogates, which no file can hold; they are written as escapes"
"""The fault of a text that is none."""

_LONGEST_EXAMPLE: Final = 60
_LONGEST_NUMBER: Final = 300
_HUGE: Final = re.compile(rf"[0-9]{{{_LONGEST_NUMBER}}}")
_TWO_DIGITS: Final = re.compile("[0-9]{2}")
_ESCAPE: Final = re.compile(r"(\\u[dD][89abAB]..\\u[dD][c-fC-F]..)|\\(u[dD][89a-fA-F]..)|\\.")
_BATCH: Final = 4096
_SHORT: Final = min(2 * DEEPEST, _LONGEST_NUMBER)
"""Characters within which no text is too deep, nor has too long a number."""


class Faults(dict[str, str]):
    """What had to be replaced in a record: kinds of faults, as texts that go on after "a record", and an example each.

    >>> faults = Faults()
    >>> faults.note("holds an int that other parsers would refuse", "3")
    >>> faults
    {'holds an int that other parsers would refuse': '3'}
    """

    __slots__ = ()

    def note(self, kind: str, example: object = "") -> None:
        """Add a fault; the first example of its kind is kept."""
        self.setdefault(kind, str(example)[:_LONGEST_EXAMPLE])


def encode_metadata(value: object, faults: Faults) -> str:
    """Return the value as JSON on one line: NaN and infinities are null, objects their repr.

    >>> encode_metadata({"sizes": (1, float("nan")), "device": ...}, Faults())
    '{"sizes": [1, null], "device": "Ellipsis"}'
    """
    if _encoder is not None:
        try:
            text = "".join(_encoder(value, 0))
            if len(text) <= _SHORT or not _is_refused(text, value):
                return _escape_surrogates(text, faults) if "\\ud" in text else text
        except Exception:  # it holds something that somebody else has to be asked about
            pass
    shower = _Shower(faults, is_payload=False)
    return _encode(value, shower, shower.encoder())


def encode_plain(value: object) -> str | None:
    """Return the value as `encode_metadata` does, None unless it is short and JSON as it stands.

    >>> encode_plain({"device": 0}), encode_plain({"device": ...})
    ('{"device": 0}', None)
    """
    try:
        text = "" if _encoder is None else "".join(_encoder(value, 0))
    except Exception:
        return None
    return text if 0 < len(text) <= _SHORT and "\\ud" not in text else None


def encode_payload(value: object, faults: Faults) -> str:
    """Return the value as JSON, a line for each item: sets are lists, NaN and infinities texts, objects their repr.

    >>> faults = Faults()
    >>> encode_payload({"loss": float("inf"), "device": ...}, faults)
    '{\\n"loss": "Infinity",\\n"device": "Ellipsis"\\n}'
    >>> faults
    {'holds a number that JSON does not have': 'Infinity', 'holds an object that JSON cannot show': 'ellipsis'}
    """
    shower = _Shower(faults, is_payload=True)
    if isinstance(value, list):
        # whole items on lines of their own are better to read than one value per line
        encoder = shower.encoder()
        return "[\n" + ",\n".join([_encode(item, shower, encoder) for item in list.copy(value)]) + "\n]"
    return _encode(value, shower, shower.encoder(indent=0))


def show(value: object, faults: Faults) -> str:
    """Return the repr of an object, or a placeholder where it has none."""
    try:
        return repr(value)
    except Exception as error:
        faults.note("holds an object that has no repr", f"{type(value).__name__}: {type(error).__name__}")
        return f"<{type(value).__name__} without a repr>"


def _refuse(value: object) -> None:
    raise TypeError


def _make_encoder() -> Callable[[object, int], Iterable[str]] | None:
    """Return what writes plain values as `json.dumps` does, which makes such an encoder for each value anew.

    It raises for everything that is not plain. None where this Python has no such thing.
    """
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    try:
        made: Callable[[object, int], Iterable[str]] = make(
            None, _refuse, json.encoder.encode_basestring_ascii, None, ": ", ", ", False, False, False
        )
    except TypeError:
        return None
    return made


_encoder: Final = _make_encoder()


class _Shower:
    def __init__(self, faults: Faults, *, is_payload: bool) -> None:
        self.faults = faults
        self.is_payload = is_payload

    def encoder(self, indent: int | None = None) -> json.JSONEncoder:
        """Return an encoder that asks this about what it does not know."""
        return json.JSONEncoder(default=self.show, allow_nan=False, indent=indent)

    def show(self, value: object) -> Any:
        """Return what stands for an object that JSON knows nothing of."""
        if self.is_payload:
            if isinstance(value, (set, frozenset)):
                return list(value)
            self.faults.note("holds an object that JSON cannot show", type(value).__name__)
        return show(value, self.faults)


def _encode(value: object, shower: _Shower, encoder: json.JSONEncoder) -> str:
    faults = shower.faults
    before = dict(faults)
    try:
        text = encoder.encode(value) if encoder.indent is None else _join(encoder, value)
        if _is_refused(text, value):
            raise ValueError("other parsers would refuse it")
    except Exception:
        faults.clear()
        faults.update(before)
        text = encoder.encode(_simplify(value, shower, 0, set()))
    return _escape_surrogates(text, faults) if "\\ud" in text else text


def _join(encoder: json.JSONEncoder, value: object) -> str:
    # one by one, the pieces of a large value would take many times its size
    pieces = encoder.iterencode(value)
    joined: list[str] = []
    while batch := "".join(islice(pieces, _BATCH)):
        joined.append(batch)
    return "".join(joined)


def _is_refused(text: str, value: object) -> bool:
    """Return whether other parsers would refuse the text, which stands for the value."""
    return (len(text) > _LONGEST_NUMBER and _has_huge_number(text)) or _is_deep(text, value)


def _has_huge_number(text: str) -> bool:
    # the whole text takes as long to search as to write; such a number leaves two digits in a row in this part of it
    part = text[:: _LONGEST_NUMBER // 2]
    return _TWO_DIGITS.search(part) is not None and _HUGE.search(text) is not None


def _is_deep(text: str, value: object) -> bool:
    if text.count("{") + text.count("[") <= DEEPEST:
        return False
    level: list[object] = [value]
    for _ in range(DEEPEST):
        level = [item for each in level for item in _items(each)]
        if not level:
            return False
    return True


def _items(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from list(value.values())
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from list(value)


def _simplify(value: object, shower: _Shower, depth: int, around: set[int]) -> Any:
    """Return the value made of plain types, with every part replaced that JSON cannot show."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return _simplify_int(value, shower.faults)
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        shower.faults.note("holds a number that JSON does not have", _name_float(value))
        return _name_float(value) if shower.is_payload else None
    containers = (dict, list, tuple, set, frozenset) if shower.is_payload else (dict, list, tuple)
    if not isinstance(value, containers):
        return shower.show(value)
    if id(value) in around:
        shower.faults.note("holds a value that contains itself", type(value).__name__)
        return "<contains itself>"
    if depth >= DEEPEST:
        shower.faults.note(f"holds a value that is nested more than {DEEPEST} deep")
        return f"<{type(value).__name__}, too deep>"
    around.add(id(value))
    try:
        if isinstance(value, dict):
            return {
                _name_key(key, shower.faults): _simplify(item, shower, depth + 1, around)
                for key, item in list(dict.items(value))
            }
        return [_simplify(item, shower, depth + 1, around) for item in _copy(value)]
    except Exception as error:  # a subclass with a mind of its own
        shower.faults.note("holds a value that cannot be read", f"{type(value).__name__}: {type(error).__name__}")
        return f"<{type(value).__name__}, unreadable>"
    finally:
        around.discard(id(value))


def _copy(value: Any) -> list[Any]:
    # a subclass may go through its items in its own way
    return list.copy(value) if isinstance(value, list) else list(value)


def _simplify_int(value: int, faults: Faults) -> int | str:
    if value.bit_length() < 960:  # so that it is no infinity where it is read as a float
        return int(value)
    faults.note("holds an int that other parsers would refuse")
    try:
        return int.__repr__(value)
    except ValueError:  # there is a limit to the digits that Python itself writes
        return f"<int of {value.bit_length()} bits>"


def _name_key(key: object, faults: Faults) -> str:
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, int):
        return str(_simplify_int(key, faults))
    if isinstance(key, float):
        return float.__repr__(key) if math.isfinite(key) else _name_float(key)
    faults.note("holds a key that JSON cannot have", type(key).__name__)
    return show(key, faults)


def _name_float(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _escape_surrogates(text: str, faults: Faults) -> str:
    r"""Return the JSON text with each lone surrogate written out, since no strict parser takes its escape.

    >>> _escape_surrogates(r'"\ud83d\ude00 \ud800"', Faults()), _escape_surrogates(r'"\\ud800"', Faults())
    ('"\\ud83d\\ude00 \\\\ud800"', '"\\\\ud800"')
    """
    found = False

    def replace(match: re.Match[str]) -> str:
        nonlocal found
        if match[2] is None:
            return match[0]
        found = True
        return rf"\\{match[2]}"

    text = _ESCAPE.sub(replace, text)
    if found:
        faults.note(SURROGATES)
    return text
