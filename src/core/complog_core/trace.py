"""The structured trace of one system: what programs call, and where the variables and `set_trace` want it."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from .descriptors import renew_after_fork
from .trace_settings import TraceReader, TraceSettings
from .trace_tables import InternTable, Totals

if TYPE_CHECKING:
    import traceback

    from .trace_context import ContextHook
    from .trace_recorder import Frame, Recorder
    from .trace_writer import Listener, TraceWriter

RESERVED: Final = frozenset(
    {
        *("rank", "compiled_autograd_id", "frame_id", "frame_compile_id", "attempt"),
        *("severity", "timestamp", "pathname", "thread", "subgraph_name"),
    }
)
"""Names that no record may have, because fields of every record have them."""


def _give_nothing() -> Any:
    return None


class Trace:
    """Writes structured records, into a file per process, while a directory for them is set; otherwise does nothing.

    `prefix` begins the names of the variables, `environ` (default: os.environ) holds them; `context` is what
    `configure` takes; `prepare` is called at the first use, to configure the system that the trace belongs to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     trace = Trace("MYLIB", environ={"MYLIB_TRACE": directory})
    ...     trace.trace_structured_artifact("tiles", "string", lambda: "16 x 4")
    ...     with open(trace.writer.path) as file:
    ...         *_, record, payload = file.read().splitlines()
    ...     trace.close()
    >>> record.partition("] ")[2][:52], payload
    ('{"artifact": {"name": "tiles", "encoding": "string"}', '\\t16 x 4')
    """

    def __init__(
        self,
        prefix: str = "TORCH",
        *,
        environ: Mapping[str, str] | None = None,
        context: Iterable[ContextHook] = (),
        prepare: Callable[[], object] | None = None,
    ) -> None:
        self.prefix = prefix
        self.strings = InternTable()
        """The interned strings; where a host framework has such a table, this should be it: one file, one numbering."""
        self.overhead = Totals()
        """Seconds spent on records, by `<frame_id>_<frame_compile_id>`, of the last 10,000 compilations."""
        self.logger: logging.Logger | None = None
        """Where records pass, if set, before they go to the writer; a handler there that has `writes_trace` set brings
        them to it, and without one they go there all the same."""
        self.find_debug_directory: Callable[[], str | None] = _give_nothing
        """Asked where `<PREFIX>_COMPILE_DEBUG=1` leads; None: where the variables say."""
        self.is_detail_wanted: Callable[[], bool] | None = None
        """Asked, if set, whether detailed records are written; otherwise the variables and `set_trace` say so."""
        self.on_open: Callable[[str], object] | None = None
        """Called with the path after the first record of each new file."""
        self.on_change: Callable[[TraceSettings], object] | None = None
        """Called after the directory has changed, or whether detailed records are written."""
        self._reader = TraceReader(os.environ if environ is None else environ, prefix)
        self.context = tuple(context)
        self.listeners: tuple[Listener, ...] = ()
        """Who is told each record once it is written."""
        self._prepare = prepare
        self._preparing = threading.local()
        self._read: TraceSettings | None = None
        self._settings = TraceSettings()
        self._recorder: Recorder | None = None
        self._lock = threading.RLock()
        renew_after_fork(self)

    # -- where the trace goes

    @property
    def directory(self) -> str | None:
        """The directory of the trace files, None while there is no trace."""
        return self._current().directory

    @property
    def detailed(self) -> bool:
        """Whether detailed records are wanted, according to the variables or `set_trace`."""
        return self._current().detailed

    @property
    def writer(self) -> TraceWriter:
        """What writes the file; usable as the back end of a logging.Handler."""
        self._current()
        return self._record().writer

    def configure(self, context: Iterable[ContextHook] = (), *, reread: bool = True) -> None:
        """Take over the implementations of complog_trace_context, and the variables where they have changed.

        Unless they are to be read again, the variables are looked at only if nobody has done so before.
        """
        self.context = tuple(context)
        if not reread and self._read is not None:
            return
        found = self._reader.read(self.find_debug_directory)
        with self._lock:
            before, self._read = self._read, found
            changed = found != before and self._change(found.settle())
        self._tell(changed)

    def set_trace(self, directory: str | os.PathLike[str] | None, *, detailed: bool | None = None) -> None:
        """Write the trace into `directory` from now on, made at the first record; None, or a blank text, ends it.

        `detailed` switches the records of `dtrace_structured` on or off; None leaves that as it is. This holds until it
        is called again or the variables have changed at an `init_logs`. Raises TypeError for what is no path.

        >>> trace = Trace("MYLIB", environ={})
        >>> trace.set_trace("/tmp/traces")
        >>> trace.set_trace(None)
        >>> trace.directory is None
        True
        """
        path = "" if directory is None else os.fsdecode(directory)
        self._current()
        with self._lock:
            detailed = self._settings.detailed if detailed is None else detailed
            changed = self._change(TraceSettings(path if path.strip() else None, detailed).settle(), "set_trace()")
        self._tell(changed)

    def close(self) -> None:
        """Close the file; the next use reads the variables again."""
        with self._lock:
            changed = self._change(TraceSettings())
        self._tell(changed)
        self._read = None

    def _current(self) -> TraceSettings:
        if self._read is None:
            if self._prepare is not None and not getattr(self._preparing, "now", False):
                self._preparing.now = True  # what it loads may use the trace itself
                try:
                    self._prepare()
                finally:
                    self._preparing.now = False
            if self._read is None:
                self.configure(self.context)
        return self._settings

    def _change(self, settings: TraceSettings, source: str | None = None) -> bool:
        before = self._settings
        if settings.directory != before.directory:
            writer = self._record().writer
            writer.variable = source or f"{self.prefix}_TRACE"
            writer.turn_to(settings.directory)
        self._settings = settings
        return settings != before

    def _tell(self, changed: bool) -> None:
        if changed and self.on_change is not None:
            self.on_change(self._settings)

    def _record(self) -> Recorder:
        recorder = self._recorder
        if recorder is None:
            # everything that writes is loaded once it is needed
            from .trace_recorder import Recorder

            with self._lock:
                recorder = self._recorder
                if recorder is None:
                    self._recorder = recorder = Recorder(self)
        return recorder

    def _after_fork(self) -> None:
        self._lock = threading.RLock()

    def _is_on(self) -> bool:
        settings = self._settings if self._read is not None else self._current()
        return settings.directory is not None or (self.logger is not None and bool(self.logger.handlers))

    # -- records

    def trace_structured(
        self,
        name: str,
        metadata_fn: Callable[[], dict[str, Any] | tuple[str, int]] = dict,
        *,
        payload_fn: Callable[[], object] = _give_nothing,
        suppress_context: bool = False,
        expect_trace_id: bool = True,
        record_logging_overhead: bool = True,
        compile_id: Any = None,
    ) -> None:
        """Write one record: `{name: metadata_fn()}`, and the text or JSON value that `payload_fn` returns, if any.

        Neither function is called while there is no trace; what they raise comes out. Unless `suppress_context` is
        given, the record gets the contributed fields; where `expect_trace_id` holds although no compilation runs, and
        no `compile_id` (an object with frame_id, frame_compile_id and compiled_autograd_id) is given, the stack too.
        Raises AssertionError for a reserved name and for functions that are none.
        """
        if isinstance(name, str) and name in RESERVED:
            raise AssertionError(f"{name!r} is reserved: records have a field of that name")
        if not callable(metadata_fn):
            raise AssertionError(f"metadata_fn must be callable, not {type(metadata_fn).__name__}")
        if not callable(payload_fn):
            raise AssertionError(f"payload_fn must be callable, not {type(payload_fn).__name__}")
        if (self._read is not None and self._settings.directory is not None) or self._is_on():
            (self._recorder or self._record()).record(
                name,
                metadata_fn,
                payload_fn,
                has_context=not suppress_context,
                has_stack=expect_trace_id,
                is_measured=record_logging_overhead,
                compile_id=compile_id,
            )

    def trace_structured_artifact(
        self, name: str, encoding: str, payload_fn: Callable[[], object] = _give_nothing, compile_id: Any = None
    ) -> None:
        """Write a record `artifact`, which a report shows under its name; `encoding` is "string" or "json"."""
        self.trace_structured(
            "artifact", lambda: {"name": name, "encoding": encoding}, payload_fn=payload_fn, compile_id=compile_id
        )

    def dtrace_structured(
        self,
        name: str,
        metadata_fn: Callable[[], dict[str, Any] | tuple[str, int]] = dict,
        *,
        payload_fn: Callable[[], object] = _give_nothing,
        suppress_context: bool = False,
        expect_trace_id: bool = False,
        record_logging_overhead: bool = True,
    ) -> None:
        """Do what `trace_structured` does if detailed records were asked for (`<PREFIX>_DTRACE`); else nothing."""
        wanted = self.is_detail_wanted
        if wanted() if wanted is not None else self._current().detailed:
            self.trace_structured(
                name,
                metadata_fn,
                payload_fn=payload_fn,
                suppress_context=suppress_context,
                expect_trace_id=expect_trace_id,
                record_logging_overhead=record_logging_overhead,
            )

    def dump_file(self, filename: str) -> None:
        """Write the source of generated code, once per file name; of files that are on the disk, nothing.

        Generated code has a name in angle brackets, such as `<eval_with_key>.3`, and its source in `linecache`.
        """
        if "<" not in filename or not self._is_on() or self._record().writer.has_dumped(filename):
            return
        import linecache

        source = "".join(linecache.getlines(filename))
        if source:
            self.trace_structured("dump_file", lambda: {"name": filename}, payload_fn=lambda: source)
            self._record().writer.note_dumped(filename)

    # -- pieces of records

    def intern_string(self, s: str | None) -> int:
        """Return the number that stands for the string in this process's records; -1 for None.

        A record that explains the number is written before the first one that needs it, in each file.
        """
        if s is None:
            return -1
        text = s if type(s) is str else str(s)
        number, is_new = self.strings.intern(text)
        if is_new and self._is_on():
            self._record().explain(text, number)
        return number

    def from_traceback(self, tb: Sequence[traceback.FrameSummary]) -> list[Frame]:
        """Return a stack, such as `traceback.extract_stack()`, as records hold it: without frames of complog's own."""
        from .trace_frames import belongs_to_complog

        shown = (frame for frame in tb if not belongs_to_complog(frame.filename or ""))
        return [self.describe(frame.filename, frame.lineno, frame.name, frame.line) for frame in shown]

    def describe(self, filename: str | None, line: int | None, name: str, text: str | None) -> Frame:
        """Return one frame of a stack as records hold it; no line is line 0."""
        return {"line": line or 0, "name": name, "filename": self.intern_string(filename or "(unknown)"), "loc": text}

    def get_structured_logging_overhead(self) -> float | None:
        """Return the seconds that records have taken in the compilation that runs; None outside of one."""
        key = self._record().find_key() if self.overhead else None
        return None if key is None else self.overhead.get(key)
