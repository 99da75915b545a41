"""A process ends with all that it started, and nothing is said of one that has ended already."""

import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from tools import processes

PATIENCE = 30.0  # seconds
PARENT = """import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
{}
"""


def parent(then: str) -> tuple[subprocess.Popen, int]:
    """A process that leads a group, and the number of its child."""
    command = [sys.executable, "-c", PARENT.format(then)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    with process.stdout as said:
        return process, int(said.readline())


def ends(pid: int) -> bool:
    """A child of nobody is collected by the system, a little later."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    return False


needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux; found another system; nothing to do")


@needs_proc
@pytest.mark.parametrize("then", ["time.sleep(60)", ""], ids=["at work", "ended before its child"])
def test_a_process_and_its_children_end(then):
    process, child = parent(then)
    if not then:
        process.wait(PATIENCE)
    processes.end_group(process)
    assert process.returncode == (-signal.SIGKILL if then else 0)
    assert ends(child)
    processes.end_group(process)


@needs_proc
def test_a_signal_reaches_the_children_too():
    process, child = parent("time.sleep(60)")
    processes.signal_group(process.pid, signal.SIGINT)
    assert process.wait(PATIENCE) and ends(child)


@pytest.mark.parametrize("error", [ProcessLookupError, PermissionError], ids=["Linux", "macOS"])
def test_a_group_that_has_ended_is_no_error_on_any_system(monkeypatch, error):
    def gone(leader, number):
        raise error

    monkeypatch.setattr(os, "killpg", gone, raising=False)
    processes.signal_group(1, signal.SIGTERM)


def test_where_there_are_no_groups_the_process_alone_is_ended(monkeypatch):
    sent = []
    monkeypatch.delattr(os, "killpg", raising=False)
    monkeypatch.setattr(os, "kill", lambda *what: sent.append(what))
    processes.end_group(SimpleNamespace(pid=7, wait=lambda timeout: 0))
    assert sent == [(7, processes.KILL)]


def test_one_that_the_system_holds_is_left_behind(monkeypatch):
    def waits(timeout):
        raise subprocess.TimeoutExpired("held", timeout)

    monkeypatch.setattr(os, "killpg", lambda *what: None, raising=False)
    processes.end_group(SimpleNamespace(pid=7, wait=waits), patience=0.01)
