"""Sectors and lines against loops over lanes, and against what Nsight Compute counted on an H200."""

import numpy as np
import pytest

from tools.models.sectors import atomic_sectors, efficiency, lines, sectors
from tools.tests.models.recorded import rows

LANES = np.arange(32)


def touched(addresses, size, active, piece) -> set[int]:
    """The pieces that active lanes touch, byte by byte."""
    return {
        byte // piece
        for address, there in zip(addresses, active)
        if there
        for byte in range(int(address), int(address) + size)
    }


def drawn(seed: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Requests over few and many pieces, in order or not, aligned or not, with none to all lanes active."""
    rng = np.random.default_rng(seed)
    addresses = rng.integers(0, 8 << rng.integers(0, 10, (200, 1)), (200, 32))
    addresses[::2] *= size
    addresses[::3] = np.sort(addresses[::3])
    return addresses + rng.integers(0, 1 << 40), rng.random((200, 32)) < rng.random((200, 1))


@pytest.mark.parametrize("size", range(1, 17))
def test_every_piece_that_an_active_lane_touches_counts_once(size):
    addresses, mask = drawn(size, size)
    for count, piece in ((sectors, 32), (lines, 128)):
        expected = [len(touched(*row, piece)) for row in zip(addresses, [size] * 200, mask)]
        assert count(addresses, size, mask).tolist() == expected
        whole = [len(touched(row, size, [True] * 32, piece)) for row in addresses]
        assert count(addresses, size).tolist() == whole


@pytest.mark.parametrize(
    "stride, size, of_sectors, of_lines",
    [
        (4, 4, 4, 1),
        (8, 4, 8, 2),
        (16, 4, 16, 4),
        (32, 4, 32, 8),
        (128, 4, 32, 32),
        (0, 4, 1, 1),
        (1, 1, 1, 1),
        (2, 2, 2, 1),
        (8, 8, 8, 2),
        (16, 16, 16, 4),
        (12, 12, 12, 3),
    ],
)
def test_a_strided_request(stride, size, of_sectors, of_lines):
    assert (sectors(LANES * stride, size), lines(LANES * stride, size)) == (of_sectors, of_lines)


def test_one_element_off_touches_one_more_sector_and_one_more_line():
    assert (sectors(LANES * 4 + 4, 4), lines(LANES * 4 + 4, 4)) == (5, 2)


def test_an_access_across_an_edge_touches_both_sides():
    assert sectors(np.full(32, 31), 2) == 2
    assert lines(np.full(32, 120), 16) == 2


def test_what_inactive_lanes_hold_does_not_matter():
    garbage = np.where(LANES < 8, LANES * 4, np.iinfo(np.int64).min + LANES)
    assert sectors(garbage, 4, LANES < 8) == 1
    assert efficiency(garbage, 4, LANES < 8) == 1.0


def test_no_active_lane_touches_nothing():
    idle = np.zeros((3, 32), bool)
    for count in (sectors, lines, atomic_sectors):
        assert count(np.zeros((3, 32), int), 4, idle).tolist() == [0, 0, 0]
        assert count(np.zeros((0, 32), int), 4).tolist() == []


def test_requests_keep_the_shape_of_their_axes():
    addresses = np.zeros((2, 5, 32), int)
    assert sectors(addresses, 4).shape == lines(addresses, 4).shape == atomic_sectors(addresses, 4).shape == (2, 5)


def test_requests_in_order_are_not_sorted(monkeypatch):
    monkeypatch.setattr(np, "sort", None)
    assert sectors(LANES * 4, 4, LANES < 17) == 3


@pytest.mark.parametrize("size", [0, 17, 32])
def test_an_access_of_another_size_is_refused(size):
    with pytest.raises(ValueError, match=f"1 to 16 bytes, not {size}"):
        sectors(LANES, size)


@pytest.mark.parametrize("stride, expected", [(4, 1.0), (8, 0.5), (12, 1 / 3), (128, 0.125), (0, 0.125)])
def test_efficiency_is_the_share_of_moved_bytes_that_a_lane_asks_for(stride, expected):
    assert efficiency(LANES * stride, 4) == expected


def test_efficiency_over_many_requests_against_loops():
    for size in (1, 3, 4, 8, 16):
        addresses, mask = drawn(size, size)
        asked = sum(len(touched(row, size, active, 1)) for row, active in zip(addresses, mask))
        moved = sum(32 * len(touched(row, size, active, 32)) for row, active in zip(addresses, mask))
        assert efficiency(addresses, size, mask) == pytest.approx(asked / moved)
    assert efficiency(addresses, 4, np.zeros_like(mask)) == 1.0


@pytest.mark.parametrize("size", [4, 8])
def test_an_atomic_operation_sends_a_sector_for_each_turn_of_its_busiest_element(size):
    addresses, mask = drawn(7, size)
    addresses -= addresses % size
    expected = []
    for row, active in zip(addresses, mask):
        turns = {}
        for address in row[active].tolist():
            sector = turns.setdefault(address // 32, {})
            sector[address] = sector.get(address, 0) + 1
        expected.append(sum(max(sector.values()) for sector in turns.values()))
    assert atomic_sectors(addresses, size, mask).tolist() == expected


def test_each_request_of_an_atomic_operation_counts_for_itself():
    assert atomic_sectors(np.zeros((3, 32), int), 4).tolist() == [32, 32, 32]


MEASURED = [row for row in rows("requests_h200.json") if row[0] == "global"]


def test_loads_and_stores_touch_the_sectors_that_the_profiler_counts():
    requests = [(kind, size, found, lanes) for _, kind, size, _, found, lanes in MEASURED if kind != "atomic"]
    assert len(requests) == 248
    for kind, size, found, lanes in requests:
        lanes = np.array(lanes)
        assert sectors(lanes, size, lanes >= 0) == found, (kind, size, lanes)


def test_atomic_operations_send_the_sectors_that_the_profiler_counts_but_for_one_far_scattered_request():
    different = []
    for _, kind, size, _, found, lanes in MEASURED:
        lanes = np.array(lanes)
        if kind == "atomic" and (ours := int(atomic_sectors(lanes, size, lanes >= 0))) != found:
            different.append((ours, found, len({offset // 32 for offset in lanes if offset >= 0})))
    assert sum(row[1] == "atomic" for row in MEASURED) == 56
    assert different == [(22, 23, 20)]
