"""Causes that need no look at the values: type, dtype, shape, strides, device, whose memory it is."""

import numpy as np

from tools.check.diagnosis.evidence import Evidence
from tools.check.diagnosis.numbers import is_float
from tools.check.diagnosis.words import Cause, cause

WHICH_LINE = "Which line decides the dtype?"


def nothing_returned(evidence: Evidence) -> Cause | None:
    if evidence.got is None and evidence.want is not None:
        return cause("nothing_returned", "The function returned None:", "which line hands the result back?")
    return None


def wrong_type(evidence: Evidence) -> Cause | None:
    """A list for an array, a number for an array, a float for an int."""
    if _close_enough(evidence.got, evidence.want):
        return None
    got, want = _a(evidence.got), _a(evidence.want)
    return cause("wrong_type", f"{got[0].upper()}{got[1:]} came back, {want} was wanted.",
                 "Which expression makes it?")


def _close_enough(got, want) -> bool:
    """The same type, or one that a check may accept for it: then the value or the dtype is what matters."""
    if type(got) is type(want) or (isinstance(got, np.ndarray) and isinstance(want, np.ndarray)):
        return True
    if type(want) is float:
        return isinstance(got, (float, np.number)) or (isinstance(got, int) and got != want)
    return np.ndim(want) == 0 and hasattr(want, "dtype") and hasattr(got, "dtype") and got.ndim == 0


def _a(value) -> str:
    """A value's type, as a learner reads it."""
    if isinstance(value, np.ndarray):
        return "an array" if value.ndim else "an array without axes"
    if isinstance(value, np.generic):
        return f"a NumPy {value.dtype}"
    name = "None" if value is None else type(value).__name__
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def input_modified(evidence: Evidence) -> Cause | None:
    changed = getattr(evidence.outcome, "changed", None) or {}
    for name in changed:
        if name != "out":
            return cause("input_modified", f"{name} is no longer what it was before the call:",
                         "which line writes into it?")
    return None


def returns_its_input(evidence: Evidence) -> Cause | None:
    alias = getattr(evidence.outcome, "alias", None)
    if alias is None or alias == "out":
        return None
    itself = "itself" if getattr(evidence.outcome, "same_object", False) else "under another view"
    return cause("returns_its_input", f"What came back is {alias} {itself}, not memory of its own.",
                 "Where is the result allocated?")


def wrong_kind_of_number(evidence: Evidence) -> Cause | None:
    """Integers where floats are wanted, or the other way round."""
    got, wanted = getattr(evidence.got, "dtype", None), evidence.wanted_dtype
    if got is None or wanted is None or _kind(got) == _kind(wanted):
        return None
    return cause("wrong_dtype", f"Its dtype is {got}, wanted {wanted}.", WHICH_LINE)


def _kind(dtype) -> str:
    """b, i, f or c; unsigned counts as integer, and the floats of ml_dtypes as floats."""
    kind = np.dtype(dtype).kind
    return "f" if is_float(dtype) else "i" if kind == "u" else kind


def wrong_dtype(evidence: Evidence) -> Cause | None:
    """Right values in the wrong dtype."""
    got, wanted = getattr(evidence.got, "dtype", None), evidence.wanted_dtype
    if got is None or wanted is None or got == wanted or not evidence.all_right:
        return None
    return cause("wrong_dtype", f"The values are right, but their dtype is {got}, wanted {wanted}.",
                 WHICH_LINE)


def wrong_device(evidence: Evidence) -> Cause | None:
    if evidence.device is None or evidence.device[0] == evidence.device[1]:
        return None
    got, wanted = evidence.device
    return cause("wrong_device", f"The result is on {got}, the arguments are on {wanted}.",
                 "Where is it allocated?")


def wrong_strides(evidence: Evidence) -> Cause | None:
    """Right values, shape and dtype, but another order in memory. Axes of length 1 have no order."""
    got, want = evidence.got, evidence.want
    if evidence.tolerance is None or not evidence.all_right:
        return None  # without a tolerance a value may be what failed the check
    if not isinstance(got, np.ndarray) or not isinstance(want, np.ndarray) or not got.size:
        return None
    if (np.signbit(evidence.here.got) != np.signbit(evidence.here.want)).any():
        return None  # -0.0 for 0.0: a value, when the check is exact
    strides = [[step // array.itemsize for step, length in zip(array.strides, array.shape) if length > 1]
               for array in (got, want)]
    if strides[0] == strides[1]:
        return None
    return cause("wrong_strides", f"Right values, but its strides are {strides[0]}, wanted {strides[1]}.",
                 "In which order is it stored?")


def wrong_shape(evidence: Evidence) -> Cause | None:
    """Last of all that speaks about shapes: the recognisers of order and axes know more."""
    got, want = evidence.here.got, evidence.here.want
    if got is None or want is None or got.shape == want.shape:
        return None
    same = got.size == want.size > 0 and np.array_equal(got.reshape(-1), want.reshape(-1), equal_nan=True)
    seen = "The right numbers in shape" if same else "Its shape is"
    return cause("wrong_shape", f"{seen} {got.shape}, wanted {want.shape}.", "Which line decides the shape?")
