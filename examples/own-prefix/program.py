"""A program that uses mylib; it prints one number, and whatever it was told to log.

python program.py 2
MYLIB_LOGS="+solver,iterates" python program.py 2
python program.py 2 --verbose
"""

from __future__ import annotations

import sys

import mylib


def main(arguments: list[str]) -> None:
    """Print the square root of the first argument; `--verbose` turns the library's logging on through its API."""
    if "--verbose" in arguments:
        mylib.set_logs(solver="INFO", iterates=True)
    print(mylib.square_root(float(arguments[0])))


if __name__ == "__main__":
    main(sys.argv[1:] or ["2"])
