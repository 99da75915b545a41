"""Under guard: how a copy of the process ended, what it was busy with, and the sign of life meanwhile."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest

from tools import ROOT
from tools.worker import guard

pytestmark = pytest.mark.skipif(not guard.usable(), reason="needs a POSIX system; this one cannot fork")

SCRIPT = """
import os, signal, sys, time
from tools.worker import guard
from tools.worker.heartbeat import heartbeat
guard.GRACE, guard.PATIENCE, guard.SIGN = {grace}, 0.2, {sign}
end = guard.split()
if end is None:
    heartbeat.enter("week1/test_it.py::test_name", column=3)
    def at_work():
{body}
    at_work()
    guard.clear_sign()
    heartbeat.leave()
    print("done", flush=True)
    os._exit(3)
print(repr(end))
"""
NATIVE = "heartbeat.beat(0.3); sum(iter(int, 1))"
PATIENCE = 30.0  # seconds


def script(body: str, grace=0.2, sign=100.0) -> list[str]:
    lines = "".join(f"        {line}\n" for line in body.split("; "))
    return [sys.executable, "-c", SCRIPT.format(body=lines, grace=grace, sign=sign)]


def end_of(body: str) -> guard.End:
    ran = subprocess.run(script(body), cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    return eval(ran.stdout.strip().splitlines()[-1], {"End": guard.End})


def test_work_that_comes_to_its_end_has_no_place():
    assert end_of("pass") == guard.End(3)


@pytest.mark.parametrize("body, status", [("os._exit(0)", 0), ("os.kill(os.getpid(), signal.SIGSEGV)", -11)])
def test_work_that_ends_its_process_says_where_it_was(body, status):
    assert end_of(body) == guard.End(status, "week1/test_it.py::test_name")


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux, which can end a process with its parent")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_the_copy_ends_with_the_original(how):
    body = "print(flush=True); sum(iter(int, 1))"
    with subprocess.Popen(script(body), cwd=ROOT, stdout=subprocess.PIPE, text=True) as original:
        original.stdout.readline()
        original.send_signal(how)
        assert select.select([original.stdout], [], [], PATIENCE)[0]  # both have let go of it: here it would hang
        assert original.stdout.read() == ""


def test_work_that_hangs_in_native_code_is_ended_and_says_where():
    end = end_of(NATIVE)
    assert (end.hung, end.place, end.status) == (True, "week1/test_it.py::test_name", -9)
    assert end.stack[0][2] == "at_work"


def test_work_that_is_silent_and_has_no_limit_is_left_alone():
    assert end_of("time.sleep(1.5)") == guard.End(3)


def test_work_that_closes_all_files_is_waited_for():
    assert end_of("os.closerange(3, 100); time.sleep(0.3)") == guard.End(3)


def on_terminal(command: list[str], act=lambda child, text: None) -> str:
    """What a command writes on a terminal. act is called with all that came so far, whenever something came."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(command, cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    text, end = b"", time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                text += os.read(ours, 4096)
            except OSError:  # Linux says so of a terminal that nobody holds any more
                break
            act(child, text.decode())
    child.kill()
    child.wait()
    os.close(ours)
    return text.decode()


def test_a_sign_of_life_is_written_below_and_taken_away():
    text = on_terminal(script("time.sleep(1.5)", sign=0.5))
    assert re.search(r"\n\r\x1b\[Kstill running: test_name, 0 s; Ctrl-C stops it", text)
    assert "\r\x1b[K\x1b[A\x1b[3Cdone" in text


def test_without_a_terminal_there_is_no_sign():
    ran = subprocess.run(script("time.sleep(1)", sign=0.2), cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert "still running" not in ran.stdout + ran.stderr


def test_ctrl_c_ends_what_hears_nothing():
    pressed = []

    def press(child, text):
        if "still running" in text and not pressed:
            pressed.append(os.killpg(child.pid, signal.SIGINT))

    text = on_terminal(script("heartbeat.beat(60); sum(iter(int, 1))", sign=0.2), press)
    assert "stopped=True" in text
