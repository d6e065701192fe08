"""What the variables of a system say, worked out again only where one of them has changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .assembly import Assembly
from .environment import Glance, Texts, name_inherited, read_keywords, read_outputs, read_texts
from .model import Outputs
from .values import NamedTuple

Problems = tuple[tuple[str, str], ...]


class Reading(NamedTuple):
    """The settings texts, where records go, and the values of keywords; with what is wrong, as (variable, problem)."""

    texts: Texts = Texts()
    outputs: Outputs = Outputs()
    values: Mapping[str, Any] = {}
    inherited: str | None = None
    """What a parent process has handed down."""
    bad_outputs: Problems = ()
    bad_values: Problems = ()


class Reader:
    """Reads the variables of one prefix, from any thread.

    >>> environ = {"TORCH_LOGS": "+dynamo"}
    >>> reader = Reader("TORCH")
    >>> reader.read(environ, Assembly(), "TORCH_LOGS", "TORCH_LOGS_OUT").texts.texts
    (('TORCH_LOGS', '+dynamo'),)
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._last: tuple[Assembly, str, str, Glance, tuple[object, ...], Reading] | None = None

    def forget(self) -> None:
        """Let the next call read them in any case."""
        self._last = None

    def read(self, environ: Mapping[str, str], assembly: Assembly, logs: str, out: str) -> Reading:
        """Return what `environ` says; `logs` and `out` name the variables of the settings and of the file."""
        last = self._last  # another thread may forget it
        if last is not None:
            known, known_logs, known_out, glance, seen, reading = last
            if known is assembly and known_logs == logs and known_out == out and glance(environ) == seen:
                return reading
        noting = _Noting(environ)
        texts = read_texts(noting, logs, assembly.env_vars)
        outputs, bad_outputs = read_outputs(noting, self._prefix, out)
        values, bad_values = read_keywords(noting, self._prefix, [keyword for _, keyword in assembly.keywords])
        inherited = noting.get(name_inherited(self._prefix))
        reading = Reading(texts, outputs, values, inherited, tuple(bad_outputs), tuple(bad_values))
        glance = Glance(noting.asked)
        seen = glance(environ)
        # what a plugin makes of a text may depend on more than the text; and another thread may change the variables
        if values or bad_values or any(environ.get(name) != value for name, value in noting.asked.items()):
            self._last = None
        else:
            self._last = (assembly, logs, out, glance, seen, reading)
        return reading


class _Noting(Mapping[str, str]):
    """Notes which variables are asked for, and what they were."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.asked: dict[str, str | None] = {}

    def __getitem__(self, name: str) -> str:
        value = self.asked[name] = self._environ.get(name)
        if value is None:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._environ)

    def __len__(self) -> int:
        return len(self._environ)
