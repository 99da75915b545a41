"""Atomic updates: each lane finds what it would find if the lanes took turns, to the last bit."""

import operator
import time
from functools import partial

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.device import atomic_order, atomics
from tools.sim.cuda.faults import Refused
from tools.tests.sim.cuda.device.running import fault_of, run

BLOCKS, THREADS, CELLS = 3, 77, 19
INTEGERS = (np.int32, np.int64, np.uint32, np.uint64)
FLOATS = (np.float32, np.float64)


def kernel_for(name: str):
    """found[i] = cuda.atomic.name(cells, where[i], x[i]) for the active threads."""
    update = getattr(atomics, name)

    def kernel(active, cells, where, x, found):
        i = cuda.grid(1)
        if active[i]:
            found[i] = update(cells, where[i], x[i])

    return kernel


def is_nan(x) -> bool:
    return x != x


# What a cell becomes, by NumPy's scalars of its own type. Floats: the rules that numba-cuda compiles to PTX.
MEANINGS = {
    "add": operator.add,
    "sub": operator.sub,
    "and_": operator.and_,
    "or_": operator.or_,
    "xor": operator.xor,
    "exch": lambda old, x: x,
    "inc": lambda old, x: old * 0 if old >= x else old + type(old)(1),
    "dec": lambda old, x: x if old == 0 or old > x else old - type(old)(1),
    "max": lambda old, x: old if is_nan(old) or is_nan(x) or not x > old else x,
    "min": lambda old, x: old if is_nan(old) or is_nan(x) or not x < old else x,
    "nanmax": lambda old, x: old if is_nan(x) or not (is_nan(old) or x > old) else x,
    "nanmin": lambda old, x: old if is_nan(x) or not (is_nan(old) or x < old) else x,
}
TYPES = {
    name: INTEGERS
    if name in ("and_", "or_", "xor", "exch")
    else INTEGERS[2:]
    if name in ("inc", "dec")
    else INTEGERS + FLOATS
    for name in MEANINGS
}


def numbers(rng, dtype, count: int) -> np.ndarray:
    """Of very different sizes; among floats also both zeros, infinities and NaN."""
    if dtype in FLOATS:
        x = (rng.standard_normal(count) * 10.0 ** rng.integers(-6, 7, count)).astype(dtype)
        special = rng.random(count) < 0.3
        x[special] = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan], special.sum())
        return x
    if rng.random() < 0.5:
        return rng.integers(0, 6, count).astype(dtype)
    return rng.integers(0, 2**64, count, np.uint64).astype(dtype)


@pytest.mark.parametrize("name, dtype", [(name, dtype) for name, types in TYPES.items() for dtype in types])
def test_each_lane_finds_what_the_lanes_before_it_left(name, dtype):
    rng = np.random.default_rng([*map(ord, name + str(np.dtype(dtype)))])
    kernel, meaning = kernel_for(name), MEANINGS[name]
    for size in (1, CELLS, 5000):
        active = rng.random(BLOCKS * THREADS) < 0.8
        where, x = rng.integers(0, size, active.size), numbers(rng, dtype, active.size)
        cells = numbers(rng, dtype, size)
        found, want, after = np.zeros(active.size, dtype), np.zeros(active.size, dtype), cells.copy()
        with np.errstate(all="ignore"):
            for i in np.flatnonzero(active):
                want[i] = after[where[i]]
                after[where[i]] = meaning(after[where[i]], x[i])
        run(kernel, BLOCKS, THREADS, active, cells, where, x, found)
        assert bits(cells) == bits(after)
        assert bits(found) == bits(want)


def bits(x: np.ndarray) -> bytes:
    """All of x, with one NaN for all of them: which one a sum gives, no standard says."""
    return np.where(np.isnan(x), np.array(np.nan, x.dtype), x).tobytes() if x.dtype.kind == "f" else x.tobytes()


def swaps(active, cells, where, old, x, found):
    i = cuda.grid(1)
    if active[i]:
        found[i] = cuda.atomic.cas(cells, where[i], old[i], x[i])


def swaps_first(active, cells, old, x, found):
    i = cuda.grid(1)
    if active[i]:
        found[i] = cuda.atomic.compare_and_swap(cells, old[i], x[i])


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("kernel", [swaps, swaps_first])
def test_a_swap_takes_place_where_the_old_value_is_the_expected_one(kernel, dtype):
    rng = np.random.default_rng(np.dtype(dtype).num)
    active = rng.random(BLOCKS * THREADS) < 0.8
    where = rng.integers(0, CELLS, active.size) if kernel is swaps else np.zeros(active.size, int)
    cells, old, x = (rng.integers(-2, 2, count).astype(dtype) for count in (CELLS, active.size, active.size))
    found, want, after = np.zeros(active.size, dtype), np.zeros(active.size, dtype), cells.copy()
    for i in np.flatnonzero(active):
        want[i] = after[where[i]]
        if want[i] == old[i]:
            after[where[i]] = x[i]
    run(kernel, BLOCKS, THREADS, active, cells, *([where] if kernel is swaps else []), old, x, found)
    assert cells.tolist() == after.tolist() and found.tolist() == want.tolist()


# Where the element lies, and what becomes of the value -------------------------------------------


def adds_in_two_dimensions(cells, x):
    i = cuda.grid(1)
    cuda.atomic.add(cells, (i % 3, i % 5), x)


def counts_in_blocks(out):
    i = cuda.grid(1)
    counts = cuda.shared.array(4, np.int32)
    if cuda.threadIdx.x < 4:
        counts[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    cuda.atomic.add(counts, i % 3, 1)
    cuda.syncthreads()
    if cuda.threadIdx.x < 4:
        out[cuda.blockIdx.x, cuda.threadIdx.x] = counts[cuda.threadIdx.x]


def adds_to_every_other(cells, x):
    cuda.atomic.add(cells, cuda.grid(1) % 4, x)


def test_an_index_has_as_many_numbers_as_the_array_has_dimensions():
    cells, want = np.zeros((3, 5), np.float32), np.zeros((3, 5), np.float32)
    run(adds_in_two_dimensions, BLOCKS, THREADS, cells, np.float32(0.5))
    for i in range(BLOCKS * THREADS):
        want[i % 3, i % 5] += 0.5
    assert cells.tolist() == want.tolist()
    with pytest.raises((Refused, TypeError)):
        run(adds_in_two_dimensions, 1, 32, np.zeros(15, np.float32), np.float32(0.5))


def test_each_block_has_its_own_shared_cells():
    out = np.zeros((BLOCKS, 4), np.int32)
    run(counts_in_blocks, BLOCKS, THREADS, out)
    want = [
        [sum(i % 3 == cell for i in range(block * THREADS, (block + 1) * THREADS)) for cell in range(4)]
        for block in range(BLOCKS)
    ]
    assert out.tolist() == want


def test_a_view_with_gaps_is_updated_where_its_elements_lie():
    cells = np.zeros(8, np.int64)
    run(adds_to_every_other, 1, 32, cells[::2], np.int64(1))
    assert cells.tolist() == [8, 0, 8, 0, 8, 0, 8, 0]


@pytest.mark.parametrize(
    "dtype, value, step",
    [
        (np.int32, np.float64(2.9), 2),
        (np.int32, np.int64(2**32 + 3), 3),
        (np.uint32, np.int64(-1), 2**32 - 1),
        (np.float32, np.int64(2**24 + 1), 2**24),
        (np.int64, np.bool_(True), 1),
    ],
)
def test_a_value_becomes_the_type_of_the_array_first(dtype, value, step):
    cells = np.zeros(4, dtype)
    run(adds_to_every_other, 1, 1, cells, value)
    assert cells.tolist() == [step, 0, 0, 0]


# What is refused ---------------------------------------------------------------------------------


def updates_a_local_array(x):
    mine = cuda.local.array(4, np.int32)
    mine[0] = 0
    cuda.atomic.add(mine, 0, 1)
    x[cuda.grid(1)] = mine[0]


TABLE = np.zeros(4, np.int32)


def updates_a_constant(x):
    table = cuda.const.array_like(TABLE)
    cuda.atomic.add(table, 0, 1)


@pytest.mark.parametrize(
    "kernel, kind, words",
    [
        (updates_a_local_array, "local_atomic", "updates mine atomically"),
        (updates_a_constant, "read_only", "constant."),
    ],
)
def test_only_what_others_can_see_is_updated_atomically(kernel, kind, words):
    fault = fault_of(kernel, 1, 32, np.zeros(32, np.int32))
    assert fault.kind == kind and words in fault.text


def test_an_element_outside_the_array_is_a_fault():
    fault = fault_of(
        kernel_for("add"),
        1,
        32,
        np.ones(32, bool),
        np.zeros(20, np.int32),
        np.arange(32),
        np.ones(32, np.int32),
        np.zeros(32, np.int32),
    )
    assert fault.kind == "out_of_bounds" and "updates element 20 of cells" in fault.text


@pytest.mark.parametrize(
    "name, dtype",
    [
        ("add", np.float16),
        ("add", np.int16),
        ("xor", np.float32),
        ("inc", np.int32),
        ("exch", np.float64),
        ("max", np.uint8),
    ],
)
def test_types_that_the_hardware_has_no_update_for_are_refused(name, dtype):
    said = rf"(?s)cuda.atomic.{name} updates arrays of .*;\s+cells is of\s+{np.dtype(dtype)}"
    with pytest.raises(Refused, match=said):
        run(
            kernel_for(name),
            1,
            32,
            np.ones(32, bool),
            np.zeros(4, dtype),
            np.zeros(32, int),
            np.zeros(32, dtype),
            np.zeros(32, dtype),
        )


@pytest.mark.parametrize(
    "lanes, cells, apart",
    [(1, 1, 1), (2000, 1, 1), (3000, 700, 1), (3000, 2000, 1), (2000, 20, 2**16), (2000, 1000, 1001)],
)
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_few_and_many_cells_near_and_far_are_updated_alike(lanes, cells, apart, dtype):
    rng = np.random.default_rng(lanes + cells)
    places, x = apart * rng.integers(0, cells, lanes), numbers(rng, dtype, lanes)
    cells = numbers(rng, dtype, apart * cells)
    for name, update in (("add", partial(atomic_order.fold, np.add)), ("exch", atomic_order.exchange)):
        got, after, want = cells.copy(), cells.copy(), []
        with np.errstate(all="ignore"):
            found = update(got, places, x)
            for place, value in zip(places, x):
                want.append(after[place])
                after[place] = MEANINGS[name](after[place], value)
        assert bits(found) == bits(np.array(want)) and bits(got) == bits(after)


# Counts and time ---------------------------------------------------------------------------------


def test_every_update_is_counted():
    cells = np.zeros(64, np.float32)
    counts = run(adds_to_every_other, 2, 32, cells, np.float32(1)).counts
    assert (counts.bytes_atomic, counts.accesses, counts.requests) == (256, 64, 2)


@pytest.mark.parametrize(
    "update",
    [partial(atomic_order.fold, np.add), partial(atomic_order.fold, np.minimum), atomic_order.exchange],
    ids=["add", "min", "exch"],
)
@pytest.mark.parametrize("size", [1, 256])
def test_100_000_lanes_take_less_time_than_a_loop_over_them(update, size):
    rng = np.random.default_rng(size)
    cells, places, values = np.zeros(size, np.int32), rng.integers(0, size, 100_000), np.ones(100_000, np.int32)
    fast = min(seconds(update, cells, places, values) for _ in range(5))
    slow = min(seconds(atomic_order.one_by_one, operator.add, cells, places, values) for _ in range(3))
    assert slow > 3 * fast  # measured: 8 to 16 times


def seconds(function, *arguments) -> float:
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start
