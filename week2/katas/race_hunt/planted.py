"""Eight kernels, each with the mistake that was planted in it; one has none. This file stays as it is.

    ./course python -m week2.katas.race_hunt.planted mirror

runs one of them on its sample, in the simulator, and prints the report; without a name, all eight. race_hunt.py has
the same kernels for you to mend, and says what each is to compute. sanitize.py runs those of this file on a GPU.
"""

import json
import os
import subprocess
import sys
import warnings

if __name__ == "__main__":
    os.environ["COURSE_SIM"] = "1"  # the simulator, on a machine with a GPU too

import tools.gpu  # a real GPU or a simulated one; before triton

from collections.abc import Callable

import numpy as np
import torch
import triton
import triton.language as tl
from tools.gpu import cuda

THREADS = 64  # of a block
HALO = 66     # THREADS, and one place on either side
PAIRS = 128   # 2 * THREADS
BINS = 16


@cuda.jit
def mirror_kernel(x, out):
    tile = cuda.shared.array(THREADS, np.float32)
    t = cuda.threadIdx.x
    for start in range(cuda.blockIdx.x * THREADS, x.size, cuda.gridsize(1)):
        tile[t] = x[start + t]
        cuda.syncthreads()
        out[start + t] = tile[THREADS - 1 - t]


@cuda.jit
def row_sums_kernel(x, out):
    sums = cuda.shared.array(THREADS, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    sums[t] = x[i]
    for step in (16, 8, 4, 2, 1):
        if t % 32 < step:
            sums[t] += sums[t + step]
    if t % 32 == 0:
        out[i // 32] = sums[t]


@cuda.jit
def below_largest_kernel(x, out):
    largest = cuda.shared.array(1, np.int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t == 0:
        largest[0] = 0
    cuda.syncthreads()
    if i < x.size:
        cuda.atomic.max(largest, 0, x[i])
        cuda.syncthreads()
        out[i] = largest[0] - x[i]


@cuda.jit
def snake_kernel(x, out):
    tile = cuda.shared.array(THREADS, np.float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    tile[t] = x[row, t]
    if row % 2 == 1:
        cuda.syncthreads()
        out[row, t] = tile[THREADS - 1 - t]
    else:
        out[row, t] = tile[t]


@cuda.jit
def histogram_kernel(x, out):
    bins = cuda.shared.array(BINS, np.int32)
    t = cuda.threadIdx.x
    if t < BINS:
        bins[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        bins[x[i]] += 1
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(out, t, bins[t])


@cuda.jit
def interleave_kernel(a, b, out):
    tile = cuda.shared.array(PAIRS, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[2 * t] = a[i]
    tile[t + 1] = b[i]
    cuda.syncthreads()
    for k in range(t, PAIRS, THREADS):
        out[cuda.blockIdx.x * PAIRS + k] = tile[k]


@cuda.jit
def triples_kernel(x, out):
    tile = cuda.shared.array(HALO, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t + 1] = x[i] if i < x.size else np.float32(0)
    if t == 0:
        tile[0] = x[i - 1] if i > 0 else np.float32(0)
    if t == THREADS:
        tile[HALO - 1] = x[i + 1] if i + 1 < x.size else np.float32(0)
    cuda.syncthreads()
    if i < x.size:
        out[i] = tile[t] + tile[t + 1] + tile[t + 2]


@triton.jit
def steps_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    after = tl.load(x_ptr + i + 1, mask=i < n, other=0.0)
    tl.store(out_ptr + i, after - x, mask=i < n)


# The samples --------------------------------------------------------------------------------------

def floats(*shape: int) -> torch.Tensor:
    return torch.ones(shape, device=tools.gpu.device).cumsum(-1)


def integers(n: int) -> torch.Tensor:
    """Below BINS, in no order."""
    return (torch.arange(n, device=tools.gpu.device) * 7 % BINS).int()


SAMPLES: dict[str, Callable[[], None]] = {
    "mirror": lambda: mirror_kernel[1, THREADS](floats(192), torch.empty_like(floats(192))),
    "row_sums": lambda: row_sums_kernel[2, THREADS](floats(128), torch.empty_like(floats(4))),
    "below_largest": lambda: below_largest_kernel[2, THREADS](integers(100), torch.empty_like(integers(100))),
    "snake": lambda: snake_kernel[4, THREADS](floats(4, THREADS), torch.empty_like(floats(4, THREADS))),
    "histogram": lambda: histogram_kernel[1, THREADS](integers(100), torch.zeros_like(integers(BINS))),
    "interleave": lambda: interleave_kernel[2, THREADS](floats(128), floats(128), torch.empty_like(floats(256))),
    "triples": lambda: triples_kernel[2, THREADS](floats(100), torch.empty_like(floats(100))),
    "steps": lambda: steps_kernel[(2,)](floats(100), torch.empty_like(floats(100)), 100, BLOCK=64),
}


def report(name: str) -> str:
    """What is said when a kernel runs on its sample: the fault, or that there was none."""
    warnings.filterwarnings("ignore", message="Grid size")  # Numba's advice to start more blocks
    try:
        SAMPLES[name]()
    except Exception as fault:
        return str(fault)
    return "No fault."


def reports() -> dict[str, str]:
    """What the simulator says of each kernel, on a machine with a GPU too."""
    if tools.gpu.card() is None:
        return {name: report(name) for name in SAMPLES}
    command = [sys.executable, "-m", "week2.katas.race_hunt.planted", "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    if sys.argv[1:] == ["--json"]:
        print(json.dumps(reports()))
    else:
        print("\n\n".join(f"{name}: {report(name)}" for name in sys.argv[1:] or SAMPLES))
