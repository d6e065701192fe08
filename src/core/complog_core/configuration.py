"""One whole configuration, computed aside from an assembly, the environment and the API's request."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .assembly import Assembly
from .contributions import read_contribution
from .describing import make_describer
from .environment import Texts, name_inherited, parse_texts, read_keywords
from .errors import SettingsError
from .faults import note_fault, note_fault_of, remember_owners
from .formats import BrokenFormatError, bare_name, make_formatter
from .handlers import Pipeline
from .model import Artifact, Field, LogState, Outputs, PluginInfo, Request, Source
from .registry import Registry
from .resolve import DEFAULT_LEVEL, Resolution, World, by_spelling, resolve, set_above
from .values import NamedTuple

if TYPE_CHECKING:
    from .files import FileOutput

Checked = dict[tuple[str, Callable[..., object]], tuple[object, tuple[Any, ...]]]
"""What the hooks gave last, and what of it has been checked."""

Problems = list[tuple[str, str]]


class Configuration(NamedTuple):
    """A state with the resolution it came from and the problems found on the way, as (variable, problem)."""

    state: LogState
    resolution: Resolution
    problems: tuple[tuple[str, str], ...]
    names: frozenset[str] = frozenset()
    """What the settings name, as it was written."""
    kind: type[SettingsError] = SettingsError
    """The error that the problems are: FormatError or OutputError where they all are."""

    @property
    def names_something(self) -> bool:
        return bool(self.resolution.levels or self.resolution.artifacts or self.resolution.pending)


def configure(
    assembly: Assembly,
    prefix: str,
    outputs: Outputs,
    texts: Texts,
    request: Request,
    world: World,
    help_page: Callable[[bool], str],
) -> Configuration:
    """Let exactly one speak: the texts of the environment, else the API's request, else a parent process, else nobody.

    Raises HelpRequested where a text asks for help; every other problem is returned.
    """
    problems: Problems = []
    inherited = Request()
    if not texts and not request.made and os.environ.get(name_inherited(prefix)):
        from .inheritance import unpack

        inherited = unpack(os.environ, prefix, assembly.keywords_by_name)
    request = inherited or request
    source: Source = "environment" if texts else "inherited" if inherited else "api" if request else "default"
    if texts:
        settings, problems = parse_texts(texts, help_page)
    else:
        settings = request.settings
        # what the API asked for was valid then; a name that has become ambiguous since does not wait. Where a parent
        # process asked, other plugins may be installed or loaded, which is nobody's mistake
        world = World(world.exists, world.provider, world.explain, world.foreign)
        if inherited:
            world = world._replace(settled=lambda setting: True)
    resolution = resolve(settings, assembly.registry, world)
    problems += resolution.problems
    values, more = _read_values(assembly, prefix, request)
    problems += more
    ranks = values.get("ranks")
    # in the order of the fields, which is a third of the time
    state = LogState(
        prefix,
        source,
        MappingProxyType(dict(resolution.levels)),
        MappingProxyType(by_spelling(resolution.artifacts, assembly.registry)),
        MappingProxyType(values),
        outputs._replace(ranks=ranks) if isinstance(ranks, frozenset) else outputs,
        tuple([setting.text for setting in resolution.pending]),
        MappingProxyType(_defaults(assembly.registry, resolution)),
    )
    return Configuration(
        state, resolution, tuple(problems), frozenset([setting.name for setting in settings]), SettingsError
    )


def _defaults(registry: Registry, resolution: Resolution) -> dict[str, int]:
    inheriting = set_above(resolution.levels, registry)
    defaults = dict.fromkeys(registry.top_level, DEFAULT_LEVEL)
    return {name: level for name, level in defaults.items() if name not in inheriting} if inheriting else defaults


def _read_values(assembly: Assembly, prefix: str, request: Request) -> tuple[dict[str, Any], Problems]:
    keywords = [keyword for _, keyword in assembly.keywords]
    values = {keyword.name: keyword.default for keyword in keywords}
    values.update((name, value) for name, value in request.keywords.items() if name in values)
    from_variables, problems = read_keywords(os.environ, prefix, keywords)
    values.update(from_variables)
    return values, problems


class Built(NamedTuple):
    """A pipeline, the state with the outputs that could be had, the problems, and the kind of error that they are."""

    pipeline: Pipeline
    state: LogState
    problems: tuple[tuple[str, str], ...] = ()
    kind: type[SettingsError] = SettingsError


class Outlets:
    """Builds the pipeline that belongs to a state, reusing the file that is open, and closes what is left behind."""

    def __init__(self, prefix: str, artifacts: Mapping[str, Artifact]) -> None:
        self._prefix = prefix
        self._artifacts = artifacts
        self.out_variable = f"{prefix}_LOGS_OUT"
        self._checked: Checked = {}
        self._default: tuple[tuple[Field, ...], logging.Formatter | None] = ((), None)

    def build(self, assembly: Assembly, state: LogState, current: Pipeline) -> Built:
        """Return the new pipeline and state; a format or a file that cannot be had is a problem and left out."""
        problems: Problems = []
        owners: list[tuple[object, PluginInfo]] = []
        for owner, keyword in assembly.keywords:
            if keyword.apply is not None:
                try:
                    keyword.apply(state.keywords.get(keyword.name, keyword.default))
                except BaseException as error:
                    note_fault(owner, f"the keyword {keyword.name}", error, may_raise=True)
        fields = _first_of_each_name(self._gather(assembly, "complog_record_fields", owners))
        filters = tuple(self._gather(assembly, "complog_filters", owners))
        outputs = state.outputs
        kinds: set[type[SettingsError]] = set()
        owner_of_format = None
        try:
            if outputs.format is None:
                formatter = self._default_formatter(assembly, fields)
            else:
                name = bare_name(outputs.format, assembly.formatters)
                if name in assembly.formatters:
                    outputs = outputs._replace(format=name)
                    owner_of_format = assembly.format_owners.get(name)
                formatter = self._formatter(assembly, outputs.format, fields)
                if owner_of_format is not None:
                    owners.append((getattr(formatter, "inner", formatter), owner_of_format))
        except (SettingsError, BrokenFormatError) as error:
            if isinstance(error, SettingsError):
                problems += [(error.source, problem) for problem in error.problems]
                kinds.add(type(error))
            elif owner_of_format is not None:
                note_fault(owner_of_format, error.what, error.cause, may_raise=True)
            outputs = outputs._replace(format=None)
            formatter = self._default_formatter(assembly, fields)
        file: FileOutput | None = None
        if outputs.path is not None:
            try:
                file = self._open(outputs.path, current)
                outputs = outputs._replace(path=file.path)
            except SettingsError as error:
                problems += [(error.source, problem) for problem in error.problems]
                kinds.add(type(error))
                outputs = outputs._replace(path=None)
        handlers: tuple[logging.Handler, ...] = ()
        if "complog_handlers" in assembly.hooks:
            describer = make_describer(self._prefix, assembly.registry, fields, self._artifacts)
            handlers = tuple(self._gather(assembly, "complog_handlers", owners, outputs=outputs, describer=describer))
        painters = tuple(self._gather(assembly, "complog_console_painters", owners, outputs=outputs))
        remember_owners(self._prefix, owners)
        pipeline = Pipeline(filters, formatter, outputs.stderr, file, handlers, outputs.propagate, painters)
        kind = kinds.pop() if len(kinds) == 1 else SettingsError
        if outputs is not state.outputs:
            state = state._replace(outputs=outputs)
        return Built(pipeline, state, tuple(problems), kind)

    def forget(self) -> None:
        """Forget what the hooks gave."""
        self._checked.clear()
        self._default = ((), None)

    def retire(self, old: Pipeline, new: Pipeline) -> None:
        """Close the file and the contributed handlers of `old` that `new` does not use."""
        if old.file is not None and old.file is not new.file:
            old.file.close()
        for handler in old.handlers:
            if all(handler is not other for other in new.handlers):
                try:
                    handler.close()
                except BaseException as error:
                    note_fault_of(handler, f"{type(handler).__name__}.close()", error)

    def _default_formatter(self, assembly: Assembly, fields: tuple[Field, ...]) -> logging.Formatter:
        # kept, with what it has worked out
        known, formatter = self._default
        if formatter is None or fields != known:
            formatter = self._formatter(assembly, None, fields)
            self._default = (fields, formatter)
        return formatter

    def _formatter(self, assembly: Assembly, name: str | None, fields: tuple[Field, ...]) -> logging.Formatter:
        variable = f"{self._prefix}_LOGS_FORMAT"
        return make_formatter(
            name,
            assembly.formatters,
            fields,
            self._artifacts,
            variable=variable,
            find_components=assembly.registry.components_above,
        )

    def _open(self, template: str, current: Pipeline) -> FileOutput:
        if current.file is not None and current.file.template == template:
            return current.file
        from .files import FileOutput  # most programs write none

        return FileOutput(template, variable=self.out_variable)

    def _gather(
        self, assembly: Assembly, hook: str, owners: list[tuple[object, PluginInfo]], **arguments: Any
    ) -> list[Any]:
        gathered: list[Any] = []
        for owner, function in assembly.hooks.get(hook, ()):
            given = gather(owner, function, hook, self._checked, **arguments)
            if given:
                owners += [(thing, owner) for thing in given]
                gathered += given
        return gathered


def _first_of_each_name(fields: Iterable[Field]) -> tuple[Field, ...]:
    # a plugin may bring a field that another one, where it is installed, has too
    named: dict[str, Field] = {}
    for field in fields:
        named.setdefault(field.name, field)
    return tuple(named.values())


def _are_same(given: Sequence[Any], before: tuple[Any, ...]) -> bool:
    # a field is made anew each time; whatever else is equal to another one need not be the same to its plugin
    if len(given) != len(before):
        return False
    if not before:
        return True
    pairs = zip(given, before, strict=True)
    return all(a is b or (type(a) is Field and type(b) is Field and a == b) for a, b in pairs)


def gather(
    owner: PluginInfo,
    function: Callable[..., object],
    hook: str,
    known: Checked | None = None,
    **arguments: Any,
) -> tuple[Any, ...]:
    """Return what one plugin's hook gives, checked; nothing, and one warning, where it fails.

    `known` is what functions gave before: most give the same each time, and checking that takes longer than they do.
    """
    try:
        result = function(**arguments)
        if known is not None and (hook, function) in known:
            raw, before = known[hook, function]
            if (raw is not None and result is raw) or (isinstance(result, (tuple, list)) and _are_same(result, before)):
                return before
        given = tuple(read_contribution(hook, result))
    except BaseException as error:
        note_fault(owner, f"{hook}()", error, may_raise=True)
        return ()
    if known is not None:
        known[hook, function] = (result if type(result) is tuple else None, given)
    return given
