"""With the bridge installed, complog is behind `torch._logging`: names, settings, states, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from plugins.torch.tests.bridged import Runner, backend, run
from tests.support.fake_distributions import make_distribution

__all__ = ["backend", "run"]

pytestmark = pytest.mark.torch


def texts(stderr: str) -> list[str]:
    return [line.partition("] ")[2] for line in stderr.splitlines()]


def test_third_party_names_work_in_the_variable(run: Runner, backend: Path) -> None:
    code = """
        import torch, logging, complog_torch
        assert complog_torch.is_active(), complog_torch.why_inactive()
        torch._logging.getArtifactLogger("backend.x", "tiles").debug("tile line")
        logging.getLogger("backend.x").debug("debug line")
        logging.getLogger("torch._dynamo.x").info("dynamo line")
        logging.getLogger("torch._inductor.x").info("hidden")
    """
    result = run(code, paths=(backend,), TORCH_LOGS="+backend,tiles,dynamo")
    assert result.returncode == 0, result.stderr
    assert texts(result.stderr) == ["[__tiles] tile line", "debug line", "dynamo line"]


def test_set_logs_is_one_function_wherever_it_is_called(run: Runner, backend: Path) -> None:
    code = """
        import torch, complog, inspect, backend_names
        for call in (torch._logging.set_logs, torch._logging._internal.set_logs, complog.set_logs):
            call(tiles=True, inductor=10)
            assert complog.is_enabled("tiles")
            assert complog.current_state().level("torch._inductor.x") == 10
            assert torch._logging._internal.log_state.is_artifact_enabled("tiles")
            assert torch._logging._internal.log_state.log_qname_to_level["torch._inductor"] == 10
            call()
            assert not complog.is_enabled("tiles")
            assert not torch._logging._internal.log_state.is_artifact_enabled("tiles")
        assert {"tiles", "backend", "guards"} <= set(inspect.signature(torch._logging.set_logs).parameters)
        assert len(backend_names.states) == 7, len(backend_names.states)
        try:
            torch._logging.set_logs(gaurds=True)
        except ValueError as error:
            print(error)
        torch._logging.set_logs(**torch._logging.DEFAULT_LOGGING)
        torch._logging.set_logs(modules={"torch._inductor.scheduler": 10, "tiles": True})
    """
    result = run(code, paths=(backend,))
    assert result.returncode == 0, result.stderr
    assert "guards" in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("value", "word"), [("gaurds", "guards"), ("+help", "tiles"), ("help", "backend"), ("a b", "white")]
)
def test_import_of_torch_raises_a_bare_value_error(run: Runner, backend: Path, value: str, word: str) -> None:
    code = """
        try:
            import torch
        except ValueError as error:
            assert error.__cause__ is None
            print(error)
    """
    result = run(code, paths=(backend,), TORCH_LOGS=value)
    assert result.returncode == 0, result.stderr
    assert word in result.stdout


ORDERS = {
    "torch first": "import torch, complog",
    "complog first": "import complog, torch",
    "in a thread": """
import threading
thread = threading.Thread(target=__import__, args=("torch",))
thread.start()
thread.join()
import complog, torch
""",
}


@pytest.mark.parametrize("order", ORDERS)
def test_import_order_does_not_matter(run: Runner, backend: Path, order: str) -> None:
    check = """
import logging
complog.getArtifactLogger("backend.x", "tiles").debug("tile line")
logging.getLogger("torch._inductor.x").debug("debug line")
for name in torch._logging._internal.log_registry.get_log_qnames():
    assert len(logging.getLogger(name).handlers) == 1, (name, logging.getLogger(name).handlers)
"""
    result = run(ORDERS[order] + check, paths=(backend,), TORCH_LOGS="tiles,+inductor")
    assert result.returncode == 0, result.stderr
    assert texts(result.stderr) == ["[__tiles] tile line", "debug line"]


@pytest.mark.parametrize("blank", ["", " "])
def test_blank_variable_does_not_end_the_import(run: Runner, blank: str) -> None:
    assert run("import torch", TORCH_LOGS=blank).returncode == 0


def test_switched_off_bridge_leaves_stock_torch(run: Runner) -> None:
    code = """
        import torch, complog, complog_torch, logging
        assert not complog_torch.is_active()
        assert torch._logging.set_logs.__module__ == "torch._logging._internal"
        names = torch._logging._internal.log_registry.get_log_qnames()
        assert all(type(h) is logging.StreamHandler for n in names for h in logging.getLogger(n).handlers)
        logging.getLogger("torch._inductor.x").info("one line")
    """
    result = run(code, COMPLOG_TORCH="0", TORCH_LOGS="inductor")
    assert result.returncode == 0, result.stderr
    assert texts(result.stderr) == ["one line"]


def test_names_that_stock_torch_will_refuse_are_named_with_the_fix(run: Runner, backend: Path) -> None:
    result = run("import complog", paths=(backend,), COMPLOG_TORCH="0", TORCH_LOGS="tiles,guards")
    assert result.returncode == 0
    assert "'tiles'" in result.stderr
    assert "guards" not in result.stderr
    assert "COMPLOG_TORCH=0" in result.stderr


def test_shut_door_is_opened_by_install_and_shut_again_by_uninstall(run: Runner, backend: Path) -> None:
    code = """
        import torch, complog_torch, logging
        stock = dict(vars(torch._logging._internal)), dict(vars(torch._logging))
        def look():
            return {n: (l.level, l.propagate, [type(h) for h in l.handlers])
                    for n, l in logging.root.manager.loggerDict.items()
                    if isinstance(l, logging.Logger) and n.startswith("torch") and ".__" not in n}
        before = look()
        assert not complog_torch.is_active()
        assert complog_torch.install()
        assert complog_torch.install()
        import complog
        torch._logging.set_logs(tiles=True)
        complog.getArtifactLogger("backend", "tiles").debug("tile line")
        complog_torch.uninstall()
        complog_torch.uninstall()
        torch._logging.set_logs()
        for module, names in zip((torch._logging._internal, torch._logging), stock):
            for name, value in names.items():
                if name != "log_state":
                    assert getattr(module, name) is value, name
        after = look()
        assert before == {n: after[n] for n in before}
        assert "tiles" not in torch._logging._internal.log_registry.artifact_names
    """
    result = run(code, paths=(backend,), TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert result.returncode == 0, result.stderr
    assert texts(result.stderr) == ["[__tiles] tile line"]


@pytest.mark.parametrize("broken", ["complog_core.assembly", "complog", "complog_core.hookspecs"])
def test_fault_of_ours_leaves_stock_torch_and_one_line(run: Runner, broken: str) -> None:
    code = f"""
        import sys
        sys.modules[{broken!r}] = None
        import torch, logging
        logging.getLogger("torch._inductor.x").info("one line")
    """
    result = run(code, TORCH_LOGS="inductor")
    assert result.returncode == 0, result.stderr
    warning, line = result.stderr.splitlines()
    assert "stock torch._logging stays in charge" in warning
    assert f"import of {broken} halted" in warning
    assert line.endswith("] one line")


@pytest.mark.parametrize("variables", [{"COMPLOG_STRICT_PLUGINS": "0"}, {"TORCH_LOGS": "+backend"}])
def test_broken_plugin_does_not_end_the_import(run: Runner, tmp_path: Path, variables: Mapping[str, str]) -> None:
    path = make_distribution(
        tmp_path,
        "backend",
        entry_points={"complog": {"backend": "backend_names"}},
        modules={"backend_names": "raise SystemExit(3)"},
    )
    result = run("import torch, complog_torch; print(complog_torch.is_active())", paths=(path,), **variables)
    assert (result.returncode, result.stdout) == (0, "True\n"), result.stderr
    assert "SystemExit" in result.stderr


def test_real_compilation_prints_generated_code_and_the_third_partys_artifact(run: Runner, backend: Path) -> None:
    code = """
        import torch, complog
        log = complog.getArtifactLogger("backend.x", "tiles")
        def compiler(graph, inputs):
            log.debug("tile line")
            return torch._inductor.compile(graph, inputs)
        @torch.compile(backend=compiler)
        def f(x):
            return (x.sin() + 1).relu()
        f(torch.randn(8))
    """
    result = run(code, paths=(backend,), TORCH_LOGS="output_code,tiles", TORCHINDUCTOR_FORCE_DISABLE_CACHES="1")
    assert result.returncode == 0, result.stderr
    assert "[0/0] [__tiles] tile line" in result.stderr
    assert "[0/0] [__output_code] " in result.stderr
    assert "cpp_fused" in result.stderr


@pytest.mark.parametrize(
    "value", ["", "  ", "dynamo:WARNING", "dynamo:off,inductor/output_code", "+dynamo,tiles", "+dynamo"]
)
def test_uninstall_gives_stock_handlers_back_whatever_was_set(run: Runner, backend: Path, value: str) -> None:
    code = """
        import torch, complog_torch, logging
        complog_torch.uninstall()
        names = torch._logging._internal.log_registry.get_log_qnames()
        assert all([type(h) for h in logging.getLogger(n).handlers] == [logging.StreamHandler] for n in names)
        assert torch._logging._internal.LOG_ENV_VAR == "TORCH_LOGS"
    """
    result = run(code, paths=(backend,), TORCH_LOGS=value)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("value", ["", "+dynamo,graph_breaks"])
def test_bridge_goes_and_comes_again(run: Runner, value: str) -> None:
    code = """
        import contextlib, torch, complog_torch
        for _ in range(3):
            complog_torch.uninstall()
            assert not complog_torch.is_active()
            with contextlib.suppress(AttributeError):  # stock's own, where the variable is blank
                torch._logging._internal._init_logs()
            assert complog_torch.install()
        torch._logging.set_logs() if %r else torch._logging.set_logs(inductor=10)
    """
    result = run(code % value, TORCH_LOGS=value)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


def test_data_that_cannot_be_written_costs_torchs_own_callers_nothing(run: Runner, tmp_path: Path) -> None:
    code = """
        import torch
        metadata = lambda: {"name": "a", "encoding": "json"}
        for payload in (object(), b"x", {"t": torch.ones(2)}, "a" + chr(0xD800), float("nan")):
            torch._logging.trace_structured("artifact", metadata, payload_fn=lambda: payload)
        try:
            torch._logging.trace_structured("rank")
        except AssertionError:
            print("reserved")
    """
    result = run(code, TORCH_TRACE=str(tmp_path))
    assert (result.returncode, result.stdout) == (0, "reserved\n"), result.stderr
    (file,) = tmp_path.iterdir()
    assert file.read_text().count('"artifact": {"name": "a"') == 5


def test_trace_goes_on_after_a_capture_that_took_the_handler_off(run: Runner, tmp_path: Path) -> None:
    code = """
        import torch, complog, logging
        log = logging.getLogger("torch.__trace")
        for handler in list(log.handlers):
            log.removeHandler(handler)
        complog.trace_structured_artifact("after", "string", lambda: "text")
    """
    result = run(code, TORCH_TRACE=str(tmp_path))
    assert result.returncode == 0, result.stderr
    (file,) = tmp_path.iterdir()
    assert '"name": "after"' in file.read_text()


def test_importing_torch_loads_nothing_that_only_a_trace_or_another_scan_needs(run: Runner) -> None:
    code = """
        import atexit, sys
        def tell():  # after logging.shutdown, which closes torch's trace handler
            print([n for n in ("complog_core.trace_recorder", "importlib_metadata", "pluggy") if n in sys.modules])
        atexit.register(tell)
        import torch, complog_torch
        assert complog_torch.is_active()
    """
    result = run(code)
    assert (result.returncode, result.stdout, result.stderr) == (0, "[]\n", "")
