"""Numba's types, as far as signatures and arguments need them: cuda.float32, cuda.float32[:, ::1], cuda.void(...)."""

import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np


class Type:
    """A type; those of one name are equal. Called with types, it is a signature that returns it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *arguments: Any) -> Any:
        if all(isinstance(each, Type) for each in arguments):
            return Signature(arguments, self)
        raise NotImplementedError(f"a value of type {self} cannot be made by calling the type")

    def __getitem__(self, axes: Any) -> "Array":
        axes = axes if isinstance(axes, tuple) else (axes,)
        for each in axes:
            if not isinstance(each, slice) or (each.start, each.stop) != (None, None):
                raise KeyError(f"Can only index numba types with slices with no start or stop, got {each}.")
        return Array(self, len(axes), "C" if axes[-1].step == 1 else "F" if axes[0].step == 1 else "A")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Type) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


class Number(Type):
    """A type of numbers: float32(2.5) is such a number. of_numpy: its dtype; Numba's types are none themselves."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.of_numpy = np.dtype(name)

    def __call__(self, *arguments: Any) -> Any:
        if len(arguments) == 1 and not isinstance(arguments[0], Type):
            value = self.of_numpy.type(arguments[0])
            return value.item() if self.name == "bool" else value
        return super().__call__(*arguments)


class Array(Type):
    """Array(float32, 2, "C"): dtype is a type. layout: "C", "F", or "A" for any strides."""

    def __init__(self, dtype: Type, ndim: int, layout: str, readonly: bool = False) -> None:
        super().__init__(f"{'readonly ' * readonly}array({dtype}, {ndim}d, {layout})")
        self.dtype, self.ndim, self.layout, self.readonly = dtype, ndim, layout, readonly

    def __repr__(self) -> str:
        return f"Array({self.dtype}, {self.ndim}, {self.layout!r}, {self.readonly}, aligned=True)"


class Tuple(Type):
    """Tuple((int64, float32))."""

    def __init__(self, types: Iterable[Type]) -> None:
        self.types = tuple(types)
        same = len(set(self.types)) == 1
        super().__init__(
            f"UniTuple({self.types[0]} x {len(self.types)})" if same else f"Tuple({', '.join(map(str, self.types))})"
        )


def UniTuple(dtype: Type, count: int) -> Tuple:  # noqa: N802, as Numba calls it
    """UniTuple(int64, 3): three of a type."""
    return Tuple([dtype] * count)


class Signature(NamedTuple):
    """Types of the arguments, and of the result: None where it is not said."""

    arguments: tuple[Type, ...]
    result: Type | None


ALIASES = {
    "bool": "b1 bool_ boolean",
    "int8": "i1 char",
    "int16": "i2 short",
    "int32": "i4 intc",
    "int64": "i8 int_ intp long_ longlong ssize_t",
    "uint8": "u1 byte uchar",
    "uint16": "u2 ushort",
    "uint32": "u4 uintc",
    "uint64": "u8 uint uintp ulong ulonglong size_t",
    "float16": "f2",
    "float32": "f4",
    "float64": "f8 double",
    "complex64": "c8",
    "complex128": "c16",
}
NUMBERS = {np.dtype(name): Number(name) for name in ALIASES}
NONE = Type("none")
NAMES = {"void": NONE, "none": NONE} | {
    alias: NUMBERS[np.dtype(name)] for name, aliases in ALIASES.items() for alias in (name, *aliases.split())
}


def __getattr__(name: str) -> Type:
    """types.float32. Not as globals, of which one would hide Python's bool."""
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return NAMES[name]


def is_signature(thing: object) -> bool:
    """Is it meant as one?"""
    return isinstance(thing, (str, tuple)) or _is_numbas(thing)


def _is_numbas(thing: object) -> bool:
    return type(thing).__module__.partition(".")[0] in ("numba", "numba_cuda")


def parse(signature: object) -> Signature:
    """A signature as people write it: "void(float32[:], int64)", (float32[:], int64), or void(float32[:], int64).

    TypeError, NameError or SyntaxError for anything else, as in Numba.
    """
    known = NAMES | {"Array": Array, "Tuple": Tuple, "UniTuple": UniTuple, "types": sys.modules[__name__]}
    parsed = eval(signature, {"__builtins__": {}, **known}) if isinstance(signature, str) else signature
    if isinstance(parsed, Signature):
        return parsed
    if any(map(_is_numbas, parsed if isinstance(parsed, tuple) else (parsed,))):
        raise TypeError(
            f"{signature} is made of types of the package numba.\n"
            "Take them from cuda, which has a GPU or simulates one: cuda.float32[:]."
        )
    if not isinstance(parsed, tuple):
        raise TypeError(
            f"invalid signature: {signature!r} (type: {type(signature).__name__!r})\nevaluates to "
            f"{type(parsed).__name__!r} instead of tuple or Signature"
        )
    for each in parsed:
        if not isinstance(each, Type):
            raise TypeError(f"invalid type in signature: expected a type instance, got {each!r}")
    return Signature(parsed, None)
