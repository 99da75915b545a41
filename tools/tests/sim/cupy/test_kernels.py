"""ElementwiseKernel and ReductionKernel: what they refuse that a GPU would get wrong without a word."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim.faults import Fault


def kernel(code: str, inputs: str = "T x", outputs: str = "T y"):
    return cp.ElementwiseKernel(inputs, outputs, code, "under_test")


def fault_of(call) -> Fault:
    with pytest.raises(Fault) as caught:
        call()
    return caught.value


def test_an_index_outside_a_raw_array_is_refused_with_thread_and_element():
    shift = kernel("y = x[i + 1]", "raw T x", "T y")
    fault = fault_of(lambda: shift(cp.arange(8.0), size=8))
    assert (fault.kind, fault.array, fault.operation) == ("out_of_bounds", "x", "load")
    assert "kernel 'under_test', line 1:  y = x[i + 1]" in fault.text
    assert "Thread 7 loads element 8 of 'x', which has 8" in fault.text
    assert fault.file.endswith("test_kernels.py") and "shift(cp.arange(8.0), size=8)" in fault.source


def test_an_index_before_the_start_is_refused():
    back = kernel("y[i - 2] = x", "T x", "raw T y")
    fault = fault_of(lambda: back(cp.arange(4.0), cp.zeros(4)))
    assert (fault.kind, fault.array, fault.operation) == ("out_of_bounds", "y", "store")
    assert "Thread 0 stores element -2" in fault.text and "2 threads do so" in fault.text


def test_threads_that_a_condition_keeps_out_cannot_be_out_of_bounds():
    inner = kernel("y = (i > 0 && x[i - 1] > 0) ? x[i - 1] : 0; if (i + 1 < x.size()) y += x[i + 1];", "raw T x", "T y")
    assert inner(cp.arange(4.0), size=4).tolist() == [1, 2, 4, 2]


def test_two_threads_that_store_different_values_in_one_element_are_refused():
    collide = kernel("y[i / 2] = x", "T x", "raw T y")
    fault = fault_of(lambda: collide(cp.arange(4.0), cp.zeros(2)))
    assert fault.kind == "race" and "Threads 0 and 1 store different values in element 0 of 'y'" in fault.text


def test_two_threads_may_store_the_same_value():
    flag = kernel("y[0] = 1", "T x", "raw T y")
    out = cp.zeros(1)
    flag(cp.arange(4.0), out)
    assert out.tolist() == [1]


def test_a_variable_that_has_no_value_is_refused():
    fault = fault_of(lambda: kernel("T t; if (x > 1) t = x; y = t;")(cp.arange(3.0)))
    assert fault.kind == "uninitialised" and "'t' is read before it has a value" in fault.text


def test_an_output_that_has_no_value_yet_is_refused_and_one_that_was_passed_is_not():
    add = kernel("y += x")
    assert fault_of(lambda: add(cp.arange(3.0))).kind == "uninitialised"
    out = cp.ones(3)
    add(cp.arange(3.0), out)
    assert out.tolist() == [1, 2, 3]


def test_a_whole_number_divided_by_zero_is_refused_and_a_float_is_not():
    fault = fault_of(lambda: kernel("y = 6 / x")(cp.array([2, 0])))
    assert fault.kind == "division" and "Thread 1 divides a whole number by 0" in fault.text
    assert kernel("y = 6 / x")(cp.array([2.0, 0.0])).tolist() == [3, np.inf]
    assert kernel("y = x != 0 ? 6 / x : 0")(cp.array([2, 0])).tolist() == [3, 0]


@pytest.mark.parametrize(
    "text",
    [
        lambda: fault_of(lambda: kernel("y = x[i + 1]", "raw T x", "T y")(cp.arange(4.0), size=4)).text,
        lambda: fault_of(lambda: kernel("y = 6 / x")(cp.array([0]))).text,
        lambda: fault_of(lambda: kernel("T t; y = t;")(cp.array([0]))).text,
    ],
)
def test_faults_fit_on_a_terminal(text):
    lines = text().splitlines()
    assert len(lines) <= 6 and all(len(line) <= 100 for line in lines)


def test_an_identity_that_changes_a_value_is_refused():
    wrong = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "1", "total")
    with pytest.raises(ValueError, match="identity 1 is none. Combined with the element 0.0 by 'a [+] b' it gives 1.0"):
        wrong(cp.arange(3.0))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (0, 1, 2)])
def test_reductions_along_any_axes_are_numpy_s(axis):
    values = np.arange(60.0).reshape(3, 4, 5)
    total = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "squares")
    np.testing.assert_array_equal(total(cp.asarray(values), axis=axis).get(), (values * values).sum(axis))


@pytest.mark.parametrize("size", [1, 2, 3, 31, 32, 33, 1000])
def test_a_tree_reduces_every_element_once(size):
    values = np.random.default_rng(size).integers(0, 1000, size)
    largest = cp.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "largest")
    assert largest(cp.asarray(values)) == values.max()


def test_kernels_take_views_of_any_layout():
    values = np.arange(24.0).reshape(4, 6)
    out = cp.zeros((6, 4)).T
    kernel("y = x * 2")(cp.asarray(values)[:, ::-1], out)
    np.testing.assert_array_equal(out.get(), values[:, ::-1] * 2)


def test_raw_arrays_of_any_layout_are_indexed_in_c_order():
    values = np.arange(6.0).reshape(2, 3)
    take, put = kernel("y = x[i]", "raw T x", "T y"), kernel("y[i] = x", "T x", "raw T y")
    assert take(cp.asarray(values).T, size=6).tolist() == values.T.ravel().tolist()
    out = cp.zeros((3, 2)).T
    put(cp.arange(6.0), out)
    assert out.tolist() == values.tolist()
