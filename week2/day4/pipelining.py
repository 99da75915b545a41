"""Week 2, day 4: pipelining

Challenge
    A tile is asked for, and hundreds of clocks later it is there. Use that time: let tiles arrive while you compute
    with earlier ones. Build the ring they arrive in, and predict how long the work takes with 1, 2, 3, ... slots. In a
    second sitting, tasks 3 to 5, write two products that ask ahead: one by hand, one by the compiler's copies.

        4 tiles; each takes 3 clocks to load (L) and 2 to compute with (C); a dot is a wait
        1 slot    slot 0  LLLCCLLLCCLLLCCLLLCC     20 clocks     tile 0, then 1, 2, 3
        2 slots   slot 0  LLLCCLLLCC               12 clocks     tiles 0 and 2
                  slot 1  LLL..CCLLLCC                           tiles 1 and 3
        3 slots   slot 0  LLLCCLLL.CC              11 clocks     tiles 0 and 3
                  slot 1  LLL..CC                                tile 1
                  slot 2  LLL....CC                              tile 2

Explore
    ./course python -c "from itertools import cycle; print(*zip(range(8), cycle('ABC')))"
    Eight items and a ring of three slots. Which item takes slot B for the second time, and which for the third?
    ./course week2/day4/explore_pipeline.py    From how many slots on does another one save nothing?

Concept
    Ring buffer: slots that are used again and again, in turn. The *producer* fills them, the *consumer* uses what is
    in them, both in the order of the items: with 3 slots items 0, 3, 6, ... take slot 0. A ring is full when every
    slot holds an item that is not used yet; then the producer waits. When it is empty, the consumer waits.
    Phase: 0 in the first round of the ring, 1 in the second, 0 in the third, and so on. Where the next item to load
    and the next to use are due at one slot, equal phases mean empty, different ones full. loaded - used tells it too.
    Pipeline: the load of a tile begins when its slot is free. Computing with it begins when it is there and the tile
    before it is done. Several loads may be on their way at once; computing is one tile at a time, and its tile keeps
    the slot until it is done. S slots are S *stages*; two are *double buffering*. *Makespan*: the time until all is
    done. Once the ring is full, a further tile adds, on average, the longer of compute and (load + compute) / S.
    Tile by tile it may be more or less: with two slots above, tile 2 adds 3 clocks and tile 3 adds 2.
    Prefetch: a load only asks. The GPU goes on until an instruction needs the value. So ask for the next tile, then
    compute with this one; at the end of a turn next_a becomes a. The last turn asks for a tile that does not exist:
    a mask, and no if, keeps it away from memory.
    cp.async: copies from global to shared memory that occupy no register. A thread asks for some, goes on, and waits
    for the oldest when it needs them. Triton writes them for you: tl.range(0, k, TILE_K, num_stages=S) is range with
    a ring of S slots in shared memory. num_stages=S in the launch does the same to a plain range; without it S is 3.
    With one stage nothing is loaded ahead: a tile goes through registers, then one slot, where tensor cores read it.
    float16: 2 bytes. Tensor cores multiply tiles of float16 by tl.dot(a, b, acc) and add in acc, which is float32
    and stays in registers. num_warps=8 in the launch, beside TILE_M and the others, makes programs of 8 warps.
    Depth: each slot holds a tile of a and a tile of b. A block may have LIMIT bytes of shared memory on an H100 or
    H200, and what one block takes the next one on that SM cannot have. An H200 (2026-11-23) multiplied matrices of 4096
    rows by the kernel of task 4 at 313, 406, 484 and 382 TFLOPS with 1, 2, 3 and 4 stages, cuBLAS at 658. With three
    stages two blocks find room on an SM, with four stages one.

Code it
    Task 1  slot_and_phase, ring_state, ring_order: where an item goes, who comes next  (thirteen lines)
    Task 2  pipeline_makespan, stages_needed: how long, how deep (math.ceil rounds up)     (seven lines)
    Task 3  prefetch_kernel: given, right, and it waits for each tile; let it ask ahead (six lines more)
    Task 4  staged_kernel and matmul_staged: a ring of any depth, by the compiler        (fifteen lines)
    Task 5  shared_bytes and stages_that_fit: what depth costs                               (two lines)

Verify
    pytest week2/day4                  then: ./course quiz week2/day4
    The tests compare your makespan with what an H200 took (timeline_h200.json): 1.04 to 1.67 times as long. The model
    is a lower bound: a block also takes time, about 300 clocks a tile here, to ask for tiles and for barriers.
    Reflect: a kernel waits for memory although its ring has four slots. What could be the reason?

Simulated without a GPU: results, bounds and bytes are exact, and the compiler is the real one: it shows the copies
and the shared memory of your kernel. Time is not simulated. On a Hopper GPU the tests measure timelines themselves.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import math

import torch
import triton
import triton.language as tl

LIMIT = 227 * 1024  # bytes of shared memory that a block may have on an H100 or H200


# Task 1
def slot_and_phase(item: int, slots: int) -> tuple[int, int]:
    """The slot that an item takes in a ring, and the phase of that round. Items and slots count from 0."""
    raise NotImplementedError("week2/day4 task 1: slot_and_phase")


def ring_state(loaded: int, used: int, slots: int) -> str:
    """"empty", "full" or "between", after so many items have been loaded, and so many of them used."""
    raise NotImplementedError("week2/day4 task 1: ring_state")


def ring_order(items: int, slots: int) -> list[tuple[str, int, int]]:
    """What one worker does with a ring: ("load", item, slot) and ("use", item, slot), until all items are used.

    Whenever an item is left to load and the ring is not full, it loads; otherwise it uses the oldest item.
    """
    raise NotImplementedError("week2/day4 task 1: ring_order")


# Task 2
def pipeline_makespan(load: float, compute: float, items: int, stages: int) -> float:
    """Time from the first load until the last tile is done with; 0 for no tiles.

    load: from asking for a tile until it is there. compute: how long a tile is computed with.
    items: how many tiles. stages: slots of the ring, 1 or more.
    """
    raise NotImplementedError("week2/day4 task 2: pipeline_makespan")


def stages_needed(load: float, compute: float) -> int:
    """The fewest stages with which, once the ring is full, computing never waits. compute is more than 0."""
    raise NotImplementedError("week2/day4 task 2: stages_needed")


# Task 3
@triton.jit
def prefetch_kernel(a_ptr, b_ptr, out_ptr, m, n, k, a_row_stride, a_col_stride, b_row_stride, b_col_stride,
                    out_row_stride, out_col_stride, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    """The kernel of week 1, day 7, for float16."""
    col = tl.program_id(0) * TILE_N + tl.arange(0, TILE_N)[None, :]
    row = tl.program_id(1) * TILE_M + tl.arange(0, TILE_M)[:, None]
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for start in range(0, k, TILE_K):
        p = start + tl.arange(0, TILE_K)
        a = tl.load(a_ptr + row * a_row_stride + p[None, :] * a_col_stride,
                    mask=(row < m) & (p[None, :] < k), other=0.0)
        b = tl.load(b_ptr + p[:, None] * b_row_stride + col * b_col_stride,
                    mask=(p[:, None] < k) & (col < n), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(out_ptr + row * out_row_stride + col * out_col_stride, acc, mask=(row < m) & (col < n))


def matmul_prefetch(a: torch.Tensor, b: torch.Tensor, *, tile_m: int = 64, tile_n: int = 128, tile_k: int = 32,
                    out: torch.Tensor | None = None) -> torch.Tensor:
    """a @ b by prefetch_kernel, one program for each tile of the result. The compiler is told not to load ahead.

    a: (m, k), b: (k, n), float16 of any strides, on one device; neither is copied.
    tile_m, tile_n, tile_k: powers of two from 16. out: (m, n) float32 of any strides; row-major if not given.
    """
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), dtype=torch.float32, device=a.device) if out is None else out
    grid = triton.cdiv(n, tile_n), triton.cdiv(m, tile_m)
    prefetch_kernel[grid](a, b, out, m, n, k, *a.stride(), *b.stride(), *out.stride(),
                          TILE_M=tile_m, TILE_N=tile_n, TILE_K=tile_k, num_stages=1)
    return out


# Task 4
@triton.jit
def staged_kernel(a_ptr, b_ptr, out_ptr, m, n, k, a_row_stride, a_col_stride, b_row_stride, b_col_stride,
                  out_row_stride, out_col_stride,
                  TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, STAGES: tl.constexpr):
    pass  # rows and columns of this program; a ring of STAGES slots along k: load, multiply, add; store


def matmul_staged(a: torch.Tensor, b: torch.Tensor, stages: int = 3, *, tile_m: int = 128, tile_n: int = 128,
                  tile_k: int = 64, out: torch.Tensor | None = None) -> torch.Tensor:
    """a @ b by staged_kernel, one program of 8 warps for each tile of the result; columns along the grid's first axis.

    a: (m, k), b: (k, n), float16 of any strides, on one device; neither is copied. stages: slots of the ring.
    tile_m, tile_n, tile_k: powers of two from 16. out: (m, n) float32 of any strides; row-major if not given.
    """
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), dtype=torch.float32, device=a.device) if out is None else out
    raise NotImplementedError("week2/day4 task 4: matmul_staged")


# Task 5
def shared_bytes(tile_m: int, tile_n: int, tile_k: int, stages: int) -> int:
    """Bytes of shared memory that the ring of matmul_staged takes on an H100."""
    raise NotImplementedError("week2/day4 task 5: shared_bytes")


def stages_that_fit(tile_m: int, tile_n: int, tile_k: int, limit: int = LIMIT) -> int:
    """The most stages whose ring takes no more than `limit` bytes; 0 if not even one fits."""
    raise NotImplementedError("week2/day4 task 5: stages_that_fit")
