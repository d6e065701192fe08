"""Fixtures of the engine's tests."""

from tests.support.systems import make_system, top

__all__ = ["make_system", "top"]
