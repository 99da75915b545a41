"""The gradient of softmax or of its logarithm, with a mistake in it: of x, or of the result, and of d_out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from tools.check.diagnosis.formulas import Mistake, few_rows, float_arguments, nearly, reproduces, same, wide
from tools.check.diagnosis.softmax_rows import Rows
from tools.check.diagnosis.symptoms import Call, Symptoms
from tools.check.diagnosis.words import Cause


@dataclass(frozen=True, eq=False)
class Backward:
    """p: the softmax. d: the gradient that arrives. The axis of the sums is the last one."""

    p: np.ndarray
    d: np.ndarray
    of_log: bool

    @property
    def delta(self) -> np.ndarray:
        """The sum of p * d of each row."""
        return (self.p * self.d).sum(-1, keepdims=True)

    @property
    def total(self) -> np.ndarray:
        return self.d.sum(-1, keepdims=True)

    def right(self) -> np.ndarray:
        return self.d - self.p * self.total if self.of_log else self.p * (self.d - self.delta)


@dataclass(frozen=True)
class Found:
    """d, known: places of arguments; is the known one the result of softmax itself, and not x?"""

    d: int
    known: int
    axis: int
    of_log: bool
    is_result: bool

    def backward(self, args: tuple) -> Backward:
        known, d = (np.moveaxis(wide(args[i]), self.axis, -1) for i in (self.known, self.d))
        rows = Rows(known, "softmax")
        return Backward(known if self.is_result else rows.of(rows.log_sum), d, self.of_log)


MISTAKES = (
    Mistake(
        "delta_left_out",
        lambda back: None if back.of_log else back.p * back.d,
        "As if every weight had to do with its own x alone: it is p * {d}.",
        "What does a larger x do to the other weights of its row?",
    ),
    Mistake(
        "delta_left_out",
        lambda back: back.d if back.of_log else None,
        "As if every log-weight had to do with its own x alone: it is {d}.",
        "What does a larger x do to the log-sum-exp of its row?",
    ),
    Mistake(
        "sum_left_out",
        lambda back: back.d - back.p if back.of_log else None,
        "As if {d} added up to 1 in every row: it is {d} - p.",
        "By which sum is p multiplied?",
    ),
    Mistake(
        "weights_left_out",
        lambda back: back.p * (back.d - back.total) if not back.of_log else None,
        "As if delta were the sum of {d}, and not of p * {d}.",
        "Which products are added up in delta?",
    ),
    Mistake(
        "averaged",
        lambda back: back.p * (back.d - back.delta / back.p.shape[-1]) if not back.of_log else None,
        "As if delta were the mean of p * {d}, and not the sum.",
        "The weights add up to 1 already: what is delta then?",
    ),
    Mistake(
        "factor_left_out",
        lambda back: back.d - back.delta if not back.of_log else None,
        "As if the factor p in front were left out: it is {d} - delta.",
        "What is the derivative of exp?",
    ),
    Mistake(
        "wrong_sign_of_delta",
        lambda back: back.d + back.p * back.total if back.of_log else back.p * (back.d + back.delta),
        "As if the sum over the row were added, not taken off.",
        "Do the other weights grow when one x grows?",
    ),
)


def softmax_gradient_gone_wrong(symptoms: Symptoms) -> Cause | None:
    if not symptoms.comparable or symptoms.here.want.dtype.kind != "f" or (found := find(symptoms)) is None:
        return None
    for mistake in MISTAKES:

        def claim(call: Call, result: Callable = mistake.result) -> np.ndarray | None:
            said = result(found.backward(call.args))
            return None if said is None else np.moveaxis(said, -1, found.axis)

        if reproduces(symptoms, claim):
            return mistake.said(d=symptoms.name_of(found.d))
    return None


def find(symptoms: Symptoms) -> Found | None:
    want = symptoms.here.want
    for found in _ways(symptoms):
        back, right = found.backward(symptoms.args), np.moveaxis(want, found.axis, -1)
        few = Backward(few_rows(back.p), few_rows(back.d), back.of_log)
        if nearly(few.right(), few_rows(right), symptoms.slack) and same(back.right(), right, symptoms.slack):
            return found
    return None


def _ways(symptoms: Symptoms) -> Iterator[Found]:
    shape = symptoms.here.want.shape
    alike = [i for i in float_arguments(symptoms) if symptoms.args[i].shape == shape]
    for known, d in permutations(alike, 2):
        for axis in reversed(range(len(shape))):
            sums = wide(symptoms.args[known]).sum(axis)
            is_result = bool(np.allclose(sums, 1.0, atol=1e-3)) and bool((symptoms.args[known] >= 0).all())
            for of_log in (False, True):
                yield Found(d, known, axis, of_log, False)
                if is_result:
                    yield Found(d, known, axis, of_log, True)
