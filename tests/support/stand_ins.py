"""Stand-ins for PyTorch's modules: what the families remember of the real ones must not answer for them."""

from __future__ import annotations

import pytest

import complog_distributed.ranks
import complog_dynamo.running


def forget_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the families look for PyTorch anew, for the length of a test."""
    monkeypatch.setattr(complog_distributed.ranks, "_c10d", None)
    monkeypatch.setattr(complog_dynamo.running, "_local", None)
    monkeypatch.setattr(complog_dynamo.running, "_guards", None)
