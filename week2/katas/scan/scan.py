"""Week 2, kata: scan

Challenge
    A scan is a row of running sums: result i adds up the elements up to i. Each seems to wait for the one before, and
    yet a GPU computes them together. Write a scan by a tree in one block. In a second sitting, tasks 3 and 4, write one
    over segments of different lengths, and one over tiles, each of which asks the tiles before it how far they are.

        a scan by a tree over 8 elements: each row is one step, with the places that it changes
             5   2   8   1   4   7   3   6               5   7   8  16   4  11   3   0    the last place is cleared
                 7       9      11       9   up                      0              16    down
                        16              20                   0       7      16      27
                                        36               0   5   7  15  16  20  27  30

Explore
    ./course python -c "from itertools import accumulate; print(*accumulate([5, 2, 8, 1, 4, 7, 3, 6], initial=0))"
    Nine running sums. Which one does the last row of the picture lack, and where does it stand in the picture?
    ./course count week2/katas/scan    Add up the shared loads and stores of the given kernel: how many bytes is that?
    Come back after task 1: 256 elements are stored and loaded once, and each addition loads two numbers, stores one.

Concept
    Exclusive: an inclusive scan counts element i in result i; an exclusive one stops before it, so it begins with 0.
    Work and span: *work* is the number of additions, *span* the number of steps, one after the other. The given
    hillis_steele_kernel has the steps d = 1, 2, 4, ... n / 2. In each, every place from d on adds the place d before.
    Blelloch: a tree of less work. On the way up, in the steps 1, 2, 4, ..., place `right` adds place right - step; a
    thread's right is (t + 1) * 2 * step - 1, if there is one. Then the last place holds the block's total, which goes
    to totals, and a 0 in its place. The way down has the same steps, from THREADS // 2 to 1, and the same pairs. In
    each pair, right - step takes what right held, and right the sum of what both held: two loads and two stores. A
    barrier goes before each step down, and one before the store: there a thread loads what another has written.
    Places: pairs are 2 * step places apart, so from step to step the lanes of a warp use fewer of the 32 banks. So keep
    element i in place i, plus one for each 32 elements before it. Elements 32 apart are then 33 places apart.
    Three passes: each block scans its elements, the totals are scanned, each block adds what came before it to its
    results. x is loaded; out is stored, loaded and stored again. The totals are few, but predict_traffic counts them.
    Segments: ids = 0 0 0 2 2 5 say to which segment each element belongs. A flag is 1 where a segment begins. To sum up
    each segment alone, scan pairs (flag, value) by an operation `combine`. Of two pairs, a before b, the value is that
    of b alone if b has a flag, else the sum; the flag, flag_a | flag_b, is 1 if either is. So combine is *associative*:
    combine(combine(a, b), c) is combine(a, combine(b, c)). It has to be, for the GPU groups as it likes.
    tl.associative_scan((flags, values), 0, combine) scans a block, and returns both. Then the last element of a segment
    has its sum. Where a segment goes on in the next block, the block's last element has the sum of the part in it. One
    tl.atomic_add(out_ptr + ids, sums, mask=..., sem="relaxed") adds those to out: a *segmented reduction*. Without
    sem="relaxed" an atomic also puts all other memory in order, which costs time.
    Look-back: one pass. Each program takes a ticket, the number of its tile. It publishes PART with its tile's total;
    and once it knows what came before, WHOLE with the sum up to its end. For that it looks at a *window* of tiles, the
    nearest first. If any of them has published NOTHING, it looks at all of them again. Else it adds values from the
    nearest tile to the first WHOLE, included, and is done; without one, all, and goes on to the window before.
    Tickets: programs may start in any order, and draw tickets as they start. So nobody waits for a tile not begun.
    Triton: tl.where(condition, a, b) takes each element from a or b; a factor 0 would keep NaN. tl.min(x) and tl.sum(x)
    make one number of a block; (x != y).to(tl.int32) is 0 or 1. A loop has no `break`: it ends by its condition.

Code it
    Task 1  hillis_steele_cost, blelloch_cost, predict_traffic: predict, then count       (four lines)
    Task 2  place; blelloch_kernel from the way down on                                 (twelve lines)
    Task 3  combine; segment_kernel from the flags on: a sum for each segment             (four lines)
    Task 4  look_back: the sum of all tiles before this one                              (seven lines)

Verify
    pytest week2/katas/scan            then: ./course quiz week2/katas/scan
    Reflect: two of the three results may differ in the last digit from run to run. Which, and why?

Simulated without a GPU: results, races, bytes and conflicts are exact, and a deadlock is a message. Time is not
simulated. On a GPU a look-back that never ends hangs, so the tests simulate it first.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import numpy as np
import torch
import triton
import triton.language as tl
from tools.gpu import cuda

THREADS = 256  # of a block, and its elements; a power of two
PLACES = 264   # of shared memory for them: one more for each 32, see place
BLOCK = 1024   # elements of a program that adds up segments
TILE = 4096    # elements of a program that looks back
WINDOW = 32    # words that it looks at together
NOTHING, PART, WHOLE = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)  # statuses of a tile: see the lesson


# Given: a scan of one block
@cuda.jit
def hillis_steele_kernel(x, out):
    sums = cuda.shared.array(THREADS, np.float32)
    t = cuda.threadIdx.x
    sums[t] = x[t] if t < x.size else np.float32(0)
    step = 1
    while step < THREADS:
        cuda.syncthreads()  # the step before is done
        before = sums[t - step] if t >= step else np.float32(0)
        cuda.syncthreads()  # all have loaded
        if t >= step:
            sums[t] += before
        step *= 2
    if t < x.size:
        out[t] = sums[t]


def scan_hillis_steele(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The inclusive scan of at most THREADS elements by hillis_steele_kernel. x, out: (n,) float32, contiguous."""
    out = torch.empty_like(x) if out is None else out
    hillis_steele_kernel[1, THREADS](x, out)
    return out


# Task 1
def hillis_steele_cost(n: int) -> tuple[int, int]:
    """(work, span) of the scan of n elements by hillis_steele_kernel with n threads; n is a power of two."""
    raise NotImplementedError("week2/katas/scan task 1: hillis_steele_cost")


def blelloch_cost(n: int) -> tuple[int, int]:
    """(work, span) of Blelloch's tree over n elements; n is a power of two. Clearing a place is no step."""
    raise NotImplementedError("week2/katas/scan task 1: blelloch_cost")


def predict_traffic(n: int) -> tuple[int, int]:
    """(bytes of exclusive_scan, bytes of inclusive_scan): each is what it loads plus what it stores in global memory.

    exclusive_scan: all arrays of its three launches. Each block of blelloch_kernel stores a total, in the scan of the
    totals too. inclusive_scan: x and out alone.
    n: elements of float32, more than THREADS and at most THREADS**2, so that one block scans the totals.
    """
    blocks = triton.cdiv(n, THREADS)
    raise NotImplementedError("week2/katas/scan task 1: predict_traffic")


# Task 2
@cuda.jit(device=True)
def place(i):
    """Where element i of a block is kept in shared memory."""
    raise NotImplementedError("week2/katas/scan task 2: place")


@cuda.jit
def blelloch_kernel(x, out, totals):
    sums = cuda.shared.array(PLACES, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    sums[place(t)] = x[i] if i < x.size else np.float32(0)
    step = 1
    while step < THREADS:  # up
        cuda.syncthreads()
        right = (t + 1) * 2 * step - 1
        if right < THREADS:
            sums[place(right)] += sums[place(right - step)]
        step *= 2
    if t == 0:  # this thread wrote the last place, so it need not wait
        totals[cuda.blockIdx.x] = sums[place(THREADS - 1)]
        sums[place(THREADS - 1)] = np.float32(0)
    pass  # down (step is THREADS here), with a barrier before each step; one barrier more; store


@triton.jit
def add_kernel(out_ptr, before_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    mine = pid * BLOCK + tl.arange(0, BLOCK)
    sums = tl.load(out_ptr + mine, mask=mine < n) + tl.load(before_ptr + pid)
    tl.store(out_ptr + mine, sums, mask=mine < n)


def exclusive_scan(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Element i: the sum of all elements of x before i. Three passes, of which two are kernels. Given.

    x, out: (n,) float32, contiguous; out is allocated if not given.
    """
    blocks = max(1, triton.cdiv(x.numel(), THREADS))
    out = torch.empty_like(x) if out is None else out
    totals = x.new_empty(blocks)
    blelloch_kernel[blocks, THREADS](x, out, totals)
    if blocks > 1:
        add_kernel[(blocks,)](out, exclusive_scan(totals), x.numel(), BLOCK=THREADS)
    return out


# Task 3
@triton.jit
def combine(flag_a, value_a, flag_b, value_b):
    """The pair (flag, value) of two neighbouring pieces, a before b. Flags are 0 or 1, of int32."""
    pass  # the two flags; the value, which starts anew where b has a flag


@triton.jit
def combine_kernel(flags_ptr, values_ptr):
    flag, value = combine(tl.load(flags_ptr), tl.load(values_ptr), tl.load(flags_ptr + 1), tl.load(values_ptr + 1))
    tl.store(flags_ptr + 2, flag)
    tl.store(values_ptr + 2, value)


def combined(a: tuple[int, float], b: tuple[int, float]) -> tuple[int, float]:
    """combine of two pairs (flag, value), a before b, by one program. Given, for the tests."""
    flags = torch.tensor([a[0], b[0], 0], dtype=torch.int32, device=tools.gpu.device)
    values = torch.tensor([a[1], b[1], 0], dtype=torch.float32, device=tools.gpu.device)
    combine_kernel[(1,)](flags, values)
    return flags[2].item(), values[2].item()


@triton.jit
def segment_kernel(ids_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    exists = mine < n
    ids = tl.load(ids_ptr + mine, mask=exists, other=-1)  # -1: no segment; these lanes must stay out of the atomic
    id_before = tl.load(ids_ptr + mine - 1, mask=exists & (mine > 0), other=-1)
    id_after = tl.load(ids_ptr + mine + 1, mask=mine + 1 < n, other=-1)
    x = tl.load(x_ptr + mine, mask=exists, other=0.0)
    pass  # flags; scan; add what stands at the ends of segments and of the block


def segment_sums(ids: torch.Tensor, x: torch.Tensor, segments: int, *, block: int = BLOCK,
                 out: torch.Tensor | None = None) -> torch.Tensor:
    """The sum of each segment of x by segment_kernel; 0 for a segment without elements. Given.

    ids: (n,) int32, the segment of each element, from 0 to segments - 1, in ascending order. x: (n,) float32.
    block: elements of one program, a power of two. out: (segments,) float32, allocated if not given.
    ids are loaded three times: ./course count shows about twice the least bytes that must move.
    """
    out = x.new_empty(segments) if out is None else out
    out.zero_()
    segment_kernel[(triton.cdiv(x.numel(), block),)](ids, x, out, x.numel(), BLOCK=block)
    return out


# Task 4
@triton.jit
def pack(status, value):
    """A word: the status in its upper 32 bits, a float32 in its lower ones."""
    bits = value.to(tl.int32, bitcast=True).to(tl.int64)  # the same bits; a sign fills the upper half
    return (bits & 0xFFFFFFFF) | (status << 32)


@triton.jit
def unpack(words):
    """(statuses, values) of a block of words."""
    return words >> 32, words.to(tl.int32).to(tl.float32, bitcast=True)


@triton.jit
def load_window(words_ptr, last, WINDOW: tl.constexpr):
    """(statuses, values) of WINDOW tiles: of last, last - 1, ... Before tile 0 each is a WHOLE of 0. Given.

    Status and value lie in one word: who sees the one sees the other. volatile=True asks memory each time; another load
    in a loop may get an old answer for ever.
    """
    back = tl.arange(0, WINDOW)
    return unpack(tl.load(words_ptr + last - back, mask=back <= last, other=WHOLE << 32, volatile=True))


@triton.jit
def look_back(words_ptr, tile, WINDOW: tl.constexpr):
    """The sum of all tiles before `tile`, an int32. Their words lie at words_ptr + 0, 1, ... tile - 1."""
    back = tl.arange(0, WINDOW)  # element 0 of a window is tile `last`, element 1 the tile before it
    before, last = 0.0, tile - 1
    pass  # while tiles are left: load a window; if all are published, add up to the nearest WHOLE. Return before


@triton.jit
def look_back_kernel(words_ptr, tile, out_ptr, WINDOW: tl.constexpr):
    tl.store(out_ptr, look_back(words_ptr, tile, WINDOW=WINDOW))


def sum_before(statuses: list[int], values: list[float], *, window: int = 4) -> float:
    """What look_back finds before tile len(statuses), where the tiles have published this. Given, for the tests."""
    bits = torch.tensor(values, dtype=torch.float32).view(torch.int32).long() & 0xFFFFFFFF
    words = (bits | (torch.tensor(statuses, dtype=torch.int64) << 32)).to(tools.gpu.device)
    out = torch.empty(1, device=tools.gpu.device)
    look_back_kernel[(1,)](words, len(statuses), out, WINDOW=window)
    return out.item()


@triton.jit
def scan_kernel(x_ptr, out_ptr, ticket_ptr, words_ptr, n, TILE: tl.constexpr, WINDOW: tl.constexpr):
    tile = tl.atomic_add(ticket_ptr, 1, sem="relaxed")
    mine = tile * TILE + tl.arange(0, TILE)
    x = tl.load(x_ptr + mine, mask=mine < n, other=0.0)
    total = tl.sum(x)
    tl.atomic_xchg(words_ptr + tile, pack(PART, total), sem="relaxed")
    sums = tl.cumsum(x)  # while the tiles before publish theirs
    before = look_back(words_ptr, tile.to(tl.int32), WINDOW=WINDOW)  # the ticket is an int64
    tl.atomic_xchg(words_ptr + tile, pack(WHOLE, before + total), sem="relaxed")
    tl.store(out_ptr + mine, before + sums, mask=mine < n)


def inclusive_scan(x: torch.Tensor, *, tile: int = TILE, window: int = WINDOW,
                   out: torch.Tensor | None = None) -> torch.Tensor:
    """Element i: the sum of all elements of x up to i. One pass by scan_kernel, one program for each tile. Given.

    x, out: (n,) float32, contiguous; out is allocated if not given. tile, window: powers of two.
    """
    tiles = triton.cdiv(x.numel(), tile)
    out = torch.empty_like(x) if out is None else out
    words = torch.zeros(tiles + 1, dtype=torch.int64, device=x.device)  # the last one counts the tickets
    scan_kernel[(tiles,)](x, out, words[tiles:], words, x.numel(), TILE=tile, WINDOW=window, num_warps=2)
    return out
