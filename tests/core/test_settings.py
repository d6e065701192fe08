"""A settings text becomes settings and problems together, whatever stands in it."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from complog_core.model import OFF, Setting
from complog_core.settings import parse, parse_level

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.]{0,12}", fullmatch=True).filter(lambda name: name != "help")
LEVELS = st.sampled_from(["debug", "INFO", "Warning", "error", "CRITICAL", "NOTSET", "10", "30", "off", "OFF"])
ITEMS = st.one_of(
    NAMES,
    st.builds("{}{}".format, st.sampled_from("+-"), NAMES),
    st.builds("{}:{}".format, NAMES, LEVELS),
    st.builds("my-family/{}".format, NAMES),
)


@pytest.mark.parametrize(
    ("item", "level"),
    [
        ("dynamo", logging.INFO),
        ("+dynamo", logging.DEBUG),
        ("-dynamo", logging.ERROR),
        ("dynamo:warning", logging.WARNING),
        ("dynamo:WARN", logging.WARNING),
        ("dynamo:Fatal", logging.CRITICAL),
        ("dynamo:40", logging.ERROR),
        ("dynamo:off", OFF),
        ("dynamo:oFF", OFF),
    ],
)
def test_each_form_of_an_item_has_its_level(item: str, level: int) -> None:
    assert parse(item).settings == (Setting("dynamo", level, item),)
    assert not parse(item).problems


@pytest.mark.parametrize("text", ["", " ", "\t\n  "])
def test_blank_text_holds_nothing(text: str) -> None:
    assert parse(text) == parse("")
    assert not parse(text).settings
    assert not parse(text).problems


@given(st.lists(ITEMS, min_size=1, max_size=6), st.sampled_from([",", " , ", ",\t", "\n,"]))
def test_valid_items_give_one_setting_each_in_order(items: list[str], comma: str) -> None:
    parsed = parse(comma.join(items))
    assert [setting.text for setting in parsed.settings] == items
    assert not parsed.problems


@given(st.text(max_size=40))
def test_no_text_raises_and_every_item_is_accounted_for(text: str) -> None:
    parsed = parse(text, windows=False)
    if parsed.help is None and text.strip() and text.strip()[0] not in "\"'":
        assert len(parsed.settings) + len(parsed.problems) == text.strip().count(",") + 1


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("+dynamo:DEBUG", "does not go together"),
        ("-dynamo:off", "does not go together"),
        ("dynamo:", "not a level"),
        ("dynamo:LOUD", "not a level"),
        ("dynamo:15", "not a level"),
        ("dynamo:-1", "not a level"),
        ("dynamo:1_0", "not a level"),
        ("dynamo:٣", "not a level"),
        ("dyn amo", "white space"),
        ("+ dynamo", "white space"),
        ("++dynamo", "only one sign"),
        ("+-dynamo", "only one sign"),
        ("+", "no name"),
        ("1dynamo", "not a name"),
        ("dyn;amo", "not a name"),
        ("a/b/c", "one slash"),
        ("-help", "help"),
        ("help:DEBUG", "help"),
        ('dyn"amo', "quotes"),
    ],
)
def test_bad_item_says_why_and_leaves_the_others(item: str, reason: str) -> None:
    parsed = parse(f"aot,{item},guards")
    assert [setting.name for setting in parsed.settings] == ["aot", "guards"]
    assert len(parsed.problems) == 1
    assert reason in parsed.problems[0]
    assert item in parsed.problems[0]


@pytest.mark.parametrize(("text", "position"), [(",a", 1), ("a,", 2), ("a,,b", 2), ("a, ,b", 2)])
def test_empty_item_is_named_by_its_position(text: str, position: int) -> None:
    assert parse(text).problems[0].startswith(f"item {position} is empty")


def test_all_bad_items_are_reported_at_once() -> None:
    assert len(parse("a:LOUD,+b:INFO,,c d").problems) == 4


@pytest.mark.parametrize(
    ("text", "asked"), [("help", "help"), ("+help", "+help"), ("a,help", "help"), (" +help ", "+help")]
)
def test_help_is_recognised_wherever_it_stands(text: str, asked: str) -> None:
    assert parse(text).help == asked


@pytest.mark.parametrize("text", ['"+a,b"', "'+a,b'"])
def test_outer_quotes_are_stripped_on_windows_only(text: str) -> None:
    assert parse(text, windows=True) == parse("+a,b")
    elsewhere = parse(text, windows=False)
    assert not elsewhere.settings
    assert "+a,b" in elsewhere.problems[0]
    assert "quotes" in elsewhere.problems[0]


def test_only_one_pair_of_quotes_is_stripped() -> None:
    assert parse("\"'a'\"", windows=True).problems


def test_level_known_to_logging_by_another_name_is_a_level() -> None:
    logging.addLevelName(5, "TRACE")
    try:
        assert parse_level("trace") == 5
        assert parse_level(5) == 5
    finally:
        del logging._levelToName[5], logging._nameToLevel["TRACE"]
    with pytest.raises(ValueError, match="not a level"):
        parse_level("trace")


@pytest.mark.parametrize("value", [True, False, 15, -1, 10.0, None, "", "loud", b"DEBUG", [10]])
def test_what_is_no_level_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="level"):
        parse_level(value)
