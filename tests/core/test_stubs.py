"""What tools see of set_logs: signature, docstring and stub carry every name of the registry."""

from __future__ import annotations

import ast
import inspect
import keyword
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fake_distributions import SOURCES, clean_environment

from complog_core.model import Artifact, Component, Keyword, PluginInfo
from complog_core.registry import Registry
from complog_core.texts import set_logs_doc, set_logs_signature, set_logs_stub

ALPHA = PluginInfo("alpha", "complog-alpha", "1.0", "complog_alpha")
BETA = PluginInfo("beta", "beta-logs", "2.0", "beta_logs")
RANKS = Keyword("ranks", "list[int] | None", None, "the ranks that log", env_var="{prefix}_LOGS_RANKS")
KEYWORDS = ((BETA, RANKS),)
FIXED = ["settings", "all", "modules", "inherit", "names"]


def build(*items: Component | Artifact) -> Registry:
    return Registry.build([(ALPHA, item) for item in items])


REGISTRY = build(
    Component("tiler", ["alpha.tiler", "alpha.loops"], "loop tiling"),
    Artifact("tiles", "the tile sizes", visible=True),
    Artifact("costs", "what each choice costs", off_by_default=True),
    Component("with.dots", ["passed"], "a name that is no identifier"),
)


class TestSignature:
    def test_names_are_sorted_behind_the_fixed_ones_and_keywords(self) -> None:
        parameters = list(set_logs_signature(REGISTRY, KEYWORDS).parameters)
        assert parameters == ["settings", "all", "modules", "inherit", "ranks", "costs", "tiler", "tiles", "names"]

    def test_kinds_and_annotations(self) -> None:
        parameters = set_logs_signature(REGISTRY, KEYWORDS).parameters
        assert parameters["settings"].kind is inspect.Parameter.POSITIONAL_ONLY
        assert parameters["tiler"].annotation == int | str | None
        assert parameters["tiles"].annotation == bool | None
        assert parameters["ranks"].annotation == "list[int] | None"
        assert parameters["names"].kind is inspect.Parameter.VAR_KEYWORD

    def test_defaults_of_contributed_keywords_are_shown(self) -> None:
        signature = set_logs_signature(REGISTRY, [(BETA, Keyword("depth", int, 3))])
        assert signature.parameters["depth"].default == 3
        assert "depth: int = 3" in str(signature)

    @pytest.mark.parametrize("name", ["class", "None", "with.dots", "settings", "modules", "all", "__debug__", "ﬁnal"])
    def test_names_that_no_call_can_spell_are_left_to_names(self, name: str) -> None:
        registry = Registry.build([(ALPHA, Artifact(name))])
        parameters = set_logs_signature(registry, [(BETA, Keyword(name))]).parameters
        assert list(parameters) == FIXED

    @pytest.mark.parametrize("name", ["names", "match", "self", "_", "__x", "größe"])
    def test_legal_names_are_parameters_whatever_they_are(self, name: str) -> None:
        parameters = set_logs_signature(build(Artifact(name)), ()).parameters
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert sum(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()) == 1

    def test_a_keyword_that_is_a_name_too_stands_once(self) -> None:
        signature = set_logs_signature(build(Artifact("ranks")), (*KEYWORDS, *KEYWORDS))
        assert str(signature).count("ranks") == 1


class TestDocstring:
    def test_each_name_stands_with_kind_description_and_distribution(self) -> None:
        lines = set_logs_doc(REGISTRY, KEYWORDS, prefix="TORCH").splitlines()
        assert lines[lines.index("tiler: int | str, component") + 1] == "    loop tiling [complog-alpha]"
        assert lines[lines.index("tiles: bool, artifact") + 1] == "    the tile sizes [complog-alpha]"
        at = lines.index("ranks: list[int] | None, default None, also the variable TORCH_LOGS_RANKS")
        assert lines[at + 1] == "    the ranks that log [beta-logs]"

    def test_names_that_are_no_parameters_stand_in_it_too(self) -> None:
        assert "with.dots: int | str, component" in set_logs_doc(REGISTRY, KEYWORDS, prefix="TORCH")

    def test_a_description_is_not_needed(self) -> None:
        assert "\n    [complog-alpha]\n" in set_logs_doc(build(Artifact("n")), (), prefix="TORCH")


def check(directory: Path, stub: str, *arguments: str, program: str = "") -> subprocess.CompletedProcess[str]:
    """Run a part of mypy where `stub` is the stub of complog and `program` lies in program.py."""
    package = directory / "stubs" / "complog"
    package.mkdir(parents=True)
    (package / "__init__.pyi").write_text(stub, encoding="utf-8")
    (directory / "program.py").write_text(program)
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=directory,
        env=clean_environment(env={"MYPYPATH": os.pathsep.join(["stubs", str(SOURCES)])}),
        capture_output=True,
        text=True,
        check=False,
    )


class TestStub:
    def test_it_passes_strict_checking_whatever_plugins_say(self, tmp_path: Path) -> None:
        types = [
            int,
            bool,
            list,
            dict,
            "list",
            list[int],
            "tuple[int, ...]",
            "tuple",
            "Mapping",
            "dict[str]",
            "Unknown[int]",
            "not a type",
            "Literal['a', 'b']",
            "Optional[int]",
            int | None,
            Path,
            str | list[int],
            "Callable[[int], str]",
            "print('x')",
            None,
            "None",
            "",
            object(),
        ]
        keywords = [
            (BETA, Keyword(f"k{index}", kind, None, 'a """ and a \\ in it')) for index, kind in enumerate(types)
        ]
        registry = build(
            Artifact("names", 'quotes """ \\N \\', visible=True),
            Artifact("größe"),
            Artifact("__x"),
            Artifact("self"),
            Artifact("match"),
            Artifact("Mapping"),
            Artifact("int"),
            Artifact("class"),
            Component("logs", "alpha.logs"),
        )
        result = check(tmp_path, set_logs_stub(registry, keywords, prefix="TORCH"), "mypy", "--strict", "stubs")
        assert result.returncode == 0, result.stdout + result.stderr

    def test_a_checker_knows_names_and_their_types_from_it(self, tmp_path: Path) -> None:
        program = (
            "import complog\n"
            "complog.set_logs('+x', tiler='DEBUG', tiles=True, ranks=[1], modules={'a.b': 10})\n"
            "with complog.logs(tiler=10, anything=None): pass\n"
            "complog.set_logs(tiles='yes')\n"
            "complog.set_logs(ranks='0')\n"
        )
        stub = set_logs_stub(REGISTRY, KEYWORDS, prefix="TORCH")
        result = check(tmp_path, stub, "mypy", "--strict", "program.py", program=program)
        wrong = [line for line in result.stdout.splitlines() if "error:" in line]
        assert [line.split(":")[1] for line in wrong] == ["4", "5"], result.stdout

    def test_it_says_of_complog_what_is_true(self, tmp_path: Path) -> None:
        written = subprocess.run(
            [sys.executable, "-m", "complog", "stub"],
            env=clean_environment(),
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
        )
        result = check(tmp_path, written.stdout, "mypy.stubtest", "complog", "--ignore-missing-stub")
        assert result.returncode == 0, result.stdout + result.stderr

    @given(st.lists(st.from_regex(r"[A-Za-z_][\w.]*", fullmatch=True), max_size=6))
    def test_it_is_python_for_any_registered_names(self, names: list[str]) -> None:
        registry = build(*(Artifact(name, name) for name in names))
        tree = ast.parse(set_logs_stub(registry, (), prefix="TORCH"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "set_logs"]
        spelled = {argument.arg for argument in functions[0].args.kwonlyargs}
        assert {name for name in names if name.isidentifier() and name.isascii()} - spelled <= set(keyword.kwlist) | {
            "all",
            "modules",
            "settings",
            "__debug__",
            "help",
            "off",
            "inherit",
        }
