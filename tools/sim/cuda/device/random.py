"""numba.cuda.random: one xoroshiro128+ generator for each thread, the very numbers of numba-cuda 0.30.

D. Blackman, S. Vigna, "Scrambled linear pseudorandom number generators", 2018; the generators of an array are 2**64
steps apart. The normal numbers of a GPU may differ in the last bits, as its sine and logarithm do.
"""

import numpy as np

from tools.sim import floats
from tools.sim.cuda.host.arrays import to_device
from tools.sim.cuda.run.intrinsic import intrinsic
from tools.sim.cuda.run.warps import current

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)

JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)  # the polynomial of 2**64 steps
BITS = 128  # of a state


# On the host -------------------------------------------------------------------------------------


def create_xoroshiro128p_states(n, seed, subsequence_start=0, stream=0):
    """A device array of n states. Generator i begins 2**64 * (subsequence_start + i) steps after the seed's state."""
    return to_device(states(n, seed, subsequence_start), stream=stream)


def states(n: int, seed: int, start: int = 0) -> np.ndarray:
    """The same on the host: xoroshiro128p_dtype[n]."""
    first = np.zeros(1, xoroshiro128p_dtype)
    first["s0"] = first["s1"] = _scrambled(seed)
    one = jump = _matrix()  # jump: of 1, 2, 4, ... times 2**64 steps
    found = _to_bits(first)
    while start:
        if start & 1:
            found = found @ jump % 2
        jump, start = jump @ jump % 2, start >> 1
    jump = one
    while len(found) < n:
        found, jump = np.concatenate([found, found @ jump % 2]), jump @ jump % 2
    return _from_bits(found[:n])


def _scrambled(seed: int) -> np.uint64:
    """splitmix64 of the seed."""
    z = (seed + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return np.uint64(z ^ z >> 31)


def _matrix() -> np.ndarray:
    """A jump of 2**64 steps is linear in the bits of a state: [128, 128], row i for bit i."""
    each = _from_bits(np.eye(BITS, dtype=np.float32))
    after = np.zeros_like(each)
    for polynomial in JUMP:
        for bit in range(64):
            if polynomial >> bit & 1:
                after["s0"] ^= each["s0"]
                after["s1"] ^= each["s1"]
            each, _ = _advanced(each)
    return _to_bits(after)


def _to_bits(some: np.ndarray) -> np.ndarray:
    """xoroshiro128p_dtype[n] -> float32[n, 128], for whose products NumPy is fast."""
    return np.unpackbits(some.view(np.uint8).reshape(-1, BITS // 8), axis=1, bitorder="little").astype(np.float32)


def _from_bits(bits: np.ndarray) -> np.ndarray:
    return np.packbits(bits.astype(np.uint8), axis=1, bitorder="little").view(xoroshiro128p_dtype).ravel()


def _advanced(some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The states after one step, and the numbers of that step."""
    s0, s1 = some["s0"], some["s0"] ^ some["s1"]
    after = np.empty_like(some)
    after["s0"] = _rotated(s0, 55) ^ s1 ^ s1 << np.uint64(14)
    after["s1"] = _rotated(s1, 36)
    return after, s0 + some["s1"]


def _rotated(x: np.ndarray, count: int) -> np.ndarray:
    return x << np.uint64(count) | x >> np.uint64(64 - count)


# In kernels --------------------------------------------------------------------------------------


def _next(states, index) -> np.ndarray:
    """The next number of each lane's generator. A state is counted as one load and one store of 16 bytes."""
    lanes, offsets = current(), states.locate(index)
    states.touch(offsets, "load")
    states.touch(offsets, "store")
    memory, places = states.storage_and_keys(offsets)
    numbers, places = np.zeros(lanes.count, np.uint64), places[lanes.mask]
    memory[places], numbers[lanes.mask] = _advanced(memory[places])
    return numbers


def _uniform(states, index) -> np.ndarray:
    floats.note(float64=1, conversions=1)
    return (_next(states, index) >> np.uint64(11)) * 2.0**-53


def _uniform_float32(states, index) -> np.ndarray:
    """By way of float64."""
    floats.note(float64=0, conversions=1)
    return _uniform(states, index).astype(np.float32)


def _normal(states, index, kind: type) -> np.ndarray:
    """Box and Muller; its numbers come from float32, also where the result is float64."""
    u1, u2 = (_uniform_float32(states, index) for _ in range(2))
    if kind is np.float64:
        floats.note(float64=5, conversions=2)  # three products, a root and a cosine; of two numbers
    return np.sqrt(kind(-2) * np.log(u1)) * np.cos(kind(2 * np.pi) * u2)


@intrinsic(name="xoroshiro128p_next")
def xoroshiro128p_next(states, index):
    """The next number of the generator states[index]: uint64."""
    return _next(states, index)


@intrinsic(name="xoroshiro128p_uniform_float32")
def xoroshiro128p_uniform_float32(states, index):
    """A number from 0 to 1; rounding makes 1 possible."""
    return _uniform_float32(states, index)


@intrinsic(name="xoroshiro128p_uniform_float64")
def xoroshiro128p_uniform_float64(states, index):
    """A number from 0 to 1, without 1."""
    return _uniform(states, index)


@intrinsic(name="xoroshiro128p_normal_float32")
def xoroshiro128p_normal_float32(states, index):
    """A normally distributed number, mean 0 and variance 1; two steps of the generator."""
    return _normal(states, index, np.float32)


@intrinsic(name="xoroshiro128p_normal_float64")
def xoroshiro128p_normal_float64(states, index):
    """The same in float64."""
    return _normal(states, index, np.float64)
