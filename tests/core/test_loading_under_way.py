"""Plugins meet imports that are under way, their own package's above all: they wait without a word, and load later."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from tests.support.fake_distributions import make_distribution, run_python, write_modules

GROUP = "complog.test_under_way"
ENGINE = f"""
    import sys
    from complog_core.discovery import find_candidates
    from complog_core.modules import is_importing
    from complog_core.loading import awaits_import, load_object, load_plugins, retry

    def load():
        return load_plugins(find_candidates({GROUP!r}), environ={{}}, name_unknown=True)

    def show(plugin):
        print(plugin.info.status, *(each.name for each in plugin.components), flush=True)
"""
NAMES = """
    from complog_core import Component, hookimpl

    @hookimpl
    def complog_components(): return [Component("tiler", "mybackend.tiler")]
"""


def add(directory: Path, value: str, modules: dict[str, str]) -> None:
    """Install a backend whose entry point is `value`, and the module `engine` that loads plugins."""
    make_distribution(
        directory,
        "mybackend",
        entry_points={GROUP: {"mybackend": value}},
        modules={"engine": ENGINE, **{name: dedent(source) for name, source in modules.items()}},
    )


def run(directory: Path, code: str) -> list[str]:
    """Run the code, which must not write a word to stderr; return the lines that it printed."""
    result = run_python(code, paths=[directory])
    assert result.stderr == ""
    return result.stdout.splitlines()


def test_plugin_module_that_starts_the_engine_itself_is_set_aside_and_loads_later(tmp_path: Path) -> None:
    body = "import engine\n(plugin,) = engine.load()\nengine.show(plugin)\nprint(engine.retry(plugin) is plugin)\n"
    add(tmp_path, "mybackend", {"mybackend": body + dedent(NAMES)})
    lines = run(
        tmp_path,
        """
        import mybackend, engine
        print(engine.awaits_import(mybackend.plugin))
        engine.show(engine.retry(mybackend.plugin))
        """,
    )
    assert lines == ["set aside", "True", "False", "loaded tiler"]


def test_plugin_of_a_package_under_way_loads_at_once_where_it_can(tmp_path: Path) -> None:
    package = "import engine\nengine.show(*engine.load())\n"
    add(tmp_path, "mybackend._names", {"mybackend": package, "mybackend._names": NAMES})
    assert run(tmp_path, "import mybackend") == ["loaded tiler"]


NEEDS = {
    "name of the package": "from mybackend import LATE",
    "attribute of the package": "import mybackend\nmybackend.LATE",
    "name behind another error": (
        "try:\n    from mybackend import LATE\nexcept ImportError as error:\n    raise RuntimeError('no') from error"
    ),
    "name while handling another error": (
        "try:\n    from mybackend import LATE\nexcept ImportError:\n    raise RuntimeError('no')"
    ),
}


@pytest.mark.parametrize("need", NEEDS.values(), ids=NEEDS.keys())
@pytest.mark.parametrize("where", ["in the module", "in a hook"])
def test_plugin_that_needs_what_its_package_has_not_made_yet_waits(tmp_path: Path, need: str, where: str) -> None:
    names = dedent(NAMES)
    if where == "in the module":
        names = f"print('tried', flush=True)\n{need}\n{names}"
    else:
        body = indent(f"print('tried', flush=True)\n{need}\nreturn []\n", "    ")
        names += f"\n@hookimpl\ndef complog_artifacts():\n{body}"
    package = """
        import engine
        (plugin,) = engine.load()
        engine.show(plugin)
        print(engine.retry(plugin) is plugin, engine.awaits_import(plugin))
        LATE = 1
    """
    add(tmp_path, "mybackend._names", {"mybackend": package, "mybackend._names": names})
    lines = run(tmp_path, "import mybackend, engine\nengine.show(engine.retry(mybackend.plugin))")
    assert lines == ["tried", "set aside", "True True", "tried", "loaded tiler"]


def test_plugin_that_needs_a_sibling_under_way_waits(tmp_path: Path) -> None:
    modules = {
        "mybackend": "import mybackend.ops",
        "mybackend.ops": "import engine\n(plugin,) = engine.load()\nengine.show(plugin)\nLATE = 1\n",
        "mybackend._names": "from mybackend.ops import LATE\n" + dedent(NAMES),
    }
    add(tmp_path, "mybackend._names", modules)
    lines = run(tmp_path, "import mybackend.ops, engine\nengine.show(engine.retry(mybackend.ops.plugin))")
    assert lines == ["set aside", "loaded tiler"]


def test_attribute_that_its_module_has_not_made_yet_is_waited_for(tmp_path: Path) -> None:
    body = "import engine\n(plugin,) = engine.load()\nengine.show(plugin)\n"
    names = dedent(NAMES) + "import sys\nthis = sys.modules[__name__]\n"
    add(tmp_path, "mybackend:this", {"mybackend": body + names})
    lines = run(tmp_path, "import mybackend, engine\nengine.show(engine.retry(mybackend.plugin))")
    assert lines == ["set aside", "loaded tiler"]


def test_module_passed_directly_waits_for_its_own_import(tmp_path: Path) -> None:
    body = "import engine, sys\nplugin = engine.load_object(sys.modules[__name__])\nengine.show(plugin)\n"
    write_modules(tmp_path, {"engine": ENGINE, "mybackend": body + dedent(NAMES)})
    lines = run(tmp_path, "import mybackend, engine\nengine.show(engine.retry(mybackend.plugin))")
    assert lines == ["set aside", "loaded tiler"]


@pytest.mark.parametrize("value", ["mybackend", "mybackend._names"])
def test_import_that_ends_with_an_error_makes_the_plugin_a_failed_one(tmp_path: Path, value: str) -> None:
    package = "import engine\nengine.plugins = engine.plugins if hasattr(engine, 'plugins') else engine.load()\n"
    modules = {"mybackend": package + "raise LookupError('half way')", "mybackend._names": "from mybackend import LATE"}
    add(tmp_path, value, {name: modules[name] for name in {"mybackend", value}})
    result = run_python(
        """
        try:
            import mybackend
        except LookupError:
            import engine
        (plugin,) = engine.plugins
        engine.show(plugin)
        print(engine.awaits_import(plugin))
        engine.show(engine.retry(plugin))
        """,
        paths=[tmp_path],
    )
    assert result.stdout.splitlines() == ["set aside", "False", "failed"]
    (line,) = result.stderr.splitlines()
    assert "LookupError: half way" in line


FAULTS = {
    "another error": "1 / 0",
    "a name that no module has": "from mybackend.ops import absent",
    "a module that is not there": "import mybackend.absent",
    "an attribute of no module": "object().absent",
    "what complog does not have": "from complog_core import absent",
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_package_under_way_excuses_no_other_fault(tmp_path: Path, fault: str) -> None:
    modules = {
        "mybackend": "import mybackend.ops, engine\nengine.show(*engine.load())\n",
        "mybackend.ops": "",
        "mybackend._names": fault,
    }
    add(tmp_path, "mybackend._names", modules)
    result = run_python("import mybackend", paths=[tmp_path])
    assert result.stdout == "failed\n"
    assert len(result.stderr.splitlines()) == 1


def test_error_that_the_program_is_handling_excuses_no_fault(tmp_path: Path) -> None:
    package = """
        import engine
        try:
            from mybackend import LATE
        except ImportError:
            engine.show(*engine.load())
    """
    add(tmp_path, "mybackend._names", {"mybackend": package, "mybackend._names": "raise ValueError"})
    assert run_python("import mybackend", paths=[tmp_path]).stdout == "failed\n"


def test_complog_itself_under_way_excuses_nothing(tmp_path: Path) -> None:
    add(tmp_path, "mybackend", {"mybackend": "from complog import absent"})
    write_modules(tmp_path / "first", {"complog": "import engine\nengine.show(*engine.load())\n"})
    code = "import sys; sys.path.insert(0, sys.argv[1]); import complog"
    assert run_python(code, paths=[tmp_path], args=[str(tmp_path / "first")]).stdout == "failed\n"


def test_import_in_another_thread_is_not_waited_for(tmp_path: Path) -> None:
    slow = "import gate\ngate.entered.set()\ngate.leave.wait(30)\n"
    add(tmp_path, "mybackend", {"mybackend": slow + dedent(NAMES)})
    gate = "import threading\nentered, leave = threading.Event(), threading.Event()\n"
    write_modules(tmp_path, {"gate": gate})
    lines = run(
        tmp_path,
        """
        import threading, gate, engine
        thread = threading.Thread(target=lambda: __import__("mybackend"))
        thread.start()
        gate.entered.wait(30)
        (plugin,) = engine.load()
        engine.show(plugin)
        gate.leave.set()
        thread.join(30)
        engine.show(engine.retry(plugin))
        """,
    )
    assert lines == ["set aside", "loaded tiler"]


def test_deadlock_of_import_locks_is_waited_out(tmp_path: Path) -> None:
    names = """
        import _frozen_importlib, importlib, threading, time
        import gate

        if not gate.entered.is_set():
            thread = threading.Thread(target=lambda: __import__("other"))
            thread.start()
            gate.entered.wait(30)
            while not _frozen_importlib._blocking_on.get(thread.ident):
                time.sleep(0.001)
            importlib.import_module("other")
    """
    modules = {
        "mybackend": "",
        "mybackend._names": dedent(names) + dedent(NAMES),
        "other": "import gate\ngate.entered.set()\nimport mybackend._names\n",
        "gate": "import threading\nentered = threading.Event()\n",
    }
    add(tmp_path, "mybackend._names", modules)
    lines = run(
        tmp_path,
        """
        import threading, engine
        (plugin,) = engine.load()
        engine.show(plugin)
        for thread in threading.enumerate():
            if thread is not threading.main_thread():
                thread.join(30)
        engine.show(engine.retry(plugin))
        """,
    )
    assert lines == ["set aside", "loaded tiler"]


@pytest.mark.parametrize("value", ["mybackend", "mybackend._names"])
@pytest.mark.parametrize("delays", [(0, 0), (0, 0.02), (0.02, 0)], ids=["together", "engine first", "plugin first"])
def test_engine_and_backend_imported_by_two_threads_at_once_end_well(
    tmp_path: Path, value: str, delays: tuple[float, float]
) -> None:
    package = "import time\ntime.sleep(0.01)\nimport default_system\ntime.sleep(0.01)\n"
    modules = {"mybackend": package if value != "mybackend" else package + dedent(NAMES)}
    if value != "mybackend":
        modules[value] = NAMES
    system = "import time, engine\ntime.sleep(0.01)\nplugins = engine.load()\ntime.sleep(0.01)\n"
    add(tmp_path, value, {**modules, "default_system": system})
    lines = run(
        tmp_path,
        f"""
        import threading, time, engine
        start = threading.Barrier(2)

        def bring_in(name, delay):
            start.wait(30)
            time.sleep(delay)
            __import__(name)

        threads = [threading.Thread(target=bring_in, args=each)
                   for each in zip(("default_system", "mybackend"), {delays})]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        import default_system
        engine.show(engine.retry(*default_system.plugins))
        """,
    )
    assert lines == ["loaded tiler"]
