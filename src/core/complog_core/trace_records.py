"""One structured record as bytes: a line that ends in JSON, and its payload, each line of which begins with a tab."""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import re
import time
from collections.abc import Mapping
from typing import Any, Final

from .formatters import relative_path
from .trace_fitting import NAMED, fit, is_interned
from .trace_json import SURROGATES, Faults, encode_metadata, encode_payload, encode_plain
from .trace_memo import Memo

_LETTERS: Final = {"DEBUG": "V", "INFO": "I", "WARNING": "W", "ERROR": "E", "CRITICAL": "C"}
_UNFIT_FOR_PATHS: Final = re.compile(r"[:\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PIECE: Final = 2**16
_REFERENCE: Final = re.compile(rb'filename\\*": ?([0-9]{1,10})')
_stamp: tuple[int, str] = (-1, "")


def make_prefix(seconds: float, filename: str, lineno: int, *, letter: str = "V", process: int | None = None) -> str:
    """Return what stands before the JSON: `V1129 15:57:26.774000 4408 pkg/mod.py:241]`.

    >>> make_prefix(0.25, "/x/a:b.py", 3, process=7).partition(".")[2]
    '250000 7 /x/a_b.py:3]'
    """
    global _stamp
    second = int(seconds)
    known, stamp = _stamp
    if known != second:
        stamp = time.strftime("%m%d %H:%M:%S", time.localtime(second))
        _stamp = (second, stamp)
    microseconds = str(int((seconds - second) * 1e6)).zfill(6)  # in half of the time that a format takes
    return f"{letter}{stamp}.{microseconds} {process or os.getpid()} {_fit_path(relative_path(filename))}:{lineno}]"


@functools.lru_cache(maxsize=1024)
def _fit_path(path: str) -> str:
    if path.isascii() and not _UNFIT_FOR_PATHS.search(path):
        return path
    return _UNFIT_FOR_PATHS.sub("_", path).encode("utf-8", "backslashreplace").decode()


def prefix_of(record: logging.LogRecord) -> str:
    """Return the prefix of a record of the logging package."""
    letter = _LETTERS.get(record.levelname, "V")
    return make_prefix(record.created, record.pathname, record.lineno or 0, letter=letter, process=record.process)


def prepare_payload(payload: object, faults: Faults) -> str:
    r"""Return the payload as the text that is written and hashed: what is no text becomes JSON.

    A carriage return before a line end or at the end of all is dropped, because readers of lines take it for a part of
    the line end, and surrogates are written as escapes.

    >>> prepare_payload("one\r\ntwo\r", Faults()), prepare_payload({"a": 1}, Faults())
    ('one\ntwo', '{\n"a": 1\n}')
    """
    return _read_payload(payload, faults)[0]


def _read_payload(payload: object, faults: Faults) -> tuple[str, bytes | None]:
    """Return the payload as `prepare_payload` does, with its bytes unless it is long."""
    if isinstance(payload, str):
        text = payload
    elif isinstance(payload, (bytes, bytearray)):
        faults.note("is no str; it is shown as one", type(payload).__name__)
        text = bytes(payload).decode("utf-8", "backslashreplace")
    else:
        text = encode_payload(payload, faults)
    if "\r" in text:
        text = re.sub(r"\r+(?=\n|\Z)", "", text)
    if type(text) is str and len(text) <= _PIECE:
        try:
            return text, text.encode()
        except UnicodeEncodeError:
            pass
    elif text.isascii() or _can_be_encoded(text):
        return text, None
    faults.note(SURROGATES)
    return text.encode("utf-8", "backslashreplace").decode(), None


def digest(text: str) -> str:
    """Return the MD5 of the text in UTF-8, as 32 hexadecimal digits.

    >>> digest("")
    'd41d8cd98f00b204e9800998ecf8427e'
    """
    algorithm = hashlib.md5(usedforsecurity=False)
    for start in range(0, len(text), _PIECE):
        algorithm.update(text[start : start + _PIECE].encode())
    return algorithm.hexdigest()


def lay_out(
    prefix: str, metadata: Mapping[str, Any], payload: object, faults: Faults, context: str | None = None
) -> bytes | bytearray:
    r"""Return the record as it stands in the file, its line end included.

    The payload's hash is added to the metadata unless it is there and right. Where `context` is given, the metadata is
    a dict with the field of the program alone, and `context` is JSON of the others, with a comma before each.

    >>> lay_out("V]", {"tiles": {}}, "one\ntwo", Faults()).decode().splitlines()[1:]
    ['\tone', '\ttwo']
    """
    if context is None:
        about = fit(metadata, faults)
        text, data = _add_digest(about, payload, faults)
        line = encode_metadata(about, faults)
    else:
        known = None if NAMED.isdisjoint(metadata) else _named.find(metadata)
        about = fit(metadata, faults) if known is None else {}
        text, data = (None, None) if payload is None else _add_digest(about, payload, faults)
        if text is not None:
            context = f'{context}, "has_payload": "{about.pop("has_payload")}"'
        line = encode_metadata(about, faults) if known is None else known
        # what could not be read at all has a text in its place
        line = f"{line[:-1]}{context}}}" if line.endswith("}") else line
    head = f"{prefix} {line}\n".encode()
    if text is None:
        return head
    if data is not None:
        return b"".join((head, b"\t", data.replace(b"\n", b"\n\t"), b"\n"))
    record = bytearray(head)
    # piece by piece, so that the payload is in memory only once more
    for start in range(0, len(text) or 1, _PIECE):
        piece = text[start : start + _PIECE].encode()
        record += piece.replace(b"\n", b"\n\t") if start else b"\t" + piece.replace(b"\n", b"\n\t")
    record += b"\n"
    return record


def _write_named(metadata: Mapping[str, Any]) -> str | None:
    faults = Faults()
    fitted = fit(metadata, faults)
    return None if faults else encode_plain(fitted)


_named: Final = Memo(_write_named)


def with_digest(metadata: dict[str, Any], payload: object, faults: Faults) -> str | None:
    """Return the payload as text, None where the record has none, and put its hash into the metadata.

    >>> metadata = {"artifact": {}}
    >>> with_digest(metadata, {1}, Faults()), metadata["has_payload"]
    ('[\\n1\\n]', '9b33ad37da32bdc4a40e3cba3abba510')
    """
    return _add_digest(metadata, payload, faults)[0]


def _add_digest(metadata: dict[str, Any], payload: object, faults: Faults) -> tuple[str | None, bytes | None]:
    """Do what `with_digest` does, and return the text's bytes with it unless it is long."""
    if payload is None or "str" in metadata:  # readers look for no payload behind an interned string
        metadata.pop("has_payload", None)
        return None, None
    found = Faults()
    text, data = _read_payload(payload, found)
    for kind, example in found.items():
        faults.note(f"has a payload that {kind}", example)
    if text is not payload or not isinstance(metadata.get("has_payload"), str):
        metadata.pop("has_payload", None)
        whole = digest(text) if data is None else hashlib.md5(data, usedforsecurity=False).hexdigest()
        metadata["has_payload"] = whole
    return text, data


def interned_by(metadata: Mapping[str, Any]) -> tuple[str, int] | None:
    """Return the string and the number that a record explains, None where it is another kind of record."""
    pair: Any = metadata.get("str")
    return (pair[0], pair[1]) if is_interned(pair) else None


def find_references(record: bytes | bytearray) -> set[int]:
    """Return the numbers of interned strings that stand in a record or in its payload.

    >>> find_references(bytearray(b'{"stack": [{"line": 3, "filename": 12}]}'))
    {12}
    """
    return {int(number) for number in _REFERENCE.findall(record)}


def _can_be_encoded(text: str) -> bool:
    try:
        for start in range(0, len(text), _PIECE):
            text[start : start + _PIECE].encode()
    except UnicodeEncodeError:
        return False
    return True
