"""The backend's loggers: switched by TORCH_LOGS where complog is installed, plain loggers where it is not."""

import logging

try:
    from complog import current_state, getArtifactLogger
except ImportError:

    def getArtifactLogger(module_qname: str, artifact_name: str) -> logging.Logger:
        return logging.getLogger(f"{module_qname}.__{artifact_name}")
else:
    from device_backend_names import complog_state_changed

    complog_state_changed(current_state())  # what was configured before the backend was imported

log = logging.getLogger("device_backend")
memory_log = getArtifactLogger("device_backend.memory", "memory")
dispatch_log = getArtifactLogger("device_backend.dispatch", "dispatch")
