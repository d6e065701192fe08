"""A small numerical library with logging of its own, silent until MYLIB_LOGS or `set_logs` names something."""

from .logs import system
from .solver import square_root

set_logs = system.set_logs
logs = system.logs

__all__ = ["logs", "set_logs", "square_root"]
