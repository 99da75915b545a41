"""Wavefronts and bank conflicts against loops over lanes, and against what Nsight Compute counted on an H200."""

from math import gcd

import numpy as np
import pytest

from tools.models.banks import conflict_degree, conflicts, count, same_word, wavefronts
from tools.tests.models.recorded import rows

LANES = np.arange(32)


def by_hand(addresses, size, active, kind) -> tuple[int, int]:
    """Wavefronts and conflicts of one request: serve each group of lanes, word by word."""
    groups = {8: 2, 16: 4}.get(size, 1)
    if kind == "load" and groups > 1 and any(agree(addresses, active, distance) for distance in (1, 2)):
        groups //= 2
    total = busy = 0
    for group in range(groups):
        wanted = [[] for _ in range(32)]
        for lane in range(32 // groups * group, 32 // groups * (group + 1)):
            if active[lane]:
                for word in range(addresses[lane] // 4, (addresses[lane] + size - 1) // 4 + 1):
                    if kind == "atomic" or word not in wanted[word % 32]:
                        wanted[word % 32].append(word)
        total += max(map(len, wanted))
        busy += any(wanted)
    return total, total - busy


def same_word_by_hand(addresses, size, active) -> int:
    """Of each group of lanes those that wait for another one's turn at the word that most want."""
    width = min(32, 128 // size)
    extra = 0
    for group in range(0, 32, width):
        wanted = [addresses[lane] // max(4, size) for lane in range(group, group + width) if active[lane]]
        extra += max(map(wanted.count, wanted), default=1) - 1
    return extra


def agree(addresses, active, distance) -> bool:
    return all(
        addresses[lane] == addresses[lane ^ distance] for lane in range(32) if active[lane] and active[lane ^ distance]
    )


def drawn(seed: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Requests with few words and many, with neighbours that agree, with none to all lanes active."""
    rng = np.random.default_rng(seed)
    elements = rng.integers(0, 1 << rng.integers(0, 10, (300, 1)), (300, 32))
    for distance in (1, 2, 4, 8, 16):
        chosen = rng.random(300) < 0.3
        elements[chosen] = elements[chosen][:, LANES & ~distance]
    elements[::7, 5] = 3
    mask = rng.random((300, 32)) < rng.random((300, 1))
    mask[::3] = True
    return elements * size, mask


@pytest.mark.parametrize("kind", ["load", "store", "atomic"])
@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_random_requests_against_loops_over_lanes(size, kind):
    addresses, mask = drawn(size, size)
    expected = [by_hand(row.tolist(), size, active, kind) for row, active in zip(addresses, mask)]
    total, extra = count(addresses, size, mask, kind)
    assert list(zip(total.tolist(), extra.tolist())) == expected
    assert wavefronts(addresses, size, mask, kind).tolist() == total.tolist()
    assert conflicts(addresses, size, mask, kind).tolist() == extra.tolist()


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_conflicts_of_one_word_against_loops_over_lanes(size):
    addresses, mask = drawn(size, size)
    expected = [same_word_by_hand(row.tolist(), size, active) for row, active in zip(addresses, mask)]
    assert same_word(addresses, size, mask).tolist() == expected
    assert (same_word(addresses, size, mask) <= conflicts(addresses, size, mask, "atomic")).all()
    assert same_word(addresses[0], size) == same_word_by_hand(addresses[0].tolist(), size, [True] * 32)


@pytest.mark.parametrize("stride, expected", [(1, 1), (2, 2), (3, 1), (8, 8), (16, 16), (32, 32), (33, 1), (0, 1)])
def test_a_column_of_floats_takes_as_many_wavefronts_as_its_stride_shares_with_the_banks(stride, expected):
    assert (wavefronts(LANES * stride * 4, 4), conflicts(LANES * stride * 4, 4)) == (expected, expected - 1)


@pytest.mark.parametrize("size, fewest", [(1, 1), (2, 1), (4, 1), (8, 2), (16, 4)])
def test_neighbouring_elements_take_a_wavefront_for_every_128_bytes(size, fewest):
    for kind in ("load", "store"):
        assert count(LANES * size, size, kind=kind) == (fewest, 0)


@pytest.mark.parametrize("size, of_load, of_store", [(4, 1, 1), (8, 1, 2), (16, 2, 4)])
def test_lanes_that_load_one_wide_word_are_served_together_and_lanes_that_store_it_are_not(size, of_load, of_store):
    one = np.zeros(32, int)
    assert (wavefronts(one, size), wavefronts(one, size, kind="store")) == (of_load, of_store)


def test_one_pair_that_disagrees_keeps_the_whole_warp_apart():
    addresses = LANES // 2 * 16
    assert wavefronts(addresses, 16) == 2
    addresses[31] = 0
    assert wavefronts(addresses, 16) == 4


def test_every_lane_of_an_atomic_operation_has_its_turn():
    assert count(np.zeros(32, int), 4, kind="atomic") == (32, 31)
    assert count(LANES * 4, 4, kind="atomic") == (1, 0)


def test_no_active_lane_takes_no_wavefront():
    for kind in ("load", "store", "atomic"):
        total, extra = count(np.zeros((2, 32), int), 8, np.zeros((2, 32), bool), kind)
        assert total.tolist() == extra.tolist() == [0, 0]
        assert wavefronts(np.zeros((0, 32), int), 4, kind=kind).tolist() == []


def test_what_inactive_lanes_hold_does_not_matter():
    garbage = np.where(LANES < 8, LANES * 8, np.iinfo(np.int64).min + LANES)
    assert count(garbage, 8, LANES < 8) == (1, 0)


def test_requests_keep_the_shape_of_their_axes():
    assert wavefronts(np.zeros((2, 5, 32), int), 4).shape == (2, 5)


def test_a_row_of_neighbours_is_not_sorted(monkeypatch):
    monkeypatch.setattr(np, "sort", None)
    assert count(LANES * 4 + 512, 4) == (1, 0)


@pytest.mark.parametrize("size, kind", [(3, "load"), (32, "store"), (4, "read")])
def test_a_request_that_the_hardware_does_not_have_is_refused(size, kind):
    with pytest.raises(ValueError, match=f"not a {kind} of {size}"):
        count(LANES * size, size, kind=kind)


@pytest.mark.parametrize("itemsize, banks", [(4, 32), (8, 16), (16, 8)])
def test_the_degree_of_a_stride_is_what_it_has_in_common_with_the_banks_of_a_group(itemsize, banks):
    for stride in range(1, 70):
        assert conflict_degree(stride, itemsize) == gcd(stride, banks)
    assert conflict_degree(0, itemsize) == 1


def test_small_elements_share_words():
    assert [conflict_degree(stride, 1) for stride in (1, 4, 8, 128)] == [1, 1, 2, 32]


def test_wavefronts_and_conflicts_are_those_that_the_profiler_counts():
    measured = [row for row in rows("requests_h200.json") if row[0] == "shared"]
    assert len(measured) == 304
    for _, kind, size, total, extra, lanes in measured:
        lanes = np.array(lanes)
        assert count(lanes, size, lanes >= 0, kind) == (total, extra), (kind, size, lanes)
