"""A small day whose kernels count and show look at: in CUDA, so that its tests need neither Triton nor a GPU."""

import shutil
from pathlib import Path

from tools.tests.course.miniature import DAY, write

LESSON = '''"""Week 1, day 1: small"""

import numpy as np

from tools.gpu import cuda


# Task 1
@cuda.jit
def add_kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def add(x, y):
    out = np.empty_like(x)
    add_kernel[4, 32](x, y, out)
    return out


# Task 2
@cuda.jit
def turn_kernel(x, out):
    row, col = cuda.grid(2)
    out[row, col] = x[row, col]


def turn(x):
    out = np.empty_like(x)
    turn_kernel[(1, 1), (32, 8)](x, out)
    return out
'''

ADD = (
    'Workload("add", lambda n, rng: arrays(rng, n, n), (n,), (n,), n, lambda n: f"{n} float32", '
    "lambda n: 12 * n, lambda n: n, {})"
)
TURN = (
    'Workload("turn", lambda n, rng: arrays(rng, (32, 8)), (n,), (n,), n, lambda n: "32 x 8 float32", '
    "lambda n: 8 * 256, lambda n: 0, {})"
)
BENCH = '''"""Calls of a small day."""

from tools.course.content.workload import Workload, arrays

n = 128
WORKLOADS = ({ADD}, {TURN})
'''.replace("{ADD}", ADD).replace("{TURN}", TURN)
GAP = LESSON.replace(
    "    out = np.empty_like(x)\n    turn_kernel[(1, 1), (32, 8)](x, out)\n    return out\n",
    '    raise NotImplementedError("week1/day1 task 2: turn")\n',
)


def write_day(root: Path, lesson: str = LESSON, bench: str = BENCH) -> None:
    """Write week1/day1 with this lesson below root; without `bench` it has no call to look at."""
    shutil.rmtree(root / "week1", ignore_errors=True)
    folder = write(root, lesson=lesson, day=DAY)
    if bench:
        (folder / "bench_small.py").write_text(bench, encoding="utf-8")
