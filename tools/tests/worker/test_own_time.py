"""Own time: work and sleep count, waiting for a processor or a disk does not."""

import os
import subprocess
import sys
import time
import types
from contextlib import contextmanager

import pytest

from tools import worker
from tools.worker.own_time import UNTOLD, OwnTime


@pytest.fixture
def process(tmp_path, monkeypatch):
    """A process whose files in /proc are written here: process.set(waited=seconds, state=letter)."""

    class Process:
        def set(self, waited=0.0, state="S"):
            (tmp_path / "schedstat").write_text(f"5000 {int(waited * 1e9)} 3\n")
            (tmp_path / "stat").write_text(f"7 (a (name) of) {state} 1 7 7\n")

    monkeypatch.setattr("tools.worker.own_time.Path", lambda *parts: tmp_path)
    (made := Process()).set()
    return made


def test_work_and_sleep_count():
    own = OwnTime()
    time.sleep(0.2)
    assert 0.05 <= own.lap() <= 5


def test_what_it_waited_for_a_processor_does_not_count(process):
    own = OwnTime(7)
    time.sleep(0.2)
    process.set(waited=0.15)
    assert own.lap() < 0.1
    process.set(waited=100)
    assert own.lap() == 0


def test_a_process_that_reads_a_disk_is_not_charged(process):
    own = OwnTime(7)
    time.sleep(0.1)
    process.set(state="D")
    assert own.lap() == 0


def test_where_the_system_does_not_tell_a_part_of_the_time_counts(tmp_path, monkeypatch):
    monkeypatch.setattr("tools.worker.own_time.Path", lambda *parts: tmp_path)
    own = OwnTime()
    start = time.monotonic()
    time.sleep(0.3)
    assert own.lap() == pytest.approx(UNTOLD * (time.monotonic() - start), rel=0.2)


def test_another_process_is_measured_by_its_number():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        own = OwnTime(child.pid)
        time.sleep(0.3)
        assert 0.1 <= own.lap() <= 5
        child.communicate(b"\n")
    own.lap()  # of one that has ended: no error


SPIN = "while True: pass"
WORK = """
import time
import types
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
"""


@pytest.fixture
def one_processor():
    """This process and its children share one processor."""
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("needs a system on which a process can be given a processor")
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


@contextmanager
def crowd():
    """Six other processes that never rest."""
    others = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(6)]
    time.sleep(1)
    yield
    for other in others:
        other.kill()
        other.wait()


@pytest.mark.parametrize("where", ["here", "there"])
def test_a_call_on_a_crowded_processor_takes_its_own_time(one_processor, where, tmp_path):
    file = tmp_path / "busy.py"
    file.write_text(WORK)
    if where == "there":
        lesson = worker.proxy("week9.day1.busy", file)
    else:
        exec(WORK, vars(lesson := types.ModuleType("busy")))
    worker.call(lesson.work, (0.01,))  # a process that starts in a crowd takes half a minute
    with crowd():
        worker.call(lesson.work, (0.2,))  # while it is new there, a process may have a processor for itself
        start = time.monotonic()
        outcome = worker.call(lesson.work, (0.4,))
        passed = time.monotonic() - start
    assert outcome.error is None and 0.1 <= outcome.seconds <= 0.75 * passed  # a session of its own may have half of it
