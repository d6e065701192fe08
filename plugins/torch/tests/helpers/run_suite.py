"""Runs suites by unittest and writes the outcome of each test: run_suite.py OUTPUT SUITE..."""

from __future__ import annotations

import json
import sys
import unittest
from types import TracebackType
from typing import Any


class Result(unittest.TextTestResult):
    """Keeps "passed", or why not, by test id."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.outcomes: dict[str, str] = {}

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self.outcomes.setdefault(test.id(), "passed")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.outcomes[test.id()] = f"skipped: {reason}"

    def addFailure(self, test: unittest.TestCase, error: Any) -> None:
        super().addFailure(test, error)
        self._keep(test, error)

    def addError(self, test: unittest.TestCase, error: Any) -> None:
        super().addError(test, error)
        self._keep(test, error)

    def _keep(self, test: unittest.TestCase, error: tuple[type, BaseException, TracebackType]) -> None:
        self.outcomes[test.id()] = self._exc_info_to_string(error, test)


def main(output: str, suites: list[str]) -> None:
    tests = unittest.defaultTestLoader.loadTestsFromNames(suites)
    result: Any = unittest.TextTestRunner(resultclass=Result).run(tests)
    with open(output, "w", encoding="utf-8") as file:
        json.dump(result.outcomes, file)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
