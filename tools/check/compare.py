"""A result beside the right one: first its form (type, dtype, shape, device), then what it holds.

Both questions are answered with a Discrepancy: what is wrong, as data. text.py finds the words.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tools.check import arrays
from tools.check.tolerances import Tolerance, accumulated, elementwise, errors

PYTHON_FLOAT = Tolerance(1e-12, "Python floats")


@dataclass(frozen=True)
class Rule:
    """How equal is equal. dtype: the one that float results must have; None for that of the oracle's.

    parts: the rule for a part of the result, by the part's name, where that is another.
    """

    exact: bool = False
    tolerance: Tolerance | None = None
    dtype: str | None = None
    parts: Mapping[str, "Rule"] = field(default_factory=dict)

    def of(self, part: str) -> "Rule":
        return self.parts.get(part, self)

    def for_dtype(self, dtype: str, tolerance: Tolerance | None) -> "Rule":
        """The same for another dtype. A tolerance for sums in one dtype becomes that for sums as long in the other."""
        if tolerance and tolerance.dtype not in (None, dtype):
            own = accumulated(dtype, tolerance.length) if tolerance.length > 1 else elementwise(dtype)
            tolerance = own.blind_to(*tolerance.blind)
        return Rule(self.exact, tolerance, dtype)

    def dtype_of(self, want: Any) -> str:
        asked = self.tolerance and self.tolerance.dtype or self.dtype
        return asked if asked and not self.exact and arrays.is_float(want) else arrays.dtype_name(want.dtype)

    def tolerance_of(self, want: Any) -> Tolerance | None:
        """None: equal means equal."""
        if self.exact or not arrays.is_float(want):
            return None
        return self.tolerance or elementwise(self.dtype_of(want))


@dataclass(frozen=True)
class Discrepancy:
    """One thing that is wrong. `part` says of what: "result[1]" of a tuple, or the name of an argument."""

    kind: str
    got: Any = None
    want: Any = None
    part: str = ""
    wrong: Any = None  # boolean array, which elements; None where it is not about elements
    tolerance: Tolerance | None = None  # the one that was exceeded


def form(got: Any, want: Any, rule: Rule) -> Discrepancy | None:
    """The first discrepancy in type, dtype, shape or device."""
    for part, mine, right in leaves(got, want):
        compared = array_form if arrays.is_array(right) else plain_form
        if discrepancy := compared(mine, right, rule.of(part), part):
            return discrepancy
    return None


def contents(got: Any, want: Any, rule: Rule, cancelled: Callable = lambda part, want: 0.0) -> Discrepancy | None:
    """The first discrepancy in value, in results whose form is right.

    cancelled: of a part and what it should be, the sizes of what cancelled in its elements; asked where they differ.
    """
    for part, mine, right in leaves(got, want):
        if arrays.is_array(right):
            discrepancy = array_contents(mine, right, rule.of(part), part, cancelled)
        else:
            discrepancy = plain_contents(mine, right, rule, part)
        if discrepancy:
            return discrepancy
    return None


def leaves(got: Any, want: Any, part: str = "") -> Iterator[tuple[str, Any, Any]]:
    """(part, got, want) for each array of a result, or for the whole of it when it holds none.

    Where the nest itself differs (another length, other keys), the pair of nests comes instead.
    """
    if not isinstance(want, (tuple, list, dict)) or not arrays.all_arrays(want):
        yield part, got, scalar(got, want)
    elif not same_type(got, want) or set(keys(got)) != set(keys(want)):
        yield part, got, want
    else:
        for key in keys(want):
            yield from leaves(got[key], want[key], f"{part or 'result'}[{key!r}]")


def keys(nest: tuple | list | dict) -> list:
    return list(nest) if isinstance(nest, dict) else list(range(len(nest)))


def scalar(got: Any, want: Any) -> Any:
    """An oracle's NumPy scalar is an array without axes if the lesson returned an array, else a number."""
    if not isinstance(want, np.generic):
        return want
    return np.asarray(want) if arrays.is_array(got) or isinstance(got, np.generic) else want.item()


# Form -----------------------------------------------------------------------------------------------------


def array_form(got: Any, want: Any, rule: Rule, part: str) -> Discrepancy | None:
    library = "numpy" if isinstance(got, np.generic) else arrays.library(got)
    if library != arrays.library(want):
        return Discrepancy("nothing_returned" if got is None else "wrong_type", got, want, part)
    dtype = rule.dtype_of(want)
    if arrays.dtype_name(got.dtype) != dtype:
        return Discrepancy("wrong_dtype", got, dtype, part)
    if tuple(got.shape) != tuple(want.shape):
        return Discrepancy("wrong_shape", got, want, part)
    if arrays.is_tensor(got) and got.device != want.device:
        return Discrepancy("wrong_device", got, want.device, part)
    return None


def plain_form(got: Any, want: Any, rule: Rule, part: str) -> Discrepancy | None:
    if same_type(got, want):
        return None
    return Discrepancy("nothing_returned" if got is None else "wrong_type", got, want, part)


def same_type(got: Any, want: Any) -> bool:
    """Exactly the same type; but np.float64, which is a float, is welcome as one."""
    return isinstance(got, float) if type(want) is float else type(got) is type(want)


# Contents -------------------------------------------------------------------------------------------------


def array_contents(got: Any, want: Any, rule: Rule, part: str, cancelled: Callable) -> Discrepancy | None:
    tolerance = rule.tolerance_of(want)
    mine, right = arrays.to_numpy(got), arrays.to_numpy(want)
    wrong = ~(equal(mine, right) if tolerance is None else errors(mine, right) <= tolerance.relative)
    if tolerance and wrong.any():
        wrong = ~(errors(mine, right, cancelled(part, right)) <= tolerance.relative)
    return Discrepancy("values", got, want, part, wrong, tolerance) if wrong.any() else None


def equal(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Elementwise, to the bit: NaN is NaN whatever its payload, and -0.0 is not 0.0."""
    if got.dtype.kind not in "fc":
        return got == want
    parts = [(got.real, want.real), (got.imag, want.imag)] if got.dtype.kind == "c" else [(got, want)]
    same = [(a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b) for a, b in parts]
    return np.logical_and.reduce(same)


def wrong_elements(discrepancy: Discrepancy) -> np.ndarray | None:
    """Mask of the elements that are wrong; None where they are not what is wrong.

    A plain number, and a row of them, are compared as a whole and have no mask: they are given the one that says so.
    """
    got, want = discrepancy.got, discrepancy.want
    if discrepancy.wrong is not None or discrepancy.kind != "values":
        return discrepancy.wrong
    if is_row(got) and is_row(want):
        return np.array([not plain_equal(*pair, discrepancy.tolerance) for pair in zip(got, want)], bool)
    return np.array(True)


def is_row(value: object) -> bool:
    """A tuple or list of plain numbers."""
    return isinstance(value, (tuple, list)) and all(isinstance(part, (bool, int, float)) for part in value)


def plain_contents(got: Any, want: Any, rule: Rule, part: str) -> Discrepancy | None:
    tolerance = None if rule.exact else rule.tolerance or PYTHON_FLOAT
    if plain_equal(got, want, tolerance):
        return None
    return Discrepancy("values", *first_entry(got, want, part, tolerance), tolerance=tolerance)


def first_entry(got: Any, want: Any, part: str, tolerance: Tolerance | None) -> tuple[Any, Any, str]:
    """(got, want, part) of the first wrong entry of a dict; of any other value the value itself.

    Of a tuple or list too, if its entries are equal and only their types are not.
    """
    if not same_type(got, want) or not isinstance(want, (dict, tuple, list)) or set(keys(got)) != set(keys(want)):
        return got, want, part
    if not isinstance(want, dict) and got != want:
        return got, want, part
    wrong = next(key for key in keys(want) if not plain_equal(got[key], want[key], tolerance))
    return first_entry(got[wrong], want[wrong], f"{part or 'result'}[{wrong!r}]", tolerance)


def plain_equal(got: Any, want: Any, tolerance: Tolerance | None) -> bool:
    """Python values, nested ones too; types count, and floats may differ by the tolerance."""
    if not same_type(got, want):
        return False
    if isinstance(want, float):
        return float_equal(float(got), float(want), tolerance)
    if isinstance(want, (tuple, list)):
        return len(got) == len(want) and all(plain_equal(a, b, tolerance) for a, b in zip(got, want))
    if isinstance(want, dict):
        return got.keys() == want.keys() and all(plain_equal(got[key], want[key], tolerance) for key in want)
    return bool(got == want)


def float_equal(got: float, want: float, tolerance: Tolerance | None) -> bool:
    if tolerance is None:
        return bool(equal(np.asarray(got), np.asarray(want)))
    return bool(errors(np.asarray(got), np.asarray(want)) <= tolerance.relative)
