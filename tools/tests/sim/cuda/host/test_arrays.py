"""Arrays of the device: what they cost, what their memory holds, and whose it is. (What they can do: snippets/.)"""

import gc

import numpy as np
import pytest

from tools.sim import cuda, recording
from tools.sim.cuda.host.errors import CudaAPIError


def transfers_of(call) -> dict[str, int]:
    """The figures that are not 0."""
    with recording.record() as counters:
        call()
    return {name: figure for name, figure in vars(counters.transfers).items() if figure}


# What they cost ----------------------------------------------------------------------------------


def test_to_device_is_an_upload_and_copy_to_host_a_download_that_waits():
    assert transfers_of(lambda: cuda.to_device(np.ones(3))) == {"uploads": 1, "bytes_uploaded": 24}
    array = cuda.to_device(np.ones(3))
    assert transfers_of(array.copy_to_host) == {"downloads": 1, "bytes_downloaded": 24, "synchronizations": 1}


def test_an_allocation_transfers_nothing():
    assert (
        transfers_of(
            lambda: (
                cuda.device_array(3),
                cuda.device_array_like(np.ones(3)),
                cuda.pinned_array(3),
                cuda.mapped_array(3),
                cuda.managed_array(3),
            )
        )
        == {}
    )


def test_a_slice_costs_nothing_and_each_element_that_is_read_a_download():
    array = cuda.to_device(np.arange(6.0))
    assert transfers_of(lambda: array[1:4]) == {}
    assert transfers_of(lambda: list(array)) == {"downloads": 6, "bytes_downloaded": 48, "synchronizations": 6}


def test_a_stepped_slice_crosses_with_what_lies_between():
    array = cuda.to_device(np.arange(6.0))
    assert transfers_of(array[::2].copy_to_host)["bytes_downloaded"] == 40


def test_setting_from_the_host_is_an_upload_a_copy_and_a_wait():
    array = cuda.to_device(np.zeros(6))
    assert transfers_of(lambda: array.__setitem__(slice(0, 4), 1.0)) == {
        "uploads": 1,
        "bytes_uploaded": 8,
        "copies": 1,
        "bytes_copied": 32,
        "synchronizations": 1,
    }


def test_copies_within_the_device_do_not_touch_the_host():
    array, other = cuda.to_device(np.zeros(6)), cuda.to_device(np.ones(6))
    assert transfers_of(lambda: array.copy_to_device(other)) == {"copies": 1, "bytes_copied": 48}
    matrix = array.reshape(2, 3)
    assert transfers_of(lambda: matrix.T) == {"copies": 1, "bytes_copied": 48}


def test_numpy_reads_it_by_a_download():
    array = cuda.to_device(np.ones(3))
    assert transfers_of(lambda: np.sum(array))["downloads"] == 1


def test_the_host_waits_unless_the_memory_is_pinned_and_a_stream_is_named():
    array, stream = cuda.device_array(3), cuda.stream()
    page_locked, pageable = cuda.pinned_array(3), np.empty(3)
    assert "synchronizations" not in transfers_of(lambda: array.copy_to_host(page_locked, stream))
    assert "synchronizations" in transfers_of(lambda: array.copy_to_host(page_locked))
    assert "synchronizations" in transfers_of(lambda: array.copy_to_host(pageable, stream))


def test_an_array_bound_to_a_stream_uses_it(device):
    stream = cuda.stream()
    cuda.to_device(np.ones(3)).bind(stream).copy_to_host()
    assert device.timeline.spans[-1].stream == stream.number


# What their memory holds -------------------------------------------------------------------------


@pytest.mark.parametrize("make", [cuda.device_array, cuda.pinned_array, cuda.mapped_array, cuda.managed_array])
def test_what_nobody_has_stored_shows(make):
    numbers, counts = np.asarray(make(4, np.float32)), np.asarray(make(4, np.int16))
    assert np.isnan(numbers).all()
    assert counts.tolist() == [-1] * 4


def test_copy_false_only_allocates():
    assert np.isnan(cuda.to_device(np.ones(3), copy=False).copy_to_host()).all()


def test_the_source_can_change_afterwards():
    source = np.ones(3)
    array = cuda.to_device(source)
    source[:] = 2
    assert array.copy_to_host().tolist() == [1, 1, 1]


def test_a_download_into_pinned_memory_arrives_when_the_host_has_waited():
    stream, target = cuda.stream(), cuda.pinned_array(3)
    target[:] = 0
    cuda.to_device(np.ones(3)).copy_to_host(target, stream)
    assert target.tolist() == [0, 0, 0]
    stream.synchronize()
    assert target.tolist() == [1, 1, 1]


def test_pinned_and_mapped_memory_is_the_hosts_and_managed_the_devices(device):
    used = []
    for make in (cuda.pinned_array, cuda.mapped_array, cuda.managed_array):
        array = make(1024, np.int8)
        used.append((device.memory.used, device.memory.is_pinned(array), cuda.is_cuda_array(array)))
        del array
    assert used == [(0, True, False), (0, True, True), (1024, False, True)]


def test_pinned_lasts_as_long_as_the_block(device):
    array = np.ones(3)
    with cuda.pinned(array):
        assert device.memory.is_pinned(array)
    assert not device.memory.is_pinned(array)


def test_a_mapped_array_is_the_hosts_memory_under_an_address_of_the_device(device):
    array = np.zeros(3)
    with cuda.mapped(array) as mapped:
        mapped[1] = 5.0
        assert device.memory.at(mapped.device_ctypes_pointer.value) is not None
        assert device.memory.is_pinned(array)
    assert array.tolist() == [0, 5, 0]
    assert not device.memory.is_pinned(array)


# Whose it is -------------------------------------------------------------------------------------


def test_memory_comes_back_when_the_last_view_is_gone():
    context = cuda.current_context()
    free = context.get_memory_info().free
    array = cuda.device_array(1 << 20, np.int8)
    view = array[10:20]
    del array
    gc.collect()
    assert free - context.get_memory_info().free == 1 << 20
    del view
    gc.collect()
    assert context.get_memory_info().free == free


def test_more_than_there_is_is_the_drivers_error():
    total = cuda.current_context().get_memory_info().total
    with pytest.raises(CudaAPIError, match="CUDA_ERROR_OUT_OF_MEMORY") as caught:
        cuda.device_array(total + 1, np.int8)
    assert caught.value.code == 2


class Foreign:
    """An array of another library."""

    def __init__(self, **interface):
        self.__cuda_array_interface__ = interface


def test_another_librarys_array_is_the_same_memory():
    array = cuda.to_device(np.arange(6.0))
    address = array.device_ctypes_pointer.value
    foreign = Foreign(shape=(3,), typestr="<f8", data=(address + 8, False), strides=(16,), version=3)
    view = cuda.as_cuda_array(foreign)
    assert view.copy_to_host().tolist() == [1, 3, 5]
    view[0] = 9.0
    assert array[1] == 9
    assert cuda.to_device(foreign).device_ctypes_pointer.value == address + 8


def test_another_librarys_stream_is_waited_for():
    array = cuda.to_device(np.arange(6.0))
    stream = cuda.stream()
    interface = array.bind(stream).__cuda_array_interface__
    assert transfers_of(lambda: cuda.as_cuda_array(Foreign(**interface))) == {"synchronizations": 1}
    assert transfers_of(lambda: cuda.as_cuda_array(Foreign(**interface), sync=False)) == {}


def test_a_masked_array_is_refused():
    array = cuda.to_device(np.ones(3))
    with pytest.raises(NotImplementedError, match="Masked arrays"):
        cuda.as_cuda_array(Foreign(**array.__cuda_array_interface__, mask=array))


def test_an_address_of_another_gpu_is_an_error():
    foreign = Foreign(shape=(3,), typestr="<f8", data=(0x1234, False), version=3)
    with pytest.raises(ValueError, match="The simulated GPU has no memory at address 0x1234"):
        cuda.as_cuda_array(foreign)
