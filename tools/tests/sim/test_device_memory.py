"""Memory of the simulated GPU: addresses, contents that show, and what is in use."""

import gc

import numpy as np
import pytest

from tools.sim.device_memory import Memory, OutOfMemory, pointer, poisoned


def test_pieces_begin_at_multiples_of_512_bytes_far_from_each_other():
    memory = Memory(1 << 20)
    addresses = [memory.allocate(size).address for size in (1, 513, 4096)]
    assert [address % 512 for address in addresses] == [0, 0, 0]
    assert min(np.diff(sorted(addresses))) >= 1 << 30


def test_what_nobody_wrote_is_nan_or_no_plausible_number():
    piece = Memory(1 << 20).allocate(16)
    assert np.isnan(piece.array(2, np.float64)).all()
    assert np.isnan(piece.array(8, np.float16)).all()
    assert piece.array(4, np.int32).tolist() == [-1] * 4
    assert piece.array(2, np.uint64).tolist() == [2**64 - 1] * 2


def test_memory_is_used_in_units_of_512_bytes_and_comes_back_with_the_last_array_in_it():
    memory = Memory(1 << 20)
    piece = memory.allocate(513)
    array = piece.array(100, np.int8)
    del piece
    gc.collect()
    assert memory.used == 1024
    del array
    gc.collect()
    assert memory.used == 0


def test_more_than_there_is_is_refused_and_takes_nothing():
    memory = Memory(2048)
    kept = memory.allocate(1024)
    with pytest.raises(OutOfMemory, match="1,536 bytes were asked for, and the GPU has 1,024 left"):
        memory.allocate(1025)
    assert memory.used == 1024
    assert kept.storage.size == 1024


def test_an_address_leads_to_its_piece_and_past_the_end_to_none():
    memory = Memory(1 << 20)
    first, second = memory.allocate(100), memory.allocate(100)
    assert memory.at(first.address + 99).storage is first.storage
    assert memory.at(second.address).storage is second.storage
    assert memory.at(first.address + 100) is None
    assert memory.at(12) is None


def test_a_piece_that_is_gone_is_at_no_address():
    memory = Memory(1 << 20)
    address = memory.allocate(100).address
    gc.collect()
    assert memory.at(address) is None


def test_the_address_of_a_part_counts_in_bytes():
    piece = Memory(1 << 20).allocate(64)
    array = piece.array((2, 4), np.float64)
    assert piece.address_of(array) == piece.address
    assert piece.address_of(array[1, 2:]) == piece.address + 48
    assert piece.address_of(array[::-1]) == piece.address + 32
    assert piece.address_of(array[:0]) == 0


def test_bytes_that_another_library_holds_are_found_as_well():
    memory = Memory(1 << 20)
    address = memory.reserve(1000)
    storage = np.zeros(600, np.uint8)
    memory.hold(storage, address + 256)
    assert memory.at(address + 300).storage is storage
    assert memory.at(address) is None
    memory.release(1000)
    assert memory.used == 0


def test_memory_of_the_host_that_stands_for_the_gpus_keeps_its_address():
    memory = Memory(1 << 20)
    one, other = np.zeros(3), np.zeros(3)
    assert memory.adopt(pointer(one)) == memory.adopt(pointer(one)) != memory.adopt(pointer(other))
    assert memory.adopt(pointer(one)) % 512 == 0


def test_pinned_is_all_that_lies_in_pinned_memory():
    memory = Memory(1 << 20)
    array = np.zeros((4, 4))
    middle = array[1:3]
    memory.pin(middle)
    assert memory.is_pinned(array[1]) and memory.is_pinned(middle)
    assert not memory.is_pinned(array) and not memory.is_pinned(array[3])
    memory.unpin(middle)
    assert not memory.is_pinned(array[1])


def test_mapped_memory_is_pinned_has_an_address_and_costs_the_gpu_nothing():
    memory = Memory(1 << 20)
    piece = memory.map(poisoned(100))
    assert memory.is_pinned(piece.storage)
    assert memory.at(piece.address + 5).storage is piece.storage
    assert memory.used == 0


def test_a_piece_may_go_at_any_moment(garbage):
    """The address of one that is left leads to it, and what is pinned stays pinned."""
    memory = Memory(1 << 30)
    kept, pinned = memory.allocate(512), np.zeros(8)
    memory.pin(pinned)
    for size in range(1, 40):
        garbage.extend([memory.allocate(size) for _ in range(12)])
        assert memory.at(kept.address).address == kept.address
        arrays = [np.zeros(8) for _ in range(24)]
        for array in arrays:
            memory.pin(array)
        del array
        garbage.extend(arrays)
        del arrays
        assert memory.is_pinned(pinned) and not memory.is_pinned(kept.storage)
    garbage.clear()
    assert memory.used == 512
