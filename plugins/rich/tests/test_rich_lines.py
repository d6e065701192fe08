"""Painted text is the text: nothing that a terminal obeys gets through, and nothing that one reads gets lost."""

from __future__ import annotations

import logging
import re
import sys
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.terminals import ESCAPES, readable

from complog_core import GlogFormatter
from complog_rich.harmless import tame
from complog_rich.language import guess
from complog_rich.lines import make_lines
from complog_rich.pieces import link
from complog_rich.surroundings import Surroundings
from complog_rich.tables import draw_table, find_tables

EVERYTHING = Surroundings(shapes=True, colours=True, links=True, wide=True)
CHARACTERS = st.one_of(st.characters(codec=None), st.sampled_from("\x1b\x07\x9b\r\n\t\\]8;m0[ \u202e\ud800'\"#/:"))
HOSTILE = st.lists(CHARACTERS, max_size=80).map("".join)
ARTIFACTS = st.sampled_from([None, "output_code", "graph", "bytecode", "guards"])
WORDS = [
    "import torch\n",
    "#include <cmath>\n",
    "def f(x):\n",
    'extern "C" void f() {\n',
    "r'''\n",
    '"""',
    "Traceback (most recent call last):\n",
    '  File "/a b/c.py", line 3, in f\n',
    "/srv/x.py:12 ",
    "a    b\n",
    "---  ---\n",
    "漢字  1\n",
    "  4           2 LOAD_FAST                0 (x)\n",
    "# comment\n",
    "\tx = 'y'\n",
    "}\n",
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;http://evil\x1b\\here\x1b]8;;\x1b\\\n",
]
PROSE = st.lists(st.sampled_from(WORDS), max_size=25).map("".join)


def make_record(message: str, level: int = logging.DEBUG, path: str = "/srv/x.py") -> logging.LogRecord:
    return logging.LogRecord("toy", level, path, 7, "%s", (message,), None)


def painted(message: str, artifact: str | None = None, surroundings: Surroundings = EVERYTHING, **kind: Any) -> str:
    record = make_record(message, **kind)
    return make_lines(record, tame(GlogFormatter().format(record)), artifact, surroundings)


def letters(text: str) -> list[str]:
    """The text without what a table's frame adds, and the spaces that it moves."""
    return sorted(re.sub(r"[\s─│╭╮╰╯├┤┬┴┼+|-]", "", text))


@given(HOSTILE)
@settings(deadline=None)
def test_tame_text_has_nothing_that_a_terminal_obeys(text: str) -> None:
    tamed = tame(text)
    assert {unicodedata.category(letter) for letter in tamed} & {"Cc", "Cs", "Zl", "Zp"} <= {"Cc"}
    assert set(filter(lambda letter: unicodedata.category(letter) == "Cc", tamed)) <= {"\n", "\t"}
    assert not set(tamed) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
    assert tame(tamed) == tamed
    assert tamed.encode("utf-8").decode("utf-8") == tamed


@given(st.text(alphabet=st.characters(exclude_categories=["C", "Zl", "Zp"], include_characters="\n\t")))
def test_tame_leaves_text_alone(text: str) -> None:
    assert tame(text) == text


@pytest.mark.parametrize(
    ("given_text", "tamed"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x1b[2J\x1b[1;31mred\x1b[m", r"\x1b[2Jred"),
        ("\x9b31mred \x9b2J \x85", r"red \x9b2J \x85"),
        ("over\rwritten\r\nnext", "over\\x0dwritten\nnext"),
        ("\u202eevil\u202c \u2028", r"\u202eevil\u202c \u2028"),
        ("\x08\x7f\x00", r"\x08\x7f\x00"),
        ("\udc80 \ud83d", r"\udc80 \ud83d"),
        ("\x1b\x1b[0m[31mred", r"\x1b[31mred"),
    ],
)
def test_control_characters_can_be_read(given_text: str, tamed: str) -> None:
    assert tame(given_text) == tamed


@given(HOSTILE | PROSE, ARTIFACTS, st.sampled_from([logging.DEBUG, logging.ERROR]))
@settings(deadline=None, max_examples=300)
def test_whatever_is_logged_comes_out_whole_and_tame(message: str, artifact: str | None, level: int) -> None:
    record = make_record(message, level)
    text = tame(GlogFormatter().format(record))
    shown = make_lines(record, text, artifact, EVERYTHING)
    bare = ESCAPES.sub("", shown)
    assert "\x1b" not in bare
    if not find_tables([line.partition("] ")[2] for line in text.split("\n")]):
        assert bare == text
    prefix = text.partition("] ")[0] + "] "
    assert all(line.startswith(prefix) for line in bare.split("\n"))
    assert letters(bare.replace(prefix, "")) == letters(text.replace(prefix, ""))


@given(HOSTILE | PROSE, HOSTILE)
@settings(deadline=None)
def test_text_that_does_not_match_its_message_comes_out_whole(text: str, message: str) -> None:
    record = make_record(message)
    record.message = message
    shown = ESCAPES.sub("", make_lines(record, tame(text), "output_code", EVERYTHING))
    assert letters(shown) == letters(tame(text))


@given(PROSE, st.sampled_from(["I: %(message)s", "%(message)s", "%(message)s <", "%(levelname)s"]))
@settings(deadline=None)
def test_other_formats_come_out_whole(message: str, fmt: str) -> None:
    record = make_record(message)
    text = tame(logging.Formatter(fmt).format(record))
    assert letters(readable(make_lines(record, text, None, EVERYTHING))) == letters(text)


CELLS = st.text("ab漢é()'_", min_size=1, max_size=12)
ROWS = st.integers(2, 5).flatmap(lambda width: st.lists(st.tuples(*[CELLS] * width), min_size=2, max_size=6))


@given(ROWS, st.booleans())
@settings(deadline=None)
def test_rows_that_tabulate_prints_are_found_and_drawn_whole(rows: list[tuple[str, ...]], wide: bool) -> None:
    from tabulate import tabulate

    printed = tabulate(rows[1:], headers=rows[0], disable_numparse=True).split("\n")
    found = find_tables(["before", *printed, "", "after"])
    if not any(letter > "\u02ff" for row in rows for cell in row for letter in cell):
        assert [table.rows for table in found] == [tuple(rows)]
    for table in found:
        drawn = ["".join(text for text, _ in line) for line in draw_table(table.rows, wide=wide)]
        assert letters("".join(drawn)) == letters("".join("".join(row) for row in table.rows))
        assert len({display_width(line) for line in drawn}) == 1


def display_width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


@pytest.mark.parametrize(
    "lines",
    [
        ["---  ---", "a    b"],
        ["a    b", "---  ---"],
        ["", "---  ---", "a    b"],
        ["a    b", "---  ---", "crosses  the gap"],
        ["a b", "-----------------", "c d"],
        ["x = a --  --b", "y"],
    ],
)
def test_other_dashes_are_no_table(lines: list[str]) -> None:
    assert find_tables(lines) == []


def test_frame_is_ascii_where_the_console_is() -> None:
    message = "op    name\n----  ----\ncall  mul"
    assert painted(message, surroundings=EVERYTHING._replace(wide=False)).isascii()
    assert "│ call │ mul  │" in readable(painted(message))


@pytest.mark.parametrize(
    ("artifact", "text", "language"),
    [
        ("output_code", "Output code: \n# AOT ID: ['0']\nimport torch\nx = 1", "python"),
        ("output_code", "Output code: \n#include <torch/x.h>\nvoid f() {}", "cpp"),
        ("output_code", "Output code written to: /tmp/x.py", None),
        ("kernel_code", "@triton.jit\ndef k(x):\n    pass", "python"),
        ("kernel_code", 'extern "C" void k(float* x)\n{}\n', "cpp"),
        ("my_kernels", "__global__ void k(float* x)\n{}\n", "cpp"),
        (
            "graph_code",
            "TRACED GRAPH\n ===== f =====\n /x.py class <lambda>(Module):\n    def forward(self):\n",
            "python",
        ),
        ("ir_post_fusion", "AFTER FUSION\nop0: SchedulerNode(ComputedBuffer)\nop0.writes = []\n", "python"),
        ("bytecode", "ORIGINAL BYTECODE f /x.py line 3\n  3           0 RESUME                   0\n", "bytecode"),
        (
            None,
            "x\n  3           RESUME                   0\n\n  4           LOAD_FAST  0 (x)\n    >>  RETURN_VALUE\n",
            "bytecode",
        ),
        (None, "import torch\ndef f():\n    return 1", "python"),
        (None, 'failed\nTraceback (most recent call last):\n  File "x", line 1\nValueError', "traceback"),
        (None, "from here on\nit gets better", None),
        (None, "import this", None),
        ("guards", "TREE_GUARD_MANAGER:\n+- RootGuardManager\n| +- LAMBDA_GUARD", None),
        (None, "", None),
    ],
)
def test_language_is_guessed_from_the_artifact_and_the_text(
    artifact: str | None, text: str, language: str | None
) -> None:
    assert guess(artifact, text).language == language


def test_kernels_within_python_are_highlighted_in_their_own_language() -> None:
    code = "import torch\nk = cpp('k', r'''\n#include <cmath>\nvoid f(const float* x)\n{}\n''')\ndef call(): pass\n"
    shown = painted(code, "output_code")
    assert "\x1b[96mvoid" in shown
    assert "\x1b[94mdef" in shown


def test_header_of_generated_code_is_no_code() -> None:
    first, second = painted("Output code for class:\nimport torch", "output_code").split("\n")
    assert "\x1b[1mOutput code for class:\x1b[0m" in first
    assert "\x1b[94mimport" in second


@pytest.mark.parametrize("text", ["x = 1\n" * 100_000, "def f(): return " + "1+" * 10_000 + "1\nimport y\n"])
def test_vast_code_comes_out_whole_and_plain(text: str) -> None:
    assert readable(painted(text, "output_code")).count("x = 1") == text.count("x = 1")
    assert "\x1b[94m" not in painted(text, "output_code")


@pytest.mark.parametrize(("rows", "drawn"), [(4_999, True), (5_000, False)])
def test_vast_table_stays_as_it_was_printed(rows: int, drawn: bool) -> None:
    message = "a   b\n--  --\n" + "c   d\n" * rows
    text = readable(painted(message))
    assert ("│ c │ d │" in text) == drawn
    assert text.count("c") == rows


def test_line_of_a_million_characters_comes_out_whole() -> None:
    message = "/a.b:" + "/" * 1_000_000
    assert readable(painted(message)).endswith(message)


def test_places_in_the_text_are_links() -> None:
    shown = painted('see /srv/a-b/c.py:31, File "/x y/é.py", line 4, and http://host/x.py:3, ./rel.py:1')
    assert re.findall(r"\x1b\]8;;([^\x1b]+)\x1b\\", shown) == [
        "file:///srv/x.py#7",
        "file:///srv/a-b/c.py#31",
        "file:///x%20y/%C3%A9.py#4",
    ]


@given(HOSTILE, st.integers(0, 10**6))
def test_no_path_breaks_out_of_its_link(path: str, line: int) -> None:
    shown = link("text", path, line)
    assert re.fullmatch(r"\x1b\]8;;file:///[!-~]*#\d+\x1b\\text\x1b\]8;;\x1b\\", shown)


@given(HOSTILE)
@settings(deadline=None)
def test_hostile_path_of_a_record_is_tame(path: str) -> None:
    sent = painted("text", path=path.replace("\n", "") or "x")
    assert "\x1b" not in ESCAPES.sub("", sent)
    assert "\x07" not in sent


@pytest.mark.parametrize("level", [logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL, 25])
def test_each_level_has_its_colour(level: int) -> None:
    record = make_record("text", level)
    shown = painted("text", level=level)
    letter = {10: "V", 20: "I", 30: "W", 40: "E", 50: "C"}.get(level, record.levelname)
    assert re.match(rf"\x1b\[[0-9;]+m{letter}\x1b\[0m\x1b\[2m\d{{4}} ", shown)


@pytest.mark.parametrize("head", ["", "[rank0]:", "job7 ", "V1129: "])
def test_level_is_told_from_what_stands_before_it(head: str) -> None:
    record = make_record("text")
    shown = make_lines(record, head + GlogFormatter().format(record), None, EVERYTHING)
    assert f"{head}\x1b[0m\x1b[36mV\x1b[0m" in f"\x1b[0m{shown}" if head else shown.startswith("\x1b[36mV\x1b[0m")


def test_table_whose_head_stands_behind_a_title_is_found() -> None:
    message = " /srv/x.py op    name\n----  ------\ncall  mul\n      output\n"
    lines = [line.partition("] ")[2] for line in readable(painted(message, "graph")).split("\n")]
    assert lines[0] == " /srv/x.py"
    assert [line for line in lines if "│" in line] == ["│ op   │ name   │", "│ call │ mul    │", "│      │ output │"]


def test_bytecode_keeps_its_instructions_whole() -> None:
    message = (
        "ORIGINAL BYTECODE f x.py line 2\n  4     >>    2 LOAD_GLOBAL  1 (NULL + torch)\n        L1:  RETURN_VALUE"
    )
    shown = painted(message, "bytecode")
    assert "\x1b[1;36mLOAD_GLOBAL\x1b[0m" in shown
    assert "\x1b[1;36mRETURN_VALUE\x1b[0m" in shown
    assert [line.partition("] ")[2] for line in readable(shown).split("\n")] == message.split("\n")


def test_nothing_of_rich_is_written_to_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    painted("op    name\n----  ----\ncall  mul", "graph")
    assert capsys.readouterr() == ("", "")
    assert sys.stderr is not None
