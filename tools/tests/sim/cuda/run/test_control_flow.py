"""Control flow of kernels: every lane goes the way that it would go alone, and the counts say how warps parted."""

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.faults import Fault, Unknown
from tools.sim.recording import record


def run(kernel, threads=40, blocks=1, dtype=np.int64):
    """What each thread stores to its element."""
    out = np.zeros(threads * blocks, dtype)
    kernel[blocks, threads](out)
    return out


def alone(function, threads=40) -> list:
    """The same, computed by plain Python, one thread after another."""
    return [function(i) for i in range(threads)]


@cuda.jit
def branches(out):
    i = cuda.grid(1)
    if i < 3:
        out[i] = 1
    elif i % 2 == 0:
        out[i] = 2
    else:
        out[i] = 3


def test_each_lane_takes_its_own_branch():
    assert run(branches).tolist() == alone(lambda i: 1 if i < 3 else 2 if i % 2 == 0 else 3)


@cuda.jit
def ragged(out):
    i = cuda.grid(1)
    total = 0
    for k in range(i % 7, 20, i % 3 + 1):
        if k == 12:
            break
        if k % 5 == 1:
            continue
        total += k
    else:
        total += 1000
    out[i] = total


def ragged_alone(i):
    total = 0
    for k in range(i % 7, 20, i % 3 + 1):
        if k == 12:
            break
        if k % 5 == 1:
            continue
        total += k
    else:
        total += 1000
    return total


def test_a_loop_has_its_own_turns_breaks_and_else_in_each_lane():
    assert run(ragged).tolist() == alone(ragged_alone)


@cuda.jit
def early(out):
    i = cuda.grid(1)
    value = -1
    while True:
        value += i
        if value > 10:
            out[i] = value
            return
        if i == 0:
            break
    out[i] = value


def test_a_return_inside_an_endless_loop_ends_the_thread():
    assert run(early, 12).tolist() == [-1, *[next(v for v in range(i - 1, 99, i) if v > 10) for i in range(1, 12)]]


@cuda.jit(device=True)
def sign_and_size(x):
    if x < 0:
        return -1, -x
    if x == 0:
        return 0, x
    return 1, x


@cuda.jit
def calls_a_device_function(out):
    i = cuda.grid(1)
    sign, size = sign_and_size(i - 5)
    out[i] = sign * 100 + size


def test_a_device_function_returns_to_each_lane_what_it_computed():
    assert run(calls_a_device_function, 12).tolist() == [-95, -96, -97, -98, -99, 0, 101, 102, 103, 104, 105, 106]


@cuda.jit
def conditions(out):
    i = cuda.grid(1)
    out[i] = 1 if 2 < i < 9 and not (i == 5 or i == 7) else 0


def test_chained_comparisons_and_logic_are_pythons():
    assert run(conditions).tolist() == alone(lambda i: 1 if 2 < i < 9 and not (i == 5 or i == 7) else 0)


@cuda.jit
def guarded_by_and(x, out):
    i = cuda.grid(1)
    if i < x.shape[0] and x[i] > 0:
        out[i] = 1


def test_the_right_side_of_and_runs_only_where_the_left_holds():
    out = np.zeros(64, np.int64)
    guarded_by_and[2, 32](np.array([1.0, -1.0, 2.0]), out)
    assert out.tolist() == [1, 0, 1] + [0] * 61


@cuda.jit
def over_a_tuple_and_an_array(x, out):
    total = 0.0
    for factor in (1, 10):
        for value in x:
            total += factor * value
    out[cuda.grid(1)] = total


def test_loops_run_over_tuples_and_arrays():
    out = np.zeros(2)
    over_a_tuple_and_an_array[1, 2](np.array([1.0, 2.0]), out)
    assert out.tolist() == [33, 33]


@cuda.jit
def undefined(out):
    i = cuda.grid(1)
    if i > 100:
        value = 1
    out[i] = value + 1


def test_a_variable_that_no_thread_has_set_is_named():
    with pytest.raises(Fault, match="value is used before it is given a value") as caught:
        run(undefined)
    assert caught.value.source == "out[i] = value + 1"


@cuda.jit
def forever(out):
    i = cuda.grid(1)
    k = 0
    while k < 10:
        if i != 7:
            k += 1
    out[i] = k


def test_a_loop_in_which_nothing_changes_any_more_is_refused():
    with pytest.raises(Fault, match="thread 7 of block 0 does not leave this loop: nothing changes") as caught:
        run(forever)
    assert caught.value.kind == "endless_loop"
    assert caught.value.source == "while k < 10:"
    assert caught.value.text.endswith("What should end it? No thread outside it stores here; on a GPU one may.")


@cuda.jit
def tries_for_ever(out):
    old = 5
    while cuda.atomic.cas(out, 0, old, 7) != old:
        pass


@cuda.jit
def waits_for_a_lock(out):
    cuda.atomic.cas(out, 0, -1, 1)
    while cuda.atomic.cas(out, 0, 0, 1) != 0:
        pass


@pytest.mark.parametrize("kernel, asks_of_cas", [(tries_for_ever, True), (waits_for_a_lock, False)])
def test_a_cas_that_expects_the_same_each_time_is_asked_after(kernel, asks_of_cas):
    with pytest.raises(Fault) as caught:
        run(kernel)
    assert ("What cas found is what its next try must expect." in caught.value.text) == asks_of_cas


@cuda.jit
def counts_up_forever(out):
    k = cuda.grid(1) + 1
    while k > 0:
        k += 1
    out[0] = k


def test_a_loop_with_too_many_turns_is_refused(monkeypatch):
    monkeypatch.setattr("tools.sim.cuda.run.control_flow.MOST_TURNS", 6000)
    with pytest.raises(Fault, match=r"it has had 6,000\sturns"):
        run(counts_up_forever)


@cuda.jit
def parts(out, divisor):
    i = cuda.grid(1)
    if i // divisor % 2 == 0:
        out[i] = 1
    else:
        out[i] = 2


@pytest.mark.parametrize("divisor, divergent", [(1, 4), (16, 4), (32, 0)])
def test_a_branch_is_divergent_when_lanes_of_one_warp_part(divisor, divergent):
    with record() as counters:
        parts[1, 128](np.zeros(128), divisor)
    assert (counters.branches, counters.divergent_branches) == (4, divergent)


def test_active_lanes_fall_where_warps_part():
    with record() as together:
        parts[1, 128](np.zeros(128), 32)
    with record() as parted:
        parts[1, 128](np.zeros(128), 1)
    assert together.active_lanes == 32
    assert parted.active_lanes == pytest.approx((2 * 4 * 32 + 4 * 32) / (2 * 4 + 2 * 4))


@cuda.jit
def waits_for_the_block_before(flags, out):
    block = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if block > 0:
            while cuda.atomic.add(flags, block - 1, 0) == 0:
                pass
        out[block] = block if block == 0 else out[block - 1] + block
        cuda.threadfence()
        cuda.atomic.add(flags, block, 1)


def test_blocks_may_wait_for_blocks_before_them():
    out = np.zeros(10, np.int64)
    waits_for_the_block_before[10, 32](np.zeros(10, np.int64), out)
    assert out.tolist() == [0, 1, 3, 6, 10, 15, 21, 28, 36, 45]


@cuda.jit
def two_phases(x, out):
    i = cuda.grid(1)
    x[i] = i
    cuda.cg.this_grid().sync()
    out[i] = x[x.shape[0] - 1 - i]


def test_the_whole_grid_can_wait_for_itself():
    n = 70_000
    x, out = np.zeros(n), np.zeros(n)
    two_phases[n // 250, 250](x, out)
    assert (out == np.arange(n)[::-1]).all()


@cuda.jit
def one_array_or_another(x, y, out):
    i = cuda.grid(1)
    chosen = x
    if i % 2:
        chosen = y
    out[i] = chosen[0]


def test_a_variable_for_different_arrays_is_honestly_unknown():
    with pytest.raises(Unknown, match="one array in some threads"):
        one_array_or_another[1, 32](np.zeros(1), np.zeros(1), np.zeros(32))
