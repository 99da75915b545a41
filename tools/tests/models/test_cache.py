"""Caches against a plain list kept in the order of use, and against counts worked out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.models.cache import Cache, Misses, served_by

caches = st.builds(
    lambda sets, ways, line: Cache(sets * ways * line, line, ways),
    st.integers(1, 5),
    st.integers(1, 4),
    st.sampled_from([1, 4, 24, 64]),
)
addresses = st.lists(st.integers(0, 2000), max_size=120)
checked = settings(max_examples=150, deadline=None, derandomize=True)


def missed_by_list(cache: Cache, addresses: list[int]) -> list[bool]:
    used, missed = [[] for _ in range(cache.sets)], []
    for address in addresses:
        line = address // cache.line
        own = used[line % cache.sets]
        missed.append(line not in own)
        if line in own:
            own.remove(line)
        own.insert(0, line)
        del own[cache.ways :]
    return missed


@checked
@given(caches, addresses)
def test_hits_and_misses_are_those_of_a_list_in_the_order_of_use(cache, addresses):
    assert cache.missed(addresses).tolist() == missed_by_list(cache, addresses)


@checked
@given(caches, addresses)
def test_every_miss_has_one_cause(cache, addresses):
    lines = [address // cache.line for address in addresses]
    in_one_set = missed_by_list(Cache(cache.capacity, cache.line, cache.capacity // cache.line), addresses)
    causes = {"cold": 0, "capacity": 0, "conflict": 0}
    for index, missed in enumerate(missed_by_list(cache, addresses)):
        if missed:
            first = lines[index] not in lines[:index]
            causes["cold" if first else "capacity" if in_one_set[index] else "conflict"] += 1
    assert cache.misses(addresses) == Misses(**causes)
    assert cache.misses(addresses).total == cache.missed(addresses).sum()


@checked
@given(st.lists(caches, max_size=3), addresses)
def test_each_level_sees_what_missed_before(levels, addresses):
    expected, asked = [0] * len(addresses), range(len(addresses))
    for cache in levels:
        missed = missed_by_list(cache, [addresses[index] for index in asked])
        asked = [index for index, miss in zip(asked, missed) if miss]
        for index in asked:
            expected[index] += 1
    assert served_by(levels, addresses).tolist() == expected


# By hand -----------------------------------------------------------------------------------------


def matrix(rows: int, cols: int, row_bytes: int | None = None) -> np.ndarray:
    """Addresses of the elements of a float64 matrix in row order; row_bytes: from one row to the next."""
    return np.arange(rows)[:, None] * (row_bytes or 8 * cols) + 8 * np.arange(cols)


def test_row_order_misses_once_a_line_and_column_order_each_time():
    cache = Cache(32 * 1024)
    by_row = matrix(1024, 1024)
    assert cache.misses(by_row) == Misses(cold=1024 * 128, capacity=0, conflict=0)
    assert cache.misses(by_row.T).total == 1024 * 1024


def test_a_row_whose_size_is_a_power_of_two_makes_a_column_meet_in_one_set():
    # The cache could hold all 64 lines, but they fall into one of its 8 sets, which holds 8.
    cache = Cache(4096)
    column = matrix(64, 1, row_bytes=4096).ravel()
    assert cache.misses(np.tile(column, 2)) == Misses(cold=64, capacity=0, conflict=64)
    padded = matrix(64, 1, row_bytes=4096 + 64).ravel()
    assert cache.misses(np.tile(padded, 2)) == Misses(cold=64, capacity=0, conflict=0)


def test_a_second_pass_misses_again_when_the_data_do_not_fit():
    cache = Cache(1024, line=64, ways=16)
    assert cache.misses(np.tile(np.arange(0, 1024, 64), 2)) == Misses(16, 0, 0)
    assert cache.misses(np.tile(np.arange(0, 1088, 64), 2)) == Misses(17, 17, 0)


def test_what_falls_out_of_the_first_level_is_found_in_the_second():
    levels = [Cache(128, 64, 2), Cache(1024, 64, 16)]
    assert served_by(levels, [0, 8, 64, 128, 0, 130, 4096]).tolist() == [2, 0, 2, 2, 1, 0, 2]


def test_a_block_that_fits_is_read_once():
    # The transpose of 256 x 256: 32768 lines in all when blocks of 8 x 8 fill whole lines of both matrices.
    rows = matrix(256, 256)
    source = rows.reshape(32, 8, 32, 8).transpose(0, 2, 1, 3)
    target = rows.T.reshape(32, 8, 32, 8).transpose(0, 2, 1, 3) + 256 * 256 * 8
    blocked = np.stack([source, target], axis=-1)
    plain = np.stack([rows, rows.T + 256 * 256 * 8], axis=-1)
    cache = Cache(32 * 1024, ways=512)
    assert cache.misses(blocked).total == 2 * 256 * 32
    assert cache.misses(plain).total == 2 * 256 * 32
    small = Cache(4 * 1024, ways=64)
    assert small.misses(blocked).total == 2 * 256 * 32
    assert small.misses(plain).total == 256 * 32 + 256 * 256


def test_an_impossible_cache_is_refused():
    with pytest.raises(ValueError, match="a cache of 1000 bytes cannot be cut into sets of 8 lines of 64 bytes"):
        Cache(1000)
