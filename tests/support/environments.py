"""Environments for programs that tests start: none of the settings of whoever runs the tests, and those of the test."""

from __future__ import annotations

import os
from typing import Final

SETTINGS: Final = ("TORCH", "COMPLOG", "PYTHON", "PYTEST")
"""What the variables begin with that a program does not take over from the test run."""


def make_environment(*others: str, **variables: str) -> dict[str, str]:
    """Return the test run's environment without settings and what begins like `others`, with `variables`."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith((*SETTINGS, *others))}
    return kept | variables
