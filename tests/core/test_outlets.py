"""Hooks are asked at each change of the configuration, and what they give then counts."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from tests.support.systems import SystemFactory, make_names, make_plugin

from complog_core import Field, LogSystem, outlets

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


@pytest.mark.parametrize("gift", [(drop_all,), [pass_all], RuntimeError("not now"), ()])
def test_hook_that_gives_something_else_after_all_is_asked_once_for_it(
    system: LogSystem, giver: Giver, gift: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(4):
        system.set_logs(tiler=LEVELS[number % 2])
    giver.gift = gift
    before = giver.asked
    system.set_logs(tiler="ERROR")
    assert giver.asked == before + 1
    assert ("not now" in capsys.readouterr().err) == isinstance(gift, RuntimeError)


class Shelf(logging.Handler):
    """A handler that counts itself."""

    def __init__(self, alive: list[logging.Handler]) -> None:
        super().__init__()
        self.alive = alive
        alive.append(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep nothing."""

    def close(self) -> None:
        self.alive.remove(self)
        super().close()


def test_handler_that_comes_after_all_is_made_once_and_closed(make_system: SystemFactory, top: str) -> None:
    alive: list[logging.Handler] = []
    giver = Giver(())

    def complog_handlers(outputs: object) -> Iterable[logging.Handler]:
        gift: Iterable[logging.Handler] = giver()
        return gift

    system = make_system(make_names(top), make_plugin(handlers=complog_handlers))
    for _ in range(4):
        system.set_logs(tiler="INFO")
    giver.gift = lambda: (Shelf(alive),)
    for _ in range(3):
        system.set_logs(tiler="INFO")
        assert len(alive) == 1
    system.close()
    assert alive == []


def test_pipeline_is_never_kept_for_what_another_thread_was_given(
    system: LogSystem, top: str, giver: Giver, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    system.set_logs(tiler="ERROR")
    giver.gift = (drop_all,)
    has_asked, may_go_on = threading.Event(), threading.Event()
    check = outlets.check_reply

    def check_and_wait(owner: Any, hook: str, ask: Any, known: Any) -> Any:
        found = check(owner, hook, ask, known)
        if threading.current_thread() is slow and not has_asked.is_set():
            has_asked.set()
            may_go_on.wait(60)
        return found

    slow = threading.Thread(target=lambda: system.set_logs(tiler="INFO"))
    monkeypatch.setattr(outlets, "check_reply", check_and_wait)
    slow.start()
    has_asked.wait(60)
    giver.gift = (pass_all,)
    system.set_logs(tiler="DEBUG")
    may_go_on.set()
    slow.join()
    assert shown(system, top, capsys, 3) == [True] * 3


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


@pytest.mark.parametrize("fault", [RuntimeError("not now"), None, [7]])
def test_hook_that_failed_once_counts_again(
    system: LogSystem, top: str, giver: Giver, fault: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = (drop_all,)
    for times in (1, 2, 4):
        giver.gift = usual
        assert shown(system, top, capsys, times) == [False] * times
        giver.gift = fault
        system.set_logs(tiler="DEBUG")
    giver.gift = usual
    assert shown(system, top, capsys, 4) == [False] * 4


def test_fault_names_its_plugin_though_another_system_of_that_prefix_has_changed_since(
    make_system: SystemFactory, top: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(record: logging.LogRecord) -> bool:
        raise RuntimeError("at every record")

    gift = (fail,)
    system = make_system(make_names(top), make_plugin(filters=lambda: gift))
    other = make_system(make_names(f"{top}_other"))
    for _ in range(4):
        system.set_logs(tiler="DEBUG")
    other.set_logs(tiler="DEBUG")
    system.set_logs(tiler="DEBUG")
    logging.getLogger(f"{top}.tiler").error("hello")
    warning = capsys.readouterr().err
    assert "at every record" in warning
    assert "entry point" in warning


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
