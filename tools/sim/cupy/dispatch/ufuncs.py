"""CuPy's elementwise functions: its choice of types and its refusals, NumPy's arithmetic, one launch each."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tools.sim.counters import Counts
from tools.sim.cupy.arrays import launches
from tools.sim.cupy.arrays.arguments import check_cast, elements, operand, type_of
from tools.sim.cupy.arrays.casts import convert, flushed
from tools.sim.cupy.arrays.ndarray import fresh, ndarray
from tools.sim.cupy.arrays.shapes import broadcast_shapes
from tools.sim.cupy.device import streams
from tools.sim.cupy.dispatch.loops import SIGNATURES, WEAK, Loop, choose, loops
from tools.sim.floats import WIDE, converts

ALIASES = dict(
    pair.split("=")
    for pair in """
    abs=absolute divide=true_divide mod=remainder pow=power conj=conjugate degrees=rad2deg radians=deg2rad
    bitwise_not=invert bitwise_invert=invert bitwise_left_shift=left_shift bitwise_right_shift=right_shift
    acos=arccos acosh=arccosh asin=arcsin asinh=arcsinh atan=arctan atanh=arctanh atan2=arctan2
""".split()
)
NO_BOOL = {
    "subtract": "cupy boolean subtract, the `-` operator, is deprecated, use the bitwise_xor, the `^` operator, or "
    "the logical_xor function instead.",
    "negative": "The cupy boolean negative, the `-` operator, is not supported, use the `~` operator or the "
    "logical_not function instead.",
    "positive": "The cupy boolean positive, the `+` operator, is not supported.",
}
UNFLUSHED = ("copy", "where", "clip", "positive", "conjugate", "copysign", "signbit", "nextafter")  # compute nothing
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


class ufunc:
    """One elementwise function. key: "add". name: of its kernel, "cupy_add". nin, nout: operands, results."""

    __module__ = "cupy"
    outer: Callable  # these two are put here by `methods`
    at: Callable

    def __init__(self, name: str, compute: Callable) -> None:
        self.key, self._compute, self._casting = name, compute, "unsafe" if name == "copy" else "same_kind"
        self.name = self.__name__ = f"cupy_{name}"
        operands, results = SIGNATURES[name][0].split("->")
        self.nin, self.nout, self.nargs = len(operands), len(results), len(operands) + len(results)

    def __repr__(self) -> str:
        return f"<ufunc {self.name!r}>"

    def __call__(
        self, *args: Any, out: Any = None, dtype: Any = None, casting: str | None = None, **unknown: Any
    ) -> Any:
        if unknown:
            raise TypeError(f"Wrong arguments {unknown}")
        inputs, outs = self._sort(args, out)
        shape = broadcast_shapes(*(getattr(each, "shape", ()) for each in (*inputs, *outs) if each is not None))
        operands, results = self._loop(inputs, dtype)
        _admit(outs, results, shape, casting or self._casting)
        if 0 not in shape and streams.is_capturing():
            outs = [ndarray(shape, of) if out is None else out for out, of in zip(outs, results)]
            arrays = [each.elements for each in (*inputs, *outs) if isinstance(each, ndarray)]
            again = partial(self, *inputs, out=tuple(outs), dtype=dtype, casting=casting)
            if streams.captured(self.name, arrays, again):
                return outs[0] if self.nout == 1 else tuple(outs)
        values = self.apply([elements(each) for each in inputs], (operands, results))
        made = [fresh(value) if out is None else out for value, out in zip(values, outs)]
        if 0 not in shape:
            loads = [each for each in inputs if isinstance(each, ndarray)]
            arithmetic = self._arithmetic(inputs, (operands, results), made)
            launches.elementwise(self.name, shape, loads, made, partial(_store, values, outs), arithmetic)
        return made[0] if self.nout == 1 else tuple(made)

    def apply(self, values: Sequence, loop: Loop) -> tuple[np.ndarray, ...]:
        """The results for NumPy arrays and plain numbers. loop: the types to compute with."""
        with np.errstate(all="ignore"):
            flush = (lambda value: value) if self.key in UNFLUSHED else flushed
            if self.key in COMPARISONS and any(map(_is_beyond, values, loop[0])):
                return (np.asarray(getattr(np, self.key)(*values)),)
            results = self._compute(*(flush(_as(value, dtype)) for value, dtype in zip(values, loop[0])))
        results = results if isinstance(results, tuple) else (results,)
        return tuple(convert(flush(np.asarray(result)), dtype) for result, dtype in zip(results, loop[1]))

    def _arithmetic(self, inputs: list, loop: Loop, made: list[ndarray]) -> Counts:
        """The kernel's operations in float64, and its conversions."""
        elements = made[0].size
        inside = [wanted if wanted.kind in "fc" else result for wanted, result in zip(loop[0], loop[1] * len(loop[0]))]
        pairs = [
            *zip([getattr(each, "dtype", None) for each in inputs], inside),
            *zip(loop[1], [each.dtype for each in made]),
        ]
        changed = sum(old is not None and converts(old, new) for old, new in pairs)
        wide = self.key not in UNFLUSHED and any(dtype in WIDE for dtypes in loop for dtype in dtypes)
        return Counts(float64=wide * elements, conversions=changed * elements)

    def _sort(self, args: tuple, out: Any) -> tuple[list, list]:
        """Operands, and results that the caller gave (else None)."""
        if not self.nin <= len(args) <= self.nargs:
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}. It must be either {self.nin} or "
                f"{self.nargs} (with outputs), but given {len(args)}."
            )
        outs = list(args[self.nin :])
        if out is not None:
            if outs:
                raise ValueError("Cannot specify 'out' as both a positional and keyword argument")
            if isinstance(out, tuple) and len(out) != self.nout:
                raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
            if not isinstance(out, tuple) and self.nout != 1:
                raise ValueError("'out' must be a tuple of arrays")
            outs = list(out) if isinstance(out, tuple) else [out]
        outs += [None] * (self.nout - len(outs))
        return [operand(each) for each in args[: self.nin]], [each if each is None else operand(each) for each in outs]

    def _loop(self, inputs: list, dtype: Any) -> Loop:
        """The types to compute with: those that fit the operands, or the first that gives `dtype`."""
        types = tuple(type_of(each) for each in inputs)
        if dtype is not None:
            types = np.dtype(dtype)
            loop = next((loop for loop in loops(self.key) if set(loop[1]) == {types}), None)
        else:
            loop = choose(self.key, types)
            types = tuple(WEAK.get(each, each) for each in types)
        if loop is None:
            raise TypeError(f"Wrong type ({types}) of arguments for {self.name}")
        if self.key in NO_BOOL and loop[0][0] == bool:
            raise TypeError(NO_BOOL[self.key])
        return loop

    # The methods of a ufunc ----------------------------------------------------------------------

    def reduce(
        self, array: ndarray, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> ndarray:
        return self._as_method("reduce", {"add": "sum", "multiply": "prod"}, array)(axis, dtype, out, keepdims)

    def accumulate(self, array: ndarray, axis: Any = 0, dtype: Any = None, out: Any = None) -> ndarray:
        return self._as_method("accumulate", {"add": "cumsum", "multiply": "cumprod"}, array)(axis, dtype, out)

    def _as_method(self, method: str, names: dict[str, str], array: ndarray) -> Callable:
        if self.key not in names:
            raise NotImplementedError(f"`{self.name}.{method}` is not supported yet")
        return getattr(array, names[self.key])


# Operands and results ----------------------------------------------------------------------------


def _as(value: Any, dtype: np.dtype) -> np.ndarray:
    """An operand in the type that the loop computes with. OverflowError for a whole number that does not fit."""
    return convert(value, dtype) if isinstance(value, np.ndarray) else np.array(value, dtype)


def _is_beyond(value: Any, dtype: np.dtype) -> bool:
    """Is it a whole number that does not fit? Compared with all that fit, it is the same for each."""
    if type(value) is not int or dtype.kind not in "iu":
        return False
    return not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max


def _admit(outs: list, types: tuple, shape: tuple[int, ...], casting: str) -> None:
    for out, dtype in zip(outs, types):
        if out is None:
            continue
        if not isinstance(out, ndarray):
            raise TypeError("Output arguments type must be cupy.ndarray")
        if out.shape != shape:
            raise ValueError("Out shape is mismatched")
        check_cast(dtype, out.dtype, casting, "output operand")


def _store(values: Sequence[np.ndarray], outs: list) -> None:
    """Write the results for which the caller gave arrays."""
    for value, out in zip(values, outs):
        if out is not None:
            out.elements[...] = convert(value, out.dtype)


# Where the device's arithmetic is not NumPy's ----------------------------------------------------


def _floor_divide(a: Any, b: Any) -> Any:
    return np.floor(np.true_divide(a, b)) if a.dtype.kind in "fV" else np.floor_divide(a, b)


def _remainder(a: Any, b: Any) -> Any:
    return a - _floor_divide(a, b) * b if a.dtype.kind in "fV" else np.remainder(a, b)


def _divmod(a: Any, b: Any) -> Any:
    return _floor_divide(a, b), _remainder(a, b)


def _power(a: Any, b: Any) -> Any:
    """To a negative whole power: 0, but for 1 and -1."""
    if a.dtype.kind not in "iu":
        return np.power(a, b)
    negative = np.where(a == 1, 1, np.where(a == -1, 1 - 2 * (b & 1), 0))
    return np.where(b < 0, negative, np.power(a, np.maximum(b, 0)))


def _reciprocal(a: Any) -> Any:
    return np.where(a == 0, 0, np.reciprocal(np.where(a == 0, 1, a))) if a.dtype.kind in "iu" else np.reciprocal(a)


def _clip(a: Any, low: Any, high: Any) -> Any:
    return np.where(low > high, high, np.where(a < low, low, np.where(a > high, high, a)))


def _copy(a: Any) -> Any:
    return a


OWN: dict[str, Callable] = {
    "floor_divide": _floor_divide,
    "remainder": _remainder,
    "divmod": _divmod,
    "power": _power,
    "reciprocal": _reciprocal,
    "clip": _clip,
    "copy": _copy,
}

ufuncs = {name: ufunc(name, OWN[name] if name in OWN else getattr(np, name)) for name in SIGNATURES}
copy_elements, choose_elements, clip_elements = (ufuncs.pop(name) for name in ("copy", "where", "clip"))
ufuncs |= {alias: ufuncs[name] for alias, name in ALIASES.items()}
