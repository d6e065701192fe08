"""Identical warnings of the ranks of one host: the first rank that has one prints it, the others count."""

from __future__ import annotations

import logging
import os
from hashlib import blake2b
from typing import Final

from complog_core import settle_message, warn_once

from .participant import Participant, Sum
from .ranks import get_wanted, is_among

_SHOWN: Final = 200
_LONGEST_NAME: Final = 4096
_FORMATTER: Final = logging.Formatter()
_telling: logging.LogRecord | None = None


def collapse(record: logging.LogRecord) -> bool | logging.LogRecord:
    """Return False for a warning that another rank prints; one that is to be printed has its message settled.

    Only records of the level WARNING are looked at. Two are identical if logger, file, line, text, exception and
    stack are.
    """
    if record.levelno != logging.WARNING or record is _telling or not _participant.join():
        return True
    try:
        settled = settle_message(record)
        message = settled.getMessage()
    except Exception:
        return True  # whoever renders it tells
    place = (record.name, record.pathname, str(record.lineno if isinstance(record.lineno, int) else 0))
    digest = _digest(*place, message, _render_exception(record), record.stack_info or "")
    return settled if _participant.take(digest, lambda: _describe(*place, message)) else False


def take_part() -> None:
    """Join the other ranks where the rank is known already: so each knows how many others there are."""
    if _participant.join():
        _participant.heed_silence()


def _render_exception(record: logging.LogRecord) -> str:
    try:
        return record.exc_text or (_FORMATTER.formatException(record.exc_info) if record.exc_info else "")
    except Exception:
        return ""


def _digest(*texts: str) -> bytes:
    hashed = blake2b(digest_size=16)
    for text in texts:
        data = str(text).encode("utf-8", "surrogatepass")
        hashed.update(b"%d:" % len(data) + data)
    return hashed.digest()


def _describe(*texts: str) -> bytes:
    *place, message = texts
    lines = message.split("\n", 1)
    first = lines[0][:_SHOWN] + ("..." if len(lines) > 1 or len(lines[0]) > _SHOWN else "")
    parts = [part.replace("\0", "")[:_LONGEST_NAME] for part in place] + [first]
    return "\0".join(parts).encode("utf-8", "surrogatepass")


def tell(sums: list[Sum]) -> None:
    """Log each sum where, and as, the warning was logged."""
    global _telling
    for each in sums:
        name, path, line, text = each.text.decode("utf-8", "surrogatepass").split("\0", 3)
        times = f" ({each.times} times{' so far' if each.so_far else ''})" if each.times != each.ranks else ""
        text = f"repeated by {each.ranks} other rank{'' if each.ranks == 1 else 's'}{times}: {text}"
        _telling = logging.LogRecord(name, logging.WARNING, path, int(line), text, (), None)
        try:
            logging.getLogger(name).handle(_telling)
        except Exception as error:  # a filter or handler of somebody's; the other sums are still to be told
            warn_once(("complog-distributed", "sum", text), f"{text} ({name} cannot log it: {error!r})")
        finally:
            _telling = None


def _is_silenced() -> bool:
    wanted = get_wanted()
    return wanted is not None and not is_among(wanted)


_participant: Final = Participant(tell, _is_silenced)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_participant.renew_after_fork)
