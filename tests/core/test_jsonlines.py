"""The format `json`: whatever a record carries, one line that every parser reads, with names of the common schema."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.test_jsonvalues import PAYLOADS, STRANGE
from tests.support.fake_distributions import run_python

from complog_core.builtins import complog_formatters
from complog_core.formats import make_formatter
from complog_core.jsonlines import ECS_VERSION
from complog_core.launcher import host_name
from complog_core.model import Artifact, Field

FIELDS = (Field("rank", "head", lambda _: "[rank0]:"), Field("none", "tail", lambda _: ""))
ARTIFACTS = {"a.b": Artifact("guards", log_format="")}


def find_components(logger_name: str) -> tuple[str, ...]:
    return {"a.b": ("dynamo",), "c.d": ("ddp", "distributed")}.get(logger_name, ())


def make_record(msg: object = "text", **attributes: Any) -> logging.LogRecord:
    record = logging.LogRecord("a.b", logging.WARNING, "/x/y.py", 3, msg, (), None, "work")
    record.__dict__.update(attributes)
    return record


def write(record: logging.LogRecord, fields: tuple[Field, ...] = FIELDS) -> str:
    formatter = make_formatter(
        "json", complog_formatters(), fields, ARTIFACTS, variable="V", find_components=find_components
    )
    return formatter.format(record)


def render(msg: object = "text", **attributes: Any) -> dict[str, Any]:
    text = write(make_record(msg, **attributes))
    assert len(text.splitlines()) == 1
    assert text.isascii()
    decoded: dict[str, Any] = json.loads(text, parse_constant=pytest.fail, object_pairs_hook=refuse_repeats)
    return decoded


def refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({name for name, _ in pairs}) == len(pairs), pairs
    return dict(pairs)


def caught(work: Callable[[], object]) -> Any:
    try:
        work()
    except BaseException:
        return sys.exc_info()
    raise AssertionError("nothing was raised")


def raising(error: BaseException, cause: BaseException | None = None) -> Callable[[], object]:
    def work() -> object:
        raise error from cause

    return work


def test_standard_fields_have_their_common_names() -> None:
    fields = render("é\nline", created=1_700_000_000.25)
    assert fields.pop("process.pid")
    assert fields == {
        "@timestamp": "2023-11-14T22:13:20.250000Z",
        "log.level": "warning",
        "log.logger": "a.b",
        "message": "é\nline",
        "artifact": "guards",
        "component": "dynamo",
        "process.thread.name": threading.current_thread().name,
        "host.name": host_name(),
        "log.origin.file.name": "y.py",
        "log.origin.file.line": 3,
        "log.origin.function": "work",
        "labels.rank": "rank0",
        "ecs.version": ECS_VERSION,
    }


def test_what_a_record_does_not_have_is_left_out() -> None:
    fields = render(name="elsewhere", process=None, threadName=None, funcName=None)
    assert not {"artifact", "component", "process.pid", "process.thread.name", "log.origin.function"} & set(fields)


def test_logger_of_several_components_has_all_their_names() -> None:
    assert render(name="c.d")["component"] == "ddp,distributed"


def test_raising_field_is_left_out() -> None:
    fields = (Field("broken", "head", lambda _: str(1 // 0)), *FIELDS)
    decoded = json.loads(write(make_record(), fields))
    assert decoded["labels.rank"] == "rank0"
    assert "labels.broken" not in decoded


def test_message_that_is_a_dict_is_a_text_as_in_every_format() -> None:
    fields = render({"message": 1, "log.level": 2})
    assert fields["message"] == "{'message': 1, 'log.level': 2}"
    assert fields["log.level"] == "warning"


class Unshowable(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)


@pytest.mark.parametrize(
    ("error", "message", "trace"),
    [
        (ValueError("a\nb"), "a\nb", "ValueError: a\nb"),
        (Unshowable(), "<Unshowable", "Unshowable"),
        (KeyboardInterrupt(), "", "KeyboardInterrupt"),
    ],
)
def test_exception_has_type_message_and_trace(error: BaseException, message: str, trace: str) -> None:
    info = (type(error), error, None) if isinstance(error, Unshowable) else caught(raising(error))
    fields = render(exc_info=info)
    assert fields["error.type"] == type(error).__qualname__
    assert fields["error.message"].startswith(message)
    assert trace in fields["error.stack_trace"]


def test_trace_has_the_whole_chain() -> None:
    fields = render(exc_info=caught(raising(ValueError("outer"), KeyError("inner"))))
    assert (fields["error.type"], fields["error.message"]) == ("ValueError", "outer")
    assert "KeyError: 'inner'" in fields["error.stack_trace"]
    assert "direct cause" in fields["error.stack_trace"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups came with Python 3.11")
def test_trace_has_every_exception_of_a_group() -> None:
    group = BaseExceptionGroup("many", [ValueError("one"), BaseExceptionGroup("more", [KeyboardInterrupt("two")])])  # noqa: F821 - new in 3.11
    fields = render(exc_info=caught(raising(group)))
    assert fields["error.type"] == "BaseExceptionGroup"
    assert "ValueError: one" in fields["error.stack_trace"]
    assert "KeyboardInterrupt: two" in fields["error.stack_trace"]


def test_stack_is_a_field_of_its_own() -> None:
    fields = render(stack_info="Stack:\n  here", exc_info=caught(raising(ValueError("x"))))
    assert fields["log.origin.stack_trace"] == "Stack:\n  here"
    assert "here" not in fields["error.stack_trace"]


@pytest.mark.parametrize("info", [None, (None, None, None), ()])
def test_no_exception_gives_no_error(info: Any) -> None:
    assert not [name for name in render(exc_info=info) if name.startswith("error.")]


@pytest.mark.parametrize("info", [True, 3, ("x", "y", "z"), ValueError("x"), (ValueError,)])
def test_what_is_no_exception_still_gives_a_line(info: Any) -> None:
    assert render(exc_info=info)["message"] == "text"


def test_trace_that_was_kept_from_elsewhere_is_shown() -> None:
    assert render(exc_text="Traceback: from another process")["error.stack_trace"].endswith("another process")


@pytest.mark.parametrize("shown", [False, lambda: False])
def test_hidden_exception_is_in_no_field_and_stays_in_the_record(shown: Any) -> None:
    record = make_record(exc_info=caught(raising(ValueError("secret"))), exc_text="secret")
    artifacts = {"a.b": Artifact("quiet", show_exception=shown)}
    text = make_formatter("json", complog_formatters(), (), artifacts, variable="V").format(record)
    assert "secret" not in text
    assert "error." not in text
    assert "secret" in logging.Formatter().format(record)


@pytest.mark.parametrize("created", [float("nan"), float("inf"), 1e300, -1e300, "now", None])
def test_impossible_time_still_gives_a_line_with_a_time(created: Any) -> None:
    assert render(created=created)["@timestamp"].endswith("Z")


@pytest.mark.parametrize(("name", "value"), STRANGE, ids=[name for name, _ in STRANGE])
def test_strange_extra_gives_a_line(name: str, value: object) -> None:
    assert "extra_value" in render(extra_value=value)


CLASHES = [
    "artifact",
    "component",
    "log.level",
    "labels.rank",
    "ecs.version",
    "host.name",
    # a database makes objects of these, or of what is above them
    "log",
    "log.origin",
    "error",
    "labels",
    "message.size",
    "log.level.old.name",
    "extra",
]


@pytest.mark.parametrize("name", CLASHES)
def test_extra_neither_replaces_a_field_nor_vanishes(name: str) -> None:
    usual = render(created=1.0)
    fields = render(created=1.0, **{name: "mine"})
    assert fields.pop(f"extra.{name}") == "mine"
    assert fields == usual


def test_extras_that_look_like_moved_ones_are_there_too() -> None:
    fields = render(**{"extra.artifact": 1, "artifact": 2, "extra.extra.artifact": 3})
    assert sorted(value for name, value in fields.items() if name.endswith(".artifact")) == [1, 2, 3]


def test_extras_under_names_of_the_schema_stay_there() -> None:
    fields = render(**{"event.duration": 3, "error.code": "E1", "_private": 1})
    assert (fields["event.duration"], fields["error.code"], fields["_private"]) == (3, "E1", 1)


class OddName(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError


def test_extras_under_odd_names_are_there() -> None:
    record = make_record()
    record.__dict__.update({1: "int", None: "none", OddName("odd"): "odd", "lone \ud800": "lone", "": "nothing"})
    fields = json.loads(write(record))
    assert (fields["1"], fields["None"], fields["lone \\ud800"], fields[""]) == ("int", "none", "lone", "nothing")
    assert "odd" in fields.values()


@given(PAYLOADS, st.text(st.characters()), st.text(st.characters(), min_size=1))
def test_any_payload_gives_valid_json(payload: object, message: str, name: str) -> None:
    fields = render(message, **{f"x{name}": payload})
    assert fields["message"] == message.encode("utf-8", "backslashreplace").decode()


def test_lines_are_read_by_another_parser() -> None:
    lines = [write(make_record(f"{name} \0\x1b\x7f\u2028\ud800", extra_value=value)) for name, value in STRANGE]
    lines.append(write(make_record(exc_info=caught(raising(ValueError("\x00"))))))
    messages = [json.loads(line)["message"] for line in lines]
    jq = shutil.which("jq")
    if jq is not None:  # where it is not installed, Python's own strict parser has read them above
        done = subprocess.run(
            [jq, "-c", "[.message, .extra_value] | length"],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr, done.stdout.split()) == (0, "", ["2"] * len(messages))


def test_library_is_imported_only_where_the_format_is_chosen() -> None:
    code = """
        import sys, complog
        complog.set_logs(all="DEBUG")
        print("pythonjsonlogger" in sys.modules)
    """
    for fmt in (None, "glog", "short", "%(message)s"):
        env = {} if fmt is None else {"TORCH_LOGS_FORMAT": fmt}
        assert run_python(code, env=env).stdout == "False\n", fmt
    assert run_python(code, env={"TORCH_LOGS_FORMAT": "json"}).stdout == "True\n"


def test_missing_library_is_one_warning_and_the_default_line() -> None:
    result = run_python(
        """
        import logging, sys
        sys.modules["pythonjsonlogger"] = None
        import complog
        complog.set_logs(torch="INFO")
        for _ in range(2):
            logging.getLogger("torch.x").info("text")
        """,
        env={"TORCH_LOGS_FORMAT": "json"},
    )
    warning, *lines = result.stderr.splitlines()
    assert warning.startswith("complog: warning: complog[")
    assert "'json'" in warning
    assert "pythonjsonlogger" in warning
    assert [line.endswith("] text") for line in lines] == [True, True]
