"""The texts that people read, generated from the registry: the help page, why a name is unknown, the table of names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .model import Artifact, Component, Kind, PluginInfo
from .registry import Entry, Registry
from .stubs import set_logs_doc, set_logs_signature, set_logs_stub
from .wording import Keywords, flatten, keyword_variable, next_step, providers

WIDTH: Final = 100
_WIDEST_LEFT: Final = 34
_LONGEST_EXAMPLE: Final = 16
_NEAREST: Final = 3

__all__ = [
    "help_text",
    "names_table",
    "nearest_names",
    "set_logs_doc",
    "set_logs_signature",
    "set_logs_stub",
    "unknown_name",
]


def help_text(
    registry: Registry,
    keywords: Keywords,
    plugins: Sequence[PluginInfo],
    *,
    prefix: str,
    variable: str | None = None,
    env_vars: Sequence[str] = (),
    formats: Sequence[str] = (),
    verbose: bool = False,
) -> str:
    """Return the help page: how to write settings, the variables, the names, and the plugins that did not load.

    `variable` holds the settings (None: `<prefix>_LOGS`). Artifacts that are not visible are left out unless `verbose`,
    which also adds flags and loggers. Lines are wrapped at 100 columns, never cut.

    >>> page = help_text(Registry(), (), (), prefix="MYLIB", formats=("glog", "short"))
    >>> page.splitlines()[0]
    'MYLIB_LOGS chooses what is logged: items separated by commas, white space around them allowed.'
    """
    variable = variable or f"{prefix}_LOGS"
    lines = [
        f"{variable} chooses what is logged: items separated by commas, white space around them allowed.",
        "",
        *_describe_grammar(registry, prefix, variable),
        "",
        "Variables",
        *_table(_list_variables(keywords, prefix, variable, env_vars, formats)),
    ]
    components = [entry for entry in registry.entries if entry.kind == "component"]
    lines += ["", f"Components ({len(components)}): they take a level, and are at WARNING unless set"]
    every = [("all", "every component at once, through the loggers that lie under no other registered one")]
    lines += _table(every + [_row(entry, registry, verbose) for entry in components])
    artifacts = [entry for entry in registry.entries if entry.kind == "artifact"]
    shown = [entry for entry in artifacts if verbose or (isinstance(entry.item, Artifact) and entry.item.visible)]
    count = f"{len(shown)}" if len(shown) == len(artifacts) else f"{len(shown)} of {len(artifacts)}"
    lines += ["", f"Artifacts ({count}): they are on or off"]
    lines += _table([_row(entry, registry, verbose) for entry in shown])
    if len(shown) < len(artifacts):
        lines += ["", *_wrap(f"The other {len(artifacts) - len(shown)}: {next_step(prefix)}", 0)]
    lines += _describe_plugins(plugins, verbose)
    return "\n".join(lines) + "\n"


def unknown_name(
    name: str,
    registry: Registry,
    keywords: Keywords,
    *,
    prefix: str,
    provider: str | None = None,
    waiting: str | None = None,
) -> str:
    """Return why a name cannot be used, in one line: the nearest valid names, who provides it, what to run next.

    `provider` is the distribution that would bring the name, `waiting` the reason why it may still be registered.

    >>> registry = Registry.build([(PluginInfo("dynamo"), Artifact("guards"))])
    >>> unknown_name("gaurds", registry, (), prefix="MYLIB")
    'unknown name; nearest: guards, all, help; MYLIB_LOGS=+help lists every name'
    """
    parts = ["unknown name"]
    if name == "off":
        parts.append("off is a level: write name:off")
    for _, keyword in keywords:
        if keyword.name == name:
            variable = f", or {keyword_variable(keyword, prefix)}" if keyword.env_var else ""
            parts.append(f"{name} is a keyword: set_logs({name}=...){variable}")
    nearest = nearest_names(name, registry)
    if nearest:
        parts.append(f"nearest: {', '.join(nearest)}")
    if provider:
        parts.append(f"it comes with 'pip install {provider}'")
    if waiting:
        parts.append(f"it may still be registered: {waiting}")
    return "; ".join([*parts, f"{next_step(prefix)} lists every name"])


def nearest_names(name: str, registry: Registry) -> tuple[str, ...]:
    """Return the (at most three) valid names most like `name`, the nearest first, whatever the case.

    A family typed in front asks for qualified spellings, a dot for loggers too.

    >>> registry = Registry.build([(PluginInfo("dynamo"), Artifact("guards"))])
    >>> nearest_names("GUARD", registry)[0], nearest_names("dynmo/guards", registry)
    ('guards', ('dynamo/guards',))
    """
    import difflib  # only needed once something is wrong

    if "/" in name:
        valid = [spelling for entry in registry.entries for spelling in entry.spellings]
    else:
        valid = [*registry.names(), "all", "help", *(registry.loggers if "." in name else ())]
    wanted = name.lower()
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    scores: list[tuple[float, str]] = []
    for candidate in dict.fromkeys(valid):
        lowered = candidate.lower()
        matcher.set_seq1(lowered)
        # a name typed with another family, or only begun, is what was meant
        meant = lowered.rpartition("/")[2] == wanted.rpartition("/")[2] or lowered.startswith(wanted)
        scores.append((-matcher.quick_ratio() - meant, candidate))
    finalists: list[tuple[float, float, str]] = []
    for score, candidate in sorted(scores)[: _NEAREST * 8]:
        matcher.set_seq1(candidate.lower())
        finalists.append((-matcher.ratio() - (score < -1), score, candidate))
    return tuple(candidate for _, _, candidate in sorted(finalists)[:_NEAREST])


def names_table(registry: Registry) -> str:
    """Return a Markdown table of every registered name.

    >>> print(names_table(Registry.build([(PluginInfo("x", "complog-x"), Component("tiler", "x.tiler", "tiles"))])))
    | name | kind | in short help | off by default | loggers | description | distribution |
    |---|---|---|---|---|---|---|
    | `tiler` | component | yes | no | `x.tiler` | tiles | complog-x |
    <BLANKLINE>
    """
    lines = [
        "| name | kind | in short help | off by default | loggers | description | distribution |",
        "|---" * 7 + "|",
    ]
    for entry in registry.entries:
        item = entry.item
        loggers = item.loggers if isinstance(item, Component) else ()
        visible = isinstance(item, Component) or item.visible
        off_by_default = isinstance(item, Artifact) and item.off_by_default
        name = entry.name if len(registry.lookup(entry.name)) == 1 else " ".join(entry.spellings)
        cells = [
            f"`{name}`",
            entry.kind,
            "yes" if visible else "no",
            "yes" if off_by_default else "no",
            " ".join(f"`{logger}`" for logger in loggers),
            flatten(item.description).replace("\\", "\\\\").replace("|", "\\|"),
            providers(entry.owners),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _describe_grammar(registry: Registry, prefix: str, variable: str) -> list[str]:
    component = _example(registry, "component") or "all"
    artifact = _example(registry, "artifact")
    named = artifact or component
    qualified = next((entry.key for entry in registry.entries if entry.name == named), "")
    first = f"+{component},{named}" if named != component else f"+{component}"
    rows = [
        ("name", f"from INFO on: {component}" + (f"; an artifact is switched on: {artifact}" if artifact else "")),
        ("+name", f"from DEBUG on: +{component}"),
        ("-name", f"only from ERROR on: -{component}"),
        (
            "name:LEVEL",
            f"from that level on, a name or number that logging knows, or off: {component}:critical, {component}:10, "
            f"{component}:off; off silences a component and mutes an artifact",
        ),
        ("a.module", "a dotted name is a module or logger with everything below it: +mypackage.mymodule"),
        (
            "family/name",
            "the name as one plugin registered it, for names that several plugins have"
            + (f": {qualified}" if qualified else ""),
        ),
        ("help, +help", f"this page, with every name for +help ({next_step(prefix)})"),
    ]
    rules = (
        f"The most specific logger wins, whatever the order; for the same one the later item. While {variable} is "
        "set, it alone counts; set_logs(), which takes the same names as keywords, is then checked but changes nothing."
    )
    return [f'  {variable}="{first}" python program.py', "", *_table(rows), "", *_wrap(rules, 0)]


def _example(registry: Registry, kind: Kind) -> str | None:
    """Return a name of that kind that is unmistakable, preferably a visible one that is not long."""
    ranked = [
        (isinstance(entry.item, Artifact) and not entry.item.visible, len(entry.name) > _LONGEST_EXAMPLE, entry.name)
        for entry in registry.entries
        if entry.kind == kind and len(registry.lookup(entry.name)) == 1
    ]
    return min(ranked)[2] if ranked else None


def _list_variables(
    keywords: Keywords, prefix: str, variable: str, env_vars: Sequence[str], formats: Sequence[str]
) -> list[tuple[str, str]]:
    known = f"{', '.join(formats)}, or " if formats else ""
    rows = [
        (variable, "the settings"),
        *((name, f"further settings, read like {variable} and after it") for name in sorted(set(env_vars))),
        (
            f"{prefix}_LOGS_OUT",
            "a file that gets every line too; {rank}, {local_rank}, {pid} and {host} in its name are filled in",
        ),
        (f"{prefix}_LOGS_FORMAT", f"how a line looks: {known}a %-format of logging such as %(levelname)s %(message)s"),
        (f"{prefix}_LOGS_STDERR", "0 keeps the lines off the console"),
        (f"{prefix}_LOGS_PROPAGATE", "1 passes each record to the handlers of the root logger as well"),
    ]
    for owner, keyword in sorted(keywords, key=lambda pair: pair[1].name):
        if keyword.env_var:
            text = f"{flatten(keyword.doc)} (set_logs keyword {keyword.name})".strip()
            rows.append((keyword_variable(keyword, prefix), f"{text} [{providers((owner,))}]"))
    unset = [(owner, keyword) for owner, keyword in keywords if not keyword.env_var]
    for owner, keyword in sorted(unset, key=lambda pair: pair[1].name):
        text = f"{flatten(keyword.doc)} (no variable)".strip()
        rows.append((f"set_logs({keyword.name}=...)", f"{text} [{providers((owner,))}]"))
    return rows


def _row(entry: Entry, registry: Registry, verbose: bool) -> tuple[str, str]:
    item = entry.item
    parts = [flatten(item.description)] if item.description else []
    parts.append(f"[{providers(entry.owners)}]")
    if len(registry.lookup(entry.name)) > 1:
        parts.append(f"(this one alone: {' or '.join(entry.spellings)})")
    if verbose and isinstance(item, Artifact) and item.off_by_default:
        parts.append("(off unless named)")
    if verbose and isinstance(item, Component):
        parts.append(f"(loggers: {', '.join(item.loggers)})")
    return entry.name, " ".join(parts)


def _describe_plugins(plugins: Sequence[PluginInfo], verbose: bool) -> list[str]:
    rows = [
        (str(plugin), f"{plugin.status}: {flatten(plugin.cause)}" if plugin.cause else plugin.status)
        for plugin in plugins
        if plugin.status != "loaded"
    ]
    lines = ["", "Plugins whose names are missing above", *_table(rows)] if rows else []
    noted = [(str(plugin), flatten(note)) for plugin in plugins for note in plugin.notes]
    if verbose and noted:
        lines += ["", "Notes about plugins", *_table(noted)]
    return lines


def _table(rows: Sequence[tuple[str, str]]) -> list[str]:
    left = max((len(name) for name, _ in rows if len(name) <= _WIDEST_LEFT), default=0)
    lines: list[str] = []
    for name, text in rows:
        body = _wrap(text, left + 4)
        if len(name) <= left and body:
            body[0] = f"  {name:<{left}}  {body[0].lstrip()}"
            lines += body
        else:
            lines += [f"  {name}", *body]
    return lines


def _wrap(text: str, indent: int) -> list[str]:
    import textwrap  # only a page of help needs it

    margin = " " * indent
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
