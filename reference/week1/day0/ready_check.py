"""Week 1, day 0: ready check

Challenge
    An array is a stretch of memory and a rule that says where each element lies in it. A kernel, the function
    that a GPU runs, works out that place by itself. Today you write the rule: strides, views, broadcasting,
    the limits of a dtype. If all of it comes easily, the quiz lets you begin further on.

        memory                0  1  2  3  4  5        six numbers, side by side

        shape   (2, 3)        0  1  2                 one row down is 3 elements further on,
        strides (3, 1)        3  4  5                 one column to the right is 1 further on

        shape   (3, 2)        0  3                    the transpose: the same memory,
        strides (1, 3)        1  4                    the two strides exchanged,
                              2  5                    no element moved

Explore
    ./course doctor                    lists what is real on this machine and what is simulated
    ./course quiz week1/day0           asks ten questions, then recommends a start and a pace
    Compare np.arange(6).reshape(2, 3).strides with torch.arange(6).reshape(2, 3).stride(): NumPy counts bytes,
    PyTorch counts elements. What does .T do to each of them?
    Some later days have a page with sliders: ./course week1/day3/explore_warps.py opens one. The first time it
    installs marimo, which shows it.

Concept
    Strides: the stride of an axis is how far one step along it leads in memory. Element [i, j] lies at
    offset + i * strides[0] + j * strides[1]. This course counts strides in elements. The step along an axis
    passes all that lies to its right: math.prod(sizes) multiplies sizes, and is 1 where there are none.
    Views: a view is another shape and other strides for the same memory, so it costs nothing to make. Permuting
    the axes permutes the strides. A slice with a step multiplies its stride.
    Merging: two neighbouring axes can be read as one where a step along the outer is as long as a whole pass
    along the inner: strides[0] == shape[1] * strides[1]. A reshape is a view if each of its new axes is cut out
    of one merged axis. Otherwise it copies, and a copy can cost more than the work around it.
    Broadcasting: two shapes are aligned at the last axis. An axis of size 1 is read again and again until it is
    as long as the other one. Sizes that differ, and are not 1, are an error.
    Floats: a float is 1.mantissa * 2**(code - bias), where bias = 2**(exponent_bits - 1) - 1. The largest code,
    all of its bits one, is kept for infinity and NaN.
    Flops: a flop is one addition, subtraction or multiplication of floats.

Code it
    Task 0  this machine: nothing to write, and no GPU needed; the tests ask the machine
    Task 1  contiguous_strides, permuted_strides, sliced_strides: a fresh array;
            its axes reordered; every second row of it                              (three lines)
    Task 2  flat_index: from an index to a place in memory                             (one line)
    Task 3  merged_axes, then view_is_free: does reshape copy?                     (thirteen lines)
    Task 4  broadcast_shape: align, stretch, or refuse                                 (nine lines)
    Task 5  largest_finite, integer_range: what fits into a dtype                      (five lines)
    Task 6  dot_flops, distances_flops: predict the work; the test counts it          (two lines)

Verify
    pytest week1/day0
    Reflect: x is contiguous, 4096 x 4096. x.T is free. What does x.T.reshape(-1) move, and why?
"""

import math


# Task 1
def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of a fresh row-major array of this shape: a step along the last axis is 1 long."""
    return tuple(math.prod(shape[axis + 1:]) for axis in range(len(shape)))


def permuted_strides(strides: tuple[int, ...], order: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of x with its axes reordered, where x has these strides: axis order[i] of x becomes axis i."""
    return tuple(strides[axis] for axis in order)


def sliced_strides(strides: tuple[int, ...], steps: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of x[::steps[0], ::steps[1], ...], where x has these strides."""
    return tuple(stride * step for stride, step in zip(strides, steps))


# Task 2
def flat_index(index: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> int:
    """Place in memory, in elements, of the element at this index; offset is the place of the very first one."""
    return offset + sum(step * stride for step, stride in zip(index, strides))


# Task 3
def merged_axes(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """The fewest (size, stride) pairs that walk the same elements in the same order.

    Neighbouring axes are merged wherever they can be, and axes of size 1 are left out. No size is 0.
    """
    merged = []
    for size, stride in zip(shape, strides):
        if size == 1:
            continue  # no step is ever made along it, so its stride says nothing
        if merged and merged[-1][1] == size * stride:
            merged[-1] = (merged[-1][0] * size, stride)
        else:
            merged.append((size, stride))
    return tuple(merged)


def view_is_free(shape: tuple[int, ...], strides: tuple[int, ...], new_shape: tuple[int, ...]) -> bool:
    """True if an array of this shape and these strides can be read as new_shape without a copy.

    new_shape holds as many elements as shape. An array of no elements has nothing to copy.
    """
    if 0 in shape:
        return True
    sizes = tuple(size for size, _ in merged_axes(shape, strides))
    # How many elements lie behind each meeting of two merged axes: new_shape needs an edge at each of them.
    return set(contiguous_strides(sizes)) <= set(contiguous_strides(new_shape))


# Task 4
def broadcast_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of x + y for x of shape a and y of shape b.

    Raises ValueError with both shapes in its message where they do not fit.
    """
    rank = max(len(a), len(b))
    wide_a = (1,) * (rank - len(a)) + a
    wide_b = (1,) * (rank - len(b)) + b
    shape = []
    for m, n in zip(wide_a, wide_b):
        if m != n and 1 not in (m, n):
            raise ValueError(f"shapes {a} and {b} do not fit together")
        shape.append(n if m == 1 else m)  # not max(m, n): 1 stretches to 0 as well
    return tuple(shape)


# Task 5
def largest_finite(exponent_bits: int, mantissa_bits: int) -> float:
    """Largest finite value of a float with these numbers of exponent bits and of stored mantissa bits.

    float16 has 5 and 10, bfloat16 8 and 7, float32 8 and 23, float64 11 and 52.
    """
    bias = 2 ** (exponent_bits - 1) - 1
    return (2.0 - 2.0**-mantissa_bits) * 2.0**bias  # the largest code is 2 * bias; code - bias is bias again


def integer_range(bits: int, signed: bool) -> tuple[int, int]:
    """Smallest and largest integer of `bits` bits: half of the codes of a signed one are negative."""
    if signed:
        return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return 0, 2**bits - 1


# Task 6
def dot_flops(n: int) -> int:
    """Flops of a dot product: total = 0.0, then total = total + x[i] * y[i] for each of n elements."""
    return 2 * n


def distances_flops(m: int, n: int, d: int) -> int:
    """Flops of the squared distance of each of m points p to each of n points q in d dimensions.

    For each pair total = 0.0; then for each dimension difference = p[k] - q[k] and
    total = total + difference * difference.
    """
    return 3 * m * n * d
