"""Answers, in one process with or without the bridge, which records really reach the console under which settings.

It reads one line of JSON from stdin, {"cases": [...], "late": name}, after writing one that says what this PyTorch has;
then it writes one line per case. Each answer is a text of one character per logger and level:
`.` not enabled, `e` enabled and yet nothing written, `b` one bare line, `1` one formatted line, `2` two of them, and so
on; `x` something else, which a handler of the module's own has written, `y` that and one formatted line.
"""

from __future__ import annotations

import importlib
import inspect
import json
import logging
import os
import pkgutil
import sys
import warnings
from typing import Any

LEVELS = (5, 10, 20, 30, 40, 50)
PACKAGES = (
    *("torch._dynamo", "torch._functorch", "torch._inductor", "torch.fx", "torch._export", "torch.export"),
    *("torch.distributed", "torch.nn", "torch.onnx", "torch._native", "torch._subclasses", "torch.autograd"),
    "functorch",
)
LINE = "=m\n"
OUTSIDE = "elsewhere.module"


class Console:
    """A stderr that keeps what is written to it since the last look."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def write(self, text: str) -> int:
        self.texts.append(text)
        return len(text)

    def flush(self) -> None:
        """Do nothing: nothing is kept back."""


def import_everything() -> None:
    warnings.simplefilter("ignore")  # imports of old modules, not what is asked
    for package in PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
            try:
                importlib.import_module(module.name)
            except (ImportError, RuntimeError, AssertionError, AttributeError, NotImplementedError):
                pass  # it wants a device or a package that is not here; what it has created until then counts


def describe(internal: Any) -> dict[str, Any]:
    registry = internal.log_registry
    loggers = [name for name, it in logging.root.manager.loggerDict.items() if isinstance(it, logging.Logger)]
    loggers = [name for name in loggers if name.startswith(("torch", "functorch", "elsewhere"))]
    loggers.remove("torch.__trace")  # no settings of TORCH_LOGS are about it, and it never leads to the console
    loggers += [f"{name}.child.deep" for name in registry.get_log_qnames() | {"thirdparty", "faraway.near"}]
    return {
        "active": "complog_torch" in sys.modules and sys.modules["complog_torch"].is_active(),
        "components": {name: list(names) for name, names in registry.log_alias_to_log_qnames.items()},
        "artifacts": sorted(registry.artifact_names),
        "off_by_default": sorted(registry.off_by_default_artifact_names),
        "keywords": list(inspect.signature(internal.set_logs).parameters),
        "loggers": {name: getattr(logging.getLogger(name), "artifact_name", None) for name in sorted(set(loggers))},
        "modules": sorted(name for name in loggers if name in sys.modules),
    }


def configure(internal: Any, case: dict[str, Any]) -> str:
    """Apply a case; return what that raised, "" if nothing."""
    parse = getattr(internal, "_parse_log_settings", None)
    if hasattr(parse, "cache_clear"):
        parse.cache_clear()  # stock changes the states that it has cached
    os.environ.pop("TORCH_LOGS", None)
    try:
        if "text" in case:
            os.environ["TORCH_LOGS"] = case["text"]
            internal._init_logs()
        else:
            internal.set_logs(**case["keywords"])
    except Exception as error:
        if isinstance(internal.log_state, dict):
            internal.log_state = internal.LogState()  # stock's mistake, which would end everything after it
        return f"{type(error).__name__}: {error}"
    return ""


def decide(name: str, level: int, console: Console) -> str:
    logger = logging.getLogger(name)
    if not logger.isEnabledFor(level):
        return "."
    console.texts.clear()
    logger.handle(logging.LogRecord(name, level, "/x/y.py", 1, "m", (), None))
    text = "".join(console.texts)
    lines = text.count(LINE)
    if text == LINE * lines:
        return str(lines) if lines else "e"
    return "b" if text == "m\n" else ("x", "y", "z")[min(lines, 2)]


class Snapshot:
    """What stock PyTorch leaves behind of a dotted name, taken back, so that each case finds a fresh process."""

    def __init__(self, registry: Any) -> None:
        self._registry = registry
        self._names = dict(registry.log_alias_to_log_qnames)
        self._loggers = {
            name: (it.level, it.propagate, list(it.handlers))
            for name, it in logging.root.manager.loggerDict.items()
            if isinstance(it, logging.Logger)
        }

    def restore(self) -> None:
        self._registry.child_log_qnames.clear()
        self._registry.log_alias_to_log_qnames.clear()
        self._registry.log_alias_to_log_qnames.update(self._names)
        for name, it in list(logging.root.manager.loggerDict.items()):
            if isinstance(it, logging.Logger):
                # not setLevel: it empties every logger's cache each time
                it.level, it.propagate, it.handlers = self._loggers.get(name, (logging.NOTSET, True, []))
        logging.root.manager._clear_cache()


def answer_cases(internal: Any, console: Console) -> None:
    print(json.dumps(describe(internal)), flush=True)
    work = json.loads(sys.stdin.readline())
    stock = "complog_torch" not in sys.modules or not sys.modules["complog_torch"].is_active()
    for number, case in enumerate(work["cases"]):
        snapshot = Snapshot(internal.log_registry) if stock and case.get("dotted") else None
        fault = configure(internal, case)
        late = f"torch._inductor.late.m{number}"
        sys.modules["torch._logging"].getArtifactLogger(late, case["late"])
        names = [*work["loggers"], late, f"{late}.__{case['late']}"]
        answer = "".join(decide(name, level, console) for name in names for level in LEVELS)
        imported = [name for name in ("faraway", "faraway.near") if sys.modules.pop(name, None)]
        print(json.dumps({"answer": answer, "fault": fault, "imported": imported}), flush=True)
        if snapshot is not None:
            snapshot.restore()


def main() -> None:
    console, real = Console(), sys.stderr
    sys.stderr = console
    os.environ["TORCH_LOGS_FORMAT"] = "=%(message)s"
    try:
        import torch

        import_everything()
        for artifact in ("graph_code", "output_code"):
            torch._logging.getArtifactLogger(OUTSIDE, artifact)
        answer_cases(torch._logging._internal, console)
    finally:
        sys.stderr = real


if __name__ == "__main__":
    main()
