"""Right up to a simple operation on every value: nothing stored, a factor, an offset, a sign, NaN and infinity."""

import numpy as np

from tools.check.diagnosis.evidence import Cause, Evidence, cause
from tools.check.diagnosis.numbers import rms, sample
from tools.check.diagnosis.words import element, factor_text


def all_zeros(evidence: Evidence) -> Cause | None:
    if not evidence.comparable or evidence.here.got.size < 4 or evidence.here.got.any():
        return None
    if np.count_nonzero(evidence.wrong) < 4:
        return None
    return cause("all_zeros", f"Every element is {evidence.got.flat[0]}: is the result stored where it is looked for?")


def all_the_same(evidence: Evidence) -> Cause | None:
    got = evidence.here.got
    if not evidence.comparable or got.size < 4 or np.isnan(got.flat[0]) or (got != got.flat[0]).any():
        return None
    if not _varies(evidence) or np.count_nonzero(evidence.wrong) < 4:
        return None
    return cause("all_the_same", f"Every element is {_shown(evidence.got.flat[0])}, though the wanted ones differ.\n"
                                 "What changes from one element to the next?")


def _shown(value) -> str:
    return f"{value:.6g}" if np.asarray(value).dtype.kind in "fi" else str(value)


def _varies(evidence) -> bool:
    """Whether the wanted values spread enough to tell a factor from an offset."""
    want = sample(evidence.here.want)
    want = want[np.isfinite(want)]
    return want.size > 1 and np.ptp(want) > 100 * evidence.slack * rms(want)


def wrong_sign(evidence: Evidence) -> Cause | None:
    if evidence.comparable and evidence.holds(lambda case: -case.want):
        return cause("wrong_sign", "Every number has the opposite sign. Where does the sign come from?")
    return None


def inverted(evidence: Evidence) -> Cause | None:
    if getattr(evidence.want, "dtype", None) == np.bool_ and evidence.holds(lambda case: 1 - case.want):
        return cause("inverted", "True where False is wanted, and False where True is.\n"
                                 "What does the condition select?")
    return None


def constant_factor(evidence: Evidence) -> Cause | None:
    if not evidence.comparable or evidence.here.want.size < 2 or not _varies(evidence):
        return None
    got, want = sample(evidence.here.got), sample(evidence.here.want)
    largest = np.argmax(np.where(np.isfinite(want), np.abs(want), -1))
    factor = float(got[largest] / want[largest])
    if not np.isfinite(factor) or factor in (0, 1) or not evidence.holds(lambda case: factor * case.want):
        return None
    return cause("constant_factor", f"Everything is {factor_text(factor)} what was wanted.\n"
                                    "What is multiplied or divided once too often, or not at all?")


def factor_of_one_number(evidence: Evidence) -> Cause | None:
    """For a single number any factor fits, so it must be one that people get wrong, or hold in other calls too."""
    got, want = evidence.here.got, evidence.here.want
    if not evidence.comparable or got.size != 1 or not (got * want).all() or not np.isfinite(got / want).all():
        return None
    factor = float(got.item() / want.item())
    others = evidence.elsewhere
    if others:
        fits = all(np.allclose(case.got, factor * case.want, rtol=max(evidence.slack, 1e-12), atol=0) for case in others)
    else:
        fits = min(abs(got.item()), abs(want.item())) >= 10 or want.dtype.kind != "i"
        fits = fits and _often_wrong(factor, evidence)
    if not fits or factor in (1, -1):
        return None
    return cause("constant_factor", f"It is {factor_text(factor)} what was wanted.\n"
                                    "What is multiplied or divided once too often, or not at all?")


def _often_wrong(factor, evidence) -> bool:
    """Powers of two and ten, the number of elements n, and n / (n - 1), or one over any of these."""
    lengths = {n for arg in evidence.args if isinstance(arg, np.ndarray) for n in (*arg.shape, arg.size) if n > 2}
    usual = {2.0**k for k in range(1, 41)} | {10.0**k for k in range(1, 13)}
    usual |= {float(n) for n in lengths} | {n / (n - 1) for n in lengths}
    return any(np.isclose(each, candidate, rtol=max(evidence.slack, 1e-12), atol=0)
               for each in (factor, 1 / factor if factor else 0) for candidate in usual)


def off_by_one(evidence: Evidence) -> Cause | None:
    """Whole numbers, each one too high or each one too low; over several calls of a single number, never otherwise."""
    got, want = evidence.here.got, evidence.here.want
    if not evidence.comparable or got.dtype.kind != "i" or want.dtype.kind != "i" or not got.size:
        return None
    if np.asarray(evidence.want).dtype == np.bool_:
        return None
    by = got - want
    if abs(by.flat[0]) != 1 or (by != by.flat[0]).any() or (got.size == 1 and abs(want.item()) < 8):
        return None
    if any(not np.isin(case.got - case.want, (0, by.flat[0])).all() for case in evidence.elsewhere):
        return None
    side = "high" if by.flat[0] > 0 else "low"
    seen = "It is" if got.size == 1 else "Every number is"
    return cause("off_by_one", f"{seen} exactly one too {side}.\nWhich end is counted twice, or left out?")


def constant_offset(evidence: Evidence) -> Cause | None:
    if not evidence.comparable or evidence.here.want.size < 4 or not _varies(evidence):
        return None
    difference = sample(evidence.here.got) - sample(evidence.here.want)
    by = np.median(difference[np.isfinite(difference)])
    if not np.isfinite(by) or by == 0 or not evidence.holds(lambda case: case.want + by):
        return None
    side = "high" if by > 0 else "low"
    return cause("constant_offset", f"Every number is {abs(by):.5g} too {side}. Which term is missing or left over?")


NAN_AND_INFINITY = {  # name: what is seen, and the question
    "lost_nan": ("NaN was wanted, but a number came back", "What happens to NaN on its way through?"),
    "unexpected_nan": ("NaN came back where a number was wanted", "Which step makes the first NaN?"),
    "unexpected_infinity": ("Infinity came back where a finite number was wanted", "Which step overflows?"),
    "lost_infinity": ("Infinity was wanted, but a finite number came back", "What happens to infinity on its way?"),
}


def nan_and_infinity(evidence: Evidence) -> Cause | None:
    """All that is wrong is a NaN or an infinity too many, or all that is wrong is one too few."""
    if not evidence.comparable or evidence.finite or evidence.all_right:
        return None
    got, want = evidence.here.got[evidence.wrong], evidence.here.want[evidence.wrong]
    lost, unexpected = ~np.isfinite(want) & np.isfinite(got), np.isfinite(want) & ~np.isfinite(got)
    if lost.all():
        name = "lost_nan" if np.isnan(want).any() else "lost_infinity"
    elif unexpected.all():
        name = "unexpected_nan" if np.isnan(got).any() else "unexpected_infinity"
    else:
        return None
    seen, question = NAN_AND_INFINITY[name]
    first = element(np.argwhere(evidence.wrong)[0])
    return cause(name, f"{seen}, first at {first}.\n{question}")
