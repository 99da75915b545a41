"""Mutations of the order of the elements, and of which of them are right."""

import numpy as np

from tools.tests.check_diagnosis.operators import after, operator, result_of


@operator
def flipped_over(rng, plain, args):
    result_of(plain, args, ndim=2)
    return after(plain.right, lambda r: r.T.copy()), "transposed"


@operator
def stored_by_column(rng, plain, args):
    result_of(plain, args, ndim=2)
    return after(plain.right, lambda r: r.T.copy().reshape(r.shape)), "transposed"


@operator
def backwards(rng, plain, args):
    result = result_of(plain, args, ndim=1, least=4)
    axis = int(rng.integers(result.ndim))
    return after(plain.right, lambda r: np.flip(r, axis).copy()), "reversed"


@operator
def moved_along(rng, plain, args):
    result = result_of(plain, args, ndim=1, least=4)
    axis, by = int(rng.integers(result.ndim)), int(rng.choice([-3, -2, -1, 1, 2, 3]))
    if rng.random() < 0.5:
        return after(plain.right, lambda r: np.roll(r, by, axis)), "shifted"

    def push(r):
        pushed = np.moveaxis(np.roll(r, by, axis), axis, 0)
        pushed[slice(None, by) if by > 0 else slice(by, None)] = 0
        return np.moveaxis(pushed, 0, axis).copy()

    return after(plain.right, push), "shifted"


@operator
def shuffled(rng, plain, args):
    result = result_of(plain, args, ndim=1, least=8)
    order = rng.permutation(result.size)
    return after(plain.right, lambda r: r.reshape(-1)[order].reshape(r.shape)), "wrong_places"


@operator
def spoilt_here_and_there(rng, plain, args):
    result = result_of(plain, args, kind="f", least=20)
    bad = rng.random(result.shape) < rng.uniform(0.02, 0.3)
    return after(plain.right, lambda r: np.where(bad, 1.7 * r + 0.3, r)), ""


def spoilt(rng, plain, bad, causes):
    """Zeros, other numbers or NaN where `bad`."""
    fillers = [np.zeros(bad.shape), 3 * rng.normal(size=bad.shape), np.full(bad.shape, np.nan)]
    filler = fillers[rng.integers(3)]
    causes += " unexpected_nan" * bool(np.isnan(filler).any())
    return after(plain.right, lambda r: np.where(bad, filler, r)), causes


@operator
def without_its_tail(rng, plain, args):
    result = result_of(plain, args, kind="f", ndim=1, least=8)
    axis = int(rng.integers(result.ndim))
    from_here = int(rng.integers(1, result.shape[axis]))
    bad = np.zeros(result.shape, bool)
    np.moveaxis(bad, axis, 0)[from_here:] = True
    return spoilt(rng, plain, bad, "tail_wrong only_first_block")


@operator
def without_its_head(rng, plain, args):
    result = result_of(plain, args, kind="f", ndim=1, least=8)
    axis = int(rng.integers(result.ndim))
    bad = np.zeros(result.shape, bool)
    np.moveaxis(bad, axis, 0)[: int(rng.integers(1, 4))] = True
    return spoilt(rng, plain, bad, "head_wrong")


@operator
def every_other_block(rng, plain, args):
    result = result_of(plain, args, kind="f", ndim=1, least=16)
    block, k = int(rng.choice([1, 2, 4, 8])), int(rng.choice([2, 2, 3, 4]))
    bad = (np.arange(result.size) // block % k == k - 1).reshape(result.shape)
    tail = bad.reshape(-1)[bad.argmax() :].all()  # a short result may end inside the first bad block
    return spoilt(rng, plain, bad, "every_kth_block" + " tail_wrong" * bool(tail))


@operator
def first_block_only(rng, plain, args):
    result = result_of(plain, args, kind="f", ndim=1, least=16)
    period = int(rng.integers(2, max(3, len(result) // 2)))
    return after(plain.right, lambda r: r[np.arange(len(r)) % period]), "block_repeated only_first_block"


@operator
def last_rows_repeat(rng, plain, args):
    result = result_of(plain, args, kind="f", ndim=1, least=16)
    last = len(result) - int(rng.integers(2, 5))
    return after(plain.right, lambda r: r[np.minimum(np.arange(len(r)), last)]), "tail_wrong only_first_block"
