"""What the environment says to a system: settings texts, outputs, keywords, and what parents hand to children."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from typing import Any, Final

from .errors import HelpRequested
from .faults import describe
from .model import Keyword, Outputs, Setting
from .values import NamedTuple

_SWITCH: Final = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}


class Glance:
    """Looks at several variables at once, to see whether they are what they were: raw values, None for those not set.

    >>> Glance(["A", "B"])({"A": "1"})
    ('1', None)
    """

    __slots__ = ("_keys", "_names")

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        encode = getattr(os.environ, "encodekey", None)
        self._keys = None if encode is None else tuple(map(encode, self._names))

    def __call__(self, environ: Mapping[str, str]) -> tuple[object, ...]:
        # os.environ itself takes 0.7 us to say that a variable is not set, which most never are
        raw = getattr(environ, "_data", None)
        if self._keys is not None and type(raw) is dict and environ is os.environ:
            return tuple(map(raw.get, self._keys))
        return tuple(map(environ.get, self._names))


class Texts(NamedTuple):
    """The settings texts that are set and not blank, as (variable, text), in the order in which they apply."""

    texts: tuple[tuple[str, str], ...] = ()

    @property
    def variables(self) -> str:
        return " and ".join(variable for variable, _ in self.texts)

    def __bool__(self) -> bool:
        return bool(self.texts)

    def without(self, refused: frozenset[tuple[str, str]]) -> Texts:
        """Return these texts less those that were refused."""
        return Texts(tuple(text for text in self.texts if text not in refused)) if refused else self


def read_texts(environ: Mapping[str, str], first: str, contributed: Iterable[str]) -> Texts:
    """Return the texts of the variable `first` and then of each contributed one in the order of their names.

    >>> read_texts({"TORCH_LOGS": "+aot", "B": " ", "A": "guards"}, "TORCH_LOGS", ["B", "A"]).texts
    (('TORCH_LOGS', '+aot'), ('A', 'guards'))
    """
    variables = (first, *sorted(set(contributed) - {first}))
    return Texts(tuple((name, environ[name]) for name in variables if environ.get(name, "").strip()))


def parse_texts(texts: Texts, help_page: Callable[[bool], str]) -> tuple[tuple[Setting, ...], list[tuple[str, str]]]:
    """Parse each text; return the settings and the problems as (variable, problem).

    Raises HelpRequested with the page where a text asks for help.
    """
    from .settings import parse  # most programs set none

    settings: list[Setting] = []
    problems: list[tuple[str, str]] = []
    for variable, text in texts.texts:
        parsed = parse(text)
        if parsed.help:
            raise HelpRequested(help_page(parsed.help == "+help"))
        settings += [setting._replace(source=variable) for setting in parsed.settings]
        problems += [(variable, problem) for problem in parsed.problems]
    return tuple(settings), problems


def read_outputs(
    environ: Mapping[str, str], prefix: str, out: str | None = None
) -> tuple[Outputs, list[tuple[str, str]]]:
    """Return where records go according to the variables, and the problems as (variable, problem).

    `out` names the variable of the file, where that is not `<prefix>_LOGS_OUT`.

    >>> read_outputs({"TORCH_LOGS_STDERR": "0"}, "TORCH")[0].stderr
    False
    """
    problems: list[tuple[str, str]] = []

    def switch(name: str, default: bool) -> bool:
        word = environ.get(f"{prefix}_LOGS_{name}", "").strip().lower()
        if word and word not in _SWITCH:
            problems.append((f"{prefix}_LOGS_{name}", f"{word!r} is neither 1 nor 0"))
        return _SWITCH.get(word, default)

    outputs = Outputs(
        _read_text(environ, out or f"{prefix}_LOGS_OUT"),
        _read_text(environ, f"{prefix}_LOGS_FORMAT"),
        switch("STDERR", True),
        switch("PROPAGATE", False),
        None,
    )
    return outputs, problems


def _read_text(environ: Mapping[str, str], variable: str) -> str | None:
    text = environ.get(variable, "")
    return text if text.strip() else None


def name_inherited(prefix: str) -> str:
    """Return the variable in which a parent process hands its settings down.

    >>> name_inherited("TORCH")
    'TORCH_LOGS_INHERITED'
    """
    return f"{prefix}_LOGS_INHERITED"


def hand_down(environ: MutableMapping[str, str], prefix: str, packed: str | None) -> None:
    """Let processes that are started from now on get `packed` (None: nothing).

    >>> environ = {}
    >>> hand_down(environ, "MYLIB", "{}")
    >>> environ
    {'MYLIB_LOGS_INHERITED': '{}'}
    """
    variable = name_inherited(prefix)
    if packed is None:
        environ.pop(variable, None)
    elif packed != environ.get(variable):
        environ[variable] = packed


def read_keywords(
    environ: Mapping[str, str], prefix: str, keywords: Sequence[Keyword]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the values of those keywords whose variable is set and not blank, and the problems."""
    values: dict[str, Any] = {}
    problems: list[tuple[str, str]] = []
    for keyword in keywords:
        if keyword.env_var is None:
            continue
        variable = keyword.env_var.replace("{prefix}", prefix)
        text = environ.get(variable, "").strip()
        if not text:
            continue
        try:
            values[keyword.name] = convert(keyword, text, from_text=True)
        except ValueError as error:
            problems.append((variable, str(error)))
    return values, problems


def convert(keyword: Keyword, value: Any, *, from_text: bool = False) -> Any:
    """Return the value of a keyword for an argument or, `from_text`, for its variable's text; ValueError if it is bad.

    >>> convert(Keyword("depth", int), "3", from_text=True)
    3
    """
    if keyword.convert is not None:
        try:
            return keyword.convert(value)
        except KeyboardInterrupt:
            raise
        except ValueError:
            raise
        except BaseException as error:
            raise ValueError(f"{keyword.name}={value!r}: {describe(error)}") from error
    kind = keyword.type
    if not isinstance(kind, type):
        return value
    if from_text and kind is bool:
        word = value.lower()
        if word not in _SWITCH:
            raise ValueError(f"{value!r} is neither 1 nor 0")
        return _SWITCH[word]
    if from_text and kind in (int, float, str):
        try:
            return kind(value)
        except ValueError:
            raise ValueError(f"{value!r} is not a {kind.__name__}") from None
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{keyword.name}={value!r} is not a {kind.__name__}")
    return value
