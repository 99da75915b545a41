"""Functions of a few whole numbers: two that are mixed up, and rounded quotients, are told by further calls."""

import pytest

from tools.tests.check_diagnosis.examine import told


def blocks(length, block):
    return -(-length // block)


def traffic(m, n, k, tile=32):
    return 4 * (blocks(m, tile) * n * k + blocks(n, tile) * m * k + m * n)


def mixed_up(m, n, k, tile=32):
    return 4 * (blocks(n, tile) * n * k + blocks(m, tile) * m * k + m * n)


def rounded_down(m, n, k, tile=32):
    return 4 * (m // tile * n * k + n // tile * m * k + m * n)


def said(lesson, oracle, *args, names=("m", "n", "k", "tile"), **keywords) -> str | None:
    found = told(
        lesson(*args, **keywords),
        oracle(*args, **keywords),
        *args,
        tolerance=None,
        oracle=oracle,
        again=lesson,
        names=names[: len(args)],
        keywords=keywords,
    )
    return found and found.words


@pytest.mark.parametrize(
    "args, keywords", [((33, 70, 20, 32), {}), ((33, 70, 20), {"tile": 32}), ((33, 33, 20, 8), {})]
)
def test_a_rounded_quotient_is_right_where_the_block_divides_the_lengths(args, keywords):
    assert (
        said(rounded_down, traffic, *args, **keywords)
        == "It is right where tile divides m and n. What is left after whole blocks?"
    )


@pytest.mark.parametrize("args, keywords", [((33, 70, 20, 32), {}), ((33, 70, 20), {"tile": 32})])
def test_two_lengths_that_are_mixed_up_are_named(args, keywords):
    assert (
        said(mixed_up, traffic, *args, **keywords) == "It is right where m and n are equal. Where are the two mixed up?"
    )


def test_numbers_that_are_equal_in_the_wrong_call_are_not_called_right_where_they_are():
    def wrong_for_this_call(m, n, k, tile):
        return mixed_up(m, n, k, tile) + (m == n == 33)

    assert "are equal" not in (said(wrong_for_this_call, traffic, 33, 33, 20, 32) or "")


def test_one_of_two_numbers_that_is_rounded_down_is_asked_for_the_rest():
    assert (
        said(
            lambda n, block: (n // block, block),
            lambda n, block: (blocks(n, block), block),
            10,
            4,
            names=("n", "block"),
        )
        == "Number 1 is exactly one too low. What is left after whole blocks?"
    )
    assert "whole blocks" not in said(
        lambda n, block: n + block - 1, lambda n, block: n + block, 10, 4, names=("n", "block")
    )


@pytest.mark.parametrize(
    "lesson",
    [
        lambda m, n, k, tile: traffic(m, n, k, tile) + k * m,
        lambda m, n, k, tile: 4 * (m * k + k * n + m * n),
        lambda m, n, k, tile: traffic(m, n, k, tile) + 7 * (m % 2),
        lambda m, n, k, tile: 28_000,
    ],
)
def test_of_another_mistake_neither_is_said(lesson):
    words = said(lesson, traffic, 33, 70, 20, 32) or ""
    assert "divides" not in words and "are equal" not in words


def turn_of(i, stages):
    phase = i // stages % 2
    return i % stages, phase, 1 - phase


def test_numbers_that_are_right_for_some_equal_ones_alone_are_not_called_mixed_up():
    """A phase that changes with each item is right for 1 and 3 slots at item 1 and 3, and wrong for 2 at item 2."""

    def with_each_item(i, stages):
        return i % stages, i % 2, 1 - i % 2

    assert "are equal" not in (said(with_each_item, turn_of, 1, 3, names=("i", "stages")) or "")


def test_numbers_whose_equality_makes_every_answer_the_same_are_not_called_mixed_up():
    """Of an SM all of whose bytes are reserved for each block no block fits, and most mistakes say so too."""

    def fit(block, sm, reserved):
        return sm // (block + reserved)

    def reserved_once(block, sm, reserved):
        return (sm - reserved) // block

    words = said(reserved_once, fit, 100, 1010, 10, names=("block", "sm", "reserved"))
    assert "are equal" not in (words or "")


def row_bytes(rows, n, itemsize):
    return rows * (8 * n + 4) * itemsize


@pytest.mark.parametrize("n", [7, 100])
def test_a_block_counted_whole_is_what_is_wanted_of_the_next_power_of_two(n):
    def of_the_block(rows, n, itemsize):
        return row_bytes(rows, 1 << (n - 1).bit_length(), itemsize)

    def one_power_further(rows, n, itemsize):
        return row_bytes(rows, 2 << (n - 1).bit_length(), itemsize)

    def for_this_n_alone(rows, length, itemsize):
        return of_the_block(rows, length, itemsize) if length == n else row_bytes(rows, length, itemsize) + 1

    names, block = ("rows", "n", "itemsize"), {7: 8, 100: 128}[n]
    seen = f"It would be right for n = {block}, the next power of two."
    assert said(of_the_block, row_bytes, 3, n, 2, names=names) == f"{seen}\nWhat do the places beyond n add?"
    for other in (one_power_further, for_this_n_alone):
        assert "power of two" not in (said(other, row_bytes, 3, n, 2, names=names) or "")
