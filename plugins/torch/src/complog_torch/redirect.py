"""Sends the calls of a stock function elsewhere, whoever holds a reference to it, and undoes that exactly.

Replacing a module's attribute reaches only those who look it up again. Other backends wrap `set_logs`, and PyTorch's
modules take functions by name, before the bridge comes; what they hold is the function object, so its code is
exchanged.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

_KEPT = ("__code__", "__defaults__", "__kwdefaults__", "__doc__", "__dict__", "__annotations__")


class Redirection:
    """One redirected function; `undo` gives it back."""

    def __init__(self, function: FunctionType, target: Callable[..., Any]) -> None:
        self.function = function
        self._kept = {name: getattr(function, name) for name in _KEPT}
        self._kept["__dict__"] = dict(function.__dict__)
        self._key = f"_complog_{function.__name__}"
        function.__globals__[self._key] = target
        namespace: dict[str, Any] = {}
        source = f"def {function.__name__}(*args, **kwargs):\n    return {self._key}(*args, **kwargs)\n"
        exec(compile(source, __file__, "exec"), namespace)
        function.__code__ = namespace[function.__name__].__code__
        function.__defaults__ = None
        function.__kwdefaults__ = None
        function.__wrapped__ = target  # type: ignore[attr-defined]
        function.__doc__ = target.__doc__ or function.__doc__

    def undo(self) -> None:
        """Make the function what it was."""
        self.function.__dict__.clear()
        for name, value in self._kept.items():
            setattr(self.function, name, value)
        self.function.__globals__.pop(self._key, None)


def find_stock(module: ModuleType, name: str) -> FunctionType | None:
    """Return the function `name` that the module itself defined, also where somebody has put a wrapper in its place."""
    seen: list[Any] = []
    waiting: list[Any] = [getattr(module, name, None)]
    while waiting and len(seen) < 50:
        value = waiting.pop(0)
        if any(value is other for other in seen):
            continue
        seen.append(value)
        if not isinstance(value, FunctionType):
            continue
        if value.__name__ == name and value.__code__.co_filename == module.__file__:
            return value
        waiting.append(getattr(value, "__wrapped__", None))
        waiting += [cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell)]
        waiting += [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        held = inspect.getclosurevars(value).globals if value.__module__ != module.__name__ else {}
        waiting += [each for each in held.values() if isinstance(each, FunctionType)]
    return None


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
