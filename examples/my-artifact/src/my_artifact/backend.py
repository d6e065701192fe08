"""The backend itself: it logs on plain loggers and on artifact loggers, and never configures anything."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import complog

from . import plugin

log = logging.getLogger(__name__)
code_log = complog.getArtifactLogger(__name__, "my_artifact")
summary_log = complog.getArtifactLogger(__name__, "my_summary")


def compile_function(name: str, operations: Sequence[str]) -> str:
    """Return the code for a function that does these operations one after another."""
    log.debug("compiling %s, native log level %s", name, logging.getLevelName(plugin.native_level))
    code = "\n".join([f"kernel {name} {{", *(f"    {operation};" for operation in operations), "}"])
    code_log.debug("generated code:\n%s", code)
    summary_log.info("%s: %d operations", name, len(operations))
    return code
