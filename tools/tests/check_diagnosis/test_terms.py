"""A sum whose terms have names: the failure says which of them is missing, or too much."""

from collections import namedtuple

import pytest

from tools.check import Mismatch, assert_matches, terms
from tools.check.terms import by_line
from tools.sim.counters import Counters, Counts, Launch, Line


def traffic(m, n, k):
    """Of a naive product, 4 bytes each."""
    return terms(reading_a=4 * m * n * k, reading_b=4 * m * n * (k + 1), out=4 * m * n)


def failure(function, *args, oracle=traffic) -> str:
    with pytest.raises(Mismatch) as caught:
        assert_matches(function, *args, oracle=oracle)
    return " ".join(caught.value.text.split())


def test_terms_are_wanted_as_their_sum():
    assert assert_matches(lambda m, n, k: 8 * m * n * (k + 1), 3, 4, 5, oracle=traffic) == 8 * 12 * 6
    assert "Got 1, wanted 576." in failure(lambda m, n, k: 1, 3, 4, 5)


@pytest.mark.parametrize(
    "function, seen",
    [
        (lambda m, n, k: 8 * m * n * (k + 1) - 4 * m * n, "It is 48 short: as much as out should add."),
        (lambda m, n, k: 4 * m * n * (k + 2), "It is 240 short: as much as reading a should add."),
        (lambda m, n, k: 4 * m * n * (3 * k + 3), "It is 288 too much: as if reading b were added twice."),
        (lambda m, n, k: 4 * m * n * (2 * k + 3), "It is 48 too much: as if out were added twice."),
        (lambda m, n, k: 4 * m * n * (2 * k + 5), "As if out counted 4 times."),
        (lambda m, n, k: 4 * m * n * (k + 2) + 2 * m * n * k, "As if reading a counted half."),
    ],
)
def test_the_term_that_is_odd_is_named(function, seen):
    assert seen in failure(function, 3, 4, 5)


@pytest.mark.parametrize(
    "function, seen",
    [
        (lambda m, n, k: 4 * m * n * (2 * k + 1) + k * m * n, "As if out had the factor k in place of 4."),
        (lambda m, n, k: 4 * m * n * (2 * k + 1) + 4 * m, "As if out were not multiplied by n."),
        (lambda m, n, k: 4 * m * n * (k + 2) + 4 * m * n * k * m, "As if reading a were multiplied by m."),
        (lambda m, n, k: 4 * m * n * (2 * k + 1) + 28 * m, "As if out had the factor 7 in place of n."),
    ],
)
def test_a_number_of_the_call_that_one_term_has_too_much_or_lacks_is_named(function, seen):
    assert seen in failure(function, 3, 4, 5)


def test_all_terms_are_told_where_none_of_them_is_the_odd_one():
    assert failure(lambda m, n, k: 1, 3, 4, 5).endswith(
        "Wanted is 240 for reading a, 288 for reading b and 48 for out. Which of them do you count otherwise?"
    )


def test_a_call_in_which_there_is_nothing_to_count_tells_nothing():
    def oracle(m):
        return terms(stores=m // 32 * 32, loads=1024 * m)

    assert "It is 64 short: as much as stores should add." in failure(lambda m: 1024 * m, 64, oracle=oracle)


def test_three_terms_that_are_always_equal_are_named_together():
    def moved(n):
        return terms(x=4 * n, y=4 * n, out=4 * n)

    assert "as much as x or y or out should add." in failure(lambda n: 8 * n, 1000, oracle=moved)


def test_a_case_in_which_a_term_is_nothing_does_not_count_against_it():
    """Of the further calls some have m > 60, and no stores."""

    def moved(m, n):
        return terms(loads=320 * (n + 3 * m), stores=64 * max(0, 60 - m))

    assert "as much as stores should add." in failure(lambda m, n: 320 * (n + 3 * m), 40, 3000, oracle=moved)
    assert "It is" not in failure(lambda m, n: 320 * (n + 3 * m) + (m > 60), 40, 3000, oracle=moved)


def test_terms_that_are_always_equal_are_named_together():
    def oracle(n):
        return terms(x=4 * n, y=4 * n, out=4 * n + 8)

    assert "It is 40 short: as much as x or y should add. What is there to count for x or y?" in failure(
        lambda n: 8 * n + 8, 10, oracle=oracle
    )


@pytest.mark.parametrize(
    "function", [lambda m, n, k: 500, lambda m, n, k: 8 * m * n * (k + 1) - 48, lambda m, n, k: m * n * k * (m + n)]
)
def test_what_fits_one_call_by_luck_is_not_said(function):
    text = failure(function, 3, 4, 5)
    assert "short" not in text and "too much" not in text and "counted" not in text


def test_each_number_of_a_row_may_have_its_own_terms():
    def oracle(n):
        return terms(x=4 * n, y=4 * n + 4, out=4 * n), terms(ids=8 * n, table=12 * n)

    assert "It is 80 short: as much as ids should add." in failure(lambda n: (12 * n + 4, 12 * n), 10, oracle=oracle)


def test_a_result_without_terms_is_left_as_it_is():
    pair = namedtuple("pair", "low high")
    assert assert_matches(lambda n: pair(0, n), 5, oracle=lambda n: pair(0, n)) == (0, 5)


def test_a_figure_of_counters_has_its_lines_for_terms():
    lines = (
        Line("day.py", 8, "x = load()", "load", Counts(bytes_loaded=64, sectors=2)),
        Line("day.py", 9, "store(x)", "store", Counts(bytes_stored=128, sectors=4)),
    )
    counters = Counters()
    for _ in range(2):
        counters.add(Launch("walk", (1,), sum((line.counts for line in lines), Counts(programs=1)), lines))
    assert by_line(counters, "bytes").parts == {"line 8": 128, "line 9": 256}
    assert by_line(counters, "bytes").total == counters.bytes
