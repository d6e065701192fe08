"""Stands in for the backend's C++ part, which has levels of its own and knows nothing of Python's loggers."""

from __future__ import annotations

import logging
import sys

_levels: dict[str, int] = {}


def set_native_level(module: str, level: int) -> None:
    """Let the C++ module's messages of this level and above through; the levels are those of `logging`."""
    _levels[module] = level


def get_native_level(module: str) -> int:
    """Return the level of the C++ module, WARNING unless it was set."""
    return _levels.get(module, logging.WARNING)


def write(module: str, level: int, text: str) -> None:
    """Write a line as the C++ part does, past Python's logging."""
    if level >= get_native_level(module):
        print(f"[device_backend.cpp {module}] {text}", file=sys.stderr)
