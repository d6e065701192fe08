"""Hooks are found in modules and objects through pluggy's marks; what the marks get wrong is said in one line."""

from __future__ import annotations

import inspect
import logging
import types
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pluggy
import pytest
from tests.support.systems import SystemFactory, make_names

from complog_core import hookspecs
from complog_core.contributions import Fault
from complog_core.hookspecs import HOOKS, hookimpl
from complog_core.implementations import find_implementations
from complog_core.registration import show_specification


def make_module(source: str) -> types.ModuleType:
    module = types.ModuleType("demo_names")
    exec("from complog_core import Component, hookimpl\n" + dedent(source), module.__dict__)
    return module


def find_fault(source: str) -> str:
    with pytest.raises(Fault) as caught:
        find_implementations(make_module(source), "demo_names")
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tryfirst": True},
        {"trylast": True, "specname": "complog_filters"},
        {"wrapper": True},
        {"hookwrapper": True, "optionalhook": True},
    ],
)
def test_marks_are_those_of_pluggys_markers(options: dict[str, Any]) -> None:
    def mine() -> None: ...

    def theirs() -> None: ...

    pluggy.HookimplMarker(hookspecs.PROJECT)(**options)(theirs)
    assert hookimpl(**options)(mine) is mine
    assert vars(mine) == vars(theirs)
    pluggy.HookspecMarker(hookspecs.PROJECT)(theirs)
    assert vars(hookspecs.hookspec(mine)) == vars(theirs)


def test_mark_takes_the_arguments_of_pluggys_marker() -> None:
    theirs = inspect.signature(pluggy.HookimplMarker(hookspecs.PROJECT).__call__).parameters.values()
    mine = inspect.signature(hookimpl).parameters.values()
    assert [(each.name, each.default) for each in mine] == [(each.name, each.default) for each in theirs]


def test_plugin_may_mark_with_pluggys_own_marker() -> None:
    module = make_module("import pluggy\n@pluggy.HookimplMarker('complog')\ndef complog_env_vars(): return ['X']")
    assert find_implementations(module, "m") == {"complog_env_vars": (module.complog_env_vars,)}


def test_every_specified_hook_is_known_and_worded() -> None:
    assert "complog_components" in HOOKS
    assert set(hookspecs.STATIC_HOOKS) < set(HOOKS)
    for hook in HOOKS:
        assert show_specification(hook).startswith(f"{hook}(")
        assert " -> " in show_specification(hook)


def test_specification_is_shown_without_docstrings_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hookspecs.complog_handlers, "__doc__", None)
    assert show_specification("complog_handlers") == "complog_handlers(outputs, describer)"


def test_functions_are_handed_out_as_they_are() -> None:
    module = make_module("@hookimpl\ndef complog_handlers(outputs, describer):\n    return [outputs]\n")
    assert find_implementations(module, "m") == {"complog_handlers": (module.complog_handlers,)}


def test_methods_of_an_instance_are_bound() -> None:
    class Names:
        @hookimpl
        def complog_env_vars(self) -> list[str]:
            return [type(self).__name__]

        @hookimpl
        @staticmethod
        def complog_filters() -> list[object]:
            return ["static"]

        @hookimpl
        @classmethod
        def complog_keywords(cls) -> list[object]:
            return [cls.__name__]

    found = find_implementations(Names(), "m")
    assert {hook: [call() for call in calls] for hook, calls in found.items()} == {
        "complog_env_vars": [["Names"]],
        "complog_filters": [["static"]],
        "complog_keywords": [["Names"]],
    }


@pytest.mark.parametrize(
    "parameters",
    ["outputs", "outputs=None", "*, outputs", "outputs, /", "*rest, outputs", "**rest", "outputs, extra=3, **rest"],
)
def test_arguments_that_are_declared_arrive_however_they_are_declared(parameters: str) -> None:
    source = f"@hookimpl\ndef complog_handlers({parameters}):\n    return locals()\n"
    (call,) = find_implementations(make_module(source), "m")["complog_handlers"]
    given = call(outputs="here", describer="there")
    everything = {"outputs": "here", "describer": "there"}
    assert given.get("rest") == everything if parameters == "**rest" else given["outputs"] == "here"


@pytest.mark.parametrize("parameters", ["", "*rest", "extra=3"])
def test_arguments_that_are_not_declared_are_dropped(parameters: str) -> None:
    source = f"@hookimpl\ndef complog_handlers({parameters}):\n    return locals()\n"
    (call,) = find_implementations(make_module(source), "m")["complog_handlers"]
    assert call(outputs="here", describer="there").get("outputs") is None


def test_order_within_a_plugin_is_tryfirst_to_trylast() -> None:
    source = """
        @hookimpl(specname="complog_env_vars", trylast=True)
        def last(): return "last"
        @hookimpl(specname="complog_env_vars")
        def middle(): return "middle"
        @hookimpl(specname="complog_env_vars", tryfirst=True)
        def very_first(): return "first"
    """
    calls = find_implementations(make_module(source), "m")["complog_env_vars"]
    assert [call() for call in calls] == ["first", "middle", "last"]


def test_mark_on_no_hook_suggests_the_nearest() -> None:
    text = find_fault("@hookimpl\ndef complog_component(): return []\n")
    assert "complog_component " in text
    assert "did you mean complog_components?" in text


def test_mark_on_something_far_from_any_hook_lists_them() -> None:
    text = find_fault("@hookimpl\ndef xyz(): return []\n")
    assert "xyz" in text
    assert "complog_components, complog_artifacts" in text


def test_specname_that_is_no_hook_is_refused() -> None:
    assert "complog_artefacts" in find_fault('@hookimpl(specname="complog_artefacts")\ndef mine(): return []\n')


def test_optional_hook_of_a_later_version_is_passed_over() -> None:
    module = make_module("@hookimpl(optionalhook=True)\ndef complog_of_the_future(): return []\n")
    assert find_implementations(module, "m") == {}


@pytest.mark.parametrize(
    "source",
    [
        "def complog_components(): return []",
        "complog_components = lambda: []",
        "complog_components = []",
        "import functools\ncomplog_components = hookimpl(functools.partial(list))",
    ],
)
def test_hook_without_a_mark_that_counts_is_refused(source: str) -> None:
    assert "complog_components without @hookimpl" in find_fault(source)


def test_unmarked_function_with_nearly_a_hooks_name_is_refused() -> None:
    text = find_fault("def complog_artefacts(): return []\n")
    assert "complog_artefacts without @hookimpl" in text
    assert "did you mean complog_artifacts?" in text


def test_unmarked_method_is_refused() -> None:
    class Names:
        def complog_components(self) -> list[object]:
            return []

    with pytest.raises(Fault, match="complog_components without @hookimpl"):
        find_implementations(Names(), "m")


def test_other_peoples_names_are_no_forgotten_hooks() -> None:
    source = """
        import complog_core
        from complog_core.hookspecs import complog_components, complog_artifacts
        from complog_core.hookspecs import hookspec as complog_hookspec
        from textwrap import dedent as complog_dedent
        complog_version = "1.0"
        class complog_things: pass
        @hookimpl
        def complog_env_vars(): return []
    """
    assert list(find_implementations(make_module(source), "m")) == ["complog_env_vars"]


@pytest.mark.parametrize("option", ["wrapper", "hookwrapper"])
@pytest.mark.parametrize("body", ["yield", "return []"])
def test_wrapper_is_refused(option: str, body: str) -> None:
    text = find_fault(f"@hookimpl({option}=True)\ndef complog_components():\n    {body}\n")
    assert "complog's hooks take no wrappers" in text
    assert "complog_components" in text


@pytest.mark.parametrize("parameters", ["output", "outputs, more", "*, output", "output, /"])
def test_arguments_that_the_specification_lacks_are_refused_with_its_signature(parameters: str) -> None:
    text = find_fault(f"@hookimpl\ndef complog_handlers({parameters}): return []\n")
    assert "complog_handlers(outputs, describer) -> Iterable[logging.Handler]" in text
    assert parameters.strip(" */,").split(", ")[-1] in text.partition("the specification is")[0]


def test_class_whose_methods_want_an_instance_is_refused() -> None:
    class Names:
        @hookimpl
        def complog_components(self) -> list[object]:
            return []

    with pytest.raises(Fault, match="is a class, and its complog_components needs an instance"):
        find_implementations(Names, "m")


def test_class_of_static_methods_is_as_good_as_an_object() -> None:
    class Names:
        @hookimpl
        @staticmethod
        def complog_env_vars() -> list[str]:
            return ["X"]

    (call,) = find_implementations(Names, "m")["complog_env_vars"]
    assert call() == ["X"]


def test_object_that_equals_everything_disturbs_no_other() -> None:
    class Anything:
        __hash__ = object.__hash__

        def __eq__(self, other: object) -> bool:
            return True

        @hookimpl
        def complog_env_vars(self) -> list[str]:
            return ["X"]

    calls: list[Callable[..., Any]] = []
    for obj in (Anything(), Anything(), make_module("@hookimpl\ndef complog_env_vars(): return ['X']\n")):
        calls += find_implementations(obj, "same label")["complog_env_vars"]
    assert [call() for call in calls] == [["X"]] * 3


def test_first_and_last_of_one_plugin_stand_before_and_after_those_of_others(
    make_system: SystemFactory, top: str
) -> None:
    asked: list[str] = []

    def note(name: str) -> object:
        return lambda record: asked.append(name) or True

    class First:
        @hookimpl(specname="complog_filters", trylast=True)
        def last(self, **rest: object) -> list[object]:
            return [note("last")]

        @hookimpl
        def complog_filters(self) -> list[object]:
            return [note("middle of one")]

    class Second:
        @hookimpl(specname="complog_filters", tryfirst=True)
        def first(self) -> list[object]:
            return [note("first")]

        @hookimpl(specname="complog_filters")
        def middle(self) -> list[object]:
            return [note("middle of the other")]

    make_system(make_names(top), First(), Second()).set_logs(lib=10)
    logging.getLogger(top).debug("hello")
    assert asked == ["first", "middle of one", "middle of the other", "last"]
