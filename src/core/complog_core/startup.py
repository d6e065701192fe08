"""Which process is this? One that reports bad settings by itself, or a worker of torch in which none may ever speak."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Final, Literal

Program = tuple[Literal["module", "script", "code", "none"], str]

_WORKER_FILES: Final = (
    ("torch", "_inductor", "compile_worker", "__main__.py"),
    ("torch", "_inductor", "__autotune_main__.py"),
)
_WORKER_OPTIONS: Final = frozenset({"--pickler", "--parent", "--read-fd", "--write-fd"})
_AGENT_FILES: Final = (("torch", "distributed", "run.py"), ("torch", "distributed", "launch.py"))
_AGENT_MODULES: Final = ("torch.distributed.run", "torch.distributed.launch")
_IMPORTERS: Final = frozenset({"importlib._bootstrap", "importlib.util", "importlib", "runpy"})


_start_is_held = False


def hold_start() -> None:
    """Let a later first `import complog` define everything and configure nothing; somebody else calls init_logs."""
    global _start_is_held
    _start_is_held = True


def start_is_held() -> bool:
    """Return whether `hold_start` was called in this process."""
    return _start_is_held


def reports_itself() -> bool:
    """Return whether this process tells its user about bad settings by itself, so that an import need not raise.

    It is the command line, or pytest that is importing `complog.testing` as a plugin. Walks the frames of the caller:
    for use once something is wrong.
    """
    kind, value = find_program(sys.orig_argv)
    if kind == "module" and value in ("complog", "complog.__main__"):
        return True
    if kind == "script" and _is_console_script(value):
        return True
    return any(_imports_command_line(frame) or _imports_pytest_plugin(frame) for frame in _frames())


def in_worker() -> bool:
    """Return whether this is a compile worker of torch's inductor, a child of one, or torchrun's agent process.

    An exception or a line of ours there hangs or confuses the job; the program itself has reported the same settings.
    """
    argv = sys.orig_argv
    if {argument.partition("=")[0] for argument in argv} >= _WORKER_OPTIONS:
        return True
    kind, value = find_program(argv)
    # a spawned child of a worker has its own command, but is given the worker's sys.argv before it imports anything
    script = value if kind == "script" else sys.argv[0] if getattr(sys, "argv", None) else ""
    if any(_ends_with(script, file) for file in _WORKER_FILES):
        return True
    if _is_child() and os.environ.get("TORCH_WARM_POOL") == "0":
        return True  # inductor sets that before it spawns workers
    if kind == "module":
        return value == "torch._inductor.compile_worker" or (value in _AGENT_MODULES and not _is_child())
    if kind == "script":
        agent = _stem(value) == "torchrun" or any(_ends_with(value, file) for file in _AGENT_FILES)
        return agent and not _is_child()
    return False


def may_raise() -> bool:
    """Return whether a bad setting may be raised here: not in a worker, nor in a child of multiprocessing.

    A pool starts such a child anew as often as it fails, while the program waits for it.
    """
    return not (in_worker() or _is_child())


def find_program(argv: Sequence[str]) -> Program:
    """Return what an interpreter's command line runs: a module, a script, code, or none of these.

    >>> find_program(["python", "-X", "dev", "-um", "complog", "help"]), find_program(["python", "train.py", "-m", "x"])
    (('module', 'complog'), ('script', 'train.py'))
    """
    arguments = iter(argv[1:])
    for argument in arguments:
        if argument == "--check-hash-based-pycs":
            next(arguments, None)
        elif argument.startswith("--"):
            continue
        elif len(argument) < 2 or argument[0] != "-":
            return ("script", argument) if argument != "-" else ("none", "")
        else:
            for position, letter in enumerate(argument[1:], 2):
                if letter in "mcWX":
                    value = argument[position:] or next(arguments, "")
                    if letter in "mc":
                        return ("module", value) if letter == "m" else ("code", value)
                    break
    return ("none", "")


def _is_console_script(path: str) -> bool:
    if _stem(path) != "complog":
        return False
    if path.lower().endswith(".exe"):
        return True
    try:
        with open(path, "rb") as file:
            return b"complog.cli" in file.read(4096)
    except OSError:
        return False


def _imports_command_line(frame: FrameType) -> bool:
    # covers a console script of another name, and runners such as `coverage run -m complog`
    if frame.f_globals.get("__name__") not in _IMPORTERS:
        return False
    wanted = (frame.f_locals.get(variable) for variable in ("name", "fullname", "mod_name"))
    return any(
        isinstance(name, str) and (name == "complog.__main__" or f"{name}.".startswith("complog.cli."))
        for name in wanted
    )


def _imports_pytest_plugin(frame: FrameType) -> bool:
    return (
        frame.f_code.co_name == "import_plugin"
        and frame.f_globals.get("__name__") == "_pytest.config"
        and frame.f_locals.get("modname") == "complog.testing"
    )


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_child() -> bool:
    # torchrun forks or spawns the programs themselves where it is told to run them in processes of its own
    # while a spawned child imports the program it does not know its parent yet
    if "--multiprocessing-fork" in sys.orig_argv or find_program(sys.orig_argv)[1].startswith("from multiprocessing."):
        return True
    multiprocessing = sys.modules.get("multiprocessing")
    return multiprocessing is not None and multiprocessing.parent_process() is not None


def _stem(path: str) -> str:
    name = os.path.basename(path.replace("\\", "/") if os.name == "nt" else path)
    for ending in ("-script.pyw", "-script.py", ".exe", ".EXE"):
        name = name.removesuffix(ending)
    return name


def _ends_with(path: str, parts: tuple[str, ...]) -> bool:
    return path.endswith(parts[-1]) and tuple(path.replace("\\", "/").split("/")[-len(parts) :]) == parts
