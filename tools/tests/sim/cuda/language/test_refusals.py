"""Kernels that Numba does not compile are refused before they run, in words; so are those that are not simulated."""

import builtins
import math
from functools import partial

import numpy as np
import pytest

from tools import ROOT
from tools.sim import cuda
from tools.sim.cuda.faults import Refused, Unknown
from tools.sim.cuda.translate.program import parse
from tools.sim.cuda.translate.unsupported import refuse
from tools.tests.sim.cuda.language.verdicts import load

KERNELS = load(cuda)
BY_NAME = {function.__name__: function for function, _ in KERNELS}


def check(function) -> None:
    """The function, and the device functions that it calls."""
    refuse(parse(function), function)
    for name in function.__code__.co_names:
        if hasattr(callee := function.__globals__.get(name), "py_func"):
            refuse(parse(callee.py_func), callee.py_func)


def verdict(function) -> str:
    try:
        check(function)
    except Refused:
        return "refused"
    except Unknown:
        return "unknown"
    return "runs"


def refusal(function) -> Refused:
    with pytest.raises(Refused) as caught:
        check(function)
    return caught.value


@pytest.mark.parametrize("function, expected", KERNELS, ids=lambda each: getattr(each, "__name__", ""))
def test_a_kernel_is_refused_where_numba_refuses_it(function, expected):
    assert verdict(function) == expected


@pytest.mark.parametrize("function, expected", KERNELS, ids=lambda each: getattr(each, "__name__", ""))
def test_a_message_fits_into_five_lines(function, expected):
    try:
        check(function)
    except (Refused, Unknown) as error:
        lines = str(error).splitlines()
        assert 2 <= len(lines) <= 5 and max(map(len, lines)) <= 80 and ", line " in lines[0]


def test_a_refusal_names_the_place():
    error = refusal(BY_NAME["list_display"])
    assert error.file == "tools/tests/sim/cuda/language/kernels/expressions.py"
    assert error.source == "values = [1.0, 2.0]" == (ROOT / error.file).read_text().splitlines()[error.line - 1].strip()
    assert error.function == "list_display" and "no lists" in error.reason and "cuda.local.array" in error.advice


def test_the_first_line_decides():
    def kernel(a):
        a[0] = math.nowhere
        x = [1]
        a[1] = x[0]

    assert "nowhere" in refusal(kernel).reason


def test_what_a_gpu_may_run_is_not_called_refused():
    with pytest.raises(Unknown, match="The simulator does not know this: sum. A GPU may run it."):
        check(BY_NAME["sum_function"])


@pytest.mark.parametrize(
    "name, words",
    [
        ("misspelt_attribute_of_cuda", "Is threadIdx meant?"),
        ("misspelt_function_of_cuda", "Is syncthreads meant?"),
        ("python_function", "@cuda.jit(device=True)"),
        ("print_of_an_f_string", 'print("x is", x)'),
    ],
)
def test_a_refusal_says_what_to_write_instead(name, words):
    assert words in refusal(BY_NAME[name]).advice


def test_a_refusal_of_a_shape_names_the_length_that_is_no_constant():
    reason = refusal(BY_NAME["shared_array_of_a_length_that_a_tuple_brings"]).reason
    assert reason == "Numba wants plain whole numbers as a shape, not k."


def test_a_refusal_of_a_numpy_array_says_what_was_called():
    assert refusal(calling(np.zeros)).reason == "function makes an array, and nothing allocates memory on a GPU."


# Names -------------------------------------------------------------------------------------------


def calling(function):
    """A kernel that takes a function from outside."""

    def kernel(a):
        a[0] = function(a[1])

    return kernel


@pytest.mark.parametrize(
    "name, advice",
    [
        ("sqrt", "math.sqrt is compiled."),
        ("exp", "math.exp is compiled."),
        ("where", ""),
        ("max", "max(a, b) is compiled."),
        ("zeros", "cuda.shared.array(shape, dtype): one a block. cuda.local.array: one a thread."),
    ],
)
def test_a_refusal_of_a_numpy_function_says_what_there_is_instead(name, advice):
    assert refusal(calling(getattr(np, name))).advice == advice


@pytest.mark.parametrize(
    "name, expected",
    [
        *((name, "runs") for name in ("abs", "min", "int", "len", "print", "range", "round", "pow")),
        *((name, "unknown") for name in ("enumerate", "isinstance", "sum", "tuple", "zip")),
        *(
            (name, "refused")
            for name in (
                "all",
                "any",
                "dict",
                "eval",
                "getattr",
                "hash",
                "input",
                "list",
                "open",
                "set",
                "sorted",
                "str",
            )
        ),
    ],
)
def test_built_in_functions_are_told_apart(name, expected):
    assert verdict(calling(getattr(builtins, name))) == expected


def test_a_partial_function_is_a_python_function():
    assert "Python function" in refusal(calling(partial(max, 1))).reason


def test_what_the_host_calls_is_refused_in_a_kernel():
    assert refusal(calling(cuda.to_device)).reason == "function is for the host; a kernel cannot call it."


def test_a_constant_of_an_outer_function_is_a_constant():
    size, computed = 4, 4 * 2

    def kernel(a):
        tile = cuda.shared.array((size, computed), cuda.float32)
        a[0] = tile[0, 0]

    assert verdict(kernel) == "runs"


def test_a_variable_that_has_no_value_yet_is_not_defined():
    def kernel(a):
        a[0] = later

    assert refusal(kernel).reason == "later is not defined."
    later = 1
    assert verdict(kernel) == "runs" and later


def test_methods_and_fields_of_values_are_left_to_the_run():
    def kernel(a):
        a[0] = a.nowhere + a[0].real

    assert verdict(kernel) == "runs"


@pytest.mark.parametrize(
    "kind, words",
    [
        (float, "float is no type of an array's elements. cuda.float32 or np.float32 is one."),
        (np.float32(0), "np.float32(0.0) is no type of an array's elements."),
        (None, "missing 1 required positional argument: 'dtype'"),
    ],
)
def test_the_type_of_a_shared_array_is_one_of_elements(kind, words):
    @cuda.jit
    def with_a_type(a):
        tile = cuda.shared.array(4, kind)
        a[0] = tile[0]

    @cuda.jit
    def without_a_type(a):
        tile = cuda.shared.array(4)
        a[0] = tile[0]

    with pytest.raises(Refused) as caught:
        (without_a_type if kind is None else with_a_type)[1, 1](np.zeros(4, np.float32))
    assert words in " ".join(caught.value.text.split())


def test_no_array_has_a_negative_length():
    @cuda.jit
    def kernel(a):
        tile = cuda.shared.array(-4, cuda.float32)
        a[0] = tile[0]

    with pytest.raises(Refused, match="No array has so many elements: -4."):
        kernel[1, 1](np.zeros(4, np.float32))


@cuda.jit
def indexed_by_all_axes(a, n):
    a[cuda.threadIdx] = 1


@cuda.jit
def counted_by_all_axes(a, n):
    a[cuda.blockIdx * cuda.blockDim + cuda.threadIdx] = 1


@cuda.jit
def length_of_a_number(a, n):
    a[0] = len(n)


@cuda.jit
def two_indices(a, n):
    a[0, 0] = n


@cuda.jit
def copied(a, n):
    b = a.copy()
    a[0] = b[0]


@cuda.jit
def converted_by_a_method(a, n):
    a[0] = a[1].astype(np.float64)


@pytest.mark.parametrize(
    "kernel, words",
    [
        (indexed_by_all_axes, "An index of a is cuda.threadIdx as a whole, which has .x, .y and .z"),
        (counted_by_all_axes, "Which axis is meant: cuda.blockIdx.x, .y or .z?"),
        (length_of_a_number, "len() asks an array or a tuple, and this is one int64."),
        (two_indices, "a has 1 dimension; 2 indices were given."),
        (copied, "Numba compiles no a.copy for a GPU."),
        (converted_by_a_method, "np.float32(x) converts a number."),
    ],
)
def test_a_refusal_is_about_what_was_written(kernel, words):
    with pytest.raises(Refused) as caught:
        kernel[1, 1](np.zeros(4, np.float32), 4)
    assert words in " ".join(caught.value.text.split())


def test_a_nested_shape_is_not_plain():
    shapes = (4, (4, 8))

    def kernel(a):
        tile = cuda.shared.array(shapes[1], cuda.float32)
        a[0] = tile[0, 0]

    assert "not shapes[1]" in refusal(kernel).reason
