"""Plain array functions to mutate, each with random arguments and others that could stand in its place."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

FUNCTIONS = []


@dataclass(frozen=True)
class Plain:
    """A right function. instead: (another function, the causes that are literally true of it), in pairs."""

    right: Callable
    inputs: Callable[[np.random.Generator], tuple]
    copies: bool  # elements of the result are elements of an argument
    instead: list = field(default_factory=list)


def plain(inputs, copies=False):
    def enter(function):
        FUNCTIONS.append(Plain(function, inputs, copies))
        return function

    return enter


def instead(causes, function):
    """Enters `function` as another one that could stand where the last plain function stands."""
    FUNCTIONS[-1].instead.append((function, frozenset(causes.split())))


def length(rng, low=12, high=400):
    return int(rng.integers(low, high))


def side(rng):
    return int(rng.integers(6, 40))


def floats(rng, *shape):
    """Random numbers with random mean and spread, one time in five in float64."""
    values = rng.normal(size=shape) * rng.uniform(0.3, 4) + rng.uniform(-3, 3)
    return values.astype(np.float32 if rng.random() < 0.8 else np.float64)


def pair(rng, *shapes):
    """Several arrays of one dtype."""
    first = floats(rng, *shapes[0])
    return (first, *(floats(rng, *shape).astype(first.dtype) for shape in shapes[1:]))


def same_shape(rng):
    shape = (length(rng),) if rng.random() < 0.5 else (side(rng), side(rng))
    return pair(rng, shape, shape)


def matrix(rng):
    n = side(rng)
    return (floats(rng, n, n if rng.random() < 0.4 else side(rng)),)


def vector(rng):
    return (floats(rng, length(rng)),)


# Importing a theme enters its functions.
from tools.tests.check_diagnosis.functions import elementwise, matrices, reductions  # noqa: E402, F401
