"""The lesson again, as checks: this machine, strides, places, free views, broadcasts, ranges, work.

PyTorch is imported only where a test compares with it: where it is broken, task 0 has to say so.
"""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from tools.check import Mismatch, assert_matches
from tools.check.terms import terms
from tools.doctor import checks, machine, packages
from week1.day0 import ready_check as lesson

ORDERS = list(itertools.permutations(range(3)))
MEMORY = np.arange(60)  # every element holds its own place in memory


def always(value):
    """An oracle for one call, whose right answer is known."""
    return lambda *args: value


# Task 0: what is real here, and what is simulated -------------------------------------------------

@pytest.fixture
def ready(record_property):
    """ready(check) fails with the remedy where `check` finds a problem, and never for want of a GPU."""
    def examine(check):
        finding = check(machine.facts())
        record_property(finding.name, f"{finding.state}: {finding.found}")
        if finding.state == "problem":
            raise Mismatch(finding.text, cause=finding.name)
    return examine


@pytest.mark.task(0)
def test_python_and_the_packages_are_new_enough(ready):
    ready(checks.check_python)
    ready(packages.check_imported)


@pytest.mark.task(0)
def test_numpy_and_pytorch_add_right(ready):
    ready(checks.check_numpy)
    ready(checks.check_torch)


@pytest.mark.task(0)
def test_triton_adds_right_wherever_it_can_be_installed(ready):
    ready(checks.check_triton)


@pytest.mark.task(0)
def test_kernels_find_room_on_the_disk_and_perhaps_a_compiler(ready):
    ready(checks.check_disk)
    ready(checks.check_compilers)


@pytest.mark.task(0)
def test_a_gpu_and_its_libraries_work_or_are_simulated(ready):
    ready(checks.check_card)
    ready(checks.check_cupy)
    ready(checks.check_numba)


@pytest.mark.task(0)
@pytest.mark.gpu
def test_the_driver_serves_what_the_libraries_were_built_for(ready):
    """Skipped without a GPU. A skip says what is missing, and never counts against you."""
    ready(checks.check_driver)


# Task 1: the rule of a fresh array, and of its axes reordered -------------------------------------

def strides_of(array: np.ndarray) -> tuple[int, ...]:
    """NumPy's strides in elements; NumPy itself counts bytes."""
    return tuple(step // array.itemsize for step in array.strides)


def fresh(shape):
    return strides_of(np.empty(shape))


def strided(strides):
    """A view with these strides, of which nobody reads an element."""
    return np.lib.stride_tricks.as_strided(MEMORY, (99,) * len(strides), [step * MEMORY.itemsize for step in strides])


def permuted(strides, order):
    return strides_of(strided(strides).transpose(order))


def sliced(strides, steps):
    return strides_of(strided(strides)[tuple(slice(None, None, step) for step in steps)])


@pytest.mark.task(1)
def test_a_step_down_jumps_a_row_and_a_step_right_jumps_one():
    assert_matches(lesson.contiguous_strides, (2, 3), oracle=fresh)


@pytest.mark.task(1)
def test_strides_of_a_fresh_array_are_those_numpy_gives_it(rng):
    for rank in (1, 2, 3, 4):
        shape = tuple(rng.permutation([2, 3, 4, 5, 6])[:rank].tolist())
        assert_matches(lesson.contiguous_strides, shape, oracle=fresh)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("shape", [(), (1,), (4, 1), (1, 4), (3, 1, 2)])
def test_strides_of_a_single_number_and_of_axes_of_size_one(shape):
    assert_matches(lesson.contiguous_strides, shape, oracle=fresh)


@pytest.mark.task(1)
@pytest.mark.parametrize("order", ORDERS)
def test_permuting_reorders_strides_just_as_it_reorders_the_shape(order):
    assert_matches(lesson.permuted_strides, (12, 4, 1), order, oracle=permuted)


@pytest.mark.task(1)
@pytest.mark.parametrize("steps", [(2, 3), (1, 2), (1, 1), (-1, 2), (3, -2)])
def test_a_slice_takes_longer_steps_through_the_same_memory(steps):
    """A step of -1 walks backwards."""
    assert_matches(lesson.sliced_strides, (10, 1), steps, oracle=sliced)


# Task 2: from an index to a place in memory -------------------------------------------------------

VIEWS = {
    "fresh": MEMORY[:6].reshape(2, 3),
    "transpose": MEMORY[:6].reshape(2, 3).T,
    "three axes": MEMORY.reshape(3, 4, 5),
    "the last dozen": MEMORY[48:].reshape(3, 4),
    "every other column from the second": MEMORY.reshape(6, 10)[:, 1::2],
    "upside down": MEMORY[:12].reshape(4, 3)[::-1],
    "one row three times": np.broadcast_to(MEMORY[20:24], (3, 4)),
    "a single number": MEMORY[7:8].reshape(()),
}


def backwards(shape):
    """Every index, the last one first: it is far from 0 along each axis, so that no step is mistaken for another."""
    return list(np.ndindex(shape))[::-1]


def place(index, strides, offset=0):
    steps = {f"axis_{axis}": int(np.multiply(step, stride)) for axis, (step, stride) in enumerate(zip(index, strides))}
    return terms(offset=offset, **steps)


@pytest.mark.task(2)
@pytest.mark.parametrize("view", ["fresh", "transpose", "three axes"])
def test_index_times_strides_is_a_place_in_memory(view):
    array = VIEWS[view]
    for index in backwards(array.shape):
        assert_matches(lesson.flat_index, index, strides_of(array), oracle=place)
        assert MEMORY[lesson.flat_index(index, strides_of(array))] == array[index]


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_its_place_to_start_from(view):
    """Strides may be negative or 0, and there may be none at all."""
    array = VIEWS[view]
    start = int(array[(0,) * array.ndim])
    for index in backwards(array.shape):
        assert_matches(lesson.flat_index, index, strides_of(array), start, oracle=place)
        assert MEMORY[lesson.flat_index(index, strides_of(array), start)] == array[index]


# Task 3: when does reshape copy? ------------------------------------------------------------------

@pytest.mark.task(3)
@pytest.mark.parametrize("shape, strides, merged", [
    ((2, 3), (3, 1), ((6, 1),)),                       # fresh: one even walk
    ((3, 2), (1, 3), ((3, 1), (2, 3))),                # its transpose: two
    ((2, 3, 4), (12, 4, 1), ((24, 1),)),
    ((4, 2, 3), (1, 12, 4), ((4, 1), (6, 4))),         # the last axis moved to the front
    ((6, 5), (10, 2), ((30, 2),)),                     # every other column: even, in steps of 2
    ((6, 4), (10, 2), ((6, 10), (4, 2))),              # the first four of them: not even
])  # fmt: skip
def test_axes_merge_where_an_outer_step_is_a_whole_inner_pass(shape, strides, merged):
    assert_matches(lesson.merged_axes, shape, strides, oracle=always(merged))


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("shape, strides, merged", [
    ((), (), ()),
    ((1, 1), (7, 7), ()),
    ((2, 1, 3), (3, 99, 1), ((6, 1),)),                # no step is ever made along an axis of size 1
    ((3, 4), (0, 1), ((3, 0), (4, 1))),                # one row, broadcast
    ((3, 4), (0, 0), ((12, 0),)),                      # one number, broadcast
])  # fmt: skip
def test_axes_of_size_one_are_left_out_and_stride_zero_is_a_stride(shape, strides, merged):
    assert_matches(lesson.merged_axes, shape, strides, oracle=always(merged))


def pytorch_views(shape, strides, new_shape) -> bool:
    """Does PyTorch make this view? It refuses where it would have to copy."""
    import torch
    try:
        torch.empty_strided(shape, strides).view(new_shape)
    except RuntimeError:
        return False
    return True


def shapes_of(n: int) -> list[tuple[int, ...]]:
    """Every shape of up to three axes, none of size 1, that holds n elements."""
    return [shape for rank in (1, 2, 3) for shape in itertools.product(range(2, n + 1), repeat=rank)
            if math.prod(shape) == n]


@pytest.mark.task(3)
def test_flattening_is_free_for_a_fresh_array_but_not_for_its_transpose():
    assert_matches(lesson.view_is_free, (2, 3), (3, 1), (6,), oracle=always(True))
    assert_matches(lesson.view_is_free, (3, 2), (1, 3), (6,), oracle=always(False))


@pytest.mark.task(3)
@pytest.mark.parametrize("order", ORDERS)
def test_view_is_free_where_pytorch_makes_it(order):
    table = np.empty((2, 4, 6)).transpose(order)
    for new_shape in shapes_of(48):
        assert_matches(lesson.view_is_free, table.shape, strides_of(table), new_shape, oracle=pytorch_views)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("shape, strides, new_shape", [
    ((), (), (1, 1)),
    ((1, 1), (1, 1), ()),
    ((3, 1, 2), (1, 3, 3), (3, 2, 1)),                 # 1s may come and go
    ((3, 1, 2), (1, 3, 3), (1, 6)),
    ((3, 4), (0, 1), (12,)),                           # a broadcast row cannot be flattened
    ((3, 4), (0, 1), (3, 2, 2)),
    ((3, 4), (0, 0), (2, 6)),
    ((2, 0, 3), (1, 6, 2), (0, 5)),                    # no elements, nothing to copy
])  # fmt: skip
def test_view_of_single_numbers_broadcast_rows_and_no_elements(shape, strides, new_shape):
    assert_matches(lesson.view_is_free, shape, strides, new_shape, oracle=pytorch_views)


@pytest.mark.task(1, 3)
def test_predict_then_reshape_and_see_whether_numpy_copied(rng):
    """Your strides, your verdict, then the fact: do the old and the new array share memory?"""
    for _ in range(40):
        shape = tuple(rng.permutation([2, 3, 4]).tolist())
        order = tuple(rng.permutation(3).tolist())
        new_shape = tuple(rng.permutation([2, 2, 6]).tolist())
        array = np.empty(shape).transpose(order)
        strides = lesson.permuted_strides(lesson.contiguous_strides(shape), order)
        shared = np.shares_memory(array, array.reshape(new_shape))
        assert_matches(lesson.view_is_free, array.shape, strides, new_shape, oracle=always(shared))


# Task 4: align, stretch, or refuse ----------------------------------------------------------------

@pytest.mark.task(4)
def test_a_row_stretches_over_a_table():
    assert_matches(lesson.broadcast_shape, (2, 3), (3,), oracle=np.broadcast_shapes)


@pytest.mark.task(4)
@pytest.mark.parametrize("a, b", [
    ((2, 3), (2, 3)),
    ((3,), (2, 3)),
    ((2, 1), (2, 3)),
    ((2, 1), (1, 3)),                                  # a column and a row make a table
    ((5, 1, 4), (3, 1)),
    ((7, 1, 1, 2), (3, 1, 2)),
])  # fmt: skip
def test_axes_of_size_one_stretch_on_either_side(a, b):
    assert_matches(lesson.broadcast_shape, a, b, oracle=np.broadcast_shapes)


@pytest.mark.task(4)
@pytest.mark.parametrize("a, b", [((3,), (4,)), ((2, 3), (2,)), ((2, 3), (2, 4)), ((4, 1, 3), (2, 3, 3, 3))], ids=str)
def test_shapes_that_do_not_fit_are_refused_by_name(a, b):
    with pytest.raises(ValueError) as refusal:
        lesson.broadcast_shape(a, b)
    message = str(refusal.value)
    assert str(a) in message and str(b) in message


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("a, b", [((), ()), ((), (2, 3)), ((1,), (0,)), ((0, 1), (1, 5)), ((2, 1), (0,))])
def test_single_numbers_stretch_and_so_do_arrays_of_no_elements(a, b):
    """An axis of size 1 stretches to any size, and 0 is a size."""
    assert_matches(lesson.broadcast_shape, a, b, oracle=np.broadcast_shapes)


# Task 5: what fits into a dtype -------------------------------------------------------------------

def largest(exponent_bits, mantissa_bits):
    """The largest code but one, less the bias, is the bias again. Each mantissa bit is worth half the one before."""
    one = 2.0 ** (2 ** (exponent_bits - 1) - 1)
    return terms(the_1_before_the_mantissa=one, mantissa=sum(one / 2 ** (bit + 1) for bit in range(mantissa_bits)))


@pytest.mark.task(5)
def test_float16_ends_at_65504():
    assert_matches(lesson.largest_finite, 5, 10, oracle=largest, exact=True)


@pytest.mark.task(5)
@pytest.mark.parametrize("dtype, bits", [("bfloat16", (8, 7)), ("float32", (8, 23)), ("float8_e5m2", (5, 2))])
def test_largest_value_is_the_one_pytorch_knows(dtype, bits):
    import torch
    assert_matches(lesson.largest_finite, *bits, oracle=largest, exact=True)
    assert lesson.largest_finite(*bits) == torch.finfo(getattr(torch, dtype)).max


@pytest.mark.task(5)
@pytest.mark.edge
def test_float64_is_worked_out_in_float64_without_overflow():
    assert_matches(lesson.largest_finite, 11, 52, oracle=largest, exact=True)
    assert lesson.largest_finite(11, 52) == np.finfo(np.float64).max


def first_and_last(bits, signed):
    """Of all codes in order: half of them are negative, or none."""
    codes = 2**bits
    return (-(codes // 2), codes // 2 - 1) if signed else (0, codes - 1)


@pytest.mark.task(5)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_signed_integers_reach_one_further_down_than_up(dtype):
    known, signed = np.iinfo(dtype), dtype.startswith("int")
    assert_matches(lesson.integer_range, known.bits, signed, oracle=first_and_last)
    assert lesson.integer_range(known.bits, signed) == (known.min, known.max)


@pytest.mark.task(5)
@pytest.mark.edge
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_64_bits_are_exact_to_the_last_digit(dtype):
    """A float64 has 53 significant bits: it rounds 2**63 - 1."""
    known, signed = np.iinfo(dtype), dtype.startswith("int")
    assert_matches(lesson.integer_range, 64, signed, oracle=first_and_last)
    assert lesson.integer_range(64, signed) == (known.min, known.max)


# Task 6: predict the work, then count it ----------------------------------------------------------

class Counted:
    """A number that counts what is done with it, and holds no value."""

    def __init__(self):
        self.flops = Counter()

    def __add__(self, other):
        self.flops["additions"] += 1
        return self

    def __sub__(self, other):
        self.flops["subtractions"] += 1
        return self

    def __mul__(self, other):
        self.flops["products"] += 1
        return self


def dot(n):
    total = number = Counted()
    for _ in range(n):
        total = total + number * number
    return terms(**number.flops)


def distances(m, n, d):
    number = Counted()
    for _ in itertools.product(range(m), range(n)):
        total = number
        for _ in range(d):
            difference = number - number
            total = total + difference * difference
    return terms(**number.flops)


@pytest.mark.task(6)
@pytest.mark.parametrize("n", [10, 1, 1000])
def test_dot_product_costs_what_you_predicted(n):
    assert_matches(lesson.dot_flops, n, oracle=dot)


@pytest.mark.task(6)
@pytest.mark.parametrize("m, n, d", [(2, 3, 5), (1, 1, 1), (7, 1, 2)])
def test_distances_cost_what_you_predicted(m, n, d):
    assert_matches(lesson.distances_flops, m, n, d, oracle=distances)


@pytest.mark.task(6)
@pytest.mark.edge
def test_no_elements_cost_nothing():
    assert_matches(lesson.dot_flops, 0, oracle=dot)
    assert_matches(lesson.distances_flops, 4, 0, 2, oracle=distances)
