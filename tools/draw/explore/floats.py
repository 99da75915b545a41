"""Floats: the bits of a number and its neighbours; and the exponentials of a softmax, which may leave a format."""

import math

import numpy as np

from tools.draw.explore.page import ROOM, TOP, page
from tools.draw.svg import MARGIN, Canvas, colour
from tools.models.formats import BF16, FP16, Format

FORMATS = {"float16": FP16, "bfloat16": BF16, "float32": Format("fp32", 8, 23, 127, infinity=True)}
SCORES = 2, 0, 1, 3  # of the four keys of week 3
AROUND = 5  # numbers that are shown on either side of one
CELL = 30  # pixels of a bit
SIGN, EXPONENT, MANTISSA = map(colour, (3, 0, 1))


def float_bits(exponent_bits: int, mantissa_bits: int, code: int, mantissa: int, negative: bool = False) -> str:
    """The number with this code of the exponent and this mantissa, bit by bit, and its neighbours in size.

    code and mantissa: if they need more bits than there are, the largest that do not.
    """
    form = Format("", exponent_bits, mantissa_bits, 2 ** (exponent_bits - 1) - 1, infinity=True)
    code, mantissa = min(code, 2**exponent_bits - 1), min(mantissa, 2**mantissa_bits - 1)
    bits = (code << mantissa_bits) + mantissa
    value = _short(_value(form, bits))
    name = next((f", {name}" for name, each in FORMATS.items() if each.bits == form.bits and each.max == form.max), "")
    canvas = page(
        f"{'-' * negative}{value}, with {exponent_bits} exponent bits and {mantissa_bits} of mantissa{name}",
        _formula(form, code, mantissa, negative),
    )
    for place, bit in enumerate(f"{int(negative)}{bits:0{form.bits - 1}b}"):
        kind = SIGN if place == 0 else EXPONENT if place <= form.exponent_bits else MANTISSA
        left = MARGIN + place * CELL
        canvas.rect(left, TOP, CELL - 2, CELL - 2, kind, f"bit {form.bits - 1 - place}")
        canvas.text(left + CELL / 2 - 1, TOP + 19, bit, "on", "middle")
    canvas.text(MARGIN, TOP + 50, f"sign {int(negative)}, code {code}, mantissa {mantissa}", "soft")
    _neighbours(canvas, TOP + 96, form, bits)
    return canvas.finish(TOP + 130)


def _value(form: Format, bits: int) -> float:
    return float(form.decode(bits))


def _short(value: float) -> str:
    return f"{value:.9g}"


def _formula(form: Format, code: int, mantissa: int, negative: bool) -> str:
    sign, digits = "-" * negative, form.mantissa_bits
    if code == 2**form.exponent_bits - 1:
        return "a code of all ones: infinity where the mantissa is 0, else NaN"
    if code == 0:
        return f"{sign}{mantissa} / 2**{digits} * 2**(1 - {form.bias}): code 0 has no leading 1"
    return f"{sign}(1 + {mantissa} / 2**{digits}) * 2**({code} - {form.bias})"


def _neighbours(canvas: Canvas, top: float, form: Format, bits: int) -> None:
    """The numbers around this one as far apart as they are: those whose bits are a few less and a few more."""
    last = ((2**form.exponent_bits - 1) << form.mantissa_bits) - 1
    around = [each for each in range(bits - AROUND, bits + AROUND + 1) if 0 <= each <= last]
    if bits > last:
        return
    values = [_value(form, each) for each in around]
    step = _value(form, bits + 1) - values[around.index(bits)] if bits < last else math.inf
    after = f"the next is 2**{math.log2(step):.0f} further" if bits < last else "the next is infinity"
    canvas.text(MARGIN, top - 16, f"its size and those around it; {after}", "soft")
    scale = ROOM / (values[-1] - values[0])
    canvas.line(MARGIN, top + 12, MARGIN + ROOM, top + 12, "axis")
    for each, value in zip(around, values, strict=True):
        kind = "marked" if each == bits else "shared"
        canvas.rect(MARGIN + (value - values[0]) * scale - 2, top, 4, 24, kind, _short(value))


def naive_softmax(name: str, shift: float, times: float = 1) -> str:
    """Four keys with the scores 2 0 1 3, times a factor, plus `shift`: exponentials, their sum, weights in a format."""
    form = FORMATS[name]
    scores = [_rounded(form, score * times + shift) for score in SCORES]
    exponentials = [_rounded(form, math.exp(score)) for score in scores]
    total = _rounded(form, sum(exponentials))
    weights = [_quotient(form, each, total) for each in exponentials]
    became = "NaN" if any(map(math.isnan, weights)) else "weights" if any(weights) else "zeros"
    added = f"{'-' if shift < 0 else '+'} {abs(shift):g}"
    canvas = page(f"{name}, score * {times:g} {added}: {became}", f"the exponentials add up to {total:.5g}")
    low, high = math.log(form.smallest) - math.log(2), math.log(form.max)
    outside = max(6.0, (high - low) / 8)
    first, last = low - outside, high + outside
    scale = ROOM / (last - first)
    for left, right, kind, tip in (
        (first, low, "shared", "the exponential is 0"),
        (low, high, "empty", "the exponential fits"),
        (high, last, "shared", "the exponential is infinite"),
    ):
        canvas.rect(MARGIN + (left - first) * scale, TOP, (right - left) * scale, 24, kind, tip)
        canvas.text(MARGIN + (left + right - 2 * first) / 2 * scale, TOP + 40, tip.split()[-1], "small soft", "middle")
    for key, score in enumerate(scores):
        place = MARGIN + (min(max(score, first), last) - first) * scale
        told = f"key {key}: score {score:g}, exponential {exponentials[key]:.5g}, weight {weights[key]:.3g}"
        canvas.rect(place - 2, TOP, 4, 24, colour(key), told)
        top = TOP + 60 + key * 26
        canvas.rect(MARGIN, top, max(0.0, np.nan_to_num(weights[key])) * ROOM / 3 + 2, 18, colour(key), told)
        canvas.text(MARGIN + ROOM / 3 + 16, top + 14, told)
    return canvas.finish(TOP + 60 + 4 * 26 + MARGIN)


def _rounded(form: Format, value: float) -> float:
    return float(form.decode(form.encode(value)))


def _quotient(form: Format, exponential: float, total: float) -> float:
    with np.errstate(invalid="ignore", divide="ignore"):
        return _rounded(form, float(np.float64(exponential) / np.float64(total)))
