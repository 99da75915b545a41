"""The rows that layer norm or RMS norm is applied to, and the formula itself."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from tools.check.diagnosis.formulas import few_rows, float_arguments, nearly, same, wide
from tools.check.diagnosis.symptoms import Symptoms

USUAL = (1e-5, 1e-6, 1e-8, 1e-12, 0.0)  # eps where no argument gives it
LARGEST = 0.1  # number that may be eps


@dataclass(frozen=True, eq=False)
class Norm:
    """x: float64, the axis last. weight, bias: of that axis; 1 and 0 where there are none.

    rms: is the root mean square divided by, and no mean taken off? of_rstd: is 1 / sqrt(variance + eps) wanted, (...,)?
    """

    x: np.ndarray
    weight: np.ndarray
    bias: np.ndarray
    eps: float
    rms: bool
    of_rstd: bool = False

    @property
    def length(self) -> int:
        return self.x.shape[-1]

    @cached_property
    def mean(self) -> np.ndarray:
        return self.x.mean(-1, keepdims=True)

    @cached_property
    def variance(self) -> np.ndarray:
        return ((self.x - self.mean) ** 2).mean(-1, keepdims=True)

    @cached_property
    def square(self) -> np.ndarray:
        """The mean of the squares."""
        return (self.x**2).mean(-1, keepdims=True)

    @property
    def center(self) -> np.ndarray:
        """What is taken off."""
        return np.zeros_like(self.mean) if self.rms else self.mean

    @property
    def spread(self) -> np.ndarray:
        """What eps is added to below the root."""
        return self.square if self.rms else self.variance

    def of(
        self, center: np.ndarray | None = None, spread: np.ndarray | None = None, below: np.ndarray | None = None
    ) -> np.ndarray:
        """The result if these were taken off and divided by; below: the whole denominator."""
        center = self.center if center is None else center
        spread = self.spread if spread is None else spread
        below = np.sqrt(spread + self.eps) if below is None else below
        if self.of_rstd:
            return np.broadcast_to(1 / below, (*self.x.shape[:-1], 1))[..., 0]
        return (self.x - center) / below * self.weight + self.bias


@dataclass(frozen=True)
class Found:
    """Which arguments the formula takes: those that are added up to x, weight and bias; None where there is none."""

    x: tuple[int, ...]
    axis: int
    weight: int | None
    bias: int | None
    eps: float
    rms: bool
    of_rstd: bool
    kept: bool = False

    def norm(self, args: tuple) -> Norm:
        x = np.moveaxis(np.sum([wide(args[i]) for i in self.x], axis=0), self.axis, -1)
        weight = np.ones(x.shape[-1]) if self.weight is None else wide(args[self.weight])
        bias = np.zeros(x.shape[-1]) if self.bias is None else wide(args[self.bias])
        return Norm(x, weight, bias, self.eps, self.rms, self.of_rstd)

    def placed(self, y: np.ndarray | None) -> np.ndarray | None:
        """A result of the rows, its axis where the wanted one has it."""
        if y is None or not self.of_rstd:
            return None if y is None else np.moveaxis(y, -1, self.axis)
        return np.expand_dims(y, self.axis) if self.kept else y


def find(symptoms: Symptoms) -> Found | None:
    """The formula that gives what is wanted."""
    want = symptoms.here.want
    for found in _ways(symptoms):
        norm = found.norm(symptoms.args)
        few = replace(norm, x=few_rows(norm.x))
        moved = want.reshape(-1, 1) if found.of_rstd else np.moveaxis(want, found.axis, -1)
        right = few_rows(moved)[:, 0] if found.of_rstd else few_rows(moved)
        if nearly(few.of(), right, symptoms.slack) and same(found.placed(norm.of()), want, symptoms.slack):
            return found
    return None


def _ways(symptoms: Symptoms) -> Iterator[Found]:
    floats, shape = float_arguments(symptoms), symptoms.here.want.shape
    alike = [i for i in floats if symptoms.args[i].shape == shape and len(shape) > 0]
    for x in [(i,) for i in alike] + list(combinations(alike, 2)):
        for axis in reversed(range(len(shape))):
            vectors = [i for i in floats if i not in x and symptoms.args[i].shape == shape[axis : axis + 1]]
            scaled = [(None, None), *((i, None) for i in vectors), *combinations(vectors, 2)]
            for weight, bias in scaled if shape[axis] > 1 else []:
                for eps in every_eps(symptoms):
                    yield from (Found(x, axis, weight, bias, eps, rms, False) for rms in (False, True))
    yield from _of_rstd(symptoms, floats)


def every_eps(symptoms: Symptoms) -> list[float]:
    """What eps may be: a small number among the arguments, or a usual one."""
    given = [*symptoms.args, *symptoms.keywords.values()]
    return list(dict.fromkeys([value for value in given if type(value) is float and 0 <= value <= LARGEST] + [*USUAL]))


def _of_rstd(symptoms: Symptoms, floats: list[int]) -> Iterator[Found]:
    shape = symptoms.here.want.shape
    for i in floats:
        own = symptoms.args[i].shape
        for axis in reversed(range(len(own))):
            without, kept = own[:axis] + own[axis + 1 :], own[:axis] + (1,) + own[axis + 1 :]
            if own[axis] > 1 and shape in (without, kept):
                for eps in every_eps(symptoms):
                    first = Found((i,), axis, None, None, eps, False, True, shape == kept)
                    yield from (first, replace(first, rms=True))
