"""Which formatter a format's text asks for: none for the default line, a registered name, or a %-format."""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING

from .errors import FormatError
from .faults import Fault, describe
from .formatters import GlogFormatter
from .rendering import HeedingFormatter

if TYPE_CHECKING:
    from .model import Artifact, Field


class BrokenFormatError(Exception):
    """A registered format whose factory, or formatter's `bind`, fails: `what` names it, `cause` is what was raised.

    It is the plugin's fault and not that of whoever chose the format, so it is no SettingsError.
    """

    def __init__(self, name: str, factory: object, cause: BaseException) -> None:
        where = f"{getattr(factory, '__module__', '?')}.{getattr(factory, '__qualname__', type(factory).__qualname__)}"
        self.what = f"the format {name!r} of {where}, instead of which the default line is used,"
        self.cause = cause
        super().__init__(f"{self.what} {describe(cause)}")


def _find_none(logger_name: str) -> Sequence[str]:
    return ()


def bare_name(fmt: str, known: Container[str]) -> str:
    """Return the format's text without white space around it, and a known name that is written as a field as a name.

    So written, a host framework that reads the variable before us, and takes only %-formats, lets it pass.

    >>> bare_name("%(json)s", {"json"}), bare_name("%(message)s", {"json"})
    ('json', '%(message)s')
    """
    text = fmt.strip()
    name = text.removeprefix("%(").removesuffix(")s")
    return name if f"%({name})s" == text and name in known else text


def make_formatter(
    fmt: str | None,
    factories: Mapping[str, Callable[[], logging.Formatter]],
    fields: Sequence[Field],
    artifacts: Mapping[str, Artifact],
    *,
    variable: str,
    find_components: Callable[[str], Sequence[str]] = _find_none,
) -> logging.Formatter:
    """Return the formatter that a format's text asks for: None or blank, a registered name, or a %-format.

    A registered name may be written as a field too, `%(json)s`.

    Raises FormatError, whose source is `variable`, for anything else and for a %-format that cannot render a record,
    and BrokenFormatError where the format's own factory fails.

    >>> type(make_formatter(None, {}, (), {}, variable="TORCH_LOGS_FORMAT")).__name__
    'GlogFormatter'
    >>> make_formatter("%(mesage)s", {}, (), {}, variable="TORCH_LOGS_FORMAT")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    complog_core.errors.FormatError: TORCH_LOGS_FORMAT: '%(mesage)s': unknown field 'mesage'; did you mean message...
    """
    glog = GlogFormatter()
    glog.bind(fields, artifacts)
    if fmt is None or not fmt.strip():
        return glog
    name = bare_name(fmt, factories)
    if name in factories:
        made = _call_factory(name, factories[name], fields, artifacts, find_components)
        return made if type(made) is GlogFormatter else HeedingFormatter(made, artifacts)
    from .percent import PercentFormatter, check_format, list_formats, nearest_text

    if "%(" in fmt:
        problems = check_format(fmt)
        if problems:
            raise FormatError(variable, (*problems[:-1], problems[-1] + list_formats(factories)))
        return HeedingFormatter(PercentFormatter(fmt, glog.prefix), artifacts)
    problem = f"{fmt!r}: neither a registered format nor a %-format such as '%(levelname)s %(message)s'"
    raise FormatError(variable, (f"{problem}{nearest_text(name, factories)}{list_formats(factories)}",))


def _call_factory(
    name: str,
    factory: Callable[[], logging.Formatter],
    fields: Sequence[Field],
    artifacts: Mapping[str, Artifact],
    find_components: Callable[[str], Sequence[str]],
) -> logging.Formatter:
    try:
        made: object = factory()
        if not isinstance(made, logging.Formatter):
            raise Fault(f"is no logging.Formatter but a {type(made).__name__}")
        bind = getattr(made, "bind", None)
        if bind is not None:
            bind(fields, artifacts)
        bind_components = getattr(made, "bind_components", None)
        if bind_components is not None:
            bind_components(find_components)
    except BaseException as error:
        raise BrokenFormatError(name, factory, error) from error
    return made
