"""The device backend in each of its situations: no complog, complog alone, complog beside stock PyTorch, the bridge."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.fake_distributions import SOURCES, dependencies
from tests.support.torch_programs import Finished, copy_distribution, link_distributions, run_program

EXAMPLE = Path(__file__).parents[1]
ROOT = EXAMPLE.parents[1]

WORK = """
device_backend.allocate(64)
device_backend.launch("add", (4, 4))
"""
MEMORY = ["[__memory] allocated 64 bytes, 64 in use"]
DISPATCH = ["[__dispatch] add((4, 4))"]
NATIVE_MEMORY = "[device_backend.cpp memory] block of 64 bytes"
NATIVE_RUNTIME = "[device_backend.cpp runtime] launched add"


class Situation:
    """What is installed, and how to run a program that sees that and the standard library only."""

    def __init__(self, directory: Path, *paths: Path) -> None:
        self.directory = directory
        self.paths = paths

    def run(self, source: str, **variables: str) -> Finished:
        done = run_program(source, self.directory, paths=self.paths, options=["-S"], env=variables)
        assert done.returncode == 0, done.stderr
        return done


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which nothing but this example is installed."""
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-index", "--no-deps"]
    command = [*pip, "--no-build-isolation", "--target", str(target), str(EXAMPLE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


@pytest.fixture(scope="module")
def torch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with PyTorch and what it requires."""
    return link_distributions(tmp_path_factory.mktemp("torch"), "torch", "numpy")


@pytest.fixture
def nothing_else(tmp_path: Path, site: Path) -> Situation:
    return Situation(tmp_path, site)


@pytest.fixture
def core(tmp_path: Path, site: Path) -> Situation:
    return Situation(tmp_path, site, SOURCES, dependencies())


@pytest.fixture
def stock_torch(tmp_path: Path, site: Path, torch: Path) -> Situation:
    return Situation(tmp_path, site, torch)


@pytest.fixture
def core_beside_torch(tmp_path: Path, site: Path, torch: Path) -> Situation:
    return Situation(tmp_path, site, SOURCES, dependencies(), torch)


@pytest.fixture(params=["backend first", "bridge first"])
def bridge(request: pytest.FixtureRequest, tmp_path: Path, site: Path, torch: Path) -> Situation:
    ours = copy_distribution(tmp_path / "bridge", "complog-torch")
    order = [ours, site] if request.param == "bridge first" else [site, ours]
    return Situation(tmp_path, *order, ROOT / "plugins/torch/src", SOURCES, dependencies(), torch)


# -- no complog


def test_without_complog_the_loggers_are_plain(nothing_else: Situation) -> None:
    setup = 'import logging, device_backend\nlogging.basicConfig(level="DEBUG", format="%(name)s: %(message)s")\n'
    assert nothing_else.run(setup + WORK, TORCH_LOGS="no_such_name").stderr.splitlines() == [
        "device_backend: the device has taken 64 bytes",
        "device_backend.memory.__memory: allocated 64 bytes, 64 in use",
        "device_backend.dispatch.__dispatch: add((4, 4))",
    ]


def test_without_complog_nothing_is_shown_unasked(nothing_else: Situation) -> None:
    assert nothing_else.run("import device_backend\n" + WORK).stderr == ""


@pytest.mark.torch
def test_stock_torch_loads_the_backend(stock_torch: Situation) -> None:
    check = "import sys, torch\ndevice_backend = sys.modules['device_backend']\nassert 'complog' not in sys.modules\n"
    assert stock_torch.run(check + WORK, TORCH_LOGS="+dynamo").stderr == ""


# -- complog, no PyTorch


@pytest.mark.parametrize("variable", ["TORCH_LOGS", "DEVICE_BACKEND_LOGS"])
def test_variables_switch_python_and_native_messages(core: Situation, variable: str) -> None:
    done = core.run("import device_backend\n" + WORK, **{variable: "memory"})
    assert done.texts == MEMORY
    assert NATIVE_MEMORY in done.stderr
    assert NATIVE_RUNTIME not in done.stderr


def test_component_shows_progress_and_memory_but_not_the_dispatches(core: Situation) -> None:
    done = core.run("import device_backend\n" + WORK, TORCH_LOGS="+device_backend")
    assert done.texts == ["the device has taken 64 bytes", *MEMORY]
    assert NATIVE_MEMORY in done.stderr
    assert NATIVE_RUNTIME in done.stderr


def test_component_can_be_switched_off_with_its_native_part(core: Situation) -> None:
    code = 'import logging, device_backend\nprint(device_backend.native.get_native_level("runtime") > logging.CRITICAL)'
    assert core.run(code, TORCH_LOGS="device_backend:off").stdout == "True\n"


def test_native_levels_follow_each_change(core: Situation) -> None:
    code = """
        import complog, device_backend
        def look():
            return [device_backend.native.get_native_level(module) for module in ("runtime", "memory")]
        print(look())
        complog.set_logs(memory=True)
        print(look())
        with complog.logs(device_backend="INFO"):
            print(look())
        print(look())
        complog.set_logs()
        print(look())
    """
    assert core.run(code).stdout.splitlines() == ["[30, 30]", "[30, 10]", "[20, 20]", "[30, 10]", "[30, 30]"]


def test_backend_that_is_imported_late_finds_what_was_set(core: Situation) -> None:
    code = "import complog\ncomplog.set_logs(memory=True, dispatch=True)\nimport device_backend\n"
    done = core.run(code + WORK)
    assert done.texts == [*MEMORY, *DISPATCH]
    assert NATIVE_MEMORY in done.stderr


def test_names_are_known_while_the_backend_is_not_imported(core: Situation) -> None:
    code = """
        import complog, sys
        assert not {"torch", "device_backend"} & set(sys.modules)
        print(complog.help_message())
        (plugin,) = [plugin for plugin in complog.list_plugins() if plugin.family == "device_backend"]
        assert plugin.status == "loaded" and not plugin.notes, plugin
    """
    page = core.run(code, TORCH_LOGS="memory,dispatch,device_backend/memory").stdout
    for expected in ("memory", "dispatch", "device_backend", "each allocation on the device", "DEVICE_BACKEND_LOGS"):
        assert expected in page


# -- complog beside PyTorch, without the bridge


@pytest.mark.torch
def test_own_variable_works_beside_stock_torch(core_beside_torch: Situation) -> None:
    done = core_beside_torch.run("import torch, device_backend\n" + WORK, DEVICE_BACKEND_LOGS="memory,dispatch")
    assert done.texts == [*MEMORY, *DISPATCH]


@pytest.mark.torch
def test_names_of_stock_torch_stay_stock_torchs(core_beside_torch: Situation) -> None:
    code = 'import logging, torch\nlogging.getLogger("torch._dynamo.x").debug("one line")'
    done = core_beside_torch.run(code, TORCH_LOGS="+dynamo,recompiles")
    assert done.texts == ["one line"]
    assert "complog" not in done.stderr


@pytest.mark.torch
def test_stock_torch_reports_what_it_is_asked_for_itself(core_beside_torch: Situation) -> None:
    code = """
        try:
            import torch
        except ValueError as error:
            assert error.__cause__ is None
            print(error)
    """
    assert "TORCH_LOGS Info" in core_beside_torch.run(code, TORCH_LOGS="help").stdout


# -- the bridge


@pytest.mark.torch
@pytest.mark.parametrize("variable", ["TORCH_LOGS", "DEVICE_BACKEND_LOGS"])
def test_names_stand_beside_torchs_own(bridge: Situation, variable: str) -> None:
    code = 'import logging, torch, device_backend\nlogging.getLogger("torch._inductor.x").debug("one line")'
    done = bridge.run(code + WORK, **{variable: "memory,dispatch,+inductor"})
    assert done.texts == ["one line", *MEMORY, *DISPATCH]
    assert NATIVE_MEMORY in done.stderr


@pytest.mark.torch
def test_torchs_own_function_switches_the_backend(bridge: Situation) -> None:
    code = """
        import torch, device_backend
        def look():
            return [device_backend.native.get_native_level(module) for module in ("runtime", "memory")]
        torch._logging.set_logs(memory=True, dispatch=True)
        print(look())
        device_backend.allocate(64)
        device_backend.launch("add", (4, 4))
        torch._logging.set_logs(device_backend=20)
        print(look())
        torch._logging.set_logs()
        print(look())
    """
    done = bridge.run(code)
    assert done.stdout.splitlines() == ["[30, 10]", "[20, 20]", "[30, 30]"]
    assert done.texts == [*MEMORY, *DISPATCH]


@pytest.mark.torch
def test_typing_error_ends_the_import_with_the_name_that_was_meant(bridge: Situation) -> None:
    code = "try:\n    import torch\nexcept ValueError as error:\n    print(error)"
    assert "memory" in bridge.run(code, TORCH_LOGS="memroy").stdout


@pytest.mark.torch
def test_backend_works_where_torch_is_told_not_to_load_it(bridge: Situation) -> None:
    code = """
        import complog_torch, torch, sys
        assert "device_backend" not in sys.modules
        import device_backend
    """
    done = bridge.run(code + WORK.replace("\n", "\n        "), TORCH_DEVICE_BACKEND_AUTOLOAD="0", TORCH_LOGS="memory")
    assert done.texts == MEMORY
    assert NATIVE_MEMORY in done.stderr
