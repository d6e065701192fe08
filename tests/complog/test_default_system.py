"""The default system: assembled and configured by the import, in real interpreters."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from tests.support.backend_names import BACKEND_NAMES
from tests.support.fake_distributions import make_distribution, run_python


@pytest.fixture
def backend(tmp_path: Path) -> Path:
    return make_distribution(
        tmp_path,
        "backend",
        "3.2",
        entry_points={"complog": {"backend": "backend_names"}},
        modules={"backend_names": BACKEND_NAMES},
    )


def test_import_applies_the_environment(backend: Path) -> None:
    code = """
        import logging, complog
        complog.getArtifactLogger("backend.x", "tiles").debug("tile line")
        logging.getLogger("backend.x").debug("debug line")
    """
    run = run_python(code, paths=[backend], env={"TORCH_LOGS": "+backend, tiles"})
    assert run.returncode == 0
    assert [line.partition("] ")[2] for line in run.stderr.splitlines()] == ["[__tiles] tile line", "debug line"]


def test_bad_settings_are_raised_as_the_last_act_and_a_later_import_succeeds_with_nothing_set(backend: Path) -> None:
    code = """
        try:
            import complog
        except ValueError as error:
            first = error
        import complog
        assert isinstance(first, complog.SettingsError), type(first)
        assert len(first.problems) == 2, first.problems
        assert not complog.current_state().levels
        complog.getArtifactLogger("backend", "tiles")
        print(str(first))
    """
    run = run_python(code, paths=[backend], env={"TORCH_LOGS": "+backend,tilse,+x:INFO"})
    assert run.returncode == 0, run.stderr
    assert "tiles" in run.stdout
    assert run.stderr == ""


def test_help_names_every_distribution(backend: Path) -> None:
    code = """
        try:
            import complog
        except ValueError as page:
            print(page)
    """
    run = run_python(code, paths=[backend], env={"TORCH_LOGS": "+help"})
    lines = run.stdout.splitlines()
    assert any("tiles" in line and "backend" in line for line in lines)
    assert any(line.split()[:1] == ["torch"] and "complog" in line for line in lines), run.stdout


def test_family_name_says_which_distribution_to_install(backend: Path) -> None:
    for name, provider in {
        "output_code": "complog-inductor",
        "+guards": "complog-dynamo",
        "ddp": "complog-distributed",
    }.items():
        run = run_python("import complog", paths=[backend], env={"TORCH_LOGS": name})
        assert run.returncode == 1
        assert f"pip install {provider}" in run.stderr.splitlines()[-1]


def test_removing_a_distribution_changes_names_help_signature_and_nothing_else(backend: Path) -> None:
    code = """
        import complog, inspect
        names = complog.default_system.registry.names()
        print("tiles" in names, "tiles" in inspect.signature(complog.set_logs).parameters,
              "tiles" in complog.set_logs.__doc__, "tiles" in complog.help_message(True), "torch" in names)
    """
    assert run_python(code, paths=[backend]).stdout == "True True True True True\n"
    assert run_python(code).stdout == "False False False False True\n"


@pytest.mark.parametrize(
    "variables",
    [{"COMPLOG_PLUGINS": ""}, {"COMPLOG_DISABLE_PLUGINS": "backend"}, {"COMPLOG_DISABLE_PLUGINS": "*"}],
)
def test_names_of_a_disabled_plugin_wait_with_a_warning(backend: Path, variables: dict[str, str]) -> None:
    code = """
        import complog
        log = complog.getArtifactLogger("backend.x", "tiles")
        log.debug("not yet")
        complog.register_artifact("tiles", off_by_default=True)
        log.debug("now")
    """
    run = run_python(code, paths=[backend], env={"TORCH_LOGS": "tiles", **variables})
    assert run.returncode == 0, run.stderr
    warning, now = run.stderr.splitlines()
    assert "'tiles'" in warning
    assert "backend[backend] 3.2 is disabled" in warning
    assert now.endswith("] [__tiles] now")


def test_name_that_nobody_registers_is_reported_at_exit(backend: Path) -> None:
    run = run_python("import complog", paths=[backend], env={"TORCH_LOGS": "+tilse", "COMPLOG_LENIENT": "1"})
    assert run.returncode == 0
    assert "waits" in run.stderr.splitlines()[0]
    assert "'+tilse'" in run.stderr.splitlines()[-1]
    assert "tiles" in run.stderr.splitlines()[-1]


ORDERS = {
    "complog first": "import complog, backend_all",
    "plugin's module first": "import backend_all, complog",
    "plugin's module alone": "import backend_all; import sys; complog = sys.modules['complog']",
    "two threads": """
import threading
threads = [threading.Thread(target=__import__, args=(name,)) for name in ("backend_all", "complog")]
for thread in threads: thread.start()
for thread in threads: thread.join(20)
import complog
""",
    "plugin's module in a thread": """
import threading
thread = threading.Thread(target=__import__, args=("backend_all",))
thread.start(); thread.join(20)
import complog
""",
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("place", ["before", "after"])
def test_import_order_does_not_change_the_registry(tmp_path: Path, order: str, place: str) -> None:
    names = dedent(BACKEND_NAMES)
    imports = "import complog\nlog = complog.getArtifactLogger('backend.y', 'tiles')\n"
    source = imports + names if place == "before" else names + imports
    path = make_distribution(
        tmp_path, "backend", entry_points={"complog": {"backend": "backend_all"}}, modules={"backend_all": source}
    )
    check = """
print(sorted(complog.default_system.registry.names()), [(str(p), p.status) for p in complog.list_plugins()][-1])
complog.getArtifactLogger("backend.x", "tiles").debug("on")
import backend_all
backend_all.log.debug("own")
"""
    run = run_python(ORDERS[order] + check, paths=[path], env={"TORCH_LOGS": "tiles"})
    assert run.returncode == 0, run.stderr
    assert run.stdout == "['backend', 'tiles', 'torch'] ('backend[backend] 1.0', 'loaded')\n"
    assert [line.partition("] ")[2] for line in run.stderr.splitlines()] == ["[__tiles] on", "[__tiles] own"]


def test_package_whose_init_imports_complog_and_uses_its_own_names(tmp_path: Path) -> None:
    modules = {
        "backend": "import complog\nlog = complog.getArtifactLogger(__name__, 'tiles')\nlog.debug('from init')\n",
        "backend._names": BACKEND_NAMES,
    }
    path = make_distribution(
        tmp_path, "backend", entry_points={"complog": {"backend": "backend._names"}}, modules=modules
    )
    for program in ("import backend", "import complog, backend"):
        run = run_python(f"{program}\nbackend.log.debug('later')", paths=[path], env={"TORCH_LOGS": "tiles"})
        assert run.returncode == 0, run.stderr
        assert run.stderr.count("[__tiles] from init") == (program == "import backend")
        assert run.stderr.endswith("[__tiles] later\n")


def test_dotted_name_imports_nothing(backend: Path) -> None:
    code = """
        import sys, complog
        print([name for name in sys.modules if name.startswith("xml")], complog.current_state().levels)
    """
    run = run_python(code, paths=[backend], env={"TORCH_LOGS": "+xml.dom"})
    assert run.stdout == "[] {'xml.dom': 10}\n"


def test_complog_serves_code_written_for_torch_logging(backend: Path) -> None:
    code = """
        import complog as torch_logging
        for name in ("set_logs getArtifactLogger register_log register_artifact get_loggers LazyString warning_once "
                     "hide_warnings DEFAULT_LOGGING help_message logs init_logs current_state is_enabled list_plugins "
                     "LogSystem hookimpl Component Artifact Keyword Field").split():
            assert hasattr(torch_logging, name), name
        assert torch_logging.DEFAULT_LOGGING == {}
        torch_logging.set_logs(**torch_logging.DEFAULT_LOGGING)
        from complog import *
        torch_logging.register_log("mine", "mine")
        torch_logging.register_artifact("graphs", "the graphs", visible=True, off_by_default=True, log_format="")
        torch_logging.set_logs(mine=10, graphs=True)
        log = torch_logging.getArtifactLogger("mine.x", "graphs")
        log.debug("%s", torch_logging.LazyString(lambda: "lazy"))
        for _ in range(3):
            torch_logging.warning_once(log, "once %s", ["unhashable"])
        import warnings
        with torch_logging.hide_warnings(lambda message, category, *rest: category is not UserWarning):
            warnings.warn("hidden")
        assert torch_logging.get_loggers()
    """
    run = run_python(code, paths=[backend])
    assert (run.returncode, run.stderr) == (0, "lazy\nonce ['unhashable']\n")


def test_forked_child_can_configure_and_log(backend: Path) -> None:
    code = """
        import os, threading, complog
        log = complog.getArtifactLogger("backend.x", "tiles")
        engine = complog.default_system
        holding, done = threading.Event(), threading.Event()
        def hold():
            with engine._lock:
                holding.set(); done.wait(20)
        thread = threading.Thread(target=hold); thread.start(); holding.wait()
        pid = os.fork()
        if pid == 0:
            complog.set_logs(tiles=True)
            complog.getArtifactLogger("backend.child", "tiles").debug("from the child")
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        done.set(); thread.join()
    """
    run = run_python(code, paths=[backend])
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("from the child") == 1
