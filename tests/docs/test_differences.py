"""docs/differences.md against reality: each row is tried on stock PyTorch and on PyTorch with the bridge."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from tests.docs.documents import read
from tests.docs.sandbox import FOREIGN

pytestmark = pytest.mark.torch

PROGRAM = """
import contextlib, io, json, logging, os, sys, traceback
import torch
import torch._logging as logs
import torch._logging._internal as internal

def environ(**variables):
    os.environ.update(variables)
    logs._init_logs()

def error(function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except Exception as problem:
        return type(problem).__mro__[-4 if isinstance(problem, ValueError) else 0].__name__

def printed(log):
    # what reaches the descriptor, also from handlers that keep the stderr of start-up
    read, write = os.pipe()
    kept = os.dup(2)
    os.dup2(write, 2)
    os.close(write)
    log()
    sys.stderr.flush()
    os.dup2(kept, 2)
    os.set_blocking(read, False)
    try:
        return os.read(read, 1 << 16).decode()
    except BlockingIOError:
        return ""

def dynamo():
    return logging.getLogger("torch._dynamo.x")

for name, code in json.load(sys.stdin).items():
    sys.stdout.flush()
    child = os.fork()
    if not child:
        space = dict(globals())
        try:
            exec(code, space)
            answer = space["answer"]
        except BaseException:
            answer = traceback.format_exc()
        print(repr((name, answer)), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""

CHECKS: dict[str, tuple[str, object, object]] = {
    # the first cell of a row: code that leaves an answer, and what the answer is in stock PyTorch and with the bridge
    "specific": (
        """
        environ(TORCH_LOGS="-torch._dynamo.guards,+torch._dynamo")
        answer = logging.getLogger("torch._dynamo.guards").getEffectiveLevel()
        """,
        10,
        40,
    ),
    "mute": (
        """
        log = logs.getArtifactLogger("torch._dynamo.x", "guards")
        logs.set_logs(dynamo=logging.DEBUG, guards=False)
        answer = "text" in printed(lambda: log.debug("text")), log.isEnabledFor(logging.DEBUG)
        """,
        (True, True),
        (False, False),
    ),
    "levels": (
        """
        answer = error(environ, TORCH_LOGS="dynamo:warning,guards:off")
        """,
        "ValueError",
        None,
    ),
    "qualified": (
        """
        answer = error(environ, TORCH_LOGS="+dynamo/dynamo")
        """,
        "ValueError",
        None,
    ),
    "all": (
        """
        logs._internal.register_log("mine", "mine.x")
        environ(TORCH_LOGS="+all")
        answer = logging.getLogger("mine.x").getEffectiveLevel()
        """,
        30,
        10,
    ),
    "keywords": (
        """
        logs._internal.register_log("mine", "mine.x")
        answer = error(logs.set_logs, mine=logging.DEBUG)
        """,
        "TypeError",
        None,
    ),
    "silent warning": (
        """
        log = logs.getArtifactLogger("torch._inductor.x", "output_code")
        answer = printed(lambda: log.warning("text")).endswith("] [__output_code] text\\n")
        """,
        False,
        True,
    ),
    "late logger": (
        """
        environ(TORCH_LOGS="+dynamo")
        logs._internal.register_log("late", "late.x")
        answer = printed(lambda: logging.getLogger("late.x").warning("text")).startswith("W")
        """,
        False,
        True,
    ),
    "failed call": (
        """
        logs.set_logs(dynamo=logging.DEBUG)
        error(logs.set_logs, inductor="nonsense")
        answer = internal.log_state.log_qname_to_level.get("torch._dynamo"), dynamo().getEffectiveLevel()
        """,
        (None, 10),
        (10, 10),
    ),
    "bool for a module": (
        """
        answer = error(logs.set_logs, modules={"xml.dom": True})
        """,
        None,
        "ValueError",
    ),
    "long name": (
        """
        logs._internal.register_artifact("a" * 31, "text", visible=True)
        answer = error(logs._internal.help_message)
        """,
        "AssertionError",
        None,
    ),
    "repeated notice": (
        """
        environ(TORCH_LOGS="dynamo")
        answer = printed(lambda: [logs.set_logs(dynamo=logging.DEBUG) for _ in range(3)]).count("\\n")
        """,
        3,
        1,
    ),
    "removed variable": (
        """
        environ(TORCH_LOGS="+dynamo")
        del os.environ["TORCH_LOGS"]
        logs._init_logs()
        answer = dynamo().isEnabledFor(logging.DEBUG)
        """,
        True,
        False,
    ),
    "console": (
        """
        logs.set_logs(dynamo=logging.INFO)
        with contextlib.redirect_stderr(io.StringIO()) as console:
            printed(lambda: dynamo().info("text"))
        answer = "text" in console.getvalue()
        """,
        False,
        True,
    ),
    "descriptors": (
        """
        environ(TORCH_LOGS="+dynamo", TORCH_LOGS_OUT="one.log")
        paths = [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
        answer = sum(path.endswith("/one.log") for path in paths) > 1
        """,
        True,
        False,
    ),
    "renderings": (
        """
        class Counting:
            count = 0
            def __str__(self):
                Counting.count += 1
                return "text"
        environ(TORCH_LOGS="+dynamo", TORCH_LOGS_OUT="one.log")
        printed(lambda: dynamo().info("%s", Counting()))
        answer = Counting.count
        """,
        2,
        1,
    ),
    "first exception": (
        """
        logs.set_logs(dynamo=logging.INFO)
        before = len(sys.modules)
        try:
            1 / 0
        except ZeroDivisionError:
            printed(lambda: dynamo().info("text", exc_info=True))
        answer = len(sys.modules) - before > 100
        """,
        True,
        False,
    ),
    "foreign handlers": (
        """
        logger = logging.getLogger("xml")
        logger.addHandler(logging.StreamHandler(stream := io.StringIO()))
        logs.set_logs(modules={"xml.dom": logging.INFO})
        logs.set_logs()
        logging.getLogger("xml.dom").warning("text")
        answer = stream.getvalue()
        """,
        "",
        "text\n",
    ),
    "dotted name": (
        """
        environ(TORCH_LOGS="wsgiref.simple_server")
        answer = "wsgiref" in sys.modules
        """,
        True,
        False,
    ),
}


def run(program: str, given: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)} | variables
    if variables.get("COMPLOG_TORCH") == "0":
        # another backend of this environment may use complog
        environment["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    return subprocess.run(
        [sys.executable, "-c", program],
        input=given,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module", params=["stock", "bridge"])
def answers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, object]]:
    """What each check answered, in one process per engine which forks for each check."""
    import json

    folder = tmp_path_factory.mktemp(request.param)
    checks = json.dumps({name: dedent(code) for name, (code, _, _) in CHECKS.items()})
    done = run(PROGRAM, checks, folder, COMPLOG_TORCH="0" if request.param == "stock" else "1")
    assert done.returncode == 0, done.stderr
    return request.param, dict(ast.literal_eval(line) for line in done.stdout.splitlines() if line.startswith("('"))


@pytest.mark.parametrize("name", CHECKS)
def test_row_is_true(name: str, answers: tuple[str, dict[str, object]]) -> None:
    engine, given = answers
    assert given[name] == CHECKS[name][1 if engine == "stock" else 2]


def test_blank_variable_ends_stock_torch_and_means_nothing_with_the_bridge(tmp_path: Path) -> None:
    stock = run("import torch", "", tmp_path, TORCH_LOGS="", COMPLOG_TORCH="0")
    assert stock.stderr.splitlines()[-1].startswith("AttributeError")
    assert run("import torch", "", tmp_path, TORCH_LOGS="").returncode == 0


def test_misspelt_names_are_named_each_with_the_nearest_only_by_the_bridge(tmp_path: Path) -> None:
    stock = run("import torch", "", tmp_path, TORCH_LOGS="gaurds,+inductr,aot", COMPLOG_TORCH="0").stderr
    assert "Invalid log settings: gaurds,+inductr,aot," in stock
    ours = run("import torch", "", tmp_path, TORCH_LOGS="gaurds,+inductr,aot").stderr.splitlines()
    assert [line.split(";")[0] for line in ours[-2:]] == ["  'gaurds': unknown name", "  '+inductr': unknown name"]
    assert "nearest: guards" in ours[-2]


LOG_TEXT = "import torch, logging; logging.getLogger('torch._dynamo.x').info('text')"


def test_unknown_field_of_a_format_is_a_dump_per_record_in_stock_and_an_error_at_start_with_the_bridge(
    tmp_path: Path,
) -> None:
    settings = {"TORCH_LOGS": "dynamo", "TORCH_LOGS_FORMAT": "%(mesage)s"}
    stock = run(LOG_TEXT, "", tmp_path, COMPLOG_TORCH="0", **settings)
    assert (stock.returncode, stock.stderr.count("--- Logging error ---")) == (0, 1)
    ours = run(LOG_TEXT, "", tmp_path, **settings)
    assert ours.returncode == 1
    assert "TORCH_LOGS_FORMAT: '%(mesage)s': unknown field 'mesage'; did you mean message?" in ours.stderr


def test_trace_id_filter_leaves_a_blank_line_or_nothing_out_in_stock_and_drops_records_with_the_bridge(
    tmp_path: Path,
) -> None:
    settings = {"TORCH_LOGS": "dynamo", "TORCH_LOGS_TRACE_ID_FILTER": "[9/9]"}
    formatted = {**settings, "TORCH_LOGS_FORMAT": "%(message)s"}
    assert run(LOG_TEXT, "", tmp_path, COMPLOG_TORCH="0", **settings).stderr == "\n"
    assert run(LOG_TEXT, "", tmp_path, COMPLOG_TORCH="0", **formatted).stderr == "text\n"
    assert run(LOG_TEXT, "", tmp_path, **settings).stderr == ""
    assert run(LOG_TEXT, "", tmp_path, **formatted).stderr == ""


LOG_BREAK = """
import logging, os, torch
os.environ["TORCH_LOGS"] = "graph_breaks"
torch._logging._init_logs()
log = torch._logging.getArtifactLogger("torch._dynamo.x", "graph_breaks")
try:
    raise ValueError("secret")
except ValueError:
    log.info("text", exc_info=True)
"""


def test_hidden_exception_is_shown_with_a_format_in_stock_and_never_with_the_bridge(tmp_path: Path) -> None:
    formatted = {"TORCH_LOGS_FORMAT": "%(message)s"}
    assert "secret" not in run(LOG_BREAK, "", tmp_path, COMPLOG_TORCH="0").stderr
    assert "secret" in run(LOG_BREAK, "", tmp_path, COMPLOG_TORCH="0", **formatted).stderr
    assert "secret" not in run(LOG_BREAK, "", tmp_path).stderr
    assert run(LOG_BREAK, "", tmp_path, **formatted).stderr == "text\n"


def test_every_row_is_tried() -> None:
    rows = re.findall(r"^\| (.*?) \|.*<!-- (.*?) -->$", read("docs/differences.md"), re.MULTILINE)
    assert sorted(check for _, check in rows) == sorted(
        [*CHECKS, "blank", "typo", "bad format", "trace id", "hidden exception"]
    )
