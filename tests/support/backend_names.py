"""The plugin of a backend with a component `backend` and an artifact `tiles`, as the text of a module."""

from __future__ import annotations

from typing import Final

BACKEND_NAMES: Final = """
    from complog_core import Artifact, Component, hookimpl

    @hookimpl
    def complog_components():
        return [Component("backend", ["backend"])]

    @hookimpl
    def complog_artifacts():
        return [Artifact("tiles", "the tiles", off_by_default=True)]
"""
