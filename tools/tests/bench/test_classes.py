"""The class of a result follows from its ratio to the strongest rival and to the naive one, and nothing else."""

import pytest

from tools.bench.classes import CLASSES, LEGEND, NAIVE, NAIVE_AT_MOST, NAIVE_BELOW, Speed, result_class


def speed(value, low=None, high=None):
    return Speed("NumPy", value, value if low is None else low, value if high is None else high)


@pytest.mark.parametrize(
    ("ratio", "word"),
    [
        (1.1, "ahead"),
        (1.09, "holds its own"),
        (0.9, "holds its own"),
        (0.89, "within 2x"),
        (0.5, "within 2x"),
        (0.49, "within 10x"),
        (0.1, "within 10x"),
        (0.09, "far behind"),
        (0.0, "far behind"),
    ],
)
def test_each_word_has_its_bound(ratio, word):
    assert result_class(speed(ratio), None) == word


def test_an_interval_across_a_bound_gets_both_words():
    assert result_class(speed(0.95, 0.85, 0.99), None) == "within 2x to holds its own"


@pytest.mark.parametrize(
    ("strongest", "naive", "word"),
    [(0.2, 1.5, NAIVE), (0.2, 1.0, NAIVE), (0.2, 1.6, "within 10x"), (0.5, 1.0, "within 2x"), (0.02, 1.2, NAIVE)],
)
def test_slow_and_hardly_faster_than_the_naive_one_is_like_it(strongest, naive, word):
    assert result_class(speed(strongest), speed(naive)) == word


def test_the_legend_names_every_word_and_every_bound():
    said = LEGEND.lower()
    assert all(word in said and (bound == 0 or f"{bound:g}" in said) for bound, word in CLASSES)
    assert NAIVE in said and f"{NAIVE_AT_MOST:g}" in said and f"below {NAIVE_BELOW:g}" in said


def test_a_speed_reads_as_a_sentence():
    assert str(speed(0.5, 0.49, 0.512)) == "0.50 of the speed of NumPy (0.49 to 0.51)"
    assert str(speed(0.0059, 0.00043, 0.028)) == "0.0059 of the speed of NumPy (0.00043 to 0.028)"
