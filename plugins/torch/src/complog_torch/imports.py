"""Runs something right after a module's import, once, whenever that import comes; standard library only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.machinery import ModuleSpec
from types import ModuleType

Surrounding = Callable[[], AbstractContextManager[None]]


class _Watcher:
    """A finder that finds what the others find, and wraps the loader of the one module it waits for."""

    def __init__(self, name: str, call: Callable[[], None], during: Surrounding) -> None:
        self._name = name
        self._call = call
        self._during = during

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._name:
            return None
        spec = None
        for finder in list(sys.meta_path):
            # asking the others, and not importlib, imports no parent for somebody who is only looking
            if not isinstance(finder, _Watcher) and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    break
        loader = None if spec is None else spec.loader
        if loader is None or not hasattr(loader, "exec_module"):
            return spec
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            self.stop()
            with self._during():
                execute(module)
            self._call()

        try:
            loader.exec_module = exec_module  # type: ignore[method-assign]  # of this one loader
        except AttributeError:
            pass  # a loader of another kind; the module is imported all the same
        return spec

    def stop(self) -> None:
        """Wait no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def after_import(name: str, call: Callable[[], None], during: Surrounding = nullcontext) -> None:
    """Call `call()` once the module `name` has been executed: now, if it has been, else at the end of its import.

    `during()` makes a context in which it is executed.

    An import of it that is under way already is not noticed.

    >>> after_import("sys", lambda: print("there"))
    there
    """
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        call()
    else:
        sys.meta_path.insert(0, _Watcher(name, call, during))


def stop_waiting() -> None:
    """Give up everything that was waited for."""
    for finder in list(sys.meta_path):
        if isinstance(finder, _Watcher):
            finder.stop()
