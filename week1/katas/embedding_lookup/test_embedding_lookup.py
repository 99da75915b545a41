"""The lesson again, as checks: rows of any width, ids without a row, indices of 64 bits, what a row costs, a verse."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, speed_ratio
from tools.check.inputs import awkward_lengths, matrices
from tools.gpu import device
from week1.katas.embedding_lookup import embedding_lookup as lesson

INF, NAN = float("inf"), float("nan")
FAULTS = {  # ids, padding, how many have no row among 4
    "rows": ([0, 3], -1, 0), "one past the last row": ([0, 4], -1, 1), "below zero": ([0, -2], -1, 1),
    "padding": ([0, -1, -1], -1, 0), "padding beyond the rows": ([0, 7, 9], 7, 1),
    "padding with a row": ([0, 3, 4], 0, 1), "minus one, no padding": ([0, -1, 7], 7, 1),
    "two blocks of faults": ([4, 5, 6, 7, 8, 9], -1, 6), "all of these": ([0, 3, 4, -1, -2, 7, 2**40], -1, 4)}
VERSE = Path(__file__).with_name("verse.txt").read_text(encoding="utf-8")


def table_of(rng, n_rows, width):
    return torch.from_numpy(matrices(rng, (n_rows, width))[0]).to(device, torch.float32)


def ids_of(*rows, dtype=torch.int64):
    return torch.tensor(rows, dtype=dtype, device=device)


def looked_up(table, ids, padding=-1, block=None):
    out = torch.zeros(len(ids), table.shape[1], dtype=table.dtype, device=table.device)
    for place, row in enumerate(ids.tolist()):
        if row in range(len(table)) and row != padding:
            out[place] = table[row]
    return out


def without_row(ids, n_rows, padding=-1, block=None):
    faults = [row for row in ids.tolist() if row not in range(n_rows) and row != padding]
    return torch.tensor([len(faults)], dtype=torch.int32, device=ids.device)


def faults_among(ids, n_rows, padding):
    """For few ids, which a failure can then show."""
    return lesson.count_faults(ids_of(*ids), n_rows, padding=padding, block=4).item()


# Task 1: the row of each id, or zeros -------------------------------------------------------------

def lesson_table():
    return torch.arange(1.0, 13.0, device=device).reshape(4, 3)


@pytest.mark.task(1)
@pytest.mark.parametrize("block", [4, 2])
def test_looks_up_the_rows_of_the_lesson(block):
    assert_matches(lesson.lookup, lesson_table(), ids_of(2, 0, 2), block=block, oracle=looked_up, exact=True)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("row", [9, 4, -2, -4, 2**40])
def test_an_id_that_has_no_row_gives_zeros(row):
    """Also where Python would count from the end, and where it is wide of every memory."""
    assert_matches(lesson.lookup, lesson_table(), ids_of(2, row, 3), block=4, oracle=looked_up, exact=True)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("padding", [-1, 0, 7])
def test_padding_gives_zeros_even_where_the_table_has_such_a_row(padding):
    assert_matches(lesson.lookup, lesson_table(), ids_of(0, padding, 3, -1, padding), padding=padding, block=4,
                   oracle=looked_up, exact=True)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("width", awkward_lengths(block=16))  # 0, 1, 15, 16, 17, 37
@pytest.mark.parametrize("n_rows, n", [(7, 0), (7, 1), (7, 5), (0, 3)])
def test_looks_up_rows_of_any_width(width, n_rows, n, rng):
    ids = ids_of(*rng.integers(-2, 9, n).tolist())
    assert_matches(lesson.lookup, table_of(rng, n_rows, width), ids, block=16, oracle=looked_up, exact=True)


@pytest.mark.task(1)
@pytest.mark.nonfinite
def test_copies_bits_and_computes_nothing():
    """A mask that multiplies would turn an infinity next to a missing row into NaN."""
    table = torch.tensor([[INF, NAN], [-0.0, -INF]], device=device)
    assert_matches(lesson.lookup, table, ids_of(1, 5, 0), block=4, oracle=looked_up, exact=True)
    assert_matches(lesson.lookup, table.half(), ids_of(1, 5, 0), block=4, oracle=looked_up, exact=True)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("dtype", [torch.int16, torch.int32, torch.int64])
def test_small_types_hold_ids_and_not_what_follows_from_them(dtype, rng):
    """Row 600 of 64 columns begins at element 38400, and int16 ends at 32767."""
    table = table_of(rng, 700, 64)
    assert_matches(lesson.lookup, table, ids_of(699, 600, 700, -1, 0, dtype=dtype), oracle=looked_up, exact=True)


@pytest.mark.task(1)
@pytest.mark.counters
def test_one_launch_does_the_copying_a_program_for_each_id_and_block(rng):
    """Also where ids are small: another type for all of them is another array to write and to read."""
    counters = count(lesson.lookup, table_of(rng, 9, 40), ids_of(8, 3, 3, 0, 2, dtype=torch.int32), block=16)
    assert counters.library_operations == []
    assert counters.programs == 5 * 3
    launches = len(counters.launches)
    assert launches == 1


@pytest.mark.task(1)
@pytest.mark.counters
def test_nothing_is_read_for_an_id_that_has_no_row(rng):
    """Two rows of 40 float32 are read, five are written, and five ids of 8 bytes lead there."""
    counters = count(lesson.lookup, table_of(rng, 9, 40), ids_of(8, 9, -1, 3, -7), block=64)
    assert counters.bytes_loaded == 2 * 160 + 5 * 8
    assert counters.bytes_stored == 5 * 160


@pytest.mark.task(1)
@pytest.mark.compiled
def test_the_start_of_a_row_is_computed_in_64_bits(rng):
    """In the table and in out: each can have more than 2**31 elements, whatever type the ids have."""
    kernel = compiled(lesson.lookup, table_of(rng, 30, 1000), ids_of(3, 1, 4, dtype=torch.int32), chip="h100")
    products = re.findall(r"arith\.muli .*: (?:tensor<[\dx]+x)?(i\d+) ", kernel.kernels["lookup_kernel"].text("ttir"))
    row_starts_in_64_bits = products.count("i64")
    assert row_starts_in_64_bits >= 2


@pytest.mark.task(1)
@pytest.mark.gpu
def test_finds_the_last_row_of_a_table_of_two_gigabytes(rng):
    table = torch.empty(2**21 + 1, 1024, dtype=torch.uint8, device=device)
    table[-1] = last = torch.from_numpy(rng.integers(1, 255, 1024, dtype=np.uint8)).to(device)
    assert torch.equal(lesson.lookup(table, ids_of(2**21, dtype=torch.int32))[0], last)


@pytest.mark.task(1)
@pytest.mark.gpu
@pytest.mark.speed
def test_looks_up_at_the_speed_of_the_library(rng):
    """2**18 rows of 1024 halves: half a gigabyte to read, and as much to write."""
    table = table_of(rng, 2**10, 1024).half().repeat(64, 1)
    ids = ids_of(*rng.integers(0, len(table), 2**18).tolist())

    def by_library(table, ids):
        return torch.nn.functional.embedding(ids, table)

    assert speed_ratio(lesson.lookup, by_library, table, ids) >= 0.85


# Task 2: how many had no row ----------------------------------------------------------------------

@pytest.mark.task(2)
def test_counts_the_one_fault_of_the_lesson():
    assert_matches(lesson.count_faults, ids_of(2, 0, 2, 9), 4, block=4, oracle=without_row)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("ids, padding, faults", FAULTS.values(), ids=FAULTS)
def test_padding_is_no_fault_and_all_else_outside_is(ids, padding, faults):
    assert_matches(faults_among, ids, 4, padding, oracle=lambda *_: faults)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n", awkward_lengths(block=64))  # 0, 1, 63, 64, 65, 131
@pytest.mark.parametrize("n_rows", [0, 50])
def test_counts_among_any_number_of_ids(n, n_rows, rng):
    ids = ids_of(*rng.integers(-20, 70, n).tolist())
    assert_matches(lesson.count_faults, ids, n_rows, block=64, oracle=without_row)


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_block_adds_once(rng):
    """Atomic updates of one address wait in line: 512 would be a long one."""
    counters = count(lesson.count_faults, ids_of(*rng.integers(50, 90, 512).tolist()), 50, block=64)
    assert counters.library_operations == []
    assert counters.programs == 8
    assert counters.bytes_atomic == 4 * 8


# Task 3: predict, then measure --------------------------------------------------------------------

@pytest.mark.task(3)
@pytest.mark.parametrize("row, sectors", [(0, 1), (1, 1), (2, 2), (3, 1), (4, 1), (5, 2), (6, 1), (7, 1)],
                         ids=[f"row {row}, bytes {12 * row} to {12 * row + 11}" for row in range(8)])
def test_a_row_of_three_floats_lies_in_one_sector_or_in_two(row, sectors):
    """Bytes 24 to 35 begin in one sector and end in the next; bytes 84 to 95 end with their sector."""
    assert_matches(lesson.row_sectors, row, 3, 4, oracle=lambda *_: sectors)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("row, width, itemsize, sectors", [(0, 33, 1, 2), (1, 31, 1, 2), (5, 32, 1, 1), (3, 64, 2, 4)])
def test_one_byte_too_many_is_one_sector_more(row, width, itemsize, sectors):
    assert_matches(lesson.row_sectors, row, width, itemsize, oracle=lambda *_: sectors)


@pytest.mark.task(1, 3)
@pytest.mark.counters
@pytest.mark.parametrize("width", [1, 3, 8, 33, 64])
def test_predicts_the_sectors_that_are_counted(width, rng):
    """Those of the row that is read and of the row that is written, and one for the id."""
    ids, table = rng.integers(0, 20, 7).tolist(), table_of(rng, 20, width)
    counters = count(lesson.lookup, table, ids_of(*ids))
    predicted = sum(lesson.row_sectors(row, width, 4) for row in [*ids, *range(7)]) + 7
    assert predicted == counters.sectors


@pytest.mark.task(1, 3)
@pytest.mark.counters
@pytest.mark.parametrize("ids, padding", [([5], -1), ([3, 3], -1), ([5, 6, 20], -1), ([5, 6, 3], 3),
                                          ([0, 3, 3, -1, 19, 20, 500, 3], 3)],
                         ids=["a word", "a word twice", "an id without a row", "padding with a row", "all of these"])
def test_predicts_the_bytes_that_are_counted(ids, padding, rng):
    counters = count(lesson.lookup, table_of(rng, 20, 24), ids_of(*ids), padding=padding)
    predicted = lesson.predict_traffic(ids, 20, 24, padding=padding)
    assert predicted == counters.bytes


# What it is for: a text -----------------------------------------------------------------------------

@pytest.mark.task(1, 2)
def test_looks_up_a_verse_of_which_it_knows_the_common_words():
    """A row says how often a word has each letter. Lines are filled up to one length; rare words have no row."""
    def letters(word):
        return [word.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]

    lines = [re.findall("[a-z]+", line) for line in VERSE.lower().splitlines()]
    often = Counter(word for line in lines for word in line)
    words = sorted(word for word in often if often[word] > 1)
    longest = max(map(len, lines))
    ids = [[words.index(word) if word in words else len(words) for word in line] + [-1] * (longest - len(line))
           for line in lines]
    ids = torch.tensor(ids, device=device).flatten()
    table = torch.tensor([letters(word) for word in words], dtype=torch.float32, device=device)

    found = lesson.lookup(table, ids, block=32).reshape(len(lines), longest, 26).sum(dim=1)
    assert found.tolist() == [letters("".join(word for word in line if word in words)) for line in lines]
    rare = sum(often[word] == 1 for word in often)
    assert lesson.count_faults(ids, len(words)).tolist() == [rare]
