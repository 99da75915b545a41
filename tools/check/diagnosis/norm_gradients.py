"""The gradients of layer norm and RMS norm, for x and for the weight, with a mistake in them; along the last axis."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import permutations

import numpy as np

from tools.check.diagnosis.formulas import Mistake, few_rows, float_arguments, nearly, reproduces, same, wide
from tools.check.diagnosis.norm_rows import Norm, every_eps
from tools.check.diagnosis.steps import blocks
from tools.check.diagnosis.symptoms import Call, Symptoms
from tools.check.diagnosis.words import Cause


@dataclass(frozen=True, eq=False)
class Backward:
    """norm: of the forward. d: the gradient that arrives at its result."""

    norm: Norm
    d: np.ndarray

    @cached_property
    def rstd(self) -> np.ndarray:
        return 1 / np.sqrt(self.norm.spread + self.norm.eps)

    @cached_property
    def x_hat(self) -> np.ndarray:
        return (self.norm.x - self.norm.center) * self.rstd

    @cached_property
    def g(self) -> np.ndarray:
        """The gradient that arrives at x_hat."""
        return self.d * self.norm.weight

    def of_x(
        self, g: np.ndarray | None = None, x_hat: np.ndarray | None = None, mean: float = 1.0, other: float = 1.0
    ) -> np.ndarray:
        """rstd * (g - mean(g) - x_hat * mean(g * x_hat)); mean, other: how often the two means are taken."""
        g, x_hat = self.g if g is None else g, self.x_hat if x_hat is None else x_hat
        first = 0.0 if self.norm.rms else mean * g.mean(-1, keepdims=True)
        return self.rstd * (g - first - other * x_hat * (g * x_hat).mean(-1, keepdims=True))

    def of_weight(self, products: np.ndarray | None = None, rows: slice = slice(None)) -> np.ndarray:
        """The sum of d * x_hat over all rows."""
        products = self.d * self.x_hat if products is None else products
        return products.reshape(-1, self.norm.length)[rows].sum(0)


def mixed(back: Backward) -> np.ndarray:
    """The weight in g, and not in the means."""
    first = 0.0 if back.norm.rms else back.d.mean(-1, keepdims=True)
    return back.rstd * (back.g - first - back.x_hat * (back.d * back.x_hat).mean(-1, keepdims=True))


OF_X = (
    Mistake(
        "mean_term_left_out",
        lambda back: None if back.norm.rms else back.of_x(mean=0.0),
        "As if the mean did not move with x: mean(g) is not taken off.",
        "Which three ways lead from x to x_hat?",
    ),
    Mistake(
        "spread_term_left_out",
        lambda back: back.of_x(other=0.0),
        "As if the spread did not move with x: x_hat * mean(g * x_hat) is missing.",
        "Which ways lead from x to x_hat?",
    ),
    Mistake(
        "both_terms_left_out",
        lambda back: None if back.norm.rms else back.of_x(mean=0.0, other=0.0),
        "As if mean and variance did not move with x: it is rstd * g alone.",
        "Which three ways lead from x to x_hat?",
    ),
    Mistake(
        "not_averaged",
        lambda back: back.of_x(mean=back.norm.length, other=back.norm.length),
        "As if sums were taken off where means should be: 1 / {length} is missing.",
        "What is the derivative of a mean for one of its elements?",
    ),
    Mistake(
        "weight_forgotten",
        lambda back: back.of_x(g=back.d),
        "As if {weight} were 1: g is {d} * {weight}.",
        "Which gradient arrives at x_hat?",
    ),
    Mistake(
        "weight_forgotten",
        mixed,
        "As if the means were of {d}, and not of g = {d} * {weight}.",
        "Which gradient arrives at x_hat?",
    ),
    Mistake(
        "rstd_left_out",
        lambda back: back.of_x() / back.rstd,
        "As if the factor rstd in front were left out.",
        "By what is x divided on its way to x_hat?",
    ),
    Mistake(
        "x_for_x_hat",
        lambda back: back.of_x(x_hat=back.norm.x),
        "As if x stood in place of x_hat.",
        "Which of them is saved, and what is computed anew?",
    ),
    Mistake(
        "x_for_x_hat",
        lambda back: back.of_x(x_hat=back.norm.x - back.norm.center),
        "As if x - mean stood in place of x_hat, without rstd.",
        "What is x_hat?",
    ),
)
OF_WEIGHT = (
    Mistake(
        "x_for_x_hat",
        lambda back: back.of_weight(back.d * back.norm.x),
        "As if {d} were multiplied by x, and not by x_hat.",
        "By what is the weight multiplied in the forward?",
    ),
    Mistake(
        "rstd_left_out",
        lambda back: back.of_weight(back.d * (back.norm.x - back.norm.center)),
        "As if {d} were multiplied by x - mean, without rstd.",
        "By what is the weight multiplied in the forward?",
    ),
    Mistake(
        "mean_not_subtracted",
        lambda back: back.of_weight(back.d * back.norm.x * back.rstd),
        "As if {d} were multiplied by x * rstd, without the mean.",
        "By what is the weight multiplied in the forward?",
    ),
    Mistake(
        "d_out_forgotten",
        lambda back: back.of_weight(back.x_hat),
        "As if {d} were 1: it is the sum of x_hat.",
        "Which gradient arrives at the result?",
    ),
    Mistake(
        "summed_over_other_axis",
        lambda back: (back.d * back.x_hat).sum(-1).reshape(-1) if back.d.ndim == 2 else None,
        "As if each row were summed, and not each column.",
        "Which elements of the result does one weight have to do with?",
    ),
)


def last_rows(back: Backward, block: int) -> np.ndarray:
    return back.of_weight(rows=slice((back.d.size // back.norm.length - 1) // block * block, None))


def first_rows(back: Backward, block: int) -> np.ndarray:
    return back.of_weight(rows=slice(block))


IN_BLOCKS = (
    Mistake(
        "last_block_only",
        last_rows,
        "As if only the rows from {last} on were added up.",
        "What of a block's sum is kept when the next block stores its own?",
    ),
    Mistake(
        "first_block_only",
        first_rows,
        "As if only the first {block} of {rows} rows were added up.",
        "Who adds up the sums of the other blocks?",
    ),
)


@dataclass(frozen=True)
class Found:
    """x, d, weight: places of arguments. of_weight: is its gradient wanted, and not that of x?"""

    x: int
    d: int
    weight: int | None
    eps: float
    rms: bool
    of_weight: bool

    def backward(self, args: tuple) -> Backward:
        x, d = wide(args[self.x]), wide(args[self.d])
        weight = np.ones(x.shape[-1]) if self.weight is None else wide(args[self.weight])
        return Backward(Norm(x, weight, np.zeros(x.shape[-1]), self.eps, self.rms), d)

    def right(self, args: tuple) -> np.ndarray:
        back = self.backward(args)
        return back.of_weight() if self.of_weight else back.of_x()


def norm_gradient_gone_wrong(symptoms: Symptoms) -> Cause | None:
    if not symptoms.comparable or symptoms.here.want.dtype.kind != "f" or (found := find(symptoms)) is None:
        return None
    back = found.backward(symptoms.args)
    rows = back.d.size // back.norm.length
    names = {
        "d": symptoms.name_of(found.d),
        "weight": "" if found.weight is None else symptoms.name_of(found.weight),
        "length": back.norm.length,
        "rows": rows,
    }
    for mistake, result, more in _tried(symptoms, found, rows):

        def claim(call: Call, result: Callable = result) -> np.ndarray | None:
            return result(found.backward(call.args))

        if reproduces(symptoms, claim):
            return mistake.said(**names, **more)
    return None


def _tried(symptoms: Symptoms, found: Found, rows: int) -> Iterator[tuple[Mistake, Callable, dict]]:
    for mistake in OF_WEIGHT if found.of_weight else OF_X:
        if found.weight is not None or "{weight}" not in mistake.seen:
            yield mistake, mistake.result, {}
    for block in [size for size in blocks(symptoms) if size < rows] if found.of_weight else []:
        for mistake in IN_BLOCKS:
            last = (rows - 1) // block * block
            yield mistake, partial(mistake.result, block=block), {"block": block, "last": last}


def find(symptoms: Symptoms) -> Found | None:
    want = symptoms.here.want
    for found in _ways(symptoms):
        if not found.of_weight:
            back = found.backward(symptoms.args)
            few = Backward(replace(back.norm, x=few_rows(back.norm.x)), few_rows(back.d))
            if not nearly(few.of_x(), few_rows(want), symptoms.slack):
                continue
        if same(found.right(symptoms.args), want, symptoms.slack):
            return found
    return None


def _ways(symptoms: Symptoms) -> Iterator[Found]:
    shape, floats = symptoms.here.want.shape, float_arguments(symptoms)
    for x, d in permutations(floats, 2):
        own = symptoms.args[x].shape
        if own != symptoms.args[d].shape or len(own) < 2 or shape not in (own, own[-1:]):
            continue
        vectors = [i for i in floats if symptoms.args[i].shape == own[-1:]]
        of_weight = shape != own
        for weight in [None] if of_weight else [*vectors, None]:
            for eps in every_eps(symptoms):
                yield from (Found(x, d, weight, eps, rms, of_weight) for rms in (False, True))
