"""The verdict on one call of a lesson's function: its plainest discrepancy, or None where all is right."""

from dataclasses import replace
from typing import Any

import numpy as np

from tools import worker
from tools.check import arrays
from tools.check.case import Case
from tools.check.compare import Discrepancy, contents, equal, form, leaves
from tools.check.fence import Fence
from tools.worker import NoAnswer, Outcome


def verify(case: Case, outcome: Outcome, want: object) -> Discrepancy | None:
    """Of a call without out."""
    if outcome.error:
        return Discrepancy("raised", outcome.error)
    return (
        form(outcome.value, want, case.rule)
        or modified_input(case, outcome)
        or shared_memory(outcome)
        or contents(outcome.value, want, case.rule, case.cancelled)
    )


def verify_out(case: Case, outcome: Outcome, want: object, fence: Fence) -> Discrepancy | None:
    """Of a call with the fence's window as out."""
    if outcome.error:
        return Discrepancy("raised", outcome.error)
    side = fence.broken()
    if side:
        return Discrepancy("outside_out", part=side, want=arrays.size(fence.window))
    if outcome.value is None:
        return Discrepancy("nothing_returned")
    if outcome.alias != "out" or not outcome.same_object:
        return Discrepancy("out_not_returned", outcome.value)
    wrong = modified_input(case, outcome) or contents(fence.window, want, case.rule, case.cancelled)
    return left_over(case, wrong, fence) if wrong and wrong.kind == "values" else wrong


def left_over(case: Case, wrong: Discrepancy, fence: Fence) -> Discrepancy:
    """A better name for wrong values where the poison stayed: never written, or computed from what out held?

    A second call, with something else in out, tells: what is never written holds that then.
    """
    poisoned = wrong.wrong & holds(fence.window, arrays.poison(fence.window))
    if not poisoned.any():
        return wrong
    other = arrays.dtype_name(fence.window.dtype) != "bool"  # 1, or False in place of True
    second = Fence(fence.window, other)
    try:
        if case.call(out=second.window).error:
            return wrong
    except NoAnswer:
        return wrong
    untouched = holds(second.window, other)
    same = equal(arrays.to_numpy(second.window), arrays.to_numpy(fence.window))
    if (poisoned & ~untouched & ~same).any():
        return Discrepancy("reads_out")
    if (poisoned & untouched).any():
        return Discrepancy("never_written", wrong.got, wrong.want, wrong=poisoned & untouched)
    return wrong


def never_stored(case: Case, wrong: Discrepancy, want: object) -> Discrepancy:
    """A better name for wrong values of a tensor where nothing was stored: there it shows what its memory held before.

    Two calls more, in memory that holds two numbers: an element that has both was never stored, be it right by chance.
    """
    if not isinstance(wrong.wrong, np.ndarray) or not arrays.is_tensor(wrong.got):
        return wrong
    never = np.ones_like(wrong.wrong)
    for number in worker.NUMBERS:
        try:
            outcome = case.call_in_fresh_memory(number)
        except worker.NoAnswer:
            return wrong
        got: Any = next((mine for part, mine, _ in leaves(outcome.value, want) if part == wrong.part), None)
        if outcome.error or not arrays.is_tensor(got) or got.shape != wrong.got.shape:
            return wrong
        never = never & holds(got, worker.holds(number, got.dtype))
        if not (never & wrong.wrong).any():
            return wrong
    return replace(wrong, kind="never_stored", wrong=never)


def holds(array: object, value: object) -> np.ndarray:
    values = arrays.to_numpy(array)
    return np.isnan(values) if isinstance(value, float) else values == value


def modified_input(case: Case, outcome: Outcome) -> Discrepancy | None:
    for name, value in case.arguments.items():
        for place, before in arrays.places(value):
            after = outcome.changed.get(name + place)
            if after is None:
                continue
            wrong = ~equal(arrays.to_numpy(after), arrays.to_numpy(before))
            if wrong.any():  # not only the bits of a NaN
                return Discrepancy("input_modified", after, before, name + place, wrong)
    return None


def shared_memory(outcome: Outcome) -> Discrepancy | None:
    if outcome.alias is None:
        return None
    return Discrepancy("returns_its_input" if outcome.same_object else "returns_a_view", part=outcome.alias)
