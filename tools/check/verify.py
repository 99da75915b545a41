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
    """A better name for wrong values: were they never written, or computed from what out held?

    A second call, with something else in out, tells: what is never written holds that then. Floats that are computed
    from the poison show it themselves; whole numbers do not, and may also differ from call to call: a third one tells.
    """
    poisoned = wrong.wrong & holds(fence.window, arrays.poison(fence.window))
    if not poisoned.any() and arrays.is_float(fence.window):
        return wrong
    other = arrays.dtype_name(fence.window.dtype) != "bool"  # 1, or False in place of True
    second = Fence(fence.window, other)
    if not _called(case, second):
        return wrong
    untouched = holds(second.window, other)
    differs = wrong.wrong & ~_same(second.window, fence.window)
    if (differs & poisoned & ~untouched).any():
        return Discrepancy("reads_out")
    if (poisoned & untouched).any():
        return Discrepancy("never_written", wrong.got, wrong.want, wrong=poisoned & untouched)
    if differs.any():
        third = Fence(fence.window, arrays.poison(fence.window))
        if _called(case, third) and _same(third.window, fence.window).all():
            return Discrepancy("reads_out")
    return wrong


def _called(case: Case, fence: Fence) -> bool:
    """Call it with the window of the fence as out. Did it return?"""
    try:
        return case.call(out=fence.window).error is None
    except NoAnswer:
        return False


def _same(mine: object, other: object) -> np.ndarray:
    return equal(arrays.to_numpy(mine), arrays.to_numpy(other))


def never_stored(case: Case, wrong: Discrepancy, want: object) -> Discrepancy:
    """A better name for wrong values of a tensor where nothing was stored: there it shows what its memory held before.

    Two calls more, in memory that holds two numbers: an element that has both was never stored, be it right by chance.
    One that differs from the one to the other, and not where the first is called again, was computed from them.
    """
    if not isinstance(wrong.wrong, np.ndarray) or not arrays.is_tensor(wrong.got):
        return wrong
    first, second = (_in_fresh_memory(case, number, wrong, want) for number in worker.NUMBERS)
    if first is None or second is None:
        return wrong
    never = np.ones_like(wrong.wrong)
    for number, got in zip(worker.NUMBERS, (first, second)):
        never = never & holds(got, worker.holds(number, got.dtype))
    if (never & wrong.wrong).any():
        return replace(wrong, kind="never_stored", wrong=never)
    if _same(first, second).all():
        return wrong
    again = _in_fresh_memory(case, worker.NUMBERS[0], wrong, want)
    return Discrepancy("reads_fresh", part=wrong.part) if again is not None and _same(again, first).all() else wrong


def _in_fresh_memory(case: Case, number: int, wrong: Discrepancy, want: object) -> Any:
    """What a call in memory that holds the number gives for the wrong part; None where that is no tensor like it."""
    try:
        outcome = case.call_in_fresh_memory(number)
    except worker.NoAnswer:
        return None
    got: Any = next((mine for part, mine, _ in leaves(outcome.value, want) if part == wrong.part), None)
    return None if outcome.error or not arrays.is_tensor(got) or got.shape != wrong.got.shape else got


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
