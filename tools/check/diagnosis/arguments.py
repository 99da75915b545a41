"""The right operation on other arguments: exchanged, read twice, negated, transposed, rounded up to whole blocks."""

from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Any

import numpy as np

from tools.check.diagnosis.ignored import is_ignored
from tools.check.diagnosis.numbers import differ, varied
from tools.check.diagnosis.symptoms import Call, Symptoms
from tools.check.diagnosis.words import Cause, call_text, cause

BLOCKS = tuple(2**power for power in range(12, 0, -1))


def with_argument(args: tuple, index: int, value: object) -> tuple:
    return (*args[:index], value, *args[index + 1 :])


def equals(symptoms: Symptoms, shown: dict[int, str]) -> str:
    """ "What came back equals f(x, 0)": the oracle's call, with some arguments shown otherwise. Where these are plain
    numbers, which no formula names: "What came back is right for x = 0"."""
    if not any(isinstance(symptoms.args[i], np.ndarray) for i in shown):
        numbers = " and ".join(f"{symptoms.name_of(i)} = {other}" for i, other in shown.items())
        return f"What came back is right for {numbers}"
    names = [shown.get(i, symptoms.name_of(i)) for i in range(len(symptoms.args))]
    return f"What came back equals {call_text(symptoms.oracle, names)}"


def used_at_all(symptoms: Symptoms, i: int) -> str:
    """The question after an argument that another one could replace: it may be used nevertheless."""
    name = symptoms.name_of(i)
    return f"is {name} used at all?" if is_ignored(symptoms, i) else f"where does {name} come in?"


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

        if _alike(symptoms.args[i], symptoms.args[j]) and symptoms.holds(swapped) and _holds_far_away(symptoms, i, j):
            one, other = symptoms.name_of(i), symptoms.name_of(j)
            seen = (
                equals(symptoms, {i: other, j: one})
                if isinstance(symptoms.args[i], np.ndarray)
                else f"What came back is right for {one} and {other} exchanged"
            )
            return cause("swapped_arguments", f"{seen}.", f"What is {one} for, and what is {other}?")
    return None


def _holds_far_away(symptoms: Symptoms, i: int, j: int) -> bool:
    """Of two whole numbers: also where both are several times as large, past a size of blocks that hid one of them."""
    if not all(type(symptoms.args[place]) is int for place in (i, j)):
        return True
    one, two = 5 * symptoms.args[i], 7 * symptoms.args[j]
    call = symptoms.compare(with_argument(with_argument(symptoms.args, i, one), j, two))
    said = symptoms.ask(*with_argument(with_argument(symptoms.args, i, two), j, one))
    if call.got is None or said is None or call.got.shape != said.shape:  # it refuses such numbers
        return True
    return not differ(call.got, said, symptoms.slack)


def reversed_tuples(symptoms: Symptoms) -> Cause | None:
    """Every tuple was read from its end: places and shapes, by someone who is used to the other order."""
    tuples = [i for i, arg in enumerate(symptoms.args) if isinstance(arg, tuple) and arg != arg[::-1]]
    if not tuples or not symptoms.holds(lambda call: symptoms.ask(*map(_backwards, call.args))):
        return None
    names = " and ".join(map(symptoms.name_of, tuples))
    return cause("reversed_tuples", f"It is right for {names} in reverse order.", "Which of their numbers comes first?")


def _backwards(arg: object) -> object:
    return arg[::-1] if isinstance(arg, tuple) else arg


def repeated_argument(symptoms: Symptoms) -> Cause | None:
    for i, j in permutations(range(len(symptoms.args)), 2):
        if not _alike(symptoms.args[i], symptoms.args[j]):
            continue
        if symptoms.holds(lambda call: symptoms.ask(*with_argument(call.args, j, call.args[i]))):
            return cause(
                "repeated_argument", f"{equals(symptoms, {j: symptoms.name_of(i)})}:", used_at_all(symptoms, j)
            )
    return None


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
