"""One thread followed alone: its values are plain numbers, and only it prints and stops."""

import numpy as np
import pytest
from tools.sim import cuda
from tools.sim.cuda.faults import Fault


@cuda.jit
def prints(x, out):
    i = cuda.grid(1)
    value = x[i] * 2
    below = cuda.shfl_up_sync(0xffffffff, value, 1)
    if value > 5:
        print("big", i, value, below)
    out[i] = value


def test_print_writes_a_line_for_each_thread_that_gets_there(capsys):
    prints[1, 32](np.arange(32) % 5, np.zeros(32))
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["big 3 6 4", "big 4 8 6"]
    assert len(lines) == 12


def test_debug_prints_for_one_thread_only(capsys):
    out = np.zeros(64)
    with cuda.debug(block=1, thread=4):
        prints[2, 32](np.arange(64), out)
    assert capsys.readouterr().out == "big 36 72 70\n"
    assert (out == 2 * np.arange(64)).all()


@cuda.jit
def stops(x, out):
    i = cuda.grid(1)
    value = x[i]
    breakpoint()
    out[i] = value


def test_a_breakpoint_stops_in_the_kernels_own_frame(monkeypatch):
    seen = []

    def look():
        import sys
        frame = sys._getframe(1)
        seen.append((frame.f_code.co_name, frame.f_locals["i"], frame.f_locals["value"], frame.f_code.co_filename))

    monkeypatch.setattr("sys.breakpointhook", look)
    with cuda.debug(block=(1, 0), thread=(2,)):
        stops[2, 4](np.arange(8.0) * 10, np.zeros(8))
    assert seen == [("stops", 6, 60.0, __file__)]


def test_a_breakpoint_without_a_thread_says_how_to_name_one():
    with pytest.raises(RuntimeError, match="with cuda.debug"):
        stops[1, 4](np.zeros(4), np.zeros(4))


@cuda.jit
def fails_late(x, out):
    i = cuda.grid(1)
    print("before", i)
    out[i] = x[i + 1]
    print("after", i)


def test_a_thread_can_be_watched_up_to_the_fault(capsys):
    with pytest.raises(Fault), cuda.debug(thread=2):
        fails_late[1, 4](np.zeros(4), np.zeros(4))
    assert capsys.readouterr().out == "before 2\n"


@cuda.jit(device=True)
def twice(v):
    print("twice", v)
    return 2 * v


@cuda.jit
def uses_shared(x, out):
    part = cuda.shared.array(4, np.float64)
    t = cuda.threadIdx.x
    part[t] = twice(x[t])
    cuda.syncthreads()
    print("neighbour", part[(t + 1) % 4])
    out[t] = part[t]


def test_a_watched_thread_sees_what_its_neighbours_wrote(capsys):
    with cuda.debug(thread=1):
        uses_shared[1, 4](np.arange(4.0), np.zeros(4))
    assert capsys.readouterr().out == "twice 1.0\nneighbour 4.0\n"


def test_a_thread_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"there is no thread 9; the launch has \(4, 1, 1\) of them"):
        with cuda.debug(thread=9):
            uses_shared[1, 4](np.arange(4.0), np.zeros(4))
