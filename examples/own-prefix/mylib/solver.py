"""Square roots by Newton's method; logs on a plain logger and on an artifact logger."""

from __future__ import annotations

import logging

from .logs import system

log = logging.getLogger(__name__)
iterates_log = system.getArtifactLogger(__name__, "iterates")


def square_root(number: float) -> float:
    """Return the square root of a positive number.

    >>> square_root(16)
    4.0
    """
    log.info("square root of %s", number)
    guess, last = max(number, 1.0), float("inf")
    while guess < last:
        iterates_log.debug("%.12f", guess)
        guess, last = (guess + number / guess) / 2, guess
    return last
