"""The library's log system. It reads MYLIB_LOGS, MYLIB_LOGS_OUT and so on, and never TORCH_LOGS."""

from __future__ import annotations

from complog_core import LogSystem

from . import names

system = LogSystem(prefix="MYLIB", plugins=[names])
