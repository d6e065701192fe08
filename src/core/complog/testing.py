"""For authors of plugins: capture what is logged, make fake distributions, check a plugin; and a plugin for pytest.

`pytest -p complog.testing`, or `pytest_plugins = ["complog.testing"]` in the top-level conftest.py, reports a bad
TORCH_LOGS as a usage error, lets `caplog` see each record once, and adds the fixtures `complog_capture` and
`complog_state`. Importing this module does not need pytest.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final

from pluggy import HookimplMarker

from complog import HelpRequested, PluginError, PluginInfo, SettingsError, builtin, default_system

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

__all__ = ["Capture", "capture", "check_plugin", "fake_distribution"]

_pytest_hook: Final = HookimplMarker("pytest")


class Capture:
    """What was logged while a capture was active: records, and the text that each became. Safe for threads."""

    def __init__(self) -> None:
        self._pairs: list[tuple[logging.LogRecord, str]] = []

    @property
    def records(self) -> tuple[logging.LogRecord, ...]:
        """The records, in the order in which they arrived."""
        return tuple(record for record, _ in self._pairs.copy())

    @property
    def messages(self) -> tuple[str, ...]:
        """The message of each record, arguments filled in, nothing else added."""
        return tuple(record.getMessage() for record in self.records)

    @property
    def lines(self) -> tuple[str, ...]:
        """Every line as the console gets it; a record may have several."""
        return tuple(line for _, text in self._pairs.copy() for line in text.split("\n"))

    def clear(self) -> None:
        """Forget what was captured so far."""
        self._pairs.clear()


class _Collector(logging.Handler):
    def __init__(self, into: Capture) -> None:
        super().__init__()
        self._into = into

    def emit(self, record: logging.LogRecord) -> None:
        self._into._pairs.append((record, self.format(record)))


class _RootForwarder(logging.Handler):
    """Passes records to those handlers of the root logger that they do not come to by themselves."""

    def emit(self, record: logging.LogRecord) -> None:
        if default_system.current_state().outputs.propagate:
            return
        root = logging.getLogger()
        reached: list[logging.Handler] = []
        logger: logging.Logger | None = logging.getLogger(record.name)
        while logger is not None:
            # newer versions of pytest attach their handlers to loggers that do not propagate
            reached += logger.handlers
            logger = logger.parent if logger.propagate else None
        for handler in root.handlers.copy():
            if handler not in reached and record.levelno >= handler.level:
                handler.handle(record)


@contextmanager
def capture(*settings: str, **keywords: Any) -> Iterator[Capture]:
    """Collect what the default system logs in the block, under settings as `complog.logs` takes them.

    Each positional argument is a settings text. Without any argument the settings in force stay as they are. While
    TORCH_LOGS is set it has precedence here too. Raises ValueError for settings that cannot be used.

    >>> with capture("torch") as captured:
    ...     logging.getLogger("torch.somewhere").info("%d tiles", 3)
    >>> captured.messages
    ('3 tiles',)
    """
    if settings or keywords:
        with default_system.logs(",".join(settings) or None, **keywords), capture() as captured:
            yield captured
        return
    captured = Capture()
    with _contributing(_Collector(captured)):
        yield captured


@contextmanager
def _contributing(handler: logging.Handler) -> Iterator[None]:
    builtin.captures.append(handler)
    try:
        default_system.reconfigure(late=True)
        yield
    finally:
        builtin.captures.remove(handler)
        default_system.reconfigure(late=True)


def check_plugin(plugin: object) -> PluginInfo:
    """Load a plugin, a module or an object with hook implementations, by itself; return what complog knows of it.

    Raises PluginError with the cause, and the traceback where there is one, if it is broken. Nothing is registered.

    >>> import types
    >>> check_plugin(types.ModuleType("mybackend")).status
    'loaded'
    """
    from complog_core.loading import load_object

    info = load_object(plugin, environ={}).info
    if info.status != "loaded":
        story = f"\n{info.traceback}" if info.traceback else ""
        raise PluginError(f"{info}: {info.cause}{story}")
    return info


def fake_distribution(
    directory: str | os.PathLike[str],
    name: str,
    version: str = "1.0",
    *,
    group: str = "complog",
    entry_points: Mapping[str, str],
    modules: Mapping[str, str],
) -> Path:
    """Write an installed distribution into `directory`, which is created; return it, to be put on sys.path.

    `entry_points` maps names in `group` to what they point to, `modules` dotted names to source texts, which are
    dedented; a name that others lie under becomes a package. Several distributions may share a directory.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     made = fake_distribution(directory, "my-names", entry_points={"mine": "my_names"}, modules={"my_names": ""})
    ...     sorted(path.name for path in made.iterdir())
    ['my_names-1.0.dist-info', 'my_names.py']
    """
    from pathlib import Path
    from textwrap import dedent

    base = Path(directory)
    info = base / f"{name.replace('-', '_').replace('.', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    listed = "".join(f"{point} = {target}\n" for point, target in entry_points.items())
    (info / "entry_points.txt").write_text(f"[{group}]\n{listed}", encoding="utf-8")
    packages = {".".join(parts[:length]) for parts in map(_split, modules) for length in range(1, len(parts))}
    for module in sorted(packages | set(modules)):
        place = base.joinpath(*_split(module))
        file = place / "__init__.py" if module in packages else place.with_name(f"{place.name}.py")
        file.parent.mkdir(parents=True, exist_ok=True)
        if module in modules or not file.exists():
            file.write_text(dedent(modules.get(module, "")), encoding="utf-8")
    return base


def _split(module: str) -> list[str]:
    return module.split(".")


@_pytest_hook(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Report bad settings, and broken plugins where these are errors, as usage errors; show help that is asked for."""
    import pytest

    try:
        default_system.init_logs(strict=True)
    except HelpRequested as page:
        print(page)
        return 0
    except (SettingsError, PluginError) as error:
        raise pytest.UsageError(str(error)) from None
    return None


@_pytest_hook
def pytest_configure(config: pytest.Config) -> None:
    """Add the fixtures, and let the root logger's handlers, caplog's among them, see each record during the run."""
    config.pluginmanager.register(_make_fixtures(), "complog-fixtures")
    run = ExitStack()
    run.enter_context(_contributing(_RootForwarder()))
    config.add_cleanup(run.close)


def _make_fixtures() -> object:
    import pytest

    class Fixtures:
        @pytest.fixture
        def complog_capture(self) -> Iterator[Capture]:
            """What complog's default system logs during the test, under whatever settings are in force."""
            with capture() as captured:
                yield captured

        @pytest.fixture
        def complog_state(self) -> Iterator[Any]:
            """The default system with nothing set, no variable either; all is put back after the test."""
            before = _take_variables()
            with default_system.logs():
                yield default_system
                _take_variables()
            os.environ.update(before)
            default_system.init_logs(strict=False)

    return Fixtures()


def _take_variables() -> dict[str, str]:
    variables = {*default_system.env_vars, *(keyword.env_var for _, keyword in default_system.keywords)}
    begin = f"{default_system.prefix}_LOGS"
    return {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(begin) or name in variables}
