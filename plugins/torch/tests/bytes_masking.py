"""Takes out of a program's log what differs from run to run, and nothing else."""

from __future__ import annotations

import re
from typing import Final

_MASKS: Final = [
    (re.compile(pattern), replacement)
    for pattern, replacement in [
        # the line's head: date, time, process
        (r"(?m)^([VIWEC])\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ ", r"\1MMDD hh:mm:ss.uuuuuu PID "),
        # id() of objects, as a number of 14 or 15 digits and as an address
        (r"\b(?:9|1[0-4])\d{13}\b", "ID"),
        (r"\b0x[0-9a-f]{8,16}\b", "0xADDRESS"),
        # uuid4, with hyphens or underscores
        (r"(?<![0-9a-f])[0-9a-f]{8}([-_])(?:[0-9a-f]{4}\1){3}[0-9a-f]{12}(?![0-9a-f])", "UUID"),
        # how many graphs were turned into code before: fewer where code that a silent artifact guards is skipped
        (r"(?<=<eval_with_key>\.)\d+\b", "COUNT"),
        # what tempfile makes up
        (r"/tmp[a-z0-9_]{8}(?=[/'\s]|$)", "/TMP"),
        # what was measured: the table of compile times, single durations, the metrics of one compilation
        (r"(?m)((?:^|\] )[\w.<>]+(?:, \d+\.\d{4})+)$", lambda match: re.sub(r"\d+\.\d{4}", "SECONDS", match[1])),
        # the same table where tabulate is installed: its columns are as wide as what was measured
        (
            r"(?m)^((?:.*\] )?[A-Za-z_][\w.<>]*) {2,}(\d+(?:\.\d+)?(?:, \d+\.\d{4})*)$",
            lambda match: f"{match[1]} {re.sub(r'[0-9.]+', 'SECONDS', match[2])}",
        ),
        (r"(?m)((?:^|\] )Function) {2,}(?=Runtimes)", r"\1 "),
        (r"(?m)((?:^|\] ))-{4,} {2}-{4,}$", r"\1COLUMNS"),
        (r"(?<=took )\d+\.\d+(?=s\b)", "SECONDS"),
        (r"(?<=latency = )\d+\.\d+(?= us\b)", "MICROSECONDS"),
        (r"(?<=_time)=\d+\.\d+(?=[,)])", "=SECONDS"),
        (r"(?<=_s)=\d+\.\d+(?:e-\d+)?(?=[,)])", "=SECONDS"),
        (r"(?<=_us)=\d+(?=[,)])", "=MICROSECONDS"),
    ]
]


def mask(text: str) -> str:
    """Return the text with a fixed word for each of these.

    >>> mask("V1129 15:57:26.774000 4408 torch/x.py:24] [0/0] id 140496445766880, took 1.25s")
    'VMMDD hh:mm:ss.uuuuuu PID torch/x.py:24] [0/0] id ID, took SECONDSs'
    """
    for pattern, replacement in _MASKS:
        text = pattern.sub(replacement, text)
    return text
