"""complog's bridge to stock PyTorch: takes over `torch._logging` while `import torch` is under way.

PyTorch calls `autoload` through its entry-point group `torch.backends`, before it reads TORCH_LOGS. Where that door is
shut, importing this package before torch does the same, and `install()` does after. COMPLOG_TORCH=0 leaves PyTorch as
it is.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator

from .imports import after_import

__version__ = "0.1.0"
__all__ = ["__version__", "autoload", "install", "is_active", "uninstall", "why_inactive"]

_FORMAT = "TORCH_LOGS_FORMAT"
_NOT_IMPORTED = "PyTorch has not been imported"
_reason = _NOT_IMPORTED


def is_active() -> bool:
    """Return whether complog is the engine behind `torch._logging` in this process."""
    return _reason == ""


def why_inactive() -> str:
    """Return why the bridge is not active, "" where it is."""
    return _reason


def will_be_active() -> bool:
    """Return whether the bridge is active or will be once PyTorch is imported."""
    return is_active() or (_reason == _NOT_IMPORTED and not is_switched_off())


def is_switched_off() -> bool:
    """Return whether COMPLOG_TORCH=0 asks for stock PyTorch."""
    return os.environ.get("COMPLOG_TORCH", "").strip().lower() in ("0", "false", "no", "off")


def autoload() -> None:
    """Take over; PyTorch calls this during its import. Whatever goes wrong leaves stock PyTorch and one line."""
    if _reason == _NOT_IMPORTED:  # what failed once is not tried, and not told, again
        _take_over()


def install() -> bool:
    """Take over `torch._logging` now, if PyTorch is imported and nothing speaks against it; return `is_active()`.

    Where PyTorch has read its settings already, they are read again, and what is wrong with them raises ValueError.
    """
    if not is_active() and _take_over():
        from .takeover import apply_now

        apply_now()
    return is_active()


def uninstall() -> None:
    """Give `torch._logging` back: its functions, its handlers and levels are the stock ones again."""
    global _reason
    if not is_active():
        return
    from .takeover import give_back

    _reason = "uninstall() was called"
    give_back()


def _take_over() -> bool:
    """Take over, or note and say why not; return whether PyTorch had set up its logging before."""
    global _reason
    if is_active():
        return False
    if is_switched_off():
        _reason = "COMPLOG_TORCH=0 switches the bridge off"
        return False
    if "torch._logging._internal" not in sys.modules:
        return False
    initialised = False
    try:
        from .takeover import take_over, was_initialised

        initialised = was_initialised()
        _reason = take_over()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        _reason = f"{type(error).__name__}: {error}".replace("\n", " ")
    if _reason:
        _warn(f"stock torch._logging stays in charge: {_reason}")
    return initialised and not _reason


def _warn(text: str) -> None:
    try:
        from complog_core import report

        report.warn(text)
    except Exception:  # complog itself cannot be imported
        if sys.stderr is not None:
            sys.stderr.write(f"complog: warning: {text}\n")


@contextlib.contextmanager
def _without_foreign_format() -> Iterator[None]:
    # stock PyTorch reads the format while it defines its functions, and ends with an error at a name that only we know
    text = os.environ.get(_FORMAT)
    if text is None or text in ("short", "basic") or _is_percent_format(text):
        yield
        return
    del os.environ[_FORMAT]
    try:
        yield
    finally:
        os.environ[_FORMAT] = text


def _is_percent_format(text: str) -> bool:
    try:
        logging.Formatter(text)
    except ValueError:
        return False
    return True


def _watch() -> None:
    global _reason
    if is_switched_off():
        _reason = "COMPLOG_TORCH=0 switches the bridge off"
    elif "torch" not in sys.modules or getattr(getattr(sys.modules["torch"], "__spec__", None), "_initializing", False):
        # everything that PyTorch registers by itself is registered, and nothing is read, when this package is done;
        # an import that is under way may be one that calls no entry points
        after_import("torch._logging", autoload, _without_foreign_format)
    else:
        _reason = "PyTorch was imported without it; complog_torch.install() takes over"


_watch()
