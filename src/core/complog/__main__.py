"""`python -m complog` is the command line, whatever is on PATH."""

from __future__ import annotations

import sys

from complog.cli import main

if __name__ == "__main__":
    sys.exit(main())
