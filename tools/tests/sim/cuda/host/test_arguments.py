"""What becomes of a kernel's arguments: transfers, types and memory, as the core receives them."""

import numpy as np
import pytest

from tools.sim import cuda, recording
from tools.sim.counters import Counts, Launch
from tools.sim.cuda.host import launch_config
from tools.sim.cuda.memory.storage import GlobalArray


@pytest.fixture
def received(monkeypatch):
    """What the core was called with last; it adds 1 to every array that can be written to."""
    call = {}

    def launch(function, grid, block, arguments, **named):
        call.update(named, function=function, grid=grid, block=block, arguments=arguments)
        for each in arguments:
            if isinstance(each, GlobalArray) and not each.read_only:
                each.array[...] += 1
        return Launch(named["name"], grid, Counts(sectors=100), ())

    monkeypatch.setattr(launch_config.core, "launch", launch)
    return call


@cuda.jit
def one(x):
    x[0] = 0


@cuda.jit
def two(x, y):
    x[0] = y[0]


def given(value, received):
    """The argument that the core gets for a value."""
    one[200, 32](value)
    return received["arguments"][0]


# Arrays ------------------------------------------------------------------------------------------


def test_a_host_array_crosses_twice_and_the_host_waits(received):
    array = np.zeros(4)
    with recording.record() as counters:
        one[200, 32](array)
    assert array.tolist() == [1, 1, 1, 1]
    assert vars(counters.transfers) == {
        "uploads": 1,
        "downloads": 1,
        "copies": 0,
        "bytes_uploaded": 32,
        "bytes_downloaded": 32,
        "bytes_copied": 0,
        "synchronizations": 1,
    }


def test_a_pinned_array_on_a_stream_is_back_when_the_host_has_waited(received):
    array, stream = cuda.pinned_array(4), cuda.stream()
    array[:] = 0
    with recording.record() as counters:
        one[200, 32, stream](array)
        assert array.tolist() == [0, 0, 0, 0]
        assert counters.transfers.synchronizations == 0
        stream.synchronize()
    assert array.tolist() == [1, 1, 1, 1]


def test_a_device_array_stays_where_it_is(received):
    array = cuda.to_device(np.zeros(4))
    with recording.record() as counters:
        argument = given(array[1:], received)
    assert not any(vars(counters.transfers).values())
    assert argument.address == array.device_ctypes_pointer.value + 8
    assert array.copy_to_host().tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("hint", "expected", "uploads", "downloads"),
    [(cuda.In, [0, 0], 1, 0), (cuda.Out, [np.nan, np.nan], 0, 1), (cuda.InOut, [1, 1], 1, 1)],
)
def test_a_hint_says_which_way_a_host_array_crosses(received, hint, expected, uploads, downloads):
    array = np.zeros(2)
    with recording.record() as counters:
        one[200, 32](hint(array))
    assert np.array_equal(array, expected, equal_nan=True)
    assert (counters.transfers.uploads, counters.transfers.downloads) == (uploads, downloads)


def test_a_host_array_keeps_its_order_and_a_broadcast_one_crosses_once(received):
    assert given(np.zeros((2, 3), order="F"), received).array.strides == (8, 16)
    with recording.record() as counters:
        argument = given(np.broadcast_to(np.zeros(3), (5, 3)), received)
    assert argument.array.strides == (0, 8)
    assert counters.transfers.bytes_uploaded == 24


def test_a_read_only_array_is_read_only_in_the_kernel(received):
    array = np.zeros(3)
    array.flags.writeable = False
    assert given(array, received).read_only
    assert array.tolist() == [0, 0, 0]


def test_one_array_given_twice_is_two_copies(received):
    array = np.zeros(3)
    two[200, 32](array, array)
    first, second = received["arguments"]
    assert not np.shares_memory(first.array, second.array)


@pytest.mark.parametrize("make", [cuda.mapped_array, cuda.managed_array])
def test_memory_that_both_reach_is_not_copied(received, make):
    array = make(3)
    array[:] = 5
    with recording.record() as counters:
        assert np.shares_memory(given(array, received).array, array)
    assert not any(vars(counters.transfers).values())
    assert np.asarray(array).tolist() == [6, 6, 6]


def test_a_tensor_of_pytorch_stands_for_one_on_the_device(received):
    torch = pytest.importorskip("torch", reason="tensors as arguments")
    tensor = torch.zeros(10, dtype=torch.float32)
    with recording.record() as counters:
        whole, part = given(tensor, received), given(tensor[3:], received)
    assert not any(vars(counters.transfers).values()) and counters.library_operations == []
    assert whole.address % 512 == 0 and part.address == whole.address + 12
    assert given(tensor, received).address == whole.address
    assert tensor.tolist() == [2] * 3 + [3] * 7


def test_an_array_in_a_tuple_has_a_name_of_its_own(received):
    pair = given((np.zeros(3), cuda.to_device(np.zeros(2))), received)
    assert [each.name for each in pair] == ["x[0]", "x[1]"]


# Numbers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (3, "int64"),
        (2**63, "uint64"),
        (3.0, "float64"),
        (True, "bool"),
        (1j, "complex128"),
        (np.int8(3), "int8"),
        (np.float16(3), "float16"),
        (np.float32(3), "float32"),
        (np.bool_(True), "bool"),
    ],
)
def test_a_number_has_the_type_that_numba_gives_it(received, value, dtype):
    found = given(value, received)
    assert isinstance(found, np.generic) and found.dtype == dtype and found == value


def test_numbers_in_tuples_are_converted_one_by_one(received):
    found = given((1, 2.5, (True, np.int8(3))), received)
    assert [each.dtype for each in (*found[:2], *found[2])] == ["int64", "float64", "bool", "int8"]


def test_a_signature_with_tuples_converts_what_is_in_them(received):
    cuda.jit("void(Tuple((float32, int8)))")(one.py_func)[200, 32]((1, 2))
    assert [each.dtype for each in received["arguments"][0]] == ["float32", "int8"]


@pytest.mark.parametrize(
    ("signature", "value", "expected"),
    [
        ("void(int32)", 3, np.int32(3)),
        ("void(int8)", 300, np.int8(44)),
        ("void(uint8)", -1, np.uint8(255)),
        ("void(float32)", 0.1, np.float32(0.1)),
        ("void(float16)", 3, np.float16(3)),
        ("void(float64)", 3, np.float64(3)),
        ("void(complex64)", 2.0, np.complex64(2)),
        ("void(bool)", 2, np.bool_(True)),
    ],
)
def test_a_signature_decides_the_type(received, signature, value, expected):
    cuda.jit(signature)(one.py_func)[200, 32](value)
    found = received["arguments"][0]
    assert found.dtype == expected.dtype and found == expected


@pytest.mark.parametrize(
    ("value", "dtype"), [(np.int32(3), "int32"), (3, "int64"), (np.float32(3), "float64"), (2.5, "float64")]
)
def test_of_several_signatures_the_one_with_the_safest_conversions_is_taken(received, value, dtype):
    kernel = cuda.jit(["void(int32)", "void(int64)", "void(float64)"])(one.py_func)
    kernel[200, 32](value)
    assert received["arguments"][0].dtype == dtype


def test_a_number_that_widens_to_two_signatures_alike_is_ambiguous():
    kernel = cuda.jit(["void(int32)", "void(int64)", "void(float64)"])(one.py_func)
    with pytest.raises(TypeError, match="Ambiguous overloading"):
        kernel[200, 32](np.int8(3))


@pytest.mark.parametrize("value", [np.zeros(3, np.float32), np.zeros((2, 2)), np.zeros((4, 4))[:, ::2], 1.0])
def test_an_array_that_a_signature_does_not_describe_is_refused(received, value):
    kernel = cuda.jit("void(float64[::1])")(one.py_func)
    with pytest.raises(TypeError, match=r"x is .*;\nthe signature of the kernel wants array\(float64, 1d, C\)"):
        kernel[200, 32](value)
    assert not received


@pytest.mark.parametrize("value", [3, (3,), (3, np.zeros(2))])
def test_a_tuple_that_a_signature_does_not_describe_is_refused(received, value):
    kernel = cuda.jit("void(UniTuple(float64, 2))")(one.py_func)
    with pytest.raises(TypeError):
        kernel[200, 32](value)
    assert not received
