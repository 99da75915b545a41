"""Week 3, kata: attention whose softmax hides behind products (Gluon)

Challenge
    The tensor cores wait while a softmax is computed. Begin their next product first, so the softmax runs beside it
    (FlashAttention-3). In a second sitting, task 3 on, in Gluon. 64 queries, 128 keys, d = 128, columns of 512 cycles:

        one after the other   tensor cores   S0   .   V0   S1   .   V1   S2   .   V2
                              softmax         .  p0    .    .  p1    .    .  p2    .
        overlapped            tensor cores   S0   .   S1   V0   S2   V1   V2
                              softmax         .  p0    .   p1    .   p2    .

    S1 is the product of the queries with tile 1 of keys, p1 its weights, V1 the product of p1 with tile 1 of values.

Explore
    ./course python -m week3.katas.gluon_attention.timeline 2
    Two consumers, A and B, one tile after the other. Who multiplies during Ap1? What would a third consumer change?

Concept
    Cycles: in one cycle an SM does 2048 multiply-adds of 16 bit numbers, and 16 exponentials. S: 64 * 128 * 128 / 2048
    = 512. V: 512 too. p: 64 * 128 / 16 = 512. One consumer takes 1536 a tile, or 1024 with p beside V: *intra-warpgroup
    overlap*. Two consumers hide each other's softmax, too: on an H100 that alone had 582 TFLOPS, with p beside V 661
    (FlashAttention-3, table 2).
    All consumers share the tensor cores and the unit for exponentials. These two work at the same time, so a tile takes
    at least the cycles of the one that has more to do.
    Order: products end in the order in which they were begun. Begin S1, then V0, wait until 1 is in flight: S1 is
    there and V0 runs. Compute p1. Then wait for V0, since acc is rescaled by alpha before V1 may add to it.
    In Python (task 2) warps.begin_scores(i) is Si, warps.begin_values(i) is Vi; both begin and return. warps.softmax(i)
    is pi and returns when it is done. warps.wait(most) returns when at most so many products are in flight.
    In Gluon, as in the kata gluon_gemm of week 2: full counts the producer's arrival and bytes, empty one arrival of
    each consumer. In round i // STAGES of a ring consumers wait at full for phase i // STAGES % 2, the producer at
    empty for the other one. What a gap needs, with k as the example:
        mbarrier.wait(k_full.index(slot), phase, pred=condition)    waits only if the condition holds
        mbarrier.arrive(k_empty.index(slot)), mbarrier.expect(k_full.index(slot), bytes)    elements have 2 bytes
        tma.async_copy_global_to_shared(k_desc, [batch, head, row, 0], k_full.index(slot), k_places.index(slot))
        acc = warpgroup_mma(a, b, acc, is_async=True)    begins acc + a @ b, and returns
        s = warpgroup_mma_wait(1, deps=(s,))             at most 1 is in flight; go on with the s that it gives back
    k and v have a ring each, with the same slots. Consumers give k of tile i back when S is there, v of tile i - 1 when
    V and k of tile i + 1 are: so the producer asks for k before it waits for a slot of v.
    In a step (task 4) the wait for the next keys, item i + 1, stands between the softmax and the wait for V: so the
    assembler does not move exponentials below the wait for V. rescaled, which shrinks acc, and like, which makes of the
    weights the next step's p, come last. The deps of the wait for V are acc alone, and like comes after it: weights
    that it made before would be held over that wait, and registers spill at d = 64.
    Registers: a thread of 128 holds 64 scores, 64 sums, 32 registers of p and 32 of q, two 16 bit numbers in each: 192
    of 240. Begin S2 before p1 is computed, and there are 64 scores more.
    The kernel takes 2 consumers at d = 128, and 3 at d = 64, where products are half as long and exponentials are not.
    On an H100, November 2026, the reference had 1.03 of cuDNN's speed at d = 128 and 4096 keys, 1.13 with a causal
    mask, and 0.99 at d = 64, with a mask or without.

Code it
    Task 1  product_cycles, softmax_cycles, least_cycles: what a tile of keys takes    (three lines)
    Task 2  consume: the order of products, waits and softmaxes, in plain Python       (eight lines)
    Task 3  copy_tile: one tile of keys and values into two rings, in Gluon            (eight lines)
    Task 4  overlapped_step: two products in flight, a softmax beside one, in Gluon    (nine lines)

Verify
    pytest week3/katas/gluon_attention       then: ./course quiz week3/katas/gluon_attention
    Reflect: which unit has more to do for a tile at d = 64? And with 8 bit numbers, whose products take half as long?

Without a GPU tasks 3 and 4 run line by line in a model of barriers, copies and products, and the compiler is the real
one; ./course count knows no Gluon. On a Hopper GPU the kernel runs in a process of its own.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import functools

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from week3.katas.gluon_attention import gluon_model, tile_plan, timeline

MULTIPLY_ADDS = 2048  # of 16 bit numbers, that the tensor cores of an SM do in a cycle
EXPONENTIALS = 16     # that an SM computes in a cycle
LIMIT = 227 * 1024    # bytes of shared memory that a block may have on an H100 or H200
ROWS = 64             # queries of a consumer
LOG2_E = 1.4426950408889634
LN_2 = gl.constexpr(0.6931471805599453)
LOWEST = gl.constexpr(-3.4028234663852886e38)  # of float32
DTYPES = {torch.bfloat16: gl.bfloat16, torch.float16: gl.float16}
CONFIGS = {64: {"TILE_N": 128, "CONSUMERS": 3, "STAGES": 3, "Q_IN_REGISTERS": False},
           128: {"TILE_N": 128, "CONSUMERS": 2, "STAGES": 2, "Q_IN_REGISTERS": True}}  # by d; 2 STAGES at least


@functools.cache
def multiprocessors() -> int:
    """SMs of this GPU; 132 without one."""
    return triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"]


# Task 1
def product_cycles(rows: int, cols: int, depth: int) -> int:
    """Cycles that the tensor cores of an SM take for (rows, depth) @ (depth, cols).

    rows * cols * depth is a multiple of MULTIPLY_ADDS.
    """
    raise NotImplementedError("week3/katas/gluon_attention task 1: product_cycles")


def softmax_cycles(rows: int, keys: int) -> int:
    """Cycles that an SM takes for the exponentials of a tile of scores, one for each.

    rows * keys is a multiple of EXPONENTIALS.
    """
    raise NotImplementedError("week3/katas/gluon_attention task 1: softmax_cycles")


def least_cycles(consumers: int, keys: int, d: int) -> int:
    """The least cycles an SM needs for one tile of keys, whatever is overlapped: those of the unit that has more to do.

    Each consumer has ROWS queries, and does S, a softmax and V.
    """
    raise NotImplementedError("week3/katas/gluon_attention task 1: least_cycles")


# Given
def shared_bytes(consumers: int, keys: int, d: int, stages: int) -> int:
    """Bytes of shared memory that the kernel allocates.

    Places: for each consumer one of q and one of out, ROWS x d each; for each stage one of k and one of v, keys x d
    each; 2 bytes an element. Each place of q, k and v has two barriers of 8 bytes. The compiler adds up to 511 bytes of
    its own, which do not count here.
    """
    return 2 * (2 * consumers * ROWS * d + 2 * stages * keys * d) + 8 * (2 * consumers + 4 * stages)


# Task 2
def consume(warps: timeline.Schedule, steps: int) -> None:
    """A consumer's products, waits and softmaxes for tiles 0 to steps - 1 of keys. steps: 1 or more."""
    warps.begin_scores(0)
    warps.wait(0)
    warps.softmax(0)
    raise NotImplementedError("week3/katas/gluon_attention task 2: consume")


def predicted_cycles(steps: int, consumers: int, product: int, softmax: int) -> int:
    """Cycles until all consumers have done `steps` tiles by your consume. Given.

    product, softmax: cycles of one product of one consumer, and of one softmax.
    """
    return max(end for *_, end in timeline.parts(consume, steps, consumers, product, softmax))


def scores_at_once(steps: int) -> int:
    """The most tiles of scores that a consumer held at once: begun, and not yet weights. Given."""
    return timeline.recorded(consume, steps).most_held


def products_behind_others(steps: int) -> int:
    """How many products a consumer began while another one of its own was in flight. Given."""
    return timeline.recorded(consume, steps).begun_behind


# Task 3
@gluon.jit
def copy_tile(k_desc, v_desc, places, barriers, batch, kv_head, row, i):
    """Ask for a tile of keys and one of values: item i of both rings.

    A box of either begins at [batch, kv_head, row, 0], and has TILE_N rows and D columns of 2 bytes an element.
    """
    _, k_places, v_places, _ = places
    _, _, k_full, k_empty, v_full, v_empty = barriers
    STAGES: gl.constexpr = k_places.shape[0]
    TILE_N: gl.constexpr = k_places.shape[1]
    D: gl.constexpr = k_places.shape[2]
    pass  # which slot, which phase; for k, then for v: wait until the slot is empty, expect its bytes, copy


# Given
@gluon.jit
def copy_keys(k_desc, v_desc, places, barriers, batch, kv_head, steps, i):
    """Ask for the keys and values of one tile of queries: `steps` tiles of each, the items i to i + steps - 1.

    They come last to first: only the first ones need a mask.
    """
    TILE_N: gl.constexpr = places[1].shape[1]
    for step in range(steps):
        copy_tile(k_desc, v_desc, places, barriers, batch, kv_head, (steps - 1 - step) * TILE_N, i)
        i += 1


@gluon.jit
def tile_of(number, tiles_down, heads, n_k, TILE_M: gl.constexpr, TILE_N: gl.constexpr, CAUSAL: gl.constexpr):
    """Batch, head and first query of a tile, and how many tiles of keys it sees."""
    row = number % tiles_down * TILE_M
    end = min(n_k, row + TILE_M) if CAUSAL else n_k
    return number // tiles_down // heads, number // tiles_down % heads, row, gl.cdiv(end, TILE_N)


@gluon.jit
def producer(q_desc, k_desc, v_desc, places, barriers, work, GROUP: gl.constexpr, CAUSAL: gl.constexpr):
    """One warp: the queries of each consumer, then their keys. GROUP heads of q share one of k and v."""
    starts_ptr, numbers_ptr, tiles_down, heads, n_q, n_k = work
    q_places, k_places, _, _ = places
    q_full, q_empty, _, _, _, _ = barriers
    CONSUMERS: gl.constexpr = q_places.shape[0]
    ROWS: gl.constexpr = q_places.shape[1]
    TILE_N: gl.constexpr = k_places.shape[1]
    D: gl.constexpr = k_places.shape[2]
    first, last = gl.load(starts_ptr + gl.program_id(0)), gl.load(starts_ptr + gl.program_id(0) + 1)
    i = 0  # tiles of keys so far
    for turn in range(first, last):
        batch, head, row, steps = tile_of(
            gl.load(numbers_ptr + turn), tiles_down, heads, n_k, CONSUMERS * ROWS, TILE_N, CAUSAL)
        for c in gl.static_range(CONSUMERS):
            mbarrier.wait(q_empty.index(c), (turn - first + 1) % 2)
            mbarrier.expect(q_full.index(c), 2 * ROWS * D)
            tma.async_copy_global_to_shared(
                q_desc, [batch, head, row + c * ROWS, 0], q_full.index(c), q_places.index(c))
        copy_keys(k_desc, v_desc, places, barriers, batch, head // GROUP, steps, i)
        i += steps


# Given
@gluon.jit
def softmax_of(s, m, l, row, col, n_k, scale, CAUSAL: gl.constexpr, MASK: gl.constexpr):
    """(p, alpha, m, l): weights of the scores s, the factor for acc, and the state. s begins at query row, key col.

    MASK: some of s may be hidden. scale: with log2(e); p is 2 to the power of s * scale - m.
    """
    if MASK:
        if (col + s.shape[1] > n_k) | ((row < col + s.shape[1]) & CAUSAL):
            cols = col + gl.arange(0, s.shape[1], gl.SliceLayout(0, s.type.layout))
            s = gl.where((cols < n_k)[None, :], s, -float("inf"))
            if CAUSAL:
                rows = row + gl.arange(0, s.shape[0], gl.SliceLayout(1, s.type.layout))
                s = gl.where(rows[:, None] >= cols[None, :], s, -float("inf"))
    m_new = gl.maximum(m, gl.max(s, 1) * scale)
    p = gl.exp2(s * scale - m_new[:, None])
    alpha = gl.exp2(m - m_new)
    return p, alpha, m_new, l * alpha + gl.sum(p, 1)


@gluon.jit
def rescaled(acc, factor):
    """acc, each row times its factor."""
    return acc * gl.convert_layout(factor, gl.SliceLayout(1, acc.type.layout))[:, None]


@gluon.jit
def like(weights, p):
    """weights in 16 bits, and with those threads that the next product wants them in: as p is."""
    return gl.convert_layout(weights.to(p.dtype), p.type.layout)


# Task 4
@gluon.jit
def overlapped_step(q, p, acc, m, l, zero, i, another, row, col, n_k, scale, places, barriers, CAUSAL: gl.constexpr,
                    MASK: gl.constexpr):
    """(p, acc, m, l) after tile i of keys; those that come in are from tile i - 1, whose p is not in acc yet.

    When it begins, k of tile i has been waited for, v of tile i - 1 has not. another: whether these queries have a tile
    i + 1 of keys; only then its k is waited for. row, col: of the first query and the first key of tile i.
    """
    _, k_places, v_places, _ = places
    _, _, k_full, k_empty, v_full, v_empty = barriers
    STAGES: gl.constexpr = k_places.shape[0]
    slot, before = i % STAGES, (i - 1) % STAGES
    s = warpgroup_mma(q, k_places.index(slot).permute((1, 0)), zero, use_acc=False, is_async=True)
    pass  # wait for v of i - 1, begin V; wait for S, give k back; softmax_of; wait for k of i + 1; for V, give v back


# Given
@gluon.jit
def store_tile(acc, m, l, out_desc, out_place, lse_ptr, n_q, batch, head, heads, row):
    """Divide, and store: lse by the threads, out by the engine, from a place of this consumer."""
    rows = row + gl.arange(0, acc.shape[0], l.type.layout)
    lse = (m + gl.log2(l)) * LN_2
    gl.store(lse_ptr + (batch * heads + head).to(gl.int64) * n_q + rows, lse, mask=rows < n_q)
    acc = rescaled(acc, 1.0 / gl.where(l == 0, 1.0, l))
    tma.store_wait(0)  # the engine has read what was in the place
    out_place.store(acc.to(out_desc.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(out_desc, [batch, head, row, 0], out_place)


@gluon.jit
def consumer(out, places, barriers, work, scale, C: gl.constexpr, CAUSAL: gl.constexpr, Q_IN_REGISTERS: gl.constexpr):
    """One warpgroup: the queries row to row + ROWS - 1 of each tile. C: its number."""
    out_desc, lse_ptr = out
    starts_ptr, numbers_ptr, tiles_down, heads, n_q, n_k = work
    q_places, k_places, v_places, out_places = places
    q_full, q_empty, k_full, k_empty, v_full, v_empty = barriers
    CONSUMERS: gl.constexpr = q_places.shape[0]
    ROWS: gl.constexpr = q_places.shape[1]
    STAGES: gl.constexpr = k_places.shape[0]
    TILE_N: gl.constexpr = k_places.shape[1]
    D: gl.constexpr = k_places.shape[2]
    S: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, TILE_N, 16])
    OUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    P: gl.constexpr = gl.DotOperandLayout(0, OUT, 2)
    LATER: gl.constexpr = CAUSAL and TILE_N != CONSUMERS * ROWS  # more tiles of keys than the first need a mask
    zero = gl.zeros([ROWS, TILE_N], gl.float32, S)
    first, last = gl.load(starts_ptr + gl.program_id(0)), gl.load(starts_ptr + gl.program_id(0) + 1)
    i = 0  # tiles of keys so far
    for turn in range(first, last):
        batch, head, row, steps = tile_of(
            gl.load(numbers_ptr + turn), tiles_down, heads, n_k, CONSUMERS * ROWS, TILE_N, CAUSAL)
        row += C * ROWS
        m = gl.full([ROWS], LOWEST, gl.float32, gl.SliceLayout(1, S))
        l = gl.full([ROWS], 0.0, gl.float32, gl.SliceLayout(1, S))
        acc = gl.zeros([ROWS, D], gl.float32, OUT)
        mbarrier.wait(q_full.index(C), (turn - first) % 2)
        q = q_places.index(C)
        if Q_IN_REGISTERS:
            q = q.load(gl.DotOperandLayout(0, S, 2))
        mbarrier.wait(k_full.index(i % STAGES), i // STAGES % 2)
        s = warpgroup_mma(q, k_places.index(i % STAGES).permute((1, 0)), zero, use_acc=False, is_async=True)
        if Q_IN_REGISTERS:  # now, and not behind the load: that has only begun by then, and a product waits for its end
            mbarrier.arrive(q_empty.index(C))
        s = warpgroup_mma_wait(0, deps=(s,))
        mbarrier.arrive(k_empty.index(i % STAGES))
        p, alpha, m, l = softmax_of(s, m, l, row, (steps - 1) * TILE_N, n_k, scale, CAUSAL, True)
        p = gl.convert_layout(p.to(out_desc.dtype), P)
        mbarrier.wait(k_full.index((i + 1) % STAGES), (i + 1) // STAGES % 2, pred=steps > 1)
        for step in range(1, steps):
            i += 1
            p, acc, m, l = overlapped_step(q, p, acc, m, l, zero, i, step + 1 < steps, row, (steps - 1 - step) * TILE_N,
                                           n_k, scale, places, barriers, CAUSAL, LATER)
        if not Q_IN_REGISTERS:
            mbarrier.arrive(q_empty.index(C))
        mbarrier.wait(v_full.index(i % STAGES), i // STAGES % 2)
        acc = warpgroup_mma(p, v_places.index(i % STAGES), acc)
        mbarrier.arrive(v_empty.index(i % STAGES))
        i += 1
        store_tile(acc, m, l, out_desc, out_places.index(C), lse_ptr, n_q, batch, head, heads, row)
    tma.store_wait(0)  # the engine has read all results from shared memory


# Given
@gluon.jit
def barriers_of(NUMBER: gl.constexpr, EMPTY: gl.constexpr):
    """full and empty: barriers that count one arrival, and barriers that count EMPTY arrivals."""
    full = gl.allocate_shared_memory(gl.int64, [NUMBER, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [NUMBER, 1], mbarrier.MBarrierLayout())
    for each in gl.static_range(NUMBER):
        mbarrier.init(full.index(each), count=1)
        mbarrier.init(empty.index(each), count=EMPTY)
    return full, empty


@gluon.jit
def shared_of(q_desc, k_desc, CONSUMERS: gl.constexpr, STAGES: gl.constexpr, Q_LAYOUT: gl.constexpr,
              K_LAYOUT: gl.constexpr):
    """Places for boxes, and barriers. q and out have a place for each consumer, k and v one for each stage."""
    ROWS: gl.constexpr = q_desc.block_shape[2]
    TILE_N: gl.constexpr = k_desc.block_shape[2]
    D: gl.constexpr = k_desc.block_shape[3]
    q_places = gl.allocate_shared_memory(q_desc.dtype, [CONSUMERS, ROWS, D], Q_LAYOUT)
    k_places = gl.allocate_shared_memory(q_desc.dtype, [STAGES, TILE_N, D], K_LAYOUT)
    v_places = gl.allocate_shared_memory(q_desc.dtype, [STAGES, TILE_N, D], K_LAYOUT)
    out_places = gl.allocate_shared_memory(q_desc.dtype, [CONSUMERS, ROWS, D], Q_LAYOUT)
    q_full, q_empty = barriers_of(CONSUMERS, 1)
    k_full, k_empty = barriers_of(STAGES, CONSUMERS)
    v_full, v_empty = barriers_of(STAGES, CONSUMERS)
    return (q_places, k_places, v_places, out_places), (q_full, q_empty, k_full, k_empty, v_full, v_empty)


@gluon.jit
def attention_kernel(q_desc, k_desc, v_desc, out_desc, lse_ptr, starts_ptr, numbers_ptr, tiles_down, heads, n_q, n_k,
                     scale, GROUP: gl.constexpr, CAUSAL: gl.constexpr, CONSUMERS: gl.constexpr, STAGES: gl.constexpr,
                     Q_IN_REGISTERS: gl.constexpr, Q_LAYOUT: gl.constexpr, K_LAYOUT: gl.constexpr):
    """The roles. The first runs in the warps of the launch, the others in 4 (or 4 and 4) and 1 more.

    The last list: registers of a thread in those. At the launch, which ./course compiled shows, warps come in fours, of
    equally many registers: 12 warps of 168 at d = 128.
    """
    places, barriers = shared_of(q_desc, k_desc, CONSUMERS, STAGES, Q_LAYOUT, K_LAYOUT)
    work = (starts_ptr, numbers_ptr, tiles_down, heads, n_q, n_k)
    out = (out_desc, lse_ptr)
    if CONSUMERS == 2:
        gl.warp_specialize([
            (consumer, (out, places, barriers, work, scale, 0, CAUSAL, Q_IN_REGISTERS)),
            (consumer, (out, places, barriers, work, scale, 1, CAUSAL, Q_IN_REGISTERS)),
            (producer, (q_desc, k_desc, v_desc, places, barriers, work, GROUP, CAUSAL)),
        ], [4, 1], [240, 24])
    else:
        gl.warp_specialize([
            (consumer, (out, places, barriers, work, scale, 0, CAUSAL, Q_IN_REGISTERS)),
            (consumer, (out, places, barriers, work, scale, 1, CAUSAL, Q_IN_REGISTERS)),
            (consumer, (out, places, barriers, work, scale, 2, CAUSAL, Q_IN_REGISTERS)),
            (producer, (q_desc, k_desc, v_desc, places, barriers, work, GROUP, CAUSAL)),
        ], [4, 4, 1], [160, 160, 24])


@gluon.jit
def producer_kernel(q_desc, k_desc, v_desc, starts_ptr, numbers_ptr, tiles_down, heads, n_q, n_k,
                    GROUP: gl.constexpr, CAUSAL: gl.constexpr, CONSUMERS: gl.constexpr, STAGES: gl.constexpr,
                    Q_LAYOUT: gl.constexpr, K_LAYOUT: gl.constexpr):
    """The producer alone, to be compiled and not run: nobody empties its places."""
    places, barriers = shared_of(q_desc, k_desc, CONSUMERS, STAGES, Q_LAYOUT, K_LAYOUT)
    work = (starts_ptr, numbers_ptr, tiles_down, heads, n_q, n_k)
    producer(q_desc, k_desc, v_desc, places, barriers, work, GROUP, CAUSAL)


@functools.cache  # each call of attention asks six times
def layout_of(dtype: torch.dtype, *shape: int) -> gl.NVMMASharedLayout:
    """How boxes of a dtype lie in shared memory: as the tensor cores want them."""
    return gl.NVMMASharedLayout.get_default_for(list(shape), DTYPES[dtype])


def boxes_of(x: torch.Tensor, rows: int) -> TensorDescriptor:
    """A descriptor of x, or of a copy if the engine cannot take boxes of x: [1, 1, rows, d]."""
    apart = [stride * x.element_size() for stride in x.stride()[:-1]]
    legal = x.stride(-1) == 1 and x.data_ptr() % 16 == 0 and all(step > 0 and step % 16 == 0 for step in apart)
    shape = 1, 1, rows, x.shape[-1]
    x = x if legal else x.clone(memory_format=torch.contiguous_format)
    return TensorDescriptor.from_tensor(x, list(shape), layout_of(x.dtype, *shape))


def operands(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> tuple[int, list, tuple, dict]:
    """What both kernels take: how many programs; descriptors of q, k and v; the work; constants by name."""
    (batches, heads, n_q, d), (_, kv_heads, n_k, _) = q.shape, k.shape
    config = dict(CONFIGS[d])
    tile_n, tile_m = config.pop("TILE_N"), ROWS * config["CONSUMERS"]
    tiles_down = triton.cdiv(n_q, tile_m)
    programs = min(multiprocessors(), batches * heads * tiles_down)
    starts, numbers = tile_plan.plan(batches * heads, n_q, n_k, tile_m, tile_n, causal, programs, q.device)
    boxes = [boxes_of(q, ROWS), boxes_of(k, tile_n), boxes_of(v, tile_n)]
    constants = {"GROUP": heads // kv_heads, "CAUSAL": causal, "Q_LAYOUT": layout_of(q.dtype, ROWS, d),
                 "K_LAYOUT": layout_of(k.dtype, tile_n, d), **config}
    return programs, boxes, (starts, numbers, tiles_down, heads, n_q, n_k), constants


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False, scale: float | None = None
              ) -> tuple[torch.Tensor, torch.Tensor]:
    """(out, lse) by attention_kernel, which only a Hopper GPU runs. At most one program for each SM.

    q: (batches, heads, n_q, d), k, v: (batches, kv_heads, n_k, d), bfloat16 or float16, of any strides; heads is a
    multiple of kv_heads, d is 64 or 128. causal: query i sees keys 0 to i. scale: 1 / sqrt(d) if None, else above 0.
    out: as q. lse: (batches, heads, n_q), float32, the log-sum-exp of the scores. A query that sees no key has out 0
    and lse -inf.
    """
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    if lse.numel() == 0 or k.numel() == 0:  # no descriptor has a length of 0
        return out.zero_(), lse.fill_(-torch.inf)
    programs, boxes, work, constants = operands(q, k, v, causal)
    scale = (q.shape[-1] ** -0.5 if scale is None else scale) * LOG2_E
    attention_kernel[(programs,)](*boxes, boxes_of(out, ROWS), lse, *work, scale, **constants, num_warps=4)
    return out, lse


def attention_alone(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False) -> torch.Tensor:
    """The out of attention."""
    return attention(q, k, v, causal)[0]


def producer_alone(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> None:
    """The producer of attention, for the compiler: compiled(producer_alone, q, k, v, causal). It would never end."""
    _, boxes, work, constants = operands(q, k, v, causal)
    constants.pop("Q_IN_REGISTERS")
    producer_kernel[(1,)](*boxes, *work, **constants, num_warps=1)


# Given: the roles in the model, two consumers of 2 queries each
def asked_boxes(q_shape: tuple, kv_shape: tuple, keys: int, stages: int, causal: bool = False, program: int = 0,
                programs: int = 1) -> list[tuple]:
    """What your producer asks for at each step: where the boxes of k and of v begin, (batch, head, row) each.

    keys: rows of a box of k or v. Shapes: those of q and of k.
    """
    return gluon_model.run_producer(
        (producer, copy_tile), (q_shape, kv_shape), causal, keys, stages, program, programs)[0]


def asked_at_once(q_shape: tuple, kv_shape: tuple, keys: int, stages: int) -> int:
    """The most boxes of k and v that were on their way at once, by your producer."""
    return gluon_model.run_producer((producer, copy_tile), (q_shape, kv_shape), False, keys, stages, 0, 1)[1]


def simulate(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, scale: float, keys: int = 4,
             stages: int = 2, programs: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """(out, lse) in float64 by your producer and consumer. keys: rows of a tile of keys."""
    return tuple(map(torch.from_numpy, _modelled(q, k, v, causal, scale, keys, stages, programs)[:2]))


def overlap(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False) -> dict[str, int]:
    """What was seen of one program, in tiles of 4 queries and 4 keys, 2 stages: softmaxes with and without a product in
    flight, products that were waited for at once, values begun alone, slots kept too long, masks behind the first
    tile of keys."""
    return _modelled(q, k, v, causal, 1.0, 4, 2, 1)[2]


def _modelled(q, k, v, causal, scale, keys, stages, programs):
    arrays = (x.double().cpu().numpy() for x in (q, k, v))
    roles = (producer, copy_tile), (consumer, overlapped_step)
    return gluon_model.run_attention(*arrays, causal, scale, roles, keys, stages, programs)
