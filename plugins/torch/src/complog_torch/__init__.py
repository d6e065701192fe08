"""complog's bridge to stock PyTorch: takes over `torch._logging` while `import torch` is under way.

PyTorch calls `autoload` through its entry-point group `torch.backends`, before it reads TORCH_LOGS. Where that door is
shut, `install()` takes over after `import torch`. COMPLOG_TORCH=0 leaves PyTorch as it is.
"""

from __future__ import annotations

import os
import sys

__version__ = "0.1.0"
__all__ = ["__version__", "autoload", "install", "is_active", "uninstall", "why_inactive"]

_reason = "PyTorch has not been imported"


def is_active() -> bool:
    """Return whether complog is the engine behind `torch._logging` in this process."""
    return _reason == ""


def why_inactive() -> str:
    """Return why the bridge is not active, "" where it is."""
    return _reason


def why_not() -> str:
    """Return why the bridge neither is nor will be active in this process, "" where it is or will be."""
    if is_active():
        return ""
    if is_switched_off():
        return "COMPLOG_TORCH=0 switches the bridge off"
    if os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") != "1":
        return "TORCH_DEVICE_BACKEND_AUTOLOAD keeps PyTorch from loading the bridge; call complog_torch.install()"
    spec = getattr(sys.modules.get("torch"), "__spec__", None)
    if "torch" in sys.modules and not getattr(spec, "_initializing", False):
        return f"the bridge is not active ({_reason}); call complog_torch.install()"
    return ""


def is_switched_off() -> bool:
    """Return whether COMPLOG_TORCH=0 asks for stock PyTorch."""
    return os.environ.get("COMPLOG_TORCH", "").strip().lower() in ("0", "false", "no", "off")


def autoload() -> None:
    """Take over; called by PyTorch during its import. Whatever goes wrong leaves stock PyTorch and one line."""
    _take_over(initialised=False)


def install() -> bool:
    """Take over `torch._logging` now, if PyTorch is imported and nothing speaks against it; return `is_active()`.

    Unlike the automatic way it raises what is wrong with the variables' settings (ValueError).
    """
    if not is_active():
        _take_over(initialised=True)
    if is_active():
        from .takeover import apply_now

        apply_now()
    return is_active()


def uninstall() -> None:
    """Give `torch._logging` back: its functions, its handlers and levels are the stock ones again."""
    global _reason
    if not is_active():
        return
    from .takeover import give_back

    give_back()
    _reason = "uninstall() was called"


def _take_over(*, initialised: bool) -> None:
    global _reason
    if is_active():
        return
    if is_switched_off():
        _reason = "COMPLOG_TORCH=0"
        return
    if "torch._logging._internal" not in sys.modules:
        _reason = "PyTorch has not been imported"
        return
    try:
        from .takeover import take_over

        _reason = take_over(initialised=initialised)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        _reason = f"{type(error).__name__}: {error}"
    if _reason:
        print(f"complog: warning: stock torch._logging stays in charge: {_reason}", file=sys.stderr)
