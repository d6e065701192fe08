"""Whether a file can have been moved between two records, told by how close they follow each other."""

from __future__ import annotations

import itertools
import time

import pytest

from complog_core.pace import Pace

STEP = 10e-6
LONGEST = 1e-3


class Clock:
    """Stands in for the clock; `now` is in seconds."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that stands still."""
    made = Clock()
    monkeypatch.setattr(time, "monotonic", made.monotonic)
    return made


def log(pace: Pace, clock: Clock, count: int, gap: float = STEP) -> list[bool]:
    """Return what the pace says at each of some records, which look at the file where they are told to."""
    answers = []
    for _ in range(count):
        clock.now += gap
        answers.append(pace.holds())
        if not answers[-1]:
            pace.go_on()
    return answers


def test_first_records_are_looked_at_and_a_burst_once_in_a_while(clock: Clock) -> None:
    pace = Pace()
    assert not any(log(pace, clock, 5))
    log(pace, clock, 200)
    answers = log(pace, clock, 1000)
    looks = [number for number, holds in enumerate(answers) if not holds]
    assert looks
    assert len(looks) <= 1000 * STEP / LONGEST + 1
    assert max(later - earlier for earlier, later in itertools.pairwise(looks)) <= LONGEST / STEP + 1


@pytest.mark.parametrize("pause", [1.5 * STEP, 20 * STEP, 3600.0])
def test_whatever_may_have_been_done_between_two_records_asks_for_a_look(clock: Clock, pause: float) -> None:
    pace = Pace()
    log(pace, clock, 1000)
    for _ in range(50):
        assert log(pace, clock, 1, pause) == [False]
        assert any(log(pace, clock, 300))


@pytest.mark.parametrize("gap", [30e-6, 1e-3, 1.0])
def test_records_that_do_not_come_in_a_burst_are_all_looked_at(clock: Clock, gap: float) -> None:
    assert not any(log(Pace(), clock, 500, gap))


def test_time_of_a_look_counts_for_nothing(clock: Clock) -> None:
    pace, held = Pace(), 0
    for _ in range(1000):
        clock.now += STEP
        if pace.holds():
            held += 1
        else:
            clock.now += 20 * STEP
            pace.go_on()
    assert held > 900


def test_clock_that_stands_still_or_runs_backwards_is_survived(clock: Clock) -> None:
    pace = Pace()
    log(pace, clock, 100, 0.0)
    log(pace, clock, 100, -1.0)
    log(pace, clock, 200)
    assert any(log(pace, clock, 100))


@pytest.mark.parametrize("burst", [1, 3, 10, 100])
def test_what_is_done_again_and_again_between_bursts_does_not_become_usual(clock: Clock, burst: int) -> None:
    pace = Pace()
    for _ in range(500):
        clock.now += 1.0
        log(pace, clock, burst)
        assert log(pace, clock, 1, 1.5 * STEP) == [False]


def test_program_that_became_slower_has_its_own_pace() -> None:
    pace, clock = Pace(), Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", clock.monotonic)
        log(pace, clock, 1000)
        log(pace, clock, 200, 2 * STEP)
        assert any(log(pace, clock, 20, 2 * STEP))


def test_frozen_clock_asks_for_a_look_each_time(clock: Clock) -> None:
    pace = Pace()
    log(pace, clock, 1000)
    assert not any(log(pace, clock, 100, 0.0))
