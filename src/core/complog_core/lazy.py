"""Small companions of logging that need no system: lazy messages, warnings given once, warnings kept back."""

from __future__ import annotations

import logging
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final

MOST_WARNINGS_REMEMBERED: Final = 10_000
"""How many distinct warnings `warning_once` remembers; the one given longest ago is forgotten first."""

_given: Final[OrderedDict[tuple[str, int, str], None]] = OrderedDict()


class LazyString(partial[str]):
    """A message that is computed when, and only if, it is printed: `func(*args, **kwargs)`.

    It is made even where nothing is printed, and `partial` is what is made the quickest.

    >>> log = logging.getLogger("mybackend")
    >>> log.debug("graph: %s", LazyString(lambda: 1 / 0))  # not computed: DEBUG is off
    >>> str(LazyString("{}-{}".format, 1, 2))
    '1-2'
    """

    __slots__ = ()

    @property
    def kwargs(self) -> dict[str, Any]:
        """The keyword arguments of the call."""
        return self.keywords

    __repr__ = object.__repr__  # that of a partial shows the arguments, which may be large

    def __str__(self) -> str:
        return self()


def warning_once(logger_obj: logging.Logger, *args: Any, **kwargs: Any) -> None:
    """Do what `logger_obj.warning(*args, **kwargs)` does, unless the same text was logged there by this lately.

    Two calls are the same if logger and rendered text are; arguments may be unhashable and are not kept alive. The
    last 10,000 texts are remembered.

    >>> log = logging.getLogger("mybackend.slow")
    >>> log.propagate = bool(log.addHandler(logging.NullHandler()))
    >>> warning_once(log, "slow path: %s", ["a", "list"])
    """
    if not logger_obj.isEnabledFor(logging.WARNING):
        return
    try:
        text = str(args[0]) % (args[1:] if not (len(args) == 2 and isinstance(args[1], dict)) else args[1])
    except Exception:
        text = repr(args)
    key = (logger_obj.name, len(text), text if len(text) <= 512 else _digest(text))
    # no lock, which a forked child might find held: at worst a warning is given twice
    if key in _given:
        with suppress(KeyError):
            _given.move_to_end(key)
        return
    _given[key] = None
    if len(_given) > MOST_WARNINGS_REMEMBERED:
        with suppress(KeyError):
            _given.popitem(last=False)
    kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1
    logger_obj.warning(*args, **kwargs)


def _digest(text: str) -> str:
    from hashlib import blake2b

    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _show_all(*args: Any, **kwargs: Any) -> bool:
    return True


@contextmanager
def hide_warnings(filter_fn: Callable[..., bool] = _show_all) -> Iterator[None]:
    """Within the block, show only those Python warnings for which `filter_fn` returns true.

    It is called as `warnings.showwarning` is: message, category, filename, lineno, file, line.

    >>> with hide_warnings(lambda message, category, *rest: category is not UserWarning):
    ...     warnings.warn("not shown")
    """
    before = warnings.showwarning

    def show(*args: Any, **kwargs: Any) -> None:
        if filter_fn(*args, **kwargs):
            before(*args, **kwargs)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before
