"""The default line, and artifacts' own formats."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from complog_core import report
from complog_core.formatters import GlogFormatter, relative_path
from complog_core.model import Artifact, Field


@pytest.fixture(autouse=True)
def _fresh_warnings() -> Iterator[None]:
    report.forget_warnings()
    yield
    report.forget_warnings()


def make_record(msg: object = "text", *args: object, name: str = "a.b", level: int = 20, **more: Any) -> Any:
    record = logging.LogRecord(name, level, more.pop("pathname", "/nowhere/x.py"), 7, msg, args, None)
    record.__dict__.update({"created": 1_700_000_000.0, "msecs": 774.0, "process": 4408}, **more)
    return record


def caught(error: BaseException) -> Any:
    try:
        raise error
    except BaseException:
        return sys.exc_info()


def glog(artifacts: dict[str, Artifact] | None = None, *fields: Field) -> GlogFormatter:
    formatter = GlogFormatter()
    formatter.bind(fields, {} if artifacts is None else artifacts)
    return formatter


def test_line_has_letter_time_microseconds_process_place() -> None:
    date = GlogFormatter().formatTime(make_record(), "%m%d %H:%M:%S")
    assert glog().format(make_record("hello %s", "you")) == f"I{date}.774000 4408 /nowhere/x.py:7] hello you"


@pytest.mark.parametrize(("level", "letter"), [(10, "V"), (20, "I"), (30, "W"), (40, "E"), (50, "C"), (15, "Level 15")])
def test_letters_of_levels(level: int, letter: str) -> None:
    assert (
        glog().format(make_record(level=level)).startswith(letter + GlogFormatter().formatTime(make_record(), "%m%d"))
    )


def test_every_line_of_message_exception_and_stack_is_prefixed() -> None:
    record = make_record("one\ntwo", exc_info=caught(ValueError("three\nfour")), stack_info="Stack:\n  frame")
    formatter = glog()
    lines = formatter.format(record).split("\n")
    assert all(line.startswith(formatter.prefix(record) + " ") for line in lines)
    assert [line.split("] ", 1)[1] for line in lines][-4:] == ["ValueError: three", "four", "Stack:", "  frame"]


def test_only_newlines_divide_lines() -> None:
    assert glog().format(make_record("a\rb\x0bc\x0cd\u2028e\x85f")).count("] ") == 1


def test_heads_and_tails_stand_where_they_belong() -> None:
    fields = (Field("id", "tail", lambda _: " [0/0]"), Field("rank", "head", lambda _: "[rank0]:"))
    line = glog({"a.b": Artifact("guards")}, *fields).format(make_record())
    assert line.startswith("[rank0]:I")
    assert line.endswith("x.py:7] [0/0] [__guards] text")


def test_raising_field_is_left_out_and_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    formatter = glog(None, Field("broken", "head", lambda _: str(1 // 0)), Field("none", "tail", lambda _: None))
    assert formatter.format(make_record()) == formatter.format(make_record()) == glog().format(make_record())
    assert capsys.readouterr().err.count("'broken'") == 1


def test_unregistered_logger_with_artifact_name_is_marked_and_foreign_names_create_no_logger() -> None:
    logger: Any = logging.getLogger("formatters_test.__loose")
    logger.artifact_name = "loose"
    assert glog().format(make_record(name=logger.name)).endswith("] [__loose] text")
    glog().format(make_record(name="formatters_test.never.made"))
    assert "formatters_test.never.made" not in logging.Logger.manager.loggerDict


def test_artifacts_are_looked_up_live() -> None:
    artifacts: dict[str, Artifact] = {}
    formatter = glog(artifacts)
    assert "[__" not in formatter.format(make_record())
    artifacts["a.b"] = Artifact("late")
    assert " [__late] " in formatter.format(make_record())
    artifacts["a.b"] = Artifact("late", log_format="%(levelname)s|%(message)s")
    assert formatter.format(make_record()) == "INFO|text"


def test_empty_artifact_format_is_the_bare_message() -> None:
    formatter = glog({"a.b": Artifact("bare", log_format="")})
    assert formatter.format(make_record("x\ny", exc_info=caught(KeyError(1)))).startswith("x\ny\nTraceback ")


def test_artifact_format_may_use_the_prefix() -> None:
    formatter = glog({"a.b": Artifact("p", log_format="%(prefix)s|%(message)s")})
    record = make_record()
    assert formatter.format(record) == f"{formatter.prefix(record)}|text"
    assert not hasattr(record, "prefix")


@pytest.mark.parametrize("fmt", ["no field", "%(absent)s", "%(message)d", "{message}"])
def test_unusable_artifact_format_falls_back_with_one_warning(fmt: str, capsys: pytest.CaptureFixture[str]) -> None:
    formatter = glog({"a.b": Artifact("odd", log_format=fmt)})
    plain = glog({"a.b": Artifact("odd")}).format(make_record())
    assert [formatter.format(make_record()), formatter.format(make_record())] == [plain, plain]
    assert capsys.readouterr().err.count("warning") == 1


@pytest.mark.parametrize("shown", [False, lambda: False])
def test_hidden_exception_leaves_the_line_and_stays_in_the_record(shown: bool | Callable[[], bool]) -> None:
    record = make_record(exc_info=caught(ValueError("secret")))
    assert "secret" not in glog({"a.b": Artifact("quiet", show_exception=shown)}).format(record)
    assert "secret" in logging.Formatter().format(record)
    assert "secret" not in glog({"a.b": Artifact("quiet", show_exception=shown)}).format(record)
    assert "secret" in glog({"a.b": Artifact("loud", show_exception=lambda: 1 / 0 > 0)}).format(record)


def test_subclass_keeps_its_own_rendering_of_exceptions_to_itself() -> None:
    class Coloured(GlogFormatter):
        def formatException(self, ei: Any) -> str:
            return "coloured"

    record = make_record(exc_info=caught(ValueError("plain")))
    assert Coloured().format(record).endswith("] coloured")
    assert logging.Formatter().format(record).endswith("ValueError: plain")


def test_logging_an_exception_imports_nothing_beyond_the_standard_library() -> None:
    script = (
        "import logging, sys; from complog_core.formatters import GlogFormatter as G\n"
        "try: 1/0\nexcept ZeroDivisionError: e = sys.exc_info()\n"
        "before = set(sys.modules); G().format(logging.LogRecord('torch', 40, __file__, 1, 'm', (), e))\n"
        "print({m.split('.')[0] for m in set(sys.modules) - before} - sys.stdlib_module_names)"
    )
    command = [sys.executable, "-c", script.replace("__file__", "'x.py'")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "set()\n"


def test_path_follows_a_changed_sys_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(tmp_path / "sub" / "x.py")
    assert relative_path(file) == file
    monkeypatch.setattr(sys, "path", [b"bytes", "", None, "relative", str(tmp_path) + "/", str(tmp_path / "sub")])
    assert relative_path(file) == os.path.join("sub", "x.py")
    sys.path.insert(0, str(tmp_path / "sub"))
    assert relative_path(file) == "x.py"


def test_path_is_resolved_and_odd_ones_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "real")])
    assert relative_path(str(tmp_path / "link" / ".." / "real" / "x.py")) == "x.py"
    assert relative_path("nul\0character") == "nul\0character"
    for number in range(3000):
        assert relative_path(f"/nowhere/{number}.py") == f"/nowhere/{number}.py"


COMPARE = """
import itertools, logging, os, sys
import torch._logging._internal as stock
from complog_core.formatters import GlogFormatter
from complog_core.model import Artifact
artifacts = {}
for name, fmt in (("guards", None), ("bare", ""), ("custom", "[%(levelname)s] %(message)s")):
    stock.log_registry.register_artifact_name("t_" + name, "", False, False, fmt)
    logger = logging.getLogger("torch._t.__" + name)
    logger.artifact_name = "t_" + name
    artifacts[logger.name] = Artifact("t_" + name, log_format=fmt)
theirs, ours = stock.TorchLogsFormatter(), GlogFormatter()
ours.bind((), artifacts)
try:
    raise ValueError("bad\\nline") from KeyError(1)
except ValueError:
    error = sys.exc_info()
texts = ["", "\\n", "a\\nb\\n", "a\\r\\nb\\x0bc\\u2028d", "\\u00e9\\ud800", "100%"]
paths = [logging.__file__, stock.__file__, "rel.py", "", "<string>", "/", os.getcwd() + "//./x/../y.py"]
stacks, errors = [None, "Stack:\\n  x"], [None, error, (None, None, None)]
count = 0
for name, level, path, text, e, stack in itertools.product(
    ["torch", "a.b", *artifacts], [10, 15, 50], paths, texts, errors, stacks
):
    records = [logging.LogRecord(name, level, path, 3, text, (), e, None, stack) for _ in "ab"]
    records[1].__dict__.update(created=records[0].created, msecs=records[0].msecs)
    assert theirs.format(records[0]) == ours.format(records[1]), (name, level, path, text, e, stack)
    count += 1
print(count)
"""


@pytest.mark.torch
def test_lines_are_those_of_stock_torch() -> None:
    environment = os.environ | {"COMPLOG_TORCH": "0", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    done = subprocess.run([sys.executable, "-c", COMPARE], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("3780\n", 0), done.stderr
