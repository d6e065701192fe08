"""Programs that log, in processes of their own, and what they told about their records at the very end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from textwrap import dedent
from typing import NamedTuple

from tests.support.fake_distributions import clean_environment

from complog_otel.counts import Counts

PRELUDE = """
import atexit, json, os, sys, threading, time

def tell_counts():
    import complog_otel
    print(json.dumps(complog_otel.get_counts()), flush=True)

atexit.register(tell_counts)
import complog, logging
complog.register_log("probe", "probe")
complog.set_logs(probe="DEBUG")
log = logging.getLogger("probe.here")

def open_gate():
    import urllib.request
    urllib.request.urlopen(os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]).close()

def wait_for_failure():
    from complog_otel.sender import get_sender
    end = time.monotonic() + 30
    while not get_sender()._is_failing() and time.monotonic() < end:
        time.sleep(0.01)
"""


class Ended(NamedTuple):
    """What a program left behind; `counts` are those of its end, `output` is stdout without them."""

    counts: Counts
    output: str
    errors: list[str]
    status: int


def environment_of(url: str, **variables: str) -> dict[str, str]:
    """Return an environment that sends to `url`, writes no lines to the console, and says nothing else."""
    clean = {name: value for name, value in clean_environment().items() if not name.startswith("OTEL_")}
    # what is installed here is what the program sees
    del clean["PYTHONPATH"]
    sent = {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "TORCH_LOGS_STDERR": "0", "COMPLOG_DISABLE_PLUGINS": "torch"}
    return {**clean, **sent, "OTEL_BLRP_SCHEDULE_DELAY": "50", "NO_PROXY": "*", **variables}


def start(url: str, code: str, *, prelude: str = PRELUDE, **variables: str) -> subprocess.Popen[str]:
    """Start a program; its pipes are the caller's. One that hangs is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"{prelude}\n{dedent(code)}"],
        env=environment_of(url, **variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    timer = threading.Timer(60, process.kill)
    timer.daemon = True
    timer.start()
    return process


def finish(process: subprocess.Popen[str]) -> Ended:
    """Wait for a program's end, and read what it wrote."""
    try:
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    *lines, last = output.splitlines() or [""]
    counts = Counts(*json.loads(last)) if last.startswith("[") else Counts()
    note(counts)
    return Ended(counts, "\n".join(lines), errors.splitlines(), process.returncode)


def run(url: str, code: str, *, prelude: str = PRELUDE, **variables: str) -> Ended:
    """Run a program to its end."""
    return finish(start(url, code, prelude=prelude, **variables))


def note(counts: Counts) -> None:
    """Append the figures to the file that FIGURES names, for whoever wants to see them."""
    path = os.environ.get("FIGURES")
    if path:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition("::")[2].partition(" ")[0]
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{test} {counts._asdict()} dropped={counts.dropped} waiting={counts.waiting}\n")
