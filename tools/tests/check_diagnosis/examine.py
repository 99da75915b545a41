"""Calls a wrong answer as a check would, and collects the evidence. Shares no code with the recognisers."""

import copy
import inspect
from types import SimpleNamespace

import numpy as np

from tools.check.diagnosis import Evidence

LIMIT = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-3}  # relative to the rms of what is wanted


def examine(right, wrong, args: tuple) -> Evidence | None:
    """The evidence against `wrong` on these arguments, or None if nothing is wrong with what it does."""
    with np.errstate(all="ignore"):
        want = right(*map(in_float64, copy.deepcopy(args)))
    names = tuple(inspect.signature(right).parameters)[:len(args)]
    result, outcome, poison = call(wrong, args, names, dtype_for(want, args))
    evidence = Evidence(result, want, args, names, oracle=right, poison=poison, outcome=outcome,
                        again=lambda *others: call(wrong, others, names)[0])
    return evidence if is_wrong(evidence) else None


def call(function, args, names, out_dtype=None):
    """(result, what else the call did, mask of elements never written). `out` is given full of NaN."""
    given, out = copy.deepcopy(args), None
    if out_dtype is not None and "out" in inspect.signature(function).parameters:
        out = np.full(args[0].shape, np.nan, out_dtype)
    with np.errstate(all="ignore"):
        result = function(*given) if out is None else function(*given, out=out)
    changed = {name: now for name, now, before in zip(names, given, args)
               if isinstance(now, np.ndarray) and now.tobytes() != before.tobytes()}
    alias = next((name for name, arg in zip(names, given) if isinstance(arg, np.ndarray)
                  and isinstance(result, np.ndarray) and np.shares_memory(arg, result)), None)
    same = any(result is arg for arg in given)
    return result, SimpleNamespace(changed=changed, alias=alias, same_object=same, seconds=0.0), \
        None if out is None else np.isnan(out)


def in_float64(value):
    return value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value


def dtype_for(want, args):
    """A float result has the dtype of the float arguments."""
    floats = [arg.dtype for arg in args if isinstance(arg, np.ndarray) and arg.dtype.kind == "f"]
    wanted = getattr(want, "dtype", None)
    return floats[0] if floats and wanted is not None and wanted.kind == "f" else wanted


def is_wrong(evidence) -> bool:
    """Whether a check would reject the call: by its side effects, its form or its values."""
    got, want, outcome = evidence.got, evidence.want, evidence.outcome
    if outcome.changed or outcome.alias or (evidence.poison is not None and evidence.poison.any()):
        return True
    if not isinstance(want, (np.ndarray, np.generic)):
        return type(got) is not type(want) or got != want
    if not isinstance(got, (np.ndarray, np.generic)) or got.shape != want.shape:
        return True
    if got.dtype != dtype_for(want, evidence.args):
        return True
    if got.dtype.kind != "f":
        return not np.array_equal(got, want)
    finite = np.isfinite(want)
    if (np.isfinite(got) != finite).any() or not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return True
    scale = np.sqrt(np.mean(want[finite] ** 2)) if finite.any() else 0.0
    return bool((np.abs(got - want)[finite] > LIMIT[got.dtype.name] * scale).any())
