"""A fixed program for test_same_bytes: a graph break, a recompilation, a size that becomes dynamic, a backward pass,
and a backend that fails, whose traceback is logged."""

from __future__ import annotations

import sys
import warnings

import torch

warnings.simplefilter("ignore")  # they go to stderr, which is compared


class Scale(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        grown = torch.relu(x @ self.weight) + 1
        torch._dynamo.graph_break()
        return grown.sum(-1)


def grow(x: torch.Tensor) -> torch.Tensor:
    return torch.cos(x) + x.shape[0]


def refuse(graph: torch.fx.GraphModule, inputs: object) -> None:
    raise RuntimeError("this backend refuses\nin two lines")


def main(backend: str) -> None:
    module = torch.compile(Scale(), backend=backend)
    module(torch.ones(2, 4)).sum().backward()
    function = torch.compile(grow, backend=backend)
    for size in (3, 5):
        function(torch.ones(size))
    with torch._dynamo.config.patch(suppress_errors=True):
        torch.compile(lambda x: x.sin(), backend=refuse)(torch.ones(2))


if __name__ == "__main__":
    main(sys.argv[1])
