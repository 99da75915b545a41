"""Layer norm, RMS norm, or the reciprocal deviation of either, with a mistake in it."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from tools.check.diagnosis.formulas import Mistake, reproduces, same
from tools.check.diagnosis.norm_mistakes import IN_BLOCKS, PLAIN
from tools.check.diagnosis.norm_rows import Found, Norm, find
from tools.check.diagnosis.steps import blocks
from tools.check.diagnosis.symptoms import Call, Symptoms
from tools.check.diagnosis.words import Cause, cause
from tools.check.tolerances import unit

LARGER = 4  # sizes of a block that a row may lie in
ROUNDINGS = 4  # of a sum of n squares, times sqrt(n): what E[x^2] may be off by
DIFFERENT = 100  # roundings that two factors are apart
LUCKY = 16  # the largest factor that luck is likely to give
FEWEST = 8  # elements of a row that say that one factor explains them


def norm_gone_wrong(symptoms: Symptoms) -> Cause | None:
    if not symptoms.comparable or symptoms.here.want.dtype.kind != "f" or (found := find(symptoms)) is None:
        return None
    norm = found.norm(symptoms.args)
    names = {
        "length": norm.length,
        "before": norm.length - 1,
        "eps": f"eps = {norm.eps:g}",
        "spread": "mean square" if norm.rms else "variance",
        "weight": "" if found.weight is None else symptoms.name_of(found.weight),
        "bias": "" if found.bias is None else symptoms.name_of(found.bias),
    }
    for mistake, result, more in _tried(symptoms, found, norm.length):

        def claim(call: Call, result: Callable = result) -> np.ndarray | None:
            return found.placed(result(found.norm(call.args)))

        if reproduces(symptoms, claim) and (not _is_plain_multiple(symptoms) or _holds_elsewhere(symptoms, claim)):
            return mistake.said(**names, **more)
    return _along_other_axis(symptoms, found) or _cancelled(symptoms, found)


def _is_plain_multiple(symptoms: Symptoms) -> bool:
    """Did what was wanted come back times a small whole number, or a part such as 1/2? The spread of one row may be
    such a number by luck, and all elements together say no more than it does.
    """
    got, want = symptoms.here.got, symptoms.here.want
    square = float((want * want).sum())
    factor = float((got * want).sum()) / square if square and np.isfinite(got).all() else 0.0
    if not 1 / LUCKY <= abs(factor) <= LUCKY:
        return False
    return same(got, (round(factor) if abs(factor) >= 1 else 1 / round(1 / factor)) * want, symptoms.slack)


def _holds_elsewhere(symptoms: Symptoms, claim: Callable[[Call], np.ndarray | None]) -> bool:
    """Whether `claim(call)` is what comes back of further calls, with other numbers; False where there are none."""
    calls = symptoms.elsewhere
    return bool(calls) and all(
        call.got is not None and same(symptoms.budget.call(claim, call), call.got, symptoms.slack) for call in calls
    )


def _tried(symptoms: Symptoms, found: Found, length: int) -> Iterator[tuple[Mistake, Callable, dict]]:
    needs = {"weight": found.weight is not None, "bias": found.bias is not None}
    for mistake in PLAIN:
        if all(has for name, has in needs.items() if f"{{{name}}}" in mistake.seen):
            yield mistake, mistake.result, {}
    next_power = 1 << (length - 1).bit_length()
    sizes = [*(size for size in blocks(symptoms) if size > length), *(next_power << k for k in range(LARGER))]
    for block in dict.fromkeys(size for size in sizes if size > length):
        for mistake in IN_BLOCKS:
            yield mistake, partial(mistake.result, block=block), {"block": block}


def _along_other_axis(symptoms: Symptoms, found: Found) -> Cause | None:
    """Mean and spread of another axis of x; weight and bias where they belong."""
    first = symptoms.args[found.x[0]]
    for axis in [axis for axis in range(first.ndim) if axis != found.axis and first.shape[axis] > 1]:

        def claim(call: Call, axis: int = axis) -> np.ndarray | None:
            if found.of_rstd:
                return None
            norm = found.norm(call.args)
            x = np.moveaxis(norm.x, -1, found.axis)
            mean = 0.0 if norm.rms else x.mean(axis, keepdims=True)
            plain = (x - mean) / np.sqrt(((x - mean) ** 2).mean(axis, keepdims=True) + norm.eps)
            return np.moveaxis(np.moveaxis(plain, found.axis, -1) * norm.weight + norm.bias, -1, found.axis)

        if reproduces(symptoms, claim):
            seen = f"As if axis {axis} of {symptoms.name_of(found.x[0])} were normed, not axis {found.axis}."
            return cause("normed_along_other_axis", seen, "Along which axis are mean and spread computed?")
    return None


def _cancelled(symptoms: Symptoms, found: Found) -> Cause | None:
    """Each wrong row is right for another variance, no farther off than rounding leaves E[x^2] - mean^2; or it is NaN,
    where that came out below 0.
    """
    norm = found.norm(symptoms.args)
    if found.of_rstd or norm.rms or norm.length < FEWEST or not np.isfinite(norm.x).all():
        return None
    got = np.moveaxis(symptoms.here.got, found.axis, -1)
    wrong = np.moveaxis(symptoms.wrong, found.axis, -1).any(-1)
    lost = np.isnan(got).all(-1)
    rstd, fitted = _fitted(norm, got)
    known = np.where(lost[..., None], 0.0, got)
    if not same(np.where(lost[..., None], 0.0, fitted), known, symptoms.slack):
        return None
    variance, square = norm.variance[..., 0], norm.square[..., 0]
    precision = unit("float64") if symptoms.dtype == "float64" else unit("float32")
    off = np.where(lost, variance + norm.eps, np.abs(rstd**-2.0 - norm.eps - variance))
    if not (off <= ROUNDINGS * norm.length**0.5 * precision * square)[wrong].all():
        return None
    ratios = (rstd * np.sqrt(variance + norm.eps))[~lost]
    if not lost.any() and (ratios.size < 2 or np.ptp(ratios) < DIFFERENT * precision):
        return None  # the same factor in every row is another mistake
    worst = float(np.sqrt(square / variance)[wrong].max())
    seen = f"As if the variance were E[x^2] - mean^2, with a mean of {worst:,.0f} deviations."
    return cause("cancelled", seen, "Which digits are left? What can be taken off x before it is squared?")


def _fitted(norm: Norm, got: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row the factor in place of 1 / sqrt(variance + eps), with a mean that may be a little off, which explain
    it best; and what they give."""
    deviation = norm.x - norm.mean
    weights = norm.weight**2
    total = np.broadcast_to(weights, deviation.shape).sum(-1)
    first, second = (weights * deviation).sum(-1), (weights * deviation**2).sum(-1)
    y = (got - norm.bias) * norm.weight
    right, upper = y.sum(-1), (y * deviation).sum(-1)
    rstd = (upper * total - right * first) / (second * total - first**2)
    offset = (right - rstd * first) / total
    return rstd, (deviation * rstd[..., None] + offset[..., None]) * norm.weight + norm.bias
