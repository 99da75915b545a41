"""The lesson again, as checks: bits, steps, limits of exp, a softmax that breaks as predicted, a cancellation."""

import math
import textwrap
from bisect import bisect_right
from collections import Counter
from decimal import Decimal, localcontext

import ml_dtypes
import numpy as np
import pytest
import torch

from tools.check import Mismatch, assert_matches, count, memory
from tools.check.inputs import matrices
from tools.check.tolerances import SLACK, Tolerance, unit
from tools.gpu import device
from week3.day2 import naive_softmax as lesson

INF, NAN = math.inf, math.nan
LAUNCHES = "Each is a launch that reads memory and makes a tensor. Which is done twice, or for nothing?"
COPIES = "{} copies scores that lie otherwise, as these do. exp and sum read them as they lie: what is the copy for?"
ASKS = "A question about every number is a launch too. On a GPU an `if` waits until its answer has come."
IN_WORDS = {"__setitem__": "writing into a slice", "__rtruediv__": "number / tensor", "__rsub__": "number - tensor"}
GUESSES = {"constant_factor", "unexpected_infinity", "lost_infinity"}
FORMATS = {  # exponent bits and mantissa bits: the dtype of NumPy that has as many
    (5, 10): np.float16, (8, 7): ml_dtypes.bfloat16, (8, 23): np.float32, (11, 52): np.float64,
    (4, 3): ml_dtypes.float8_e4m3, (3, 4): ml_dtypes.float8_e3m4, (5, 2): ml_dtypes.float8_e5m2,
}
BITS = {torch.float16: (5, 10), torch.bfloat16: (8, 7), torch.float32: (8, 23), torch.float64: (11, 52)}
KEYS = [2.0, 0.0, 1.0, 3.0]  # the scores of the lesson


def named(*values):
    """An id of a test: its numbers and dtypes, with blanks between."""
    return " ".join(str(value).removeprefix("torch.") for value in values)


def assert_told(facts, function, *args, **how):
    """assert_matches; a failure ends with the facts, or facts(got), in place of a guess that needs none."""
    __tracebackhide__ = True
    try:
        assert_matches(function, *args, **how)
    except Mismatch as found:
        if found.cause == "input_modified":  # the facts would be of the arguments as they are now
            raise
        got = None if "It raised" in found.text else function(*args)
        told = [textwrap.fill(fact, 76) for fact in (facts(got) if callable(facts) else facts)]
        if not told:
            raise
        parts = found.text.split("\n\n")
        shown = parts[:2] if found.cause in GUESSES else parts
        raise Mismatch("\n\n".join([*shown, "\n".join(told)]), found.cause) from None


def number(bits, exponent_bits, mantissa_bits):
    """What NumPy reads in these bits."""
    dtype = np.dtype(FORMATS[exponent_bits, mantissa_bits])
    return float(np.array(bits, f"u{dtype.itemsize}").view(dtype))


def gap(x, exponent_bits, mantissa_bits):
    """From the number nearest to |x| to that whose bits are one more; from the largest to the one before."""
    dtype = np.dtype(FORMATS[exponent_bits, mantissa_bits])
    bits = int(np.array(abs(x), dtype).view(f"u{dtype.itemsize}"))
    before, here, after = (number(bits + by, exponent_bits, mantissa_bits) for by in (-1 if bits else 1, 0, 1))
    return here - before if after == INF else after - here


def tensor(values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, device=device)


def softmax(scores):
    return torch.softmax(scores, dim=-1)


def rounded(dtype, times):
    """For a few operations, each of which is rounded to the dtype."""
    return Tolerance(SLACK * times * unit(dtype), f"{times} roundings to {named(dtype)}", named(dtype))


def assert_few_operations(function, *args, at_most, why=None):
    """Of PyTorch, which on a GPU are as many launches: to write a number into a slice is one, too."""
    __tracebackhide__ = True
    counters = count(function, *args)
    names = [name.split(".")[-1] for name in [*counters.library_operations, *counters.library_fills]]
    operations = Counter(IN_WORDS.get(name, name) for name in names)
    if operations.total() <= at_most and operations["exp"] <= 1:
        return
    shown = ", ".join(name if times == 1 else f"{name} {times} times" for name, times in operations.items())
    enough = f"{at_most}, one of them exp" if at_most else "none"
    told = [f"PyTorch worked {operations.total()} times: {shown}. Enough is {enough}.",
            why or asked(operations, args[0])]
    raise Mismatch("\n".join([*counters.call.lines, "", *(textwrap.fill(line, 76) for line in told)]), "operations")


def asked(operations, scores):
    """What a failure says of these operations on the scores."""
    rows = math.prod(scores.shape[:-1])
    if operations["exp"] == rows:
        return f"exp is called once for each of the {rows} rows. Let one call take all of them."
    for name in operations:
        if name in {"contiguous", "reshape", "flatten"}:
            return COPIES.format(name)
        if name in {"double", "float", "to", "type"}:
            return f"{name} copies into another dtype. Which digits does that save where the scores are float64?"
    if operations["exp"] > 1:
        return once(operations["exp"])
    if (added := operations["add"] + operations["add_"]) >= scores.shape[-1] - 2:
        return f"add is called {added} times, key after key. Which one call adds up a row?"
    if operations.keys() & {"number / tensor", "reciprocal"}:
        return "A quotient 1 / x and a product with it are two launches, and round twice. Which one does both?"
    return ASKS if operations.keys() & {"isinf", "isnan", "isfinite"} else LAUNCHES


def once(times):
    """What a failure says of so many calls of exp."""
    return f"exp is called {times} times where once is enough. Which name keeps what it made?"


def assert_little_memory(function, *args, at_most, allowed, asks=lambda tensors: "Which of them is not needed?"):
    """At one time no more than so many bytes of tensors. allowed: what they are for. asks: of those that were there."""
    __tracebackhide__ = True
    needed = memory(function, *args)
    if needed.peak <= at_most:
        return
    told = [f"At one time there were {needed.peak:,} bytes of tensors. Enough is {at_most:,}:", allowed + "."]
    made = [f"  line {one.line} made {one.dtype}{[*one.shape]}, {one.bytes:,} bytes" for one in needed.at_peak[:4]]
    told += ["Yours, the largest first:", *made, textwrap.fill(asks(needed.at_peak), 76)]
    raise Mismatch("\n".join([*needed.call.lines, "", *told]), "memory")


@pytest.fixture(params=["row after row", "column after column"])
def stored_scores(request, rng):
    """6 rows of 5 scores, in one order in memory or the other."""
    scores = tensor(matrices(rng, (6, 5))[0])
    return scores if request.param == "row after row" else scores.T.contiguous().T


# Task 1: bits -------------------------------------------------------------------------------------

def fields(bits, exponent_bits, mantissa_bits):
    """What a failure says of these bits."""
    text = f"{bits:0{1 + exponent_bits + mantissa_bits}b}"
    sign, code, mantissa = text[0], int(text[1:1 + exponent_bits], 2), int(text[1 + exponent_bits:], 2)
    rule = {0: "Code 0 has no leading 1, and the exponent of code 1. Zero has a sign too.",
            2**exponent_bits - 1: "All ones: infinity, with its sign, where the mantissa is 0; else NaN."}
    return [f"The bits are {text[0]} {text[1:1 + exponent_bits]} {text[1 + exponent_bits:]}:",
            f"sign {sign}, code {code}, mantissa {mantissa}. The bias is {2**(exponent_bits - 1) - 1}.",
            rule.get(code, "The number is 1.mantissa * 2**(code - bias), with its sign.")]


def about_the_number(got, bits, exponent_bits, mantissa_bits):
    """What a failure asks of a number with a leading 1, where one piece of the bits was read wrong."""
    wanted, code = number(bits, exponent_bits, mantissa_bits), bits >> mantissa_bits & 2**exponent_bits - 1
    if not isinstance(got, float) or not 0 < code < 2**exponent_bits - 1 or not 0 < abs(got) < INF:
        return
    (ours, k), (yours, your_k) = math.frexp(wanted), math.frexp(got)
    if abs(got) == abs(wanted):
        yield "Yours has the other sign. Which bit says it?"
    elif ours == yours and your_k - k == 2**exponent_bits:
        yield f"Yours is 2**{your_k - k} times as large. Which bit stands before those of the code?"
    elif ours == yours:
        yield f"Yours is 2**{your_k - k} times that. Which code, less which bias, is its exponent?"
    elif k == your_k:
        yield f"Yours has a mantissa of {(2 * abs(yours) - 1) * 2**mantissa_bits:g}. Which bits does it keep?"


def assert_decodes(bits, exponent_bits, mantissa_bits):
    __tracebackhide__ = True
    bits = int(bits.replace(" ", ""), 2) if isinstance(bits, str) else bits
    assert_told(lambda got: [*fields(bits, exponent_bits, mantissa_bits),
                             *about_the_number(got, bits, exponent_bits, mantissa_bits)],
                lesson.decode_float, bits, exponent_bits, mantissa_bits, oracle=number, exact=True)


@pytest.mark.task(1)
@pytest.mark.parametrize("bits", [
    "0 01110 0100100110",  # the weight .644 of the lesson
    "0 01111 0000000000", "0 01111 0000000001",  # 1, and the number after it
    "1 10000 0100000000",
    "0 00001 0000000000", "0 11110 1111111111",  # the smallest with a leading 1, the largest of all
])  # fmt: skip
def test_decodes_the_bits_of_float16(bits):
    assert_decodes(bits, 5, 10)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("bits", ["0 00000 0000000001", "0 00000 1000000000", "1 00000 1111111111",
                                  "0 00000 0000000000", "1 00000 0000000000"])
def test_decodes_subnormal_numbers_and_both_zeros(bits):
    assert_decodes(bits, 5, 10)


@pytest.mark.task(1)
@pytest.mark.nonfinite
@pytest.mark.parametrize("bits", ["0 11111 0000000000", "1 11111 0000000000", "0 11111 1000000000",
                                  "0 11111 0000000001", "1 11111 1111111111"])
def test_decodes_infinity_and_nan(bits):
    assert_decodes(bits, 5, 10)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("bits, exponent_bits, mantissa_bits", [
    (0x3F25, 8, 7), (0x0001, 8, 7), (0x3F24F0D8, 8, 23), (0x80000001, 8, 23), (0x3FE49E1B089A0275, 11, 52),
    (0x0000000000000001, 11, 52), (0x7FEFFFFFFFFFFFFF, 11, 52),
])  # fmt: skip
def test_decodes_bfloat16_float32_and_float64(bits, exponent_bits, mantissa_bits):
    assert_decodes(bits, exponent_bits, mantissa_bits)


@pytest.mark.task(1)
def test_decodes_any_bits_of_any_format(rng):
    for exponent_bits, mantissa_bits in FORMATS:
        for bits in rng.integers(0, 2 ** (exponent_bits + mantissa_bits), 12, dtype=np.uint64).tolist():
            assert_decodes(bits, exponent_bits, mantissa_bits)


# Task 2: steps ------------------------------------------------------------------------------------

def assert_step(x, exponent_bits, mantissa_bits):
    __tracebackhide__ = True
    step, lowest = gap(x, exponent_bits, mantissa_bits), 2 - 2 ** (exponent_bits - 1)
    k = round(math.log2(step)) + mantissa_bits
    facts = [f"{abs(x):.17g} lies from 2**{k} up to 2**{k + 1}:", f"k is {k}, and the step 2**({k} - {mantissa_bits})."]
    if abs(x) < 2.0**lowest:
        facts = [f"|x| is below 2**{lowest}, where code 1 begins.",
                 f"From there down to 0 the step stays 2**({lowest} - {mantissa_bits})."]
    elif math.floor(math.log2(abs(x))) != k:
        facts += [f"math.log2 gives {math.log2(abs(x))} for it, which is rounded."]
    assert_told(facts, lesson.spacing, x, exponent_bits, mantissa_bits, oracle=gap, exact=True)


@pytest.mark.task(2)
@pytest.mark.parametrize("mantissa_bits", [10, 7, 23, 52])
def test_machine_epsilon_is_the_step_after_1(mantissa_bits):
    epsilons = {10: 0.0009765625, 7: 0.0078125, 23: 1.1920928955078125e-07, 52: 2.220446049250313e-16}
    facts = [f"After 1 comes the number with the last of its {mantissa_bits} mantissa bits set."]
    assert_told(facts, lesson.machine_epsilon, mantissa_bits, oracle=epsilons.get, exact=True)


@pytest.mark.task(2)
@pytest.mark.parametrize("x", [11.0, 1.0, 2.0, 3.0, 0.5, 65504.0, 0.6435546875, -11.0])
def test_steps_of_float16_double_at_each_power_of_two(x):
    assert_step(x, 5, 10)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("x", [2.0**-13, 2.0**-14, 2.0**-15, 2.0**-24, 0.0, -(2.0**-20)])
def test_steps_near_0_no_longer_shrink(x):
    assert_step(x, 5, 10)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("x, exponent_bits, mantissa_bits", [
    (0.0, 8, 7), (88.5, 8, 7), (24.0, 8, 23), (2.0**24, 8, 23), (0.0, 11, 52), (24.0, 11, 52),
    (1 - 2.0**-53, 11, 52), (2.0**53 - 1, 11, 52), ((2 - 2.0**-52) * 2.0**1023, 11, 52),
])  # fmt: skip
def test_steps_of_bfloat16_float32_and_float64_up_to_the_last(x, exponent_bits, mantissa_bits):
    assert_step(x, exponent_bits, mantissa_bits)


# Task 3: where exp leaves a format ----------------------------------------------------------------

def last_that_fits(exponent_bits, mantissa_bits):
    """Found among all numbers of the format by their logarithms, to 60 digits."""
    def value(bits):
        return Decimal(number(bits, exponent_bits, mantissa_bits))

    finite = range((2**exponent_bits - 1) << mantissa_bits)
    with localcontext(prec=60):
        return float(value(bisect_right(finite, value(finite[-1]).ln(), key=value) - 1))


def log_of_half_the_smallest(exponent_bits, mantissa_bits):
    with localcontext(prec=60):
        return float((Decimal(number(1, exponent_bits, mantissa_bits)) / 2).ln())


def about_the_threshold(got, exponent_bits, mantissa_bits):
    """What a failure says of a threshold that is wrong."""
    largest = number(((2**exponent_bits - 1) << mantissa_bits) - 1, exponent_bits, mantissa_bits)
    yield f"The largest number of the format is {largest:.6g}, and its natural logarithm {math.log(largest):.6f}."
    if isinstance(got, float) and float(np.array(got).astype(FORMATS[exponent_bits, mantissa_bits])) != got:
        yield f"{got:.9g} is no number of the format."
        yield f"Its numbers are {gap(got, exponent_bits, mantissa_bits):.6g} apart there."
    elif isinstance(got, float) and 0 <= math.log2(largest) - got < gap(got, exponent_bits, mantissa_bits):
        yield f"exp({got:.9g}) is e**{got:.9g}. Of which base is your logarithm?"
    elif isinstance(got, float) and got > math.log(largest):
        yield f"{got:.9g} is more than that logarithm: its exponential does not fit."
    elif isinstance(got, float):
        yield f"After {got:.9g} comes a number whose exponential fits as well."


@pytest.mark.task(3)
@pytest.mark.parametrize("exponent_bits, mantissa_bits", FORMATS)
def test_the_last_number_whose_exponential_fits(exponent_bits, mantissa_bits):
    assert_told(lambda got: about_the_threshold(got, exponent_bits, mantissa_bits),
                lesson.overflow_threshold, exponent_bits, mantissa_bits, oracle=last_that_fits, exact=True)


@pytest.mark.task(3)
@pytest.mark.parametrize("exponent_bits, mantissa_bits", FORMATS)
def test_below_this_an_exponential_is_rounded_to_0(exponent_bits, mantissa_bits):
    smallest = round(math.log2(number(1, exponent_bits, mantissa_bits)))

    def facts(got):
        yield f"The smallest number above 0 is 2**{smallest}, a subnormal one."
        if got == smallest - 1:
            yield f"exp({got:g}) is e**{got:g}. Of which base is your logarithm?"
            return
        yield "What is below half of it is nearer to 0."
        if smallest == -1074:
            yield "A Python float has no number between 0 and the smallest float64."

    assert_told(facts, lesson.underflow_threshold, exponent_bits, mantissa_bits,
                oracle=log_of_half_the_smallest)


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("threshold", [lesson.overflow_threshold, lesson.underflow_threshold], ids=lambda f: f.__name__)
def test_thresholds_are_found_without_trying(threshold):
    assert_few_operations(threshold, 5, 10, at_most=0, why="Which logarithm would say it without a trial?")


@pytest.mark.task(3)
@pytest.mark.parametrize("dtype", BITS, ids=named)
def test_pytorch_overflows_and_underflows_where_you_say(dtype):
    """A library may give up in the last millionth of float64."""
    room = 1e-5 if dtype == torch.float64 else 0.0
    overflow, underflow = lesson.overflow_threshold(*BITS[dtype]), lesson.underflow_threshold(*BITS[dtype])
    scores = [overflow - room, overflow + gap(overflow, *BITS[dtype]), underflow + 0.51, underflow - 0.51]
    at_your_threshold, after_it, above_the_lower_one, below_the_lower_one = torch.exp(tensor(scores, dtype)).tolist()
    assert at_your_threshold < INF
    assert after_it == INF
    assert above_the_lower_one > 0
    assert below_the_lower_one == 0


# Task 4: a softmax, and where it breaks -----------------------------------------------------------

F16, BF16, F32, F64 = BITS
OUTCOMES = [  # dtype, one row of scores, what becomes of it
    (F16, KEYS, "weights"), (F16, [10.0, 8.0, 9.0, 11.0], "zeros"), (F16, [11.0, 9.0, 10.0, 12.0], "nan"),
    (F16, [-19.0, -21.0, -20.0, -18.0], "nan"),  # so far the picture
    (F16, [11.0], "weights"), (F16, [12.0], "nan"), (F16, [11.0, 11.0], "zeros"), (F16, [11.0859375], "weights"),
    (F16, [-17.0], "weights"), (F16, [-18.0, -18.0], "nan"), (F16, [-40.0, 5.0], "weights"),
    (F16, [-INF, 5.0, -INF], "weights"), (F16, [-INF, -INF], "nan"),
    (BF16, [11.0, 9.0, 10.0, 12.0], "weights"), (BF16, [88.0, 1.0], "weights"), (BF16, [89.0], "nan"),
    (BF16, [88.0] * 3, "zeros"), (BF16, [-92.0], "weights"), (BF16, [-93.0], "nan"),
    (F32, [88.0, 1.0], "weights"), (F32, [89.0, 1.0], "nan"), (F32, [88.0] * 3, "zeros"),
    (F32, [-103.0], "weights"), (F32, [-104.0, -INF], "nan"),
    (F64, [709.0, 1.0], "weights"), (F64, [710.0, 1.0], "nan"), (F64, [709.0] * 3, "zeros"),
    (F64, [-744.0], "weights"), (F64, [-746.0], "nan"),  # a GPU's exp of -745 is 0 already
]  # fmt: skip
each_outcome = pytest.mark.parametrize("dtype, scores, breaks_as", OUTCOMES,
                                       ids=[named(dtype, *scores) for dtype, scores, _ in OUTCOMES])


def listed(tensor):
    return " ".join(f"{value:.5g}" for value in tensor.tolist())


def outcome(weights):
    """What predict_softmax predicts."""
    row = weights.tolist()
    return "nan" if any(map(math.isnan, row)) else "weights" if any(row) else "zeros"


def by_the_formula(scores, dtype):
    """Exponentials, their sum, and the weights, by PyTorch."""
    exponentials = torch.exp(tensor(scores, dtype))
    return exponentials, exponentials.sum(), exponentials / exponentials.sum()


def about_the_row(scores, dtype):
    """What a failure says of it."""
    exponentials, total, weights = by_the_formula(scores, dtype)
    return [f"In {named(dtype)} the exponentials are {listed(exponentials)},",
            f"their sum is {float(total):.5g}, and the quotients are {listed(weights)}.",
            *reasons(max(scores), exponentials.tolist(), float(total), dtype)]


def reasons(highest, exponentials, total, dtype):
    """Why a row becomes what it does, where that is not plain."""
    if INF in exponentials:
        yield "One exponential is infinite, and inf / inf is NaN."
    elif total == INF:
        yield "Each exponential fits, the sum does not: a number / inf is 0."
    elif total == 0:
        yield "All exponentials are 0, and 0 / 0 is NaN."
    elif torch.exp(tensor(highest + gap(highest, *BITS[dtype]), dtype)) == INF:
        yield f"{highest} is the last number whose exponential fits: it does fit."
    elif 0 in exponentials:
        yield "A score whose exponential is 0 gets the weight 0, and NaN only if all are 0."


@pytest.mark.task(4)
def test_weights_of_the_four_keys_of_the_lesson():
    assert_matches(lesson.naive_softmax, tensor(KEYS), oracle=softmax)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 5), (1, 4), (4, 1)], ids=str)
def test_each_row_along_the_last_axis_has_a_sum_of_its_own(shape, rng):
    def added_up(got):
        if isinstance(got, torch.Tensor):
            told = ["The weights of each row add up to 1.", f"Yours: {listed(got.sum(dim=-1).flatten()[:6])}."]
            together = got.numel() > got.shape[-1] and abs(float(got.sum()) - 1) < 1e-5
            return [*told, "All rows together make 1. Along which axis is the sum?"] if together else told
        return [f"The scores have the shape {shape}. Sums that divide each row of it",
                f"have the shape {(*shape[:-1], 1)}."]

    assert_told(added_up, lesson.naive_softmax, tensor(matrices(rng, shape)[0]), oracle=softmax, layouts="any")


@pytest.mark.task(4)
@pytest.mark.parametrize("dtype", [F16, BF16, F64], ids=named)
def test_weights_have_the_dtype_of_the_scores(dtype, rng):
    scores = tensor(matrices(rng, (3, 5))[0], dtype)
    assert_matches(lesson.naive_softmax, scores, oracle=softmax, tolerance=rounded(dtype, 4))


@pytest.mark.task(4)
@pytest.mark.nonfinite
@each_outcome
def test_breaks_where_its_own_dtype_ends(dtype, scores, breaks_as):
    got = lesson.naive_softmax(tensor(scores, dtype))
    if outcome(got) == breaks_as:
        return
    text = [f"naive_softmax(scores: {named(dtype)}{[len(scores)]}), of {named(*scores)}", "",
            f"Got {listed(got)}, wanted {listed(by_the_formula(scores, dtype)[2])}.", "", *about_the_row(scores, dtype)]
    if torch.allclose(got.double(), softmax(tensor(scores, F64)), rtol=0.1):
        text += ["Yours are right, and this formula cannot be. Is something subtracted from",
                 "the scores, or computed in another dtype?"]
    raise Mismatch("\n".join(text), "outcome")


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("shape", [(0, 3), (3, 0)], ids=str)
def test_no_row_and_no_key_make_no_weights(shape):
    assert_matches(lesson.naive_softmax, tensor(np.zeros(shape)), oracle=softmax)


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_a_nan_makes_nan_of_its_own_row_alone():
    def row_by_row(scores):
        return torch.stack([softmax(scores[0]), scores[1] * NAN, tensor([0.0, NAN, 0.0, 0.0], F64)])

    assert_matches(lesson.naive_softmax, tensor([KEYS, [2.0, NAN, 1.0, 3.0], [2.0, INF, 1.0, 3.0]]), oracle=row_by_row)


@pytest.mark.task(4)
@pytest.mark.counters
def test_three_operations_make_all_weights(stored_scores):
    assert_few_operations(lesson.naive_softmax, stored_scores, at_most=3)


@pytest.mark.task(4)
@pytest.mark.counters
def test_weights_need_no_more_than_two_tensors_of_their_size(rng):
    exponentials_and_weights, sums = 2 * 4 * 128 * 64, 4 * 128
    assert_little_memory(lesson.naive_softmax, tensor(matrices(rng, (128, 64))[0]),
                         at_most=exponentials_and_weights + sums,
                         allowed="the exponentials, the weights, and a sum for each of 128 rows")


@pytest.mark.task(4)
@each_outcome
def test_what_you_predict_is_what_pytorch_does(dtype, scores, breaks_as):
    def seen(*call):
        return outcome(by_the_formula(scores, dtype)[2])

    assert_told(about_the_row(scores, dtype), lesson.predict_softmax, tuple(scores), *BITS[dtype], oracle=seen)
    assert seen() == breaks_as


@pytest.mark.task(4)
@pytest.mark.parametrize("scores, breaks_as", [((5.0,), "weights"), ((6.0, 1.0), "nan"), ((5.0, 5.0), "zeros"),
                                               ((-6.0,), "weights"), ((-7.0, -7.0), "nan")], ids=str)
def test_predicts_for_a_format_of_8_bits_too(scores, breaks_as):
    """4 exponent bits and 3 of mantissa: the largest number is 240, the smallest 2**-9. PyTorch computes none of it."""
    facts = ["exp(5) is 148, exp(-6.93) is 2**-10; the format holds numbers from 2**-9 to 240."]
    assert_told(facts, lesson.predict_softmax, scores, 4, 3, oracle=lambda *call: breaks_as)


@pytest.mark.task(4)
@pytest.mark.counters
def test_predicts_without_trying():
    assert_few_operations(lesson.predict_softmax, (10.0, 8.0, 9.0, 11.0), 5, 10, at_most=0,
                          why="Your thresholds say it without a trial.")


# Task 5: a cancellation ---------------------------------------------------------------------------

def others_and_own(exponentials, key):
    return exponentials[..., :key].sum(dim=-1) + exponentials[..., key + 1:].sum(dim=-1), exponentials[..., key]


def exact_surprisal(scores, key):
    """In float64, with the key's own score taken from all: no sum then loses what is small."""
    others, own = others_and_own(torch.exp(scores - scores[..., key:key + 1]), key)
    return torch.log1p(others / own)


LOSSES = {  # formulas that lose digits
    "log(sum) - score": lambda e, scores, key: torch.log(e.sum(dim=-1)) - scores[..., key],
    "-log(weight)": lambda e, scores, key: -torch.log(e[..., key] / e.sum(dim=-1)),
    "log(1 + others / own)": lambda e, scores, key: torch.log(1 + others_and_own(e, key)[0] / e[..., key]),
    "others = sum - own": lambda e, scores, key: torch.log1p((e.sum(dim=-1) - e[..., key]) / e[..., key]),
    "log1p(-others / sum)": lambda e, scores, key: -torch.log1p(-others_and_own(e, key)[0] / e.sum(dim=-1)),
    "log1p(sum / own)": lambda e, scores, key: torch.log1p(e.sum(dim=-1) / e[..., key]),
    "own = 0": lambda e, scores, key: torch.log1p(others_and_own(e, key)[0] / 0),
}


def by(name, scores, key):
    """The surprisal by one of them."""
    return LOSSES[name](torch.exp(scores), scores, key)


def why_lost(name, own, others):
    """What is rounded in this formula, and how much that takes; or what else is wrong with it."""
    if name == "own = 0":
        return "exponentials[..., key] is a view: it changes with the exponentials."
    if name == "log1p(sum / own)":
        return "The sum holds own, and log1p adds 1, which is own / own, again."
    total = own + others
    what, rounded = {
        "log(sum) - score": ("log(sum)", torch.log(total)), "-log(weight)": ("The weight", own / total),
        "log(1 + others / own)": ("1 + others / own", 1 + others / own), "others = sum - own": ("The sum", total),
        "log1p(-others / sum)": ("others / sum", others / total),
    }[name]
    apart = gap(float(rounded), *BITS[own.dtype])
    return f"{what} is {rounded:.6g}, and the numbers there are {apart:.4g} apart."


def about_the_surprisal(got, scores, key):
    """What a failure says: which formula gives this in this dtype, and what is lost there."""
    others, own = others_and_own(torch.exp(scores), key)
    yield f"own is {own:.4g}, and the others add up to {others:.4g}."
    names = [name for name in LOSSES if isinstance(got, torch.Tensor) and torch.equal(got, by(name, scores, key))]
    if len(names) > 1:  # all 0, say: of other scores they differ
        rows = [tensor(KEYS, scores.dtype) * times for times in (0.3, 0.7, 1.1, 1.3, 1.7, 2.1)]
        names = [name for name in names
                 if all(torch.equal(lesson.surprisal(row, key), by(name, row, key)) for row in rows)] or names
    for name in names[:1] if "own = 0" in names else names[:2]:
        yield f"In {named(scores.dtype)} it is what you get by:  {name}"
        yield why_lost(name, own, others)


SMALL = [  # dtype, one row of scores, a key
    (F32, [16.0, 0.0, 8.0, 24.0], 3), (F32, [32.0, 0.0, 16.0, 48.0], 3), (F32, [32.0, 0.0, 48.0, 16.0], 1),
    (F16, [2.0, 0.0, 1.0, 10.0], 3), (BF16, [2.0, 0.0, 1.0, 12.0], 3), (F64, [40.0, 0.0, 20.0, 80.0], 3),
]  # fmt: skip


@pytest.mark.task(5)
@pytest.mark.parametrize("score, exponent_bits, mantissa_bits",
                         [(24.0, 8, 23), (11.0, 5, 10), (8.0, 8, 7), (40.0, 11, 52)])
def test_half_a_step_of_the_score_is_lost(score, exponent_bits, mantissa_bits):
    def half_a_step(*call):
        return gap(*call) / 2

    def facts(got):
        step = gap(score, exponent_bits, mantissa_bits)
        yield f"At {score:g} the numbers of the format are {step:.4g} apart."
        yield "What lies between two is rounded to the nearer one."
        if got == step:
            yield "Yours is a whole step. From how far off is a number still the nearer one?"
        elif got in (share := score * 2.0**-mantissa_bits, share / 2):
            k = math.frexp(score)[1] - 1
            yield f"Yours is a share of {score:g}. From {2**k} up to {2**(k + 1)}, does the step grow?"

    assert_told(facts, lesson.least_surprisal, score, exponent_bits, mantissa_bits, oracle=half_a_step,
                exact=True)


@pytest.mark.task(5)
@pytest.mark.tolerance
@pytest.mark.parametrize("dtype", BITS, ids=named)
def test_the_difference_loses_what_you_say(dtype):
    """Of two keys the second is so far behind that the first has a surprisal of so many times the least."""
    least = lesson.least_surprisal(8.0, *BITS[dtype])

    def by_difference(times):
        scores = tensor([8.0, 8.0 + math.log(math.expm1(times * least))], dtype)
        return float(by("log(sum) - score", scores, 0))

    of_a_quarter, of_four_times = by_difference(times=1 / 4), by_difference(times=4)
    assert of_a_quarter == 0
    assert of_four_times > 0


@pytest.mark.task(5)
@pytest.mark.parametrize("key", range(4))
def test_surprisals_of_the_four_keys_of_the_lesson(key):
    assert_told(lambda got: about_the_surprisal(got, tensor(KEYS), key), lesson.surprisal, tensor(KEYS), key,
                oracle=exact_surprisal)


def digits(dtype, scores, key):
    """The surprisal, the exact one, and whether the first is right to 8 roundings of its dtype."""
    got, exact = lesson.surprisal(tensor(scores, dtype), key), exact_surprisal(tensor(scores, F64), key)
    return got, float(exact), abs(float(got) - float(exact)) <= 8 * unit(dtype) * float(exact)


def about_other_dtypes(got, scores, key):
    """What a failure asks of a surprisal of float64, if it was computed in float32, or that of float32 in float64."""
    lossy = any(torch.equal(got, by(name, scores, key)) for name in LOSSES)
    if lossy and digits(*SMALL[0])[-1]:
        yield "In float32 yours keeps its digits, as it would if it computed in float64."
        yield "What keeps them where no wider dtype is?"
    elif not lossy and float(got) and torch.equal(got.float().double(), got):
        yield "Every digit of it fits float32. At which step does it become that narrow?"


@pytest.mark.task(5)
@pytest.mark.tolerance
@pytest.mark.parametrize("dtype, scores, key", SMALL, ids=[named(dtype, *scores) for dtype, scores, _ in SMALL])
def test_a_surprisal_keeps_its_digits_however_small_it_is(dtype, scores, key):
    got, exact, kept = digits(dtype, scores, key)
    if kept:
        return
    text = [f"surprisal(scores: {named(dtype)}[4], key={key}), of {named(*scores)}", "",
            f"Got {float(got):.8g}, wanted {exact:.8g}.", "", *about_the_surprisal(got, tensor(scores, dtype), key)]
    if dtype == F64:
        text += about_other_dtypes(got, tensor(scores, dtype), key)
    raise Mismatch("\n".join(text), "digits")


def about_the_rows(got, scores, key):
    """What a failure asks, where rows were taken for keys, or all for one."""
    exponentials = torch.exp(scores)
    others, own = others_and_own(exponentials, key)
    if not isinstance(got, torch.Tensor) or (got.shape, got.dtype) != (own.shape, own.dtype):
        return
    if key >= len(scores) or scores.shape[-1] < 2:
        return
    without_a_row = exponentials.index_fill(0, tensor(key, torch.int64), 0).sum(dim=-1)
    if torch.allclose(got, torch.log1p(others.sum() / own)):
        yield f"These others are those of all {own.numel()} rows together. Along which axis is your sum?"
    elif torch.allclose(got, torch.log1p(without_a_row / own)):
        yield f"Row {key} is left out, all of it, in place of a key of each row. Which axis is that of the keys?"


@pytest.mark.task(5)
@pytest.mark.edge
@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 5), (4, 1), (0, 3)], ids=str)
def test_each_row_has_a_surprisal_of_its_own(shape, rng):
    scores = tensor(matrices(rng, shape)[0])
    for key in {0, shape[-1] - 1}:
        assert_told(lambda got, key=key: about_the_rows(got, scores, key),
                    lesson.surprisal, scores, key, oracle=exact_surprisal, layouts="any")


def about_infinity(got, scores, key, wanted):
    """What a failure says of a row that has scores of -inf."""
    wrong = [i for i, want in enumerate(wanted)
             if not (isinstance(got, torch.Tensor) and got.shape == (len(wanted),)
                     and math.isclose(float(got[i]), want, rel_tol=1e-5))]
    row = scores[wrong[0] if wrong else 0]
    others, own = others_and_own(torch.exp(row), key)
    yield f"In the row {listed(row)} own is {own:.4g}, and the others add up to {others:.4g}:"
    yield f"others / own is {others / own:.4g}."
    if isinstance(got, torch.Tensor) and got.isnan().any():
        yield "-inf - -inf and 0 / 0 are NaN. Which line of yours makes one of them?"


@pytest.mark.task(5)
@pytest.mark.nonfinite
def test_a_score_of_minus_infinity_is_no_surprise_or_an_infinite_one():
    scores = tensor([[-INF, 3.0, -INF], [-INF, 3.0, 1.0]])
    for key, wanted in (0, [INF, INF]), (1, [0.0, math.log1p(math.exp(-2.0))]):
        assert_told(lambda got, key=key, wanted=wanted: about_infinity(got, scores, key, wanted),
                    lesson.surprisal, scores, key, oracle=lambda *call: tensor(wanted))


def about_the_second(tensors):
    """What a failure asks of tensors as large as the exponentials."""
    large = [one for one in tensors if 2 * one.bytes > tensors[0].bytes]
    exponentials = [one for one in large if one.operation == "exp"]
    if len(exponentials) > 1:
        return once(len(exponentials))
    if any(one.operation == "div" for one in large):
        return "Weights are a second tensor. Does their quotient differ from that of the exponentials?"
    lines = sorted(one.line for one in large if one not in exponentials)
    if not lines:
        return "Which of the smaller ones is alive for nothing?"
    return f"Line {lines[-1]} makes another one. Can one write into the exponentials leave the key out of the sum?"


@pytest.mark.task(5)
@pytest.mark.counters
def test_surprisals_need_no_second_tensor_of_the_scores_size(rng):
    exponentials, one_for_each_row = 4 * 128 * 64, 4 * 128
    assert_little_memory(lesson.surprisal, tensor(matrices(rng, (128, 64))[0]), 2,
                         at_most=exponentials + 6 * one_for_each_row,
                         allowed="the exponentials, and six numbers for each of 128 rows",
                         asks=about_the_second)


@pytest.mark.task(5)
@pytest.mark.counters
def test_six_operations_make_all_surprisals(stored_scores):
    assert_few_operations(lesson.surprisal, stored_scores, 2, at_most=6)
