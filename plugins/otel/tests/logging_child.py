"""What a child of multiprocessing runs: it logs, and ends at once."""

from __future__ import annotations


def log_last() -> None:
    import logging

    import complog

    if "probe" not in complog.default_system.registry.names():
        complog.register_log("probe", "probe")
        complog.set_logs(probe="DEBUG")
    for number in range(3):
        logging.getLogger("probe.child").info("child %d", number)
