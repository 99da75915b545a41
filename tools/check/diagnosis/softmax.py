"""Softmax, its logarithm, or log-sum-exp, along one axis of one argument, with a mistake in it.

All three come from L, the logarithm of the sum: exp(x - L), x - L, and L itself. A mistake is mostly another L.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from tools.check.diagnosis.formulas import Mistake, few_rows, float_arguments, nearly, reproduces, same, wide
from tools.check.diagnosis.softmax_blocks import IN_BLOCKS, NARROW, NOT_UPDATED
from tools.check.diagnosis.softmax_mistakes import PLAIN
from tools.check.diagnosis.softmax_rows import Rows
from tools.check.diagnosis.steps import blocks
from tools.check.diagnosis.symptoms import Call, Symptoms
from tools.check.diagnosis.words import Cause, cause

ZEROS = 4  # that are wrong; of fewer many mistakes are the cause
KINDS = ("softmax", "log_softmax", "logsumexp")


@dataclass(frozen=True)
class Formula:
    """What is wanted: softmax, or what is akin to it, of argument i along `axis`, which the result may have kept."""

    i: int
    axis: int
    kind: str
    kept: bool = False

    def rows(self, args: tuple, other: int | None = None) -> Rows:
        """other: an axis along which a mistake goes."""
        beside = None if other is None else other - (other > self.axis)
        return Rows(np.moveaxis(wide(args[self.i]), self.axis, -1), self.kind, beside)

    def placed(self, y: np.ndarray | None) -> np.ndarray | None:
        """A result of the rows, its axis where the wanted one has it."""
        if y is None or self.kind != "logsumexp":
            return None if y is None else np.moveaxis(y, -1, self.axis)
        return np.expand_dims(y, self.axis) if self.kept else y


def softmax_gone_wrong(symptoms: Symptoms) -> Cause | None:
    if not symptoms.comparable or symptoms.here.want.dtype.kind != "f" or (formula := find(symptoms)) is None:
        return None
    if found := _empty_rows(symptoms, formula) or _infinite_rows(symptoms, formula):
        return found
    x = symptoms.args[formula.i]
    names = {"x": symptoms.name_of(formula.i), "length": x.shape[formula.axis], "axis": formula.axis}
    for mistake, result, more in _tried(symptoms, formula):
        other = more.get("other")

        def claim(call: Call, result: Callable = result, other: int | None = other) -> np.ndarray | None:
            return formula.placed(result(formula.rows(call.args, other)))

        if (
            reproduces(symptoms, claim)
            or _is_overflow(symptoms, formula, mistake, claim)
            or _is_underflow(symptoms, mistake, claim)
        ):
            return mistake.said(**names, **more)
    return None


def _tried(symptoms: Symptoms, formula: Formula) -> Iterator[tuple[Mistake, Callable, dict]]:
    """Each mistake, what it makes of the rows, and what more its words need."""
    x = symptoms.args[formula.i]
    others = [axis for axis in range(x.ndim) if axis != formula.axis]

    def along(mistake: Mistake) -> list:
        return others if "other_axis" in mistake.name else [None]

    name = x.dtype.name if x.dtype.name in ("float16", "float64") else "float32"
    for dtype in dict.fromkeys((name, "float32")):
        limits = np.finfo(dtype)
        more = {"dtype": dtype, "above": np.log(float(limits.max)), "below": np.log(float(limits.smallest_subnormal))}
        for mistake in NARROW:
            for axis in along(mistake):
                yield mistake, partial(mistake.result, name=dtype), more | {"other": axis}
        for block in [size for size in blocks(symptoms) if 1 < size < x.shape[formula.axis]]:
            yield NOT_UPDATED, partial(NOT_UPDATED.result, name=dtype, block=block), {"block": block}
    for mistake in PLAIN:
        for axis in along(mistake):
            yield mistake, mistake.result, {"other": axis}
    for block in [size for size in blocks(symptoms) if size > 1]:
        for mistake in IN_BLOCKS:
            if block < x.shape[formula.axis] or mistake.name == "padding_counted":
                yield mistake, partial(mistake.result, block=block), _of_blocks(x.shape[formula.axis], block)


def _of_blocks(length: int, block: int) -> dict[str, int]:
    whole, padded = length // block * block, -(-length // block) * block
    return {"block": block, "last": (length - 1) // block * block, "whole": whole, "padded": padded}


def _is_overflow(symptoms: Symptoms, formula: Formula, mistake: Mistake, claim: Callable) -> bool:
    """A few NaN, or nothing but NaN, may come from anything; but not if x without its maximum is right."""
    got = symptoms.here.got
    if mistake not in (*NARROW, NOT_UPDATED) or np.isfinite(got).all() or symptoms.is_slow:
        return False
    if not same(symptoms.budget.call(claim, symptoms.here), got, symptoms.slack):
        return False
    x = symptoms.args[formula.i]
    smaller = (x - wide(x).max(formula.axis, keepdims=True)).astype(x.dtype)
    call = symptoms.compare((*symptoms.args[: formula.i], smaller, *symptoms.args[formula.i + 1 :]))
    return symptoms.is_right(call) is True


def _is_underflow(symptoms: Symptoms, mistake: Mistake, claim: Callable) -> bool:
    """All that is wrong is 0. One zero says little, several of them beside right numbers are enough."""
    got, want = symptoms.here.got, symptoms.here.want
    if mistake not in NARROW or got[symptoms.wrong].any() or not got.any():
        return False
    said = symptoms.budget.call(claim, symptoms.here)
    return same(said, got, symptoms.slack) and int(symptoms.telling(said, want).sum()) >= ZEROS


def _empty_rows(symptoms: Symptoms, formula: Formula) -> Cause | None:
    """NaN in all of the rows that are -inf throughout, and in no other."""
    rows = formula.rows(symptoms.args)
    empty = formula.placed(rows.spread(rows.m == -np.inf))
    got, want = symptoms.here.got, symptoms.here.want
    if empty is None or not empty.any() or (np.isnan(got) != empty).any() or np.isnan(want[empty]).any():
        return None
    if not same(np.where(empty, want, got), want, symptoms.slack):
        return None
    seen = f"NaN came back just where {symptoms.name_of(formula.i)} is -inf all along: -inf is the maximum there."
    return cause("empty_row", seen, "What is -inf - -inf?")


def _infinite_rows(symptoms: Symptoms, formula: Formula) -> Cause | None:
    """Where the maximum is inf, what comes back when 0 is taken off, in place of NaN; all else is right."""
    if formula.kind == "logsumexp":
        return None
    rows = formula.rows(symptoms.args)
    infinite, said = formula.placed(rows.spread(rows.m == np.inf)), formula.placed(rows.of(rows.log_sum))
    got, want = symptoms.here.got, symptoms.here.want
    if infinite is None or said is None or not infinite.any() or not np.isnan(want[infinite]).all():
        return None
    if not same(np.where(infinite, said, want), got, symptoms.slack):
        return None
    makes = "inf / inf is NaN, 1 / inf is 0" if formula.kind == "softmax" else "inf - inf is NaN, 1 - inf is -inf"
    return cause("infinity_kept", f"As if 0 were taken off a row with inf: {makes}.", "For which rows is that right?")


def find(symptoms: Symptoms) -> Formula | None:
    """The argument, the axis and the formula that give what is wanted, if there are any."""
    want = symptoms.here.want
    for i in float_arguments(symptoms):
        x = symptoms.args[i]
        for axis in reversed(range(x.ndim)):
            shapes = x.shape[:axis] + x.shape[axis + 1 :], x.shape[:axis] + (1,) + x.shape[axis + 1 :]
            if x.shape[axis] < 2 or want.shape not in (x.shape, *shapes):
                continue
            for kind in KINDS if want.shape == x.shape else KINDS[-1:]:
                formula = Formula(i, axis, kind, want.shape == shapes[1])
                if _is_wanted(formula, symptoms):
                    return formula
    return None


def _few_are(formula: Formula, rows: Rows, want: np.ndarray, slack: float) -> bool:
    few = Rows(few_rows(rows.x), formula.kind)
    moved = want.reshape(-1, 1) if formula.kind == "logsumexp" else np.moveaxis(want, formula.axis, -1)
    if moved.size * (rows.length if formula.kind == "logsumexp" else 1) != rows.x.size:
        return False  # a log-sum-exp that has the shape of x
    right = few_rows(moved)[:, 0] if formula.kind == "logsumexp" else few_rows(moved)
    return nearly(np.where(few.spread(np.isfinite(few.m)), few.of(few.log_sum), right), right, slack)


def _is_wanted(formula: Formula, symptoms: Symptoms) -> bool:
    """Rows that are -inf throughout may give anything."""
    rows, want = formula.rows(symptoms.args), symptoms.here.want
    if not _few_are(formula, rows, want, symptoms.slack):
        return False
    said, full = formula.placed(rows.of(rows.log_sum)), formula.placed(rows.spread(np.isfinite(rows.m)))
    if said is None or full is None or said.shape != want.shape or not full.any():
        return False
    return same(np.where(full, said, want), want, symptoms.slack)
