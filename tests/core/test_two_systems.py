"""Several systems in one process leave each other alone."""

from __future__ import annotations

import gc
import logging
from pathlib import Path

import pytest
from tests.support.fake_distributions import make_distribution, run_python
from tests.support.systems import SystemFactory, make_names, make_plugin

from complog_core import Component, LogSystem, OwnershipError


def test_settings_of_one_system_do_not_reach_the_other(
    make_system: SystemFactory, top: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = make_system(make_names(top), prefix="ONE")
    two = make_system(make_names(f"{top}b"), prefix="TWO")
    one.set_logs(tiler=10)
    two.set_logs(tiler=40)
    logging.getLogger(f"{top}.tiler").debug("from one")
    logging.getLogger(f"{top}b.tiler").debug("from two")
    two.close()
    logging.getLogger(f"{top}.tiler").debug("still")
    error = capsys.readouterr().err
    assert (error.count("from one"), error.count("from two"), error.count("still")) == (1, 0, 1)


def test_second_registration_of_a_logger_is_an_ownership_error(make_system: SystemFactory, top: str) -> None:
    make_system(make_names(top), prefix="ONE").current_state()
    two = make_system(make_names(top), prefix="TWO")
    with pytest.raises(OwnershipError, match="ONE"):
        two.current_state()
    three = make_system(prefix="THREE")
    with pytest.raises(OwnershipError, match=f"{top}.tiler"):
        three.register_log("mine", f"{top}.tiler")
    three.register_log("mine", f"{top}.mine")
    assert "mine" in three.registry.names()


def test_logger_is_free_again_after_its_system_is_closed_or_gone(make_system: SystemFactory, top: str) -> None:
    one = make_system(make_names(top), prefix="ONE")
    one.current_state()
    one.close()
    LogSystem("TEMPORARY", plugins=[make_names(top)]).current_state()
    gc.collect()
    make_system(make_names(top), prefix="TWO").current_state()


def test_module_of_another_system_is_not_set(make_system: SystemFactory, top: str) -> None:
    make_system(make_names(top), prefix="ONE").current_state()
    two = make_system(prefix="TWO")
    with pytest.raises(ValueError, match="ONE_LOGS"):
        two.set_logs(modules={f"{top}.tiler": 10})


def test_torch_exists_only_in_the_default_system_and_all_in_each(make_system: SystemFactory, top: str) -> None:
    system = make_system(make_plugin(components=[Component("mine", [top])]))
    with pytest.raises(ValueError, match="unknown"):
        system.set_logs("nothing_called_torch_here")
    assert "torch" not in system.registry.names()
    system.set_logs(all=10)
    assert system.current_state().levels == {top: 10}


@pytest.mark.parametrize("prefix", ["", "1A", "A B", "A-B", None])
def test_prefix_must_begin_a_variable(prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        LogSystem(prefix)


LIBRARY = {
    "mylib": """
        import complog_core
        from mylib import names
        system = complog_core.LogSystem("MYLIB", plugins=[names])
    """,
    "mylib.names": """
        from complog_core import Artifact, Component, hookimpl
        @hookimpl
        def complog_components():
            return [Component("mylib", ["mylib"])]
        @hookimpl
        def complog_artifacts():
            return [Artifact("plan", off_by_default=True)]
    """,
}

PROGRAM = """
    import logging, sys
    import mylib
    assert "complog" not in sys.modules
    before = set(logging.root.manager.loggerDict)
    log = logging.getLogger("mylib.core")
    plan = mylib.system.getArtifactLogger("mylib.core", "plan")
    log.debug("debug line"); plan.debug("plan line")
    print(log.getEffectiveLevel(), log.parent.handlers, logging.getLogger("mylib").propagate)
"""


@pytest.mark.parametrize("value", ["+mylib", "+nonsense", "help", '"', "+torch,all"])
def test_embedded_system_is_blind_to_torch_logs(tmp_path: Path, value: str) -> None:
    path = make_distribution(tmp_path, "mylib", modules=LIBRARY)
    run = run_python(PROGRAM, paths=[path], env={"TORCH_LOGS": value})
    assert (run.returncode, run.stdout, run.stderr) == (0, "30 [] True\n", "")


def test_embedded_system_follows_its_own_variable(tmp_path: Path) -> None:
    path = make_distribution(tmp_path, "mylib", modules=LIBRARY)
    run = run_python(PROGRAM, paths=[path], env={"MYLIB_LOGS": "+mylib,plan"})
    assert run.returncode == 0, run.stderr
    debug, plan = run.stderr.splitlines()
    assert debug.startswith("V")
    assert debug.endswith("] debug line")
    assert plan.endswith("] [__plan] plan line")


def test_system_with_a_group_finds_its_entry_points(tmp_path: Path) -> None:
    path = make_distribution(
        tmp_path,
        "helion-passes",
        entry_points={"helion.complog": {"passes": "helion_passes"}, "complog": {"wrong": "helion_passes"}},
        modules={
            "helion_passes": """
                from complog_core import Component, hookimpl
                @hookimpl
                def complog_components():
                    return [Component("passes", ["helion.passes"])]
            """
        },
    )
    code = """
        from complog_core import LogSystem
        system = LogSystem(prefix="HELION", group="helion.complog")
        print(system.registry.names(), [str(plugin) for plugin in system.list_plugins()][1:])
        print(system.current_state().level("helion.passes"))
    """
    run = run_python(code, paths=[path], env={"HELION_LOGS": "+passes"})
    assert run.stdout == "('passes',) ['helion-passes[passes] 1.0']\n10\n", run.stderr
