"""The right operation on other arguments: exchanged, read twice, left out, negated, transposed."""

from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Any

import numpy as np

from tools.check.diagnosis.numbers import is_float, number, sample, varied
from tools.check.diagnosis.symptoms import ENOUGH_BITS, Call, Symptoms
from tools.check.diagnosis.words import Cause, call_text, cause

BLOCKS = tuple(2**power for power in range(12, 0, -1))
USUAL = (1, 4, 8, 2)  # bytes of float32, float64 and float16 among them
FAR = 1024.0  # times an argument, to see whether it is used at all


def with_argument(args: tuple, index: int, value: object) -> tuple:
    return (*args[:index], value, *args[index + 1 :])


def _equals(symptoms: Symptoms, shown: dict[int, str]) -> str:
    """ "What came back equals f(x, 0)": the oracle's call, with some arguments shown otherwise. Where these are plain
    numbers, which no formula names: "What came back is right for x = 0"."""
    if not any(isinstance(symptoms.args[i], np.ndarray) for i in shown):
        numbers = " and ".join(f"{symptoms.name_of(i)} = {other}" for i, other in shown.items())
        return f"What came back is right for {numbers}"
    names = [shown.get(i, symptoms.name_of(i)) for i in range(len(symptoms.args))]
    return f"What came back equals {call_text(symptoms.oracle, names)}"


def _alike(one: object, other: object) -> bool:
    """Whether one argument could be passed for the other by mistake."""
    both = isinstance(one, np.ndarray), isinstance(other, np.ndarray)
    return all(both) if any(both) else type(one) is type(other) and isinstance(one, (int, float))


def hangs_on_elements(symptoms: Symptoms) -> bool:
    """Do the elements of arrays change what is wanted? A rate, one number, hangs on their lengths alone."""
    if symptoms.here.want.size > 1:
        return True
    moved = symptoms.ask(*(varied(arg, 3) if isinstance(arg, np.ndarray) else arg for arg in symptoms.args))
    return moved is not None and not np.array_equal(moved, symptoms.here.want)


def argument_unchanged(symptoms: Symptoms) -> Cause | None:
    for i, arg in enumerate(symptoms.args):
        if isinstance(arg, np.ndarray) and symptoms.holds(lambda call: call.args[i]):
            return cause(
                "argument_unchanged", f"What came back equals {symptoms.name_of(i)}.", "What should happen to it?"
            )
    return None


def swapped_arguments(symptoms: Symptoms) -> Cause | None:
    for i, j in combinations(range(len(symptoms.args)), 2):

        def swapped(call: Call) -> Any:
            exchanged = with_argument(call.args, i, call.args[j])
            return symptoms.ask(*with_argument(exchanged, j, call.args[i]))

        if _alike(symptoms.args[i], symptoms.args[j]) and symptoms.holds(swapped):
            one, other = symptoms.name_of(i), symptoms.name_of(j)
            seen = (
                _equals(symptoms, {i: other, j: one})
                if isinstance(symptoms.args[i], np.ndarray)
                else f"What came back is right for {one} and {other} exchanged"
            )
            return cause("swapped_arguments", f"{seen}.", f"What is {one} for, and what is {other}?")
    return None


def reversed_tuples(symptoms: Symptoms) -> Cause | None:
    """Every tuple was read from its end: places and shapes, by someone who is used to the other order."""
    tuples = [i for i, arg in enumerate(symptoms.args) if isinstance(arg, tuple) and arg != arg[::-1]]
    if not tuples or not symptoms.holds(lambda call: symptoms.ask(*map(_backwards, call.args))):
        return None
    names = " and ".join(map(symptoms.name_of, tuples))
    return cause(
        "reversed_tuples", f"It is right for {names} in reverse order.", "Which of their numbers counts fastest?"
    )


def _backwards(arg: object) -> object:
    return arg[::-1] if isinstance(arg, tuple) else arg


def repeated_argument(symptoms: Symptoms) -> Cause | None:
    for i, j in permutations(range(len(symptoms.args)), 2):
        if not _alike(symptoms.args[i], symptoms.args[j]):
            continue
        if symptoms.holds(lambda call: symptoms.ask(*with_argument(call.args, j, call.args[i]))):
            return cause(
                "repeated_argument",
                f"{_equals(symptoms, {j: symptoms.name_of(i)})}:",
                f"is {symptoms.name_of(j)} used at all?",
            )
    return None


def neutral_argument(symptoms: Symptoms) -> Cause | None:
    """One argument might as well have been all zeros, or all ones."""
    if len(symptoms.args) < 2:
        return None
    for i, arg in enumerate(symptoms.args):
        for filler in (0, 1) if isinstance(arg, (np.ndarray, float)) else ():
            constant = _constant(arg, filler)
            if symptoms.holds(lambda call: symptoms.ask(*with_argument(call.args, i, constant))):
                return cause(
                    "unused_argument",
                    f"{_equals(symptoms, {i: str(filler)})}:",
                    f"is {symptoms.name_of(i)} used at all?",
                )
    return None


def usual_number(symptoms: Symptoms) -> Cause | None:
    """A whole number, a size or a count, might as well have been 1, or the size of a usual dtype."""
    for usual in USUAL:
        for i, arg in enumerate(symptoms.args):
            if _is_another(arg, usual) and symptoms.holds(
                lambda call: symptoms.ask(*with_argument(call.args, i, usual))
            ):
                return _right_for(symptoms.name_of(i), usual)
        for name, value in symptoms.keywords.items():
            if _is_another(value, usual) and symptoms.holds(lambda call: symptoms.ask(*call.args, **{name: usual})):
                return _right_for(name, usual)
    return None


def _is_another(value: object, usual: int) -> bool:
    return type(value) is int and value > 1 and value != usual


def _right_for(name: str, usual: int) -> Cause:
    return cause("unused_argument", f"It is right for {name} = {usual}.", f"Is {name} used at all?")


def whole_blocks(symptoms: Symptoms) -> Cause | None:
    """A length might as well have been rounded up to whole blocks, none of them longer: an oracle may be slow there."""
    if not isinstance(symptoms.got, int) or not isinstance(symptoms.want, int) or symptoms.got < symptoms.want:
        return None
    for i, length in enumerate(symptoms.args):
        for block in [block for block in BLOCKS if block < length] if type(length) is int else ():
            rounded = -(-length // block) * block
            if rounded != length and symptoms.holds(
                lambda call: symptoms.ask(*with_argument(call.args, i, -(-call.args[i] // block) * block))
            ):
                name = symptoms.name_of(i)
                return cause(
                    "whole_blocks",
                    f"It is right for {name} = {rounded}, as if the last block were full.",
                    "How many positions of the last block exist?",
                )
    return None


def _constant(like: np.ndarray | float, value: int) -> np.ndarray | float:
    """The number in the form of `like`; an array costs no memory."""
    if isinstance(like, np.ndarray):
        return np.broadcast_to(like.dtype.type(value), like.shape)
    return float(value)


def negated_argument(symptoms: Symptoms) -> Cause | None:
    """One argument might as well have had the opposite sign."""
    for i, arg in enumerate(symptoms.args):
        if not isinstance(arg, float) and getattr(arg, "dtype", None) not in (np.float32, np.float64):
            continue
        if symptoms.holds(lambda call: symptoms.ask(*with_argument(call.args, i, -call.args[i]))):
            name = symptoms.name_of(i)
            return cause(
                "negated_argument",
                f"What came back is right for -{name} in place of {name}.",
                "Where does the sign come from?",
            )
    return None


def unused_argument(symptoms: Symptoms) -> Cause | None:
    """Other values for one argument should change the result, and do not. Costs a call for each argument."""
    if not symptoms.comparable or symptoms.is_slow:
        return None
    got = sample(symptoms.here.got)
    if got.dtype.kind != "f" or not np.isfinite(got).all() or len(np.unique(got)) < 0.3 * len(got):
        return None  # NaN, whole numbers and what saturates stay the same whatever the arguments are
    for i, arg in list(enumerate(symptoms.args))[:4]:
        telling = isinstance(arg, float) or (isinstance(arg, np.ndarray) and arg.size > 3)
        others = (with_argument(symptoms.args, i, varied(arg, by)) for by in (3, 8))
        if telling and all(_makes_no_difference(symptoms, each) for each in others) and _not_even_far_away(symptoms, i):
            return cause(
                "unused_argument", f"With another {symptoms.name_of(i)} the same comes back.", "Is it used at all?"
            )
    return None


def _makes_no_difference(symptoms: Symptoms, args: tuple) -> bool:
    """With these arguments something else is wanted, but the same comes back."""
    want, got = symptoms.ask(*args), number(symptoms.call_again(*args))
    if want is None or got is None or not got.shape == want.shape == symptoms.here.want.shape:
        return False
    if not np.array_equal(got, symptoms.here.got):
        return False
    return symptoms.telling_bits(want, symptoms.here.want) >= ENOUGH_BITS


def _not_even_far_away(symptoms: Symptoms, i: int) -> bool:
    """Nor where it is so large or so small that another term, or another bound, cannot hide it."""
    arg = symptoms.args[i]
    if not is_float(np.asarray(arg).dtype):
        return True
    far = (arg * factor for factor in (FAR, 1 / FAR))
    calls = (
        with_argument(symptoms.args, i, each.astype(arg.dtype) if isinstance(arg, np.ndarray) else each) for each in far
    )
    return all(
        (got := number(symptoms.call_again(*args))) is not None and np.array_equal(got, symptoms.here.got)
        for args in calls
    )


def transposed_argument(symptoms: Symptoms) -> Cause | None:
    """One argument was taken transposed, where the result has its axes; wrong_axis then holds of others."""
    for i, p, q, flipped in _flipped(symptoms):
        if flipped.ndim == symptoms.args[i].ndim and symptoms.holds(lambda call: flipped):
            return _argument_transposed(symptoms, i)
    return None


def wrong_axis(symptoms: Symptoms) -> Cause | None:
    """The operation ran along another axis of one argument, or took the argument transposed."""
    for i, p, q, flipped in _flipped(symptoms):
        arg, name = symptoms.args[i], symptoms.name_of(i)
        back = flipped.swapaxes(p, q) if flipped.ndim == arg.ndim else flipped
        if symptoms.holds(lambda call: back):
            axes = "the rows and columns" if arg.ndim == 2 else f"axes {p} and {q}"
            return cause(
                "wrong_axis",
                f"What came back is right if {axes} of {name} change roles.",
                "Which axis does the operation run along?",
            )
        if symptoms.holds(lambda call: flipped):
            return _argument_transposed(symptoms, i)
    return None


def _flipped(symptoms: Symptoms) -> Iterator[tuple[int, int, int, np.ndarray]]:
    """(argument, axis, axis, what would be wanted with these two axes exchanged)"""
    for i, arg in enumerate(symptoms.args):
        for p, q in combinations(range(arg.ndim if isinstance(arg, np.ndarray) else 0), 2):
            flipped = symptoms.ask(*with_argument(symptoms.args, i, arg.swapaxes(p, q)))
            if flipped is not None:
                yield i, p, q, flipped


def _argument_transposed(symptoms: Symptoms, i: int) -> Cause:
    name = symptoms.name_of(i)
    return cause(
        "argument_transposed", f"What came back is right for {name} transposed.", f"Which way round is {name} read?"
    )
