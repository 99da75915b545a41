"""Arrays of CuPy, or of its stand-in, cross as arrays of whichever the other side has."""

import numpy as np
import pytest

from tools import gpu, wire
from tools.tests.wire.crossing import crossed, is_malformed, over_the_wire


@pytest.fixture(scope="module")
def cupy():
    try:
        return gpu.cupy
    except ImportError as error:
        pytest.skip(str(error))


LAYOUTS = {
    "row-major": lambda a: a,
    "transposed": lambda a: a.T,
    "every other column": lambda a: a[:, ::2],
    "backwards": lambda a: a[::-1, ::-1],
    "from the middle": lambda a: a[2:4, 1:5],
    "no rows": lambda a: a[3:3],
    "one number": lambda a: a[4, 2],
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_an_array_keeps_its_values_and_strides(cupy, layout):
    array = layout(cupy.arange(30.0).reshape(5, 6))
    back = crossed(array)
    assert (type(back), back.dtype, back.strides) == (cupy.ndarray, array.dtype, array.strides)
    assert np.array_equal(back.get(), layout(np.arange(30.0).reshape(5, 6)))


def test_an_array_that_is_column_major_in_memory_keeps_its_values(cupy):
    array = cupy.array(np.arange(6.0).reshape(2, 3), order="F")
    back = crossed(array)
    assert back.strides == (8, 16) and back.get().tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint64", "bool", "complex64"])
def test_an_array_keeps_its_dtype(cupy, dtype):
    back = crossed(cupy.arange(4).astype(dtype))
    assert back.dtype == dtype and np.array_equal(back.get(), np.arange(4).astype(dtype))


def test_an_empty_array_stays_empty(cupy):
    assert crossed(cupy.empty((0, 3), np.int32)).shape == (0, 3)


def test_views_of_one_array_still_share_its_memory(cupy):
    whole = cupy.zeros(10)
    first, second = crossed((whole, whole[3:7]))
    second[0] = 5
    assert first.get().tolist() == [0, 0, 0, 5, 0, 0, 0, 0, 0, 0]


def test_what_lies_beside_a_view_crosses_too(cupy):
    view = cupy.arange(10.0)[4:6]
    packet = wire.encode(view)
    assert packet.buffers[0].view(float).tolist() == list(range(10))


def test_it_does_not_share_memory_with_an_array_of_the_host(cupy):
    host = np.zeros(3)
    there, here = crossed((cupy.asarray(host), host))
    there[0] = 1
    assert here.tolist() == [0, 0, 0]


def test_a_reply_brings_what_changed_into_the_callers_memory(cupy):
    array = cupy.zeros(4)
    request = wire.encode(array[1:3])
    there = wire.decode(*over_the_wire(request))
    there.memory.remember()
    there.value[...] = 7
    reply = wire.encode(there.value, reply_to=there)
    back = wire.decode(*over_the_wire(reply), reply_to=request).value
    assert array.get().tolist() == [0, 7, 7, 0]
    assert wire.extent(back) == wire.extent(array)


def test_an_array_that_reaches_beyond_its_memory_is_malformed():
    region = np.zeros(32, np.uint8)
    assert not is_malformed(
        ["array", 0], regions=["cpu"], buffers=[region], arrays=[["numpy", "<f8", [4], [8], 0, 0, True]]
    )
    for kind, device in (("cupy", "cupy"), ("cupy", "cpu"), ("numpy", "cupy")):
        assert is_malformed(
            ["array", 0], regions=[device], buffers=[region], arrays=[[kind, "<f8", [5], [8], 0, 0, None]]
        )
    assert is_malformed(["array", 0], regions=["cpu"], buffers=[region], arrays=[["cupy", "<f8", [4], [8], 0, 0, None]])


def test_another_librarys_device_array_is_told_what_would_cross():
    class DeviceArray:
        __cuda_array_interface__ = {}

    with pytest.raises(TypeError, match="DeviceArray cannot cross to another process; a CuPy array can"):
        wire.encode(DeviceArray())
