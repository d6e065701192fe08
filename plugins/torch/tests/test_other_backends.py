"""Other packages that PyTorch loads with ours, before it or after it, and what real ones do to torch._logging."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent, indent

import pytest
from tests.support.backend_names import BACKEND_NAMES
from tests.support.fake_distributions import make_distribution
from tests.support.torch_programs import Finished, copy_distribution, run_program

pytestmark = pytest.mark.torch

OTHER = """
    import logging, os, sys
    import torch
    loads, calls = [], []
    def note():
        calls.append(dict(torch._logging._internal.log_state.log_qname_to_level))
    def load():
        loads.append("complog_torch" in sys.modules)
"""

CHECK = """
    import logging, torch, complog_torch, other
    assert other.loads == [EXPECTED], other.loads
    assert complog_torch.is_active(), complog_torch.why_inactive()
    def look():
        torch._logging.getArtifactLogger("backend.x", "tiles").debug("tile")
        logging.getLogger("backend.x").info("info")
        logging.getLogger("torch._inductor.x").debug("inductor debug")
"""
ALL_THREE = ["[__tiles] tile", "info", "inductor debug"]

Run = Callable[..., Finished]


@pytest.fixture(params=["before", "after"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """Run a program where a distribution whose `load` does something is loaded before ours, or after it."""

    def run(load: str, code: str, *, stock: bool = False, **variables: str) -> Finished:
        name = {"before": "a-backend", "after": "zz-backend"}[request.param]
        source = dedent(OTHER) + indent(dedent(load), "    ")
        directory = tmp_path / ("stock" if stock else "bridged")
        site, points = directory / name, {"torch.backends": {name: "other:load"}}
        make_distribution(site, name, entry_points=points, modules={"other": source})
        ours = directory / "m"
        copy_distribution(ours, "complog-torch")
        make_distribution(
            ours, "backend", entry_points={"complog": {"backend": "names"}}, modules={"names": BACKEND_NAMES}
        )
        paths = [site, ours] if request.param == "before" else [ours, site]
        if stock:
            variables["COMPLOG_TORCH"] = "0"
        program = dedent(code).replace("EXPECTED", str(request.param == "after"))
        return run_program(program, directory, paths=paths, env=variables)

    return run


def succeeded(done: Finished) -> Finished:
    assert done.returncode == 0, done.stderr
    return done


def test_backend_that_leaves_logging_alone(run: Run) -> None:
    done = succeeded(run("pass", CHECK + "    look()", TORCH_LOGS="tiles,backend,+inductor"))
    assert (done.texts, len(done.stderr.splitlines())) == (ALL_THREE, 3)


REGISTRATIONS = {
    "functions": """
        from torch._logging._internal import register_artifact, register_log
        register_log("their_log", ["their.logger", "their.second"])
        register_artifact("their_art", "an artifact", off_by_default=True)
    """,
    "package": """
        import torch._logging._registrations as registrations
        registrations.register_log("their_log", ["their.logger", "their.second"])
        registrations.register_artifact("their_art", "an artifact", off_by_default=True)
    """,
    "registry": """
        registry = torch._logging._internal.log_registry
        registry.register_log("their_log", ["their.logger", "their.second"])
        registry.register_artifact_name("their_art", "an artifact", False, True, None)
    """,
}


@pytest.mark.parametrize("way", REGISTRATIONS)
def test_backend_that_registers_names_at_torch(run: Run, way: str) -> None:
    code = """
        import logging, torch, complog
        assert "their_art" in complog.help_message(verbose=True)
        def speak():
            logging.getLogger("their.second").debug("debug")
            torch._logging.getArtifactLogger("their.logger", "their_art").debug("artifact")
            torch._logging.getArtifactLogger("backend.x", "tiles").debug("tile")
        speak()
        del __import__("os").environ["TORCH_LOGS"]
        torch._logging.set_logs(modules={"their_log": logging.INFO, "their_art": True})
        speak()
        complog.set_logs(their_log=10)
        speak()
    """
    done = succeeded(run(REGISTRATIONS[way], code, TORCH_LOGS="+their_log,their_art,tiles"))
    assert done.texts == ["debug", "[__their_art] artifact", "[__tiles] tile", "[__their_art] artifact", "debug"]
    assert len(done.stderr.splitlines()) == 5, done.stderr


def test_names_that_a_backend_registers_at_torch_and_contributes_too_are_one(run: Run) -> None:
    load = """
        torch._logging._internal.register_log("backend", "backend")
        torch._logging._internal.register_artifact("tiles", "the tiles", off_by_default=True)
    """
    code = (
        CHECK
        + """
    look()
    import complog
    assert len(complog.default_system.registry.lookup("tiles")) == 1
    assert len(complog.default_system.registry.lookup("backend")) == 1
"""
    )
    done = succeeded(run(load, code, TORCH_LOGS="tiles,backend,+inductor"))
    assert (done.texts, len(done.stderr.splitlines())) == (ALL_THREE, 3)


WRAPPERS = {
    "function": """
        def wrap(function):
            def wrapper(*args, **kwargs):
                function(*args, **kwargs)
                note()
            return wrapper
    """,
    "functools.wraps": """
        import functools
        def wrap(function):
            return functools.wraps(function)(lambda *args, **kwargs: [function(*args, **kwargs), note()][0])
    """,
    "global": """
        global kept
        kept = torch._logging._internal.set_logs
        def wrap(function):
            return lambda *args, **kwargs: [kept(*args, **kwargs), note()][0]
    """,
    "object": """
        class wrap:
            def __init__(self, function):
                self.function = function
            def __call__(self, *args, **kwargs):
                self.function(*args, **kwargs)
                note()
    """,
    "partial": """
        import functools
        def wrapper(function, *args, **kwargs):
            function(*args, **kwargs)
            note()
        def wrap(function):
            return functools.partial(wrapper, function)
    """,
}
PACKAGE, BOTH = ("torch._logging",), ("torch._logging", "torch._logging._internal")


@pytest.mark.parametrize(
    ("run", "way", "modules"),
    [*(("before", way, BOTH) for way in WRAPPERS), ("before", "function", PACKAGE), ("after", "function", BOTH)],
    indirect=["run"],
)
def test_backend_that_wraps_set_logs_is_told_of_each_call(run: Run, way: str, modules: tuple[str, ...]) -> None:
    code = """
        import complog
        torch._logging.set_logs(tiles=True, backend=20, inductor=10)
        look()
        torch._logging._internal.set_logs(dynamo=10)
        look()
        assert complog.current_state().level("torch._dynamo") == 10
        print([(call.get("torch._inductor"), call.get("torch._dynamo")) for call in other.calls])
    """
    load = dedent(WRAPPERS[way]) + "".join(f"{module}.set_logs = wrap({module}.set_logs)\n" for module in modules)
    done = succeeded(run(load, dedent(CHECK) + dedent(code)))
    assert done.stdout == ("[(10, None)]\n" if modules == PACKAGE else "[(10, None), (None, 10)]\n")
    assert done.texts == ALL_THREE


VARIABLE = """
    torch._logging._internal.LOG_ENV_VAR = "OTHER_LOGS"
    torch._logging._internal._init_logs()
    note()
"""
KEPT, RESTORED = VARIABLE, VARIABLE + '    torch._logging._internal.LOG_ENV_VAR = "TORCH_LOGS"\n'


@pytest.mark.parametrize("load", [KEPT, RESTORED], ids=["kept", "restored"])
def test_backend_that_has_torch_read_another_variable(run: Run, load: str) -> None:
    code = CHECK + '    print(other.calls[0]["torch._inductor"])\n    look()'
    done = succeeded(run(load, code, OTHER_LOGS="+inductor", TORCH_LOGS="backend,tiles"))
    assert done.stdout == "10\n"
    # PyTorch reads the variable whose name stands there when its import ends
    assert done.texts == (["inductor debug"] if load == KEPT else ["[__tiles] tile", "info"])


@pytest.mark.parametrize("run", ["after"], indirect=True)  # a backend before ours talks to stock PyTorch
def test_third_party_names_are_valid_in_another_variable(run: Run) -> None:
    done = succeeded(run(KEPT, CHECK + "    look()", OTHER_LOGS="backend,tiles,+inductor"))
    assert done.texts == ALL_THREE


def test_bad_name_in_another_variable_is_reported_by_that_variables_name(run: Run) -> None:
    code = """
        try:
            import torch
        except ValueError as error:
            print(error)
    """
    load = 'torch._logging._internal.LOG_ENV_VAR = "OTHER_LOGS"'
    done = succeeded(run(load, code, OTHER_LOGS="tils"))
    assert "OTHER_LOGS" in done.stdout
    assert "tiles" in done.stdout


IMPORTS = {
    "complog": """
        import complog
        complog.getArtifactLogger("backend.x", "tiles").debug("early")
        assert "tiles" in complog.help_message(verbose=True)
        complog.current_state()
    """,
    "bridge": """
        import complog_torch
        complog_torch.autoload()
    """,
}


@pytest.mark.parametrize("way", IMPORTS)
def test_backend_that_imports_complog_while_it_is_loaded(run: Run, way: str) -> None:
    done = succeeded(run(IMPORTS[way], CHECK + "    look()", TORCH_LOGS="tiles,backend,+inductor"))
    assert [text for text in done.texts if not text.endswith("early")] == ALL_THREE
    assert "complog: " not in done.stderr


def test_backend_that_raises_ends_the_import_as_in_stock(run: Run) -> None:
    code = """
        try:
            import torch
        except RuntimeError as error:
            print(error, repr(error.__cause__))
    """
    load = "raise OSError('no device')"
    stock, bridged = (succeeded(run(load, code, stock=stock, TORCH_LOGS="dynamo")) for stock in (True, False))
    assert "OSError('no device')" in bridged.stdout
    assert (bridged.stdout, bridged.stderr) == (stock.stdout, stock.stderr) == (stock.stdout, "")


def test_backend_that_does_what_real_ones_do(run: Run) -> None:
    load = """
        internal = torch._logging._internal
        internal.register_log("device", "other_device.runtime")
        internal.register_log("device_memory", ["other_device.memory", "other_device.cache"])
        def wrap(function):
            def wrapper(*args, **kwargs):
                result = function(*args, **kwargs)
                if not os.environ.get("TORCH_LOGS") and not os.environ.get("OTHER_LOGS"):
                    note()
                return result
            return wrapper
        torch._logging.set_logs = wrap(torch._logging.set_logs)
        if os.environ.get("OTHER_LOGS") is not None:
            internal.LOG_ENV_VAR = "OTHER_LOGS"
            internal._init_logs()
            note()
    """
    code = """
        look()
        logging.getLogger("other_device.cache").debug("cache")
        assert other.calls[0]["other_device.memory"] == 10
        del __import__("os").environ["OTHER_LOGS"]
        torch._logging.set_logs(modules={"device": 20, "tiles": True, "torch.fx": 10})
        assert other.calls[1] == {"other_device.runtime": 20, "torch.fx": 10}, other.calls[1]
        look()
    """
    done = succeeded(run(load, dedent(CHECK) + dedent(code), OTHER_LOGS="+device_memory,+inductor"))
    assert done.texts == ["inductor debug", "cache", "[__tiles] tile"]
