"""What a failure says of bank conflicts: the array, and two elements of the worst request that lie in one bank."""

import numpy as np
import pytest

from tools import gpu
from tools.check import count
from tools.check.diagnosis.counted import told_by_counters
from tools.gpu import cuda

pytestmark = [
    pytest.mark.skipif(gpu.card() is not None, reason="calls are made again in the simulator: run it with --sim"),
    pytest.mark.filterwarnings("ignore:(Grid size|Host array)"),  # small grids, on purpose
]

ASKS = "In which of the 32 banks does each thread of a warp find its element?"


@cuda.jit
def down_a_column(x, out):
    before = cuda.shared.array(8, np.float32)
    tile = cuda.shared.array((33, 32), np.float32)
    t = cuda.threadIdx.x
    if t < 8:
        before[t] = x[t]
    if t >= 2:
        tile[t, 1] = x[t]
    cuda.syncthreads()
    out[t] = tile[t, 1] if t >= 2 else before[t]


@cuda.jit
def every_eighth(x, out):
    wide = cuda.shared.array(512, np.float64)
    t = cuda.threadIdx.x
    wide[8 * (t % 32) + t // 32] = x[t]


@cuda.jit
def without_conflicts(x, out):
    shared = cuda.shared.array(32, np.float32)
    shared[cuda.threadIdx.x] = x[cuda.threadIdx.x]


@cuda.jit
def filled_by_one(x, out):
    shared = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    if t == 0:
        for i in range(32):
            shared[i] = x[i]
    cuda.syncthreads()
    out[t] = shared[t]


def told(kernel, asked: str, threads: int = 32) -> list[str]:
    x = np.ones(threads, np.float32)
    return told_by_counters(count(lambda: kernel[1, threads](x, np.zeros_like(x))), asked)


def test_the_worst_request_is_told_with_its_array_and_two_elements_that_lie_in_one_bank():
    for asked in ("assert counters.conflicts == 0", "assert counters.wavefronts == 3"):
        assert told(down_a_column, asked)[-2:] == [
            "tile is (33, 32), rows of 32. Elements 65 and 97 of tile are both in bank 1.",
            ASKS,
        ]


def test_an_array_without_rows_is_told_by_its_length_and_elements_of_any_size_are_counted():
    assert told(every_eighth, "assert counters.conflicts == 0", 64)[-2:] == [
        "wide is (512,). Elements 0 and 16 of wide are both in bank 0.",
        ASKS,
    ]


def test_a_call_that_takes_long_is_not_made_again():
    counters = count(lambda: down_a_column[1, 32](np.ones(32, np.float32), np.zeros(32, np.float32)))
    counters.call = counters.call._replace(seconds=1e3)
    *rows, question = told_by_counters(counters, "assert counters.conflicts == 0")
    assert all("wavefronts are conflicts" in row for row in rows) and question == ASKS


def line_of(text: str) -> int:
    with open(__file__) as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


def test_a_line_in_which_one_thread_asks_after_the_other_is_named():
    assert told(filled_by_one, "assert counters.wavefronts == 2")[-2:] == [
        f"In line {line_of('shared[i] = x[i]')} one thread of a warp asks at a time.",
        "How many could do it together, and for which element each?",
    ]


@pytest.mark.parametrize("kernel, asked", [(without_conflicts, "== 2"), (filled_by_one, "== 0"), (filled_by_one, "")])
def test_one_thread_is_not_blamed_for_what_its_requests_do_not_explain(kernel, asked):
    assert told(kernel, f"assert counters.wavefronts {asked}")[-1].endswith("and how often?")
