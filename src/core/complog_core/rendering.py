"""One rendering per record, however many outputs want it, and one evaluation of its message."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from . import report
from .faults import Fault, note_fault_of

if TYPE_CHECKING:
    from .model import Artifact

_PLAIN: Final = frozenset({str, int, float, bool, bytes, complex, type(None)})
_BARE: Final = logging.Formatter(logging.BASIC_FORMAT)
_GET_MESSAGE: Final = logging.LogRecord.getMessage.__code__
_shared = threading.local()


def render(record: logging.LogRecord, formatter: logging.Formatter) -> str:
    """Return the record as text; raises only what the record's own message raises.

    A formatter that is at fault itself costs one warning, and the record is rendered barely.

    >>> render(logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None), logging.Formatter())
    'hello'
    """
    try:
        text: object = formatter.format(record)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin's formatter may do anything
        return render_barely(record, formatter, error)
    return text if type(text) is str else as_text(text, record, formatter)


def render_barely(record: logging.LogRecord, formatter: logging.Formatter, fault: BaseException) -> str:
    """Return a plain line for a record that the formatter failed at, and warn; raises what the record's message raises.

    >>> render_barely(logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None), _BARE, TypeError())
    'INFO:a:hello'
    """
    if _comes_from_message(fault):
        raise fault
    if type(formatter) is HeedingFormatter:
        record, formatter = formatter.heed(record), formatter.inner
    if "message" in record.__dict__:
        # the formatter has evaluated it
        record = _with_message(record, record.message)
    bare = _BARE.format(record)
    try:
        note_fault_of(formatter, f"the formatter {type(formatter).__qualname__}", fault)
    except Exception:  # the stream it goes to is somebody's
        pass
    return bare


def as_text(made: object, record: logging.LogRecord, formatter: logging.Formatter) -> str:
    """Return what a formatter made if that is a text; what else it may be is a fault, as one that it raises would be.

    >>> as_text("hello", logging.makeLogRecord({}), _BARE)
    'hello'
    """
    if isinstance(made, str):
        return made
    return render_barely(record, formatter, Fault(f"returned {type(made).__name__}"))


def shows_exception(artifact: Artifact | None) -> bool:
    """Return whether exceptions are printed with the artifact's records at this moment; so they are for None.

    >>> shows_exception(None)
    True
    """
    if artifact is None:
        return True
    shown = artifact.show_exception
    if not callable(shown):
        return shown
    try:
        return bool(shown())
    except BaseException as error:
        note_fault_of(shown, f"show_exception of the artifact {artifact.name!r}", error)
        return True


def hide_exception(record: logging.LogRecord, artifact: Artifact | None) -> logging.LogRecord:
    """Return the record itself, or a copy without its exception where the artifact shows none.

    >>> record = logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), (ValueError, ValueError(), None))
    >>> hide_exception(record, None) is record
    True
    """
    if not (record.exc_info or record.exc_text) or shows_exception(artifact):
        return record
    bare = object.__new__(type(record))
    bare.__dict__.update(record.__dict__, exc_info=None, exc_text=None)
    return bare


class HeedingFormatter(logging.Formatter):
    """Gives another formatter, `inner`, each record, without its exception where the record's artifact shows none.

    >>> HeedingFormatter(logging.Formatter(), {}).format(logging.LogRecord("a", 20, "/x/y.py", 3, "hello", (), None))
    'hello'
    """

    def __init__(self, inner: logging.Formatter, artifacts: Mapping[str, Artifact]) -> None:
        super().__init__()
        self.inner = inner
        self._artifacts = artifacts

    def heed(self, record: logging.LogRecord) -> logging.LogRecord:
        """Return what `inner` is to see of the record."""
        return hide_exception(record, self._artifacts.get(record.name))

    def format(self, record: logging.LogRecord) -> str:
        """Return what `inner` makes of the record."""
        if record.exc_info or record.exc_text:
            record = self.heed(record)
        return self.inner.format(record)


def settle_message(record: logging.LogRecord) -> logging.LogRecord:
    """Return the record itself where its message is plain data, else a copy that holds the message as a text.

    Whoever renders the result evaluates no `__str__` of the program any more, neither again nor later.

    >>> record = logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "%s", ([1],), None)
    >>> settled = settle_message(record)
    >>> settled.msg, settled.args, record.args
    ('[1]', (), ([1],))
    """
    cls = type(record)
    usual = cls.getMessage is logging.LogRecord.getMessage
    if usual and type(record.msg) is str:
        args = record.args
        if not args or (type(args) is tuple and all(type(arg) in _PLAIN for arg in args)):
            return record
    # one with its own getMessage would interpret the finished text again
    return _with_message(record, record.getMessage(), cls if usual else logging.LogRecord)


def _with_message(
    record: logging.LogRecord, message: str, kind: type[logging.LogRecord] = logging.LogRecord
) -> logging.LogRecord:
    settled = object.__new__(kind)
    settled.__dict__.update(record.__dict__, msg=message, args=())
    return settled


def _comes_from_message(fault: BaseException) -> bool:
    place = fault.__traceback__
    while place is not None:
        if place.tb_frame.f_code is _GET_MESSAGE:
            return True
        place = place.tb_next
    return False


class Rendering:
    """A record and its text, rendered when it is first wanted."""

    __slots__ = ("_formatter", "_text", "record")

    def __init__(self, record: logging.LogRecord, formatter: logging.Formatter) -> None:
        self.record = record
        self._formatter = formatter
        self._text: str | None = None

    def text(self) -> str:
        """Return the text; raises what the record's own message raises."""
        if self._text is None:
            self._text = render(self.record, self._formatter)
        return self._text

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        """Let every SharedFormatter of this thread use the text while the record is handed round."""
        before = getattr(_shared, "rendering", None)
        _shared.rendering = self
        try:
            yield
        finally:
            _shared.rendering = before


class SharedFormatter(logging.Formatter):
    """The formatter of a contributed handler that has none: it gives the text that the other outputs got.

    A record that arrives later, or in another thread, is rendered with what `current` returns.
    """

    def __init__(self, current: Callable[[], logging.Formatter]) -> None:
        super().__init__()
        self._current = current

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text."""
        rendering: Rendering | None = getattr(_shared, "rendering", None)
        if rendering is not None and rendering.record is record:
            return rendering.text()
        return render(record, self._current())


def warn_once(key: object, text: str) -> None:
    """Write `complog: warning: <text>` to sys.stderr, unless that was done lately with the same key; never raises.

    For what goes wrong in a plugin where raising would lose something; else raise, and complog says whose fault it is.

    >>> import contextlib, io
    >>> with contextlib.redirect_stderr(io.StringIO()) as console:
    ...     warn_once(("tiler", "cache"), "the tile cache is gone")
    ...     warn_once(("tiler", "cache"), "the tile cache is gone")
    >>> console.getvalue()
    'complog: warning: the tile cache is gone\\n'
    """
    try:
        report.warn_once(key, text)
    except Exception:  # the stream it goes to is somebody's
        pass
