"""What people who know Numba write: it runs as there, or is refused with the line, the reason and a way out."""

import enum

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.faults import Fault, Refused, Unknown

Colour = enum.IntEnum("Colour", "RED GREEN")
POINT = np.dtype([("x", np.float32), ("n", np.int32)], align=True)
NESTED = np.dtype([("at", POINT), ("corners", np.float32, (3,))], align=True)


def launched(function, *arguments, block=1):
    cuda.jit(function)[1, block](*arguments)


# What runs ---------------------------------------------------------------------------------------


@cuda.jit(device=True)
def difference(a, b=5):
    return a - b


def test_a_device_function_takes_defaults_and_keywords():
    def kernel(out):
        out[0] = difference(2)
        out[1] = difference(b=1, a=2)
        out[2] = difference(9, b=7)

    out = np.zeros(3)
    launched(kernel, out)
    assert out.tolist() == [-3, 1, 2]


def test_strides_are_bytes_as_those_of_numpy():
    def kernel(m, out):
        out[0], out[1] = m.strides
        out[2], out[3] = m.itemsize, m.nbytes
        out[4] = m[0].strides[0]

    m, out = np.zeros((3, 4), np.float32), np.zeros(5, np.int64)
    launched(kernel, m, out)
    assert out.tolist() == [*m.strides, m.itemsize, m.nbytes, m[0].strides[0]]


def test_strides_of_a_field_are_those_of_the_records():
    def kernel(points, out):
        out[0] = points.n.strides[0]

    points, out = np.zeros(4, POINT), np.zeros(1, np.int64)
    launched(kernel, points, out)
    assert out[0] == points["n"].strides[0] == 8


def test_an_ellipsis_stands_for_the_axes_that_are_not_named():
    def kernel(cube, out):
        column = cube[..., 1]
        out[0], out[1] = column.shape
        out[2] = cube[0, ..., 2][1]
        cube[..., 3][1, 2] = 9

    cube, out = np.arange(24).reshape(2, 3, 4), np.zeros(3, np.int64)
    launched(kernel, cube, out)
    assert out.tolist() == [2, 3, 6] and cube[1, 2, 3] == 9


def test_a_field_can_be_named_in_brackets_on_the_array_too():
    def kernel(points, out):
        cuda.atomic.add(points["n"], 1, 1)
        out[cuda.grid(1)] = points["x"][2]

    points, out = np.zeros(3, POINT), np.zeros(4)
    points["x"] = [1, 2, 3]
    launched(kernel, points, out, block=4)
    assert out.tolist() == [3] * 4 and points["n"].tolist() == [0, 4, 0]


def test_the_value_of_a_member_of_an_enumeration_is_a_number():
    def kernel(out):
        out[Colour.RED.value] = Colour.GREEN.value

    out = np.zeros(2)
    launched(kernel, out)
    assert out.tolist() == [0, 2]


# What the simulator does not know ----------------------------------------------------------------


def member(a):
    a[0] = Colour.RED + 1


def conjugate(a):
    a[0] = complex(1, 2).conjugate().imag


def transposed(a):
    a.T[0] = 1


def summed(a):
    a[0] = a.sum()


def slice_of_values(a):
    a[1:] = 3


def part_of_a_tuple(a):
    a[0] = a.shape[:1][0]


def records_of_each_thread(a):
    own = cuda.local.array(2, POINT)
    a[0] = own[0].x


def summed_by_python(a):
    a[0] = sum(a)


def larger_by_numpy(a):
    a[0] = np.maximum(a[0], a[1])


@pytest.mark.parametrize(
    "kernel, line, words",
    [
        (member, "a[0] = Colour.RED + 1", "Colour.RED.value is a number"),
        (conjugate, "a[0] = complex(1, 2).conjugate().imag", "complex(z.real, -z.imag)"),
        (transposed, "a.T[0] = 1", "does not know a.T"),
        (summed, "a[0] = a.sum()", "does not know a.sum"),
        (slice_of_values, "a[1:] = 3", "Write a loop."),
        (part_of_a_tuple, "a[0] = a.shape[:1][0]", "Take the values by number."),
        (records_of_each_thread, "own = cuda.local.array(2, POINT)", "Take an array for each field."),
        (summed_by_python, "a[0] = sum(a)", "Add in a loop."),
        (larger_by_numpy, "a[0] = np.maximum(a[0], a[1])", "max(a, b)"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_is_not_simulated_says_where_and_what_to_write_instead(kernel, line, words):
    with pytest.raises(Unknown) as caught:
        launched(kernel, np.zeros(4))
    head, *rest = str(caught.value).splitlines()
    assert head.startswith(f"{kernel.__name__}, line ") and head.endswith(line)
    assert "GPU" in " ".join(rest) and words in " ".join(rest)
    assert len(rest) <= 4 and max(map(len, rest)) <= 80


def whole_record(points):
    points[0] = points[1]


def record_in_a_record(points):
    points[0].at.x = 1


def array_in_a_record(points):
    points[0].corners[1] = 1


@pytest.mark.parametrize("kernel", [whole_record, record_in_a_record, array_in_a_record])
def test_records_are_known_field_by_field(kernel):
    with pytest.raises(Unknown, match=f"{kernel.__name__}, line .*points.* = "):
        launched(kernel, np.zeros(2, NESTED))


def test_an_argument_that_is_not_simulated_says_what_is():
    def kernel(a):
        pass

    for each in (np.array(["text"]), np.array(["2020"], "M8[D]"), np.zeros(2, "V4"), np.zeros(2, POINT)[0]):
        with pytest.raises(Unknown, match="launched, line .*"):
            launched(kernel, each)


def test_a_tensor_of_bfloat16_is_named():
    torch = pytest.importorskip("torch", reason="tensors as arguments")

    def kernel(a):
        pass

    with pytest.raises(Unknown, match="tensors of torch.bfloat16"):
        launched(kernel, torch.zeros(3, dtype=torch.bfloat16))


# What Numba refuses ------------------------------------------------------------------------------


def four_axes(a):
    a[0] = cuda.grid(4)


def axes_by_a_variable(a):
    n = a.size
    a[0] = cuda.grid(n)


def without_a_type(a):
    tile = cuda.shared.array(4)
    a[0] = tile[0]


def too_many(a):
    a[0] = difference(1, 2, 3)


def index_by_nothing(a):
    a[None] = 1


def array_for_an_element(a):
    a[0] = a


def tuple_for_an_element(a):
    a[0] = (1, 2)


def misnamed(a):
    a[0] = a.length


def made_up(a):
    a[0] = a.lanes


@pytest.mark.parametrize(
    "kernel, words",
    [
        (four_axes, "cuda.grid takes 1, 2 or 3"),
        (axes_by_a_variable, "cuda.grid takes 1, 2 or 3"),
        (without_a_type, "cuda.shared.array() missing 1 required positional argument: 'dtype'"),
        (too_many, "difference() is called with other arguments than it takes"),
        (index_by_nothing, "An index of a is a NoneType"),
        (array_for_an_element, "An element of a is a number"),
        (tuple_for_an_element, "An element of a is a number"),
        (misnamed, "a has no attribute 'length'"),
        (made_up, "a has no attribute 'lanes'"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_refusal_is_none_of_pythons_own_errors(kernel, words):
    with pytest.raises(Refused) as caught:
        launched(kernel, np.zeros(4))
    assert words in str(caught.value) and caught.value.function == kernel.__name__


def test_an_array_that_numpy_protects_is_called_read_only():
    def kernel(a):
        a[0] = 1

    protected = np.zeros(2)
    protected.setflags(write=False)
    with pytest.raises(Fault, match="stores to a, which is read-only"):
        launched(kernel, protected)


def test_types_of_the_package_numba_are_told_apart():
    numba = pytest.importorskip("numba", reason="needs the types of numba, which is not installed")
    with pytest.raises(TypeError, match="Take them from cuda"):
        cuda.jit((numba.float32[:],))(lambda a: None)
    with pytest.raises(TypeError, match="Take them from cuda"):
        cuda.jit(numba.void(numba.float32[:]))(lambda a: None)
