"""What a recording says: launches with bytes and sectors, crossings with bytes, waits, library operations."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim.recording import record


def recorded(work):
    with record() as counters:
        work()
    return counters


def names(counters) -> list[str]:
    return [launch.kernel for launch in counters.launches]


def test_an_elementwise_function_is_one_launch_of_128_threads_a_block():
    x, y = cp.ones(1000, dtype=cp.float32), cp.ones(1000, dtype=cp.float32)
    (launch,) = recorded(lambda: x + y).launches
    assert (launch.kernel, launch.grid) == ("cupy_add", (8,))
    assert (launch.counts.bytes_loaded, launch.counts.bytes_stored) == (8000, 4000)
    assert (launch.counts.accesses, launch.counts.sectors, launch.counts.lines) == (3000, 3 * 125, 3 * 32)
    assert launch.counts.programs == 8


def brute_force(addresses: list[int], bits: int) -> int:
    """Pieces of 2**bits bytes, each once for every 32 consecutive threads."""
    return sum(
        len({address >> bits for address in addresses[warp : warp + 32]}) for warp in range(0, len(addresses), 32)
    )


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        lambda x: x[1:],
        lambda x: x[::2],
        lambda x: x[::-1],
        lambda x: x[::8],
        lambda x: x.reshape(32, 32).T,
        lambda x: x.reshape(32, 32)[:, 3:7],
        lambda x: cp.broadcast_to(x[:8, None], (8, 100)),
        lambda x: x[:1],
        lambda x: x.reshape(4, 16, 16).transpose(1, 0, 2),
    ],
    ids=[
        "whole",
        "shifted",
        "every second",
        "backwards",
        "every eighth",
        "transposed",
        "columns",
        "stretched",
        "one",
        "three axes",
    ],
)
@pytest.mark.parametrize("dtype", [cp.int8, cp.float32, cp.complex128])
def test_sectors_and_lines_are_those_of_each_warp(view, dtype):
    x = view(cp.zeros(1024, dtype))
    (launch,) = recorded(lambda: cp.positive(x)).launches
    places = [x.data.ptr + sum(map(int.__mul__, index, x.strides)) for index in np.ndindex(x.shape)]
    out = [512 * 10**6 + number * x.itemsize for number in range(x.size)]
    assert launch.counts.sectors == brute_force(places, 5) + brute_force(out, 5)
    assert launch.counts.lines == brute_force(places, 7) + brute_force(out, 7)


def test_an_operand_that_is_stretched_is_loaded_by_every_thread():
    x, row = cp.ones((64, 32), dtype=cp.float32), cp.ones(32, dtype=cp.float32)
    (launch,) = recorded(lambda: x + row).launches
    assert launch.counts.bytes_loaded == 2 * x.nbytes


def test_a_number_of_python_loads_nothing():
    x = cp.ones(100)
    assert recorded(lambda: x * 2).bytes_loaded == 800


def test_uploads_and_downloads_are_counted_with_their_bytes():
    x, values = cp.zeros(100), np.zeros(50, dtype=np.float32)
    transfers = recorded(lambda: (cp.asarray(values), cp.asarray(values, float), x.get(), cp.asnumpy(x))).transfers
    assert (transfers.uploads, transfers.bytes_uploaded) == (2, 200 + 400)
    assert (transfers.downloads, transfers.bytes_downloaded) == (2, 1600)
    assert transfers.synchronizations == 2


@pytest.mark.parametrize(
    "look",
    [float, int, bool, lambda x: x.item(), lambda x: f"{x:.1f}", repr, lambda x: 1 if x > 1 else 0, cp.ndarray.tolist],
)
def test_looking_at_one_number_fetches_it_and_waits(look):
    total = cp.ones(4).sum()
    transfers = recorded(lambda: look(total)).transfers
    assert (transfers.downloads, transfers.synchronizations) == (1, 1)


def test_questions_about_an_array_fetch_nothing():
    x = cp.ones((2, 3))
    counters = recorded(lambda: (x.shape, x.dtype, len(x), x.flags.c_contiguous, x.T, x[0], x.reshape(6), x.sum()))
    assert counters.transfers.downloads == counters.transfers.synchronizations == 0
    assert names(counters) == ["cupy_sum"]


@pytest.mark.parametrize(
    "work, waits",
    [
        (lambda x: x[x > 0], 1),
        (lambda x: cp.nonzero(x), 1),
        (lambda x: cp.unique(x), 1),
        (lambda x: cp.where(x > 0), 1),
        (lambda x: cp.where(x > 0, x, 0), 0),
        (lambda x: x[[0, 1]], 0),
        (lambda x: cp.count_nonzero(x), 0),
        (lambda x: cp.argmax(x), 0),
        (lambda x: cp.sort(x), 0),
        (lambda x: cp.allclose(x, x), 0),
        (lambda x: cp.bincount(x.astype(int)), 2),
        (lambda x: list(map(float, x)), 8),
    ],
)
def test_the_host_waits_where_it_must_know_an_element(work, waits):
    x = cp.ones(8)
    assert recorded(lambda: work(x)).transfers.synchronizations == waits


def test_an_assignment_of_a_whole_array_copies_without_a_kernel():
    x, y = cp.zeros(10), cp.ones(10)
    counters = recorded(lambda: x.__setitem__(slice(None), y))
    assert names(counters) == [] and counters.transfers.bytes_copied == 80
    counters = recorded(lambda: x[::2].__setitem__(slice(None), y[::2]))
    assert names(counters) == ["cupy_copy"] and counters.transfers.copies == 0


def test_zeros_are_set_without_a_kernel_and_ones_are_not():
    assert names(recorded(lambda: cp.zeros(4))) == []
    assert names(recorded(lambda: cp.ones(4))) == ["cupy_fill"]


def test_filling_with_a_number_of_the_device_fetches_it():
    x, one = cp.zeros(4), cp.array(1)
    counters = recorded(lambda: x.fill(one))
    assert x.tolist() == [1] * 4 and counters.transfers.downloads == 1
    assert names(counters) == ["cupy_copy", "cupy_equal", "cupy_fill"]


def test_picked_elements_are_counted_where_they_lie():
    x, far, near = cp.zeros(4096, dtype=cp.float32), cp.arange(0, 4096, 128), cp.arange(32)
    sectors = [recorded(lambda: x[where]).sectors for where in (far, near)]
    assert sectors[0] - sectors[1] == 32 - 4  # 32 sectors of 32 elements, or 4 of 8 each


def test_atomic_updates_count_as_such():
    bins, where, ones = cp.zeros(16, dtype=cp.int32), cp.arange(64) % 16, cp.ones(64, dtype=cp.int32)
    counters = recorded(lambda: cp.add.at(bins, where, ones))
    assert counters.bytes_atomic == 64 * 4 and counters.bytes_stored == 0
    assert bins.tolist() == [4] * 16


def test_a_library_s_functions_are_listed_by_name():
    a = cp.eye(8)
    counters = recorded(lambda: (a @ a, cp.dot(a, a), cp.linalg.inv(a), cp.fft.fft(a), cp.sort(a), cp.random.rand(3)))
    assert counters.library_operations == [
        "cupy.matmul",
        "cupy.dot",
        "cupy.linalg.inv",
        "cupy.fft.fft",
        "cupy.sort",
        "cupy.random.rand",
    ]
    assert "cupy_copy" in names(counters) and len(counters.launches) == 1  # sort copies first


def test_views_are_on_no_record():
    x = cp.zeros((4, 6))
    counters = recorded(lambda: (cp.flip(x), cp.moveaxis(x, 0, 1), cp.array_split(x, 2), cp.atleast_3d(x), x.T[1:]))
    assert not counters.launches and not counters.library_operations


def test_a_kernel_s_raw_accesses_are_counted_one_by_one():
    gather = cp.ElementwiseKernel("raw float32 x, int32 where", "float32 y", "y = x[where] + x[i]", "gather")
    x, where = cp.zeros(64, dtype=cp.float32), cp.full(64, 5, dtype=cp.int32)
    (launch,) = recorded(lambda: gather(x, where)).launches
    assert (launch.kernel, launch.grid) == ("gather", (1,))
    assert launch.counts.bytes_loaded == 3 * 256 and launch.counts.bytes_stored == 256
    assert launch.counts.sectors == 8 + 2 + 8 + 8  # where, x[where] once for each warp, x[i], y


def test_threads_that_store_nothing_do_not_count():
    clip = cp.ElementwiseKernel("float32 x", "float32 y", "if (i < 16) y = x;", "some")
    out = cp.zeros(64, dtype=cp.float32)
    (launch,) = recorded(lambda: clip(cp.ones(64, dtype=cp.float32), out)).launches[-1:]
    assert launch.counts.bytes_stored == 64 and out.get().sum() == 16


def test_a_block_size_of_its_own_gives_another_grid():
    same = cp.ElementwiseKernel("T x", "T y", "y = x", "same")
    assert recorded(lambda: same(cp.zeros(1000), block_size=256)).launches[-1].grid == (4,)


def test_a_reduction_kernel_is_one_launch():
    total = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    x = cp.ones((10, 100), dtype=cp.float32)
    (launch,) = recorded(lambda: total(x, axis=1)).launches
    assert (launch.kernel, launch.counts.bytes_loaded, launch.counts.bytes_stored) == ("total", 4000, 40)


def test_nothing_is_counted_outside_a_recording():
    x = cp.ones(4)
    with record() as counters:
        pass
    float((x + x).sum())
    assert not counters.launches and counters.transfers.downloads == 0
