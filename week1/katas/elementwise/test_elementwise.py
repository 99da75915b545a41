"""The lesson again, as checks: three operations by threads, the same by programs, and two of them in one launch."""

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, speed_ratio, terms
from tools.check.inputs import awkward_lengths, vectors
from tools.gpu import device
from week1.katas.elementwise import elementwise as lesson

INF, NAN = float("inf"), float("nan")
LESSON = [-2.0, 3.0, NAN, -INF, 5.0, -7.0]  # x of the lesson
CUDA = [lesson.cuda_scale, lesson.cuda_relu, lesson.cuda_saxpy]
TRITON = [lesson.triton_scale, lesson.triton_relu, lesson.triton_saxpy]

pytestmark = pytest.mark.filterwarnings("ignore:Grid size")  # Numba's advice to start more blocks


def scaled(a, x):
    return a * x


def relu(x):
    return torch.relu(x)


def saxpy(a, x, y):
    return a * x + y


def sum_and_relu(a, x, y):
    return torch.relu(a * x + y)


ORACLES = dict(zip(CUDA + TRITON, 2 * [scaled, relu, saxpy]))


def arguments(function, rng, n, dtype=torch.float32):
    """What the function takes: a factor that is no power of two, and one vector or two."""
    x, y = (vector.to(dtype) for vector in vectors(rng, n))
    return {scaled: (0.7, x), relu: (x,), saxpy: (0.7, x, y)}[ORACLES[function]]


def tensor(values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, device=device)


def each(functions):
    return pytest.mark.parametrize("function", functions, ids=lambda function: function.__name__)


def widths(function, *args):
    """Bytes that a thread moves with one instruction, in all loads and the store."""
    return {access.width for access in compiled(function, *args, chip="h100").kernels[0].accesses}


def moved(function, *args):
    counters = count(function, *args)
    return counters.bytes, counters.sectors


# Task 1: one thread, one element ------------------------------------------------------------------

@pytest.mark.task(1)
def test_threads_scale_four_elements():
    assert_matches(lesson.cuda_scale, 2.0, tensor([1.0, -2.0, 3.0, 4.0]), oracle=scaled, exact=True)


@pytest.mark.task(1)
def test_threads_put_zeros_for_what_is_negative():
    assert_matches(lesson.cuda_relu, tensor([-2.0, 3.0, 0.5, -0.1]), oracle=relu, exact=True)


@pytest.mark.task(1)
def test_threads_add_a_multiple_of_x_to_y():
    x, y = tensor([1.0, 2.0, 3.0, 4.0]), tensor([10.0, 20.0, 30.0, 40.0])
    assert_matches(lesson.cuda_saxpy, -2.0, x, y, oracle=saxpy, exact=True)


@pytest.mark.task(1)
@pytest.mark.edge
@each(CUDA)
@pytest.mark.parametrize("n", awkward_lengths(block=256))  # 0, 1, 255, 256, 257, 521
def test_threads_take_any_length_and_touch_nothing_else(function, n, rng):
    assert_matches(function, *arguments(function, rng, n), oracle=ORACLES[function])


@pytest.mark.task(1)
@pytest.mark.edge
@each(CUDA)
def test_threads_keep_float16(function, rng):
    """A product is rounded once, at the store; a sum may be rounded before, or not."""
    oracle = ORACLES[function]
    assert_matches(function, *arguments(function, rng, 1000, torch.float16), oracle=oracle, exact=oracle is not saxpy)


@pytest.mark.task(1)
@pytest.mark.nonfinite
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_threads_pass_the_nan_of_the_lesson_on(dtype):
    assert_matches(lesson.cuda_relu, tensor([*LESSON, INF], dtype), oracle=relu)
    assert_matches(lesson.cuda_scale, -2.0, tensor(LESSON, dtype), oracle=scaled)
    assert_matches(lesson.cuda_saxpy, 2.0, tensor(LESSON, dtype), tensor([1.0, INF, 1.0, INF, NAN, -INF], dtype),
                   oracle=saxpy)


@pytest.mark.task(1)
@pytest.mark.edge
def test_threads_may_write_over_what_they_read(rng):
    x, = arguments(lesson.cuda_relu, rng, 300)
    wanted = torch.relu(x).tolist()
    lesson.cuda_relu(x, out=x)
    assert x.tolist() == wanted


@pytest.mark.task(1)
@pytest.mark.counters
@each(CUDA)
def test_threads_load_each_input_once_and_store_once(function, rng):
    """Each warp asks once for each array, for four sectors of 32 bytes."""
    args = arguments(function, rng, 4096)
    counters = count(function, *args)
    arrays = 1 + sum(isinstance(arg, torch.Tensor) for arg in args)
    assert counters.library_operations == []
    assert (counters.bytes, counters.sectors) == (arrays * 4 * 4096, arrays * 4 * 4096 / 32)
    assert counters.requests == arrays * 4096 / 32


@pytest.mark.task(1)
@pytest.mark.counters
def test_no_warp_parts_at_the_sign_of_its_elements(rng):
    """Both cases end in the same store: a choice between two values is no fork."""
    counters = count(lesson.cuda_relu, *arguments(lesson.cuda_relu, rng, 4096))
    assert counters.divergent_branches == 0


@pytest.mark.task(1)
@pytest.mark.compiled
@each(CUDA)
def test_no_instruction_of_a_thread_computes_in_float64(function, rng):
    kernel = compiled(function, *arguments(function, rng, 4096), chip="h100").kernels[0]
    assert [name for name in kernel.instructions if "f64" in name] == []


@pytest.mark.task(1)
@pytest.mark.counters
@each([lesson.cuda_scale, lesson.cuda_saxpy])
def test_no_product_or_sum_of_a_thread_leaves_float32(function, rng):
    """The same, by the types of the kernel: without a compiler too."""
    counters = count(function, *arguments(function, rng, 4096))
    assert counters.float64 == 0
    assert counters.conversions == 0


# Task 2: one program, a block of elements ---------------------------------------------------------

@pytest.mark.task(2)
def test_a_program_scales_four_elements():
    assert_matches(lesson.triton_scale, 2.0, tensor([1.0, -2.0, 3.0, 4.0]), oracle=scaled, exact=True)


@pytest.mark.task(2)
def test_a_program_puts_zeros_for_what_is_negative():
    assert_matches(lesson.triton_relu, tensor([-2.0, 3.0, 0.5, -0.1]), oracle=relu, exact=True)


@pytest.mark.task(2)
def test_a_program_adds_a_multiple_of_x_to_y():
    x, y = tensor([1.0, 2.0, 3.0, 4.0]), tensor([10.0, 20.0, 30.0, 40.0])
    assert_matches(lesson.triton_saxpy, -2.0, x, y, oracle=saxpy, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
@each(TRITON)
@pytest.mark.parametrize("n", awkward_lengths(block=1024))  # 0, 1, 1023, 1024, 1025, 2053
def test_programs_take_any_length_and_touch_nothing_else(function, n, rng):
    assert_matches(function, *arguments(function, rng, n), oracle=ORACLES[function])


@pytest.mark.task(2)
@pytest.mark.edge
@each(TRITON)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_programs_keep_float16_and_bfloat16(function, dtype, rng):
    oracle = ORACLES[function]
    assert_matches(function, *arguments(function, rng, 1000, dtype), oracle=oracle, exact=oracle is not saxpy)


@pytest.mark.task(2)
@pytest.mark.nonfinite
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_programs_pass_the_nan_of_the_lesson_on(dtype):
    """And what is large in float16 stays finite: twice 40000 would not."""
    assert_matches(lesson.triton_relu, tensor([*LESSON, 40_000.0, INF], dtype), oracle=relu)
    assert_matches(lesson.triton_scale, -2.0, tensor(LESSON, dtype), oracle=scaled)
    assert_matches(lesson.triton_saxpy, 2.0, tensor(LESSON, dtype), tensor([1.0, INF, 1.0, INF, NAN, -INF], dtype),
                   oracle=saxpy)


@pytest.mark.task(2)
@pytest.mark.edge
def test_programs_may_write_over_what_they_read(rng):
    x, = arguments(lesson.triton_relu, rng, 1100)
    wanted = torch.relu(x).tolist()
    lesson.triton_relu(x, out=x)
    assert x.tolist() == wanted


@pytest.mark.task(1, 2)
@pytest.mark.counters
@pytest.mark.parametrize("cuda, triton", list(zip(CUDA, TRITON)), ids=["scale", "relu", "saxpy"])
@pytest.mark.parametrize("n", [4096, 1000])
def test_programs_move_the_same_bytes_and_sectors_as_threads(cuda, triton, n, rng):
    bytes_of_threads, sectors_of_threads = moved(cuda, *arguments(cuda, rng, n))
    counters = count(triton, *arguments(triton, rng, n))
    assert counters.library_operations == []
    assert counters.bytes == bytes_of_threads
    assert counters.sectors == sectors_of_threads


@pytest.mark.task(1, 2)
@pytest.mark.compiled
def test_a_thread_of_triton_moves_four_elements_at_a_time_and_one_of_cuda_its_own(rng):
    args = arguments(lesson.cuda_saxpy, rng, 4096)
    assert widths(lesson.cuda_saxpy, *args) == {4}
    assert widths(lesson.triton_saxpy, *args) == {16}


@pytest.mark.task(2)
@pytest.mark.counters
@each(TRITON)
def test_no_program_leaves_float32(function, rng):
    counters = count(function, *arguments(function, rng, 4096))
    assert counters.float64 == 0
    assert counters.conversions == 0


# Task 3: two operations in one launch -------------------------------------------------------------

@pytest.mark.task(3)
def test_fused_adds_before_it_looks_at_the_sign():
    x, y = tensor([1.0, -2.0, 3.0, -4.0]), tensor([-10.0, 20.0, 30.0, -40.0])
    assert_matches(lesson.fused, 2.0, x, y, oracle=sum_and_relu, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n", awkward_lengths(block=1024))  # 0, 1, 1023, 1024, 1025, 2053
def test_fused_takes_any_length_and_touches_nothing_else(n, rng):
    assert_matches(lesson.fused, 0.7, *vectors(rng, n), oracle=sum_and_relu)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_fused_keeps_float16_and_bfloat16(dtype, rng):
    x, y = (vector.to(dtype) for vector in vectors(rng, 1000))
    assert_matches(lesson.fused, 0.7, x, y, oracle=sum_and_relu)


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_fused_passes_nan_on_from_any_input():
    x, y = tensor(LESSON), tensor([NAN, 1.0, 1.0, INF, -INF, NAN])
    assert_matches(lesson.fused, 2.0, x, y, oracle=sum_and_relu)


@pytest.mark.task(3)
@pytest.mark.counters
def test_fused_is_one_launch_of_your_kernel(rng):
    counters = count(lesson.fused, 0.7, *vectors(rng, 4096))
    assert [launch.kernel for launch in counters.launches] == ["fused_kernel"]
    assert counters.programs == 4
    assert counters.library_operations == []


@pytest.mark.task(3)
@pytest.mark.counters
def test_fused_loads_two_arrays_and_stores_one(rng):
    counters = count(lesson.fused, 0.7, *vectors(rng, 4096))
    assert counters.bytes == 3 * 4 * 4096
    assert counters.float64 == 0
    assert counters.conversions == 0


@pytest.mark.task(2, 3)
@pytest.mark.counters
@pytest.mark.parametrize("n, itemsize", [(4096, 4), (1000, 2)])
def test_predicts_the_bytes_that_both_move(n, itemsize):
    def counted(n, itemsize):
        x = torch.ones(n, dtype=torch.float16 if itemsize == 2 else torch.float32, device=device)
        wider = itemsize / x.element_size()
        saxpy, relu, both = (int(each.counts.bytes * wider) for function in (lesson.unfused, lesson.fused)
                             for each in count(function, 0.7, x, x).launches)
        return terms(saxpy=saxpy, relu=relu), both

    assert_matches(lesson.predict_bytes, n, itemsize, oracle=counted)


@pytest.mark.task(3)
@pytest.mark.gpu
@pytest.mark.speed
def test_one_launch_is_faster_than_two(rng):
    """Three arrays move, and not five: five thirds at the most."""
    x, y = (vector.repeat(64) for vector in vectors(rng, 2**20))
    assert speed_ratio(lesson.fused, lesson.unfused, 0.7, x, y) >= 1.4


# What it is for: the edges of a picture -----------------------------------------------------------

@pytest.mark.task(1, 2, 3)
def test_all_find_where_a_picture_becomes_brighter(rng):
    """A bright square on noise. Each pixel less its left neighbour, and only where that is positive: one edge stays."""
    image = rng.normal(100, 1, (48, 64)).astype(np.float32)
    image[10:30, 20:50] += 100
    pixel, left = (torch.tensor(part.ravel(), device=device) for part in (image[:, 1:], image[:, :-1]))
    by_threads = lesson.cuda_relu(lesson.cuda_saxpy(-1.0, left, pixel))
    by_programs = lesson.unfused(-1.0, left, pixel)
    in_one_launch = lesson.fused(-1.0, left, pixel)
    for edges in (by_threads, by_programs, in_one_launch):
        rows, cols = np.nonzero(edges.cpu().numpy().reshape(48, 63) > 50)
        assert (set(rows.tolist()), set(cols.tolist())) == (set(range(10, 30)), {19})
