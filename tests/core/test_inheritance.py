"""`set_logs(..., inherit=True)`: processes that are started afterwards begin with the same settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from threading import Thread
from types import SimpleNamespace

import pytest
from tests.support.environments import make_environment

from complog_core import Artifact, Component, Keyword, LogSystem, hookimpl

VARIABLE = "PROBE_LOGS_INHERITED"


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> Iterator[LogSystem]:
    monkeypatch.setenv(VARIABLE, "")
    made = make_system()
    yield made
    made.close()


def make_system(**hooks: object) -> LogSystem:
    @hookimpl
    def complog_components() -> list[Component]:
        return [Component("tiler", ["probe.tiler"]), Component("loops", ["probe.loops"])]

    @hookimpl
    def complog_artifacts() -> list[Artifact]:
        return [Artifact("tiles"), Artifact("sizes")]

    @hookimpl
    def complog_keywords() -> list[Keyword]:
        return [
            Keyword("depth", int, 1, env_var="{prefix}_LOGS_DEPTH"),
            Keyword("only", "Collection[int] | None", convert=lambda value: value and frozenset(value)),
            Keyword("sink", object),
        ]

    named = {each.__name__: each for each in (complog_components, complog_artifacts, complog_keywords)}
    return LogSystem("PROBE", plugins=[SimpleNamespace(**named, **hooks)])


def child_state() -> tuple[str, dict[str, int], dict[str, bool], dict[str, object]]:
    """What a system says that begins now, as one in a new process would."""
    child = make_system()
    state = child.current_state()
    child.close()
    return state.source, dict(state.levels), dict(state.artifacts), dict(state.keywords)


def test_child_begins_with_what_the_parent_asked_for(system: LogSystem) -> None:
    system.set_logs(
        "tiler:ERROR,xml.dom:INFO", loops="off", tiles=True, sizes=False, depth=3, only={2, 1}, inherit=True
    )
    mine, packed = system.current_state(), os.environ[VARIABLE]
    system.close()
    os.environ[VARIABLE] = packed
    source, levels, artifacts, keywords = child_state()
    assert source == "inherited"
    assert (levels, artifacts) == (dict(mine.levels), dict(mine.artifacts))
    assert keywords == {"depth": 3, "only": frozenset({1, 2}), "sink": None}


def test_child_resolves_a_name_that_stands_twice_as_the_parent_does(system: LogSystem) -> None:
    system.set_logs("+tiler, probe.tiler:ERROR, tiler:INFO", inherit=True)
    mine, packed = dict(system.current_state().levels), os.environ[VARIABLE]
    assert mine == {"probe.tiler": 20}
    system.close()
    os.environ[VARIABLE] = packed
    assert child_state()[1] == mine


def test_closed_system_hands_nothing_down(system: LogSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    system.set_logs(tiler="DEBUG", inherit=True)
    system.close()
    assert VARIABLE not in os.environ
    assert system.current_state().source == "default"
    monkeypatch.setenv(VARIABLE, '{"settings": []}')
    system.close()
    assert os.environ[VARIABLE] == '{"settings": []}'  # a parent's


def test_nothing_is_handed_down_unless_asked(system: LogSystem) -> None:
    system.set_logs(tiler="DEBUG")
    assert VARIABLE not in os.environ
    system.set_logs(tiler="DEBUG", inherit=True)
    system.set_logs(loops="DEBUG")
    assert VARIABLE not in os.environ


def test_later_call_takes_back_what_another_thread_hands_down_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.delenv(VARIABLE)
    others = [lambda: made.set_logs(tiler="DEBUG", inherit=True)]

    @hookimpl
    def complog_filters() -> list[object]:
        while others:
            thread = Thread(target=others.pop())
            thread.start()
            thread.join()
        return []

    made = make_system(complog_filters=complog_filters)
    try:
        made.set_logs(tiler="ERROR")
        assert VARIABLE not in os.environ
    finally:
        made.close()


def test_block_hands_down_for_its_length(system: LogSystem) -> None:
    system.set_logs(tiler="DEBUG", inherit=True)
    outside = os.environ[VARIABLE]
    with system.logs(tiles=True, inherit=True):
        assert json.loads(os.environ[VARIABLE]) == {"settings": [["tiles", 10]]}
        with system.logs(sizes=True):
            assert VARIABLE not in os.environ
        assert json.loads(os.environ[VARIABLE]) == {"settings": [["tiles", 10]]}
    assert os.environ[VARIABLE] == outside
    with pytest.raises(ZeroDivisionError), system.logs(tiles=True, inherit=True):
        raise ZeroDivisionError
    assert os.environ[VARIABLE] == outside


def test_own_settings_of_the_child_rank_above(system: LogSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, '{"settings": [["tiler", 10]], "keywords": {"depth": 5}}')
    assert (system.current_state().source, system.current_state().keywords["depth"]) == ("inherited", 5)
    with system.logs(loops="INFO"):
        state = system.current_state()
        assert (state.source, dict(state.levels), state.keywords["depth"]) == ("api", {"probe.loops": 20}, 1)
    assert system.current_state().source == "inherited"
    monkeypatch.setenv("PROBE_LOGS_DEPTH", "7")
    monkeypatch.setenv("PROBE_LOGS", "sizes")
    system.init_logs()
    state = system.current_state()
    assert (state.source, dict(state.levels), state.keywords["depth"]) == ("environment", {}, 7)
    monkeypatch.delenv("PROBE_LOGS_DEPTH")
    system.init_logs()
    assert system.current_state().keywords["depth"] == 1
    monkeypatch.delenv("PROBE_LOGS")
    system.set_logs()
    assert (system.current_state().source, dict(system.current_state().levels)) == ("default", {})


def test_environment_of_the_parent_keeps_the_api_from_handing_down(
    system: LogSystem, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROBE_LOGS", "sizes")
    system.set_logs(tiler="DEBUG", inherit=True)
    assert not os.environ[VARIABLE]
    assert "has precedence" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("named", "word"),
    [({"inherit": 1}, "inherit=1"), ({"inherit": "yes"}, "inherit"), ({"sink": object(), "inherit": True}, "sink")],
)
def test_what_cannot_be_handed_down_is_an_error_and_changes_nothing(
    system: LogSystem, named: dict[str, object], word: str
) -> None:
    system.set_logs(tiler="INFO")
    with pytest.raises(ValueError, match=word):
        system.set_logs(loops="DEBUG", **named)
    assert dict(system.current_state().levels) == {"probe.tiler": 20}
    assert not os.environ.get(VARIABLE)


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "[]",
        "{}",
        '{"settings": {"a": 1}}',
        '{"settings": [["tiler", null]]}',
        '{"settings": [["tiler", "x"]]}',
    ]
    + ['{"settings": [], "keywords": {"depth": "deep"}}', "[" * 10_000, '{"settings": [["tiler", 1e999]]}'],
)
def test_text_of_somebody_elses_making_is_one_warning(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], system: LogSystem
) -> None:
    monkeypatch.setenv(VARIABLE, text)
    for _ in range(2):
        system.init_logs()
    assert system.current_state().source == "default"
    assert capsys.readouterr().err.count(VARIABLE) == 1


def test_names_that_the_child_lacks_wait_in_silence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], system: LogSystem
) -> None:
    monkeypatch.setenv(VARIABLE, '{"settings": [["tiler", 10], ["later", 20]], "keywords": {"unheard_of": [1]}}')
    assert system.current_state().pending == ("later",)
    system.register_log("later", "probe.later")
    assert system.current_state().level("probe.later") == 20
    assert capsys.readouterr().err == ""


def test_names_of_plugins_that_are_switched_off_wait_in_silence_too(tmp_path: Path) -> None:
    code = "import complog; print(complog.current_state().pending)"
    packed = '{"settings": [["inductor_of_theirs", 10]]}'
    environ = make_environment(COMPLOG_DISABLE_PLUGINS="*", TORCH_LOGS_INHERITED=packed)
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120, check=True)
    assert (result.stdout, result.stderr) == ("('inductor_of_theirs',)\n", "")


PARENT = """
import concurrent.futures, multiprocessing, os, subprocess, sys
import complog

def tell(_=None):
    state = complog.current_state()
    return state.source, state.level("torch.anything"), state.level("xml.dom")

if __name__ == "__main__":
    complog.set_logs(torch="DEBUG", modules={"xml.dom": "ERROR"}, inherit=len(sys.argv) > 1)
    answers = []
    for method in ("spawn", "fork", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(1) as pool:
            answers += pool.map(tell, [0])
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
            answers += pool.map(tell, [0])
    code = "import complog; s = complog.current_state(); print(s.source, s.level('torch.anything'), s.level('xml.dom'))"
    inner = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)"
    for command in ([code], [inner, code]):
        line = subprocess.run([sys.executable, "-c", *command], capture_output=True, text=True, check=True).stdout
        answers.append(tuple(int(word) if word.isdigit() else word for word in line.split()))
    print(*answers, sep="\\n")
"""


@pytest.mark.parametrize("inherit", [True, False])
def test_spawned_and_forked_processes_of_every_kind(tmp_path: Path, inherit: bool) -> None:
    (tmp_path / "parent.py").write_text(dedent(PARENT))
    command = [sys.executable, "parent.py", *["inherit"] * inherit]
    result = subprocess.run(
        command, cwd=tmp_path, env=make_environment(), capture_output=True, text=True, timeout=120, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
    spawn, spawn2, fork, fork2, *others = result.stdout.splitlines()
    # a fork is the parent's copy, whether it is asked for or not
    assert fork == fork2 == "('api', 10, 40)"
    started = "('inherited', 10, 40)" if inherit else "('default', 30, 30)"
    assert {spawn, spawn2, *others} == {started}
    assert len(others) == 4
