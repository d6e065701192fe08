"""What `import complog` loads, and what it leaves until somebody wants it; all of that works at its first use."""

from __future__ import annotations

import inspect
import pydoc
from pathlib import Path

import pytest
from tests.support.backend_names import BACKEND_NAMES
from tests.support.fake_distributions import make_distribution, run_python
from tests.support.systems import SystemFactory, make_system

import complog
import complog_core

__all__ = ["make_system"]

LATE = {
    *("arguments", "files", "functions", "inheritance", "jsonlines", "jsonvalues", "lazy", "opened", "pace", "percent"),
    *("registration", "settings", "stubs", "texts", "wording"),
    *("trace_context", "trace_file", "trace_fitting", "trace_frames", "trace_json", "trace_records", "trace_recorder"),
    "trace_writer",
}
"""Modules of complog_core that a program without settings, files and traces never needs."""

MOST_MODULES = 52
"""How many of complog's own an import loads, packages included; each one costs every program."""

STDLIB = "set(sys.modules) - before - {name for name in sys.modules if name.startswith('complog')}"


@pytest.fixture
def backend(tmp_path: Path) -> Path:
    return make_distribution(
        tmp_path,
        "backend",
        entry_points={"complog": {"backend": "backend_names"}},
        modules={"backend_names": BACKEND_NAMES},
    )


def ask(code: str, *paths: Path, **variables: str) -> str:
    run = run_python(code, paths=paths, env=variables)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_import_loads_nothing_that_few_programs_need(backend: Path) -> None:
    every = ask("import complog, sys; print(*sys.modules)", backend).split()
    assert "pluggy" not in every
    loaded = [name for name in every if name.partition(".")[0] in ("complog", "complog_core")]
    assert "complog_core.engine" in loaded
    assert sorted({f"complog_core.{name}" for name in LATE} & set(loaded)) == []
    assert len(loaded) <= MOST_MODULES


def test_import_loads_no_module_of_the_standard_library_that_its_requirements_do_not(backend: Path) -> None:
    code = f"""
        import sys, logging, pluggy, importlib_metadata
        list(importlib_metadata.entry_points(group="complog"))
        before = set(sys.modules)
        import complog
        print(*{STDLIB} - {{"backend_names"}})
    """
    assert ask(code, backend).split() == []


def test_record_loads_nothing_that_the_configuration_has_not_loaded(backend: Path, tmp_path: Path) -> None:
    code = """
        import logging, sys, complog, pathlib
        complog.register_artifact("shapes", log_format="%(levelname)s shape %(message)s")
        log = complog.getArtifactLogger("backend.x", "shapes")
        complog.set_logs(backend="DEBUG", shapes=True)
        before = {name for name in sys.modules if name.startswith("complog")}
        logging.getLogger("backend.x").info("plain")
        log.info("shaped")
        print({name for name in sys.modules if name.startswith("complog")} - before)
    """
    for variables in ({}, {"TORCH_LOGS_OUT": str(tmp_path / "a.log")}, {"TORCH_LOGS_FORMAT": "%(message)s"}):
        assert ask(code, backend, **variables) == "set()\n"


def test_every_public_name_can_be_had_in_every_way() -> None:
    for package in (complog, complog_core):
        space: dict[str, object] = {}
        exec(f"from {package.__name__} import *", space)
        assert set(package.__all__) <= space.keys()
        assert set(package.__all__) <= set(dir(package))
        assert all(getattr(package, name) is not None for name in package.__all__)
        with pytest.raises(AttributeError, match="no_such_name"):
            package.no_such_name  # noqa: B018 - reading it is the test
    assert complog.LazyString is complog_core.LazyString
    assert complog.set_logs is complog.default_system.set_logs


def test_texts_of_set_logs_follow_what_is_registered_whenever_it_was_taken(make_system: SystemFactory) -> None:
    system = make_system()
    system.register_artifact("early")
    change, during = system.set_logs, system.logs
    assert change is system.set_logs
    system.register_artifact("later")
    for name in ("early", "later"):
        assert name in (change.__doc__ or "")
        assert name in inspect.signature(change).parameters
        assert name in inspect.signature(during).parameters
        assert name in pydoc.render_doc(change)


def test_help_shows_the_registered_names(backend: Path) -> None:
    page = ask("import complog, pydoc; pydoc.help(complog.set_logs)", backend)
    assert "tiles" in page
    assert "backend" in page
