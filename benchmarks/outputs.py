"""What is open while records go to a file, and whether lines of many processes and threads stay whole."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from measuring import Row, main
from workers import Worker, import_torch, is_worker, serve, workers

EXTRA = 1_000
PROCESSES, THREADS = 4, 4
FEW, MANY = 40, 400
LONG = "x" * 62
LINES_OF_LONG = 64 * 1024 // (len(LONG) + 1)
SHAPES = {"one line": (MANY, 1), "64 KiB": (FEW, LINES_OF_LONG)}
WHOLE = re.compile(rf"I\d{{4}} [\d:.]+ \d+ \S+:\d+\] {LONG}")


def measure() -> list[Row]:
    """Count them beside stock PyTorch."""
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        for extra in (0, EXTRA):
            opened = {}
            for side in ("stock", "complog"):
                worker = Worker(side, {"TORCH_LOGS_OUT": str(Path(directory) / side)})
                opened[side] = worker.ask("count_descriptors", extra)
                worker.close()
            name = f"descriptors for TORCH_LOGS_OUT with {extra:,} further names"
            rows.append(Row(name, "0", str(opened["stock"]), str(opened["complog"]), "1", opened["complog"] == 1))
        for kind in ("file", "pipe"):
            with workers() as sides:
                for shape in SHAPES:
                    torn = {worker.side: _write(worker, kind, shape, Path(directory)) for worker in sides}
                    texts = {side: f"{bad:,} of {expected:,}" for side, (bad, expected) in torn.items()}
                    name = (
                        f"lines torn or missing, {PROCESSES} processes x {THREADS} threads, {kind}, records of {shape}"
                    )
                    rows.append(Row(name, "0", texts["stock"], texts["complog"], "0", torn["complog"][0] == 0))
    return rows


def _write(worker: Worker, kind: str, shape: str, directory: Path) -> tuple[int, int]:
    """Return how many of the lines that a console ought to have got are not there whole, and how many ought to be."""
    path = directory / f"{worker.side}-{kind}-{shape.replace(' ', '-')}"
    if kind == "file":
        path.touch()
        worker.ask("log_together", str(path), shape)
        text = path.read_text(errors="replace")
    else:
        os.mkfifo(path)
        with subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE) as reader:
            worker.tell("log_together", str(path), shape)
            text = reader.communicate()[0].decode("utf-8", "replace")
            worker.hear()
    records, lines = SHAPES[shape]
    expected = PROCESSES * THREADS * records * lines
    return expected - sum(WHOLE.fullmatch(line) is not None for line in text.split("\n")), expected


# -- in the workers


def count_descriptors(extra: int) -> int:
    """Return how many descriptors of the process lead to the file of TORCH_LOGS_OUT."""
    logs = import_torch()
    names = {f"bench_name_{number}": [f"bench_names.logger_{number}"] for number in range(extra)}
    logs._internal.log_registry.log_alias_to_log_qnames.update(names)
    logs.set_logs(dynamo=logging.INFO)
    logging.getLogger("torch._dynamo.bench").info("opened")
    opened = [f"/proc/self/fd/{descriptor}" for descriptor in os.listdir("/proc/self/fd")]
    return sum(os.path.exists(path) and os.path.samefile(path, os.environ["TORCH_LOGS_OUT"]) for path in opened)


def log_together(path: str, shape: str) -> int:
    """Let forked processes of several threads each log to one console, which is `path`."""
    logs = import_torch()
    logs.set_logs(dynamo=logging.INFO)
    records, lines = SHAPES[shape]
    text = "\n".join([LONG] * lines)
    sys.stderr.flush()
    target = os.open(path, os.O_WRONLY | os.O_APPEND)
    children = []
    for _ in range(PROCESSES):
        child = os.fork()
        if child == 0:
            os.dup2(target, 2)
            os.close(target)
            _log_in_threads(text, records)
            os._exit(0)
        children.append(child)
    os.close(target)
    return max(os.waitpid(child, 0)[1] for child in children)


def _log_in_threads(text: str, records: int) -> None:
    log = logging.getLogger("torch._dynamo.bench")

    def log_on() -> None:
        for _ in range(records):
            log.info(text)

    threads = [threading.Thread(target=log_on) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.stderr.flush()


if __name__ == "__main__":
    if is_worker():
        serve(count_descriptors=count_descriptors, log_together=log_together)
    else:
        main(measure)
