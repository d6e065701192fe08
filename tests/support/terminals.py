"""Programs that run in a terminal of their own, and what they sent to it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent

FOREIGN = (
    "TORCH",
    "COMPLOG",
    "PYTHON",
    "DEVICE_BACKEND",
    "NO_COLOR",
    "FORCE_",
    "TERM",
    "COLORTERM",
    "COLUMNS",
    "LINES",
)
"""What the variables begin with that a program does not take over from the test run."""

ESCAPES = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;;[^\x07\x1b]*\x1b\\")
"""The sequences that may be sent: colours and links."""


def environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables for a program: this process's without those that change what is shown, and `env`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "TERM": "xterm", **(env or {})}


def run_in_terminal(
    source: str,
    directory: Path,
    *,
    env: Mapping[str, str] | None = None,
    columns: int = 80,
    arguments: Sequence[str] = (),
    timeout: float = 120,
) -> str:
    """Run Python code, with a terminal as its stdin, stdout and stderr; return what it sent there, lines ended by LF.

    A program that fails, or takes longer than `timeout` seconds, is an AssertionError.
    """
    directory.mkdir(parents=True, exist_ok=True)
    script = directory / "program.py"
    script.write_text(dedent(source), encoding="utf-8")
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, str(script), *arguments],
        cwd=directory,
        env=environment(env),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    try:
        sent = _read_all(master, time.monotonic() + timeout)
        process.wait(timeout)
    finally:
        process.kill()
        process.wait()
        os.close(master)
    text = sent.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
    assert process.returncode == 0, text
    return text


def _read_all(master: int, until: float) -> bytes:
    sent = b""
    while time.monotonic() < until:
        ready, _, _ = select.select([master], [], [], 1)
        if not ready:
            continue
        try:
            data = os.read(master, 65536)
        except OSError:  # nobody has the other end open any more
            return sent
        if not data:
            return sent
        sent += data
    raise AssertionError(f"still running: {sent[-2000:]!r}")


def readable(sent: str) -> str:
    """Return the text without colours and links."""
    return ESCAPES.sub("", sent)
