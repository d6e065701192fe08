"""Phrases that the generated texts share: who provides a name, what to run next, which names can be parameters."""

from __future__ import annotations

import keyword as python_keywords
from collections.abc import Iterable, Sequence
from typing import Final

from .model import Keyword, PluginInfo
from .registry import RESERVED, Entry, Registry

DEFAULT_PREFIX: Final = "TORCH"

Keywords = Sequence[tuple[PluginInfo, Keyword]]


def next_step(prefix: str) -> str:
    """Return what to run to see every name of a system.

    >>> next_step("TORCH"), next_step("MYLIB")
    ("'complog help --all'", 'MYLIB_LOGS=+help')
    """
    return "'complog help --all'" if prefix == DEFAULT_PREFIX else f"{prefix}_LOGS=+help"


def keyword_variable(keyword: Keyword, prefix: str) -> str:
    """Return the variable that sets a keyword too, "" where there is none.

    >>> keyword_variable(Keyword("ranks", env_var="{prefix}_LOGS_RANKS"), "TORCH")
    'TORCH_LOGS_RANKS'
    """
    return (keyword.env_var or "").replace("{prefix}", prefix)


def providers(owners: Iterable[PluginInfo]) -> str:
    """Return the distribution of each owner, or its family where no distribution is known, each once.

    >>> providers([PluginInfo("a", "complog-a"), PluginInfo("mine")])
    'complog-a, plugin mine'
    """
    return ", ".join(dict.fromkeys(owner.distribution or f"plugin {owner.family}" for owner in owners))


def flatten(text: str) -> str:
    """Return a text on one line, its white space collapsed.

    >>> flatten(" two\\n  words ")
    'two words'
    """
    return " ".join(text.split())


def contributed(keywords: Keywords) -> list[tuple[PluginInfo, Keyword]]:
    """Return the contributed keywords that can be parameters, each name once (the first wins), sorted."""
    first: dict[str, tuple[PluginInfo, Keyword]] = {}
    for owner, keyword in keywords:
        if is_parameter_name(keyword.name):
            first.setdefault(keyword.name, (owner, keyword))
    return [first[name] for name in sorted(first)]


def parameters(registry: Registry, keywords: Keywords) -> dict[str, tuple[Entry, ...]]:
    """Return the names that `set_logs` shows as keywords, sorted, each with its entries."""
    hidden = {keyword.name for _, keyword in keywords}
    names = (name for name in registry.names() if name not in hidden and is_parameter_name(name))
    return {name: registry.lookup(name) for name in names}


def is_parameter_name(name: str) -> bool:
    """Return whether a call can spell the name as a keyword, and none of the fixed parameters has it.

    >>> is_parameter_name("guards"), is_parameter_name("class"), is_parameter_name("a.b"), is_parameter_name("all")
    (True, False, False, False)
    """
    if not name.isidentifier() or python_keywords.iskeyword(name) or name in RESERVED or name == "__debug__":
        return False
    if name.isascii():
        return True
    import unicodedata  # rarely needed: the parser would silently turn such a name into another one

    return unicodedata.normalize("NFKC", name) == name


def rest_name(taken: Iterable[str]) -> str:
    """Return a name for the parameter that collects all other names, itself none of those taken.

    >>> rest_name(["guards"]), rest_name(["names"])
    ('names', 'names_')
    """
    name = "names"
    known = set(taken)
    while name in known:
        name += "_"
    return name
