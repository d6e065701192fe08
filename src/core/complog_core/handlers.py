"""One sink per system, which knows where records go; one small handler per logger, which takes them there."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any, Final

from .console import ConsoleOutput
from .descriptors import renew_after_fork
from .foreign import ask, hand_over, paint
from .rendering import Rendering, SharedFormatter, as_text, render, render_barely, settle_message, warn_once
from .turns import Turn
from .values import NamedTuple

if TYPE_CHECKING:
    from .files import FileOutput
    from .hookspecs import Painter, RecordFilter


_DEEPEST: Final = 8
"""How many records may be under way in one thread: a handler, or a message's text, that logs would never end."""


class Pipeline(NamedTuple):
    """What a sink does with a record: a snapshot that is exchanged whole.

    `handlers` are those that plugins contribute; `propagate` passes each record to the root logger's handlers too;
    `painters` say, one after the other, what the console shows instead of the text.

    >>> Pipeline().console, Pipeline().file
    (True, None)
    """

    filters: tuple[RecordFilter, ...] = ()
    formatter: logging.Formatter = logging.Formatter()
    console: bool = True
    file: FileOutput | None = None
    handlers: tuple[logging.Handler, ...] = ()
    propagate: bool = False
    painters: tuple[Painter, ...] = ()


class _ThreadState(Turn):
    """What one thread is doing: how deep it is in records that log, and which record it brought last."""

    __slots__ = ("depth", "epoch", "moment", "via")

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        # a number that each record makes for itself, and so an object of its own: the record would keep what the
        # program logged alive, and a weak reference to it takes a fiftieth of a line
        self.moment: object = None
        self.epoch: object = None
        self.via: ComplogHandler | None = None


class Transition:
    """Surrounds a change of what a sink's handlers stand at; used once."""

    __slots__ = ("_sink",)

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def __enter__(self) -> None:
        sink = self._sink
        # what this thread has logged before is not under way
        here = getattr(sink._local, "here", None)
        if here is not None:
            here.moment = None
        sink._changes[self] = threading.get_ident()
        sink._epoch = object()

    def __exit__(self, *raised: object) -> None:
        self._sink._epoch = object()
        self._sink._changes.pop(self, None)


class Sink:
    """Takes the records of every logger of a system; setting `pipeline` changes where they go, between two records.

    >>> import contextlib, io
    >>> sink = Sink(Pipeline(formatter=logging.Formatter("%(levelname)s %(message)s")))
    >>> with contextlib.redirect_stderr(io.StringIO()) as stream:
    ...     ComplogHandler(sink).emit(logging.LogRecord("a", logging.INFO, "/x/y.py", 3, "hello", (), None))
    >>> stream.getvalue()
    'INFO hello\\n'
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._plain: tuple[logging.Formatter, FileOutput | None] | None = None
        self.pipeline = pipeline
        self._console = ConsoleOutput()
        self._local = threading.local()
        self._epoch = object()
        self._changes: dict[object, int] = {}
        renew_after_fork(self)

    @property
    def pipeline(self) -> Pipeline:
        """Where records go at this moment."""
        return self._pipeline

    @pipeline.setter
    def pipeline(self, pipeline: Pipeline) -> None:
        formatter, file = pipeline.formatter, pipeline.file
        self._plain = None
        self._pipeline = pipeline
        # what most programs have, a console and perhaps a file, is written without asking for the rest
        self._plain = (formatter, file) if pipeline == Pipeline(formatter=formatter, file=file) else None

    def transition(self) -> Transition:
        """Return what is to surround a change of loggers' handlers and propagation.

        A record that a thread meanwhile brings here twice in a row, through a logger and its ancestor, counts once.
        """
        return Transition(self)

    def _is_repeat(self, here: _ThreadState, via: ComplogHandler) -> bool:
        if self._changes:
            return True
        before = here.via
        if here.epoch is self._epoch:
            # a walk that held a removed handler before the change began may reach it only now
            return before is not None and before.retired and before is not via
        # changed since: a logger's walk passes each handler once, so the same handler means that it was handed in anew
        return before is not via

    def _after_fork(self) -> None:
        # changes that other threads were making will not end here
        mine = threading.get_ident()
        self._changes = {change: thread for change, thread in self._changes.items() if thread == mine}

    def _distribute(self, record: logging.LogRecord, pipeline: Pipeline) -> None:
        for record_filter in pipeline.filters:
            passed = ask(record_filter, record)
            if passed is None:
                return
            record = passed
        if not pipeline.handlers and not pipeline.propagate and not pipeline.painters:
            if pipeline.console or pipeline.file is not None:
                self._write(record, render(record, pipeline.formatter), pipeline)
            return
        rendering = Rendering(settle_message(record), pipeline.formatter)
        if pipeline.console or pipeline.file is not None:
            self._write(rendering.record, rendering.text(), pipeline)
        if pipeline.handlers:
            with rendering.shared():
                for handler in pipeline.handlers:
                    self._contribute(rendering.record, handler)
        if pipeline.propagate:
            _pass_to_root(rendering.record)

    def _write(self, record: logging.LogRecord, text: str, pipeline: Pipeline) -> None:
        if pipeline.console:
            self._show(record, text, pipeline.painters)
        if pipeline.file is not None and not pipeline.file.write(text) and not pipeline.console:
            self._show(record, text, pipeline.painters)

    def _show(self, record: logging.LogRecord, text: str, painters: tuple[Painter, ...]) -> None:
        if painters:
            if not hasattr(record, "message"):  # the formatter was none of the usual kind
                record.message = record.getMessage()
            self._console.write(text, lambda text, stream: paint(record, text, stream, painters))
        else:
            self._console.write(text)

    def _contribute(self, record: logging.LogRecord, handler: logging.Handler) -> None:
        try:
            if handler.formatter is None:
                handler.formatter = SharedFormatter(self._formatter)
        except Exception:
            pass  # a handler of its own kind; handing the record over tells
        hand_over(record, handler)

    def _formatter(self) -> logging.Formatter:
        return self.pipeline.formatter


class ComplogHandler(logging.Handler):
    """What a logger carries: it hands records to the sink, and knows nothing that another one does not.

    `formatter` reads as the sink's current one; `setFormatter` changes only what `format` returns. Whoever takes one
    off its logger for good sets `retired` before.

    >>> sink = Sink(Pipeline())
    >>> ComplogHandler(sink).formatter is sink.pipeline.formatter
    True
    """

    def __init__(self, sink: Sink) -> None:
        # not Handler's own: it makes a lock, and an entry in a list that is searched from end to end for each removal
        logging.Filterer.__init__(self)
        self._name = None
        self._closed = False
        self.level = logging.NOTSET
        self.lock = None
        self.sink = sink
        self.retired = False
        self._own: logging.Formatter | None = None

    @property
    def formatter(self) -> logging.Formatter | None:
        return self.sink.pipeline.formatter if self._own is None else self._own

    @formatter.setter
    def formatter(self, formatter: logging.Formatter | None) -> None:
        self._own = formatter

    def createLock(self) -> None:
        """Make none: whatever may interleave is guarded where it is written."""
        self.lock = None

    def handle(self, record: logging.LogRecord) -> Any:
        """Ask this handler's filters, then `emit`; return what the filters returned."""
        if not self.filters:
            self.emit(record)
            return True
        passed: Any = self.filter(record)
        if passed:
            self.emit(passed if isinstance(passed, logging.LogRecord) else record)
        return passed

    def emit(self, record: logging.LogRecord) -> None:
        """Let the sink filter the record, render it, and give it to each output; never raises."""
        # all of it here, since each call less is a hundredth of a line
        sink = self.sink
        epoch = sink._epoch
        try:
            here: _ThreadState = sink._local.here
            moment: object = record.relativeCreated
        except AttributeError:  # the thread's first record, or one that somebody has taken something from
            here = sink._local.here = getattr(sink._local, "here", None) or _ThreadState()
            moment = getattr(record, "relativeCreated", object())
        if here.moment is moment and sink._is_repeat(here, self):
            return
        depth = here.depth
        if depth >= _DEEPEST:
            warn_once(("depth", id(sink)), "records that are logged while a record is being written are dropped")
            return
        here.depth = depth + 1
        try:
            plain = sink._plain
            if plain is None:
                sink._distribute(record, sink._pipeline)
            else:
                formatter, file = plain
                try:
                    text: object = formatter.format(record)
                except KeyboardInterrupt:
                    raise
                except BaseException as error:
                    text = render_barely(record, formatter, error)
                if type(text) is not str:
                    text = as_text(text, record, formatter)
                if file is None:
                    sink._console.write(text, None, here)
                else:
                    file.write_beside(sink._console, text, here)
        except Exception:
            # the message itself is at fault, and the standard library's way of telling is what people know
            _tell_error(self, record)
        finally:
            here.depth = depth
            here.moment = moment
            here.epoch = epoch
            here.via = self


def _pass_to_root(record: logging.LogRecord) -> None:
    # pytest, for one, puts its handler on root and on every logger that does not propagate
    reached: list[logging.Handler] = []
    logger: object = logging.Logger.manager.loggerDict.get(record.name)
    while isinstance(logger, logging.Logger):
        reached += logger.handlers
        logger = logger.parent if logger.propagate else None
    for handler in tuple(logging.root.handlers):
        if handler not in reached and not isinstance(handler, ComplogHandler):
            hand_over(record, handler)


def _tell_error(handler: logging.Handler, record: logging.LogRecord) -> None:
    try:
        handler.handleError(record)
    except Exception:  # a stderr that is closed
        pass
