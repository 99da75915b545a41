"""A second opinion on names that a mutation was not expected to get: is the claim literally true of the data?

Shares no code with the recognisers. It settles what a few lines can settle; the rest count as wrong names.
"""

import numpy as np


def in_float64(value):
    return value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value


def literally_true(name: str, evidence) -> bool:
    if name not in TRUTHS:
        return False
    with np.errstate(all="ignore"):
        try:
            return bool(TRUTHS[name](evidence))
        except (TypeError, ValueError, IndexError):  # the claim makes no sense for these arguments
            return False


def same(one, other) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    scale = np.abs(np.nan_to_num(other.astype(float), posinf=0, neginf=0)).max(initial=0)
    return one.shape == other.shape and np.allclose(one, other, rtol=0, atol=3e-5 * scale, equal_nan=True)


def all_alike(evidence) -> bool:
    return len(np.unique(evidence.got)) == 1 < len(np.unique(evidence.want))


def same_numbers_elsewhere(evidence) -> bool:
    got, want = evidence.got, evidence.want
    return same(np.sort(got, axis=None), np.sort(want, axis=None)) and not same(got, want)


def some_argument_is_unused(evidence) -> bool:
    """Three fresh values of one argument change nothing, though they should; or zeros there explain all."""
    rng = np.random.default_rng(1)
    for i, arg in enumerate(evidence.args):
        if isinstance(arg, np.ndarray) and arg.dtype.kind == "f":
            others = [rng.normal(size=arg.shape).astype(arg.dtype) for _ in range(3)]
        elif isinstance(arg, float):
            others = [arg * factor for factor in (0.9, 1.2, 1.4)]
        else:
            continue
        calls = [(*evidence.args[:i], other, *evidence.args[i + 1 :]) for other in others]
        ignored = all(np.array_equal(evidence.again(*call), evidence.got, equal_nan=True) for call in calls)
        needed = any(not same(evidence.oracle(*map(in_float64, call)), evidence.want) for call in calls)
        nothing = (*evidence.args[:i], 0 * arg, *evidence.args[i + 1 :])
        if (ignored and needed) or same(evidence.got, evidence.oracle(*map(in_float64, nothing))):
            return True
    return False


def negated(evidence) -> bool:
    calls = [(*evidence.args[:i], -arg, *evidence.args[i + 1 :]) for i, arg in enumerate(evidence.args)]
    return any(same(evidence.got, evidence.oracle(*map(in_float64, call))) for call in calls)


def right_without(evidence, part) -> bool:
    """Right when the first (or last) row of one argument is not there."""
    calls = [(*evidence.args[:i], arg[part], *evidence.args[i + 1 :]) for i, arg in enumerate(evidence.args)]
    return any(same(evidence.got, evidence.oracle(*map(in_float64, call))) for call in calls)


def every_new_nan(evidence) -> bool:
    """NaN instead of numbers, and nothing else that is wrong."""
    new = np.isnan(evidence.got) & ~np.isnan(evidence.want)
    return new.any() and same(np.where(new, 0, evidence.got), np.where(new, 0, evidence.want))


TRUTHS = {
    "all_zeros": lambda evidence: not np.any(evidence.got) and np.any(evidence.want),
    "all_the_same": all_alike,
    "negated_argument": negated,
    "wrong_sign": lambda evidence: same(evidence.got, -evidence.want),
    "inverted": lambda evidence: np.array_equal(evidence.got, ~evidence.want),
    "wrong_places": same_numbers_elsewhere,
    "unused_argument": some_argument_is_unused,
    "argument_unchanged": lambda evidence: any(same(evidence.got, arg) for arg in evidence.args),
    "unexpected_nan": every_new_nan,
    "reshaped": lambda evidence: same(np.ravel(evidence.got), np.ravel(evidence.want)),
    "wrong_shape": lambda evidence: np.shape(evidence.got) != np.shape(evidence.want),
    "head_ignored": lambda evidence: right_without(evidence, slice(1, None)),
    "head_forgotten": lambda evidence: any(right_without(evidence, slice(-k, None)) for k in range(1, 1025)),
    "tail_ignored": lambda evidence: right_without(evidence, slice(-1)),
}
