"""Writes names.md, the table of the names that complog and its families register; `make docs` runs it.

Whatever else is installed does not get into the table: only these plugins are loaded.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

PLUGINS = ("distributed", "dynamo", "inductor", "onnx", "torch")
BEGINNING = """# Names

What `TORCH_LOGS` and `complog.set_logs` know with complog and its four families installed. `make docs` writes this
page; `complog names` lists what is registered in your environment, and [settings.md](settings.md) tells what the
columns mean.

"""


def main() -> None:
    """Write the page next to this file."""
    os.environ["COMPLOG_PLUGINS"] = ",".join(PLUGINS)
    for variable in ("TORCH_LOGS", "COMPLOG_DISABLE_PLUGINS"):
        os.environ.pop(variable, None)

    import complog
    from complog_core.texts import names_table

    missing = set(PLUGINS) - {plugin.family for plugin in complog.list_plugins() if plugin.status == "loaded"}
    if missing:
        sys.exit(f"not installed or broken: {', '.join(sorted(missing))}")
    page = BEGINNING + names_table(complog.default_system.registry)
    Path(__file__).with_name("names.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
