"""One whole configuration, computed aside from an assembly, the environment and the API's request."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from .arguments import Request
from .assembly import Assembly
from .contributions import read_contribution
from .describing import make_describer
from .environment import Texts, parse_texts, read_keywords
from .errors import SettingsError
from .faults import note_fault, note_fault_of, remember_owners
from .formatters import make_formatter
from .handlers import Pipeline
from .model import Artifact, Field, LogState, Outputs, PluginInfo, Source
from .outputs import FileOutput
from .registry import Registry, nearest_above, parent_of
from .resolve import DEFAULT_LEVEL, Resolution, World, by_spelling, resolve

Problems = list[tuple[str, str]]


class Configuration(NamedTuple):
    """A state with the resolution it came from and the problems found on the way, as (variable, problem)."""

    state: LogState
    resolution: Resolution
    problems: tuple[tuple[str, str], ...]
    names: frozenset[str] = frozenset()
    """What the settings name, as it was written."""

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
    """Let exactly one speak: the texts of the environment, else the API's request, else nobody.

    Raises HelpRequested where a text asks for help; every other problem is returned.
    """
    problems: Problems = []
    source: Source = "environment" if texts else "api" if request else "default"
    if texts:
        settings, problems = parse_texts(texts, help_page)
    else:
        settings = request.settings
        # what the API asked for was valid then; a name that has become ambiguous since does not wait
        world = world._replace(waiting=lambda: None, settled=lambda setting: False)
    resolution = resolve(settings, assembly.registry, world)
    problems += resolution.problems
    values, more = _read_values(assembly, prefix, request)
    problems += more
    ranks = values.get("ranks")
    state = LogState(
        prefix=prefix,
        source=source,
        levels=MappingProxyType(dict(resolution.levels)),
        artifacts=MappingProxyType(by_spelling(resolution.artifacts, assembly.registry)),
        keywords=MappingProxyType(values),
        outputs=outputs._replace(ranks=ranks if isinstance(ranks, frozenset) else None),
        pending=tuple(setting.text for setting in resolution.pending),
        defaults=MappingProxyType(_defaults(assembly.registry, resolution)),
    )
    return Configuration(state, resolution, tuple(problems), frozenset(setting.name for setting in settings))


def _defaults(registry: Registry, resolution: Resolution) -> dict[str, int]:
    set_above = (name for name in registry.top_level if nearest_above(parent_of(name), resolution.levels) is None)
    return dict.fromkeys(set_above, DEFAULT_LEVEL)


def _read_values(assembly: Assembly, prefix: str, request: Request) -> tuple[dict[str, Any], Problems]:
    keywords = [keyword for _, keyword in assembly.keywords]
    values = {keyword.name: keyword.default for keyword in keywords}
    values.update((name, value) for name, value in request.keywords.items() if name in values)
    from_variables, problems = read_keywords(os.environ, prefix, keywords)
    values.update(from_variables)
    return values, problems


class Outlets:
    """Builds the pipeline that belongs to a state, reusing the file that is open, and closes what is left behind."""

    def __init__(self, prefix: str, artifacts: Mapping[str, Artifact]) -> None:
        self._prefix = prefix
        self._artifacts = artifacts
        self.out_variable = f"{prefix}_LOGS_OUT"

    def build(self, assembly: Assembly, state: LogState, current: Pipeline) -> tuple[Pipeline, LogState, Problems]:
        """Return the new pipeline, the state with the outputs that could be had, and the problems."""
        problems: Problems = []
        owners: list[tuple[object, PluginInfo]] = []
        for owner, keyword in assembly.keywords:
            if keyword.apply is not None:
                try:
                    keyword.apply(state.keywords.get(keyword.name, keyword.default))
                except BaseException as error:
                    note_fault(owner, f"the keyword {keyword.name}", error, may_raise=True)
        fields = tuple(self._gather(assembly, "complog_record_fields", owners))
        filters = tuple(self._gather(assembly, "complog_filters", owners))
        outputs = state.outputs
        try:
            formatter = self._formatter(assembly, outputs.format, fields)
        except SettingsError as error:
            problems += [(error.source, problem) for problem in error.problems]
            outputs = outputs._replace(format=None)
            formatter = self._formatter(assembly, None, fields)
        file: FileOutput | None = None
        if outputs.path is not None:
            try:
                file = self._open(outputs.path, current)
                outputs = outputs._replace(path=file.path)
            except SettingsError as error:
                problems += [(error.source, problem) for problem in error.problems]
                outputs = outputs._replace(path=None)
        describer = make_describer(self._prefix, assembly.registry, fields, self._artifacts)
        given = self._gather(assembly, "complog_handlers", owners, outputs=outputs, describer=describer)
        handlers = tuple(given)
        remember_owners(self._prefix, owners)
        pipeline = Pipeline(
            filters=filters,
            formatter=formatter,
            console=outputs.stderr,
            file=file,
            handlers=handlers,
            propagate=outputs.propagate,
        )
        return pipeline, state._replace(outputs=outputs), problems

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

    def _formatter(self, assembly: Assembly, name: str | None, fields: tuple[Field, ...]) -> logging.Formatter:
        variable = f"{self._prefix}_LOGS_FORMAT"
        return make_formatter(name, assembly.formatters, fields, self._artifacts, variable=variable)

    def _open(self, template: str, current: Pipeline) -> FileOutput:
        if current.file is not None and current.file.template == template:
            return current.file
        return FileOutput(template, variable=self.out_variable)

    def _gather(
        self, assembly: Assembly, hook: str, owners: list[tuple[object, PluginInfo]], **arguments: Any
    ) -> list[Any]:
        gathered: list[Any] = []
        for owner, function in assembly.hooks.get(hook, ()):
            given = gather(owner, function, hook, **arguments)
            owners += [(thing, owner) for thing in given]
            gathered += given
        return gathered


def gather(owner: PluginInfo, function: Callable[..., object], hook: str, **arguments: Any) -> tuple[Any, ...]:
    """Return what one plugin's hook gives, checked; nothing, and one warning, where it fails."""
    try:
        return tuple(read_contribution(hook, function(**arguments)))
    except BaseException as error:
        note_fault(owner, f"{hook}()", error, may_raise=True)
        return ()
