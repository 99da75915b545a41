"""`python -m tools.tests.sim.cuda.speed`: this simulator beside Numba's, counters and race checks on, in one run.

Numba's simulator runs in a process of its own and takes minutes. --scale 10 makes all sizes ten times smaller.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

NUMBA = "NUMBA_ENABLE_CUDASIM"
if os.environ.get(NUMBA):
    from numba import cuda
else:
    from tools.sim import cuda

BLOCK, TILE = 256, 16
REPEATS = 5
AT_LEAST = {"vector add": 500, "block reduction": 500, "tiled matmul": 50}  # times as fast as Numba's
LARGE, LARGE_SECONDS = 1_000_000, 0.3  # a vector add, in this one alone


@cuda.jit
def vector_add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def block_reduction(x, out):
    s = cuda.shared.array(BLOCK, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def tiled_matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), np.float32)
    tile_b = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        tile_a[ty, tx] = a[row, start + tx]
        tile_b[ty, tx] = b[start + ty, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    c[row, column] = total


def add(size: int) -> Callable[[], None]:
    x, y, out = np.random.default_rng(0).random((3, size), np.float32)

    def run():
        vector_add[-(-size // BLOCK), BLOCK](x, y, out)
        assert np.array_equal(out, x + y)

    return run


def reduce(size: int) -> Callable[[], None]:
    blocks = -(-size // BLOCK)
    x, out = np.random.default_rng(0).random(size, np.float32), np.empty(blocks, np.float32)

    def run():
        block_reduction[blocks, BLOCK](x, out)
        assert np.isclose(out.sum(dtype=float), x.sum(dtype=float))

    return run


def multiply(size: int) -> Callable[[], None]:
    a, b, c = np.random.default_rng(0).random((3, size, size), np.float32)

    def run():
        tiled_matmul[(size // TILE, size // TILE), (TILE, TILE)](a, b, c)
        assert np.allclose(c, a @ b, rtol=1e-4)

    return run


def work(scale: int) -> dict[str, tuple[int, Callable[[], None]]]:
    """Size and launch of each kernel."""
    size, side = 100_000 // scale, max(1, 128 // scale // TILE) * TILE
    return {
        "vector add": (size, add(size)),
        "block reduction": (size, reduce(size)),
        "tiled matmul": (side, multiply(side)),
    }


def seconds(run: Callable[[], None], repeats: int) -> float:
    """The shortest of several runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def of_ours(scale: int) -> dict[str, float]:
    from tools.sim.recording import record

    times = {}
    for name, (_, run) in work(scale).items():
        run()
        with record():
            times[name] = seconds(run, REPEATS)
    with record():
        times["large"] = seconds(add(LARGE), REPEATS)
    return times


def of_numba(scale: int) -> dict[str, float]:
    """Measured in a process of its own, once each."""
    command = [sys.executable, "-m", "tools.tests.sim.cuda.speed", "--scale", str(scale), "--measure"]
    done = subprocess.run(command, env=os.environ | {NUMBA: "1"}, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def table(ours: dict[str, float], numba: dict[str, float], scale: int) -> list[str]:
    """The figures; a threshold is judged at full size only."""
    lines = [f"{'kernel':28}{'Numba, s':>10}{'ours, s':>10}{'times':>8}   at least"]
    for name, (size, _) in work(scale).items():
        times = numba[name] / ours[name]
        verdict = "" if scale > 1 else "  reached" if times >= AT_LEAST[name] else "  MISSED"
        figures = f"{numba[name]:10.2f}{ours[name]:10.4f}{times:8.0f}{AT_LEAST[name]:8}"
        lines.append(f"{f'{name}, {size:,}':28}{figures}{verdict}")
    verdict = "reached" if ours["large"] < LARGE_SECONDS else "MISSED"
    lines.append(f"{f'vector add, {LARGE:,}':28}{'':10}{ours['large']:10.4f}   under {LARGE_SECONDS} s  {verdict}")
    if scale > 1:
        lines.append(f"sizes divided by {scale}: what a launch costs at least weighs more than at full size")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.tests.sim.cuda.speed", description=__doc__)
    parser.add_argument("--scale", type=int, default=1, help="divide all sizes by this")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps({name: seconds(run, 1) for name, (_, run) in work(options.scale).items()}))
        return 0
    lines = table(of_ours(options.scale), of_numba(options.scale), options.scale)
    print("\n".join(lines))
    return any("MISSED" in line for line in lines)


if __name__ == "__main__":
    raise SystemExit(main())
