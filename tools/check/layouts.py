"""The same values elsewhere in memory: what a function that trusts its inputs to be contiguous gets wrong."""

from collections.abc import Iterator

from tools.check import arrays
from tools.check.arrays import Array

OFFSET = 3  # elements; odd, so that no alignment is left


def others(name: str, array: Array) -> Iterator[tuple[str, Array]]:
    """(how it lies, array) for each other layout of the argument `name`: equal values, dtype and device.

    What lies between the elements of a window is poison. Nothing for arrays of fewer than two elements, whose
    strides are never used.
    """
    if arrays.size(array) < 2:
        return
    if array.ndim > 1:
        words = "column by column" if array.ndim == 2 else "with its axes in reverse order"
        turned = reverse_axes(copied_into(reverse_axes(array)))
        yield f"{name} stored {words} (strides {strides(turned)})", turned
    every = {1: "element", 2: "column"}.get(array.ndim, "element of the last axis")
    wide = arrays.full(array, (*array.shape[:-1], 2 * array.shape[-1]), arrays.poison(array))
    window = wide[..., ::2]
    window[...] = array
    yield f"{name} every second {every} of a larger array (strides {strides(window)})", window
    longer = arrays.full(array, (arrays.size(array) + OFFSET,), arrays.poison(array))
    shifted = longer[OFFSET:].reshape(array.shape)
    shifted[...] = array
    yield f"{name} stored {OFFSET} elements after the start of its memory", shifted


def reverse_axes(array: Array) -> Array:
    order = tuple(reversed(range(array.ndim)))
    return array.permute(order) if arrays.is_tensor(array) else array.transpose(order)


def copied_into(array: Array) -> Array:
    """A contiguous copy."""
    copy = arrays.full(array, tuple(array.shape), arrays.poison(array))
    copy[...] = array
    return copy


def strides(array: Array) -> tuple[int, ...]:
    """As the library counts them: in bytes for NumPy, in elements for PyTorch."""
    return tuple(array.stride()) if arrays.is_tensor(array) else array.strides
