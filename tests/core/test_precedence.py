"""Exactly one speaks: the environment, else the API, else the defaults."""

from __future__ import annotations

import pytest
from tests.support.systems import SystemFactory, make_names, make_plugin

from complog_core import HelpRequested, LogSystem, SettingsError


@pytest.fixture
def system(make_system: SystemFactory, top: str) -> LogSystem:
    return make_system(make_names(top))


def test_environment_has_precedence_and_one_warning_says_so(
    system: LogSystem, top: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROBE_LOGS", "+tiler")
    system.set_logs(fuser=10)
    system.set_logs(fuser=20)
    with system.logs(fuser=40):
        pass
    system.init_logs()
    assert system.current_state().source == "environment"
    assert system.current_state().levels == {f"{top}.tiler": 10, f"{top}.shared": 10}
    assert capsys.readouterr().err.count("PROBE_LOGS is set") == 1


def test_arguments_are_validated_although_the_environment_speaks(
    system: LogSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROBE_LOGS", "+tiler")
    with pytest.raises(ValueError, match="unknown"):
        system.set_logs(nope=10)
    with pytest.raises(ValueError, match="bool"), system.logs(tiler=True):
        pass


@pytest.mark.parametrize("blank", ["", "  ", "\t"])
def test_blank_variable_counts_as_unset(
    system: LogSystem, top: str, monkeypatch: pytest.MonkeyPatch, blank: str
) -> None:
    monkeypatch.setenv("PROBE_LOGS", blank)
    system.set_logs(fuser=10)
    assert system.current_state().source == "api"
    assert system.current_state().levels[f"{top}.fuser"] == 10


def test_environment_is_read_again_at_set_logs_and_init_logs(
    system: LogSystem, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROBE_LOGS", "+tiler")
    system.init_logs()
    monkeypatch.setenv("PROBE_LOGS", "fuser")
    assert system.current_state().level(f"{top}.tiler") == 10
    system.init_logs()
    assert system.current_state().level(f"{top}.fuser") == 20
    monkeypatch.delenv("PROBE_LOGS")
    system.set_logs(tiler=40)
    assert system.current_state().levels == {f"{top}.tiler": 40, f"{top}.shared": 40}
    assert system.current_state().source == "api"


def test_contributed_variables_follow_in_name_order(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = make_system(make_names(top), make_plugin(env_vars=["PROBE_Z", "PROBE_A"]))
    monkeypatch.setenv("PROBE_Z", "-tiler")
    monkeypatch.setenv("PROBE_A", "+tiler,costs:off")
    system.init_logs()
    assert system.current_state().levels[f"{top}.tiler"] == 40
    monkeypatch.setenv("PROBE_LOGS", "tiler:CRITICAL,fuser,costs")
    system.init_logs()
    assert system.current_state().levels[f"{top}.tiler"] == 40
    assert system.current_state().levels[f"{top}.fuser"] == 20
    assert system.current_state().artifacts["costs"] is False


def test_contributed_variable_alone_speaks_for_the_environment(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    system = make_system(make_names(top), make_plugin(env_vars=["PROBE_A"]))
    monkeypatch.setenv("PROBE_A", "+tiler")
    system.set_logs(fuser=10)
    assert f"{top}.fuser" not in system.current_state().levels
    assert "PROBE_A is set" in capsys.readouterr().err


def test_bad_variable_of_a_library_is_a_warning_and_the_rest_of_it_holds(
    system: LogSystem, top: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROBE_LOGS", "+tiler,tilse")
    system.init_logs()
    error = capsys.readouterr().err
    assert "PROBE_LOGS: 'tilse'" in error
    assert "tiles" in error
    assert error.count("\n") == 1
    assert system.current_state().level(f"{top}.tiler") == 10


def test_strict_init_raises_and_then_nothing_of_the_variable_holds(
    system: LogSystem, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROBE_LOGS", "+tiler,tilse,:,fuser:LOUD")
    with pytest.raises(SettingsError) as caught:
        system.init_logs(strict=True)
    assert len(caught.value.problems) == 3
    assert not system.current_state().levels
    system.register_artifact("later")
    assert not system.current_state().levels
    assert not capsys.readouterr().err


def test_help_in_a_variable(
    system: LogSystem, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROBE_LOGS", "help")
    with pytest.raises(HelpRequested, match="tiles"):
        system.init_logs(strict=True)
    system.init_logs()
    system.init_logs()
    assert capsys.readouterr().err.count("the tiles") == 1


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FORMAT", "%(nope)s"),
        ("FORMAT", "nothing"),
        ("FORMAT", "%(message)d"),
        ("OUT", "/"),
        ("STDERR", "maybe"),
        ("PROPAGATE", "2"),
    ],
)
def test_bad_output_variable_is_one_clear_error(
    system: LogSystem, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variable: str, value: str
) -> None:
    monkeypatch.setenv("PROBE_LOGS", "+tiler")
    monkeypatch.setenv(f"PROBE_LOGS_{variable}", value)
    with pytest.raises(ValueError, match=f"PROBE_LOGS_{variable}"):
        system.init_logs(strict=True)
    system.set_logs()
    monkeypatch.setenv("PROBE_LOGS", "tiler")
    system.init_logs()
    assert f"PROBE_LOGS_{variable}" in capsys.readouterr().err


def test_lenient_lets_unknown_names_of_variables_wait(
    system: LogSystem, top: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMPLOG_LENIENT", "1")
    monkeypatch.setenv("PROBE_LOGS", "+later,tiler")
    system.init_logs(strict=True)
    assert system.current_state().pending == ("+later",)
    assert capsys.readouterr().err.count("'+later'") == 1
    with pytest.raises(ValueError, match="unknown"):
        system.set_logs(later=10)
    system.register_log("later", f"{top}.late")
    assert not system.current_state().pending
    assert system.current_state().level(f"{top}.late") == 10
