"""Softmax in pieces against softmax in one go, whatever the pieces and the order."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.models.online_softmax import State, empty, of_piece

scores = st.lists(st.one_of(st.floats(-800, 800), st.just(-math.inf)), min_size=1, max_size=24)
checked = settings(max_examples=150, deadline=None, derandomize=True)


def attention(scores: list[float], values: list[float]) -> tuple[float, float]:
    """Output and logsumexp of one row with a value for each score, with exact sums; (0, -inf) without a score."""
    largest = max(scores)
    if largest == -math.inf:
        return 0.0, -math.inf
    weights = [math.exp(score - largest) for score in scores]
    total = math.fsum(weights)
    return math.fsum(map(math.prod, zip(weights, values))) / total, largest + math.log(total)


def pieces_of(row: list[float], values: list[float], rng: random.Random) -> list[State]:
    """States of pieces of random lengths, some of them empty, in random order."""
    cuts = [0, *sorted(rng.choices(range(len(row) + 1), k=4)), len(row)]
    states = [of_piece(np.array(row[a:b]), np.array(values[a:b]).reshape(-1, 1)) for a, b in zip(cuts, cuts[1:])]
    rng.shuffle(states)
    return states


def merged(states: list[State], rng: random.Random) -> State:
    """All into one, two neighbours at a time, wherever chance says."""
    states = list(states)
    while len(states) > 1:
        at = rng.randrange(len(states) - 1)
        states[at : at + 2] = [states[at].merge(states[at + 1])]
    return states[0]


def same(one: State, other: State) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(vars(one).values(), vars(other).values()))


@checked
@given(scores, st.randoms(use_true_random=False))
def test_any_pieces_in_any_order_and_grouping_give_the_softmax(row, rng):
    values = [rng.uniform(-3, 3) for _ in row]
    state = merged(pieces_of(row, values, rng), rng)
    output, logsumexp = attention(row, values)
    assert state.output[0] == pytest.approx(output, rel=1e-12, abs=1e-12)
    assert float(state.logsumexp) == pytest.approx(logsumexp, rel=1e-12, abs=1e-12)


@checked
@given(scores, st.randoms(use_true_random=False))
def test_an_empty_state_changes_nothing(row, rng):
    state = of_piece(np.array(row), np.array([[rng.uniform(-3, 3)] for _ in row]))
    assert same(state.merge(empty((), 1)), state)
    assert same(empty((), 1).merge(state), state)


def test_many_rows_go_at_once_and_share_values():
    rng = np.random.default_rng(0)
    scores, values = rng.standard_normal((3, 5, 40)) * 9, rng.standard_normal((40, 7))
    scores[0, 0], scores[1, 2, :16] = -np.inf, -np.inf
    state = empty((3, 5), 7)
    for start in range(0, 40, 16):
        state = state.merge(of_piece(scores[..., start : start + 16], values[start : start + 16]))
    for index in np.ndindex(3, 5):
        for col in range(7):
            output, logsumexp = attention(scores[index].tolist(), values[:, col].tolist())
            assert state.output[index][col] == pytest.approx(output, rel=1e-12, abs=1e-12)
            assert state.logsumexp[index] == pytest.approx(logsumexp, rel=1e-12)


def test_each_row_may_have_values_of_its_own():
    rng = np.random.default_rng(1)
    scores, values = rng.standard_normal((4, 9)), rng.standard_normal((4, 9, 2))
    output = of_piece(scores[:, :3], values[:, :3]).merge(of_piece(scores[:, 3:], values[:, 3:])).output
    for row in range(4):
        assert output[row, 1] == pytest.approx(attention(scores[row].tolist(), values[row, :, 1].tolist())[0])


def test_scores_far_apart_neither_overflow_nor_vanish():
    state = of_piece(np.array([1000.0]), np.array([[1.0]])).merge(of_piece(np.array([-1000.0]), np.array([[5.0]])))
    assert (state.output.tolist(), state.logsumexp.tolist()) == ([1.0], 1000.0)


def test_a_row_without_any_score_is_zero_and_stays_so():
    masked = of_piece(np.full(3, -np.inf), np.ones((3, 2)))
    assert masked.output.tolist() == [0, 0] == masked.merge(masked).output.tolist()
    assert masked.merge(masked).logsumexp == -np.inf


def test_nan_is_not_hidden():
    state = of_piece(np.array([0.0, np.nan]), np.ones((2, 1))).merge(of_piece(np.array([1.0]), np.ones((1, 1))))
    assert np.isnan(state.output).all() and np.isnan(state.logsumexp)


def test_float32_stays_float32():
    scores, values = np.zeros((2, 3), np.float32), np.ones((3, 4), np.float32)
    state = empty((2,), 4, np.float32).merge(of_piece(scores, values))
    assert {part.dtype for part in (*vars(state).values(), state.output, state.logsumexp)} == {np.dtype("f4")}
