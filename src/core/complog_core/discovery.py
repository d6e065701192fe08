"""Entry points become candidates, and candidates are sorted out by what the environment allows; nothing loads here."""

from __future__ import annotations

import importlib
import io
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from . import report
from .model import PluginInfo, PluginStatus
from .modules import find_loaded, is_importing
from .values import NamedTuple

ALLOW: Final = "COMPLOG_PLUGINS"
DENY: Final = "COMPLOG_DISABLE_PLUGINS"

_REFERENCE: Final = r"(?P<module>\w+(?:\.\w+)*)\s*(?::\s*(?P<attribute>\w+(?:\.\w+)*)\s*)?(?:\[.*\]\s*)?"
_FOLDER: Final = r"(?i)(?P<name>[^-]+)(?:-(?P<version>[^-]+).*)?\.(?:dist|egg)-info"


class Candidate(NamedTuple):
    """An entry point as it was found: `family` is its name, `value` the text `module` or `module:attribute`.

    >>> Candidate("onnx", "complog_onnx.plugin:hooks [extra]").module
    'complog_onnx.plugin'
    """

    family: str
    value: str
    distribution: str | None = None
    version: str | None = None

    @property
    def module(self) -> str:
        """The module to import; ValueError where `value` names none."""
        return self._split()[0]

    def load(self) -> Any:
        """Import the module and return it, or the attribute of it; whatever the import raises comes out as it is.

        >>> Candidate("codec", "json:JSONEncoder.default").load().__name__
        'default'
        """
        module, attribute = self._split()
        found: Any = importlib.import_module(module)
        for name in filter(None, attribute.split(".")):
            found = getattr(found, name)
        return found

    def describe(self, status: PluginStatus = "loaded", cause: str = "") -> PluginInfo:
        """Return the PluginInfo that tells of this candidate.

        >>> str(Candidate("onnx", "complog_onnx", "complog-onnx", "0.1.0").describe())
        'complog-onnx[onnx] 0.1.0'
        """
        return PluginInfo(self.family, self.distribution, self.version, self.value, status, cause)

    def _split(self) -> tuple[str, str]:
        if all(part.isidentifier() for part in self.value.split(".")):  # as nearly all are, and patterns are slow
            return self.value, ""
        match = re.fullmatch(_REFERENCE, self.value.strip())
        if match is None:
            raise ValueError(f"{self.value!r} is neither 'module' nor 'module:attribute'")
        return match["module"], match["attribute"] or ""


def find_candidates(group: str) -> tuple[Candidate, ...]:
    """Return the entry points of `group` of every installed distribution, sorted by name and distribution.

    Unreadable metadata costs no more than what it would have told; a distribution whose entry points cannot be read
    is left out with a warning.

    >>> find_candidates("a group that nobody uses")
    ()
    """
    metadata = _get_metadata()
    try:
        points = list(metadata.entry_points(group=group))
    except Exception:  # one malformed distribution, ours or not, spoils the answer for all
        points = _scan_one_by_one(metadata.distributions(), group)
    known: dict[int, tuple[str | None, str | None]] = {}
    candidates: set[Candidate] = set()
    for point in points:
        identity = known.get(id(point.dist))
        if identity is None:
            identity = known[id(point.dist)] = _identify(point.dist)
        candidates.add(Candidate(point.name, point.value, *identity))
    return tuple(sorted(candidates, key=_order))


def _get_metadata() -> Any:
    # Python's own copy finds the same, and where it gives up at somebody's unsound metadata, each is looked at alone.
    # A process that has it by now, as every one with PyTorch, has its listing of the path too; importing the other one
    # takes three times what the scan does.
    loaded: Any = find_loaded("importlib_metadata")
    if loaded is None and is_importing("importlib_metadata"):  # which may be what imports complog
        import importlib.metadata as loaded
    elif loaded is None and sys.version_info >= (3, 11):  # before, unsound entry points come out as if they were sound
        loaded = find_loaded("importlib.metadata")
    if loaded is None:
        import importlib_metadata as loaded
    return loaded


def sort_out(
    candidates: Iterable[Candidate], environ: Mapping[str, str], *, name_unknown: bool
) -> tuple[tuple[Candidate, str], ...]:
    """Pair each candidate, in the order of loading, with why it is kept out: "" for those to be loaded.

    COMPLOG_PLUGINS lists the entry-point names to load (blank: none), COMPLOG_DISABLE_PLUGINS those not to load; "*"
    stands for all. `name_unknown` warns about listed names that no candidate has. Candidates with one name all load,
    with a warning.

    >>> [why for _, why in sort_out([Candidate("a", "x"), Candidate("b", "y")], {DENY: "b"}, name_unknown=True)]
    ['', 'COMPLOG_DISABLE_PLUGINS names it']
    """
    ordered = sorted(candidates, key=_order)
    allowed = _read_list(environ, ALLOW)
    denied = _read_list(environ, DENY) or ()
    decided: list[tuple[Candidate, str]] = []
    for candidate in ordered:
        if allowed is not None and "*" not in allowed and candidate.family not in allowed:
            decided.append((candidate, f"{ALLOW} does not name it"))
        elif "*" in denied or candidate.family in denied:
            decided.append((candidate, f"{DENY} {'holds *' if '*' in denied else 'names it'}"))
        else:
            decided.append((candidate, ""))
    if name_unknown:
        families = tuple(dict.fromkeys(candidate.family for candidate in ordered))
        _name_unknown(ALLOW, allowed or (), families)
        _name_unknown(DENY, denied, families)
    _name_namesakes([candidate for candidate, cause in decided if not cause])
    return tuple(decided)


def _order(candidate: Candidate) -> tuple[str, str, str, str]:
    return (candidate.family, candidate.distribution or "", candidate.value, candidate.version or "")


def _scan_one_by_one(distributions: Iterable[Any], group: str) -> list[Any]:
    points: list[Any] = []
    seen: set[str] = set()
    remaining = iter(distributions)
    while True:
        try:
            distribution = next(remaining, None)
        except Exception as error:  # a finder that broke; the ones behind it cannot be reached
            report.warn_once(("scan", group), f"the search for plugins ended early: {type(error).__name__}: {error}")
            return points
        if distribution is None:
            return points
        name = (_identify(distribution)[0] or "").lower()
        name = re.sub(r"[-_.]+", "-", name)
        if name in seen:
            continue
        try:
            points += distribution.entry_points.select(group=group)
        except Exception as error:
            where = getattr(distribution, "_path", name) or "unknown"
            text = f"the entry points of the distribution {where} cannot be read: {type(error).__name__}: {error}"
            report.warn_once(("malformed", str(where)), text)
        else:
            # an unreadable copy does not hide a sound one further down the path
            seen.update([name] if name else [])


def _identify(distribution: Any) -> tuple[str | None, str | None]:
    """Read only the headers that are needed: parsing whole metadata, README included, costs a millisecond each."""
    headers: dict[str, str] = {}
    for file in ("METADATA", "PKG-INFO"):
        try:
            text = str(distribution.read_text(file) or "")
        except Exception:
            text = ""  # not UTF-8, or not readable
        for line in io.StringIO(text):
            if not line.strip() or ("name" in headers and "version" in headers):
                break
            key, colon, value = line.partition(":")
            if colon and value.strip():
                headers.setdefault(key.strip().lower(), value.strip())
        if headers:
            break
    name, version = headers.get("name"), headers.get("version")
    if name and version:
        return name, version
    folder = re.fullmatch(_FOLDER, str(getattr(getattr(distribution, "_path", None), "name", "")))
    if folder is None:
        return name, version
    return name or folder["name"].replace("_", "-"), version or folder["version"]


def _read_list(environ: Mapping[str, str], variable: str) -> tuple[str, ...] | None:
    text = environ.get(variable)
    return None if text is None else tuple(filter(None, (item.strip() for item in text.split(","))))


def _name_unknown(variable: str, listed: Iterable[str], families: Sequence[str]) -> None:
    unknown = [name for name in dict.fromkeys(listed) if name != "*" and name not in families]
    if not unknown:
        return
    import difflib

    parts = []
    for name in unknown:
        near = difflib.get_close_matches(name, families, 1)
        parts.append(f"{name!r} (did you mean {near[0]!r}?)" if near else repr(name))
    installed = ", ".join(families) or "none"
    report.warn_once(
        (variable, *unknown), f"{variable}: no installed plugin is called {', '.join(parts)}; installed: {installed}"
    )


def _name_namesakes(candidates: Iterable[Candidate]) -> None:
    by_family: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_family.setdefault(candidate.family, []).append(candidate)
    for family, namesakes in by_family.items():
        if len(namesakes) > 1:
            providers = " and ".join(f"{each.describe()} ({each.value})" for each in namesakes)
            report.warn_once(
                ("namesakes", *namesakes), f"several plugins are called {family!r}: {providers}; all are loaded"
            )
