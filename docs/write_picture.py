"""Draws rich.svg: what a terminal shows of a few records with complog-rich; `make docs` runs it.

The records, their times and their process are made up; everything else is the real way from logger to terminal.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import time
from pathlib import Path
from typing import Final

PLACE: Final = Path(__file__).with_name("rich.svg")
WIDTH: Final = 135
PROCESS: Final = 4408
_FOLDER: Final = "/srv"
_MOMENT: Final = (2026, 11, 29, 15, 57, 26, 0, 0, -1)

_CODE: Final = """\
Output code:
# AOT ID: ['0_inference']
import torch
relu_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''
extern "C" void kernel(const float* in_ptr0, float* out_ptr0)
{
    for (int64_t x0 = 0; x0 < 16; x0 += 1)
        out_ptr0[x0] = in_ptr0[x0] > 0 ? in_ptr0[x0] : 0.0f;
}
''')

def call(args):
    buf0 = empty_strided_cpu((4, 4), (4, 1), torch.float32)
    relu_0(args[0], buf0)  # one kernel
    return (buf0,)"""
_GRAPH: Final = """\
TRACED GRAPH
opcode         name    target                   args        kwargs
-------------  ------  -----------------------  ----------  --------
placeholder    l_x_    L_x_                     ()          {}
call_function  mul     <built-in function mul>  (l_x_, 2)   {}
output         output  output                   ((mul,),)   {}"""

RECORDS: Final = (
    ("tiny", logging.INFO, "front.py", 112, "compiling forward of %s", "model.py"),
    ("tiny.__graph", logging.DEBUG, "front.py", 118, _GRAPH, None),
    ("tiny.__output_code", logging.DEBUG, "back.py", 72, _CODE, None),
    ("tiny", logging.WARNING, "cache.py", 9, "no entry for %s, see /srv/models/model.py:31", "relu"),
    (
        "tiny",
        logging.ERROR,
        "cache.py",
        14,
        "a message cannot \x1b]0;set the title\x07 of the terminal",
        None,
    ),
)


class Terminal(io.StringIO):
    """A stream that keeps what a terminal would be sent."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """Return True: it passes for one."""
        return True


def log_records() -> str:
    """Return what a terminal gets for the records, escape sequences included."""
    import complog_rich.plugin
    from complog_core import Artifact, Component, Field, LogSystem, hookimpl

    class Names:
        @hookimpl
        def complog_components(self) -> list[Component]:
            return [Component("tiny", "tiny", "a compiler")]

        @hookimpl
        def complog_artifacts(self) -> list[Artifact]:
            return [Artifact("graph", "the graph"), Artifact("output_code", "the code")]

        @hookimpl
        def complog_record_fields(self) -> list[Field]:
            return [Field("compilation", "tail", lambda record: " [0/0]")]

    kept = dict(os.environ), sys.path.copy()
    sys.path.append(_FOLDER)
    terminal = Terminal()
    for variable in ("NO_COLOR", "FORCE_COLOR", "FORCE_HYPERLINK", "PICTURE_LOGS", "PICTURE_LOGS_OUT"):
        os.environ.pop(variable, None)
    os.environ.update(PICTURE_LOGS_FORMAT="rich", PICTURE_LOGS_STDERR="1", TERM="xterm-256color")
    system = LogSystem("PICTURE", plugins=[complog_rich.plugin, Names()])
    try:
        with system.logs("+tiny, graph, output_code"), contextlib.redirect_stderr(terminal):
            for artifact in ("graph", "output_code"):
                system.getArtifactLogger("tiny", artifact)
            for position, (name, level, path, line, message, argument) in enumerate(RECORDS):
                arguments = () if argument is None else (argument,)
                record = logging.LogRecord(name, level, f"{_FOLDER}/tiny/{path}", line, message, arguments, None)
                record.created, record.msecs = time.mktime(_MOMENT), 774.0 + position
                record.process = PROCESS
                logging.getLogger(name).handle(record)
    finally:
        system.close()
        os.environ.clear()
        os.environ.update(kept[0])
        sys.path[:] = kept[1]
    return terminal.getvalue()


def draw() -> str:
    """Return the picture."""
    from rich.console import Console
    from rich.text import Text

    console = Console(
        record=True,
        width=WIDTH,
        file=io.StringIO(),
        color_system="standard",
        force_terminal=True,
        legacy_windows=False,
        _environ={},
    )
    console.print(Text.from_ansi(log_records().rstrip("\n")))
    return console.export_svg(title="TORCH_LOGS_FORMAT=rich", unique_id="complog-rich") + "\n"


if __name__ == "__main__":
    PLACE.write_text(draw(), encoding="utf-8")
