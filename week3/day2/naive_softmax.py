"""Week 3, day 2: a softmax that breaks

Challenge
    A softmax makes weights of a query's scores: exp(score), divided by the sum of exp of all. Where scores are too
    large or too small for their format it breaks. Say where, for four formats; in a second sitting, task 4, write it.

        scores in float16      their exponentials            sum     weights
          2   0   1   3        7.39    1.00  2.72   20.1     31.2    .237  .032  .087  .644
         10   8   9  11        22032   2980  8104  59872     inf     0     0     0     0
         11   9  10  12        59872   8104 22032    inf     inf     0     0     0     nan
        -19 -21 -20 -18        0       0     0     0           0     nan   nan   nan   nan

    In mathematics all four rows have the same weights: what is added to every score of a row cancels.

Explore
    ./course python -c "import torch; print(torch.exp(torch.tensor([11.0859, 11.09375, -17.328, -17.344]).half()))"
    Two of the four become inf and 0. You will say why these two, without trying. Does .bfloat16() lose any so?
    ./course week3/day2/explore_float_bits.py       Which number stands in the bits, and how far off is the next?
    ./course week3/day2/explore_naive_softmax.py    Shift the scores: which of the four rows above comes when?

Concept
    Bits: first the sign, then the code of the exponent, then the mantissa. bias is 2**(exponent_bits - 1) - 1.
        0x3926 of float16    0 01110 0100100110    code 14, mantissa 294, bias 15
                             (1 + 294 / 2**10) * 2**(14 - 15) = 0.6435546875, the .644 of the picture
    bits >> 10 drops the lowest 10 bits, bits & (2**10 - 1) keeps just these. float16 has 5 exponent bits and 10 of
    mantissa, bfloat16 8 and 7, float32 8 and 23, float64 11 and 52.
    Two codes are special. Code 0: a *subnormal* number has no leading 1, and the exponent of code 1. It is
    (mantissa / 2**10) * 2**(1 - 15); so 0x0001 is 2**-24, 0x0000 is 0.0, and 0x8000 is -0.0. The code of all ones:
    infinity (math.inf) with its sign where the mantissa is 0, else NaN (math.nan).
    Steps: from 2**k up to 2**(k + 1) neighbours are 2**(k - mantissa_bits) apart. At 1 this is the *machine epsilon*,
    2**-10 in float16; at 11 k is 3, and the step 2**-7. From 2**-14, the number of code 1, down to 0 it is 2**-24.
    math.frexp(11.0) is (0.6875, 4), for 11 = 0.6875 * 2**4: k is one less than 4. It is exact, and takes negative
    numbers too. math.frexp(0.0) is (0.0, 0), so 0 needs a case of its own. math.log2 is rounded: of 2**53 - 1 it is 53.
    What lies between two numbers is rounded to the nearer one; in the middle, to the one whose last bit is 0.
    Overflow: from half a step above its largest number on a format has infinity. exp(x) is at most that number where x
    is at most its logarithm. log(65504) is 11.0899, or 1419.5 * 2**-7; the last of float16 that fits is 1419 * 2**-7.
    *Underflow*: what is below half of the smallest number is rounded to 0. For float16 log(2**-25) is -17.33. Half of
    float64's smallest number is 0 in Python as well: take log(smallest) - log(2), which is the logarithm of the half.
    What breaks: inf / inf and 0 / 0 are NaN, 3 / inf is 0. An exponential that is infinite makes NaN of its weight. A
    sum that is infinite, of exponentials that fit, makes zeros, and no NaN warns. If all exponentials are 0, all
    weights are NaN. If some are 0 and the sum is not, their weights are 0: so a score of -inf hides a key.
    PyTorch: torch.exp(x); x.sum(dim=-1, keepdim=True) adds along the last axis and keeps it, with size 1, so that a
    division broadcasts. Each operation is a launch that reads memory and makes a tensor; three are enough.
    Cancellation: the *surprisal* of a key is -log(its weight), a loss that training makes small. It is also
    log(sum) - score. For scores 16 0 8 24 float32 makes that 24.0003357 - 24 = 0.00033569; right is 0.00033552. At 24
    the step is 1.9e-6. A surprisal below half of it leaves no trace in log(sum), and comes back as 0.
    Cure: no difference. weight = own / (own + others), so the surprisal is log(1 + others / own); torch.log1p(y) is
    log(1 + y) without rounding 1 + y. sum - own cancels again: add up two slices, or copy own by clone(), write 0 there
    and add up all. Not asked: keys far behind. In float16 exp(-20) is 0 and others / own infinite, log(sum) - score 20.

Code it
    Task 1  decode_float: the number that bits stand for                                    (nine lines)
    Task 2  machine_epsilon, spacing: how far it is to the next number                      (four lines)
    Task 3  overflow_threshold, underflow_threshold: where exp leaves a format              (four lines)
    Task 4  naive_softmax; predict_softmax: weights, zeros or NaN                          (eight lines)
    Task 5  least_surprisal: what a difference loses. surprisal: given; repair it   (four or five lines)

Verify
    pytest week3/day2                  then: ./course quiz week3/day2
    Reflect: which number, added to every score of a row, keeps exponentials and sum between 0 and infinity?
"""

import math

import torch


# Task 1
def decode_float(bits: int, exponent_bits: int, mantissa_bits: int) -> float:
    """The number that `bits` stand for, in a format with these numbers of exponent bits and of mantissa bits.

    bits: 0 to 2**(1 + exponent_bits + mantissa_bits) - 1. Each such number fits a Python float, which is a float64.
    """
    raise NotImplementedError("week3/day2 task 1: decode_float")


# Task 2
def machine_epsilon(mantissa_bits: int) -> float:
    """The step from 1 to the next larger number of a format with so many mantissa bits."""
    raise NotImplementedError("week3/day2 task 2: machine_epsilon")


def spacing(x: float, exponent_bits: int, mantissa_bits: int) -> float:
    """The step from |x| to the next larger number of the format, as if it had no largest one.

    x: a finite number of the format. It may be negative, subnormal or 0.
    """
    raise NotImplementedError("week3/day2 task 2: spacing")


# Task 3
def largest_finite(exponent_bits: int, mantissa_bits: int) -> float:
    """The largest number of a format: week 1, day 0. Given."""
    return (2.0 - 2.0**-mantissa_bits) * 2.0 ** (2 ** (exponent_bits - 1) - 1)


def overflow_threshold(exponent_bits: int, mantissa_bits: int) -> float:
    """The largest number x of a format for which exp(x) is at most the format's largest number."""
    raise NotImplementedError("week3/day2 task 3: overflow_threshold")


def underflow_threshold(exponent_bits: int, mantissa_bits: int) -> float:
    """The x for which exp(x) is half of the format's smallest number above 0: any real number, unrounded."""
    raise NotImplementedError("week3/day2 task 3: underflow_threshold")


# Task 4
def naive_softmax(scores: torch.Tensor) -> torch.Tensor:
    """exp(score) / the sum of all exp(score) of its row, in the dtype of the scores.

    scores: (..., n), float16, bfloat16, float32 or float64, of any strides; a row lies along the last axis. There may
    be no row, one key, or none. A NaN makes NaN of its own row. Returns (..., n).
    """
    raise NotImplementedError("week3/day2 task 4: naive_softmax")


def predict_softmax(scores: tuple[float, ...], exponent_bits: int, mantissa_bits: int) -> str:
    """What naive_softmax makes of one row in this format: "weights", "zeros" or "nan".

    "nan": at least one weight is NaN. "zeros": all weights are 0. "weights": they add up to about 1.
    scores: at least one, numbers of the format; -inf may be among them. Not asked: sums so near the largest number that
    rounding decides.
    """
    raise NotImplementedError("week3/day2 task 4: predict_softmax")


# Task 5
def least_surprisal(score: float, exponent_bits: int, mantissa_bits: int) -> float:
    """A surprisal below this is lost when `score` is added to it and taken away again: half a step at `score`."""
    raise NotImplementedError("week3/day2 task 5: least_surprisal")


def surprisal(scores: torch.Tensor, key: int) -> torch.Tensor:
    """-log(weight of this key), for each row, in the dtype of the scores. Given, right in mathematics; repair it.

    scores: (..., n) as for naive_softmax, whose exponentials have finite sums. key: 0 to n - 1. Returns (...).
    Some scores may be -inf; if the key's is one of them, its surprisal is infinite. Not asked: finite scores whose
    exponential is 0 all the same, or others / own too large for the dtype.
    Six operations are enough, with exp once and each write into a slice counted. So is one tensor as large as the
    scores: the exponentials.
    """
    exponentials = torch.exp(scores)
    return torch.log(exponentials.sum(dim=-1)) - scores[..., key]
