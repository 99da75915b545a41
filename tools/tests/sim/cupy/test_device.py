"""The device: its memory pool, streams, events, properties; random numbers and the other small modules."""

import gc

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim import host
from tools.sim.faults import Fault


@pytest.fixture
def pool():
    gc.collect()
    return cp.cuda.MemoryPool()


def test_requests_are_rounded_up_to_512_bytes(pool):
    held = [pool.malloc(size) for size in (1, 512, 513)]
    assert pool.used_bytes() == pool.total_bytes() == 512 + 512 + 1024
    assert all(pointer.ptr % 512 == 0 for pointer in held)


def test_what_came_back_is_used_again(pool):
    first = pool.malloc(4096)
    address = first.ptr
    del first
    assert (pool.used_bytes(), pool.free_bytes(), pool.n_free_blocks()) == (0, 4096, 1)
    second = pool.malloc(4000)
    assert second.ptr == address and pool.total_bytes() == 4096


def test_a_smaller_request_splits_a_free_block_and_neighbours_join_again(pool):
    whole = pool.malloc(4096)
    del whole
    parts = [pool.malloc(1024) for _ in range(4)]
    assert pool.total_bytes() == 4096 and pool.n_free_blocks() == 0
    del parts[1], parts[1]
    assert pool.n_free_blocks() == 1 and pool.malloc(2048).ptr
    parts.clear()
    assert pool.n_free_blocks() == 1


def test_memory_may_come_back_at_any_moment(pool, garbage):
    """Also in the middle of what the pool does."""
    for size in range(512, 16384, 512):
        garbage.extend([pool.malloc(512 + size % 2048) for _ in range(60)][::2])
        pool.malloc(size)
    garbage.clear()
    assert pool.used_bytes() == 0 and pool.free_bytes() == pool.total_bytes()
    pool.free_all_blocks()
    assert pool.total_bytes() == pool.n_free_blocks() == 0


def test_the_smallest_block_that_fits_is_taken(pool):
    blocks = [pool.malloc(size) for size in (8192, 2048, 4096)]
    wanted = blocks[1].ptr
    blocks.clear()
    again = pool.malloc(1500)
    assert again.ptr == wanted


def test_free_all_blocks_keeps_what_is_in_use(pool):
    kept, gone = pool.malloc(512), pool.malloc(1024)
    del gone
    pool.free_all_blocks()
    assert pool.total_bytes() == pool.used_bytes() == 512 and kept.ptr


def test_a_limit_is_a_limit(pool):
    pool.set_limit(2048)
    held = pool.malloc(1024)
    with pytest.raises(MemoryError, match="1,536 bytes .allocated so far: 1,024 bytes, limit set to: 2,048") as caught:
        pool.malloc(1500)
    assert caught.type is cp.cuda.memory.OutOfMemoryError
    assert pool.malloc(1000).ptr and held.ptr and pool.get_limit() == 2048


def test_the_device_has_no_more_memory_than_it_has():
    _, total = cp.cuda.runtime.memGetInfo()
    with pytest.raises(MemoryError, match="Out of memory allocating"):
        cp.empty(total + 1, dtype=cp.int8)
    assert cp.empty(4).shape == (4,)


def test_arrays_come_from_the_pool_that_is_set(pool):
    with cp.cuda.using_allocator(pool.malloc):
        x = cp.zeros(1000)
    y = cp.zeros(1000)
    assert pool.used_bytes() == 8192 and x.shape == y.shape
    with pytest.raises(NotImplementedError, match="malloc of a MemoryPool"):
        cp.cuda.set_allocator(print)


def test_memory_info_follows_the_pool(pool):
    before, _ = cp.cuda.Device().mem_info
    held = pool.malloc(1 << 20)
    assert before - cp.cuda.Device().mem_info[0] == 1 << 20 and held.ptr


# Streams and events ------------------------------------------------------------------------------


def test_work_of_two_streams_overlaps_on_the_clock_and_an_event_puts_it_in_order():
    one, other = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    values = cp.cupyx.zeros_pinned(1 << 20)
    x, y = cp.zeros(1 << 20), cp.zeros(1 << 20)
    cp.cuda.Device().synchronize()
    with one:
        x.set(values)
        done = one.record()
    other.wait_event(done)
    with other:
        x += 1
    with cp.cuda.Stream.null:
        y += 1
    assert not done.done
    done.synchronize()
    assert done.done
    cp.cuda.Device().synchronize()


@pytest.mark.parametrize(
    "change",
    [
        lambda x: cp.add(x, 1, out=x),
        lambda x: x.fill(0),
        lambda x: x.sum(),
        lambda x: cp.take(cp.arange(9.0), cp.arange(1 << 20), out=x),
    ],
)
def test_work_on_memory_of_another_stream_without_an_event_is_refused(change):
    one, other = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    values, x = cp.cupyx.zeros_pinned(1 << 20), cp.zeros(1 << 20)
    cp.cuda.Device().synchronize()
    with one:
        x.set(values)
    with pytest.raises(Fault, match="race|another stream"), other:
        change(x)
    cp.cuda.Device().synchronize()


def test_an_asynchronous_download_is_there_after_the_stream_was_waited_for():
    stream, out, x = cp.cuda.Stream(), cp.cupyx.zeros_pinned(1000), cp.arange(1000.0)
    x.get(stream=stream, out=out, blocking=False)
    assert out[999] == 0
    stream.synchronize()
    assert out[999] == 999


def test_elapsed_time_is_the_device_s_and_repeats():
    def measure() -> float:
        x, begin, end = cp.zeros(1 << 20), cp.cuda.Event(), cp.cuda.Event()
        cp.cuda.Device().synchronize()
        begin.record()
        x += 1
        end.record()
        end.synchronize()
        return cp.cuda.get_elapsed_time(begin, end)

    moved = 2 * 8 * (1 << 20)
    assert measure() == pytest.approx(measure(), rel=1e-6)
    assert measure() >= 1e3 * moved / host.device().chip.bandwidth


def test_events_that_were_never_recorded_have_no_time():
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorInvalidResourceHandle"):
        cp.cuda.get_elapsed_time(cp.cuda.Event(), cp.cuda.Event())


def test_the_time_of_events_that_the_host_has_not_waited_for_is_not_ready():
    x, begin, end = cp.zeros(1 << 22), cp.cuda.Event(), cp.cuda.Event()
    begin.record()
    x += 1
    end.record()
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorNotReady"):
        cp.cuda.get_elapsed_time(begin, end)
    end.synchronize()


def test_streams_nest():
    one, other = cp.cuda.Stream(), cp.cuda.Stream()
    with one:
        with other:
            assert cp.cuda.get_current_stream() is other
        assert cp.cuda.get_current_stream() is one
    assert cp.cuda.get_current_stream() is cp.cuda.Stream.null


def test_benchmark_of_cupyx_gives_times_of_the_modelled_clock():
    x = cp.zeros(1 << 16)
    result = cp.cupyx.profiler.benchmark(lambda: x + 1, n_repeat=3)
    assert result.cpu_times.shape == (3,) and result.gpu_times.shape == (1, 3)
    assert (result.gpu_times > 0).all() and "GPU-0" in str(result)


# The rest ----------------------------------------------------------------------------------------


def test_properties_are_those_of_the_chip():
    properties, chip = cp.cuda.runtime.getDeviceProperties(0), host.device().chip
    assert properties["multiProcessorCount"] == chip.multiprocessors and properties["warpSize"] == 32
    assert cp.cuda.Device().compute_capability == str(chip.capability) == f"{properties['major']}{properties['minor']}"


def test_the_same_seed_draws_the_same_numbers():
    cp.random.seed(3)
    first = cp.random.standard_normal(5)
    cp.random.seed(3)
    assert first.tolist() == cp.random.standard_normal(5).tolist()
    one, other = cp.random.default_rng(3), cp.random.default_rng(3)
    assert one.random(4, dtype=cp.float32).tolist() == other.random(4, dtype=cp.float32).tolist()


@pytest.mark.parametrize(
    "draw, shape, dtype",
    [
        (lambda r: r.rand(2, 3), (2, 3), float),
        (lambda r: r.randn(4, dtype=cp.float32), (4,), np.float32),
        (lambda r: r.randint(0, 9, (2, 2)), (2, 2), int),
        (lambda r: r.uniform(-1, 1, size=5), (5,), float),
        (lambda r: r.normal(size=(3,), dtype=cp.float32), (3,), np.float32),
        (lambda r: r.random(3), (3,), float),
        (lambda r: r.permutation(6), (6,), int),
        (lambda r: r.choice(cp.arange(9), 4), (4,), int),
        (lambda r: r.poisson(3.0, size=2), (2,), int),
    ],
)
def test_random_numbers_have_the_shape_and_type_that_was_asked_for(draw, shape, dtype):
    drawn = draw(cp.random)
    assert isinstance(drawn, cp.ndarray) and drawn.shape == shape and drawn.dtype == dtype


def test_a_singular_matrix_gives_nan_without_a_word():
    assert np.isnan(cp.linalg.inv(cp.zeros((2, 2))).get()).all()


def test_assertions_of_cupy_testing_take_arrays_wherever_they_lie():
    cp.testing.assert_allclose(cp.arange(3) + 1e-9, np.arange(3), atol=1e-6)
    with pytest.raises(AssertionError, match="Mismatched elements: 1 / 3"):
        cp.testing.assert_array_equal(cp.arange(3), [0, 1, 9])


def test_an_unknown_device_is_refused():
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorInvalidDevice"):
        cp.cuda.Device(3).use()
