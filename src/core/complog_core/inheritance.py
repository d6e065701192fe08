"""What a process hands down to the processes it starts, on request: its API settings, in an environment variable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .environment import convert, name_inherited
from .errors import SettingsError
from .model import OFF, Keyword, Request, Setting
from .rendering import warn_once


def pack(request: Request) -> str:
    """Return the request as a text that `unpack` reads, in this process or another.

    Raises SettingsError where the value of a contributed keyword has no form in JSON.

    >>> pack(Request((Setting("dynamo", 10, "dynamo='DEBUG'"), Setting("guards", OFF, "guards=False"))))
    '{"settings": [["dynamo", 10], ["guards", "off"]]}'
    """
    import json

    packed: dict[str, object] = {
        "settings": [(setting.name, "off" if setting.level == OFF else setting.level) for setting in request.settings]
    }
    if request.keywords:
        packed["keywords"] = {name: _make_plain(value) for name, value in request.keywords.items()}
    try:
        return json.dumps(packed)
    except (TypeError, ValueError, RecursionError) as error:
        problem = f"inherit=True: {', '.join(request.keywords)} cannot be handed to another process: {error}"
        raise SettingsError("set_logs", (problem,)) from None


def unpack(environ: Mapping[str, str], prefix: str, keywords: Mapping[str, Keyword]) -> Request:
    """Return the request that a parent process handed down, an empty one where there is none.

    What cannot be read costs one warning; keywords that no plugin of this process has are left out.

    >>> unpack({"MYLIB_LOGS_INHERITED": '{"settings": [["tiler", 10]]}'}, "MYLIB", {}).settings[0].level
    10
    """
    variable = name_inherited(prefix)
    text = environ.get(variable, "")
    if not text.strip():
        return Request()
    import json

    try:
        packed: Any = json.loads(text)
        settings = tuple(
            Setting(str(name), OFF if level == "off" else int(level), str(name), variable)
            for name, level in packed["settings"]
        )
        named = packed.get("keywords", {}).items()
        values = {name: convert(keywords[name], value) for name, value in named if name in keywords}
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        warn_once((variable, text), f"{variable} is not what a parent process would set, and is ignored: {error!r}")
        return Request()
    return Request(settings, values)


def _make_plain(value: object) -> object:
    return sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
