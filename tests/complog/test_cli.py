"""The command line as people run it: whatever the variables hold and whatever plugins do, it answers, ending with 0."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.support.fake_distributions import clean_environment, make_distribution

from complog.cli import main
from complog.cli._output import align

GOOD = """
    from complog_core import Artifact, Component, Keyword, hookimpl

    @hookimpl
    def complog_components():
        return [Component("tiler", ["good.tiler", "good.loops"], "loop tiling of π")]

    @hookimpl
    def complog_artifacts():
        return [
            Artifact("tiles", "the tile sizes", visible=True),
            Artifact("costs", "what choices cost", off_by_default=True),
        ]

    @hookimpl
    def complog_keywords():
        return [Keyword("depth", int, 0, "how deep", env_var="{prefix}_LOGS_DEPTH")]
"""
BROKEN = "raise RuntimeError('out of order\\nand more')"
OTHER = """
    from complog_core import Artifact, hookimpl

    @hookimpl
    def complog_artifacts():
        return [Artifact("tiles", "tiles of another kind", off_by_default=True)]
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A directory with three distributions: a good one, one that cannot be imported, one that shares a name."""
    for name, source in (("good", GOOD), ("broken", BROKEN), ("other", OTHER)):
        module = f"names_{name}"
        make_distribution(
            tmp_path, f"complog-{name}", "0.3", entry_points={"complog": {name: module}}, modules={module: source}
        )
    return tmp_path


def run(
    arguments: Sequence[str], paths: Sequence[Path] = (), env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "complog", *arguments],
        env=clean_environment(paths, {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8", **(env or {})}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )


def notes(result: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in result.stderr.splitlines() if not line.startswith("complog: warning: complog-broken")]


class TestHelp:
    def test_the_page_is_printed(self, installed: Path) -> None:
        result = run(["help"], [installed])
        assert result.returncode == 0
        assert "tiler" in result.stdout
        assert "the tile sizes [complog-good]" in result.stdout
        assert "what choices cost" not in result.stdout
        assert "complog-broken[broken] 0.3" in result.stdout

    def test_all_shows_every_name(self, installed: Path) -> None:
        assert "what choices cost [complog-good] (off unless named)" in run(["help", "--all"], [installed]).stdout

    @pytest.mark.parametrize("value", ["help", "+help", "tiler:loud", '"tiler"', "a,,b", " "])
    def test_it_does_not_depend_on_the_settings(self, value: str, installed: Path) -> None:
        expected = run(["help"], [installed])
        result = run(["help"], [installed], {"TORCH_LOGS": value})
        assert (result.returncode, result.stdout) == (0, expected.stdout)
        assert "Traceback" not in result.stderr

    @pytest.mark.parametrize("variable", ["TORCH_LOGS_OUT", "TORCH_LOGS_FORMAT", "TORCH_LOGS_DEPTH"])
    def test_it_does_not_depend_on_other_variables(self, variable: str, installed: Path) -> None:
        result = run(["help"], [installed], {variable: "/dev/null/%(nothing)"})
        assert (result.returncode, result.stdout) == (0, run(["help"], [installed]).stdout)
        assert "Traceback" not in result.stderr


class TestNames:
    def test_one_line_per_name(self, installed: Path) -> None:
        result = run(["names"], [installed])
        lines = result.stdout.splitlines()
        assert result.returncode == 0
        assert [line.split()[:3] for line in lines if "complog-good" in line] == [
            ["tiler", "component", "complog-good"],
            ["costs", "artifact", "complog-good"],
            ["tiles", "artifact", "complog-good"],
        ]
        assert any("loop tiling of π (loggers: good.tiler, good.loops)" in line for line in lines)

    def test_json_has_everything(self, installed: Path) -> None:
        found = json.loads(run(["names", "--json"], [installed]).stdout)
        costs = next(name for name in found if name["name"] == "costs")
        assert costs == {
            "name": "costs",
            "kind": "artifact",
            "spellings": ["good/costs"],
            "ambiguous": False,
            "distributions": ["complog-good"],
            "description": "what choices cost",
            "visible": False,
            "off_by_default": True,
            "loggers": [],
        }
        tiles = [name for name in found if name["name"] == "tiles"]
        assert [name["spellings"] for name in tiles] == [["good/tiles"], ["other/tiles"]]
        assert all(name["ambiguous"] for name in tiles)

    @pytest.mark.parametrize("command", [["names"], ["names", "--json"], ["plugins"], ["plugins", "--json"]])
    def test_bad_settings_are_one_note(self, command: list[str], installed: Path) -> None:
        expected = run(command, [installed])
        result = run(command, [installed], {"TORCH_LOGS": "tiler:loud,tiler:soft"})
        assert (result.returncode, result.stdout) == (0, expected.stdout)
        assert len(notes(result)) == 1
        assert notes(result)[0].startswith("complog: note: TORCH_LOGS: 'tiler:loud': ")
        assert notes(result)[0].endswith("(and 1 more)")

    @pytest.mark.parametrize("command", ["names", "plugins"])
    @pytest.mark.parametrize("value", ["help", "+tiler", ""])
    def test_good_settings_and_help_are_no_matter_for_a_note(self, command: str, value: str, installed: Path) -> None:
        result = run([command], [installed], {"TORCH_LOGS": value})
        assert result.returncode == 0
        assert notes(result) == []


class TestPlugins:
    def test_each_stands_with_status_and_numbers(self, installed: Path) -> None:
        result = run(["plugins"], [installed])
        assert result.returncode == 0
        assert "complog-good[good] 0.3  loaded: 1 component, 2 artifacts, 1 keyword\n" in result.stdout

    def test_a_failed_one_has_cause_and_traceback(self, installed: Path) -> None:
        text = run(["plugins"], [installed]).stdout
        begin = text.index("complog-broken[broken] 0.3  failed: ")
        assert "out of order and more" in text[begin:].splitlines()[0]
        assert "    Traceback (most recent call last):" in text[begin:].splitlines()
        assert "names_broken.py" in text

    def test_a_disabled_one_has_its_cause(self, installed: Path) -> None:
        result = run(["plugins"], [installed], {"COMPLOG_DISABLE_PLUGINS": "good"})
        line = next(line for line in result.stdout.splitlines() if line.startswith("complog-good"))
        assert line.startswith("complog-good[good] 0.3  disabled: ")
        assert "COMPLOG_DISABLE_PLUGINS" in line

    def test_json_has_everything(self, installed: Path) -> None:
        found = {plugin["family"]: plugin for plugin in json.loads(run(["plugins", "--json"], [installed]).stdout)}
        good = found["good"]
        assert good["plugin"] == "complog-good[good] 0.3"
        assert (good["distribution"], good["version"], good["status"]) == ("complog-good", "0.3", "loaded")
        assert good["contributes"] == {
            "components": 1,
            "artifacts": 2,
            "keywords": 1,
            "formats": 0,
            "variables": 0,
            "hooks": 0,
        }
        assert found["broken"]["status"] == "failed"
        assert "RuntimeError" in found["broken"]["traceback"]


class TestStub:
    def test_it_goes_to_stdout_or_a_file_whose_directory_is_made(self, installed: Path, tmp_path: Path) -> None:
        printed = run(["stub"], [installed])
        assert "    tiles: bool | None = None,\n" in printed.stdout
        assert "    depth: int | None = ...,\n" in printed.stdout
        file = tmp_path / "stubs" / "complog" / "__init__.pyi"
        written = run(["stub", "--output", str(file)], [installed])
        assert (written.returncode, written.stdout) == (0, "")
        assert file.read_text(encoding="utf-8") == printed.stdout

    def test_a_file_that_cannot_be_written_is_told_in_one_line(self, tmp_path: Path) -> None:
        result = run(["stub", "--output", str(tmp_path)])
        assert result.returncode == 1
        assert result.stderr.startswith(f"complog stub: {tmp_path}: ")
        assert len(result.stderr.splitlines()) == 1


class TestEnds:
    def test_without_a_command_it_explains_itself(self) -> None:
        result = run([])
        assert result.returncode == 0
        for command in ("help", "names", "plugins", "stub"):
            assert f"    {command} " in result.stdout

    def test_version(self) -> None:
        assert run(["--version"]).stdout.startswith("complog ")

    @pytest.mark.parametrize("arguments", [["no-such-command"], ["help", "--no-such-option"], ["stub", "--output"]])
    def test_bad_usage_is_2(self, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
        assert "usage: complog" in capsys.readouterr().err

    @pytest.mark.parametrize("command", [["help", "--all"], ["names"], ["plugins", "--json"], ["stub"], ["--help"]])
    def test_a_reader_that_goes_away_is_no_fault(self, command: list[str], installed: Path) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "complog", *command],
            env=clean_environment([installed], {"COMPLOG_DISABLE_PLUGINS": "broken"}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        with process.stderr:
            said = process.stderr.read()
        assert (process.wait(60), said) == (0, b"")

    @pytest.mark.parametrize("command", [["help"], ["names"], ["stub"]])
    def test_a_console_that_lacks_letters_gets_the_rest(self, command: list[str], installed: Path) -> None:
        result = run(command, [installed], {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
        assert result.returncode == 0
        assert "\\u03c0" in result.stdout

    def test_strict_plugins_do_not_stop_the_command_that_explains_them(self, installed: Path) -> None:
        result = run(["plugins"], [installed], {"COMPLOG_STRICT_PLUGINS": "1"})
        assert result.returncode == 0
        assert "complog-broken[broken] 0.3  failed: " in result.stdout


def test_no_rows_are_no_lines() -> None:
    assert align([]) == []
