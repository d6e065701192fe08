"""complog_state_changed: told of everything, in order, outside locks, and isolated."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.systems import SystemFactory, make_names, make_plugin

from complog_core import LogState


def keeping(states: list[LogState]) -> Callable[[LogState], None]:
    def observe(state: LogState) -> None:
        states.append(state)

    return observe


def test_observer_hears_first_configuration_each_change_and_each_exit(make_system: SystemFactory, top: str) -> None:
    states: list[LogState] = []
    system = make_system(make_names(top), make_plugin(state_changed=keeping(states)))
    assert not states
    system.current_state()
    assert len(states) == 1
    system.set_logs(tiler=10)
    with system.logs(tiles=True):
        assert len(states) == 3
    assert len(states) == 4
    assert states[3] == states[1]
    assert states[2].enabled("tiles")
    assert (states[1].level(f"{top}.tiler.x"), states[1].level(f"{top}.fuser")) == (10, 30)
    assert states[1].outputs.path is None


def test_observer_hears_a_late_resolution(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPLOG_LENIENT", "1")
    monkeypatch.setenv("PROBE_LOGS", "late")
    states: list[LogState] = []
    system = make_system(make_names(top), make_plugin(state_changed=keeping(states)))
    system.current_state()
    system.register_artifact("unrelated")
    assert len(states) == 1
    system.register_artifact("late")
    assert [state.pending for state in states] == [("late",), ()]


def test_fault_of_one_observer_reaches_neither_the_caller_nor_the_next(
    make_system: SystemFactory, top: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(state: LogState) -> None:
        raise RuntimeError("observer is broken")

    states: list[LogState] = []
    system = make_system(
        make_names(top),
        make_plugin(state_changed=broken),
        make_plugin(state_changed=keeping(states)),
    )
    system.set_logs(tiler=10)
    assert states[-1].level(f"{top}.tiler") == 10
    assert "observer is broken" in capsys.readouterr().err


def test_observer_may_not_change_settings(
    make_system: SystemFactory, top: str, capsys: pytest.CaptureFixture[str]
) -> None:
    caught: list[type[Exception]] = []
    system: Any = None

    def meddling(state: LogState) -> None:
        for change in (
            lambda: system.set_logs(tiler=10),
            system.init_logs,
            lambda: system.logs().__enter__(),
        ):
            try:
                change()
            except RuntimeError as error:
                caught.append(type(error))
        assert system.current_state() == state
        assert system.help_message()

    system = make_system(make_names(top), make_plugin(state_changed=meddling))
    system.set_logs(fuser=10)
    assert caught == [RuntimeError] * 6
    assert not capsys.readouterr().err
    assert system.current_state().level(f"{top}.tiler") == 30


def test_observers_hear_concurrent_changes_in_the_order_in_which_they_hold(
    make_system: SystemFactory, top: str
) -> None:
    states: list[LogState] = []
    system = make_system(make_names(top), make_plugin(state_changed=keeping(states)))

    def change(level: int) -> None:
        for _ in range(50):
            system.set_logs(tiler=level)

    threads = [threading.Thread(target=change, args=(level,)) for level in (10, 20, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    system.set_logs(tiler=50)
    assert len(states) == 152
    assert states[-1] == system.current_state()


def test_no_lock_is_held_while_an_observer_runs(make_system: SystemFactory, top: str) -> None:
    seen: list[int] = []
    system: Any = None

    def observe(state: LogState) -> None:
        def look() -> None:
            system.getArtifactLogger(f"{top}.other", "tiles")
            seen.append(system.current_state().level(f"{top}.tiler"))

        thread = threading.Thread(target=look)
        thread.start()
        thread.join(5)
        assert not thread.is_alive()

    system = make_system(make_names(top), make_plugin(state_changed=observe))
    system.set_logs(tiler=10)
    assert seen[-1] == 10
