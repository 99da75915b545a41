"""Arrays come out of the wire with their dtype, strides and bits, and share memory as they did."""

import ml_dtypes
import numpy as np
import pytest
import torch

from tools import wire
from tools.tests.wire.crossing import crossed

LOW_PRECISION = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn", "int4"]


# NumPy -------------------------------------------------------------------------------------------


def same_array(back, array):
    bits = np.ascontiguousarray(back).tobytes() == np.ascontiguousarray(array).tobytes()
    return (back.dtype, back.shape, back.strides, bits) == (array.dtype, array.shape, array.strides, True)


LAYOUTS = {
    "row-major": lambda a: a,
    "column-major": lambda a: np.asfortranarray(a),
    "transposed": lambda a: a.T,
    "every other column": lambda a: a[:, ::2],
    "backwards": lambda a: a[::-1, ::-1],
    "from the middle": lambda a: a[2:4, 1:5],
    "repeated": lambda a: np.broadcast_to(a[1], (3, 6)),
    "sliding windows": lambda a: np.lib.stride_tricks.sliding_window_view(a, 2, axis=1),
    "no rows": lambda a: a[3:3],
    "nothing": lambda a: np.empty((0, 3)),
    "one number": lambda a: np.array(2.5),
    "a row's end": lambda a: a[-1, -1:],
    "a field of bytes": lambda a: a.view(np.uint8)[:, 3::8],
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_an_array_keeps_its_values_and_strides(layout):
    array = layout(np.arange(30.0).reshape(5, 6))
    assert same_array(crossed(array), array)


@pytest.mark.parametrize(
    "dtype", [*"?bhilqBHILQefdgFDG", ">f4", ">i8", *(np.dtype(getattr(ml_dtypes, name)) for name in LOW_PRECISION)]
)
def test_an_array_keeps_its_dtype(dtype):
    array = np.arange(8).astype(dtype).reshape(2, 4)
    assert same_array(crossed(array), array)


def test_arrays_of_objects_or_texts_do_not_cross():
    for array in (np.array([None]), np.array(["text"]), np.zeros(2, "i4,f4")):
        with pytest.raises(TypeError, match="ndarray cannot cross"):
            wire.encode(array)


def test_a_read_only_array_stays_read_only():
    array = np.arange(3)
    array.flags.writeable = False
    assert not crossed(array).flags.writeable and crossed(np.arange(3)).flags.writeable


def overlapping_bytes():
    memory = bytearray(range(16))
    return np.frombuffer(memory, np.uint8, count=8), np.frombuffer(memory, np.int16, offset=4)


def whole_and_part():
    whole = np.zeros(10)
    return whole, whole[3:7]


def two_parts():
    whole = np.zeros(10)
    return whole[:6], whole[:3:-1]


def windows():
    whole = np.zeros(10)
    return np.lib.stride_tricks.as_strided(whole, (9, 2), (8, 8)), whole


@pytest.mark.parametrize("pair", [whole_and_part, two_parts, windows, overlapping_bytes])
def test_arrays_that_share_memory_still_share_it(pair):
    sent = pair()
    first, second = crossed(sent)
    assert np.shares_memory(first, second)
    for array, back in zip(sent, (first, second)):
        array.flat[-1] = back.flat[-1] = 9
    assert all(map(same_array, (first, second), sent))


def test_what_lies_beside_a_view_crosses_too():
    whole = np.arange(10.0)
    for view in (whole[4:6], np.lib.stride_tricks.as_strided(whole[4:], (2,), (8,))):
        assert crossed(view).base.view(float).tolist() == whole.tolist()


def test_separate_arrays_stay_separate():
    first, second = crossed((np.zeros(3), np.zeros(3)))
    assert not np.shares_memory(first, second)


def test_the_same_array_twice_is_one_array():
    array = np.zeros(3)
    first, inner = crossed((array, {"again": array}))
    assert first is inner["again"]


# torch -------------------------------------------------------------------------------------------

TORCH_DTYPES = [
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.bool,
    torch.int8,
    torch.uint8,
    torch.int64,
    torch.complex64,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.float8_e8m0fnu,
    torch.float4_e2m1fn_x2,
]


def bits(tensor):
    return tensor.detach().contiguous().flatten().view(torch.uint8).tolist()


@pytest.mark.parametrize("dtype", TORCH_DTYPES, ids=str)
def test_a_tensor_keeps_its_dtype_and_bits(dtype):
    tensor = (torch.arange(16, dtype=torch.uint8) % 2).repeat(dtype.itemsize).view(dtype)
    back = crossed(tensor)
    assert back.dtype == dtype and bits(back) == bits(tensor)


@pytest.mark.parametrize(
    "layout",
    [
        lambda t: t.T,
        lambda t: t[2:4, 1:5],
        lambda t: t[1].expand(3, 6),
        lambda t: t[3:3],
        lambda t: t[0, 0],
        lambda t: torch.empty(0, 3),
        lambda t: t.unfold(1, 2, 1),
    ],
    ids=["transposed", "middle", "repeated", "no rows", "one number", "nothing", "windows"],
)
def test_a_tensor_keeps_strides_and_offset(layout):
    tensor = layout(torch.arange(30.0).reshape(5, 6))
    back = crossed(tensor)
    assert torch.equal(back, tensor) and back.stride() == tensor.stride()
    assert back.storage_offset() == tensor.storage_offset() or not tensor.numel()


def test_tensors_that_share_a_storage_still_share_it():
    whole = torch.zeros(10)
    first, second, array = crossed((whole, whole[4:], whole.numpy()))
    first[5] = 1
    assert second[1] == array[5] == 1


def test_a_conjugate_view_crosses_with_its_values():
    assert torch.equal(crossed(torch.tensor([1 + 2j]).conj()), torch.tensor([1 - 2j]))


def test_requires_grad_is_kept():
    assert crossed(torch.zeros(2, requires_grad=True)).requires_grad


def test_tensors_without_memory_of_their_own_do_not_cross():
    for tensor in (torch.empty(2, device="meta"), torch.eye(2).to_sparse()):
        with pytest.raises(TypeError, match="Tensor cannot cross"):
            wire.encode(tensor)
