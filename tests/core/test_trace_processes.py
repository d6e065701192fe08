"""A file of its own for each process: forked, spawned, ending in whatever way, or without any trace."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from tests.support.fake_distributions import run_python
from tests.support.files import in_child
from tests.support.traces import file_of, make_trace, read_all, read_file, texts, unexplained, write

from complog_core import report


@pytest.fixture(autouse=True)
def _forget_warnings() -> None:
    report.forget_warnings()


def test_forked_child_has_its_own_file_with_the_strings_that_it_uses(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    used, unused = trace.intern_string("used.py"), trace.intern_string("unused.py")
    write(trace, "before")
    parent = file_of(trace)

    def work() -> None:
        assert trace.writer.path is None
        assert trace.intern_string("used.py") == used
        trace.trace_structured("tiles", lambda: {"text": "child", "filename": used}, suppress_context=True)
        assert trace.intern_string("new.py") == unused + 1

    in_child(work)
    write(trace, "after")
    (child,) = set(tmp_path.iterdir()) - {parent}
    assert texts(parent) == ["before", "after"]
    assert texts(child) == ["child"]
    explained = [record.fields["str"] for record in read_file(child) if record.name == "str"]
    assert explained == [["used.py", used], ["new.py", unused + 1]]
    assert {record.process for record in read_file(parent)} == {os.getpid()}
    assert len({record.process for record in read_file(child)} - {os.getpid()}) == 1
    trace.close()


def test_child_that_writes_nothing_makes_no_file(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    write(trace, "a")
    in_child(lambda: None)
    assert texts(*tmp_path.iterdir()) == ["a"]
    trace.close()


def test_child_of_a_child_and_siblings_stand_alone(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    write(trace, "parent")

    def work(depth: int) -> None:
        write(trace, f"depth {depth}")
        if depth < 3:
            in_child(lambda: work(depth + 1))
            write(trace, f"depth {depth} again")

    for _ in range(2):
        in_child(lambda: work(1))
    found = sorted(tuple(texts(path)) for path in tmp_path.iterdir())
    once = [("depth 1", "depth 1 again"), ("depth 2", "depth 2 again"), ("depth 3",)]
    assert found == sorted([*once, *once, ("parent",)])
    trace.close()


def test_fork_while_other_threads_write_hangs_no_child(tmp_path: Path) -> None:
    trace = make_trace(tmp_path)
    stop = threading.Event()

    def work() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            write(trace, f"{number}")
            trace.intern_string(f"{number}.py")

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            in_child(lambda: (write(trace, "child"), trace.intern_string("child.py")))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    files = [texts(path) for path in tmp_path.iterdir()]
    assert files.count(["child"]) == 10
    assert len(files) == 11
    trace.close()


def test_child_forked_without_python_knowing_has_its_own_file(tmp_path: Path) -> None:
    import ctypes

    trace = make_trace(tmp_path)
    write(trace, "parent")
    fork = ctypes.PyDLL(None).fork  # no hooks run
    child = fork()
    if child == 0:
        try:
            write(trace, "child")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    write(trace, "parent again")
    assert sorted(texts(path) for path in tmp_path.iterdir()) == [["child"], ["parent", "parent again"]]
    trace.close()


SPAWN = """
import multiprocessing, sys
from complog_core.trace import Trace
trace = Trace("PROBE")
def work(number):
    trace.trace_structured("tiles", lambda: {"text": f"child {number}"})
if __name__ == "__main__":
    trace.trace_structured("tiles", lambda: {"text": "parent"})
    context = multiprocessing.get_context(sys.argv[1])
    children = [context.Process(target=work, args=(number,)) for number in range(2)]
    [child.start() for child in children]
    [child.join(60) for child in children]
    sys.exit(max(child.exitcode for child in children))
"""


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_processes_of_multiprocessing_have_a_file_each(method: str, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(SPAWN)
    code = f"import runpy, sys; sys.argv[0] = {str(script)!r}; runpy.run_path({str(script)!r}, run_name='__main__')"
    traces = tmp_path / "traces"
    result = run_python(code, args=[method], env={"PROBE_TRACE": str(traces)}, bare=False)
    assert result.returncode == 0, result.stderr
    assert sorted(texts(path) for path in traces.iterdir()) == [["child 0"], ["child 1"], ["parent"]]
    assert not any(unexplained(read_file(path)) for path in traces.iterdir())


@pytest.mark.parametrize("ending", ["", "os._exit(0)", "os.kill(os.getpid(), 9)", "raise SystemExit(3)", "1 / 0"])
def test_records_are_in_the_file_however_the_program_ends(ending: str, tmp_path: Path) -> None:
    code = f"""
        import os
        from complog_core.trace import Trace
        Trace("PROBE").trace_structured("tiles", lambda: {{"text": "a"}}, payload_fn=lambda: "x" * 10_000)
        {ending}
    """
    run_python(code, env={"PROBE_TRACE": str(tmp_path)})
    (record,) = read_all(tmp_path)
    assert record.payload == "x" * 10_000


def test_nothing_that_a_trace_needs_is_loaded_without_one() -> None:
    code = """
        import sys
        from complog_core.trace import Trace
        before = set(sys.modules)
        trace = Trace("PROBE", environ={})
        trace.trace_structured("tiles")
        trace.intern_string("a.py")
        trace.set_trace(None)
        trace.close()
        print(sorted(set(sys.modules) - before), {"json", "hashlib", "tempfile"} & before)
    """
    assert run_python(code).stdout == "[] set()\n"


def test_python_file_descriptors_zero_to_two_are_left_alone(tmp_path: Path) -> None:
    code = """
        import os
        from complog_core.trace import Trace
        os.close(0), os.close(2)
        Trace("PROBE").trace_structured("tiles", lambda: {"text": "a"})
        assert os.open("/dev/null", os.O_RDONLY) == 0
    """
    assert run_python(code, env={"PROBE_TRACE": str(tmp_path)}).returncode == 0
    assert texts(*tmp_path.iterdir()) == ["a"]
