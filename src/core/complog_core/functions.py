"""`set_logs` and `logs` of one system: functions of their own, since a bound method cannot carry one's signature."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .arguments import Arguments
from .stubs import set_logs_doc, set_logs_signature

if TYPE_CHECKING:
    from .model import LogState
    from .registry import Registry
    from .wording import Keywords


Answer = TypeVar("Answer", covariant=True)


class Asks(Protocol[Answer]):
    """`set_logs` and `logs`, as type checkers see them; `complog stub` writes what knows the registered names."""

    def __call__(
        self,
        settings: str | None = None,
        /,
        *,
        all: int | str | None = None,
        modules: Mapping[str, int | str | bool | None] | None = None,
        inherit: bool = False,
        **names: Any,
    ) -> Answer: ...


if TYPE_CHECKING:
    SetLogs = Asks[None]
    Logs = Asks[AbstractContextManager[LogState]]

Change = Callable[[Arguments, bool], None]
During = Callable[[Arguments, bool], AbstractContextManager["LogState"]]
Functions = dict[str, Callable[..., Any]]


def make_functions(change: Change, during: During) -> Functions:
    """Return both by their names; the first passes its arguments on to `change`, the second one to `during`.

    >>> make_functions(lambda arguments, inherit: print(arguments.settings, arguments.names), None)["set_logs"](
    ...     "+tiler", tiles=True
    ... )
    +tiler {'tiles': True}
    """

    def set_logs(
        settings: str | None = None,
        /,
        *,
        all: int | str | None = None,
        modules: Mapping[str, int | str | bool | None] | None = None,
        inherit: bool = False,
        **names: Any,
    ) -> None:
        change(Arguments(settings, all, modules, names), inherit)

    @contextmanager
    def logs(
        settings: str | None = None,
        /,
        *,
        all: int | str | None = None,
        modules: Mapping[str, int | str | bool | None] | None = None,
        inherit: bool = False,
        **names: Any,
    ) -> Iterator[LogState]:
        """Do what `set_logs` does for the length of a with block, then put the exact previous state back."""
        with during(Arguments(settings, all, modules, names), inherit) as state:
            yield state

    return {"set_logs": set_logs, "logs": logs}


def describe_functions(functions: Functions, registry: Registry, keywords: Keywords, *, prefix: str) -> None:
    """Give them the signature, and `set_logs` the docstring, in which the registered names are."""
    signature = set_logs_signature(registry, keywords)
    functions["set_logs"].__doc__ = set_logs_doc(registry, keywords, prefix=prefix)
    vars(functions["set_logs"])["__signature__"] = signature
    vars(functions["logs"])["__signature__"] = signature.replace(return_annotation="ContextManager[LogState]")
