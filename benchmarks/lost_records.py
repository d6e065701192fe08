"""Records of threads that log while another one calls set_logs every 10 ms: how many do not arrive."""

from __future__ import annotations

import logging
import re
import sys
import tempfile
import threading
import time
from pathlib import Path

from measuring import Row, main, stderr_to
from workers import import_torch, is_worker, serve, workers

THREADS = 3
SECONDS = 3.0
ROUNDS = 5
INTERVAL = 0.01


def measure() -> list[Row]:
    """Count them beside stock PyTorch, in turn."""
    logged = {"stock": 0, "complog": 0}
    lost = {"stock": 0, "complog": 0}
    with workers() as sides:
        for _ in range(ROUNDS):
            for worker in sides:
                sent, arrived = worker.ask("log_meanwhile", SECONDS / ROUNDS)
                logged[worker.side] += sent
                lost[worker.side] += sent - arrived
    texts = {side: f"{lost[side]:,} of {logged[side]:,} ({lost[side] / logged[side]:.1%})" for side in logged}
    workload = f"records lost by {THREADS} threads logging while another calls set_logs every {INTERVAL * 1000:.0f} ms"
    return [Row(workload, "0", texts["stock"], texts["complog"], "0", lost["complog"] == 0)]


def log_meanwhile(seconds: float) -> tuple[int, int]:
    """Return how many records were logged and how many were printed."""
    logs = import_torch()
    log = logging.getLogger("torch._dynamo.bench")
    logs.set_logs(dynamo=logging.INFO)
    sent = [0] * THREADS
    stop = threading.Event()
    # the standard 5 ms would let most changes run through undisturbed
    sys.setswitchinterval(0.0001)

    def log_on(thread: int) -> None:
        while not stop.is_set():
            log.info("record %d of thread %d", sent[thread], thread)
            sent[thread] += 1
            time.sleep(0)

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "stderr"
        with stderr_to(str(path)):
            threads = [threading.Thread(target=log_on, args=(thread,)) for thread in range(THREADS)]
            for thread in threads:
                thread.start()
            begun = time.monotonic()
            turn = 0
            while time.monotonic() - begun < seconds:
                turn += 1
                # the level that the threads log at is admitted before and after each change
                logs.set_logs(dynamo=logging.DEBUG if turn % 2 else logging.INFO)
                time.sleep(INTERVAL)
            stop.set()
            for thread in threads:
                thread.join()
        arrived = set(re.findall(r"record \d+ of thread \d+$", path.read_text(), re.MULTILINE))
    return sum(sent), len(arrived)


if __name__ == "__main__":
    if is_worker():
        serve(log_meanwhile=log_meanwhile)
    else:
        main(measure)
