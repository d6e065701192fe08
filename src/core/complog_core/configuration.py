"""One whole configuration, computed aside from an assembly, the environment and the API's request."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import MappingProxyType

from .assembly import Assembly
from .environment import parse_texts
from .errors import SettingsError
from .model import LogState, Request, Source
from .reading import Reading
from .registry import Registry, by_spelling
from .resolve import DEFAULT_LEVEL, Resolution, World, resolve, set_above
from .values import NamedTuple

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
    reading: Reading,
    request: Request,
    world: World,
    help_page: Callable[[bool], str],
) -> Configuration:
    """Let exactly one speak: the texts of the environment, else the API's request, else a parent process, else nobody.

    Raises HelpRequested where a text asks for help; every other problem is returned.
    """
    texts, outputs = reading.texts, reading.outputs
    problems: Problems = []
    inherited = Request()
    if reading.inherited and not texts and not request.made:
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
    values = {keyword.name: keyword.default for _, keyword in assembly.keywords}
    values.update((name, value) for name, value in request.keywords.items() if name in values)
    values.update(reading.values)
    problems += (*reading.bad_values, *reading.bad_outputs)
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
