"""Lower precision than asked for: in the numbers that came back, or as if the arguments had been rounded; and zeros
that lost their sign."""

from collections.abc import Callable

import numpy as np

from tools.check.diagnosis.numbers import is_float, sample
from tools.check.diagnosis.symptoms import SLOW_ELEMENTS, Symptoms
from tools.check.diagnosis.words import Cause, cause

DIGITS = {"bfloat16": 8, "float16": 11, "tf32": 11, "float32": 24, "float64": 53}  # significant binary digits
FEW_LOST = 2.0**-10  # of a sum of whole numbers, where more is lost for another reason
FEWEST = 8  # numbers that must agree: one in eight that fit float16 also fit bfloat16
FEW, LESS = 3, 3  # of fewer numbers, so many that need more than all but LESS of the format's digits


def narrowed_to_16_bits(symptoms: Symptoms) -> Cause | None:
    """bfloat16 is asked first, because nearly all that fits it fits float16 too."""
    return _narrowed(symptoms, "bfloat16", 0.1) or _narrowed(symptoms, "float16", 0.1)


def narrowed_to_float32(symptoms: Symptoms) -> Cause | None:
    return _narrowed(symptoms, "float32", 4e-5)


def _narrowed(symptoms: Symptoms, name: str, largest_error: float) -> Cause | None:
    """Nearly right, and every number fits the format `name` exactly, which the wanted ones do not."""
    if not _nearly_right(symptoms) or symptoms.here.got.dtype != np.float64:
        return None
    got, want = symptoms.here.got, symptoms.here.want
    wanted = symptoms.dtype or str(symptoms.got.dtype)
    if (sample(got) == np.round(sample(got))).all():
        return None  # rounded to whole numbers, whatever the format
    if DIGITS[name] >= DIGITS.get(wanted, 0) or symptoms.largest_error > largest_error:
        return None
    if not fits(sample(got), name).all() or not fits(got, name).all():
        return None
    telling = ~fits(want, name) & (got != 0)
    if np.count_nonzero(telling) < FEWEST and not _are_rounded(got, want, telling, DIGITS[name]):
        return None
    return cause(
        f"{name}_precision",
        f"Every number fits {name} exactly, though {wanted} was asked for.",
        "At which step does it become that narrow?",
    )


def _are_rounded(got: np.ndarray, want: np.ndarray, telling: np.ndarray, digits: int) -> bool:
    """Are these the wanted numbers, rounded once, and most of them no plain ones such as 0.5?"""
    needs_all = to_digits(got, digits - LESS) != got
    return bool(np.count_nonzero(telling & needs_all) >= FEW and (to_digits(want, digits) == got).all())


def ones_lost(symptoms: Symptoms) -> Cause | None:
    """Whole numbers so large that the format of the result holds every second one, or fewer; some of a sum is lost."""
    name = symptoms.dtype or ""
    if not symptoms.comparable or name not in DIGITS or not symptoms.finite:
        return None
    largest = 2 ** DIGITS[name]
    got, want = np.abs(symptoms.here.got[symptoms.wrong]), np.abs(symptoms.here.want[symptoms.wrong])
    if (np.r_[got, want] % 1).any() or (got < largest).any() or (want <= got).any():
        return None
    stuck = (got == largest) & (want % got > 0)  # a multiple of it may have another cause
    if not (stuck | (want - got <= FEW_LOST * want)).all():
        return None
    seen = f"Above 2**{DIGITS[name]} = {largest} {name} has no place left for a 1 that is added."
    return cause("ones_lost", seen, "What is added to one sum, and in which order?")


def sign_of_zero_lost(symptoms: Symptoms) -> Cause | None:
    """0.0 in place of -0.0, and nothing else: what is copied keeps that sign, what goes through a sum does not."""
    if not symptoms.comparable:
        return None
    got, want = symptoms.here.got[symptoms.wrong], symptoms.here.want[symptoms.wrong]
    if got.any() or want.any() or np.signbit(got).any() or not np.signbit(want).all():
        return None
    seen = f"{'Each of them' if got.size > 1 else 'It'} is -0.0, and came back as 0.0. A sum makes 0.0 of -0.0 + 0."
    return cause("sign_of_zero_lost", seen, "Which line calculates with the values?")


def rounded_arguments(symptoms: Symptoms) -> Cause | None:
    """As right as it can be when the float arguments keep fewer digits."""
    if symptoms.elements > SLOW_ELEMENTS or not _nearly_right(symptoms):
        return None
    digits = DIGITS.get(symptoms.dtype or "", 0)
    for name, narrow in ROUNDINGS:
        if DIGITS[name] >= digits:
            continue
        said = symptoms.ask(*_rounded(symptoms.args, narrow))
        if symptoms.holds(lambda call: said) and symptoms.telling(said, symptoms.here.want).sum() >= FEWEST:
            like = "tf32 and float16 do" if name == "tf32" else f"{name} does"
            seen = f"As if the arguments kept only {DIGITS[name]} significant bits, as {like}."
            return cause(f"{name}_precision", seen, "In which precision is it computed?")
    return None


def _nearly_right(symptoms: Symptoms) -> bool:
    """Some values are wrong, none by more than a tenth of the usual size."""
    usable = symptoms.comparable and symptoms.here.got.size >= 4
    return bool(usable and symptoms.largest_error < 0.1)


def fits(values: np.ndarray, name: str) -> np.ndarray:
    """Mask of the values that the format `name` holds exactly."""
    if name == "bfloat16":
        return to_digits(values, DIGITS[name]) == values
    return values.astype(name).astype(np.float64) == values


def to_digits(values: np.ndarray, digits: int, round: Callable = np.rint) -> np.ndarray:
    """Values with so many significant binary digits; round: np.rint, np.trunc, or halves away from zero."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(round(np.ldexp(mantissa, digits)), exponent - digits)


def away(values: np.ndarray) -> np.ndarray:
    """Halves away from zero, as the conversion to tf32 rounds."""
    return np.trunc(values + np.copysign(0.5, values))


# Tensor cores cut tf32 off; conversions round it.
ROUNDINGS = [
    ("bfloat16", lambda x: to_digits(x, 8)),
    ("bfloat16", lambda x: to_digits(x, 8, np.trunc)),
    ("tf32", lambda x: to_digits(x, 11, away)),
    ("tf32", lambda x: to_digits(x, 11, np.trunc)),
    ("float16", lambda x: x.astype(np.float16).astype(np.float64)),
    ("float32", lambda x: x.astype(np.float32).astype(np.float64)),
]


def _rounded(args: tuple, narrow: Callable) -> tuple:
    return tuple(narrow(arg.astype(np.float64)) if _is_float_array(arg) else arg for arg in args)


def _is_float_array(arg: object) -> bool:
    return isinstance(arg, np.ndarray) and is_float(arg.dtype)
