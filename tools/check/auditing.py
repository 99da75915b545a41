"""An audit of the tests: would each tolerance of assert_matches reject what it should? Asked of the reference only."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from tools.check import arrays, tolerances
from tools.check.case import Case
from tools.check.compare import PYTHON_FLOAT, leaves

_on = False


@contextmanager
def enabled() -> Iterator[None]:
    """In this block every call of assert_matches that passes is audited, too."""
    global _on
    before, _on = _on, True
    try:
        yield
    finally:
        _on = before


def audit(case: Case, got: object, want: object) -> None:
    """Hold the tolerance of each part against impostors, where `enabled`. Raises tolerances.WeakTolerance."""
    if not _on:
        return
    for part, mine, right in leaves(got, want):
        if arrays.is_array(right):
            rule = case.rule.of(part)
            tolerance, dtype = rule.tolerance_of(right), rule.dtype_of(right)
            mine, right = arrays.to_numpy(mine), arrays.to_numpy(right)
        else:
            floating = isinstance(right, float) and not case.rule.exact
            tolerance, dtype = (case.rule.tolerance or PYTHON_FLOAT) if floating else None, "float64"
        if tolerance and np.size(right):
            mine, right = np.asarray(mine), np.asarray(right)
            stand_ins = tolerances.impostors(right, case.exact_args, case.oracle_of(part), dtype, tolerance.length)
            tolerances.audit(mine, right, tolerance, stand_ins, case.cancelled(part, right))
