"""Kernels with one named fault each, and how it must be told."""

from dataclasses import dataclass, field

import numpy as np

from tools.sim import cuda

ALL = 0xFFFFFFFF
BLOCK, HUGE = 64, 16384


@dataclass(frozen=True)
class Faulty:
    """words: must occur in the fault's text. at: what the marked line of the kernel contains. where: of the fault."""

    kernel: object
    kind: str
    words: tuple[str, ...]
    at: str = ""
    block: int | tuple = BLOCK
    grid: int | tuple = 1
    make: object = lambda: (np.arange(BLOCK, dtype=np.float32),)
    where: dict = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.kernel.py_func.__name__

    def run(self) -> None:
        self.kernel[self.grid, self.block](*self.make())


def in_block(block: int, thread: int, **where) -> dict:
    return {"block": (block, 0, 0), "thread": (thread, 0, 0), **where}


@cuda.jit
def past_the_end(x):
    i = cuda.grid(1)
    x[i] = 1.0


@cuda.jit
def past_the_end_of_a_row(x):
    column, row = cuda.grid(2)
    x[row, column] += 1.0


@cuda.jit
def before_the_start(x):
    i = cuda.grid(1)
    x[i] = x[i - 1]


@cuda.jit
def past_the_end_of_shared(x):
    s = cuda.shared.array(32, np.float32)
    s[cuda.threadIdx.x] = x[cuda.threadIdx.x]


@cuda.jit
def past_the_end_of_local(x):
    powers = cuda.local.array(4, np.float32)
    for k in range(5):
        powers[k] = x[k]


@cuda.jit
def reads_what_nobody_wrote(x):
    s = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    if t < 32:
        s[t] = x[t]
    cuda.syncthreads()
    x[t] = s[t]


@cuda.jit
def reads_too_early(x):
    s = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    x[t] = s[BLOCK - 1 - t]


@cuda.jit
def writes_too_early(x):
    s = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    other = s[BLOCK - 1 - t]
    s[t] = other


@cuda.jit
def writes_one_cell(x):
    s = cuda.shared.array(1, np.float32)
    s[0] = x[cuda.threadIdx.x]


@cuda.jit
def warp_reads_too_early(x):
    s = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    x[t] = s[31 - t]


@cuda.jit
def warp_writes_too_early(x):
    s = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncwarp()
    other = s[31 - t]
    s[t] = other


@cuda.jit
def warp_writes_one_cell(x):
    s = cuda.shared.array(16, np.float32)
    t = cuda.threadIdx.x
    s[t // 2] = x[t]


@cuda.jit
def blocks_write_one_cell(x):
    if cuda.threadIdx.x == 0:
        x[0] = cuda.blockIdx.x


@cuda.jit
def adds_without_atomics(x):
    x[cuda.grid(1) % 4] += 1.0


@cuda.jit
def barrier_in_a_branch(x):
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncthreads()
    x[t] = t


@cuda.jit
def barrier_in_a_ragged_loop(x):
    t = cuda.threadIdx.x
    for _ in range(t % 3):
        cuda.syncthreads()
    x[t] = t


@cuda.jit
def shuffle_from_outside_the_branch(x):
    t = cuda.threadIdx.x
    inside = cuda.ballot_sync(ALL, t % 32 < 8)
    if t % 32 < 8:
        x[t] = cuda.shfl_down_sync(inside, x[t], 4)


@cuda.jit
def mask_of_lanes_elsewhere(x):
    t = cuda.threadIdx.x
    if t % 32 < 8:
        x[t] = cuda.shfl_xor_sync(ALL, x[t], 1)


@cuda.jit
def mask_without_oneself(x):
    t = cuda.threadIdx.x
    x[t] = cuda.popc(cuda.ballot_sync(0xFF, x[t] > 0))


@cuda.jit
def waits_for_ever(x):
    while x[0] == 0.0:
        pass


@cuda.jit
def counter_that_stays(x):
    k = 0
    while k < 10:
        x[cuda.threadIdx.x] = k


@cuda.jit
def wants_too_much_shared(x):
    s = cuda.shared.array(HUGE, np.float64)
    s[cuda.threadIdx.x] = x[cuda.threadIdx.x]


@cuda.jit
def misaligned(x):
    x[cuda.threadIdx.x] = 1.0


def unaligned_array() -> tuple:
    """float32 elements that begin one byte too late."""
    return (cuda.to_device(np.zeros(4 * BLOCK + 1, np.uint8))[1:].view(np.float32),)


FAULTY = [
    Faulty(
        past_the_end,
        "out_of_bounds",
        ("thread 6 of block 1", "x"),
        "x[i] = 1.0",
        grid=2,
        make=lambda: (np.zeros(70, np.float32),),
        where=in_block(1, 6, array="x", index=(70,)),
    ),
    Faulty(
        past_the_end_of_a_row,
        "out_of_bounds",
        ("x", "[0, 5]"),
        "x[row, column]",
        block=(8, 2),
        make=lambda: (np.zeros((4, 5)),),
        where={"thread": (5, 0, 0), "array": "x", "index": (0, 5)},
    ),
    Faulty(
        before_the_start, "negative_index", ("thread 0", "-1"), "x[i - 1]", where=in_block(0, 0, array="x", index=(-1,))
    ),
    Faulty(
        past_the_end_of_shared,
        "out_of_bounds",
        ("thread 32", "s"),
        "s[cuda.threadIdx.x]",
        where=in_block(0, 32, array="s", index=(32,)),
    ),
    Faulty(
        past_the_end_of_local,
        "out_of_bounds",
        ("thread 0", "powers"),
        "powers[k]",
        where=in_block(0, 0, array="powers", index=(4,)),
    ),
    Faulty(
        reads_what_nobody_wrote, "uninitialised", ("thread 32", "s"), "x[t] = s[t]", where=in_block(0, 32, array="s")
    ),
    Faulty(reads_too_early, "race", ("read-after-write", "barrier", "s"), "s[BLOCK - 1 - t]", where={"array": "s"}),
    Faulty(writes_too_early, "race", ("write-after-read", "barrier", "s"), "s[t] = other", where={"array": "s"}),
    Faulty(writes_one_cell, "race", ("write-after-write", "s"), "s[0] =", where={"array": "s"}),
    Faulty(warp_reads_too_early, "race", ("read-after-write", "syncwarp"), "s[31 - t]", block=32, where={"array": "s"}),
    Faulty(
        warp_writes_too_early, "race", ("write-after-read", "syncwarp"), "s[t] = other", block=32, where={"array": "s"}
    ),
    Faulty(
        warp_writes_one_cell, "race", ("write-after-write", "in one step"), "s[t // 2]", block=32, where={"array": "s"}
    ),
    Faulty(blocks_write_one_cell, "race", ("write-after-write", "Blocks"), "x[0] =", grid=4, where={"array": "x"}),
    Faulty(adds_without_atomics, "race", ("x",), "x[cuda.grid(1) % 4] +=", where={"array": "x"}),
    Faulty(barrier_in_a_branch, "divergent_barrier", ("thread 0", "48"), "cuda.syncthreads()", where=in_block(0, 0)),
    Faulty(barrier_in_a_ragged_loop, "divergent_barrier", ("waits",), "cuda.syncthreads()"),
    Faulty(shuffle_from_outside_the_branch, "shuffle", ("thread 4", "lane 8"), "shfl_down_sync", where=in_block(0, 4)),
    Faulty(mask_of_lanes_elsewhere, "warp_mask", ("thread 0", "0xffffffff"), "shfl_xor_sync", where=in_block(0, 0)),
    Faulty(mask_without_oneself, "warp_mask", ("thread 8", "0x000000ff"), "ballot_sync", where=in_block(0, 8)),
    Faulty(waits_for_ever, "endless_loop", ("loop",), "while", block=1),
    Faulty(counter_that_stays, "endless_loop", ("loop",), "while"),
    Faulty(wants_too_much_shared, "shared_memory", ("131,072",), "cuda.shared.array"),
    Faulty(misaligned, "misaligned", ("float32", "x"), "x[cuda.threadIdx.x]", make=unaligned_array),
]
