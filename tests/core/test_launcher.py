"""The rank that a launcher gives a process, which file names and filters read by the same rules."""

from __future__ import annotations

import pytest

from complog_core import find_launcher_rank
from complog_core.files import expand_path
from complog_core.launcher import LOCAL_RANK_VARIABLES, RANK_VARIABLES, find_number


@pytest.mark.parametrize("variable", RANK_VARIABLES)
@pytest.mark.parametrize(("text", "rank"), [("0", 0), ("3", 3), (" 12\n", 12), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_each_variable_gives_the_rank(variable: str, text: str, rank: int) -> None:
    assert find_launcher_rank({variable: text}) == rank
    assert expand_path("{rank}", {variable: text}) == str(rank)


@pytest.mark.parametrize("text", ["", " ", "-1", "x", "1.0", "1_0", "0x1", "+1", "٣", "²", "9" * 5000, "../1"])
def test_what_is_no_number_is_passed_over(text: str) -> None:
    assert find_launcher_rank({"RANK": text}) is None
    assert find_launcher_rank({"RANK": text, "PMI_RANK": "4"}) == 4
    assert expand_path("{rank}", {"RANK": text, "PMI_RANK": "4"}) == "4"


@pytest.mark.parametrize("variables", [RANK_VARIABLES, LOCAL_RANK_VARIABLES])
def test_first_variable_with_a_number_counts(variables: tuple[str, ...]) -> None:
    environ = {variable: str(number) for number, variable in enumerate(variables)}
    for number, variable in enumerate(variables):
        assert find_number(variables, environ) == number
        del environ[variable]
    assert find_number(variables, environ) is None


def test_the_process_own_environment_is_asked_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "5")
    assert find_launcher_rank() == 5
