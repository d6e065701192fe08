"""A program that compiles writes the same stderr with the bridge as with stock PyTorch, byte for byte."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

import pytest
from plugins.torch.tests import bytes_program
from plugins.torch.tests.bytes_masking import mask
from tests.support.environments import make_environment

pytestmark = pytest.mark.torch


class Setting(NamedTuple):
    logs: str
    backend: str
    format: str | None = None
    checks_masks: bool = False
    without_families: bool = False


DYNAMO = "graph_breaks,recompiles,dynamic,aot_graphs,graph_code,guards,bytecode,verbose_guards,trace_source,trace_call"
SETTINGS = [
    Setting("+dynamo", "aot_eager", without_families=True),
    Setting(DYNAMO, "aot_eager", checks_masks=True, without_families=True),
    Setting("dynamo,graph_breaks,bytecode", "aot_eager", format="short"),
    Setting("all,output_code,kernel_code,schedule,fusion,perf_hints", "inductor"),
    Setting("+all", "inductor", checks_masks=True),
]
IDS = [f"{setting.logs}{'' if setting.format is None else ' with a format'}" for setting in SETTINGS]

Runs = dict[tuple[Setting, str], "Future[str]"]


def run_program(setting: Setting, engine: str, directory: Path) -> str:
    """Run the program and return its stderr; where Python and PyTorch would choose freely, the choice is fixed."""
    environ = make_environment() | {
        "TORCH_LOGS": setting.logs,
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(directory),
        "TORCHINDUCTOR_VEC_ISA_OK": "0",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "COMPLOG_TORCH": "1" if engine.startswith("bridged") else "0",
    }
    if engine == "bridged without families":
        environ["COMPLOG_PLUGINS"] = "torch"
    if setting.format is not None:
        environ["TORCH_LOGS_FORMAT"] = setting.format
    command = [sys.executable, str(Path(bytes_program.__file__)), setting.backend]
    result = subprocess.run(command, env=environ, capture_output=True, timeout=300, check=False)
    text = result.stderr.decode(errors="surrogateescape")
    assert result.returncode == 0, text[-3000:]
    return text


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """Every run, two of them at a time; the tests wait for those that they need."""
    directory = tmp_path_factory.mktemp("inductor")
    with ThreadPoolExecutor(2) as pool:
        wanted = [
            (setting, engine)
            for setting in SETTINGS
            for engine in (
                "stock",
                "bridged",
                *["stock again"] * setting.checks_masks,
                *["bridged without families"] * setting.without_families,
            )
        ]
        yield {key: pool.submit(run_program, *key, directory) for key in wanted}


def assert_same(one: str, other: str, names: tuple[str, str]) -> None:
    lines = [mask(text).splitlines(keepends=True) for text in (one, other)]
    if lines[0] != lines[1]:
        difference = list(unified_diff(*lines, *names, n=1))
        pytest.fail(f"{len(difference)} lines of differences, the first ones:\n" + "".join(difference[:30])[:5000])


@pytest.mark.parametrize("setting", SETTINGS, ids=IDS)
def test_stderr_is_that_of_stock(runs: Runs, setting: Setting) -> None:
    stock = runs[setting, "stock"].result()
    assert len(stock) > 100
    assert_same(stock, runs[setting, "bridged"].result(), ("stock", "bridged"))


@pytest.mark.parametrize("setting", [it for it in SETTINGS if it.without_families], ids=lambda it: it.logs)
def test_the_bridge_needs_no_family_for_the_lines_of_stock(runs: Runs, setting: Setting) -> None:
    stock, bridged = runs[setting, "stock"].result(), runs[setting, "bridged without families"].result()
    assert "] [0/0" in bridged
    assert_same(stock, bridged, ("stock", "bridged without families"))


@pytest.mark.parametrize("setting", [it for it in SETTINGS if it.checks_masks], ids=lambda it: it.logs)
def test_masks_cover_what_differs_between_two_stock_runs(runs: Runs, setting: Setting) -> None:
    one, other = runs[setting, "stock"].result(), runs[setting, "stock again"].result()
    assert one != other
    assert_same(one, other, ("stock", "stock again"))


def test_masks_leave_nearly_every_character_to_be_compared(runs: Runs) -> None:
    rng = random.Random(0)
    lines = [line for line in runs[SETTINGS[-1], "stock"].result().splitlines() if len(line) > 60]
    unseen = []
    for line in rng.choices(lines, k=4000):
        # behind the date, the time and the process
        place = rng.choice([index for index in range(30, len(line)) if line[index].isalnum()])
        other = "7" if line[place] != "7" else "6"
        changed = line[:place] + (other if line[place].isdigit() else "q") + line[place + 1 :]
        if changed != line and mask(changed) == mask(line):
            unseen.append((line[max(0, place - 20) : place + 20], line[place]))
    assert len(unseen) < 40, unseen[:20]


HEAD = "V1129 15:57:26.774000 4408 torch/_dynamo/guards.py:4483] [0/0_1] [__guards] "


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        (HEAD, HEAD.replace("V", "I", 1)),
        (HEAD, HEAD.replace("V1129", "1129")),
        (HEAD, HEAD.replace(".774000", ".774")),
        (HEAD, HEAD.replace(" 4408 ", " ")),
        (HEAD, HEAD.replace("torch/_dynamo", "/site-packages/torch/_dynamo")),
        (HEAD, HEAD.replace(":4483]", ":4484]")),
        (HEAD, HEAD.replace("[0/0_1]", "[0/0]")),
        (HEAD, HEAD.replace("[__guards] ", "")),
        (HEAD, "[rank0]:" + HEAD),
        (HEAD + "a\n" + HEAD + "b", HEAD + "a\nb"),
        (HEAD + "a\n" + HEAD + "b", HEAD + "a\n" + HEAD + "b\n" + HEAD),
        (HEAD + "a\n" + HEAD + "b", HEAD + "a\n\n" + HEAD + "b"),
        (HEAD + "size (4, 4)", HEAD + "size (4, 5)"),
        (HEAD + "id 140496445766880", HEAD + "id None"),
        (HEAD + "took 1.25s", HEAD + "took 1.25ms"),
        (HEAD + "value 1.25", HEAD + "value 1.26"),
        (HEAD + "key f3lamipcc5hjktlkkujkeamdsrb4ozrcxi72dqkbyoko4cprlcvz", HEAD + "key f3lamipcc5hjktlkkujkeamd"),
        (HEAD + "graph_node_count=6, a_time_s=1.5)", HEAD + "graph_node_count=7, a_time_s=1.5)"),
    ],
)
def test_masks_hide_no_real_difference(line: str, changed: str) -> None:
    assert mask(line) != mask(changed)
