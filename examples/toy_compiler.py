"""A toy compiler that logs as Inductor does, for a first look without PyTorch.

    TORCH_LOGS="+inductor,output_code,my_artifact" python toy_compiler.py "a * x + b"

The settings are those of a real torch.compile run. It needs complog-inductor and examples/my-artifact.
"""

from __future__ import annotations

import ast
import logging
import sys

from my_artifact.backend import compile_function

import complog

log = logging.getLogger("torch._inductor.toy")
output_code = complog.getArtifactLogger("torch._inductor.toy", "output_code")
schedule = complog.getArtifactLogger("torch._inductor.toy", "schedule")


def lower(tree: ast.expr, steps: list[str]) -> str:
    """Append one step for each operation of the expression; return the name of what it computes."""
    if not isinstance(tree, ast.BinOp):
        return ast.unparse(tree)
    left, right = lower(tree.left, steps), lower(tree.right, steps)
    log.debug("lowering %s of %s and %s", type(tree.op).__name__, left, right)
    steps.append(f"{type(tree.op).__name__.lower()}({left}, {right})")
    return f"t{len(steps)}"


def main(expression: str) -> None:
    """Compile an arithmetic expression and print how many steps it takes."""
    log.info("compiling %s", expression)
    steps: list[str] = []
    result = lower(ast.parse(expression, mode="eval").body, steps)
    schedule.debug("%d steps, no two of them fused", len(steps))
    code = [*(f"auto t{number} = {step};" for number, step in enumerate(steps, 1)), f"return {result};"]
    output_code.debug("Output code:\n%s", "\n".join(code))
    compile_function("toy", steps)
    print(f"{expression}: {len(steps)} steps")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "a * x + b")
