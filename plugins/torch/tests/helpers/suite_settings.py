"""States, formats and outputs, seen through PyTorch's testing helpers; test_helpers_outcomes runs it."""

# ruff: noqa: PT009, PT027 (unittest runs them too)
from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import tempfile
import unittest.mock
from collections.abc import Iterator
from typing import Any

import torch
from suite_dynamo import Records, broken, capture, plain
from torch.testing._internal.logging_utils import (
    LoggingTestCase,
    kwargs_to_settings,
    log_api,
    log_settings,
    make_logging_test,
    make_settings_test,
    preserve_log_state,
)

HEAD = re.compile(r"[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ \S+\.py:\d+\](?: \[\d+/\d+(?:_\d+)?\])?( \[__\w+\])? ")
internal: Any = torch._logging._internal
dynamo = logging.getLogger("torch._dynamo.suite")


def formatted(record: logging.LogRecord) -> str:
    return logging.getLogger("torch._dynamo").handlers[0].format(record)


@contextlib.contextmanager
def console() -> Iterator[io.StringIO]:
    """Catch stderr; handlers that are made inside write there, and no longer do outside."""
    with contextlib.redirect_stderr(io.StringIO()) as stream:
        yield stream
    internal._init_logs()


class StateTest(LoggingTestCase):
    def setUp(self) -> None:
        super().setUp()
        torch._logging.set_logs()

    def test_preserve_log_state_gives_an_empty_state_and_the_old_one_back(self) -> None:
        torch._logging.set_logs(guards=True, dynamo=logging.DEBUG)
        with preserve_log_state():
            self.assertFalse(internal.log_state.is_artifact_enabled("guards"))
            self.assertNotIn("torch._dynamo", internal.log_state.log_qname_to_level)
            torch._logging.set_logs(recompiles=True)
            self.assertTrue(internal.log_state.is_artifact_enabled("recompiles"))
            self.assertFalse(dynamo.isEnabledFor(logging.DEBUG))
        self.assertTrue(internal.log_state.is_artifact_enabled("guards"))
        self.assertFalse(internal.log_state.is_artifact_enabled("recompiles"))
        self.assertEqual(internal.log_state.log_qname_to_level["torch._dynamo"], logging.DEBUG)
        self.assertTrue(dynamo.isEnabledFor(logging.DEBUG))

    def test_helpers_nest(self) -> None:
        with log_api(dynamo=logging.INFO):
            with log_settings("+dynamo,bytecode"):
                self.assertTrue(dynamo.isEnabledFor(logging.DEBUG))
                with log_settings("-dynamo"):
                    self.assertFalse(dynamo.isEnabledFor(logging.WARNING))
                    self.assertFalse(internal.log_state.is_artifact_enabled("bytecode"))
                self.assertTrue(dynamo.isEnabledFor(logging.DEBUG))
                self.assertTrue(internal.log_state.is_artifact_enabled("bytecode"))
            self.assertFalse(dynamo.isEnabledFor(logging.DEBUG))
            self.assertTrue(dynamo.isEnabledFor(logging.INFO))
        self.assertFalse(dynamo.isEnabledFor(logging.INFO))

    def test_same_text_means_the_same_again(self) -> None:
        for _ in range(2):
            with log_settings("+dynamo,guards"):
                self.assertTrue(dynamo.isEnabledFor(logging.DEBUG))
                self.assertTrue(internal.log_state.is_artifact_enabled("guards"))

    def test_cleared_state_means_the_defaults(self) -> None:
        torch._logging.set_logs(guards=True, dynamo=logging.DEBUG)
        internal.log_state.clear()
        torch._logging._init_logs()
        self.assertFalse(dynamo.isEnabledFor(logging.INFO))
        self.assertTrue(dynamo.isEnabledFor(logging.WARNING))
        self.assertFalse(internal.log_state.is_artifact_enabled("guards"))

    def test_state_made_by_hand_is_applied(self) -> None:
        state = internal.LogState()
        state.enable_log(["torch._dynamo", "torch._inductor"], logging.DEBUG)
        state.enable_log("torch.export", logging.ERROR)
        state.enable_artifact("bytecode")
        with preserve_log_state():
            internal._set_log_state(state)
            internal._init_logs()
            self.assertIs(internal._get_log_state().is_artifact_enabled("bytecode"), True)
            self.assertTrue(dynamo.isEnabledFor(logging.DEBUG))
            self.assertFalse(logging.getLogger("torch.export").isEnabledFor(logging.WARNING))
            self.assertTrue(torch._logging.getArtifactLogger("torch._dynamo.suite", "bytecode").isEnabledFor(10))
        self.assertFalse(dynamo.isEnabledFor(logging.DEBUG))

    def test_state_that_is_changed_in_place_is_applied(self) -> None:
        with log_api(dynamo=logging.INFO):
            internal.log_state.enable_log("torch._dynamo", logging.DEBUG)
            internal.log_state.enable_artifact("bytecode")
            internal._init_logs()
            self.assertTrue(dynamo.isEnabledFor(logging.DEBUG))
            self.assertTrue(torch._logging.getArtifactLogger("torch._dynamo.suite", "bytecode").isEnabledFor(10))

    def test_faults_of_settings_are_value_errors(self) -> None:
        for text in ("gaurds", "+dynamo,gaurds", "a b"):
            with unittest.mock.patch.dict(os.environ, {"TORCH_LOGS": text}), self.assertRaises(ValueError):
                internal._init_logs()
        for modules in ({"guards": 10}, {"dynamo": 12345}, {"gaurds": True}):
            with self.assertRaises(ValueError), log_api(modules=modules):
                pass
        with self.assertRaises(TypeError):
            torch._logging.set_logs(10, 20)

    def test_variable_beats_set_logs(self) -> None:
        with log_settings("-dynamo"):
            torch._logging.set_logs(dynamo=logging.DEBUG)
            self.assertFalse(dynamo.isEnabledFor(logging.WARNING))

    def test_registered_names_and_loggers(self) -> None:
        registry = internal.log_registry
        self.assertLessEqual({"torch", "torch._dynamo", "torch._inductor"}, registry.get_log_qnames())
        self.assertTrue(registry.is_log("dynamo"))
        self.assertTrue(registry.is_artifact("guards"))
        self.assertTrue(registry.is_off_by_default("bytecode"))
        self.assertEqual({it.name for it in internal.get_loggers()}, registry.get_log_qnames())
        for logger in internal.get_loggers():
            self.assertTrue(logger.handlers, logger.name)
            self.assertFalse([it for it in logger.handlers if not internal._is_torch_handler(it)], logger.name)

    @make_logging_test(**torch._logging.DEFAULT_LOGGING)
    def test_default_logging(self, records: Records) -> None:
        capture(broken)
        shown = {it.name.rpartition(".__")[2] for it in records if ".__" in it.name}
        self.assertLessEqual({"guards", "graph_breaks"}, shown)
        self.assertGreaterEqual(min(it.levelno for it in records if ".__" not in it.name), logging.INFO)


class NamesTest(LoggingTestCase):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        internal.register_log("suite", ["suite.module", "suite.other"])
        internal.register_artifact("suite_plain", "of the suite")
        internal.register_artifact("suite_off", "of the suite", off_by_default=True)
        internal.register_artifact("suite_format", "of the suite", log_format="<%(levelname)s %(message)s>")
        torch._logging._init_logs()

    def _log(self) -> None:
        for name in ("suite_plain", "suite_off", "suite_format"):
            torch._logging.getArtifactLogger("suite.module", name).debug("of %s", name)
        logging.getLogger("suite.other.child").debug("of the component")

    @make_logging_test(modules={"suite": logging.DEBUG})
    def test_component_that_a_test_registers(self, records: Records) -> None:
        self._log()
        self.assertEqual([it.getMessage() for it in records], ["of suite_plain", "of suite_format", "of the component"])

    @make_settings_test("suite_off, suite_format")
    def test_artifacts_that_a_test_registers(self, records: Records) -> None:
        self._log()
        self.assertEqual([it.getMessage() for it in records], ["of suite_off", "of suite_format"])
        self.assertEqual(formatted(records[1]), "<DEBUG of suite_format>")

    def test_artifacts_that_a_test_registers_by_set_logs(self) -> None:
        records: Records = []
        with log_api(modules={"suite_off": True, "suite_format": True}), self._handler_watcher(records):
            self._log()
        self.assertEqual([it.getMessage() for it in records], ["of suite_off", "of suite_format"])

    @make_settings_test("-suite,suite_plain")
    def test_registered_names_in_the_variable(self, records: Records) -> None:
        self._log()
        logging.getLogger("suite.module").warning("a warning")
        self.assertEqual([it.getMessage() for it in records], ["of suite_plain"])

    def test_keywords_become_a_settings_text(self) -> None:
        text = kwargs_to_settings(dynamo=10, aot=20, guards=True, modules={"suite": 40})
        self.assertEqual(text, "+dynamo,aot,guards,-suite")


class OutputTest(LoggingTestCase):
    @make_settings_test("custom_format_test_artifact")
    def test_artifact_with_a_format_of_its_own(self, records: Records) -> None:
        logger = torch._logging.getArtifactLogger("torch._dynamo.suite", "custom_format_test_artifact")
        logger.info("two\nlines of %s", "text")
        self.assertEqual(formatted(records[0]), "two\nlines of text")

    @make_logging_test(guards=True, dynamo=logging.INFO)
    def test_line(self, records: Records) -> None:
        capture(plain)
        dynamo.info("two\nlines")
        for record in records:
            for line in formatted(record).split("\n"):
                self.assertRegex(line, HEAD)
        one, other = formatted(records[-1]).split("\n")
        self.assertEqual((HEAD.sub("", one), HEAD.sub("", other)), ("two", "lines"))
        self.assertIn("[__guards] ", formatted(next(it for it in records if it.name.endswith("guards"))))

    @make_logging_test(dynamo=logging.INFO)
    def test_exception_and_stack(self, records: Records) -> None:
        try:
            raise KeyError("missing")
        except KeyError:
            dynamo.info("failed", exc_info=True, stack_info=True)
        lines = formatted(records[0]).split("\n")
        texts = [HEAD.sub("", line) for line in lines]
        self.assertEqual(len([line for line in lines if HEAD.match(line)]), len(lines))
        self.assertEqual(texts[:2], ["failed", "Traceback (most recent call last):"])
        self.assertIn("KeyError: 'missing'", texts)
        self.assertIn("Stack (most recent call last):", texts)

    def test_console(self) -> None:
        with console() as stream, log_settings("guards"):
            capture(plain)
        lines = stream.getvalue().splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.assertEqual(HEAD.match(line)[1], " [__guards]", line)
        self.assertEqual(stream.getvalue().count("TENSOR_MATCH"), 1)

    def test_other_handlers_get_each_record_once(self) -> None:
        stream = io.StringIO()
        handler = logging.StreamHandler(stream)
        for name in ("torch._dynamo", "torch._dynamo.suite"):
            logger = logging.getLogger(name)
            logger.addHandler(handler)
            with console() as shown, log_api(dynamo=logging.DEBUG):
                self.assertIn(handler, logger.handlers)
                dynamo.debug("one line")
            logger.removeHandler(handler)
            self.assertEqual(shown.getvalue().count("one line"), 1)
        self.assertEqual(stream.getvalue(), "one line\n" * 2)

    def test_file(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "out.txt")
            with (
                console() as stream,
                unittest.mock.patch.dict(os.environ, {"TORCH_LOGS_OUT": path}),
                log_settings("guards,+dynamo"),
            ):
                capture(plain)
            with open(path, encoding="utf-8") as file:
                text = file.read()
        self.assertEqual(text, stream.getvalue())
        self.assertIn("[__guards] ", text)

    def test_file_that_init_logs_is_given(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "out.txt")
            with console(), preserve_log_state():
                internal._init_logs(log_file_name=path)
                dynamo.warning("a warning")
            with open(path, encoding="utf-8") as file:
                self.assertIn("] a warning\n", file.read())

    @make_settings_test("+dynamo")
    def test_helpers_watch_with_a_file_too(self, records: Records) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "out.txt")
            with unittest.mock.patch.dict(os.environ, {"TORCH_LOGS_OUT": path}), log_settings("guards"):
                inside: Records = []
                with self._handler_watcher(inside):
                    capture(plain)
        self.assertEqual({it.name for it in inside}, {"torch._dynamo.guards.__guards"})

    def test_trace_handler_of_a_test_gets_records_with_metadata(self) -> None:
        records: Records = []

        class Collect(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                records.append(record)

        handler = Collect()
        internal.trace_log.addHandler(handler)
        try:
            capture(plain)
        finally:
            internal.trace_log.removeHandler(handler)
        self.assertTrue(any("dynamo_start" in it.metadata for it in records))
        self.assertTrue(any(it.payload for it in records))
