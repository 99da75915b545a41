"""Kernels as other people write them: they run as on a GPU, or the refusal says what a GPU would do."""

import math
import warnings

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.faults import Fault, Refused
from tools.sim.cuda.host.outside import ConstantWarning


def refusal(kernel, *arguments, block=1) -> str:
    with pytest.raises(Refused) as caught:
        kernel[1, block](*arguments)
    return " ".join(caught.value.text.split())


# Names -------------------------------------------------------------------------------------------


@cuda.jit
def add(x, total):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(total, 0, x[i])


@cuda.jit
def exp(x):
    x[0] = math.exp(x[0])


def test_a_kernel_may_be_called_like_an_attribute_that_it_uses():
    x, total = np.ones(100, np.float32), np.zeros(1, np.float32)
    add[1, 128](x, total)
    exp[1, 1](x)
    assert total[0] == 100 and x[0] == np.float32(math.e)


class TooLarge(Exception):
    pass


@cuda.jit
def own_error(x):
    if x[0] > 99:
        raise TooLarge


def test_a_kernel_raises_an_exception_class_of_its_own():
    own_error[1, 1](np.zeros(1))
    with pytest.raises(Fault, match="raises TooLarge"):
        own_error[1, 1](np.full(1, 100.0))


TABLE = cuda.to_device(np.arange(4.0))


@cuda.jit
def from_a_device_array(x):
    i = cuda.grid(1)
    x[i] = TABLE[i] * TABLE.size
    TABLE[i] = 0


def test_a_device_array_may_be_a_global():
    x = np.zeros(4)
    from_a_device_array[1, 4](x)
    assert x.tolist() == [0, 4, 8, 12] and TABLE.copy_to_host().tolist() == [0] * 4


@cuda.jit
def racing_on_a_global(x):
    TABLE[0] = cuda.grid(1)


def test_races_in_a_global_device_array_are_found():
    with pytest.raises(Fault, match="write-after-write"):
        racing_on_a_global[1, 4](np.zeros(1))


# Recursion ---------------------------------------------------------------------------------------


@cuda.jit(device=True)
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@cuda.jit("int64(int64)", device=True)
def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)


@cuda.jit(device=True)
def count_down(n, x):
    if n > 0:
        x[n] += n
        count_down(n - 1, x)


@cuda.jit
def recursion(x):
    i = cuda.grid(1)
    x[i] = fibonacci(x[i]) + factorial(4)


@cuda.jit
def recursion_for_effects(x):
    count_down(x[0], x)


def test_a_device_function_calls_itself():
    x = np.arange(10)
    recursion[1, 10](x)
    assert x.tolist() == [24 + each for each in (0, 1, 1, 2, 3, 5, 8, 13, 21, 34)]
    x = np.array([3, 1, 1, 1, 1])
    recursion_for_effects[1, 1](x)
    assert x.tolist() == [3, 2, 3, 4, 1]


@cuda.jit
def recursion_of_a_written_number(x):
    x[0] = fibonacci(7)


@cuda.jit
def recursion_that_changes_types(x):
    x[0] = fibonacci(np.int32(7))


@cuda.jit(device=True)
def runs_away(n):
    return runs_away(n)


@cuda.jit
def recursion_without_end(x):
    x[0] = runs_away(x[0])


def test_recursion_keeps_to_the_types_of_the_first_call():
    assert "is given a written number here" in refusal(recursion_of_a_written_number, np.zeros(1))
    assert "calls itself with other types" in refusal(recursion_that_changes_types, np.zeros(1))
    assert "in every way" in refusal(recursion_without_end, np.zeros(1))


@cuda.jit
def calls_itself(x):
    calls_itself(x)


def test_a_kernel_does_not_call_itself():
    assert "a kernel cannot be called in a kernel" in refusal(calls_itself, np.zeros(1))


# Constants ---------------------------------------------------------------------------------------

RATE, PRICES = 0.08, np.array([10.0])


@cuda.jit(device=True)
def with_tax(price):
    return price * (1 + RATE)


@cuda.jit
def total(out):
    out[0] = with_tax(PRICES[0])


def test_a_global_that_changes_after_the_first_launch_changes_nothing_and_warns(monkeypatch):
    out = np.zeros(1)
    total[1, 1](out)
    monkeypatch.setitem(globals(), "RATE", 0.1)
    with pytest.warns(ConstantWarning, match="RATE was 0.08 when with_tax was compiled, and a GPU goes on with that"):
        total[1, 1](out)
    assert out[0] == pytest.approx(10.8)
    PRICES[0] = 20
    with pytest.warns(ConstantWarning, match="PRICES was array"):
        total[1, 1](out)
    assert out[0] == pytest.approx(10.8)
    PRICES[0] = 10
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConstantWarning)
        total[1, 1](out)


def test_new_types_are_compiled_with_the_constants_of_that_moment(monkeypatch):
    total[1, 1](np.zeros(1))
    monkeypatch.setitem(globals(), "PRICES", np.array([30.0]))
    out = np.zeros(1, np.float32)
    total[1, 1](out)
    assert out[0] == pytest.approx(32.4)


@cuda.jit(device=True)
def first(n, x):
    held = cuda.shared.array(n, cuda.float32)
    held[cuda.threadIdx.x] = x[cuda.threadIdx.x]
    return held[cuda.threadIdx.x]


WIDTH = 32


@cuda.jit
def shapes_that_are_passed(x):
    width = 32
    x[cuda.grid(1)] = first(32, x) + first(WIDTH, x) + first(width, x)


@cuda.jit
def shape_that_is_computed(x):
    x[cuda.grid(1)] = first(x.size, x)


def test_a_shape_may_be_a_constant_that_the_caller_passes():
    x = np.arange(32, dtype=np.float32)
    shapes_that_are_passed[1, 32](x)
    assert x.tolist() == [3 * each for each in range(32)]
    with pytest.raises(Refused, match="here the caller computes it"):
        shape_that_is_computed[1, 32](x)


@cuda.jit(device=True)
def place(axes):
    return cuda.grid(axes)


@cuda.jit
def axes_that_are_known(x):
    one = 1
    x[cuda.grid(one)] = cuda.grid(x.ndim) + place(1)


@cuda.jit
def axes_of_a_variable(x):
    axes = 1
    if x[0] > 0:
        axes = 2
    x[cuda.grid(axes)] = 1


@cuda.jit
def axes_of_an_argument(x, axes):
    x[cuda.gridsize(axes) - 1] = 1


def test_the_axes_of_a_grid_are_known_when_it_is_compiled():
    x = np.zeros(4)
    axes_that_are_known[1, 4](x)
    assert x.tolist() == [0, 2, 4, 6]
    assert "takes 1, 2 or 3, written as a number, not axes" in refusal(axes_of_a_variable, x)
    assert "takes 1, 2 or 3, written as a number, not axes" in refusal(axes_of_an_argument, x, 1)


# Functions of whole arrays -----------------------------------------------------------------------


@cuda.jit
def sine_into(out, x):
    np.sin(x, out)


@cuda.jit
def sine_of_an_array(out, x):
    np.sin(x)


@cuda.jit
def sine_of_a_number_into_a_number(out, x):
    np.sin(x[0], out[0])


def test_a_universal_function_fills_an_array_that_is_given():
    out = np.zeros((2, 2))
    sine_into[1, 1](out, np.arange(4.0).reshape(2, 2))
    assert out == pytest.approx(np.sin(np.arange(4.0)).reshape(2, 2), rel=1e-15)
    assert "makes an array, and nothing allocates memory" in refusal(sine_of_an_array, out, out)
    assert "fills no array" in refusal(sine_of_a_number_into_a_number, out[0], out[0])


def test_every_thread_goes_through_the_whole_array_so_several_race():
    with pytest.raises(Fault, match="write-after-write"):
        sine_into[1, 2](np.zeros(3), np.ones(3))
