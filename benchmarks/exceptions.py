"""How many modules the first logged exception imports."""

from __future__ import annotations

import logging
import sys

from measuring import Row, main
from workers import import_bare_torch, is_worker, serve, workers


def measure() -> list[Row]:
    """Count them beside stock PyTorch."""
    with workers() as sides:
        counts = {worker.side: worker.ask("log_exception") for worker in sides}
    stock, complog = counts["stock"], counts["complog"]
    return [Row("modules imported by the first logged exception", "0", str(stock), str(complog), "0", complog == 0)]


def log_exception() -> int:
    """Return how many modules a logged exception imports after `import torch`."""
    import_bare_torch()
    import traceback  # noqa: F401 - logging itself needs it

    before = set(sys.modules)
    try:
        raise ValueError("a mistake")
    except ValueError:
        logging.getLogger("torch.bench").exception("something went wrong")
    return len(set(sys.modules) - before)


if __name__ == "__main__":
    if is_worker():
        serve(log_exception=log_exception)
    else:
        main(measure)
