"""Records fitted to what readers of a trace expect: names that can be file names, fields of the right type."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from .trace_json import Faults, show

LONGEST_NAME: Final = 150
"""Bytes that a name may have: readers make files of it and append to it."""

LARGEST_NUMBER: Final = 2**32 - 1
"""The highest rank or compile id that readers take."""

LARGEST_STRING_NUMBER: Final = 2**24 - 1
"""The highest number of an interned string: readers make a table up to it."""

COMPILE_ID: Final = ("compiled_autograd_id", "frame_id", "frame_compile_id", "attempt")
"""Fields which tell the running compilation, in the order in which they are written."""

_OF_THE_FORMAT: Final = frozenset({"stack", "has_payload"})
_ADDED_BY_READERS: Final = frozenset({"lineno", "pathname", "payload_filename", "thread", "timestamp"})
TAKEN: Final = _OF_THE_FORMAT | {"str"}
"""Names of fields that readers would take for the format's own."""

RENAMED: Final = TAKEN | _ADDED_BY_READERS
"""Names for which `fit_name` or `fit` has to be asked: some records, or all, are written under another one."""

_NUMBERS: Final = frozenset({"rank", *COMPILE_ID})
_ENCODINGS: Final = ("string", "json")
_NAMES_WITH_DICTS: Final = """
    aot_autograd_backward_compilation_metrics aot_backward_graph aot_forward_graph aot_inference_graph aot_joint_graph
    bwd_compilation_metrics chromium_event compilation_metrics compiled_autograd_graph create_symbol
    create_unbacked_symbol dynamo_cpp_guards_str dynamo_guards dynamo_output_graph dynamo_start exported_program
    expression_created guard_added guard_added_fast inductor_output_code inductor_post_grad_graph
    inductor_pre_grad_graph memoizer_artifacts mismatched_fake_kernel missing_fake_kernel optimize_ddp_split_graph
    propagate_real_tensors_provenance symbolic_shape_specialization
"""
_DICTS: Final = frozenset(_NAMES_WITH_DICTS.split())
_RENAMED: Final = "has a field whose name the format uses itself; it is written with an underscore behind it"
_UNFIT_FOR_FILES: Final = re.compile(r'[/\\<>:"|?*\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]')
_GENERATED: Final = re.compile(r"<eval_with_key>\.[0-9]{1,18}(?![0-9])")


def fit(metadata: Mapping[str, Any], faults: Faults) -> dict[str, Any]:
    """Return the record's fields as readers take them; what no reader could take is replaced or left out.

    >>> fit({"artifact": {"name": "../../x", "encoding": "string"}, "rank": -1}, Faults())
    {'artifact': {'name': '.._.._x', 'encoding': 'string'}}
    """
    fitted: dict[str, Any] = {}
    for field, value in metadata.items():
        if field not in _SPECIAL:
            fitted[field] = value
        elif field in _NUMBERS:
            if is_number(value):
                fitted[field] = value
            else:
                faults.note(f"has a {field} that is no int from 0 to {LARGEST_NUMBER}; it is left out", as_text(value))
        elif field in _TEXTS or field in _DICTS:
            fitted[field] = _fit_dict(field, value, faults)
        else:
            faults.note(_RENAMED, field)
            fitted[f"{field}_"] = value
    return fitted


def fit_name(name: str, metadata: object, faults: Faults) -> str:
    """Return the name under which a program's record is written: another one where it is the format's own.

    >>> fit_name("artifact", {}, Faults()), fit_name("stack", {}, Faults()), fit_name("str", ("a.py", 3), Faults())
    ('artifact', 'stack_', 'str')
    """
    if name in _OF_THE_FORMAT or (name == "str" and not is_interned(metadata)):
        faults.note(_RENAMED, name)
        return f"{name}_"
    return name


def is_number(value: object) -> bool:
    """Return whether the value can be a rank or a part of a compile id."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_NUMBER


def is_interned(value: object) -> bool:
    """Return whether the value is a string together with the number that stands for it."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        return False
    text, number = value
    return isinstance(text, str) and is_number(number) and number <= LARGEST_STRING_NUMBER


def fit_file_name(name: str) -> str:
    r"""Return the name with everything replaced that would lead elsewhere, or that some file system refuses.

    >>> fit_file_name("a/b\0"), len(fit_file_name("x" * 1000))
    ('a_b_', 150)
    """
    # most programs give the same few names again and again
    return _fit_known(name) if type(name) is str and len(name) <= LONGEST_NAME else _fit_any(name)


@functools.lru_cache(maxsize=1024)
def _fit_known(name: str) -> str:
    return _fit_any(name)


def _fit_any(name: str) -> str:
    text = _UNFIT_FOR_FILES.sub("_", name)
    data = text.encode()
    if len(data) <= LONGEST_NAME:
        return text or "_"
    from hashlib import md5

    mark = md5(data, usedforsecurity=False).hexdigest()[:8]
    return f"{data[: LONGEST_NAME - 9].decode(errors='ignore')}_{mark}"


def as_text(value: object) -> str:
    """Return a text itself, and what shows any other object."""
    return value if isinstance(value, str) else show(value, Faults())


def _fit_dict(field: str, value: object, faults: Faults) -> object:
    if value is None:
        return None
    about: dict[Any, Any]
    if isinstance(value, dict):
        about = value
    else:
        faults.note("has metadata that is no dict where readers need one", type(value).__name__)
        about = {"value": value}
    for key, correct in _TEXTS.get(field, {}).items():
        given = about.get(key)
        if given is None and field == "inductor_output_code":
            continue
        text = correct("" if given is None else as_text(given))
        if text != given:
            about = {**about, key: text}
            if correct is _fit_encoding or not isinstance(given, str):
                faults.note(f"has metadata whose {key} readers do not know; it is replaced", as_text(given))
    return about


def _fit_encoding(encoding: str) -> str:
    return encoding if encoding in _ENCODINGS else "string"


def _fit_generated(name: str) -> str:
    # readers take nothing but the number out of such a name
    return name if _GENERATED.search(name) else fit_file_name(name)


def _fit_path(path: str) -> str:
    # readers take the last part for a file's name
    last = re.split(r"[/\\]", path)[-1]
    return path if fit_file_name(last) == (last or "_") else fit_file_name(last)


_TEXTS: Final[Mapping[str, Mapping[str, Callable[[str], str]]]] = {
    "artifact": {"name": fit_file_name, "encoding": _fit_encoding},
    "graph_dump": {"name": fit_file_name},
    "optimize_ddp_split_child": {"name": fit_file_name},
    "dump_file": {"name": _fit_generated},
    "inductor_output_code": {"filename": _fit_path},
    "link": {"name": str, "url": str},
}
NAMED: Final = frozenset(_TEXTS)
"""Names of records that readers make files of, so that their metadata takes the longest to fit."""

_SPECIAL: Final = _NUMBERS | _DICTS | _ADDED_BY_READERS | NAMED
"""Fields that are looked at; others are as the program has them."""
