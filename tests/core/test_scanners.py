"""Entry points are found alike whichever copy of importlib.metadata finds them."""

from __future__ import annotations

import importlib.machinery
import sys
import types
from pathlib import Path

import pytest
from tests.support.fake_distributions import make_distribution, on_sys_path, run_python

from complog_core.discovery import find_candidates

GROUP = "complog.test_scanners"

SCAN = """
    import sys
    import {module}
    from complog_core.discovery import find_candidates
    for candidate in find_candidates("complog.test_scanners"):
        print(*candidate, sep="|")
    print("importlib_metadata" in sys.modules)
"""


SCANNERS = ("importlib.metadata", "importlib_metadata", "re")
"""The last one is none: it takes the one that complog depends on."""


def add(directory: Path, name: str, version: str = "1.0", metadata: bool = True, **points: str) -> Path:
    make_distribution(directory, name, version, entry_points={GROUP: points}, metadata=metadata)
    return next(directory.glob(f"{name.replace('-', '_')}-{version}.dist-info"))


def test_the_scanner_that_is_loaded_finds_the_same_as_the_other(tmp_path: Path) -> None:
    """One is Python's own, whose way with metadata that is not as it should be differs from version to version."""
    first, second = tmp_path / "first", tmp_path / "second"
    add(first, "complog-a", a="m:hooks.more [extra]", b="m.n")
    add(first, "complog-bare", "2.5", metadata=False, bare="m")
    add(first, "complog-cut", cut="m").joinpath("METADATA").write_text("Metadata-Version: 2.1\n\nNo name.")
    malformed = add(first, "complog-malformed", c="m")
    malformed.joinpath("entry_points.txt").write_bytes(b"[complog.test_scanners]\nno sign")
    add(first, "complog-bytes", d="m").joinpath("METADATA").write_bytes(b"Name: \xff\xfe\n")
    add(second, "Complog_A", "0.9", old="m")
    add(second, "complog-malformed", "2.0", c="m")
    results = [run_python(SCAN.format(module=name), paths=[first, second]) for name in SCANNERS]
    for result in results:
        warning = result.stderr.splitlines()
        assert len(warning) == 1, result.stderr
        assert "complog_malformed-1.0" in warning[0]
    found = [result.stdout.splitlines() for result in results]
    assert [lines.pop() for lines in found] == [str(sys.version_info < (3, 11)), "True", "True"]
    assert found[0] == found[1] == found[2]
    assert [line.split("|")[0] for line in found[0]] == ["a", "b", "bare", "c", "cut", "d"]


def test_a_scanner_whose_import_is_under_way_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(tmp_path, "complog-a", a="m")
    half = types.ModuleType("importlib_metadata")
    half.__spec__ = importlib.machinery.ModuleSpec("importlib_metadata", None)
    half.__spec__._initializing = True  # type: ignore[attr-defined]  # what the import system sets
    monkeypatch.setitem(sys.modules, "importlib_metadata", half)
    with on_sys_path(tmp_path):
        assert [each.family for each in find_candidates(GROUP)] == ["a"]
