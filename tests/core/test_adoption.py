"""What a host framework has registered is adopted, whatever other threads load meanwhile."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from tests.support.systems import SystemFactory, make_names

from complog_core import Component, PluginInfo, assembler
from complog_core.assembly import Adoption


def test_adopted_names_survive_a_thread_that_was_loading(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = make_system(make_names(top))
    has_begun, may_go_on = threading.Event(), threading.Event()
    assemble = assembler.assemble

    def assemble_and_wait(*arguments: Any) -> Any:
        made = assemble(*arguments)
        if threading.current_thread() is slow and not has_begun.is_set():
            has_begun.set()
            may_go_on.wait(60)
        return made

    slow = threading.Thread(target=system.load)
    monkeypatch.setattr(assembler, "assemble", assemble_and_wait)
    slow.start()
    has_begun.wait(60)
    load = system.load

    def load_when_the_other_has() -> Any:
        may_go_on.set()
        slow.join()
        return load()

    monkeypatch.setattr(system, "load", load_when_the_other_has)
    system.adoption = Adoption(PluginInfo("host"), (Component("adopted", [f"{top}.adopted"]),))
    system.reassemble()
    assert system.known.lookup("adopted")
    may_go_on.set()
    slow.join()
    assert system.known.lookup("adopted")


def test_adopted_names_are_there_though_another_thread_has_loaded_since(
    make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = make_system(make_names(top))
    load = system._load

    def load_after_another(obtain: Any) -> Any:
        monkeypatch.undo()
        other = threading.Thread(target=system.load)
        other.start()
        other.join()
        system.adoption = adoption
        return load(obtain)

    adoption = Adoption(PluginInfo("host"), (Component("adopted", [f"{top}.adopted"]),))
    monkeypatch.setattr(system, "_load", load_after_another)
    system.reassemble()
    assert system.known.lookup("adopted")
    assert system.known.lookup("tiler")


def test_adopting_assembles_once(make_system: SystemFactory, top: str, monkeypatch: pytest.MonkeyPatch) -> None:
    system = make_system(make_names(top))
    made: list[object] = []
    assemble = assembler.assemble
    monkeypatch.setattr(assembler, "assemble", lambda *given: made.append(given) or assemble(*given))
    system.adoption = Adoption(PluginInfo("host"), (Component("adopted", [f"{top}.adopted"]),))
    system.reassemble()
    assert len(made) == 1
    assert system.known.lookup("adopted")
