"""Which language is a text written in? The artifact's name says it, or the text does."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

Language = Literal["python", "cpp", "bytecode", "traceback"]

_PYTHON_ARTIFACTS: Final = frozenset(
    (
        *("aot_graphs", "aot_joint_graph", "compiled_autograd", "compiled_autograd_verbose", "ddp_graphs"),
        *("graph_code", "graph_code_verbose", "hierarchical_compile", "ir_post_fusion", "ir_pre_fusion"),
        *("kernel_code", "output_code", "post_grad_graphs", "pre_grad_graphs"),
    )
)
"""Artifacts of PyTorch that print Python unless they print C++."""

_CODE_ARTIFACT: Final = re.compile("code|kernel|source|triton|cpp|cuda")
_PYTHON: Final = re.compile(
    r"^[ \t]*(?:import \w|from [\w.]+ import\b|(?:async )?def \w+\(|@[\w.]+(?:\(|$)|class \w+(?:\(.*\))?:)",
    re.MULTILINE,
)
_CPP: Final = re.compile(
    r"^[ \t]*(?:#[ \t]*(?:include\b|pragma\b|define\b|ifn?def\b)|extern \"C\"|template\s*<|using namespace\b"
    r"|namespace [\w:]*\s*\{|__global__ |(?:static |inline |constexpr )*(?:void|int|float|double) \w+\()",
    re.MULTILINE,
)
_INSTRUCTION: Final = re.compile(
    r"^[ \t]*(?:\d+[ \t]+)?(?:>>[ \t]+|--?>[ \t]+|L\d+:[ \t]+)?(?:\d+[ \t]+)?[A-Z][A-Z_0-9]{2,}\b"
)
_TRACEBACK: Final = re.compile(r"^[ \t]*Traceback \(most recent call last\):$", re.MULTILINE)
_COMMENT: Final = re.compile(r"[ \t]*(?:#|//|/\*)")
_SAMPLE: Final = 20_000
"""How many characters have to tell the language."""


class Guess(NamedTuple):
    """A language, and the number of lines that stand before the text in it."""

    language: Language | None = None
    header: int = 0


def guess(artifact: str | None, text: str) -> Guess:
    r"""Return the language of a text that the artifact, if it is one, has printed.

    >>> guess("output_code", "Output code:\nimport torch\nx = 1")
    Guess(language='python', header=1)
    >>> guess(None, "#include <cmath>\nvoid f() {\n}").language, guess(None, "from here on").language
    ('cpp', None)
    """
    if artifact == "bytecode" or _has_instructions(text):
        return Guess("bytecode")
    prints_code = artifact is not None and (artifact in _PYTHON_ARTIFACTS or _CODE_ARTIFACT.search(artifact))
    found = guess_code(text, least=1 if prints_code else 2)
    if found is not None:
        return found
    failed = _TRACEBACK.search(text)
    if failed is not None:
        return Guess("traceback", text.count("\n", 0, failed.start()))
    if artifact in _PYTHON_ARTIFACTS and text.count("\n") > 2:
        return Guess("python", 1)
    return Guess()


def guess_code(text: str, *, least: int) -> Guess | None:
    """Return whether the text is Python or C++; None where fewer than `least` of its lines look so."""
    sample = text[:_SAMPLE]
    python, cpp = _PYTHON.search(sample), _CPP.search(sample)
    first = min((match for match in (python, cpp) if match is not None), key=lambda match: match.start(), default=None)
    if first is None:
        return None
    pattern: re.Pattern[str] = _PYTHON if first is python else _CPP
    if least > 1 and (text.count("\n") < least or sum(1 for _ in pattern.finditer(sample)) < least):
        return None
    lines = sample[: first.start()].split("\n")[:-1]
    header = len(lines)
    while header and _COMMENT.match(lines[header - 1]):
        header -= 1
    return Guess("python" if first is python else "cpp", header)


def _has_instructions(text: str) -> bool:
    # the third line of three is the first that can tell
    lines = text[:_SAMPLE].split("\n", 12)[1:12]
    return sum(1 for line in lines if _INSTRUCTION.match(line)) > 2
