"""Sends the calls of a stock function elsewhere, whoever holds a reference to it, and undoes that exactly.

Replacing a module's attribute reaches only those who look it up again. Other backends wrap `set_logs`, and PyTorch's
modules take functions by name, before the bridge comes; what they hold is the function object, so its code is
exchanged.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, TypeGuard

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
        exec(source, namespace)
        # to Dynamo, which goes by the file, it stays a function of PyTorch
        stock = function.__code__
        place = {"co_filename": stock.co_filename, "co_firstlineno": stock.co_firstlineno}
        function.__code__ = namespace[function.__name__].__code__.replace(**place)
        function.__defaults__ = None
        function.__kwdefaults__ = None
        function.__wrapped__ = target  # type: ignore[attr-defined]  # as functools sets it
        function.__doc__ = target.__doc__ or function.__doc__

    def undo(self) -> None:
        """Make the function what it was."""
        self.function.__dict__.clear()
        for name, value in self._kept.items():
            setattr(self.function, name, value)
        self.function.__globals__.pop(self._key, None)


def find_stock(module: ModuleType, name: str) -> FunctionType | None:
    """Return the function `name` that the module itself defined, also where somebody has put a wrapper in its place."""
    value = getattr(module, name, None)
    if _is_stock(value, module, name):
        return value
    # a wrapper may hold it in a closure, a partial, an object, or not at all; that it lives is all there is to rely on
    found = [each for each in gc.get_objects() if type(each) is FunctionType and _is_stock(each, module, name)]
    return found[0] if found else None


def _is_stock(value: Any, module: ModuleType, name: str) -> TypeGuard[FunctionType]:
    if type(value) is not FunctionType or value.__globals__ is not vars(module):
        return False
    code = value.__code__
    return code.co_name == name and code.co_filename == module.__file__ and value.__qualname__ == name
