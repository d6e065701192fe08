"""What tools see of `set_logs`: its signature, its docstring, the stub file; every installed keyword is in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from .model import Keyword
from .registry import Entry, Registry
from .wording import (
    Keywords,
    contributed,
    flatten,
    keyword_variable,
    next_step,
    parameters,
    providers,
    rest_name,
)

if TYPE_CHECKING:
    import ast
    import inspect

_LEVEL: Final[Any] = int | str | None
_SWITCH: Final[Any] = bool | None
_EITHER: Final[Any] = int | str | bool | None
_MODULES: Final[Any] = Mapping[str, _EITHER] | None
_ARITY: Final = {"list": 1, "set": 1, "frozenset": 1, "Sequence": 1, "Iterable": 1, "dict": 2, "Mapping": 2}
_PLAIN: Final = frozenset({"int", "str", "bool", "float", "bytes", "complex", "object", "Any"})


def set_logs_signature(registry: Registry, keywords: Keywords) -> inspect.Signature:
    """Return the signature of `set_logs`: fixed parameters, contributed keywords, then every name that can be one.

    >>> from complog_core.model import Artifact, PluginInfo
    >>> registry = Registry.build([(PluginInfo("dynamo"), Artifact("guards"))])
    >>> str(set_logs_signature(registry, ())).partition("guards")[2]
    ': bool | None = None, **names: int | str | bool | None) -> None'
    """
    from inspect import Parameter, Signature

    found = contributed(keywords)
    names = parameters(registry, keywords)
    keyword_only = Parameter.KEYWORD_ONLY
    members = [
        Parameter("settings", Parameter.POSITIONAL_ONLY, default=None, annotation=str | None),
        Parameter("all", keyword_only, default=None, annotation=_LEVEL),
        Parameter("modules", keyword_only, default=None, annotation=_MODULES),
        Parameter("inherit", keyword_only, default=False, annotation=bool),
    ]
    members += [
        Parameter(keyword.name, keyword_only, default=keyword.default, annotation=keyword.type) for _, keyword in found
    ]
    members += [
        Parameter(name, keyword_only, default=None, annotation=_LEVEL if _takes_level(entries) else _SWITCH)
        for name, entries in names.items()
    ]
    rest = rest_name([*(keyword.name for _, keyword in found), *names])
    members.append(Parameter(rest, Parameter.VAR_KEYWORD, annotation=_EITHER))
    return Signature(members, return_annotation=None)


def set_logs_doc(registry: Registry, keywords: Keywords, *, prefix: str) -> str:
    """Return the docstring of `set_logs`: the general rules, then each keyword with what it is and who brings it.

    >>> set_logs_doc(Registry(), (), prefix="MYLIB").splitlines()[0]
    'Choose what is logged; each call replaces everything that an earlier call chose.'
    """
    lines = [
        "Choose what is logged; each call replaces everything that an earlier call chose.",
        "",
        f"`settings` is a text as {prefix}_LOGS takes it. A component takes a level, as a number or a name of the",
        'standard library or "off"; an artifact takes True or False (muted); None is as good as absent.',
        "`modules` maps names to the same values: dotted names of modules and loggers, and registered names whatever",
        "their spelling. `all` is the level of every component that is not named.",
        "",
        f"While {prefix}_LOGS is set, it alone counts: the arguments are checked, one warning is given, and nothing",
        "changes. Raises ValueError that lists every bad argument; nothing has changed then.",
        "",
        "Example::",
        "",
        f"    {_example(registry)}",
        "",
        "Keywords of this installation:",
        "",
        "all: int | str",
        "    The default level of every component.",
        "modules: mapping of str to int | str | bool",
        f"    Names that are no legal keywords; {next_step(prefix)} lists all.",
        "inherit: bool, default False",
        "    Whether processes that are started from now on begin with these settings.",
    ]
    for owner, keyword in contributed(keywords):
        variable = keyword_variable(keyword, prefix)
        also = f", also the variable {variable}" if variable else ""
        lines.append(f"{keyword.name}: {_shown(keyword.type)}, default {keyword.default!r}{also}")
        lines.append(f"    {flatten(f'{keyword.doc} [{providers((owner,))}]')}")
    for name in registry.names():
        for entry in registry.lookup(name):
            lines.append(f"{name}: {'int | str, component' if entry.kind == 'component' else 'bool, artifact'}")
            lines.append(f"    {flatten(f'{entry.description} [{providers(entry.owners)}]')}")
    return "\n".join(lines) + "\n"


def set_logs_stub(registry: Registry, keywords: Keywords, *, prefix: str) -> str:
    """Return the text of a stub file (.pyi) for the package `complog`: `set_logs` and `logs` have every keyword.

    Type checkers and editors that find it check and complete the names of this installation.

    >>> "def set_logs(" in set_logs_stub(Registry(), (), prefix="TORCH")
    True
    """
    found = contributed(keywords)
    names = parameters(registry, keywords)
    members = ["settings: str | None = None", "/", "*", "all: int | str | None = None"]
    members.append("modules: Mapping[str, int | str | bool | None] | None = None")
    members.append("inherit: bool = False")
    members += [f"{keyword.name}: {_annotate(keyword)} = ..." for _, keyword in found]
    members += [
        f"{name}: {'int | str | None' if _takes_level(entries) else 'bool | None'} = None"
        for name, entries in names.items()
    ]
    rest = rest_name([*(keyword.name for _, keyword in found), *names])
    members.append(f"**{rest}: int | str | bool | None")
    signature = "".join(f"    {member},\n" for member in members)
    doc = set_logs_doc(registry, keywords, prefix=prefix).replace("\\", "\\\\").replace('"', '\\"')
    body = "".join(f"    {line}\n" if line else "\n" for line in doc.splitlines())
    return _STUB.format(signature=signature, doc=body.strip())


def _takes_level(entries: tuple[Entry, ...]) -> bool:
    return any(entry.kind == "component" for entry in entries)


def _example(registry: Registry) -> str:
    chosen = [name for name, entries in parameters(registry, ()).items() if _takes_level(entries)][-1:]
    switches = [name for name, entries in parameters(registry, ()).items() if not _takes_level(entries)][:1]
    arguments = [f"{name}=logging.DEBUG" for name in chosen or ["all"]] + [f"{name}=True" for name in switches]
    return f"set_logs({', '.join(arguments)})"


def _shown(kind: object) -> str:
    if isinstance(kind, str):
        return kind
    return kind.__name__ if isinstance(kind, type) and not hasattr(kind, "__args__") else str(kind)


def _annotate(keyword: Keyword) -> str:
    import ast

    text = _shown(keyword.type)
    for module in ("typing.", "collections.abc."):
        text = text.replace(module, "")
    try:
        annotation = _rewrite(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError):
        annotation = "Any"
    return annotation if "None" in annotation.split(" | ") or annotation == "Any" else f"{annotation} | None"


def _rewrite(node: ast.expr) -> str:
    """Return an annotation that the stub's imports make valid under strict checking; ValueError for any other."""
    import ast

    if isinstance(node, ast.Constant) and node.value is None:
        return "None"
    if isinstance(node, ast.Name):
        if node.id in _PLAIN:
            return node.id
        if node.id == "tuple":
            return "tuple[Any, ...]"
        if node.id in _ARITY:
            return f"{node.id}[{', '.join(['Any'] * _ARITY[node.id])}]"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return f"{_rewrite(node.left)} | {_rewrite(node.right)}"
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        name = node.value.id
        members = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Optional" and len(members) == 1:
            return f"{_rewrite(members[0])} | None"
        if name == "Literal" and all(isinstance(m, ast.Constant) and isinstance(m.value, str | int) for m in members):
            return f"Literal[{', '.join(ast.unparse(member) for member in members)}]"
        if name == "Union" and members:
            return " | ".join(_rewrite(member) for member in members)
        if name == "tuple" and len(members) == 2 and isinstance(members[1], ast.Constant) and members[1].value is ...:
            return f"tuple[{_rewrite(members[0])}, ...]"
        if (name == "tuple" and members) or _ARITY.get(name) == len(members):
            return f"{name}[{', '.join(_rewrite(member) for member in members)}]"
    raise ValueError(ast.dump(node))


_STUB: Final = """\
# Written by `complog stub` for the plugins that were installed then; write it anew when they change.

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from logging import Logger
from os import PathLike
from traceback import FrameSummary
from typing import Any, Literal

from complog_core import (
    OFF as OFF,
    Artifact as Artifact,
    ComplogError as ComplogError,
    Component as Component,
    Field as Field,
    FormatError as FormatError,
    GlogFormatter as GlogFormatter,
    HelpRequested as HelpRequested,
    Keyword as Keyword,
    LazyString as LazyString,
    LogState as LogState,
    LogSystem as LogSystem,
    OutputError as OutputError,
    Outputs as Outputs,
    OwnershipError as OwnershipError,
    PluginError as PluginError,
    PluginInfo as PluginInfo,
    Setting as Setting,
    SettingsError as SettingsError,
    __version__ as __version__,
    hide_warnings as hide_warnings,
    hookimpl as hookimpl,
    warning_once as warning_once,
)

DEFAULT_LOGGING: dict[str, int | bool]
default_system: LogSystem

def set_logs(
{signature}) -> None:
    \"\"\"{doc}
    \"\"\"

def logs(
{signature}) -> AbstractContextManager[LogState]: ...
def init_logs(strict: bool | None = None) -> None: ...
def current_state() -> LogState: ...
def is_enabled(artifact: str) -> bool: ...
def getArtifactLogger(module_qname: str, artifact_name: str) -> Logger: ...
def register_log(setting_name: str, log_name: str | list[str] | tuple[str, ...]) -> None: ...
def register_artifact(
    setting_name: str,
    description: str = "",
    visible: bool = False,
    off_by_default: bool = False,
    log_format: str | None = None,
) -> None: ...
def get_loggers() -> list[Logger]: ...
def help_message(verbose: bool = False) -> str: ...
def list_plugins() -> tuple[PluginInfo, ...]: ...
def trace_structured(
    name: str,
    metadata_fn: Callable[[], dict[str, Any] | tuple[str, int]] = ...,
    *,
    payload_fn: Callable[[], object] = ...,
    suppress_context: bool = False,
    expect_trace_id: bool = True,
    record_logging_overhead: bool = True,
    compile_id: Any = None,
) -> None: ...
def trace_structured_artifact(
    name: str, encoding: str, payload_fn: Callable[[], object] = ..., compile_id: Any = None
) -> None: ...
def dtrace_structured(
    name: str,
    metadata_fn: Callable[[], dict[str, Any] | tuple[str, int]] = ...,
    *,
    payload_fn: Callable[[], object] = ...,
    suppress_context: bool = False,
    expect_trace_id: bool = False,
    record_logging_overhead: bool = True,
) -> None: ...
def intern_string(s: str | None) -> int: ...
def from_traceback(tb: Sequence[FrameSummary]) -> list[dict[str, Any]]: ...
def dump_file(filename: str) -> None: ...
def get_structured_logging_overhead() -> float | None: ...
def set_trace(directory: str | PathLike[str] | None, *, detailed: bool | None = None) -> None: ...
"""
