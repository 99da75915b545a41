"""Inputs on which lucky code fails.

All values of an array are distinct (as far as its dtype can tell), none is 0, and no array equals its
transpose, its reverse or a sorted copy but by chance. Each array has a scale and a mean of its own: swapped,
repeated or forgotten arguments show. The mean is not 0, so that a forgotten element, a sum that cancels or a
maximum that is not subtracted shows; for matrices it is so small that a product's mean and its spread are of
one size: a large mean would hide what differs from element to element.
"""

import numpy as np
from numpy.typing import DTypeLike


def matrices(rng: np.random.Generator, *shapes: tuple[int, ...], dtype: DTypeLike = np.float64) -> list[np.ndarray]:
    """NumPy arrays of these shapes. The last length of the first shape counts as that of the sums to come."""
    length = max(1, shapes[0][-1])
    lean = length**-0.25  # a product's mean, length * lean**2, then equals its spread, length**0.5
    return [values(rng, shape, lean).astype(dtype) for shape in shapes]


def vectors(rng: np.random.Generator, n: int, count: int = 2) -> list:
    """`count` tensors of n float32 values, on the GPU where there is one."""
    import torch

    from tools import gpu

    return [torch.from_numpy(values(rng, (n,), lean=0.5)).to(gpu.device, torch.float32) for _ in range(count)]


def integers(rng: np.random.Generator, shape: tuple[int, ...], low: int, high: int) -> np.ndarray:
    """int64 values with low <= value < high; all distinct where the range has enough of them."""
    count = int(np.prod(shape))
    return low + rng.choice(high - low, count, replace=count > high - low).reshape(shape)


def awkward_lengths(block: int) -> list[int]:
    """Lengths that find a wrong mask or grid: 0, 1, around one block, and a prime: two blocks and a rest."""
    prime = 2 * block + 1
    while any(prime % divisor == 0 for divisor in range(2, int(prime**0.5) + 1)):
        prime += 1
    return sorted({0, 1, block - 1, block, block + 1, prime})


def values(rng: np.random.Generator, shape: tuple[int, ...], lean: float) -> np.ndarray:
    """float64 values with a random scale (0.5 to 2, times 1) and a mean of about `lean` times that scale.

    One value from each of n equal slices of the range, in random order: evenly spread, never twice the same.
    """
    count = int(np.prod(shape))
    slices = (rng.permutation(count) + rng.uniform(0.01, 0.99, count)) / max(1, count)
    spread = (slices - 0.5) * np.sqrt(12)  # mean 0, standard deviation 1
    scale = 2.0 ** rng.uniform(-1, 1)
    mean = lean * rng.uniform(0.7, 1.3) * rng.choice([-1, 1])
    return (scale * (spread + mean)).reshape(shape)
