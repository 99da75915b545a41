"""Shapes, axes and memory orders as CuPy reads them, with its words for those that it refuses."""

import operator
from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np


def as_shape(shape: Any) -> tuple[int, ...]:
    """The shape as a tuple; a number alone is one axis. Raises TypeError, ValueError."""
    if shape is None:
        raise TypeError("Use () not None as shape arguments")
    lengths = tuple(shape) if np.iterable(shape) else (shape,)
    if any(isinstance(length, (bool, np.bool_)) for length in lengths):
        raise TypeError("an integer is required")
    lengths = tuple(map(operator.index, lengths))
    if any(length < 0 for length in lengths):
        raise ValueError("Negative dimensions are not allowed")
    return lengths


def infer(shape: Iterable[int], size: int) -> tuple[int, ...]:
    """The shape with its one unknown length, -1, filled in so that it holds `size` elements. Raises ValueError."""
    shape = tuple(map(operator.index, shape))
    unknown = [axis for axis, length in enumerate(shape) if length < 0]
    known = prod(length for length in shape if length >= 0)
    if len(unknown) > 1:
        raise ValueError("can only specify one unknown dimension")
    if known != size if not unknown else known == 0 or size % known:
        raise ValueError(f"cannot reshape array of size {size} into shape {shape}")
    return tuple(size // known if length < 0 else length for length in shape)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that all of these can be stretched to. ValueError if there is none."""
    axes = max(map(len, shapes), default=0)
    padded = [(1,) * (axes - len(shape)) + shape for shape in shapes]
    result = tuple(next((length for length in lengths if length != 1), 1) for lengths in zip(*padded))
    if any(length not in (1, common) for shape in padded for length, common in zip(shape, result)):
        raise ValueError("operands could not be broadcast together with shapes " + " ".join(map(str, shapes)))
    return result


def one_order(order: str | None, default: str = "C") -> Any:
    """The letter of a memory order: C, F, A or K. ValueError for anything else."""
    letter = (order or default)[0].upper()
    if letter not in "CFAK":
        raise ValueError("order not understood")
    return letter


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes that an argument `axis` names, counted from the front; None: all. Raises AxisError, ValueError."""
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(axis) if np.iterable(axis) else (axis,)
    for each in axes:
        if not -ndim <= operator.index(each) < ndim:
            raise np.exceptions.AxisError(each, ndim)
    axes = tuple(each % ndim for each in axes)
    if len(set(axes)) < len(axes):
        raise ValueError("duplicate value in 'axis'")
    return axes
