"""The rank in the line and the ranks that log, against a stand-in for torch.distributed and a made-up environment."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace

import pytest
from tests.support.stand_ins import forget_torch

from complog_distributed.plugin import (
    complog_filters,
    complog_keywords,
    complog_record_fields,
    complog_trace_context,
)
from complog_distributed.ranks import set_wanted

RANK_VARIABLES = ("RANK", "LOCAL_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
RECORD = logging.makeLogRecord({"msg": "hello"})
(RANKS,) = (keyword for keyword in complog_keywords() if keyword.name == "ranks")


@pytest.fixture(autouse=True)
def _no_rank(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in RANK_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    forget_torch(monkeypatch)
    monkeypatch.delitem(sys.modules, "torch.distributed", raising=False)
    yield
    set_wanted(None)


def join_group(monkeypatch: pytest.MonkeyPatch, rank: int, *, available: bool = True, initialised: bool = True) -> None:
    """Put a torch.distributed in place; asked out of turn it raises, as PyTorch's does."""

    def is_initialized() -> bool:
        assert available, "a build without torch.distributed must not be asked"
        return initialised

    def get_rank() -> int:
        assert initialised, "Default process group has not been initialized"
        return rank

    module = ModuleType("torch.distributed")
    module.__dict__.update(is_available=lambda: available, is_initialized=is_initialized, get_rank=get_rank)
    monkeypatch.setitem(sys.modules, "torch.distributed", module)


def convert(value: object) -> frozenset[int] | None:
    assert RANKS.convert is not None
    converted = RANKS.convert(value)
    assert converted is None or type(converted) is frozenset
    return converted


def is_kept(ranks: object) -> bool:
    assert RANKS.apply is not None
    RANKS.apply(convert(ranks))
    return all(keep(RECORD) for keep in complog_filters())


def render() -> str:
    (field,) = complog_record_fields()
    assert field.slot == "head"
    return field.value(RECORD)


@pytest.mark.parametrize(
    ("value", "ranks"),
    [
        (None, None),
        ("", None),
        ("  ", None),
        ("0", {0}),
        ("0,3-5", {0, 3, 4, 5}),
        (" 7 , 3 - 4 ", {3, 4, 7}),
        ("2-2,2", {2}),
        ([0, 3], {0, 3}),
        ((1,), {1}),
        ({2, 5}, {2, 5}),
        (frozenset({6}), {6}),
        (range(2, 5), {2, 3, 4}),
        ([], set()),
    ],
)
def test_ranks_are_read(value: object, ranks: set[int] | None) -> None:
    assert convert(value) == ranks


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("0,,1", "'' in '0,,1' is neither a rank such as 0 nor a range"),
        ("0,", "'' in '0,' is neither a rank"),
        ("zero", "'zero' in 'zero' is neither"),
        ("-1", "'-1' in '-1' is neither"),
        ("1.5", "'1.5' in '1.5' is neither"),
        ("1_0", "'1_0' in '1_0' is neither"),
        ("٣", "is neither"),
        ("1-2-3", "'1-2-3' in '1-2-3' is neither"),
        ("0,5-3", "'5-3' in '0,5-3' runs backwards; write 3-5"),
        ("0-999999999", "999999999 is not a rank: ranks are ints from 0 to 999999"),
        ("9" * 5000, "is neither"),
        (3, "3 is neither a text such as '0,3-5' nor a collection of ints"),
        ({0: "a"}, "is neither a text"),
        ([0, True], "True is not a rank"),
        ([0, "1"], "'1' is not a rank"),
        ([-1], "-1 is not a rank"),
        ([0.0], "0.0 is not a rank"),
    ],
)
def test_bad_ranks_are_value_errors_that_say_why(value: object, reason: str) -> None:
    with pytest.raises(ValueError, match=r"^ranks: ") as caught:
        convert(value)
    assert reason in str(caught.value)


def test_keyword_has_a_variable_of_the_systems_prefix_and_lets_all_ranks_log_by_default() -> None:
    assert (RANKS.name, RANKS.env_var, RANKS.default) == ("ranks", "{prefix}_LOGS_RANKS", None)


@pytest.mark.parametrize("name", RANK_VARIABLES)
def test_launchers_rank_decides_while_there_is_no_group(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "3")
    assert is_kept("0,3-5")
    assert not is_kept("0,4")


def test_first_launcher_variable_that_is_set_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for rank, name in enumerate(RANK_VARIABLES):
        monkeypatch.setenv(name, str(rank))
    assert is_kept([0])
    monkeypatch.setenv(RANK_VARIABLES[0], "")
    assert is_kept([1])


def test_group_rank_wins_over_the_launchers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "7")
    join_group(monkeypatch, 2)
    assert is_kept([2])
    assert not is_kept([7])


@pytest.mark.parametrize("state", [{"initialised": False}, {"available": False}])
def test_launchers_rank_decides_while_the_group_is_not_there(
    monkeypatch: pytest.MonkeyPatch, state: dict[str, bool]
) -> None:
    monkeypatch.setenv("RANK", "7")
    join_group(monkeypatch, 2, **state)
    assert is_kept([7])
    assert not is_kept([2])


@pytest.mark.parametrize("text", [None, "", "seven", "-1"])
def test_process_without_a_rank_logs(monkeypatch: pytest.MonkeyPatch, text: str | None) -> None:
    if text is not None:
        monkeypatch.setenv("RANK", text)
    assert is_kept([1])


@pytest.mark.parametrize("rank", ["0", "1"])
def test_none_lets_every_rank_log_again(monkeypatch: pytest.MonkeyPatch, rank: str) -> None:
    monkeypatch.setenv("RANK", rank)
    assert not is_kept([5])
    assert is_kept(None)


def test_nothing_is_asked_of_a_record_while_every_rank_logs() -> None:
    assert is_kept(None)
    assert list(complog_filters()) == []


def test_empty_collection_silences_every_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "0")
    assert not is_kept([])


def test_line_starts_with_the_rank_of_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    join_group(monkeypatch, 11)
    assert render() == "[rank11]:"


@pytest.mark.parametrize("state", [{"initialised": False}, {"available": False}])
def test_line_has_no_rank_while_the_group_is_not_there(monkeypatch: pytest.MonkeyPatch, state: dict[str, bool]) -> None:
    monkeypatch.setenv("RANK", "7")
    join_group(monkeypatch, 2, **state)
    assert render() == ""


def test_line_has_no_rank_and_nothing_is_imported_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "7")
    assert render() == ""
    assert "torch.distributed" not in sys.modules


def test_half_loaded_module_is_not_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("torch.distributed")
    monkeypatch.setattr(module, "__spec__", SimpleNamespace(_initializing=True))
    monkeypatch.setitem(sys.modules, "torch.distributed", module)
    assert render() == ""
    assert is_kept([0])


def test_structured_records_have_the_groups_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    join_group(monkeypatch, 3)
    assert complog_trace_context() == {"rank": 3}


def test_structured_records_have_no_rank_outside_of_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    assert complog_trace_context() is None
    assert "torch.distributed" not in sys.modules
    join_group(monkeypatch, 3, initialised=False)
    assert complog_trace_context() is None
    join_group(monkeypatch, -1)
    assert complog_trace_context() is None
