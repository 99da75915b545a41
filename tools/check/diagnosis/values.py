"""One simple operation too many or too few on every value: factor, offset, sign, zeros, NaN and infinity."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tools.check import show
from tools.check.diagnosis.numbers import rms, sample
from tools.check.diagnosis.symptoms import ENOUGH_BITS, Call, Symptoms
from tools.check.diagnosis.words import ALIKE_IN_16_BITS, BINARY, CONSTANTS, Cause, cause, element, factor_text
from tools.words import listed

POWERS = (
    (2, "the square of", "What is squared once too often?"),
    (0.5, "the square root of", "What should have been squared?"),
    (-1, "one over", "What is divided by what?"),
)
FEW = 3  # numbers that are told apart from an array;
FEW_NAMED = 8  # of a tuple or list, whose entries stand for different things
MOST_PARTS = 5  # of a sum, of which one is left out
WHICH_FACTOR = "What is added, multiplied or divided once too often, or not at all?"
WHICH_ROOT = "Which root is taken, and of what?"
WHICH_DIGITS = "Which factor is computed with fewer digits?"


def all_zeros(symptoms: Symptoms) -> Cause | None:
    if not symptoms.comparable or symptoms.here.got.size < 4 or symptoms.here.got.any():
        return None
    if np.count_nonzero(symptoms.wrong) < 4:
        return None
    stored = isinstance(symptoms.got, np.ndarray)
    asks = "Is it the computed value that is stored?" if stored else "Which line computes them?"
    return cause("all_zeros", f"Every element is {_first(symptoms)}.", asks)


def all_the_same(symptoms: Symptoms) -> Cause | None:
    got = symptoms.here.got
    if not symptoms.comparable or got.size < 4 or np.isnan(got.flat[0]) or (got != got.flat[0]).any():
        return None
    if np.count_nonzero(symptoms.wrong) < 4 or len(np.unique(sample(symptoms.here.want))) < 4:
        return None
    is_sum = abs(float(got.flat[0]) - symptoms.here.want.sum()) <= symptoms.slack * np.abs(symptoms.here.want).sum()
    but = "the sum of all wanted ones" if is_sum else "though the wanted ones differ"
    return cause(
        "all_the_same",
        f"Every element is {_first(symptoms)}, {but}.",
        "What is added up, and what kept apart?" if is_sum else "What changes from one element to the next?",
    )


def _first(symptoms: Symptoms) -> str:
    first = np.asarray(symptoms.got).flat[0]
    return show.number(first.item())


def _varies(symptoms: Symptoms) -> bool:
    """Whether the wanted values are enough, and spread enough, to tell a factor from an offset."""
    want = sample(symptoms.here.want)
    want = np.unique(want[np.isfinite(want) & (want != 0)])
    return want.size >= 4 and np.ptp(want) > 100 * symptoms.slack * rms(want)


def wrong_sign(symptoms: Symptoms) -> Cause | None:
    if symptoms.comparable and symptoms.holds(lambda call: -call.want):
        return cause("wrong_sign", "Every number has the opposite sign.", "Where does the sign come from?")
    return None


def inverted(symptoms: Symptoms) -> Cause | None:
    if getattr(symptoms.want, "dtype", None) == np.bool_ and symptoms.holds(lambda call: 1 - call.want):
        return cause(
            "inverted", "True where False is wanted, and False where True is.", "What does the condition select?"
        )
    return None


def constant_factor(symptoms: Symptoms) -> Cause | None:
    if not symptoms.comparable or not _varies(symptoms):
        return None
    got, want = sample(symptoms.here.got), sample(symptoms.here.want)
    largest = np.argmax(np.where(np.isfinite(want), np.abs(want), -1))
    factor = float(got[largest] / want[largest])
    constant = _constant_near(factor, symptoms)
    if constant is None and not (_is_another_factor(factor, symptoms) and symptoms.holds(lambda c: factor * c.want)):
        return None
    times = factor_text(constant or factor)
    if times.startswith("sqrt"):
        asks = WHICH_ROOT
    else:
        asks = WHICH_DIGITS if times.startswith(("1 - ", "1 + ")) else WHICH_FACTOR
    return cause("constant_factor", f"Everything is {times} what was wanted.", asks)


def _constant_near(factor: float, symptoms: Symptoms) -> float | None:
    """The constant that a factor of numbers of 16 bits stands for: one number tells it roughly, all must fit it."""
    dtypes = {str(getattr(symptoms.got, "dtype", "")), str(symptoms.dtype)}
    if dtypes.isdisjoint(("float16", "bfloat16")):
        return None
    far_from_1 = (constant for constant in CONSTANTS if abs(constant - 1) > 10 * symptoms.slack)
    near = (constant for constant in far_from_1 if abs(factor / constant - 1) < ALIKE_IN_16_BITS)
    return next((constant for constant in near if symptoms.holds(lambda call: constant * call.want)), None)


def factor_of_few_numbers(symptoms: Symptoms) -> Cause | None:
    """One number, or those that are wrong of a few, the same multiple. Any single one is some multiple: it must be that
    in other calls too, or be a likely one."""
    got, want = symptoms.here.got, symptoms.here.want
    few = FEW_NAMED if isinstance(symptoms.got, (tuple, list)) else FEW
    if not symptoms.comparable or not 1 <= got.size <= few or not got.all() or not want.all():
        return None
    wrong = symptoms.wrong
    factor = float(got[wrong][0] / want[wrong][0])

    def fits(call: Call) -> Any:
        return _equal(call.got, np.where(wrong, factor, 1) * call.want, symptoms)

    if not _is_another_factor(factor, symptoms) or not fits(symptoms.here):
        return None
    if not symptoms.elsewhere:  # of small whole numbers nearly every ratio is simple
        large = want.dtype.kind != "i" or np.abs([got[wrong], want[wrong]]).min() >= 10
        if not large or not wrong.all() or chooses(symptoms) or not _often_wrong(factor, symptoms):
            return None
    if not all(map(fits, symptoms.elsewhere)) or not _tells(symptoms):
        return None
    seen = f"{which_of(wrong)} is {factor_text(factor)} what was wanted."
    return cause("constant_factor", seen, _which_part(factor) or WHICH_FACTOR)


def chooses(symptoms: Symptoms) -> bool:
    """Is what came back wrong one of the numbers that the call gives? Then it may be chosen, not computed."""
    given = [array.ravel() for array in map(_several_numbers, symptoms.args) if array is not None]
    return bool(given) and bool(np.isin(symptoms.here.got[symptoms.wrong], np.concatenate(given)).all())


def _several_numbers(value: Any) -> np.ndarray | None:
    """Of an array, a list or a tuple; None of a number by itself, and of anything else."""
    try:
        array = np.asarray(value)
    except ValueError:  # its rows are not equally long
        return None
    return array if array.ndim and array.dtype.kind in "iuf" else None


def _tells(symptoms: Symptoms) -> bool:
    """Small whole numbers, and where nothing was wanted, are some multiple of each other by luck."""
    if symptoms.here.want.dtype.kind != "i" or not symptoms.elsewhere:
        return True
    apart = (np.abs(call.got - call.want).max() for call in symptoms.calls)
    return sum(math.log2(1 + float(each)) for each in apart) >= ENOUGH_BITS / 2


def which_of(wrong: np.ndarray) -> str:
    """Of a few numbers: It, Each, Number 2, or Each of numbers 1 and 3."""
    if wrong.all():
        return "It" if wrong.size == 1 else "Each"
    numbers = [str(i + 1) for i in np.flatnonzero(wrong)]
    return f"Number {numbers[0]}" if len(numbers) == 1 else f"Each of numbers {listed(numbers)}"


def _which_part(factor: float) -> str | None:
    """2/3, 3/4: as if one of three or four equal parts were missing; 4/3, 3/2: as if there were one too many."""
    simple = Fraction(factor).limit_denominator(MOST_PARTS)
    parts = simple.denominator if factor < 1 else simple.numerator
    if abs(simple - factor) > 1e-9 or parts < 3 or abs(simple.numerator - simple.denominator) != 1:
        return None
    if factor < 1:
        return f"Of {parts} equal parts, is one left out?"
    return f"Is the last of {parts} equal parts one too many?"


def _is_another_factor(factor: float, symptoms: Symptoms) -> bool:
    """Not what rounding could make of 1."""
    return bool(np.isfinite(factor)) and factor not in (0, -1) and abs(factor - 1) > 20 * symptoms.slack


def _equal(one: Any, other: Any, symptoms: Symptoms) -> bool:
    return np.allclose(one, other, rtol=max(symptoms.slack, 1e-12), atol=0)


def _often_wrong(factor: float, symptoms: Symptoms) -> bool:
    """Powers of two and ten, the number of elements n, and n / (n - 1), or one over any of these."""
    arrays = [arg for arg in symptoms.args if isinstance(arg, np.ndarray)]
    lengths = {n for array in arrays for n in (*array.shape, array.size) if n > 2}
    usual = {2.0**k for k in range(1, 41)} | {10.0**k for k in range(1, 13)}
    usual |= set(BINARY)
    usual |= {float(n) for n in lengths} | {n / (n - 1) for n in lengths}
    return any(_equal(factor, number, symptoms) or _equal(1 / factor, number, symptoms) for number in usual)


def wrapped_around(symptoms: Symptoms) -> Cause | None:
    """Whole numbers of which only the last 32 bits came back."""
    got, want = symptoms.here.got, symptoms.here.want
    if not symptoms.comparable or got.dtype.kind != "i" or want.dtype.kind != "i":
        return None
    wrong = got != want
    if not wrong.any() or ((got - want)[wrong] % 2**32).any() or (np.abs(got[wrong] - 2**30) > 3 * 2**30).any():
        return None
    return cause("wrapped_around", "It is what was wanted, modulo 2**32.", "Which number is kept in 32 bits?")


def a_power(symptoms: Symptoms) -> Cause | None:
    """The square of what was wanted, its root, or one over it."""
    if not symptoms.comparable or symptoms.here.want.dtype.kind != "f":
        return None
    for power, seen, asks in POWERS:
        if symptoms.holds(lambda call: call.want**power):
            return cause("power", f"What came back is {seen} what was wanted.", asks)
    return None


def constant_offset(symptoms: Symptoms) -> Cause | None:
    if not symptoms.comparable or not _varies(symptoms):
        return None
    difference = sample(symptoms.here.got) - sample(symptoms.here.want)
    by = np.median(difference[np.isfinite(difference)])
    if not np.isfinite(by) or by == 0 or not symptoms.holds(lambda call: call.want + by):
        return None
    return cause(
        "constant_offset",
        f"Every number is {abs(by):.5g} too {'high' if by > 0 else 'low'}.",
        "Which term is missing or left over?",
    )


NAN_AND_INFINITY = {  # name: what is seen, and the question
    "lost_nan": ("A number came back where NaN was wanted", "What happens to NaN on its way through?"),
    "unexpected_nan": ("NaN came back where a number was wanted", "Which step makes the first NaN?"),
    "lost_infinity": ("A number came back where infinity was wanted", "What happens to it on its way?"),
    "unexpected_infinity": ("Infinity came back where a number was wanted", "Which step overflows?"),
}
MINUS_INFINITY = (  # seldom an overflow
    "-inf came back where a number was wanted",
    "Which line makes the first: a start, a mask, a log of 0, or an overflow?",
)


def nan_and_infinity(symptoms: Symptoms) -> Cause | None:
    """All that is wrong is a NaN or an infinity too many, or all that is wrong is one too few."""
    if not symptoms.comparable or symptoms.finite:
        return None
    got, want = symptoms.here.got[symptoms.wrong], symptoms.here.want[symptoms.wrong]
    if (~np.isfinite(want) & np.isfinite(got)).all():
        name = "lost_nan" if np.isnan(want).any() else "lost_infinity"
    elif (np.isfinite(want) & ~np.isfinite(got)).all():
        name = "unexpected_nan" if np.isnan(got).any() else "unexpected_infinity"
    else:
        return None
    is_negative = name == "unexpected_infinity" and bool((got < 0).all())
    seen, question = MINUS_INFINITY if is_negative else NAN_AND_INFINITY[name]
    first = element(np.argwhere(symptoms.wrong)[0])
    return cause(name, f"{seen}, first at {first}.", question)
