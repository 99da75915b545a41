"""A second opinion on names that a mutation was not expected to get: is the claim literally true of the data?

Shares no code with the recognisers. It settles what a few lines can settle; the rest count as wrong names.
"""

import numpy as np


def in_float64(value):
    return value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value


def literally_true(name: str, symptoms) -> bool:
    if name not in TRUTHS:
        return False
    with np.errstate(all="ignore"):
        try:
            return bool(TRUTHS[name](symptoms))
        except (TypeError, ValueError, IndexError):  # the claim makes no sense for these arguments
            return False


def same(one, other) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    scale = np.abs(np.nan_to_num(other.astype(float), posinf=0, neginf=0)).max(initial=0)
    return one.shape == other.shape and np.allclose(one, other, rtol=0, atol=3e-5 * scale, equal_nan=True)


def all_alike(symptoms) -> bool:
    return len(np.unique(symptoms.got)) == 1 < len(np.unique(symptoms.want))


def same_numbers_elsewhere(symptoms) -> bool:
    got, want = symptoms.got, symptoms.want
    return same(np.sort(got, axis=None), np.sort(want, axis=None)) and not same(got, want)


def some_argument_is_unused(symptoms) -> bool:
    """Three fresh values of one argument change nothing, though they should; or zeros there explain all."""
    rng = np.random.default_rng(1)
    for i, arg in enumerate(symptoms.args):
        if isinstance(arg, np.ndarray) and arg.dtype.kind == "f":
            others = [rng.normal(size=arg.shape).astype(arg.dtype) for _ in range(3)]
        elif isinstance(arg, float):
            others = [arg * factor for factor in (0.9, 1.2, 1.4)]
        else:
            continue
        calls = [(*symptoms.args[:i], other, *symptoms.args[i + 1 :]) for other in others]
        ignored = all(np.array_equal(symptoms.again(*call), symptoms.got, equal_nan=True) for call in calls)
        needed = any(not same(symptoms.oracle(*map(in_float64, call)), symptoms.want) for call in calls)
        nothing = (*symptoms.args[:i], 0 * arg, *symptoms.args[i + 1 :])
        if (ignored and needed) or same(symptoms.got, symptoms.oracle(*map(in_float64, nothing))):
            return True
    return False


def negated(symptoms) -> bool:
    calls = [(*symptoms.args[:i], -arg, *symptoms.args[i + 1 :]) for i, arg in enumerate(symptoms.args)]
    return any(same(symptoms.got, symptoms.oracle(*map(in_float64, call))) for call in calls)


def right_without(symptoms, part) -> bool:
    """Right when the first (or last) row of one argument is not there."""
    calls = [(*symptoms.args[:i], arg[part], *symptoms.args[i + 1 :]) for i, arg in enumerate(symptoms.args)]
    return any(same(symptoms.got, symptoms.oracle(*map(in_float64, call))) for call in calls)


def every_new_nan(symptoms) -> bool:
    """NaN instead of numbers, and nothing else that is wrong."""
    new = np.isnan(symptoms.got) & ~np.isnan(symptoms.want)
    return new.any() and same(np.where(new, 0, symptoms.got), np.where(new, 0, symptoms.want))


def softmax_along_another_axis(symptoms) -> bool:
    arrays = [arg for arg in symptoms.args if np.shape(arg) == np.shape(symptoms.got)]
    exps = [(np.exp(x.astype(float) - x.max()), axis) for x in arrays for axis in range(x.ndim)]
    return any(same(symptoms.got, e / e.sum(axis, keepdims=True)) for e, axis in exps)


TRUTHS = {
    "softmax_along_other_axis": softmax_along_another_axis,
    "all_zeros": lambda symptoms: not np.any(symptoms.got) and np.any(symptoms.want),
    "all_the_same": all_alike,
    "negated_argument": negated,
    "wrong_sign": lambda symptoms: same(symptoms.got, -symptoms.want),
    "inverted": lambda symptoms: np.array_equal(symptoms.got, ~symptoms.want),
    "wrong_places": same_numbers_elsewhere,
    "unused_argument": some_argument_is_unused,
    "argument_unchanged": lambda symptoms: any(same(symptoms.got, arg) for arg in symptoms.args),
    "unexpected_nan": every_new_nan,
    "reshaped": lambda symptoms: same(np.ravel(symptoms.got), np.ravel(symptoms.want)),
    "wrong_shape": lambda symptoms: np.shape(symptoms.got) != np.shape(symptoms.want),
    "head_ignored": lambda symptoms: right_without(symptoms, slice(1, None)),
    "head_forgotten": lambda symptoms: any(right_without(symptoms, slice(-k, None)) for k in range(1, 1025)),
    "tail_ignored": lambda symptoms: right_without(symptoms, slice(-1)),
}
