"""Arrays of the device: their memory, their views, and that NumPy cannot look through them."""

import gc
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim import host


@pytest.mark.parametrize(
    "look",
    [
        np.asarray,
        np.array,
        memoryview,
        lambda x: np.frombuffer(x, np.uint8),
        lambda x: np.arange(9)[x],
        lambda x: [0, 1][x[0]],
        lambda x: range(3)[x[0]],
    ],
)
def test_nothing_on_the_host_sees_through_an_array(look):
    with pytest.raises(TypeError):
        look(cp.arange(3))


def test_views_share_memory_and_copies_do_not():
    x = cp.zeros((4, 4))
    for view in (
        x[1:],
        x.T,
        x.reshape(16),
        x.ravel(),
        x[:, 0],
        x.view(cp.int64),
        x.swapaxes(0, 1),
        x.squeeze(),
        cp.broadcast_to(x, (2, 4, 4)),
        cp.diagonal(x),
        cp.expand_dims(x, 0),
        cp.flip(x),
        cp.split(x, 2)[1],
    ):
        assert view.base is x and cp.shares_memory(view, x)
    for copy in (x.copy(), x + 0, x.flatten(), x.T.ravel(), x[[0, 1]], x.astype(cp.float32), cp.array(x)):
        assert copy.base is None and not cp.shares_memory(copy, x)


def test_what_a_view_stores_is_in_the_array():
    x = cp.zeros((2, 3))
    x.T[2] = 7
    x.reshape(-1)[0] = 1
    cp.diagonal(x)[1:] = 5
    assert x.tolist() == [[1, 0, 7], [0, 5, 7]]


def test_a_view_of_a_view_has_the_first_array_for_its_base():
    x = cp.arange(9)
    assert x[1:][1:].base is x


def test_addresses_follow_the_strides():
    x = cp.zeros((4, 8), dtype=cp.float32)
    assert x.data.ptr % 512 == 0
    assert x[2, 3:].data.ptr - x.data.ptr == 2 * 32 + 3 * 4
    assert x[::-1].data.ptr - x.data.ptr == 3 * 32
    assert (x.data + 64).ptr == x[2].data.ptr
    assert cp.ndarray((8,), cp.float32, x.data + 32, order="C").data.ptr == x[1].data.ptr


def test_an_array_made_from_a_pointer_is_the_memory_there():
    x = cp.arange(6, dtype=cp.int32)
    y = cp.ndarray((2,), cp.int32, x.data + 4, strides=(8,))
    y += 10
    assert x.tolist() == [0, 11, 2, 13, 4, 5]


@pytest.mark.parametrize(
    "dtype, shown",
    [
        (cp.float16, "nan"),
        (cp.float64, "nan"),
        (cp.int32, "-1"),
        (cp.uint8, "255"),
        (bool, "True"),
        (cp.complex64, "nan"),
    ],
)
def test_what_nobody_wrote_can_be_seen(dtype, shown):
    for array in (cp.empty(3, dtype), cp.empty_like(cp.zeros(3, dtype)), cp.ndarray((3,), dtype, order="F")):
        assert all(shown in str(each) for each in array.get())


def test_results_are_in_c_order_whatever_the_operands_order_is():
    x = cp.zeros((3, 4)).T
    assert x.flags.f_contiguous
    for result in (x + x, cp.sin(x), cp.where(x > 0, x, x), cp.concatenate([x, x]), cp.sort(x.copy(), axis=0)):
        assert result.flags.c_contiguous


def test_memory_is_given_back_when_the_last_view_is_gone():
    pool = cp.get_default_memory_pool()
    gc.collect()
    before = pool.used_bytes()
    x = cp.zeros(1000, dtype=cp.float32)
    view = x[10:]
    assert pool.used_bytes() - before == 4096
    del x
    assert pool.used_bytes() - before == 4096
    del view
    gc.collect()
    assert pool.used_bytes() == before


def test_another_library_finds_the_array_by_its_address_and_the_other_way_round():
    class Foreign:
        def __init__(self, array):
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    x = cp.arange(12, dtype=cp.int16).reshape(3, 4)
    again = cp.asarray(Foreign(x[:, 1:]))
    again[0, 0] = 99
    assert x[0, 1] == 99 and again.tolist() == x[:, 1:].tolist()
    assert host.device().memory.at(x.data.ptr).address == x.data.ptr


def test_an_array_whose_owner_is_gone_is_refused():
    class Foreign:
        __cuda_array_interface__ = {"shape": (1,), "typestr": "<f4", "data": (0x1234, False), "version": 3}

    with pytest.raises(ValueError, match="no memory of the simulated GPU has the address 0x1234"):
        cp.asarray(Foreign())


def test_bfloat16_arrays_compute_in_bfloat16():
    x = cp.asarray(np.array([1.0, 2.0], ml_dtypes.bfloat16))
    assert (x + x).dtype == (x * 2).dtype == x.dtype == ml_dtypes.bfloat16
    assert (x + 1.0).astype(cp.float32).tolist() == [2.0, 3.0]
    assert (x * cp.ones(2, cp.float32)).dtype == cp.float32


def test_in_place_operations_on_overlapping_views_see_the_old_values():
    x = cp.arange(5)
    x[1:] += x[:-1]
    assert x.tolist() == [0, 1, 3, 5, 7]


def test_the_package_loads_neither_frameworks_nor_what_is_needed_later():
    later = ["torch", "triton", "numba", "cupy", "ml_dtypes", "pytest", "tools.sim.cupy.raw", "tools.sim.cupy.kernels"]
    script = f"import sys, tools.sim.cupy; print([name for name in {later} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "run",
    [
        lambda a, host: cp.matmul(a, a, out=host),
        lambda a, host: cp.dot(a, a, out=host),
        lambda a, host: a.dot(a, host),
        lambda a, host: cp.einsum("ij,jk", a, a, out=host),
        lambda a, host: cp.around(a, 1, out=host),
        lambda a, host: a.sum(axis=0, out=host[0]),
        lambda a, host: cp.take(a, cp.arange(2), axis=0, out=host),
        lambda a, host: np.matmul(a, a, out=host),
    ],
)
def test_a_place_for_the_result_lies_on_the_device(run):
    with pytest.raises(TypeError) as caught:
        run(cp.ones((2, 2)), np.ones((2, 2)))
    assert str(caught.value).splitlines() == [
        "Argument 'out' has incorrect type (expected cupy._core.core._ndarray_base, got numpy.ndarray)",
        "It lies in the host's memory: cupy.asarray() copies it to the GPU's.",
    ]
