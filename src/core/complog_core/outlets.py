"""Where records go in a configuration: the pipeline of what plugins' hooks give, the format and the file."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from .assembly import Assembly
from .contributions import check_reply
from .describing import make_describer
from .errors import SettingsError
from .faults import note_fault, note_fault_of, remember_owners
from .formats import BrokenFormatError, bare_name, make_formatter
from .handlers import Pipeline
from .model import Artifact, Field, LogState, Outputs, PluginInfo, RecordDescriber
from .registry import Registry
from .values import NamedTuple

if TYPE_CHECKING:
    from .files import FileOutput

Given = list[tuple[PluginInfo, tuple[Any, ...]]]
"""What the implementations of one hook gave, with their owners."""

Calls = list[tuple[Callable[[], object], object]]
"""Implementations of hooks, with their arguments, and the tuple that each gave; None where it gave something else."""

Checked = dict[tuple[str, Callable[..., object]], tuple[object, tuple[Any, ...]]]
"""What the hooks gave last, and what of it has been checked."""


class Built(NamedTuple):
    """A pipeline, the state with the outputs that could be had, the problems, and the kind of error that they are."""

    pipeline: Pipeline
    state: LogState
    problems: tuple[tuple[str, str], ...] = ()
    kind: type[SettingsError] = SettingsError


class _Settled:
    """The outputs that can be had, with the formatter, the file, and what is wrong with those that cannot."""

    __slots__ = ("file", "formatter", "kinds", "outputs", "owner", "problems")

    def __init__(self, outputs: Outputs) -> None:
        self.outputs = outputs
        self.formatter: logging.Formatter | None = None
        self.owner: PluginInfo | None = None
        self.file: FileOutput | None = None
        self.problems: tuple[tuple[str, str], ...] = ()
        self.kinds: set[type[SettingsError]] = set()

    def refuse(self, error: SettingsError, outputs: Outputs) -> None:
        self.problems += tuple([(error.source, problem) for problem in error.problems])
        self.kinds.add(type(error))
        self.outputs = outputs


class _Reply:
    """What an implementation of a hook gave, or raised, just now: none is asked twice for one pipeline."""

    __slots__ = ("_error", "_value")

    def __init__(self, value: object, error: BaseException | None = None) -> None:
        self._value = value
        self._error = error

    def __call__(self) -> object:
        if self._error is not None:
            raise self._error
        return self._value


class _Usual(NamedTuple):
    """A pipeline, and what it came from: outputs, and the hooks' implementations with what each of them gave."""

    assembly: Assembly
    outputs: Outputs
    calls: Calls
    pipeline: Pipeline

    def ask_again(self) -> list[_Reply]:
        """Return nothing if every hook gives what it gave, the same tuple; else the replies up to one that does not."""
        alike = 0
        try:
            for ask, given in self.calls:
                value = ask()
                if value is not given:
                    last = _Reply(value)
                    break
                alike += 1
            else:
                return []
        except BaseException as error:  # told where the reply is looked at
            last = _Reply(None, error)
        return [*[_Reply(given) for _, given in self.calls[:alike]], last]


class Outlets:
    """Builds the pipeline that belongs to a state, reusing the file that is open, and closes what is left behind."""

    def __init__(self, prefix: str, artifacts: Mapping[str, Artifact]) -> None:
        self._prefix = prefix
        self._artifacts = artifacts
        self.out_variable = f"{prefix}_LOGS_OUT"
        self.forget()

    def forget(self) -> None:
        """Forget what the hooks gave."""
        self._checked: Checked = {}
        self._default: tuple[tuple[Field, ...], logging.Formatter | None] = ((), None)
        self._describer: tuple[Registry, tuple[Field, ...], RecordDescriber] | None = None
        self._last: _Usual | None = None
        self._usual: _Usual | None = None
        remember_owners(self, ())

    def build(self, assembly: Assembly, state: LogState, current: Pipeline) -> Built:
        """Return the new pipeline and state; a format or a file that cannot be had is a problem and left out."""
        for owner, keyword in assembly.keywords:
            if keyword.apply is not None:
                try:
                    keyword.apply(state.keywords.get(keyword.name, keyword.default))
                except BaseException as error:
                    note_fault(owner, f"the keyword {keyword.name}", error, may_raise=True)
        known = self._usual
        replies: list[_Reply] = []
        if known is not None and known.assembly is assembly and known.outputs is state.outputs:
            replies = known.ask_again()
            if not replies:
                return Built(known.pipeline, state)
        calls: Calls = []
        given_fields = self._ask(assembly, "complog_record_fields", calls, replies)
        fields = _first_of_each_name(given_fields)
        filters = self._ask(assembly, "complog_filters", calls, replies)
        settled = self._settle(assembly, fields, state.outputs, current)
        outputs, formatter, file = settled.outputs, settled.formatter, settled.file
        handlers: Given = []
        if "complog_handlers" in assembly.hooks:
            describer = self._describe(assembly.registry, fields)
            handlers = self._ask(assembly, "complog_handlers", calls, replies, outputs=outputs, describer=describer)
        painters = self._ask(assembly, "complog_console_painters", calls, replies, outputs=outputs)
        asked = [*given_fields, *filters, *handlers, *painters]
        owners = [(thing, owner) for owner, given in asked for thing in given]
        if settled.owner is not None:
            owners.append((getattr(formatter, "inner", formatter), settled.owner))
        remember_owners(self, owners)
        assert formatter is not None
        pipeline = Pipeline(
            _join(filters), formatter, outputs.stderr, file, _join(handlers), outputs.propagate, _join(painters)
        )
        self._note(_Usual(assembly, state.outputs, calls, pipeline))
        if outputs is not state.outputs:
            state = state._replace(outputs=outputs)
        kind = settled.kinds.pop() if len(settled.kinds) == 1 else SettingsError
        return Built(pipeline, state, settled.problems, kind)

    def _settle(self, assembly: Assembly, fields: tuple[Field, ...], outputs: Outputs, current: Pipeline) -> _Settled:
        settled = _Settled(outputs)
        try:
            if outputs.format is not None:
                name = bare_name(outputs.format, assembly.formatters)
                owner = None
                if name in assembly.formatters:
                    settled.outputs = outputs._replace(format=name)
                    owner = assembly.format_owners.get(name)
                try:
                    settled.formatter = self._formatter(assembly, settled.outputs.format, fields)
                    settled.owner = owner
                except BrokenFormatError as error:
                    if owner is not None:
                        note_fault(owner, error.what, error.cause, may_raise=True)
                    settled.outputs = outputs._replace(format=None)
        except SettingsError as error:
            settled.refuse(error, outputs._replace(format=None))
        if settled.formatter is None:
            settled.formatter = self._default_formatter(assembly, fields)
        if outputs.path is not None:
            try:
                settled.file = self._open(outputs.path, current)
                settled.outputs = settled.outputs._replace(path=settled.file.path)
            except SettingsError as error:
                settled.refuse(error, settled.outputs._replace(path=None))
        return settled

    def retire(self, old: Pipeline, new: Pipeline) -> None:
        """Close the file and the contributed handlers of `old` that `new` does not use."""
        if old is new:
            return
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

    def _describe(self, registry: Registry, fields: tuple[Field, ...]) -> RecordDescriber:
        known = self._describer
        if known is None or known[0] is not registry or known[1] != fields:
            known = registry, fields, make_describer(self._prefix, registry, fields, self._artifacts)
            self._describer = known
        return known[2]

    def _ask(self, assembly: Assembly, hook: str, calls: Calls, replies: list[_Reply], **arguments: Any) -> Given:
        hooks = assembly.hooks.get(hook)
        if hooks is None:
            return []
        answers = []
        for owner, function in hooks:
            ask = partial(function, **arguments) if arguments else function
            known = self._checked.get((hook, function))
            raw, given = found = check_reply(owner, hook, replies.pop(0) if replies else ask, known)
            self._checked[hook, function] = found
            answers.append((owner, given))
            calls.append((ask, raw))
        return answers

    def _note(self, made: _Usual) -> None:
        """Take for usual what comes for the second time, without format and file, of hooks that give one tuple."""
        last, self._last = self._last, made
        is_plain = made.outputs.format is None and made.outputs.path is None
        self._usual = None
        if is_plain and last is not None and last.assembly is made.assembly and last.outputs is made.outputs:
            pairs = zip(last.calls, made.calls, strict=True)
            if all(given is not None and before is given for (_, before), (_, given) in pairs):
                self._usual = made


def _join(given: Given) -> tuple[Any, ...]:
    return tuple([thing for _, things in given for thing in things])


def _first_of_each_name(given: Given) -> tuple[Field, ...]:
    # a plugin may bring a field that another one, where it is installed, has too
    named: dict[str, Field] = {}
    for _, fields in given:
        for field in fields:
            named.setdefault(field[0], field)
    return tuple(named.values())
