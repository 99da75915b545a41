"""The time limit: it counts a lesson's own time, interrupts, never fires late, and waits for whoever is debugging."""

import importlib.util
import subprocess
import sys
import time

import pytest

from tools import worker
from tools.pytest_course import limits
from tools.worker import deadlines
from tools.worker.limit import Alarm, time_limit

LESSON = "week9.day1.waits"


def wait(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """lesson(source) -> the module of a lesson with that text."""

    def make(source: str):
        file = tmp_path / "waits.py"
        file.write_text(source)
        spec = importlib.util.spec_from_file_location(LESSON, file)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, LESSON, module)
        spec.loader.exec_module(module)
        return module

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(deadlines, "hung", set())
    monkeypatch.setattr("tools.worker.limit.hung", deadlines.hung)
    return make


def test_a_loop_is_interrupted_at_the_limit():
    start = time.monotonic()
    with pytest.raises(worker.TooSlow, match="within 0.2 s"), time_limit(0.2):
        wait(5)
    assert 0.2 <= time.monotonic() - start < 4


def test_one_that_sleeps_is_interrupted_too():
    start = time.monotonic()
    with pytest.raises(worker.TooSlow), time_limit(0.2):
        time.sleep(5)
    assert time.monotonic() - start < 4


def test_nothing_happens_after_the_limited_part_is_over():
    with time_limit(0.1):
        pass
    wait(0.3)


def test_an_inner_limit_leaves_the_outer_one_in_charge():
    with pytest.raises(worker.TooSlow, match="0.2 s"), time_limit(0.2), time_limit(30):
        wait(5)


def test_the_clock_stands_still_in_the_debugger_and_starts_anew_after_it():
    with pytest.raises(worker.TooSlow), time_limit(0.2):
        limits.pytest_enter_pdb()
        wait(0.5)
        limits.pytest_leave_pdb()
        wait(5)


def test_leaving_the_debugger_without_a_limit_starts_none():
    limits.pytest_leave_pdb()
    wait(0.05)
    assert Alarm.current is None


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess, sys\ndef work(): subprocess.run([sys.executable, '-c', 'import time; time.sleep(1)'])",
        "def work(): import a_large_library",
    ],
    ids=["a program", "an import"],
)
def test_what_a_lesson_has_to_wait_for_is_not_its_own_time(lesson, tmp_path, source):
    (tmp_path / "a_large_library.py").write_text("import time\ntime.sleep(1)\n")
    module = lesson(source)
    with time_limit(0.5):
        module.work()
    sys.modules.pop("a_large_library", None)


def test_another_program_is_not_waited_for_for_ever():
    start = time.monotonic()
    with pytest.raises(worker.TooSlow), time_limit(0.2):
        subprocess.run([sys.executable, "-c", "import time; time.sleep(60)"])
    assert time.monotonic() - start < 20


LOOP = "import time\ndef work():\n    while True: time.sleep(0.01)\ndef calls(): work()\ndef other(): time.sleep(1.5)\n"


def test_a_function_that_was_ended_before_is_ended_after_a_second(lesson, monkeypatch):
    module = lesson(LOOP)
    with pytest.raises(worker.TooSlow), time_limit(0.2):
        module.work()
    monkeypatch.setattr("tools.worker.limit.AGAIN", 0.3)
    with pytest.raises(worker.TooSlow) as caught, time_limit(30):
        module.calls()
    assert caught.value.again


def test_another_function_has_its_full_time(lesson, monkeypatch):
    module = lesson(LOOP)
    with pytest.raises(worker.TooSlow), time_limit(0.2):
        module.work()
    monkeypatch.setattr("tools.worker.limit.AGAIN", 0.3)
    with time_limit(30):
        module.other()


def test_an_alarm_of_the_lessons_own_does_not_stop_the_clock():
    import signal

    with pytest.raises(worker.TooSlow), time_limit(0.3):
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        wait(5)
