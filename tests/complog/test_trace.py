"""The trace of the default system, and of systems with a prefix of their own: variables, plugins' fields, processes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.fake_distributions import make_distribution, run_python
from tests.support.systems import SystemFactory, make_plugin, make_system
from tests.support.traces import read_all, read_file

from complog_core.trace import Trace

__all__ = ["make_system"]

NAMES = (
    *("trace_structured", "trace_structured_artifact", "dtrace_structured", "set_trace", "intern_string"),
    *("from_traceback", "dump_file", "get_structured_logging_overhead"),
)


def run(code: str, *paths: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    result = run_python(code, paths=paths, env=variables)
    assert result.returncode == 0, result.stderr
    return result


def test_functions_are_public_and_carry_their_own_names() -> None:
    import complog

    for name in NAMES:
        function = getattr(complog, name)
        assert name in complog.__all__
        assert function.__name__ == name
        assert function.__doc__ == getattr(Trace, name).__doc__
        assert function.__self__ is complog.default_system.trace


def test_variable_begins_a_trace(tmp_path: Path) -> None:
    code = """
        import complog
        complog.trace_structured_artifact("tiles", "json", lambda: {"a": 1})
        complog.trace_structured("plain", lambda: {"stack": complog.from_traceback([])}, expect_trace_id=False)
        complog.dtrace_structured("detailed")
    """
    assert run(code, TORCH_TRACE=str(tmp_path)).stderr == ""
    assert [record.name for record in read_all(tmp_path)] == ["artifact", "plain"]


def test_detailed_records_have_a_variable_of_their_own(tmp_path: Path) -> None:
    code = "import complog; complog.dtrace_structured('detailed')"
    run(code, TORCH_TRACE=str(tmp_path / "plain"), TORCH_DTRACE=str(tmp_path / "detailed"))
    assert [record.name for record in read_all(tmp_path / "detailed")] == ["detailed"]
    assert not (tmp_path / "plain").exists()


def test_compile_debug_writes_below_its_own_directory(tmp_path: Path) -> None:
    code = "import complog; complog.trace_structured('tiles')"
    run(code, TORCH_COMPILE_DEBUG="1", TORCH_COMPILE_DEBUG_DIR=str(tmp_path))
    assert len(read_all(tmp_path / "torch_compile_debug" / "tlparse")) == 1


def test_without_a_variable_nothing_is_written_and_nothing_loaded() -> None:
    code = """
        import complog, sys
        before = set(sys.modules)
        complog.trace_structured("tiles", lambda: 1 / 0)
        complog.trace_structured_artifact("tiles", "string", lambda: 1 / 0)
        assert set(sys.modules) == before, set(sys.modules) - before
        assert "json" not in sys.modules
    """
    assert run(code).stderr == ""


def test_blank_variable_counts_as_unset() -> None:
    code = "import complog; complog.trace_structured('tiles', lambda: 1 / 0)"
    assert run(code, TORCH_TRACE=" ", TORCH_DTRACE="", TORCH_COMPILE_DEBUG="").stderr == ""


def test_changed_variable_holds_from_the_next_init_logs_on(tmp_path: Path) -> None:
    code = f"""
        import complog, os
        complog.trace_structured("one")
        os.environ["TORCH_TRACE"] = {str(tmp_path / "b")!r}
        complog.register_artifact("late")
        complog.trace_structured("two")
        complog.init_logs()
        complog.trace_structured("three")
        complog.set_trace({str(tmp_path / "c")!r})
        complog.init_logs()
        complog.trace_structured("four")
        complog.set_trace(None)
        complog.trace_structured("five")
    """
    run(code, TORCH_TRACE=str(tmp_path / "a"))
    found = {path.name: [record.name for record in read_all(path)] for path in tmp_path.iterdir()}
    assert found == {"a": ["one", "two"], "b": ["three"], "c": ["four"]}


def test_installed_plugins_add_their_fields(tmp_path: Path) -> None:
    source = """
        from complog_core import hookimpl
        @hookimpl
        def complog_trace_context():
            return {"rank": 5, "backend": "toy"}
    """
    points = {"complog": {"toy": "toy_names"}}
    toy = make_distribution(tmp_path / "site", "toy", entry_points=points, modules={"toy_names": source})
    run("import complog; complog.trace_structured('tiles')", toy, TORCH_TRACE=str(tmp_path / "traces"))
    (path,) = (tmp_path / "traces").iterdir()
    assert path.name.startswith("dedicated_log_torch_trace_rank_5_")
    record = read_file(path)[-1]
    assert (record.fields["rank"], record.fields["backend"]) == (5, "toy")


def test_faulty_plugin_is_named_and_costs_its_fields_only(tmp_path: Path) -> None:
    source = """
        from complog_core import hookimpl
        @hookimpl
        def complog_trace_context():
            raise LookupError("mine")
    """
    points = {"complog": {"toy": "toy_names"}}
    toy = make_distribution(tmp_path / "site", "toy", entry_points=points, modules={"toy_names": source})
    code = "import complog; [complog.trace_structured('tiles') for _ in range(3)]"
    warnings = run(code, toy, TORCH_TRACE=str(tmp_path / "traces")).stderr
    assert warnings.count("\n") == 1
    assert warnings.startswith("complog: warning: toy[toy] 1.0: ")
    assert "complog_trace_context() raised LookupError: mine" in warnings
    assert len(read_all(tmp_path / "traces")) == 3


def test_help_and_bad_settings_do_not_stop_a_trace(tmp_path: Path) -> None:
    code = """
        try:
            import complog
        except ValueError:
            import complog
        complog.trace_structured("tiles")
    """
    run(code, TORCH_LOGS="no_such_name", TORCH_TRACE=str(tmp_path))
    assert len(read_all(tmp_path)) == 1


# -- systems of one's own


def test_each_system_has_a_trace_of_its_own(
    make_system: SystemFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROBE_TRACE", str(tmp_path / "probe"))
    monkeypatch.setenv("OTHER_TRACE", str(tmp_path / "other"))
    make_system(make_plugin(trace_context={"rank": 1})).trace.trace_structured("one")
    make_system(prefix="OTHER").trace.trace_structured("two")
    make_system(prefix="THIRD").trace.trace_structured("three")
    assert [list(record.fields) for record in read_all(tmp_path / "probe")] == [["one", "rank", "stack"]]
    assert [record.name for record in read_all(tmp_path / "other")] == ["two"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "probe"]


def test_closed_system_closes_its_file(
    make_system: SystemFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROBE_TRACE", str(tmp_path))
    system = make_system()
    system.trace.trace_structured("one")
    assert system.trace.writer.path is not None
    system.close()
    system.trace.trace_structured("two")
    assert sorted(read_file(path)[-1].name for path in tmp_path.iterdir()) == ["one", "two"]


@pytest.mark.parametrize("use", [lambda trace: trace.trace_structured("tiles"), lambda trace: trace.set_trace(None)])
def test_first_use_of_the_trace_configures_the_system(use: Callable[[Trace], None], make_system: SystemFactory) -> None:
    told: list[object] = []

    def listen(state: object) -> None:
        told.append(state)

    system = make_system(make_plugin(state_changed=listen))
    use(system.trace)
    use(system.trace)
    assert len(told) == 1
