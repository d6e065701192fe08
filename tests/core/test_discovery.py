"""Entry points are found whatever state the metadata around them is in, and sorted out by the environment."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import importlib_metadata
import pytest
from tests.support.fake_distributions import make_distribution, on_sys_path, run_python, write_modules

from complog_core import report
from complog_core.discovery import Candidate, find_candidates, sort_out
from complog_core.modules import is_importing

GROUP = "complog.test_discovery"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    """A directory on sys.path."""
    with on_sys_path(tmp_path):
        yield tmp_path


@pytest.fixture(autouse=True)
def _say_everything_again() -> None:
    report.forget_warnings()


def add(directory: Path, name: str, version: str = "1.0", metadata: bool = True, **points: str) -> Path:
    make_distribution(directory, name, version, entry_points={GROUP: points}, metadata=metadata)
    return next(directory.glob(f"{name.replace('-', '_')}-{version}.dist-info"))


def test_candidate_tells_name_value_distribution_and_version(site: Path) -> None:
    add(site, "complog-onnx", "0.1.0", onnx="complog_onnx.plugin:names")
    assert find_candidates(GROUP) == (Candidate("onnx", "complog_onnx.plugin:names", "complog-onnx", "0.1.0"),)


def test_candidates_are_sorted_by_name_then_distribution(site: Path) -> None:
    add(site, "z-dist", b="m", a="m")
    add(site, "a-dist", b="m")
    found = [(each.family, each.distribution) for each in find_candidates(GROUP)]
    assert found == [("a", "z-dist"), ("b", "a-dist"), ("b", "z-dist")]


def test_other_groups_are_not_looked_at(site: Path) -> None:
    make_distribution(site, "other", entry_points={"somebody.else": {"x": "m"}})
    assert find_candidates(GROUP) == ()


def test_finding_is_one_scan_and_imports_no_plugin(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(site, "complog-a", a="found_but_not_imported")
    add(site, "complog-b", b="found_but_not_imported")
    write_modules(site, {"found_but_not_imported": "raise SystemExit"})
    scans: list[object] = []
    scan = importlib_metadata.entry_points

    def count(**query: str) -> object:
        scans.append(query)
        return scan(**query)

    monkeypatch.setattr(importlib_metadata, "entry_points", count)
    assert len(find_candidates(GROUP)) == 2
    assert scans == [{"group": GROUP}]
    assert "found_but_not_imported" not in sys.modules


def test_missing_metadata_leaves_what_the_folder_is_called(site: Path) -> None:
    add(site, "complog-bare", "2.5", metadata=False, bare="m")
    assert find_candidates(GROUP) == (Candidate("bare", "m", "complog-bare", "2.5"),)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", ("complog-x", "1.0")),
        (b"\xff\xfe\x00garbage", ("complog-x", "1.0")),
        (b"no header at all\nin two lines\n", ("complog-x", "1.0")),
        (b"Name: Real-Name\n", ("Real-Name", "1.0")),
        (b"Version: 9\n", ("complog-x", "9")),
        (b"Name: real\n\nVersion: in-the-readme\n", ("real", "1.0")),
        (b"Name:\nVersion:\n", ("complog-x", "1.0")),
        (b"name: lower\nVERSION: 9\n\nName: in-the-readme\n", ("lower", "9")),
        (b"Name: first\nName: second\nVersion: 1\n", ("first", "1")),
    ],
)
def test_broken_metadata_costs_only_what_it_would_have_told(
    site: Path, content: bytes, expected: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    (add(site, "complog-x", x="m") / "METADATA").write_bytes(content)
    (found,) = find_candidates(GROUP)
    assert (found.distribution, found.version) == expected
    assert capsys.readouterr().err == ""


def test_metadata_that_is_a_directory_is_as_good_as_none(site: Path) -> None:
    (add(site, "complog-x", metadata=False, x="m") / "METADATA").mkdir()
    assert find_candidates(GROUP) == (Candidate("x", "m", "complog-x", "1.0"),)


@pytest.mark.parametrize(
    ("folder", "expected"),
    [("bare.dist-info", ("bare", None)), ("old_style-3.2-py3.11.egg-info", ("old-style", "3.2"))],
)
def test_folder_names_of_other_tools_are_understood(site: Path, folder: str, expected: tuple[str, str | None]) -> None:
    (site / folder).mkdir()
    (site / folder / "entry_points.txt").write_text(f"[{GROUP}]\nx = m\n")
    (found,) = find_candidates(GROUP)
    assert (found.distribution, found.version) == expected


def test_path_entry_given_twice_counts_once(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(site, "complog-x", x="m")
    add(site, "complog-y", metadata=False, y="m")
    monkeypatch.syspath_prepend(site)
    monkeypatch.syspath_prepend(f"{site}/.")
    assert [each.family for each in find_candidates(GROUP)] == ["x", "y"]


def test_first_of_two_copies_on_the_path_wins(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(site / "stale", "complog-x", "1.0", x="m")
    add(site / "fresh", "complog-x", "2.0", x="m")
    monkeypatch.syspath_prepend(site / "stale")
    monkeypatch.syspath_prepend(site / "fresh")
    assert [each.version for each in find_candidates(GROUP)] == ["2.0"]


@pytest.mark.parametrize("content", [b"[complog.test_discovery]\nno equals sign\n", b"[a]\nb = \xff\xfe\n"])
def test_distribution_with_unreadable_entry_points_is_reported_and_hides_no_other(
    site: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    (add(site, "a-broken") / "entry_points.txt").write_bytes(content)
    add(site, "complog-x", "3.0", x="m")
    add(site, "complog-y", metadata=False, y="m")
    expected = (Candidate("x", "m", "complog-x", "3.0"), Candidate("y", "m", "complog-y", "1.0"))
    assert find_candidates(GROUP) == expected
    assert find_candidates(GROUP) == expected
    (line,) = capsys.readouterr().err.splitlines()
    assert "a_broken-1.0.dist-info" in line


def test_unreadable_copy_does_not_hide_a_sound_one(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(site / "sound", "complog-x", "1.0", x="m")
    add(site / "later", "Complog.X", "3.0", x="m")
    (add(site / "broken", "complog-x", "2.0") / "entry_points.txt").write_bytes(b"[a]\n\xff")
    for directory in ("later", "sound", "broken"):
        monkeypatch.syspath_prepend(site / directory)
    assert [each.version for each in find_candidates(GROUP)] == ["1.0"]


def test_broken_finder_costs_only_what_lies_behind_it(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken:
        def find_spec(self, *arguments: object) -> None:
            return None

        def find_distributions(self, context: object) -> object:
            raise OSError("the share is gone")

    add(site, "complog-x", x="m")
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Broken()])
    assert [each.family for each in find_candidates(GROUP)] == ["x"]
    assert "the share is gone" in capsys.readouterr().err


def test_value_leads_to_a_module_or_an_attribute_of_it(site: Path) -> None:
    write_modules(site, {"led_to": "", "led_to.names": "class hooks:\n    inner = 3\n"})
    assert Candidate("x", "led_to.names").load() is sys.modules["led_to.names"]
    assert Candidate("x", " led_to.names : hooks.inner [extra, more] ").load() == 3
    assert Candidate("x", "led_to.names [extra]").load() is sys.modules["led_to.names"]


@pytest.mark.parametrize("value", ["", "not a module", "my-module", "m:", "m:a:b", ".m", "m..n", "m:a-b"])
def test_value_that_is_no_reference_is_a_value_error(value: str) -> None:
    with pytest.raises(ValueError, match="neither 'module' nor 'module:attribute'"):
        Candidate("x", value).load()


A, B, C = Candidate("a", "m", "dist-a"), Candidate("b", "m", "dist-b"), Candidate("c", "m", "dist-c")


@pytest.mark.parametrize(
    ("environ", "kept"),
    [
        ({}, "abc"),
        ({"COMPLOG_PLUGINS": "a"}, "a"),
        ({"COMPLOG_PLUGINS": " c , a,"}, "ac"),
        ({"COMPLOG_PLUGINS": ""}, ""),
        ({"COMPLOG_PLUGINS": "  "}, ""),
        ({"COMPLOG_PLUGINS": "*"}, "abc"),
        ({"COMPLOG_DISABLE_PLUGINS": "a, b"}, "c"),
        ({"COMPLOG_DISABLE_PLUGINS": "*"}, ""),
        ({"COMPLOG_DISABLE_PLUGINS": " "}, "abc"),
        ({"COMPLOG_PLUGINS": "a,b", "COMPLOG_DISABLE_PLUGINS": "b"}, "a"),
        ({"COMPLOG_PLUGINS": "a,b", "COMPLOG_DISABLE_PLUGINS": "*"}, ""),
    ],
)
def test_lists_decide_what_is_kept(environ: dict[str, str], kept: str, capsys: pytest.CaptureFixture[str]) -> None:
    decided = sort_out([C, A, B], environ, name_unknown=True)
    assert [candidate for candidate, _ in decided] == [A, B, C]
    assert "".join(candidate.family for candidate, cause in decided if not cause) == kept
    assert capsys.readouterr().err == ""


def test_cause_names_the_variable() -> None:
    decided = sort_out([A, B], {"COMPLOG_PLUGINS": "b", "COMPLOG_DISABLE_PLUGINS": "b"}, name_unknown=True)
    assert [cause.split()[0] for _, cause in decided] == ["COMPLOG_PLUGINS", "COMPLOG_DISABLE_PLUGINS"]


@pytest.mark.parametrize("variable", ["COMPLOG_PLUGINS", "COMPLOG_DISABLE_PLUGINS"])
def test_unknown_name_in_a_list_is_one_warning(variable: str, capsys: pytest.CaptureFixture[str]) -> None:
    candidates = [Candidate("onnx", "m"), Candidate("dynamo", "m")]
    for _ in range(2):
        sort_out(candidates, {variable: "onxx, dynamo"}, name_unknown=True)
    (line,) = capsys.readouterr().err.splitlines()
    assert variable in line
    assert "'onxx'" in line
    assert "did you mean 'onnx'" in line


def test_unknown_name_is_passed_over_where_another_system_may_know_it(capsys: pytest.CaptureFixture[str]) -> None:
    sort_out([A], {"COMPLOG_DISABLE_PLUGINS": "nobody"}, name_unknown=False)
    assert capsys.readouterr().err == ""


def test_namesakes_are_all_kept_with_one_warning_that_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    namesakes = [Candidate("a", "one", "dist-one", "1.0"), Candidate("a", "two", "dist-two", "2.0")]
    assert [cause for _, cause in sort_out([*namesakes, B], {}, name_unknown=True)] == ["", "", ""]
    (line,) = capsys.readouterr().err.splitlines()
    assert "dist-one[a] 1.0" in line
    assert "dist-two[a] 2.0" in line


def test_namesakes_that_are_kept_out_are_no_news(capsys: pytest.CaptureFixture[str]) -> None:
    sort_out([Candidate("a", "one"), Candidate("a", "two")], {"COMPLOG_DISABLE_PLUGINS": "a"}, name_unknown=True)
    assert capsys.readouterr().err == ""


def test_import_is_under_way_only_while_the_module_runs(site: Path) -> None:
    body = "from complog_core.modules import is_importing\nduring = is_importing(__name__)\n"
    write_modules(site, {"under_way": body})
    module = importlib.import_module("under_way")
    assert module.during is True
    assert not is_importing("under_way")
    assert not is_importing(module)


def test_import_that_failed_is_not_under_way(site: Path) -> None:
    write_modules(site, {"fails_half_way": "raise ValueError"})
    with pytest.raises(ValueError):  # noqa: PT011 - importlib words it
        importlib.import_module("fails_half_way")
    assert not is_importing("fails_half_way")


def test_asking_does_not_load_a_lazy_module(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_modules(site, {"lazily_loaded": "import sys\nsys.lazily_loaded_ran = True\n"})
    spec = importlib.util.find_spec("lazily_loaded")
    assert spec is not None
    assert spec.loader is not None
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "lazily_loaded", module)
    spec.loader.exec_module(module)
    assert not is_importing("lazily_loaded")
    assert not hasattr(sys, "lazily_loaded_ran")


@pytest.mark.parametrize("impostor", [None, 3, object(), Candidate])
def test_whatever_stands_in_sys_modules_can_be_asked(impostor: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "an_impostor", impostor)
    assert not is_importing("an_impostor")


def test_importing_the_engine_leaves_the_scanner_and_helpers_out() -> None:
    result = run_python(
        """
        import sys, complog_core.discovery, complog_core.loading
        print([name for name in ("importlib_metadata", "difflib") if name in sys.modules])
        """
    )
    assert (result.stdout, result.stderr) == ("[]\n", "")
