"""Four ranks of torchrun that train a compiled DistributedDataParallel model over gloo, and what each of them logs."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from textwrap import dedent

import pytest
from tests.support.torch_programs import Finished, run_program

pytestmark = pytest.mark.torch

TORCHRUN = """
    import sys
    from torch.distributed.run import main

    sys.exit(main(["--standalone", "--nproc-per-node", "4", "rank.py"]))
"""

TRAIN = """
    import logging, os
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    log = logging.getLogger("torch.distributed.train")
    log.warning("before there is a group")
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    {setup}


    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(*(torch.nn.Linear(600, 600) for _ in range(4)))

        def forward(self, x):
            return self.layers(x)

    model = DistributedDataParallel(Model(), bucket_cap_mb=1)
    torch.compile(model, backend="aot_eager")(torch.ones(2, 600)).sum().backward()
    dist.barrier()
    for _ in range(2):
        # in one write, since four ranks share the pipe
        note = lambda: (os.write(1, f"evaluated {rank}\\n".encode()), "gloo")[1]
        log.warning("%s is slow", torch._logging.LazyString(note))
    log.warning("rank %d is slow", rank)
    log.error("an error")
    dist.barrier()
    dist.destroy_process_group()
"""


def run_ranks(tmp_path: Path, setup: str = "", **variables: str) -> Finished:
    """Run the four ranks as the console script `torchrun` does."""
    (tmp_path / "rank.py").write_text(dedent(TRAIN).replace("{setup}", setup), encoding="utf-8")
    done = run_program(TORCHRUN, tmp_path, name="torchrun", env={"TMPDIR": str(tmp_path), **variables})
    assert done.returncode == 0, done.stderr
    assert "complog: warning" not in done.stderr
    return done


def count_ranks(text: str, wanted: str) -> Counter[str]:
    """Return how often each head, `[rank0]` or "", stands before a line with the wanted text."""
    lines = [line for line in text.splitlines() if wanted in line]
    return Counter(match[0] if (match := re.match(r"\[rank\d\]", line)) else "" for line in lines)


def find_sums(text: str) -> list[str]:
    """Return what is told of the program's own warnings; PyTorch may have some too."""
    return sorted(re.findall(r" rank\.py:\d+\] (repeated by .*)", text))


EACH = Counter({f"[rank{rank}]": 1 for rank in range(4)})


def test_each_rank_says_who_it_is_and_has_a_file_and_identical_warnings_are_one(tmp_path: Path) -> None:
    done = run_ranks(
        tmp_path, TORCH_LOGS="ddp_graphs", TORCH_LOGS_DEDUP="ranks", TORCH_LOGS_OUT="logs/{rank}/{local_rank}.log"
    )
    files = [(tmp_path / "logs" / str(rank) / f"{rank}.log").read_text() for rank in range(4)]
    assert sorted("".join(files).splitlines()) == sorted(x for x in done.stderr.splitlines() if x in "".join(files))
    for text in (done.stderr, "".join(files)):
        assert count_ranks(text, "[__ddp_graphs] ---orig graph---") == EACH
        assert set(count_ranks(text, "[__ddp_graphs]")) == set(EACH)
        assert count_ranks(text, "an error") == EACH
        assert all(count_ranks(text, f"rank {rank} is slow") == {f"[rank{rank}]": 1} for rank in range(4))
        assert count_ranks(text, "] before there is a group") == {"": 1}
        assert sum(count_ranks(text, "] gloo is slow").values()) == 2
        assert find_sums(text) == [
            "repeated by 3 other ranks (6 times): gloo is slow",
            "repeated by 3 other ranks: before there is a group",
        ]
    assert Counter(done.stdout.split("\n")) == {**{f"evaluated {rank}": 2 for rank in range(4)}, "": 1}
    assert list((tmp_path / f"complog-ranks-{os.getuid()}").iterdir()) == []


def test_ranks_that_log_are_chosen_whatever_the_format(tmp_path: Path) -> None:
    done = run_ranks(
        tmp_path, TORCH_LOGS="ddp_graphs", TORCH_LOGS_RANKS="1,3", TORCH_LOGS_FORMAT="%(levelname)s|%(message)s"
    )
    assert sorted(map(int, re.findall(r"rank (\d) is slow", done.stderr))) == [1, 3]
    assert done.stderr.count("---orig graph---") == 2
    assert done.stderr.count("gloo is slow") == 4


def test_script_chooses_by_keyword(tmp_path: Path) -> None:
    done = run_ranks(tmp_path, 'torch._logging.set_logs(ddp_graphs=True, ranks=[0, 2], dedup="ranks")')
    assert sum(count_ranks(done.stderr, "before there is a group").values()) == 4
    assert set(count_ranks(done.stderr, "[__ddp_graphs]")) == {"[rank0]", "[rank2]"}
    assert count_ranks(done.stderr, "an error") == {"[rank0]": 1, "[rank2]": 1}
    assert sum(count_ranks(done.stderr, "] gloo is slow").values()) == 2
    assert find_sums(done.stderr) == ["repeated by 1 other rank (2 times): gloo is slow"]
