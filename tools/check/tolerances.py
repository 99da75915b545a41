"""Tolerances: how far a floating-point result may lie from the exact one, and an audit of that bound.

The error of an element is its distance from the float64 result, divided by the element's own size or by the
typical size (root mean square) of the result, whichever is larger: a small element next to large ones is
judged by what its neighbours were summed from, a large one by the digits that its dtype can hold. A result
of a few elements has no typical size. There an error that seems too large is judged once more, by the size of
what cancelled in the element: see `cancelled`.

One rounding moves a number by at most u, the unit roundoff, of its size. The roundings of a sum of n terms
are as often up as down, so they add up like a random walk: to about sqrt(n) * u, not n * u (Higham and Mary
show how rarely it is more). Measured on matmuls and sums, the largest of a million such errors stays below
2 * sqrt(n) * u. An allowance is four times what a careful program needs: see `audit`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tools.check import arrays

DIGITS = {
    "float64": 53,
    "float32": 24,
    "tf32": 11,
    "float16": 11,
    "bfloat16": 8,
    "float8_e4m3fn": 4,
    "float8_e5m2": 3,
}  # significant binary digits; u is 2**-digits
SLACK = 4  # an allowance is this many times the error of a careful program ...
ROUNDINGS = 8  # ... which may round an element of float32 or float64 this often on its way
WALK = 2  # ... and add WALK * sqrt(n) * u in a sum of n terms
ENOUGH = 64  # elements below which none is typical, nor one precision to be told from another
MOVE = 2.0**-20  # a part of a number: far more than its last digits in float64, far less than bends a function
MOVES = 8  # random draws, the more the surer that one of them shows what cancelled
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Tolerance:
    """The error allowed (see the top of this file), and why. With a dtype, the result must have it."""

    relative: float
    why: str
    dtype: str | None = None
    length: int = 1
    blind: tuple[str, ...] = ()

    def blind_to(self, *impostors: str) -> "Tolerance":
        """The same tolerance where these impostors cannot be told apart: said in the test, for all to see."""
        return replace(self, blind=self.blind + impostors)


class WeakTolerance(Exception):
    """A tolerance that is too tight for the reference, or that lets an impostor pass. A fault of the test."""


def unit(dtype: object) -> float:
    """Unit roundoff: the largest relative error of one rounding to `dtype`."""
    return 2.0 ** -DIGITS[arrays.dtype_name(dtype)]


def elementwise(dtype: object) -> Tolerance:
    """For a few operations on each element; in float32, and rounded once, if `dtype` is narrower."""
    name = arrays.dtype_name(dtype)
    roundings = ROUNDINGS if DIGITS[name] >= 24 else 1
    return Tolerance(SLACK * roundings * unit(name), f"{name} arithmetic", name)


def accumulated(dtype: object, length: int) -> Tolerance:
    """For sums of `length` terms, added up in `dtype`; in float32, and rounded once, if that is narrower."""
    name = arrays.dtype_name(dtype)
    walk = WALK * length**0.5 * min(unit(name), unit("float32"))
    relative = elementwise(name).relative + SLACK * walk
    return Tolerance(relative, f"{name} sums of {length} terms", name, length)


def errors(got: np.ndarray, want: np.ndarray, size: np.ndarray | float = 0.0) -> np.ndarray:
    """The error of each element, relative to `size` where that is larger than its own and the typical one.

    0 where both are NaN or the same infinity, inf where only one is finite.
    """
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    with np.errstate(all="ignore"):
        apart = np.abs(got - want) / np.maximum(np.maximum(np.abs(want), typical_size(want)), size)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    return np.where(same, 0.0, np.where(np.isfinite(got) & np.isfinite(want), apart, np.inf))


def largest_error(got: np.ndarray, want: np.ndarray, size: np.ndarray | float = 0.0) -> float:
    return float(errors(got, want, size).max(initial=0.0))


def typical_size(values: np.ndarray) -> float:
    """Root mean square of the finite values, never 0."""
    finite = np.abs(values[np.isfinite(values)])
    largest = finite.max(initial=TINY)
    return max(TINY, largest * float(np.sqrt(np.mean((finite / largest) ** 2)))) if finite.size else TINY


def cancelled(want: np.ndarray, args: tuple, oracle: Callable) -> np.ndarray | float:
    """How large the numbers were that cancelled in each element of `want`; 0 if it has ENOUGH elements.

    -1.5 * x + y may come out a million times smaller than y, and then no float32 program gets its digits right:
    an element that changes by `size` times d when its inputs change by d of their sizes has terms of that size
    (its condition number, times itself). One that jumps, as where numbers are rounded, tells nothing: with inputs
    moved half as far it does not change half as much. args, oracle: as for `impostors`; the oracle must answer for
    inputs a millionth away.
    """
    if want.size >= ENOUGH:
        return 0.0
    size = np.zeros(want.shape)
    for seed in range(MOVES):
        far, near = (oracle(*moved(args, step, seed)) for step in (MOVE, MOVE / 2))
        if far.shape != want.shape or near.shape != want.shape:
            return 0.0
        with np.errstate(invalid="ignore"):
            change = far - want
            smooth = np.abs(change - 2 * (near - want)) < 0.1 * np.abs(change)
        size = np.hypot(size, np.where(smooth, change, 0.0))
    return size / MOVES**0.5 / MOVE


def moved(args: tuple, step: float, seed: int) -> tuple:
    """The arguments with each element of a float array moved at random by about `step` of its size."""
    rng = np.random.default_rng(seed)

    def move(array: object) -> object:
        if not arrays.is_float(array):
            return array
        values = arrays.to_numpy(array)
        return arrays.like(values * (1 + step * rng.standard_normal(values.shape)), array)

    return arrays.change_arrays(move, args)


# Impostors: results that a test must tell from the right one ----------------------------------------------


def impostors(want: np.ndarray, args: tuple, oracle: Callable, dtype: object, length: int = 1) -> dict:
    """The results of careless programs in place of `want`: NumPy arrays by name.

    args: the arguments, float arrays in float64. oracle(*args) returns `want`. Left out is what happens to be
    right, and less precise arithmetic where `want` has fewer than ENOUGH elements.
    """
    finite = want[np.isfinite(want)]
    found = {"zeros": np.zeros_like(want), "mean": np.full_like(want, finite.mean() if finite.size else 0.0)}
    for position, array in enumerate(arrays.all_arrays(args), start=1):
        if tuple(array.shape) == want.shape:
            found[f"copy of array {position}"] = arrays.to_numpy(array).astype(np.float64)
    found = {name: wrong for name, wrong in found.items() if not np.array_equal(wrong, want, equal_nan=True)}
    if want.size >= ENOUGH:
        found |= less_precise(want, args, oracle, arrays.dtype_name(dtype), length)
    return found


def less_precise(want: np.ndarray, args: tuple, oracle: Callable, name: str, length: int) -> dict:
    found = {}
    for narrow in ("float32", "tf32", "float16", "bfloat16"):
        if DIGITS[narrow] < DIGITS[name]:
            rounded = oracle(*arrays.change_arrays(lambda array, to=narrow: round_array(array, to), args))
            found[f"{narrow} round trip"] = rounded if narrow == "tf32" else round_to(rounded, narrow)
    narrow = name if DIGITS[name] < 24 else "float16"
    if length > 1:
        found[f"{narrow} accumulation"] = added_up_in(narrow, want, length)
    return found


def round_array(array: object, name: str) -> object:
    if not arrays.is_float(array):
        return array
    return arrays.like(round_to(arrays.to_numpy(array).astype(np.float64), name), array)


def round_to(values: np.ndarray, name: str) -> np.ndarray:
    """float64 values rounded to the significant digits of a narrower format (its range too, for float16)."""
    if name == "float16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).astype(np.float64)
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissa, DIGITS[name])), exponent - DIGITS[name])


def added_up_in(name: str, want: np.ndarray, length: int) -> np.ndarray:
    """`want` as it comes out when `length` terms with that sum are added one by one and rounded each time.

    An oracle does not show its terms, so typical ones are drawn: equal parts and a spread of the same size.
    At most 1024 elements are summed, the rest stay exact.
    """
    result = want.copy()
    head = result.reshape(-1)[:1024]
    rng = np.random.default_rng(length)
    terms = rng.standard_normal((length, head.size)) * typical_size(want) / length**0.5
    terms += head / length - terms.mean(axis=0)
    total = np.zeros_like(head)
    for term in terms:
        total = round_to(total + term, name)
    head[...] = total
    return result


def audit(
    got: np.ndarray,
    want: np.ndarray,
    tolerance: Tolerance,
    stand_ins: dict[str, np.ndarray],
    size: np.ndarray | float = 0.0,
) -> None:
    """Is the reference well inside the tolerance and every impostor well outside? WeakTolerance if not."""
    error, allowed = largest_error(got, want, size), f"{tolerance.relative:.1e} ({tolerance.why})"
    if not error <= tolerance.relative / SLACK:
        raise WeakTolerance(
            f"The reference's error {error:.1e} is more than a quarter of the tolerance {allowed}.\n"
            "Which sum is longer, or which function less exact, than the tolerance says?"
        )
    for name, values in stand_ins.items():
        error = largest_error(values, want, size)
        if name not in tolerance.blind and not error >= 2 * tolerance.relative:
            raise WeakTolerance(
                f"An impostor is hard to tell: {name} has error {error:.1e}, the tolerance is {allowed}.\n"
                "Choose harder inputs or another length; where neither is possible, "
                f"tolerance.blind_to({name!r}) says so in the test."
            )
