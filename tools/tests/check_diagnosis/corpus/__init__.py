"""Wrong answers that people really write for plain array functions, each with the causes that fit it.

Written before any recogniser. A cause fits when it is literally true of what the wrong answer returns.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

CORPUS = []


@dataclass(frozen=True)
class WrongAnswer:
    """One mistake: `wrong` differs from `right` on `inputs(rng)`, and any of `causes` explains it.

    Of those without causes nothing may be said: each claim that comes to mind is false.
    """

    name: str
    right: Callable
    wrong: Callable
    mistake: str
    causes: frozenset[str]
    inputs: Callable[[np.random.Generator], tuple]

    @property
    def argument_names(self) -> tuple[str, ...]:
        return tuple(name for name in inspect.signature(self.right).parameters if name != "out")


def wrong_answer(right, inputs, mistake, causes):
    """Decorator: enters the function below as a wrong answer for `right`. `causes`: names between spaces."""

    def enter(wrong):
        CORPUS.append(WrongAnswer(wrong.__name__, right, wrong, mistake, frozenset(causes.split()), inputs))
        return wrong

    return enter


def numbers(rng, *shape, dtype=np.float32):
    """Random numbers whose mean and spread are random too: never zero, never constant."""
    return (rng.normal(size=shape) * rng.uniform(0.5, 3) + rng.uniform(-2, 2)).astype(dtype)


# Importing a theme enters its wrong answers.
from tools.tests.check_diagnosis.corpus import (  # noqa: E402, F401
    arguments,
    attention,
    backwards,
    kinds,
    norms,
    order,
    places,
    softmax,
    unnamed,
    values,
)
