"""A device backend outside of PyTorch's tree, reduced to what its logging is about."""

from __future__ import annotations

import logging

from . import native
from ._logging import dispatch_log, log, memory_log

_in_use = 0


def autoload() -> None:
    """Called by `import torch`; a real backend registers its device here."""


def allocate(size: int) -> None:
    """Take `size` bytes of the device's memory."""
    global _in_use
    _in_use += size
    log.info("the device has taken %d bytes", size)
    memory_log.debug("allocated %d bytes, %d in use", size, _in_use)
    native.write("memory", logging.DEBUG, f"block of {size} bytes")


def launch(operator: str, *shapes: tuple[int, ...]) -> None:
    """Run an operator on the device."""
    if dispatch_log.isEnabledFor(logging.DEBUG):  # the artifact is off_by_default: nobody pays for this unasked
        dispatch_log.debug("%s(%s)", operator, ", ".join(map(str, shapes)))
    native.write("runtime", logging.INFO, f"launched {operator}")
