"""Hooks are asked at each change of the configuration, and what they give then counts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from tests.support.systems import SystemFactory, make_names, make_plugin

from complog_core import Field, LogSystem

LEVELS = ("DEBUG", "INFO")


class Giver:
    """A hook that gives what it is told to, and counts how often it is asked."""

    def __init__(self, gift: Any) -> None:
        self.gift = gift
        self.asked = 0

    def __call__(self) -> Any:
        self.asked += 1
        if isinstance(self.gift, BaseException):
            raise self.gift
        return self.gift() if callable(self.gift) else self.gift


def pass_all(record: logging.LogRecord) -> bool:
    return True


def drop_all(record: logging.LogRecord) -> bool:
    return False


@pytest.fixture
def giver() -> Giver:
    return Giver(())


@pytest.fixture
def system(make_system: SystemFactory, top: str, giver: Giver) -> LogSystem:
    def complog_filters() -> Iterable[Callable[[logging.LogRecord], bool]]:
        gift: Iterable[Callable[[logging.LogRecord], bool]] = giver()
        return gift

    return make_system(make_names(top), make_plugin(filters=complog_filters))


def shown(system: LogSystem, top: str, capsys: pytest.CaptureFixture[str], times: int) -> list[bool]:
    """Change a level so many times; return after which of them a record is printed."""
    seen = []
    for number in range(times):
        system.set_logs(tiler=LEVELS[number % 2])
        capsys.readouterr()
        logging.getLogger(f"{top}.tiler").error("hello")
        seen.append("hello" in capsys.readouterr().err)
    return seen


@pytest.mark.parametrize("wrap", [tuple, list, iter, lambda gift: lambda: tuple(gift)])
def test_what_a_hook_gives_now_counts(
    system: LogSystem, top: str, giver: Giver, wrap: Callable[[Any], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    system.set_logs()
    for gift in ([], [pass_all], [drop_all], [pass_all, drop_all], [], [drop_all]):
        for times in (1, 3):
            seen = []
            for _ in range(times):
                giver.gift = wrap(gift)
                seen += shown(system, top, capsys, 1)
            assert seen == [drop_all not in gift] * times


def test_hook_that_always_gives_the_same_is_asked_once_for_each_change(system: LogSystem, giver: Giver) -> None:
    for gift in ((pass_all,), [pass_all], lambda: [pass_all], lambda: (pass_all,)):
        giver.gift = gift
        system.set_logs(tiler="ERROR")
        before = giver.asked
        for number in range(4):
            system.set_logs(tiler=LEVELS[number % 2])
        assert giver.asked == before + 4


def test_hook_that_fails_after_all_is_told_and_left_out(
    system: LogSystem, top: str, giver: Giver, capsys: pytest.CaptureFixture[str]
) -> None:
    giver.gift = (drop_all,)
    assert shown(system, top, capsys, 3) == [False] * 3
    giver.gift = SystemExit("enough")
    capsys.readouterr()
    system.set_logs(tiler="DEBUG")
    assert "enough" in capsys.readouterr().err
    assert shown(system, top, capsys, 3) == [True] * 3
    giver.gift = (drop_all,)
    assert shown(system, top, capsys, 3) == [False] * 3


def test_interrupt_goes_through(system: LogSystem, giver: Giver) -> None:
    for _ in range(3):
        system.set_logs(tiler="INFO")
    giver.gift = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        system.set_logs(tiler="DEBUG")


def test_outputs_of_the_moment_count(
    system: LogSystem, top: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    assert shown(system, top, capsys, 3) == [True] * 3
    for name, value in (("STDERR", "0"), ("OUT", str(tmp_path / "log"))):
        with monkeypatch.context() as patch:
            patch.setenv(f"PROBE_LOGS_{name}", value)
            assert shown(system, top, capsys, 3) == [name == "OUT"] * 3
        assert shown(system, top, capsys, 3) == [True] * 3
    assert (tmp_path / "log").read_text().count("hello") == 3
    with monkeypatch.context() as patch:
        patch.setenv("PROBE_LOGS_FORMAT", "%(message)s!")
        system.set_logs(tiler="DEBUG")
        logging.getLogger(f"{top}.tiler").error("hello")
        assert capsys.readouterr().err == "hello!\n"


def test_fields_of_the_moment_count(make_system: SystemFactory, top: str, capsys: pytest.CaptureFixture[str]) -> None:
    giver = Giver(())

    def complog_record_fields() -> Iterable[Field]:
        gift: Iterable[Field] = giver()
        return gift

    system = make_system(make_names(top), make_plugin(record_fields=complog_record_fields))
    for text in ("", "[one]:", "[two]:"):
        giver.gift = (Field("mine", "head", lambda record, text=text: text),) if text else ()
        for number in range(3):
            system.set_logs(tiler=LEVELS[number % 2])
            logging.getLogger(f"{top}.tiler").error("hello")
            assert capsys.readouterr().err.startswith(f"{text}E")
