"""What handlers of plugins are told about records: artifact, components, fields, by the configuration of the moment."""

from __future__ import annotations

import logging
from typing import Any, NoReturn

import pytest
from tests.support.systems import SystemFactory, make_names, make_plugin

from complog_core import Component, Field, RecordDescriber


class Shelf(logging.Handler):
    """Keeps what the describer says about each record."""

    def __init__(self) -> None:
        super().__init__()
        self.describer: RecordDescriber | None = None
        self.said: list[tuple[str | None, tuple[str, ...], dict[str, str]]] = []

    def emit(self, record: logging.LogRecord) -> None:
        assert self.describer is not None
        described = self.describer
        self.said.append((described.artifact(record), described.components(record), described.fields(record)))


def make_shelf(make_system: SystemFactory, *plugins: Any) -> tuple[Any, Shelf]:
    shelf = Shelf()

    def take(describer: RecordDescriber) -> list[logging.Handler]:
        shelf.describer = describer
        return [shelf]

    return make_system(*plugins, make_plugin(handlers=take)), shelf


def test_handler_is_told_artifact_components_and_fields(make_system: SystemFactory, top: str) -> None:
    fields = [Field("rank", "head", lambda record: "[rank3]:"), Field("step", "tail", lambda record: "  ")]
    system, shelf = make_shelf(make_system, make_names(top), make_plugin(record_fields=fields))
    with system.logs("+lib, +tiler, tiles"):
        logging.getLogger(f"{top}.tiler.loops").info("a")
        logging.getLogger(f"{top}.shared").info("b")
        system.getArtifactLogger(f"{top}.other", "tiles").debug("c")
    assert shelf.said == [
        (None, ("tiler",), {"rank": "[rank3]:"}),
        (None, ("fuser", "tiler"), {"rank": "[rank3]:"}),
        ("tiles", ("lib",), {"rank": "[rank3]:"}),
    ]


def test_record_outside_of_every_component_has_none(make_system: SystemFactory, top: str) -> None:
    system, shelf = make_shelf(make_system)
    logger = logging.getLogger(top)
    with system.logs(modules={top: "INFO"}):
        logger.info("a")
    assert shelf.said == [(None, (), {})]


def test_component_that_is_registered_later_is_told(make_system: SystemFactory, top: str) -> None:
    system, shelf = make_shelf(make_system, make_names(top))
    system.set_logs("+lib")
    system.register_log("late", f"{top}.late")
    logging.getLogger(f"{top}.late").info("a")
    assert shelf.said == [(None, ("late",), {})]


def test_prefix_tells_the_system(make_system: SystemFactory, top: str) -> None:
    system, shelf = make_shelf(make_system, make_plugin(components=[Component("lib", [top])]))
    system.set_logs("lib")
    assert shelf.describer is not None
    assert shelf.describer.prefix == "PROBE"


def test_field_that_raises_is_left_out_with_one_warning(
    make_system: SystemFactory, top: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(record: logging.LogRecord) -> NoReturn:
        raise RuntimeError("boom")

    fields = [Field("broken", "head", fail), Field("whole", "tail", lambda record: " [1]")]
    system, shelf = make_shelf(make_system, make_names(top), make_plugin(record_fields=fields))
    with system.logs("lib"):
        logging.getLogger(top).info("a")
    assert shelf.said == [(None, ("lib",), {"whole": "[1]"})]
    assert capsys.readouterr().err.count("boom") == 1
