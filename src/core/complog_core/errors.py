"""What can go wrong, by kind; everything that the API promises as a ValueError is one."""

from __future__ import annotations


class ComplogError(Exception):
    """The base of every error that complog raises on purpose."""


class SettingsError(ComplogError, ValueError):
    """A settings text, a keyword or a variable that cannot be used.

    `problems` holds one text per bad item; the message lists them all, and then the `hint`.

    >>> str(SettingsError("TORCH_LOGS", ("'+gaurds': unknown name",)))
    "TORCH_LOGS: '+gaurds': unknown name"
    """

    def __init__(self, source: str, problems: tuple[str, ...], hint: str = "") -> None:
        self.source = source
        self.problems = problems
        self.hint = hint
        if len(problems) == 1:
            text = f"{source}: {problems[0]}"
        else:
            text = "\n  ".join([f"{source}: {len(problems)} problems", *problems])
        super().__init__(f"{text}\n  {hint}" if hint else text)

    def __reduce__(self) -> tuple[type[SettingsError], tuple[str, tuple[str, ...], str]]:
        return (type(self), (self.source, self.problems, self.hint))


class FormatError(SettingsError):
    """A TORCH_LOGS_FORMAT that is neither a registered name nor a usable %-format."""


class OutputError(SettingsError):
    """A TORCH_LOGS_OUT that cannot be opened."""


class HelpRequested(ComplogError, ValueError):
    """Raised for the settings `help` and `+help`; the message is the help text."""


class OwnershipError(ComplogError):
    """A logger that already belongs to another system of this process."""


class PluginError(ComplogError):
    """A broken plugin, raised only where COMPLOG_STRICT_PLUGINS=1 asks for it."""
