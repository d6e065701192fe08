"""What is said of records holds in every format: filters, fields, artifacts' own formats, hidden exceptions."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.support.stand_ins import forget_torch
from tests.support.systems import SystemFactory, make_plugin, make_system, top

import complog_distributed.plugin
import complog_dynamo.plugin
from complog_core import Artifact, Component, Field, GlogFormatter, LogSystem
from complog_core.builtins import complog_formatters
from complog_core.formats import make_formatter
from complog_core.launcher import RANK_VARIABLES
from complog_distributed.ranks import set_wanted

__all__ = ["make_system", "top"]


class Brief(logging.Formatter):
    """A plugin's formatter that knows nothing of artifacts."""


class Bound(logging.Formatter):
    """A plugin's formatter that takes what it may be given."""

    artifacts: Mapping[str, Artifact]

    def bind(self, fields: Sequence[Field], artifacts: Mapping[str, Artifact]) -> None:
        self.fields, self.artifacts = fields, artifacts

    def bind_components(self, find: Callable[[str], Sequence[str]]) -> None:
        self.find = find

    def format(self, record: logging.LogRecord) -> str:
        artifact = self.artifacts.get(record.name)
        fields = "".join(field.value(record) for field in self.fields)
        return f"{fields}|{artifact and artifact.name}|{','.join(self.find(record.name))}|{super().format(record)}"


class Shouting(GlogFormatter):
    """A plugin's formatter that is the default line with a difference."""

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace("text", "TEXT")


FORMATS = [
    None,
    "glog",
    "short",
    "basic",
    "json",
    "%(message)s",
    "%(prefix)s > %(message)s",
    "brief",
    "bound",
    "shouting",
]
HIDDEN = ValueError("secret")
ARTIFACTS = ["plain", "bare", "prefixed", "odd"]


def make_probe(make: SystemFactory, top: str, *more: object, show_exception: Any = True) -> LogSystem:
    formats = {"": None, "bare": "", "prefixed": "%(prefix)s ! %(message)s", "odd": "%(absent)s"}
    names = make_plugin(
        components=[Component("lib", [top])],
        artifacts=[
            Artifact(name, "what it shows", log_format=formats.get(name), show_exception=show_exception)
            for name in ARTIFACTS
        ],
        formatters={"brief": Brief, "bound": Bound, "shouting": Shouting},
    )
    return make(names, *more)


def log_each(system: LogSystem, top: str, fmt: str | None, monkeypatch: pytest.MonkeyPatch, **how: Any) -> list[str]:
    """Log a record of the component and one of each artifact, with all of them on; return what each printed."""
    if fmt is None:
        monkeypatch.delenv("PROBE_LOGS_FORMAT", raising=False)
    else:
        monkeypatch.setenv("PROBE_LOGS_FORMAT", fmt)
    system.set_logs(",".join(["+lib", *ARTIFACTS]))
    loggers = [logging.getLogger(f"{top}.x"), *(system.getArtifactLogger(f"{top}.x", name) for name in ARTIFACTS)]
    printed = []
    for logger in loggers:
        with contextlib.redirect_stderr(io.StringIO()) as stream:
            logger.info("text", **how)
        printed.append("\n".join(line for line in stream.getvalue().splitlines() if "complog: warning" not in line))
    return printed


@pytest.fixture
def current(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The compilation that a stand-in for torch._guards says is running, and the rank of the environment."""
    state = SimpleNamespace(trace_id=None)
    module = ModuleType("torch._guards")
    vars(module).update(CompileContext=SimpleNamespace(current_trace_id=lambda: state.trace_id))
    forget_torch(monkeypatch)
    monkeypatch.setitem(sys.modules, "torch._guards", module)
    monkeypatch.delitem(sys.modules, "torch.distributed", raising=False)
    for name in RANK_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return state


@pytest.mark.parametrize("fmt", FORMATS)
def test_trace_id_filter_drops_records_whole_in_every_format(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch, current: SimpleNamespace, fmt: str | None
) -> None:
    hooks = complog_dynamo.plugin
    plugin = make_plugin(record_fields=hooks.complog_record_fields, filters=hooks.complog_filters)
    system = make_probe(make_system, top, plugin)
    monkeypatch.setenv("TORCH_LOGS_TRACE_ID_FILTER", "[0/1], 2/0")
    kept = {}
    for current.trace_id in ("0/1", "2/0", "0/0", "10/1", None):
        kept[current.trace_id] = [bool(text) for text in log_each(system, top, fmt, monkeypatch)]
    all_of_them, none = [True] * 5, [False] * 5
    assert kept == {"0/1": all_of_them, "2/0": all_of_them, "0/0": none, "10/1": none, None: none}


@pytest.mark.parametrize("fmt", FORMATS)
def test_rank_filter_drops_records_whole_in_every_format(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch, current: SimpleNamespace, fmt: str | None
) -> None:
    hooks = complog_distributed.plugin
    plugin = make_plugin(keywords=hooks.complog_keywords, filters=hooks.complog_filters)
    system = make_probe(make_system, top, plugin)
    monkeypatch.setenv("PROBE_LOGS_RANKS", "0,3-5")
    kept = {}
    try:
        for rank in ("0", "1", "4", "30"):
            monkeypatch.setenv("RANK", rank)
            kept[rank] = set(map(bool, log_each(system, top, fmt, monkeypatch)))
    finally:
        set_wanted(None)
    assert kept == {"0": {True}, "1": {False}, "4": {True}, "30": {False}}


@pytest.mark.parametrize("shown", [True, False, lambda: False])
@pytest.mark.parametrize("fmt", FORMATS)
def test_hidden_exceptions_of_artifacts_are_hidden_in_every_format(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch, fmt: str | None, shown: Any
) -> None:
    system = make_probe(make_system, top, show_exception=shown)
    component, *artifacts = log_each(system, top, fmt, monkeypatch, exc_info=HIDDEN, stack_info=True)
    assert "secret" in component
    assert ["secret" in text for text in artifacts] == [shown is True] * 4
    assert ["Stack (most recent" in text for text in artifacts] == [True] * 4


@pytest.mark.parametrize("output", ["file", "handler"])
@pytest.mark.parametrize("fmt", ["json", "short", "%(message)s", "brief"])
def test_hidden_exceptions_are_hidden_in_every_output_that_shares_the_line(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, fmt: str, output: str
) -> None:
    texts: list[str] = []

    class Shelf(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            texts.append(self.format(record))

    if output == "file":
        monkeypatch.setenv("PROBE_LOGS_OUT", str(tmp_path / "out"))
    more = [make_plugin(handlers=lambda outputs: [Shelf()])] if output == "handler" else []
    system = make_probe(make_system, top, *more, show_exception=False)
    printed = log_each(system, top, fmt, monkeypatch, exc_info=HIDDEN)
    if output == "file":
        texts = (tmp_path / "out").read_text().splitlines()
    assert ["secret" in text for text in printed] == [True, False, False, False, False]
    assert "\n".join(texts).count("secret") == printed[0].count("secret") > 0


@pytest.mark.parametrize("fmt", [None, "glog", "shouting"])
def test_artifacts_own_format_replaces_the_default_line(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch, fmt: str | None
) -> None:
    _, plain, bare, prefixed, odd = log_each(make_probe(make_system, top), top, fmt, monkeypatch)
    text = "TEXT" if fmt == "shouting" else "text"
    assert plain.endswith(f"] [__plain] {text}")
    assert bare == text
    assert prefixed.endswith(f"] [__prefixed] ! {text}")
    assert odd.endswith(f"] [__odd] {text}")


@pytest.mark.parametrize(
    ("fmt", "texts"),
    [
        ("short", ["INFO:{logger}:text"]),
        ("basic", ["INFO:{logger}:text"]),
        ("%(levelname)s %(message)s", ["INFO text"]),
        ("brief", ["text"]),
    ],
)
def test_format_that_the_user_chose_replaces_the_artifacts_own(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch, fmt: str, texts: list[str]
) -> None:
    printed = log_each(make_probe(make_system, top), top, fmt, monkeypatch)
    loggers = [f"{top}.x", *(f"{top}.x.__{name}" for name in ARTIFACTS)]
    assert printed == [texts[0].format(logger=logger) for logger in loggers]


def test_json_has_the_bare_message_the_artifact_and_the_component_of_each(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [json.loads(text) for text in log_each(make_probe(make_system, top), top, "json", monkeypatch)]
    assert [line["message"] for line in lines] == ["text"] * 5
    assert [line.get("artifact") for line in lines] == [None, *ARTIFACTS]
    assert [line["component"] for line in lines] == ["lib"] * 5


def test_prefix_stands_once_per_record_where_the_format_has_it(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROBE_LOGS_FORMAT", "%(prefix)s > %(message)s")
    system = make_probe(make_system, top)
    system.set_logs("+lib")
    with contextlib.redirect_stderr(io.StringIO()) as stream:
        logging.getLogger(f"{top}.x").info("one\ntwo")
    first, second = stream.getvalue().splitlines()
    assert first.endswith("] > one")
    assert second == "two"


def test_formatter_with_bind_is_given_fields_artifacts_and_components(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = make_plugin(record_fields=[Field("job", "head", lambda _: "[job7]")])
    printed = log_each(make_probe(make_system, top, plugin), top, "bound", monkeypatch)
    assert printed == [f"[job7]|{name}|lib|text" for name in (None, *ARTIFACTS)]


def test_components_that_are_registered_later_are_found(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    system = make_probe(make_system, top)
    log_each(system, top, "json", monkeypatch)
    system.register_log("later", f"{top}.x")
    logging.getLogger(f"{top}.x.y").info("text")
    assert json.loads(capsys.readouterr().err.splitlines()[-1])["component"] == "later"


@pytest.mark.parametrize("spelling", ["{}", "%({})s", "  %({})s "])
@pytest.mark.parametrize("name", ["glog", "short", "basic", "json"])
def test_registered_name_may_be_written_as_a_field(name: str, spelling: str) -> None:
    factories = complog_formatters()
    plain = make_formatter(name, factories, (), {}, variable="TORCH_LOGS_FORMAT")
    record = logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None)
    made = make_formatter(spelling.format(name), factories, (), {}, variable="TORCH_LOGS_FORMAT")
    assert made.format(record) == plain.format(record)
