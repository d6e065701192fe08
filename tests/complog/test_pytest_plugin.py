"""The pytest plugin, in real pytest runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from tests.support.fake_distributions import SOURCES, clean_environment, run_python

from complog.testing import fake_distribution


class TestPytestPlugin:
    def run(
        self, cwd: Path, source: str, *arguments: str, env: dict[str, str] | None = None, conftest: str = ""
    ) -> subprocess.CompletedProcess[str]:
        (cwd / "test_it.py").write_text(
            "import logging, complog, pytest\nlog = logging.getLogger('torch.x')\n" + dedent(source)
        )
        (cwd / "conftest.py").write_text(dedent(conftest))
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "complog.testing", "-q", *arguments],
            cwd=cwd,
            env=clean_environment(env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **(env or {})}),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def check_passes(self, cwd: Path, source: str, number: int = 1, **how: object) -> None:
        result = self.run(cwd, source, **how)
        assert result.returncode == 0, result.stdout + result.stderr
        assert f"{number} passed" in result.stdout

    @pytest.mark.parametrize("variable", [None, "0", "1"])
    def test_caplog_sees_each_record_once(self, variable: str | None, tmp_path: Path) -> None:
        source = """
            def test_it(caplog, capsys):
                with complog.logs(torch="INFO"):
                    log.info("%s", "once")
                assert caplog.messages == ["once"]
                assert capsys.readouterr().err.count("once") == 1

            class Counter(logging.Handler):
                count = 0
                def emit(self, record):
                    self.count += 1

            @pytest.mark.parametrize("propagate", [True, False])
            @pytest.mark.parametrize("attached", [["torch"], ["torch", "torch.x"], []])
            def test_handlers_of_ones_own(propagate, attached, monkeypatch):
                monkeypatch.setattr(logging.getLogger("torch"), "propagate", propagate)
                counter = Counter()
                for name in attached if not propagate else []:
                    logging.getLogger(name).addHandler(counter)
                logging.getLogger().addHandler(counter)
                log.warning("once")
                assert counter.count == max(1, 0 if propagate else len(attached))

            def test_level_of_caplog(caplog):
                with complog.logs(torch="INFO"), caplog.at_level(logging.WARNING):
                    log.info("below")
                    log.warning("above")
                assert caplog.messages == ["above"]
        """
        self.check_passes(tmp_path, source, 8, env={"TORCH_LOGS_PROPAGATE": variable} if variable else {})

    def test_the_root_logger_gets_nothing_any_more_after_the_run(self, tmp_path: Path) -> None:
        program = f"""
            import logging, pytest, sys
            sys.path.insert(0, {str(tmp_path)!r})
            pytest.main(["-q", "-p", "no:cacheprovider", "-p", "complog.testing", {str(tmp_path)!r}])
            class Handler(logging.Handler):
                def emit(self, record): print("root got", record.getMessage())
            logging.getLogger().addHandler(Handler())
            logging.getLogger("torch.x").warning("later")
        """
        (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
        result = run_python(program, bare=False)
        assert "1 passed" in result.stdout
        assert "root got" not in result.stdout
        assert "later" in result.stderr

    @pytest.mark.parametrize("value", ["help", "+help"])
    def test_help_is_printed_and_nothing_runs(self, value: str, tmp_path: Path) -> None:
        result = self.run(tmp_path, "def test_it(): pass", env={"TORCH_LOGS": value})
        assert result.returncode == 0
        assert "TORCH_LOGS chooses what is logged" in result.stdout
        assert "passed" not in result.stdout

    def test_bad_settings_are_a_usage_error_without_traceback(self, tmp_path: Path) -> None:
        result = self.run(tmp_path, "def test_it(): pass", env={"TORCH_LOGS": "torch:loud,torch:soft"})
        assert result.returncode == 4
        assert "torch:loud" in result.stderr
        assert "torch:soft" in result.stderr
        assert "Traceback" not in result.stderr + result.stdout

    def test_broken_plugins_where_they_are_errors_are_a_usage_error(self, tmp_path: Path) -> None:
        made = fake_distribution(tmp_path / "site", "bad", entry_points={"bad": "bad"}, modules={"bad": "1 / 0"})
        env = {"PYTHONPATH": f"{SOURCES}:{made}", "COMPLOG_STRICT_PLUGINS": "1"}
        result = self.run(tmp_path, "def test_it(): pass", env=env)
        assert result.returncode == 4, result.stdout + result.stderr
        assert "bad[bad] 1.0" in result.stderr
        assert "Traceback" not in result.stderr + result.stdout

    def test_it_works_from_a_conftest_too(self, tmp_path: Path) -> None:
        source = """
            def test_it(complog_capture, caplog):
                log.warning("once")
                assert complog_capture.messages == tuple(caplog.messages) == ("once",)
        """
        self.check_passes(tmp_path, source)
        conftest = 'pytest_plugins = ["complog.testing"]\n'
        self.check_passes(tmp_path, source, conftest=conftest)

    def test_complog_capture_follows_the_settings_of_the_test(self, tmp_path: Path) -> None:
        source = """
            def test_it(complog_capture, complog_state):
                log.info("not yet")
                complog_state.set_logs(torch="INFO")
                log.info("now")
                assert complog_capture.messages == ("now",)
                assert complog_capture.lines[0].endswith("] now")
        """
        self.check_passes(tmp_path, source)

    @pytest.mark.parametrize("order", ["complog_state, monkeypatch", "monkeypatch, complog_state"])
    def test_complog_state_puts_settings_and_variables_back(self, order: str, tmp_path: Path) -> None:
        source = f"""
            import os
            def check():
                assert complog.current_state().levels == {{"torch": 40}}
                assert complog.current_state().outputs.format == "short"
                assert os.environ["TORCH_LOGS_FORMAT"] == "short"
                assert "TORCH_LOGS" not in os.environ
                assert "TORCH_LOGS_STDERR" not in os.environ

            def test_before():
                complog.set_logs(torch="ERROR")
                check()

            def test_settings({order}):
                assert dict(complog.current_state().levels) == {{}}
                assert complog.current_state().outputs.format is None
                complog.set_logs(torch="DEBUG")

            def test_after_settings():
                check()

            def test_variables({order}):
                monkeypatch.setenv("TORCH_LOGS", "+torch")
                monkeypatch.setenv("TORCH_LOGS_STDERR", "0")
                os.environ["TORCH_LOGS_FORMAT"] = "json"
                complog.init_logs()
                assert complog.current_state().level("torch") == 10

            def test_after_variables():
                check()

            @pytest.mark.xfail(strict=True, reason="fails on purpose: what it set must be put back")
            def test_failing({order}):
                complog.set_logs(torch="DEBUG")
                assert False

            def test_after_failing():
                check()
        """
        result = self.run(tmp_path, source, env={"TORCH_LOGS_FORMAT": "short"})
        assert result.returncode == 0, result.stdout + result.stderr
        assert "6 passed, 1 xfailed" in result.stdout

    def test_complog_state_is_not_ruled_by_a_variable_that_is_set(self, tmp_path: Path) -> None:
        source = """
            def test_it(complog_state):
                complog.set_logs(torch="DEBUG")
                assert complog.current_state().level("torch") == 10

            def test_after():
                assert complog.current_state().source == "environment"
                assert complog.current_state().level("torch") == 40
        """
        result = self.run(tmp_path, source, env={"TORCH_LOGS": "-torch"})
        assert "2 passed" in result.stdout, result.stdout
        assert result.stderr == ""
