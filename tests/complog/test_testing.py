"""The tools for authors of plugins: captures, fake distributions, the check of a plugin."""

from __future__ import annotations

import logging
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from tests.support.fake_distributions import run_python

import complog
from complog.testing import capture, check_plugin, fake_distribution

NAMES = """
    from complog_core import Artifact, Component, hookimpl

    @hookimpl
    def complog_components():
        return [Component("tiler", ["mine.tiler"], "loop tiling")]

    @hookimpl
    def complog_artifacts():
        return [Artifact("tiles", "the tile sizes", log_format="<%(message)s>")]
"""


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No variable of the caller has a say."""
    monkeypatch.delenv("TORCH_LOGS", raising=False)
    with complog.logs():
        yield


@pytest.mark.usefixtures("outside")
class TestCapture:
    log = logging.getLogger("torch.testing_of_complog")

    def test_records_messages_and_lines_of_the_block_only(self) -> None:
        self.log.warning("before")
        with capture("+torch") as captured:
            self.log.debug("%d tiles\nin two lines", 3)
        self.log.warning("after")
        assert captured.messages == ("3 tiles\nin two lines",)
        assert [record.levelname for record in captured.records] == ["DEBUG"]
        assert [line.partition("] ")[2] for line in captured.lines] == ["3 tiles", "in two lines"]

    def test_settings_are_those_of_logs(self) -> None:
        with capture("all:error", "torch:off", modules={"logging": "DEBUG"}) as captured:
            self.log.critical("silenced")
            logging.getLogger("logging.x").debug("heard")
        assert captured.messages == ("heard",)

    def test_without_arguments_the_settings_in_force_stay(self) -> None:
        with complog.logs(torch="DEBUG"), capture() as captured:
            self.log.debug("heard")
            assert complog.current_state().levels == {"torch": logging.DEBUG}
        assert captured.messages == ("heard",)

    def test_settings_are_put_back(self) -> None:
        before = complog.current_state()
        with capture("+torch"):
            pass
        assert complog.current_state() == before

    def test_bad_settings_raise_and_leave_nothing_behind(self) -> None:
        before = complog.current_state()
        with pytest.raises(ValueError, match="torch:loud"), capture("torch:loud"):
            pass
        assert complog.current_state() == before

    def test_an_exception_in_the_block_passes_and_settings_are_put_back(self) -> None:
        before = complog.current_state()
        with pytest.raises(KeyError), capture("+torch"):
            raise KeyError
        assert complog.current_state() == before

    def test_captures_nest(self) -> None:
        with capture("+torch") as outer:
            self.log.debug("one")
            with capture() as inner:
                self.log.debug("two")
            self.log.debug("three")
        assert outer.messages == ("one", "two", "three")
        assert inner.messages == ("two",)

    def test_settings_that_change_in_the_block_are_followed(self) -> None:
        with capture() as captured:
            with complog.logs(modules={"logging": "DEBUG"}):
                logging.getLogger("logging.x").debug("named later")
            self.log.debug("never named")
        assert captured.messages == ("named later",)

    def test_the_console_still_gets_the_same_lines(self, capsys: pytest.CaptureFixture[str]) -> None:
        with capture("+torch") as captured:
            self.log.info("once")
        assert capsys.readouterr().err == "\n".join(captured.lines) + "\n"

    def test_clear_forgets(self) -> None:
        with capture("+torch") as captured:
            self.log.info("one")
            captured.clear()
            self.log.info("two")
        assert captured.messages == ("two",)

    def test_nothing_is_lost_between_threads(self) -> None:
        def work(number: int) -> None:
            for step in range(100):
                self.log.info("%d.%d", number, step)

        with capture("torch") as captured:
            threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                assert len(captured.records) <= 800
            for thread in threads:
                thread.join()
        assert sorted(captured.messages) == sorted(f"{number}.{step}" for number in range(8) for step in range(100))

    def test_exceptions_are_in_the_lines(self) -> None:
        with capture("torch") as captured:
            try:
                raise KeyError("lost")
            except KeyError:
                self.log.exception("failed")
        assert captured.messages == ("failed",)
        assert captured.lines[-1].endswith("] KeyError: 'lost'")


class TestFakeDistribution:
    def test_complog_finds_it(self, tmp_path: Path) -> None:
        made = fake_distribution(
            tmp_path / "site", "my-names", "2.5", entry_points={"mine": "pkg.names"}, modules={"pkg.names": NAMES}
        )
        result = run_python("import complog; print(*complog.list_plugins(), sep='\\n')", paths=[made])
        assert "my-names[mine] 2.5" in result.stdout.splitlines(), result.stderr

    def test_lines_of_a_named_artifact_have_its_format(self, tmp_path: Path) -> None:
        fake_distribution(tmp_path, "my-names", entry_points={"mine": "mine_names"}, modules={"mine_names": NAMES})
        program = """
            import complog
            from complog.testing import capture
            with capture(tiles=True) as captured:
                complog.getArtifactLogger("mine.tiler.loops", "tiles").debug("8x8")
            print(captured.lines)
        """
        result = run_python(program, paths=[tmp_path])
        assert result.stdout == "('<8x8>',)\n", result.stderr

    def test_packages_are_made_and_several_share_a_directory(self, tmp_path: Path) -> None:
        fake_distribution(tmp_path, "one", entry_points={}, modules={"pkg.sub.one": "x = 1", "pkg": "y = 2"})
        fake_distribution(tmp_path, "two", entry_points={}, modules={"pkg.sub.two": "x = 3"})
        program = "import pkg.sub.one, pkg.sub.two; print(pkg.y, pkg.sub.one.x, pkg.sub.two.x)"
        assert run_python(program, paths=[tmp_path]).stdout == "2 1 3\n"

    def test_another_group_is_possible(self, tmp_path: Path) -> None:
        fake_distribution(tmp_path, "my", group="mylib.logs", entry_points={"mine": "m"}, modules={"m": NAMES})
        program = """
            from complog_core import LogSystem
            print(LogSystem("MYLIB", "mylib.logs").registry.names())
        """
        assert run_python(program, paths=[tmp_path]).stdout == "('tiler', 'tiles')\n"


class TestCheckPlugin:
    def make(self, source: str) -> types.ModuleType:
        module = types.ModuleType("checked")
        exec(dedent(source), module.__dict__)
        return module

    def test_a_good_plugin_is_described(self) -> None:
        info = check_plugin(self.make(NAMES))
        assert (info.family, info.status) == ("checked", "loaded")
        assert "tiler" not in complog.default_system.registry.names()

    @pytest.mark.parametrize(
        ("sound", "broken", "cause"),
        [
            ('Component("tiler", ["mine.tiler"], "loop tiling")', "1 / 0", "ZeroDivisionError"),
            ('Component("tiler", ["mine.tiler"], "loop tiling")', "'text'", "complog_components"),
            ('Component("tiler"', 'Component("all"', "reserved"),
            ("complog_components", "complog_compnents", "complog_compnents"),
        ],
    )
    def test_a_broken_plugin_raises_with_the_cause(self, sound: str, broken: str, cause: str) -> None:
        with pytest.raises(complog.PluginError, match=cause):
            check_plugin(self.make(NAMES.replace(sound, broken)))


def test_importing_it_needs_no_pytest() -> None:
    program = """
        import sys
        sys.modules["pytest"] = sys.modules["_pytest"] = None
        import complog.testing
        with complog.testing.capture("+torch") as captured: pass
        print(captured.records)
    """
    assert run_python(program).stdout == "()\n"
