"""course watch in a terminal of its own, driven as a learner drives it."""

import os
import re
import signal
import time
from contextlib import suppress

import pytest

from tools.cli import terminal
from tools.tests.cli.watch.watching import DAY, ENDLESS, LESSON, LONG, WAITING, Place, environment, running
from tools.tests.conftest import needs_solutions

GAP = 'raise NotImplementedError("week1/day1 task 1: matmul_naive")'
WRONG = """out = np.zeros((a.shape[0], b.shape[1]), dtype=a.dtype)
    total = a.dtype.type(0)
    for i, j in np.ndindex(out.shape):
        for p in range(a.shape[1]):
            total += a[i, p] * b[p, j]
        out[i, j] = total
    return out"""


@pytest.fixture
def watch():
    """watch(place, rows, columns) -> a terminal in which `course watch` runs."""
    pexpect = pytest.importorskip("pexpect", reason="needs pexpect for a terminal; found none; pip install pexpect")
    children = []

    def start(place: Place, rows: int = 24, columns: int = 80):
        child = pexpect.spawn(place.command[0], place.command[1:], cwd=str(place.root), env=environment(),
                              timeout=LONG, encoding="utf-8", dimensions=(rows, columns))  # fmt: skip
        children.append(child)
        return child

    yield start
    for child in children:
        hang_up(child)


def hang_up(child) -> None:
    """As close(), which gives a child three tenths of a second to end."""
    child.kill(signal.SIGHUP)
    end = time.monotonic() + LONG
    while child.isalive() and time.monotonic() < end:
        time.sleep(0.02)
    child.close(force=True)


def screen(child) -> list[str]:
    """The lines of the last screen drawn, up to what the child was last expected to say."""
    text = (child.before + child.after).replace("\r\n", "\n").replace("\r", "\n")
    last = re.split(re.escape(terminal.HOME + terminal.CLEAR_BELOW), text)[-1]
    return last.replace("\x1b[K", "").split("\n")


@needs_solutions
def test_a_learner_goes_from_wrong_to_right_and_asks_for_a_hint_the_list_and_all(real, watch):
    course, place = real
    stub = course.read(LESSON)
    child = watch(place)
    child.expect(WAITING)
    assert "  Task 1 is yours to write: matmul_naive," in screen(child)

    course.write(LESSON, stub.replace(GAP, WRONG))
    child.expect(f"running sum of the wanted elements(?s:.*){WAITING}")
    shown = screen(child)
    assert "  red       task 1  matmul_naive" in shown
    assert len([line for line in shown if line.startswith("FAILED ")]) == 1
    assert len(shown) <= 24

    assert any("; the other tests are running" in line for line in shown)

    child.send("h")
    for _ in range(2):  # and once more when the other tests have run
        child.expect(WAITING)
    shown = screen(child)
    assert "week1/day1: hint 1 of 3 for task 1" in shown
    assert any(re.fullmatch(r"\d\d:\d\d:\d\d, \d+\.\d s; \d+ lines cut, a shows all", line) for line in shown)
    assert len(shown) <= 24

    child.send("l")
    child.expect("any key: back, q quit")
    shown = screen(child)
    assert shown[0] == "week1/day1  The NumPy baseline"
    assert "  open   task 1  matmul_naive; 1 of 3 hints read" in shown

    child.send("a")
    child.expect("any key: back, q quit")
    shown = "\n".join(screen(child))
    assert shown.count("\nFAILED ") > 5
    assert "Task 6 is yours to write" in shown

    course.solve(DAY)
    child.expect("n on to week1/day2, or change what you like; l list, q quit")
    assert "  green     tasks 1, 2, 3, 4, 5, 6" in screen(child)

    child.send("x")  # any other key stays
    child.expect("n on to week1/day2, or change what you like; l list, q quit")
    child.send("n")
    child.expect("Running the tests of week1/day2")
    child.expect(WAITING)
    assert screen(child)[1].startswith("week1/day2  ")

    child.send("q")
    assert child.wait() == 0


def test_neither_an_arrow_nor_n_does_anything_before_all_is_green(small, watch):
    import pexpect

    child = watch(small)
    child.expect(WAITING)
    child.send("\x1b[A")  # an arrow ends in the letter of a key
    assert child.expect(["q quit", pexpect.TIMEOUT], timeout=1) == 1
    child.send("n")
    child.expect(WAITING)
    assert "Running" not in child.before


def test_ctrl_c_ends_it_and_leaves_the_terminal_as_it_was(small, watch):
    import termios

    child = watch(small)
    before = termios.tcgetattr(child.child_fd)
    child.expect(WAITING)
    during = termios.tcgetattr(child.child_fd)
    child.sendintr()
    assert child.wait() == 0
    after = termios.tcgetattr(child.child_fd)
    lines_and_echo = [modes[3] & (termios.ICANON | termios.ECHO) for modes in (before, during, after)]
    assert lines_and_echo[1] == 0
    assert after == before


def test_a_save_ends_a_run_that_takes_long(small, watch):
    small.double(ENDLESS)
    child = watch(small)
    child.expect(r"Running the tests of week1/day1, [1-9]\d* s\. A save starts anew, q quit")
    pid = running(small)
    small.double("return x")
    child.expect(WAITING)
    assert "  got 3" in screen(child)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_q_ends_a_run_that_takes_long(small, watch):
    small.double("while True: pass")
    child = watch(small)
    child.expect(r"[1-9]\d* s\. A save starts anew, q quit")
    child.send("q")
    assert child.wait() == 0


def test_a_terminal_that_goes_away_ends_it_and_the_run_under_way(small, watch):
    import pexpect

    small.double(ENDLESS)
    child = watch(small)
    pid = running(small)
    with suppress(pexpect.ExceptionPexpect):  # it has not ended after three tenths of a second
        child.close(force=False)  # hangs up
    end = time.monotonic() + LONG
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < end:
            os.kill(pid, 0)
            time.sleep(0.02)


def test_what_does_not_fit_is_cut_and_said_and_a_larger_window_shows_it(small, watch):
    child = watch(small, rows=10)
    child.expect("got 3(?s:.*)q quit")
    shown = screen(child)
    assert len(shown) <= 10
    assert shown[0] == "Small"
    assert "FAILED test_doubles" in shown
    assert shown[-2].endswith(" lines cut, a shows all")
    child.setwinsize(24, 80)
    child.expect("q quit")
    assert "  waiting   task 2" in screen(child)
    assert "cut" not in screen(child)[-2]


def test_a_terminal_that_says_it_has_no_columns_is_taken_for_a_usual_one(small, watch):
    child = watch(small, rows=0, columns=0)
    child.expect(WAITING)
    assert "  got 3" in child.before
    child.send("q")
    assert child.wait() == 0
