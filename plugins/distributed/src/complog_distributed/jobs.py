"""Which job this process belongs to, where its ranks on this host meet, and which processes still live."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from hashlib import blake2b
from typing import Final

IDENTITIES: Final = (
    "TORCHELASTIC_RUN_ID",
    "MASTER_PORT",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "PMIX_NAMESPACE",
    "OMPI_MCA_ess_base_jobid",
    "PMI_JOBID",
)
"""What tells one job from another that runs on the same host."""

REFINEMENTS: Final = ("MASTER_ADDR", "WORLD_SIZE", "TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT")
"""What tells one run of a job from another."""

LOCAL_SIZES: Final = (
    "LOCAL_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MPI_LOCALNRANKS",
    "WORLD_SIZE",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    "SLURM_NTASKS",
)
"""How many ranks may be expected on this host; where only the size of the whole job is known, at most so many."""


def name_job(environ: Mapping[str, str] = os.environ) -> str:
    """Return a name that the ranks of one job on this host have in common, and no other job has.

    Without a launcher that names the job, it is the processes that one parent started.

    >>> name_job({"MASTER_PORT": "1"}) == name_job({"MASTER_PORT": "1", "RANK": "3"}) != name_job({"MASTER_PORT": "2"})
    True
    """
    parts = [f"{name}={environ.get(name, '')}" for name in IDENTITIES + REFINEMENTS]
    if not any(environ.get(name, "").strip() for name in IDENTITIES):
        parts.append(f"parent={os.getppid()}")
    return _digest(parts)


def name_system() -> str:
    """Return a name for what this process can see the other processes of: a host, or a container on one."""
    try:
        namespace = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        namespace = 0
    return _digest([os.uname().nodename, str(namespace)])


def _digest(parts: list[str]) -> str:
    return blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def find_local_size(environ: Mapping[str, str] = os.environ) -> int:
    """Return how many ranks the launcher runs on this host at most, 0 where it does not say.

    >>> find_local_size({"WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8"}), find_local_size({})
    (8, 0)
    """
    for name in LOCAL_SIZES:
        text = environ.get(name, "").strip()
        if text.isascii() and text.isdecimal() and len(text) < 9:
            return int(text)
    return 0


def make_directory(environ: Mapping[str, str] = os.environ) -> str:
    """Return the folder under the temporary directory in which the ranks of this user meet, made where it is missing.

    Raises OSError where it cannot be had, or where it is not this user's alone. There is no second choice for it: the
    ranks have to come to the same one.
    """
    root = next((environ[name] for name in ("TMPDIR", "TEMP", "TMP") if environ.get(name)), "/tmp")
    path = os.path.join(os.path.abspath(root), f"complog-ranks-{os.getuid()}")
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    about = os.lstat(path)
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid():
        raise PermissionError(f"{path!r} is not a folder of this user")
    if stat.S_IMODE(about.st_mode) & 0o077:
        raise PermissionError(f"{path!r} is open to other users (mode {stat.S_IMODE(about.st_mode):o})")
    return path


def find_start(process: int) -> int | None:
    """Return when the process began, in the system's own unit (0 where that cannot be told); None: it lives no more.

    >>> find_start(os.getpid()) == find_start(os.getpid()), find_start(2**22 + 1)
    (True, None)
    """
    if sys.platform == "linux":
        try:
            with open(f"/proc/{process}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            # one that nobody has waited for is as dead as one that is gone
            return None if fields[0] in (b"Z", b"X") else int(fields[19])
        except (FileNotFoundError, ProcessLookupError):
            return None
        except (OSError, ValueError, IndexError):
            pass
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass
    return 0
