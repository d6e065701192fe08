"""What a program's terminal, pipe or file gets, in processes of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from tests.support.terminals import ESCAPES, environment, readable, run_in_terminal

GRAPH = (
    "opcode         name    target                   args\\n"
    "-------------  ------  -----------------------  ---------\\n"
    "call_function  mul     <built-in function mul>  (l_x_, 2)"
)
CODE = "Output code:\\nimport torch\\ndef call(args):\\n\\treturn args"
PROGRAM = f"""
    import complog, logging
    graph, code = (complog.getArtifactLogger("torch.toy", name) for name in ("graph", "output_code"))
    graph.debug("TRACED GRAPH\\n{GRAPH}")
    code.debug("{CODE}")
    log = logging.getLogger("torch.toy")
    log.warning("careful: %s", "one\\ntwo")
    try:
        1 / 0
    except ZeroDivisionError:
        log.exception("failed")
"""
SETTINGS = {"TORCH_LOGS": "+torch,graph,output_code"}
RICH = {**SETTINGS, "TORCH_LOGS_FORMAT": "rich"}
FIELD = {**SETTINGS, "TORCH_LOGS_FORMAT": "%(rich)s"}
AUTO = {**SETTINGS, "COMPLOG_RICH": "auto"}
ALWAYS = {**SETTINGS, "COMPLOG_RICH": "always"}
LINE = re.compile(r"[VWE]\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ program\.py:\d+\](?: \[__(?:graph|output_code)\])? .*")


def run_in_pipe(source: str, directory: Path, env: dict[str, str]) -> str:
    script = directory / "program.py"
    script.write_text(dedent(source), encoding="utf-8")
    command = [sys.executable, str(script)]
    done = subprocess.run(
        command, cwd=directory, env=environment(env), capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("env", [RICH, FIELD, AUTO, ALWAYS], ids=["format", "field", "auto", "always"])
def test_terminal_gets_colours_a_table_and_links(tmp_path: Path, env: dict[str, str]) -> None:
    sent = run_in_terminal(PROGRAM, tmp_path, env=env)
    assert "\x1b[1;33mW\x1b[0m" in sent
    assert "\x1b[94mdef" in sent
    assert "│ call_function │ mul  │ <built-in function mul> │ (l_x_, 2) │" in readable(sent)
    assert f"\x1b]8;;file://{tmp_path}/program.py#5\x1b\\" in sent
    assert "\x1b" not in readable(sent)


@pytest.mark.parametrize("env", [RICH, AUTO, ALWAYS], ids=["format", "auto", "always"])
def test_each_line_is_attributable(tmp_path: Path, env: dict[str, str]) -> None:
    lines = readable(run_in_terminal(PROGRAM, tmp_path, env=env)).splitlines()
    assert len(lines) > 15
    assert [line for line in lines if not LINE.fullmatch(line)] == []


def test_colours_and_links_end_with_their_line(tmp_path: Path) -> None:
    for line in run_in_terminal(PROGRAM, tmp_path, env=RICH).splitlines():
        colours = re.findall(r"\x1b\[([0-9;]*)m", line)
        assert [colour == "0" for colour in colours] == [False, True] * (len(colours) // 2)
        links = re.findall(r"\x1b\]8;;([^\x1b]*)\x1b\\", line)
        assert [link == "" for link in links] == [False, True] * (len(links) // 2)


def test_neither_format_nor_auto_leaves_a_terminal_alone(tmp_path: Path) -> None:
    sent = run_in_terminal(PROGRAM, tmp_path, env=SETTINGS)
    assert "\x1b" not in sent
    assert "call_function  mul     <built-in" in sent


@pytest.mark.parametrize("fmt", ["glog", "short", "%(message)s", "json"])
def test_auto_leaves_another_format_alone(tmp_path: Path, fmt: str) -> None:
    assert "\x1b" not in run_in_terminal(PROGRAM, tmp_path, env={**AUTO, "TORCH_LOGS_FORMAT": fmt})


@pytest.mark.parametrize("word", ["", "0", "off"])
def test_auto_can_be_switched_off(tmp_path: Path, word: str) -> None:
    assert "\x1b" not in run_in_terminal(PROGRAM, tmp_path, env={**SETTINGS, "COMPLOG_RICH": word})


def test_unknown_word_is_one_warning(tmp_path: Path) -> None:
    sent = run_in_terminal(PROGRAM, tmp_path, env={**SETTINGS, "COMPLOG_RICH": "ever"})
    assert sent.count("complog: warning") == sent.count("COMPLOG_RICH='ever' is none of auto, always and 0") == 1


@pytest.mark.parametrize("variable", [{"NO_COLOR": "1"}, {"FORCE_COLOR": "0"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}])
def test_no_colour_is_no_escape_sequence_but_a_table(tmp_path: Path, variable: dict[str, str]) -> None:
    sent = run_in_terminal(PROGRAM, tmp_path, env={**RICH, **variable})
    assert "\x1b" not in sent
    assert "│ call_function │ mul " in sent


def test_dumb_terminal_gets_the_default_line(tmp_path: Path) -> None:
    sent = run_in_terminal(PROGRAM, tmp_path, env={**RICH, "TERM": "dumb"})
    assert "\x1b" not in sent
    assert "call_function  mul     <built-in function mul>" in sent


def test_forced_links_can_be_switched_off(tmp_path: Path) -> None:
    sent = run_in_terminal(PROGRAM, tmp_path, env={**RICH, "FORCE_HYPERLINK": "0"})
    assert ("\x1b]8" in sent, "\x1b[94m" in sent) == (False, True)


@pytest.mark.parametrize("env", [RICH, AUTO, ALWAYS], ids=["format", "auto", "always"])
def test_pipe_gets_the_default_line(tmp_path: Path, env: dict[str, str]) -> None:
    plain, rich = (run_in_pipe(PROGRAM, tmp_path, variables) for variables in (SETTINGS, env))
    assert [line.partition("] ")[2] for line in rich.splitlines()] == [
        line.partition("] ")[2] for line in plain.splitlines()
    ]


@pytest.mark.parametrize("env", [RICH, AUTO, ALWAYS], ids=["format", "auto", "always"])
@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_forced_colours_go_into_a_pipe_without_links(tmp_path: Path, env: dict[str, str], term: str) -> None:
    sent = run_in_pipe(PROGRAM, tmp_path, {**env, "FORCE_COLOR": "1", "TERM": term})
    assert ("\x1b[94m" in sent, "\x1b]8" in sent, "│ call_function │" in readable(sent)) == (True, False, True)


def test_auto_leaves_control_characters_in_a_pipe_and_the_format_does_not(tmp_path: Path) -> None:
    program = "import complog, logging; logging.getLogger('torch.toy').warning('a \\x1b[2J b')"
    assert run_in_pipe(program, tmp_path, AUTO).endswith("a \x1b[2J b\n")
    assert run_in_pipe(program, tmp_path, RICH).endswith("a \\x1b[2J b\n")
    assert run_in_pipe(program, tmp_path, ALWAYS).endswith("a \\x1b[2J b\n")


@pytest.mark.parametrize("env", [RICH, AUTO, ALWAYS], ids=["format", "auto", "always"])
def test_file_gets_the_default_line_while_the_terminal_has_colours(tmp_path: Path, env: dict[str, str]) -> None:
    file = tmp_path / "out.log"
    sent = run_in_terminal(PROGRAM, tmp_path, env={**env, "TORCH_LOGS_OUT": str(file), "FORCE_COLOR": "1"})
    assert "\x1b[94m" in sent
    text = file.read_text(encoding="utf-8")
    assert "\x1b" not in text
    assert "[__graph] call_function  mul     <built-in function mul>  (l_x_, 2)\n" in text
    assert [line for line in text.splitlines() if not LINE.fullmatch(line)] == []


def test_silenced_console_stays_silent(tmp_path: Path) -> None:
    file = tmp_path / "out.log"
    env = {**RICH, "TORCH_LOGS_OUT": str(file), "TORCH_LOGS_STDERR": "0"}
    assert run_in_terminal(PROGRAM, tmp_path, env=env) == ""
    assert "careful: one" in file.read_text(encoding="utf-8")


def test_narrow_terminal_gets_whole_lines(tmp_path: Path) -> None:
    program = """
        import complog, logging
        logging.getLogger("torch.toy").warning("long " + "x" * 300 + " 漢字" * 40 + " end")
        complog.getArtifactLogger("torch.toy", "graph").debug(
            "op   args\\n---  " + "-" * 200 + "\\nmul  " + "y" * 200)
    """
    text = readable(run_in_terminal(program, tmp_path, env=RICH, columns=20))
    assert "long " + "x" * 300 + " 漢字" * 40 + " end\n" in text
    assert f"│ mul │ {'y' * 200} │\n" in text


def test_redirected_stderr_is_looked_at_for_each_record(tmp_path: Path) -> None:
    program = """
        import complog, contextlib, io, logging
        log = logging.getLogger("torch.toy")
        log.warning("first")
        with contextlib.redirect_stderr(io.StringIO()) as stream:
            log.warning("second")
        log.warning("third")
        print(ascii(stream.getvalue().partition("] ")[2]))
    """
    lines = run_in_terminal(program, tmp_path, env=AUTO).splitlines()
    assert [readable(line).partition("] ")[2] for line in lines[:2]] == ["first", "third"]
    assert all("\x1b[1;33mW" in line for line in lines[:2])
    assert lines[2] == r"'second\n'"


def test_rich_is_imported_by_the_first_record_that_is_painted(tmp_path: Path) -> None:
    program = """
        import sys
        def loaded():
            return sorted({name.partition(".")[0] for name in sys.modules} & {"rich", "pygments"})
        import complog, contextlib, io, logging
        log = logging.getLogger("torch.toy")
        seen = [loaded()]
        with contextlib.redirect_stderr(io.StringIO()):
            log.warning("into a pipe")
        seen.append(loaded())
        log.warning("in a terminal")
        seen.append(loaded())
        print(seen)
    """
    sent = run_in_terminal(program, tmp_path, env=RICH)
    assert sent.splitlines()[-1] == "[[], [], ['pygments', 'rich']]"


def test_without_color_and_tables_rich_stays_away(tmp_path: Path) -> None:
    program = """
        import complog, logging, sys
        logging.getLogger("torch.toy").warning("a \\x1b]0;title\\x07")
        print("rich" in sys.modules)
    """
    sent = run_in_terminal(program, tmp_path, env={**RICH, "TERM": "dumb"})
    assert sent.splitlines()[-1] == "False"
    assert r"a \x1b]0;title\x07" in sent


def test_lines_of_eight_processes_stay_whole(tmp_path: Path) -> None:
    program = """
        import complog, logging, os, sys
        log = logging.getLogger("torch.toy")
        children = []
        for rank in range(8):
            if not (child := os.fork()):
                for number in range(20):
                    log.warning("\\n".join(f"{rank} {number} {line} {'x' * 150} end" for line in range(9)))
                os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)
    """
    lines = readable(run_in_terminal(program, tmp_path, env=RICH)).splitlines()
    found = [re.fullmatch(r"W\S+ \S+ \d+ \S+\] (\d) (\d+) (\d) x{150} end", line) for line in lines]
    assert len(found) == 8 * 20 * 9
    numbers = [match.groups() for match in found if match is not None]
    assert len(numbers) == len(found)
    records = [numbers[start : start + 9] for start in range(0, len(numbers), 9)]
    assert all(len({number[:2] for number in record}) == 1 for record in records)


def test_program_s_random_numbers_are_left_alone(tmp_path: Path) -> None:
    # rich's own links would draw from them
    program = PROGRAM.replace(
        "import complog", "import random; random.seed(1); before = random.getstate(); import complog"
    )
    program += "    print(random.getstate() == before)\n"
    assert run_in_terminal(program, tmp_path, env=RICH).splitlines()[-1] == "True"


def test_escapes_that_the_tests_know_are_all(tmp_path: Path) -> None:
    assert "\x1b" not in ESCAPES.sub("", run_in_terminal(PROGRAM, tmp_path, env=RICH))
