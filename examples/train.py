"""Trains a small model for a few steps through torch.compile, on the CPU; needs PyTorch and a C++ compiler.

    TORCH_LOGS="+inductor,output_code,my_artifact" python train.py

Nothing in here sets up logging. If examples/my-artifact is installed, its compiler gets to see each graph as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

try:
    from my_artifact.backend import compile_function
except ModuleNotFoundError:

    def compile_function(name: str, operations: Sequence[str]) -> str:
        return ""


def compile_graph(graph_module: torch.fx.GraphModule, inputs: list[Any]) -> Any:
    """Show the graph to the third party's compiler, if there is one, and let Inductor compile it."""
    compile_function("forward", [node.name for node in graph_module.graph.nodes])
    # without its caches Inductor generates the code, and logs it, in every run
    return torch._inductor.compile(graph_module, inputs, options={"force_disable_caches": True})


def main() -> None:
    """Train and print the loss of the first and the last step."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    inputs, targets = torch.randn(32, 8), torch.randn(32, 1)
    compiled = torch.compile(model, backend=compile_graph)
    losses = []
    for _ in range(5):
        loss = torch.nn.functional.mse_loss(compiled(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"loss: {losses[0]:.4f} -> {losses[-1]:.4f}")


if __name__ == "__main__":
    main()
