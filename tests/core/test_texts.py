"""Help page, reasons for unknown names, table of names: everything in them comes from the registry."""

from __future__ import annotations

import timeit

import pytest

from complog_core.model import Artifact, Component, Keyword, PluginInfo
from complog_core.registry import Registry
from complog_core.texts import (
    help_text,
    names_table,
    nearest_names,
    unknown_name,
)

ALPHA = PluginInfo("alpha", "complog-alpha", "1.0", "complog_alpha")
BETA = PluginInfo("beta", "beta-logs", "2.0", "beta_logs")
PASSED = PluginInfo("passed")
RANKS = Keyword("ranks", "list[int] | None", None, "the ranks that log", env_var="{prefix}_LOGS_RANKS")
KEYWORDS = ((BETA, RANKS),)
LONG = "a_name_of_more_than_thirty_one_characters_" + "x" * 90


def build(*items: Component | Artifact, owner: PluginInfo = ALPHA) -> Registry:
    return Registry.build([(owner, item) for item in items])


REGISTRY = Registry.build(
    [
        (ALPHA, Component("tiler", ["alpha.tiler", "alpha.loops"], "loop tiling")),
        (ALPHA, Artifact("tiles", "the tile sizes", visible=True)),
        (ALPHA, Artifact("costs", "what each choice costs", off_by_default=True)),
        (ALPHA, Artifact("guards", "guards of alpha", visible=True)),
        (BETA, Artifact("guards", "guards of beta", visible=True, off_by_default=True)),
        (ALPHA, Artifact("graphs", "the graphs", visible=True)),
        (BETA, Artifact("graphs", "the same graphs", visible=True)),
        (PASSED, Component("with.dots", ["passed"], "a name that is no identifier")),
    ]
)


def page(registry: Registry = REGISTRY, verbose: bool = False, **kwargs: object) -> str:
    settings = {"prefix": "TORCH", "formats": ("glog", "short"), "env_vars": ("BETA_LOGS",), **kwargs}
    return help_text(registry, KEYWORDS, kwargs.pop("plugins", ()), verbose=verbose, **settings)


def section(text: str, title: str) -> str:
    return text[text.index(f"\n{title}") + 1 :].split("\n\n")[0]


class TestHelp:
    def test_every_shown_name_has_description_and_distribution(self) -> None:
        artifacts = section(page(verbose=True), "Artifacts")
        lines = artifacts.splitlines()
        assert any("tiles" in line and "the tile sizes [complog-alpha]" in line for line in lines)
        assert any("costs" in line and "what each choice costs [complog-alpha]" in line for line in lines)

    def test_all_stands_first_among_the_components(self) -> None:
        assert section(page(), "Components").splitlines()[1].split()[0] == "all"

    def test_hidden_artifacts_stand_only_in_the_verbose_page(self) -> None:
        assert "costs" not in page()
        assert "The other 1: 'complog help --all'" in page()
        assert "costs" in page(verbose=True)
        assert "The other" not in page(verbose=True)

    def test_verbose_page_tells_flags_and_loggers(self) -> None:
        text = page(verbose=True)
        costs = next(line for line in text.splitlines() if line.startswith("  costs"))
        assert "(off unless named)" in costs
        assert "(loggers: alpha.tiler, alpha.loops)" in text
        assert "loggers:" not in page()

    def test_a_name_of_several_identical_owners_lists_each_provider(self) -> None:
        assert "[complog-alpha, beta-logs]" in page()

    def test_a_name_of_several_differing_owners_lists_each_qualified_spelling(self) -> None:
        artifacts = section(page(), "Artifacts")
        assert "guards of alpha [complog-alpha] (this one alone: alpha/guards)" in artifacts
        assert "guards of beta [beta-logs] (this one alone: beta/guards)" in artifacts

    def test_a_plugin_without_distribution_is_named_by_its_family(self) -> None:
        assert "[plugin passed]" in page()

    def test_variables_include_contributed_ones_formats_and_keywords(self) -> None:
        variables = section(page(), "Variables")
        for name in ("LOGS", "LOGS_OUT", "LOGS_FORMAT", "LOGS_STDERR", "LOGS_PROPAGATE", "LOGS_RANKS"):
            assert f"  TORCH_{name} " in variables
        assert "  BETA_LOGS " in variables
        assert "glog, short" in variables
        assert "the ranks that log" in variables

    def test_a_keyword_without_variable_is_listed_too(self) -> None:
        text = help_text(REGISTRY, [(BETA, Keyword("depth", int, 3, "how deep"))], (), prefix="TORCH")
        assert "set_logs(depth=...)" in text

    def test_examples_use_registered_names(self) -> None:
        text = page()
        assert 'TORCH_LOGS="+tiler,graphs" python' in text
        assert "-tiler" in text
        assert "tiler:off" in text

    def test_examples_avoid_names_that_mean_several_things(self) -> None:
        registry = Registry.build([(ALPHA, Artifact("both", "", True)), (BETA, Artifact("both", "", True, True))])
        assert 'TORCH_LOGS="+all" python' in help_text(registry, (), (), prefix="TORCH")

    def test_an_empty_registry_still_gives_a_whole_page(self) -> None:
        text = help_text(Registry(), (), (), prefix="MYLIB")
        assert 'MYLIB_LOGS="+all" python' in text
        assert "TORCH" not in text
        assert "complog help" not in text

    def test_another_prefix_names_its_own_variable_as_the_next_step(self) -> None:
        text = page(prefix="MYLIB")
        assert "MYLIB_LOGS=+help" in text
        assert "MYLIB_LOGS_RANKS" in text
        assert "TORCH" not in text

    @pytest.mark.parametrize("status", ["failed", "disabled", "set aside"])
    def test_a_plugin_that_did_not_load_is_listed_with_its_cause(self, status: str) -> None:
        info = PluginInfo("onnx", "complog-onnx", "0.1", "x", status=status, cause="because\nof this")
        text = help_text(REGISTRY, (), (ALPHA, info), prefix="TORCH")
        assert f"complog-onnx[onnx] 0.1  {status}: because of this" in text
        assert "complog-alpha[alpha]" not in text

    def test_notes_about_plugins_stand_in_the_verbose_page(self) -> None:
        info = PluginInfo("onnx", "complog-onnx", "0.1", notes=("it imported torch",))
        assert "it imported torch" in help_text(REGISTRY, (), (info,), prefix="TORCH", verbose=True)
        assert "it imported torch" not in help_text(REGISTRY, (), (info,), prefix="TORCH")

    @pytest.mark.parametrize("length", [1, 30, 31, 34, 35, 150])
    def test_names_of_any_length_are_whole_and_have_their_description(self, length: int) -> None:
        name = "n" * length
        text = help_text(build(Artifact(name, "first words", visible=True)), (), (), prefix="TORCH")
        lines = section(text, "Artifacts").splitlines()
        at = next(index for index, line in enumerate(lines) if line.split()[0] == name)
        assert "first words [complog-alpha]" in (lines[at] if length <= 34 else lines[at + 1])

    def test_lines_are_wrapped_not_cut(self) -> None:
        words = " ".join(f"word{index}" for index in range(60))
        text = help_text(build(Artifact("n", words, visible=True)), (), (), prefix="TORCH")
        assert all(len(line) <= 100 for line in text.splitlines())
        assert words in " ".join(text.split())

    def test_the_page_does_not_depend_on_the_terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        before = page()
        monkeypatch.setenv("COLUMNS", "40")
        assert page() == before

    def test_a_description_of_several_lines_stays_one_entry(self) -> None:
        text = help_text(build(Artifact("n", "one\n\n   two\t three", visible=True)), (), (), prefix="TORCH")
        assert "one two three [complog-alpha]" in text


class TestUnknownName:
    def test_the_reason_holds_nearest_names_provider_and_next_step(self) -> None:
        text = unknown_name("tilse", REGISTRY, KEYWORDS, prefix="TORCH", provider="complog-x")
        assert "nearest: tiles, " in text
        assert "pip install complog-x" in text
        assert "complog help --all" in text
        assert "\n" not in text

    def test_without_provider_nothing_is_to_be_installed(self) -> None:
        assert "pip" not in unknown_name("tilse", REGISTRY, KEYWORDS, prefix="TORCH")

    def test_another_prefix_is_sent_to_its_own_help(self) -> None:
        text = unknown_name("tilse", REGISTRY, KEYWORDS, prefix="MYLIB")
        assert "MYLIB_LOGS=+help" in text
        assert "complog help" not in text

    def test_the_reason_to_wait_is_told(self) -> None:
        assert "torch is not imported" in unknown_name(
            "x", REGISTRY, KEYWORDS, prefix="TORCH", waiting="torch is not imported"
        )

    def test_a_keyword_is_told_to_be_one(self) -> None:
        text = unknown_name("ranks", REGISTRY, KEYWORDS, prefix="TORCH")
        assert "set_logs(ranks=...)" in text
        assert "TORCH_LOGS_RANKS" in text

    def test_off_is_told_to_be_a_level(self) -> None:
        assert "name:off" in unknown_name("off", REGISTRY, KEYWORDS, prefix="TORCH")

    @pytest.mark.parametrize(
        ("typed", "meant"),
        [
            ("gaurds", "guards"),
            ("TILER", "tiler"),
            ("Tilr", "tiler"),
            ("hlep", "help"),
            ("ALL", "all"),
            ("alpha/gaurds", "alpha/guards"),
            ("beta/tiles", "alpha/tiles"),
            ("alfa/tiles", "alpha/tiles"),
            ("alpha.tilr", "alpha.tiler"),
        ],
    )
    def test_the_nearest_name_comes_first(self, typed: str, meant: str) -> None:
        assert nearest_names(typed, REGISTRY)[0] == meant

    def test_a_family_prefix_gets_qualified_spellings_only(self) -> None:
        assert all("/" in name for name in nearest_names("alpha/x", REGISTRY))

    def test_three_names_are_given_however_far_they_are(self) -> None:
        assert len(nearest_names("zzz", REGISTRY)) == 3
        assert len(set(nearest_names("", REGISTRY))) == 3

    def test_it_stays_quick_for_ten_thousand_names(self) -> None:
        registry = build(*(Artifact(f"artifact_number_{index}") for index in range(10_000)))
        assert min(timeit.repeat(lambda: nearest_names("artefact_7777", registry), number=1, repeat=3)) < 1.0


class TestTable:
    def test_every_name_has_a_row(self) -> None:
        rows = names_table(REGISTRY).splitlines()[2:]
        assert len(rows) == len(REGISTRY.entries)
        assert "| `costs` | artifact | no | yes |  | what each choice costs | complog-alpha |" in rows
        assert "| `tiler` | component | yes | no | `alpha.tiler` `alpha.loops` | loop tiling | complog-alpha |" in rows

    def test_differing_owners_have_rows_under_their_qualified_spellings(self) -> None:
        assert "| `alpha/guards` |" in names_table(REGISTRY)
        assert "| `beta/guards` |" in names_table(REGISTRY)

    def test_descriptions_cannot_break_the_table(self) -> None:
        table = names_table(build(Artifact("n", "a | b\nc \\| d")))
        assert len(table.splitlines()) == 3
        assert "a \\| b c \\\\\\| d" in table
