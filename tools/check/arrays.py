"""Arrays of NumPy, PyTorch and CuPy through one set of questions. Neither PyTorch nor CuPy is imported here: if it
is not loaded, no value can be of it."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tools.wire import cupy_of

Array = Any  # an array of one of the three: they share no type


def is_tensor(value: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: object) -> bool:
    """Is it an array of NumPy or CuPy, or a tensor? (A NumPy scalar is neither.)"""
    return library(value) is not None


def library(value: object) -> str | None:
    """ "numpy", "torch" or "cupy", whose array it is; None for any other value. CuPy's stand-in counts as CuPy."""
    if isinstance(value, np.ndarray):
        return "numpy"
    if is_tensor(value):
        return "torch"
    return "cupy" if cupy_of(value) else None


def dtype_name(dtype: Any) -> str:
    """'float32' for np.float32, np.dtype('float32'), torch.float32 and 'float32' alike."""
    if isinstance(dtype, str):
        return dtype
    text = str(dtype)
    return text.removeprefix("torch.") if text.startswith("torch.") else np.dtype(dtype).name


def is_float(array: Array) -> bool:
    """Does it hold floating-point numbers? bfloat16 and the 8-bit formats count."""
    return dtype_name(array.dtype).startswith(("float", "bfloat"))


def size(array: Array) -> int:
    return array.numel() if is_tensor(array) else array.size


def to_numpy(array: Array) -> np.ndarray:
    """The values as a NumPy array; formats that NumPy lacks (bfloat16, 8-bit floats) as float32."""
    known = hasattr(np, dtype_name(array.dtype))
    if is_tensor(array):
        array = array.detach().cpu()
        return (array if known else array.float()).numpy()
    if cupy_of(array):
        array = array.get()
    return np.asarray(array if known else array.astype(np.float32))


def in_numpy(array: Array) -> np.ndarray:
    """The values as a NumPy array of the same dtype, through ml_dtypes for those that NumPy lacks."""
    values, name = to_numpy(array), dtype_name(array.dtype)
    if dtype_name(values.dtype) == name:
        return values
    import ml_dtypes

    return values.astype(getattr(ml_dtypes, name))


def like(values: np.ndarray, original: Array) -> Array:
    """A copy of NumPy values in the kind, dtype and device of `original`; of a tensor, with the values' strides."""
    if cupy := cupy_of(original):
        return cupy.asarray(values.astype(original.dtype))
    if not is_tensor(original):
        return values.astype(original.dtype)
    torch = sys.modules["torch"]
    strides = in_elements(values)
    made = (
        torch.empty(values.shape, dtype=original.dtype, device=original.device)
        if strides is None
        else torch.empty_strided(values.shape, strides, dtype=original.dtype, device=original.device)
    )
    return made.copy_(torch.from_numpy(np.array(to_numpy(values))))


def in_elements(values: np.ndarray) -> tuple[int, ...] | None:
    """The strides of an array, counted in its elements; None where two elements may share one place."""
    steps = sorted((step, length) for step, length in zip(values.strides, values.shape) if length > 1)
    reached = -min(values.strides, default=0)
    for step, length in steps:
        if step <= reached or step % values.itemsize:
            return None
        reached += step * (length - 1)
    return tuple(step // values.itemsize for step in values.strides) if values.size else None


def in_float64(array: Array) -> Array:
    """A copy in float64 if the array holds floats (complex128 if complex), else the array itself."""
    name = dtype_name(array.dtype)
    if not is_float(array) and not name.startswith("complex"):
        return array
    wide = "float64" if is_float(array) else "complex128"
    return array.detach().to(getattr(sys.modules["torch"], wide)) if is_tensor(array) else array.astype(wide)


def full(like: Array, shape: tuple[int, ...], fill: object) -> Array:
    """A new array in the kind, dtype and device of `like`, holding `fill` everywhere."""
    if is_tensor(like):
        return sys.modules["torch"].full(shape, fill, dtype=like.dtype, device=like.device)
    return (cupy_of(like) or np).full(shape, fill, dtype=like.dtype)


def poison(array: Array) -> bool | int | float:
    """A value that no correct code leaves behind: NaN, the largest integer, or True."""
    name = dtype_name(array.dtype)
    if name == "bool":
        return True
    return np.iinfo(name).max if "int" in name else float("nan")


def change_arrays(change: Callable, value: object) -> Any:
    """The same nest of tuples, lists and dicts with change(array) in place of each array."""
    if is_array(value):
        return change(value)
    if isinstance(value, (tuple, list)):
        return type(value)(change_arrays(change, part) for part in value)
    if isinstance(value, dict):
        return {key: change_arrays(change, part) for key, part in value.items()}
    return value


def places(value: object, place: str = "") -> Iterator[tuple[str, Array]]:
    """Each array in a nest of tuples, lists and dicts with its place: "[0]", "['k'][1]", or "" for itself."""
    if is_array(value):
        yield place, value
    elif isinstance(value, (tuple, list, dict)):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, f"{place}[{key!r}]")


def all_arrays(value: object) -> list[Array]:
    return [array for _, array in places(value)]
