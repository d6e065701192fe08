"""Which of many processes this is: its host, and what torchrun, Slurm, Open MPI and the MPICH family say to each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

RANK_VARIABLES: Final = ("RANK", "LOCAL_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
"""Where a process's rank stands; the first that holds a number counts."""

LOCAL_RANK_VARIABLES: Final = ("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID")
"""Where its rank among those of its host stands; the first that holds a number counts."""

_MOST_DIGITS: Final = 18


def find_launcher_rank(environ: Mapping[str, str] = os.environ) -> int | None:
    """Return the rank that a launcher gave this process, None where none did.

    It is `{rank}` in the name of a file, and what complog-distributed filters by before there is a process group.

    >>> find_launcher_rank({"RANK": "3", "LOCAL_RANK": "1"}), find_launcher_rank({"RANK": "x", "PMI_RANK": "2"})
    (3, 2)
    """
    return find_number(RANK_VARIABLES, environ)


def find_number(variables: tuple[str, ...], environ: Mapping[str, str]) -> int | None:
    """Return the number that the first of these variables with one in it holds, None where none has.

    >>> find_number(("A", "B"), {"A": "", "B": " 07 "}), find_number(("A",), {"A": "-1"})
    (7, None)
    """
    for variable in variables:
        text = environ.get(variable, "").strip()
        if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS:
            return int(text)
    return None


def host_name() -> str:
    """Return the name of this machine."""
    if hasattr(os, "uname"):
        return os.uname().nodename
    import socket

    return socket.gethostname()
