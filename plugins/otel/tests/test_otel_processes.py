"""Each process sends its own records, once, whatever way it was made and whatever way it ends."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest
from plugins.otel.tests.programs import PRELUDE, finish, run, start
from plugins.otel.tests.receiver import Answer, receiving

from complog_otel.counts import Counts

ROOT = Path(__file__).parents[3]
PATIENT = {"OTEL_BLRP_SCHEDULE_DELAY": "60000"}
"""Nothing is sent before the end, unless somebody flushes."""


def test_four_processes_at_once_lose_and_mix_nothing() -> None:
    with receiving() as receiver:
        programs = [
            start(receiver.url, "for number in range(500): log.info('%d', number)", RANK=str(rank)) for rank in range(4)
        ]
        ended = [finish(program) for program in programs]
        assert [each.counts for each in ended] == [Counts(logged=500, sent=500)] * 4
        assert len(receiver.records) == 2000
        for rank in range(4):
            own = [record for record in receiver.records if record.attributes["complog.rank"] == rank]
            assert [record.body for record in own] == [str(number) for number in range(500)]
            assert len({record.resource["process.pid"] for record in own}) == 1
    assert all(each.errors == [] for each in ended)


FORKING = """
for number in range(10): log.info("before %d", number)
{flush}
child = os.fork()
if child == 0:
    for number in range(100): log.info("child %d", number)
    {end}
for number in range(100): log.info("parent %d", number)
os.waitpid(child, 0)
"""


@pytest.mark.parametrize("flush", ["", "import complog_otel; complog_otel.flush()"])
@pytest.mark.parametrize("end", ["sys.exit()", "import complog_otel; complog_otel.flush(); os._exit(0)"])
def test_forked_child_sends_its_own_records_and_none_of_its_parents(flush: str, end: str) -> None:
    # with a flush before it there is a connection that must not be shared
    variables = {"PYTHONWARNINGS": "ignore::DeprecationWarning", **({} if flush else PATIENT)}
    with receiving() as receiver:
        ended = run(receiver.url, FORKING.format(flush=flush, end=end), **variables)
        expected = [f"before {number}" for number in range(10)]
        expected += [f"{who} {number}" for who in ("parent", "child") for number in range(100)]
        assert Counter(receiver.bodies) == Counter(expected)
        pids = {record.body.split()[0]: record.resource["process.pid"] for record in receiver.records}
        assert pids["before"] == pids["parent"] != pids["child"]
        assert all(record.attributes["process.pid"] == record.resource["process.pid"] for record in receiver.records)
    assert ended.counts == Counts(logged=110, sent=110)
    assert ended.errors == []


def test_child_forked_while_others_log_and_send_is_not_stuck() -> None:
    code = """
        import warnings; warnings.simplefilter("ignore")  # of fork in a process with threads
        running = True
        def chatter():
            while running: log.debug("chatter"); time.sleep(0.001)
        threads = [threading.Thread(target=chatter) for _ in range(3)]
        for thread in threads: thread.start()
        ends = []
        for number in range(10):
            child = os.fork()
            if child == 0:
                import complog_otel, signal
                signal.alarm(30)
                log.info("child %d", number)
                os._exit(0 if complog_otel.flush() else 1)
            ends.append(os.waitpid(child, 0)[1])
        running = False
        for thread in threads: thread.join()
        print(ends)
    """
    with receiving() as receiver:
        ended = run(receiver.url, code, OTEL_BLRP_SCHEDULE_DELAY="5", OTEL_BLRP_MAX_QUEUE_SIZE="100000")
        assert ended.output == str([0] * 10)
        children = [body for body in receiver.bodies if body != "chatter"]
        assert sorted(children) == [f"child {number}" for number in range(10)]
        assert len(receiver.bodies) - 10 == ended.counts.logged == ended.counts.sent


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_child_of_multiprocessing_sends_what_it_logs_last(method: str) -> None:
    prelude = "if __name__ == '__main__':" + PRELUDE.replace("\n", "\n    ")
    code = f"""
        import multiprocessing
        from plugins.otel.tests.logging_child import log_last
        if __name__ == "__main__":
            context = multiprocessing.get_context("{method}")
            log.info("parent")
            child = context.Process(target=log_last)
            child.start()
            child.join()
            print(child.exitcode)
    """
    with receiving() as receiver:
        ended = run(receiver.url, code, prelude=prelude, PYTHONPATH=str(ROOT), **PATIENT)
        assert Counter(receiver.bodies) == Counter(["parent", "child 0", "child 1", "child 2"])
    assert ended.output == "0"


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise RuntimeError('the program fails')"])
def test_records_of_the_last_moment_are_sent(end: str) -> None:
    with receiving() as receiver:
        ended = run(receiver.url, f"log.info('last')\n{end}", **PATIENT)
        assert receiver.bodies == ["last"]
    assert ended.counts == Counts(logged=1, sent=1)


def test_records_that_are_logged_at_exit_are_sent() -> None:
    with receiving() as receiver:
        ended = run(receiver.url, "atexit.register(log.info, 'at exit')\nlog.info('usual')")
        assert receiver.bodies == ["usual", "at exit"]
    assert ended.counts == Counts(logged=2, sent=2)


def test_first_record_of_all_comes_too_late_at_exit_and_is_told() -> None:
    # OpenTelemetry cannot be imported any more by then
    with receiving() as receiver:
        ended = run(receiver.url, "atexit.register(log.info, 'at exit')")
    assert ended.counts == Counts(logged=1, left=1)
    assert "no record can be sent: RuntimeError" in ended.errors[0]
    assert "1 of 1 records were not sent" in ended.errors[1]


def test_records_of_many_threads_are_all_sent() -> None:
    code = """
        def work(name):
            for number in range(200): log.info("%s %d", name, number)
        threads = [threading.Thread(target=work, args=(name,), name=name) for name in "abcdefgh"]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    """
    with receiving() as receiver:
        ended = run(receiver.url, code)
        for name in "abcdefgh":
            own = [record for record in receiver.records if record.attributes["thread.name"] == name]
            assert [record.body for record in own] == [f"{name} {number}" for number in range(200)]
    assert ended.counts == Counts(logged=1600, sent=1600)


def test_threads_that_fill_the_queue_leave_exact_counts() -> None:
    code = """
        def work():
            for number in range(2000): log.info("%d", number)
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    """

    def answer(number: int) -> Answer:
        time.sleep(0.02)  # slower than they are
        return Answer(400 if number % 5 == 4 else 200)

    with receiving(answer) as receiver:
        ended = run(receiver.url, code, OTEL_BLRP_MAX_QUEUE_SIZE="200", OTEL_BLRP_MAX_EXPORT_BATCH_SIZE="50")
        counts = ended.counts
        assert counts.logged == 16_000
        assert counts.sent == len(receiver.records)
        assert counts.sent + counts.dropped == counts.logged
        assert (counts.full > 0, counts.refused > 0, counts.left) == (True, True, 0)


def test_signal_handlers_and_finalizers_may_log() -> None:
    code = """
        import gc, signal
        class Cycle:
            def __init__(self): self.me = self
            def __del__(self):
                log.debug("finalizer")
                ended.append(self)
        ended = []
        signal.signal(signal.SIGALRM, lambda *arguments: log.debug("signal"))
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        for number in range(2000):
            Cycle()
            log.debug("usual")
        signal.setitimer(signal.ITIMER_REAL, 0)
        # one may still be running in the thread that sends
        while len(ended) < 2000: gc.collect()
    """
    with receiving() as receiver:
        ended = run(receiver.url, code, OTEL_BLRP_MAX_QUEUE_SIZE="100000")
        counts = Counter(receiver.bodies)
        assert (counts["usual"], counts["finalizer"], counts["signal"] > 0) == (2000, 2000, True)
        assert sum(counts.values()) == ended.counts.logged == ended.counts.sent
