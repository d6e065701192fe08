"""Is there a module, or a logger, of a dotted name, and is it complete? Answered without importing anything."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

_whole: dict[str, ModuleType] = {}


def find_loaded(name: str) -> ModuleType | None:
    """Return a module that the program has loaded itself, None while its import is under way or nobody asked for it.

    For hooks that run at each record: it imports nothing, and what it returns lacks nothing.

    >>> find_loaded("sys").__name__, find_loaded("no.such.module")
    ('sys', None)
    """
    module = sys.modules.get(name)
    if module is not None and _whole.get(name) is not module:
        if is_importing(module):
            return None
        _whole[name] = module
    return module


def is_importing(module: object) -> bool:
    """Return whether a module, given itself or by name, is in sys.modules with its import still under way.

    >>> is_importing("sys"), is_importing("no.such.module")
    (False, False)
    """
    found = sys.modules.get(module) if isinstance(module, str) else module
    try:
        # a lazily loaded module would execute itself if it were asked through its own __getattribute__
        return bool(object.__getattribute__(object.__getattribute__(found, "__spec__"), "_initializing"))
    except AttributeError:
        return False


def module_exists(name: str) -> bool:
    """Return whether a logger or module `name` is in the process, or a finder finds it on its parents' search paths.

    Nothing is imported: a parent that is not imported yet is looked at through the search path in its spec.

    >>> module_exists("json.tool"), module_exists("json.no_such_module")
    (True, False)
    """
    parts = name.split(".")
    if not all(parts):
        return False
    if name in logging.root.manager.loggerDict or sys.modules.get(name) is not None:
        return True
    path: Sequence[str] | None = None
    for length in range(1, len(parts) + 1):
        full = ".".join(parts[:length])
        module = sys.modules.get(full)
        if module is not None:
            found, locations = True, getattr(module, "__path__", None)
        else:
            found, locations = _find(full, path, deeper=len(parts) > 1)
        if not found:
            return False
        if length < len(parts):
            path = _as_paths(locations)
            if not path:
                return False
    return True


def _find(full: str, path: Sequence[str] | None, deeper: bool) -> tuple[bool, Any]:
    for finder in list(sys.meta_path):
        find_spec = getattr(finder, "find_spec", None)
        # setuptools' distutils shim answers by importing setuptools
        if find_spec is None or getattr(finder, "__module__", type(finder).__module__) == "_distutils_hack":
            continue
        try:
            spec = find_spec(full, path)
        except Exception:
            # Python cannot describe a namespace package below one that is not imported; a folder it is all the same
            folders = [os.path.join(entry, full.rpartition(".")[2]) for entry in path or ()]
            portions = [folder for folder in folders if os.path.isdir(folder)]
            if portions and finder is PathFinder:
                return True, portions
            continue  # a finder that cannot answer does not find
        if spec is not None:
            # a folder without code, as `logs` may be, is no package until something in it is asked for
            return spec.loader is not None or path is not None or deeper, spec.submodule_search_locations
    return False, None


def _as_paths(locations: Any) -> list[str]:
    try:
        return [str(entry) for entry in locations or ()]
    except Exception:
        # a namespace package whose parent is not imported cannot recompute its path, but remembers it
        return [str(entry) for entry in getattr(locations, "_path", ())]
