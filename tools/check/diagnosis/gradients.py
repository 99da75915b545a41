"""Gradients that are wrong whatever the function is: of another argument, not summed, summed elsewhere, twice."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from tools.check.diagnosis.arguments import with_argument
from tools.check.diagnosis.formulas import float_arguments, reproduces, same, wide
from tools.check.diagnosis.symptoms import Symptoms
from tools.check.diagnosis.words import Cause, cause
from tools.words import listed

NOT_SUMMED = "Over which axes is it a sum?"


def no_gradient(symptoms: Symptoms) -> Cause | None:
    if symptoms.kind != "nothing_returned" or not symptoms.gradient_of:
        return None
    name = symptoms.gradient_of
    return cause(
        "no_gradient", f"Does the backward return one for {name}?", f"Does the forward use {name} where autograd looks?"
    )


def gradient_not_summed(symptoms: Symptoms) -> Cause | None:
    """Right once it is summed over axes that the argument does not have, or along which it was repeated."""
    got, want = symptoms.here.got, symptoms.here.want
    if symptoms.kind != "wrong_shape" or got is None or want is None or got.size <= want.size or not want.size:
        return None
    for count in range(1, got.ndim + 1):
        for axes in combinations(range(got.ndim), count):
            total = got.sum(axes)
            if total.size == want.size and same(total.reshape(want.shape), want, symptoms.slack):
                which = f"axis {axes[0]}" if count == 1 else f"axes {listed([str(axis) for axis in axes])}"
                return cause("not_summed", f"Summed over {which} it is right.", NOT_SUMMED)
    return None


def gradient_gone_wrong(symptoms: Symptoms) -> Cause | None:
    if not symptoms.gradient_of or not symptoms.comparable:
        return None
    return _of_another(symptoms) or _twice(symptoms) or _summed_elsewhere(symptoms) or _factor(symptoms)


def _of_another(symptoms: Symptoms) -> Cause | None:
    for name, gradient in symptoms.gradients.items():
        if name != symptoms.gradient_of and reproduces(symptoms, lambda call: _as_numbers(gradient)):
            seen = f"It is the gradient of {name}."
            return cause("gradient_of_another", seen, "In which order does the backward return them?")
    return None


def _as_numbers(gradient: object) -> np.ndarray | None:
    return wide(gradient) if isinstance(gradient, np.ndarray) else None


def _twice(symptoms: Symptoms) -> Cause | None:
    if not reproduces(symptoms, lambda call: 2 * call.want):
        return None
    return cause("accumulated_twice", "It is twice the gradient.", "What is added to it more than once?")


def _summed_elsewhere(symptoms: Symptoms) -> Cause | None:
    """Of an argument that is repeated along some axes: summed over others. Its gradient is known before the sum, from
    the oracle's for the argument repeated."""
    if symptoms.gradient_of not in symptoms.names or not isinstance(symptoms.args[-1], np.ndarray):
        return None
    i, whole = symptoms.names.index(symptoms.gradient_of), symptoms.args[-1].shape
    own = symptoms.args[i]
    if own.shape == whole or own.ndim > len(whole):
        return None
    try:
        repeated = np.broadcast_to(own, whole)
    except ValueError:
        return None
    each = symptoms.ask(*with_argument(symptoms.args, i, np.array(repeated)))
    if each is None or each.shape != whole:
        return None
    for axes in _others(whole, own.shape):
        total = each.sum(axes)
        if total.size == own.size and reproduces(symptoms, lambda call: total.reshape(own.shape)):
            seen = f"As if it were summed over axis {listed([str(axis) for axis in axes])}."
            return cause("summed_over_other_axis", seen, NOT_SUMMED)
    return None


def _others(whole: tuple[int, ...], own: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for count in range(1, len(whole)):
        yield from combinations(range(len(whole)), count)


def _factor(symptoms: Symptoms) -> Cause | None:
    """An argument that is a factor of the gradient, left out or taken twice."""
    for i in float_arguments(symptoms):
        factor, name = wide(symptoms.args[i]), symptoms.name_of(i)
        try:
            if np.broadcast_shapes(factor.shape, symptoms.here.want.shape) != symptoms.here.want.shape:
                continue
        except ValueError:
            continue
        if reproduces(symptoms, lambda call: call.want / factor):
            return cause("factor_left_out", f"As if the factor {name} were left out.", "Where does it come in?")
        if reproduces(symptoms, lambda call: call.want * factor):
            return cause("factor_twice", f"As if it were multiplied by {name} once too often.", "Which line does it?")
    return None
