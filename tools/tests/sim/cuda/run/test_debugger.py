"""One thread followed alone: its values are plain numbers, and only it prints and stops."""

import sys

import numpy as np
import pytest

from tools.check import count
from tools.sim import cuda
from tools.sim.cuda.faults import Fault


@cuda.jit
def prints(x, out):
    i = cuda.grid(1)
    value = x[i] * 2
    below = cuda.shfl_up_sync(0xFFFFFFFF, value, 1)
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


@cuda.jit
def fills_twice(x, out):
    tile = cuda.shared.array((2, 2), np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    breakpoint()
    for turn in range(2):
        tile[t, turn] = x[i]
        cuda.syncthreads()
        breakpoint()
        out[i] = tile[1 - t, turn]
        cuda.syncthreads()


def looks(monkeypatch, look, kernel, *arguments, **place):
    """What `look` finds at each stop of the watched thread, given the variables of the kernel."""
    seen = []
    monkeypatch.setattr("sys.breakpointhook", lambda: seen.append(look(sys._getframe(1).f_locals)))
    with cuda.debug(**place):
        kernel[2, 2](*arguments)
    return seen


def test_an_array_shows_in_a_debugger_what_it_held_when_the_thread_had_come_so_far(monkeypatch):
    def look(names):
        t, tile, out = names["t"], names["tile"], names["out"]
        return float(tile[1 - t, 0]), tile[:, 1].tolist(), out[2:].tolist()

    x, out = np.float32([1, 2, 5, 7]), np.zeros(4, np.float32)
    seen = looks(monkeypatch, look, fills_twice, x, out, block=1, thread=1)
    assert seen[1:] == [(5.0, [0.0, 0.0], [0.0, 0.0]), (5.0, [5.0, 7.0], [7.0, 5.0])]
    assert out.tolist() == [2, 1, 7, 5]


def test_an_array_shows_its_name_its_shape_and_its_values(monkeypatch):
    shown = looks(
        monkeypatch,
        lambda names: (repr(names["x"]), repr(names["tile"])),
        fills_twice,
        np.float32([1, 2, 5, 7]),
        np.zeros(4, np.float32),
        block=1,
        thread=1,
    )[-1]
    assert shown == ("<x: global float32 (4,)> [1. 2. 5. 7.]", "<tile: shared float32 (2, 2)>\n[[5. 5.]\n [7. 7.]]")


def test_looking_counts_nothing(monkeypatch):
    def bytes_loaded(look):
        x, out = np.ones(4, np.float32), np.zeros(4, np.float32)
        return count(looks, monkeypatch, look, fills_twice, x, out).bytes_loaded

    assert bytes_loaded(lambda names: names["x"][0]) == bytes_loaded(lambda names: None) == 2 * 4 * 4


@cuda.jit
def adds_up(x, total):
    cuda.atomic.add(total, 0, x[cuda.grid(1)])
    breakpoint()


def test_memory_holds_the_result_again_after_the_look(monkeypatch):
    total = np.zeros(1)
    looks(monkeypatch, lambda names: names["total"][0], adds_up, np.arange(4.0), total, block=1, thread=0)
    assert total[0] == 6
