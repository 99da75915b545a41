"""Week 2, kata: a product whose warps have roles (Gluon)

Challenge
    On day 7 of this week the compiler arranged stages, barriers and copies. In Gluon, the lower floor of Triton, you
    do. Barriers say when a slot is full or empty; in a second sitting one warp copies, and two warpgroups multiply.

        a ring of 3 slots          item             0   1   2   3   4   5   6   7
                                   slot             0   1   2   0   1   2   0   1
        consumers wait, at full,   for phase        0   0   0   1   1   1   0   0
        the producer, at empty,    for phase        1   1   1   0   0   0   1   1

Explore
    ./course python -c "print([(i, i % 3, i // 3 % 2) for i in range(8)])"
    Which three rows of the picture are these? At a new barrier nothing has happened. Why must a wait for phase 1 pass?

Concept
    mbarrier: 8 bytes of shared memory that count arrivals. A new one is in phase 0. When as many arrivals as it counts
    have been made, and all bytes that it expects are there, its phase ends and the other one, 1 or 0, begins. A wait
    names the phase whose end it waits for, and goes on as soon as the barrier is in the other one. So at a new barrier
    a wait for phase 0 waits, and a wait for phase 1 passes at once.
    Roles: each slot has two barriers. full counts one arrival, the producer's, which also says how many bytes to
    expect; the engine counts them off as they come. empty counts two: each consumer arrives when it has used the slot.
    In Python (task 1), from ring_model.py: barrier.wait(phase), barrier.expect(bytes), which is an arrival too,
    barrier.arrive(); ring.full[slot], ring.empty[slot]; ring.copy(item, slot, barrier), whose bytes go to that
    barrier; ring.use(slot). The model runs the roles in every order: too early and too late are errors that say where.
    In Gluon: gl stands where tl stood. A @gluon.jit function calls others of that kind, not turn: write that out.
    full.index(slot) is one barrier; x_slots.index(i) and weight_slots.index(slot) are places for boxes.
    mbarrier.wait(barrier, phase), mbarrier.expect(barrier, bytes), mbarrier.arrive(barrier). A copy, and its barrier:
        tma.async_copy_global_to_shared(desc, [row, col], barrier, place)
    Consumers: each has half of the rows of the tile. So x has two places a stage, 2 * slot + 0 and 2 * slot + 1, and a
    box of x_desc has TILE_M // 2 rows. weight lies as in torch.nn.Linear, (n, k), and out is x @ weight.T.
    Products: acc = warpgroup_mma(a, b, acc, use_acc=start > 0, is_async=True) begins a product of two places and
    returns at once; where use_acc is false the sum begins anew. weight_slots.index(slot).permute((1, 0)) is b, turned.
    acc = warpgroup_mma_wait(1, deps=(acc,)) goes on when at most 1 product is in flight. deps are the sums that the
    products add to. The wait gives them back: go on with what it returns.
    Overlap: so begin product i, wait for product i - 1, and only then give back the slot of i - 1. The tensor cores
    always have the next product. The last product of a tile needs a wait for 0, and its slot is given back after it.
    mbarrier.arrive(barrier, pred=condition) arrives only if the condition holds. -1 % STAGES is -1, as in C: no harm
    where pred is false.
    Persistent: number goes from gl.program_id(0) to all tiles, in steps of gl.num_programs(0): range takes both. i
    counts on through both loops, since the ring knows nothing of tiles: the next tile comes while this one is stored.
    Registers: an SM has 65536. A consumer runs in four warps, and the producer's one gets the registers of four. At the
    launch threads of these 12 get the same, a multiple of 8: 168. Then setmaxnreg moves what the launch gave, in steps
    of 8, from the producer to those that hold sums: a thread of a consumer has 1/128 of its half tile. Whoever asks for
    more than the launch gave waits for ever; an H200 did, asked for 65536.
    On an H200 (20 November 2026) such a kernel had 0.99 of the speed of cuBLAS at 4096 and 1.02 at 8192 in bfloat16,
    and 1.01 and 1.04 of torch._scaled_mm in FP8. One like day 7's, a quarter as long, had 0.99, 1.02, 1.01, 1.02.

Code it
    Task 1  turn, produce, consume: the ring, in plain Python                 (fourteen lines)
    Task 2  stage_bytes, shared_bytes, acc_registers, most_registers: the accounting      (five)
    Task 3  producer: slots, phases, bytes and copies in Gluon                     (eleven lines)
    Task 4  consumer: products in flight, and slots given back                  (thirteen lines)

Verify
    pytest week2/katas/gluon_gemm       then: ./course quiz week2/katas/gluon_gemm
    Reflect: if this is no faster than day 7's product, when is it worth its lines?

Without a GPU tasks 3 and 4 run line by line in a model of barriers, copies and products (gluon_model.py), and the
compiler is the real one; ./course count knows no Gluon. On a Hopper GPU the kernel runs in a process of its own.
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
from week2.katas.gluon_gemm import gluon_model, ring_model

LIMIT = 227 * 1024         # bytes of shared memory that a block may have on an H100 or H200
REGISTERS = 65536          # of an SM
TILE_M, TILE_N = 128, 256  # of a program; each consumer has half of the rows
STEP = 128                 # bytes of a row of x or weight in one step along k
STAGES = 4
DTYPES = {torch.bfloat16: gl.bfloat16, torch.float16: gl.float16, torch.float8_e4m3fn: gl.float8e4nv}


@functools.cache
def multiprocessors() -> int:
    """SMs of this GPU; 132 without one."""
    return triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"]


# Task 1
def turn(i: int, stages: int) -> tuple[int, int, int]:
    """The slot of item i, and the phases that are waited for: by the consumers at full, by the producer at empty."""
    raise NotImplementedError("week2/katas/gluon_gemm task 1: turn")


def produce(ring: ring_model.Ring, items: int) -> None:
    """Copy items 0, 1, 2, ... into the ring. It has ring.stages slots, an item has ring.item_bytes bytes."""
    raise NotImplementedError("week2/katas/gluon_gemm task 1: produce")


def consume(ring: ring_model.Ring, items: int) -> list[int]:
    """What ring.use gave for items 0, 1, 2, ... Two consumers run this, at the same time."""
    raise NotImplementedError("week2/katas/gluon_gemm task 1: consume")


def use_ring(items: int, stages: int) -> list[list[int]]:
    """What both consumers used, if the roles run in every order. Given."""
    return ring_model.run_ring(produce, consume, items, stages)[0]


def most_on_their_way(items: int, stages: int) -> int:
    """The most items whose copies were on their way at once. Given."""
    return ring_model.run_ring(produce, consume, items, stages)[1]


# Task 2
def stage_bytes(tile_m: int, tile_n: int, tile_k: int, itemsize: int) -> int:
    """Bytes that arrive in one stage: all boxes of x and weight, elements of `itemsize` bytes."""
    raise NotImplementedError("week2/katas/gluon_gemm task 2: stage_bytes")


def shared_bytes(tile_m: int, tile_n: int, tile_k: int, itemsize: int, stages: int) -> int:
    """Bytes of shared memory: the stages, two barriers of 8 bytes for each, and two places that results leave from.

    Such a place has tile_m // 2 rows and tile_n // 2 columns, of 2 bytes an element whatever x has. The compiler
    adds up to 255 bytes of its own, which do not count here.
    """
    raise NotImplementedError("week2/katas/gluon_gemm task 2: shared_bytes")


def acc_registers(tile_m: int, tile_n: int) -> int:
    """Registers that the sums take in each of the 128 threads of a consumer; a float32 takes one."""
    raise NotImplementedError("week2/katas/gluon_gemm task 2: acc_registers")


def most_registers(of_producer: int) -> int:
    """The most registers of a thread of the two consumers, 128 threads each, a multiple of 8.

    of_producer: registers of a thread of the producer, 24 or more. It gets those of 128 threads.
    """
    raise NotImplementedError("week2/katas/gluon_gemm task 2: most_registers")


# Given
@gluon.jit
def tile_of(number, tiles_down, tiles_across):
    """Row and column of a tile, both counted in tiles: the order of week 2's day 7, in groups of 8 rows of tiles."""
    first_row = number // (8 * tiles_across) * 8
    rows = min(8, tiles_down - first_row)
    place = number % (8 * tiles_across)
    return first_row + place % rows, place // rows


@gluon.jit
def store_half(acc, out_desc, out_place, row, col):
    """Store the sums of a consumer at row and col: rounded, through shared memory, half of the columns at a time."""
    ROWS: gl.constexpr = acc.shape[0]
    COLS: gl.constexpr = acc.shape[1] // 2
    halves = acc.reshape([ROWS, 2, COLS]).permute([0, 2, 1]).split()
    for half in gl.static_range(2):
        tma.store_wait(0)  # the engine has read what was in out_place
        out_place.store(halves[half].to(out_desc.dtype))
        fence_async_shared()
        tma.async_copy_shared_to_global(out_desc, [row, col + half * COLS], out_place)


# Task 3
@gluon.jit
def producer(x_desc, weight_desc, x_slots, weight_slots, full, empty, m, n, k, TILE_M: gl.constexpr,
             TILE_N: gl.constexpr, TILE_K: gl.constexpr, STAGES: gl.constexpr, BYTES: gl.constexpr):
    """One warp. BYTES: of a stage. A box of x has TILE_M // 2 rows, one of weight TILE_N, both TILE_K columns.

    A copy begins at a row and a column of elements.
    """
    tiles = gl.cdiv(m, TILE_M) * gl.cdiv(n, TILE_N)
    pass  # this program's tiles, and the steps of each: wait, expect, three copies


# Task 4
@gluon.jit
def consumer(out_desc, x_slots, weight_slots, out_places, full, empty, m, n, k, HALF: gl.constexpr,
             LAYOUT: gl.constexpr, TILE_M: gl.constexpr, TILE_N: gl.constexpr, TILE_K: gl.constexpr,
             STAGES: gl.constexpr):
    """One warpgroup. HALF: 0 for the upper rows of a tile, 1 for the lower ones. LAYOUT: which thread has which sums.

    A tile ends with store_half(acc, out_desc, out_places.index(HALF), row, col): where the half begins, in elements.
    """
    tiles = gl.cdiv(m, TILE_M) * gl.cdiv(n, TILE_N)
    acc = gl.zeros([TILE_M // 2, TILE_N], gl.float32, LAYOUT)
    pass  # the same tiles and steps: wait, multiply, wait for the product before, give its slot back; at last store


# Given
@gluon.jit
def consumer_role(out_desc, x_slots, weight_slots, out_places, full, empty, m, n, k, HALF: gl.constexpr,
                  LAYOUT: gl.constexpr, TILE_M: gl.constexpr, TILE_N: gl.constexpr, TILE_K: gl.constexpr,
                  STAGES: gl.constexpr):
    consumer(out_desc, x_slots, weight_slots, out_places, full, empty, m, n, k, HALF, LAYOUT, TILE_M, TILE_N, TILE_K,
             STAGES)
    tma.store_wait(0)  # the engine has read all results from shared memory


@gluon.jit
def ring_of(x_desc, weight_desc, STAGES: gl.constexpr):
    """Slots for boxes, and two barriers for each."""
    x_slots = gl.allocate_shared_memory(x_desc.dtype, [2 * STAGES] + x_desc.block_shape, x_desc.layout)
    weight_slots = gl.allocate_shared_memory(weight_desc.dtype, [STAGES] + weight_desc.block_shape, weight_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for slot in gl.static_range(STAGES):
        mbarrier.init(full.index(slot), count=1)
        mbarrier.init(empty.index(slot), count=2)
    return x_slots, weight_slots, full, empty


@gluon.jit
def linear_kernel(x_desc, weight_desc, out_desc, m, n, k, LAYOUT: gl.constexpr, TILE_M: gl.constexpr,
                  TILE_N: gl.constexpr, TILE_K: gl.constexpr, STAGES: gl.constexpr, BYTES: gl.constexpr):
    """Shared memory, barriers and roles. The first role runs in the warps of the launch, the others in 4 and 1 more.

    [240, 24]: registers of a thread in those.
    """
    x_slots, weight_slots, full, empty = ring_of(x_desc, weight_desc, STAGES)
    out_places = gl.allocate_shared_memory(out_desc.dtype, [2, TILE_M // 2, TILE_N // 2], out_desc.layout)
    gl.warp_specialize([
        (consumer_role, (out_desc, x_slots, weight_slots, out_places, full, empty, m, n, k, 0, LAYOUT, TILE_M,
                         TILE_N, TILE_K, STAGES)),
        (consumer_role, (out_desc, x_slots, weight_slots, out_places, full, empty, m, n, k, 1, LAYOUT, TILE_M,
                         TILE_N, TILE_K, STAGES)),
        (producer, (x_desc, weight_desc, x_slots, weight_slots, full, empty, m, n, k, TILE_M, TILE_N, TILE_K, STAGES,
                    BYTES)),
    ], [4, 1], [240, 24])


@gluon.jit
def producer_kernel(x_desc, weight_desc, m, n, k, TILE_M: gl.constexpr, TILE_N: gl.constexpr, TILE_K: gl.constexpr,
                    STAGES: gl.constexpr, BYTES: gl.constexpr):
    """The producer alone, to be compiled and not run: nobody empties its slots."""
    x_slots, weight_slots, full, empty = ring_of(x_desc, weight_desc, STAGES)
    producer(x_desc, weight_desc, x_slots, weight_slots, full, empty, m, n, k, TILE_M, TILE_N, TILE_K, STAGES, BYTES)


def boxes_of(x: torch.Tensor, rows: int, cols: int) -> TensorDescriptor:
    """A descriptor of x, whose boxes lie in shared memory as the tensor cores want them."""
    layout = gl.NVMMASharedLayout.get_default_for([rows, cols], DTYPES[x.dtype])
    return TensorDescriptor.from_tensor(x, [rows, cols], layout)


def operands(x: torch.Tensor, weight: torch.Tensor) -> tuple[tuple, dict]:
    """What both kernels take: descriptors and lengths; constants by name."""
    (m, k), n, tile_k = x.shape, weight.shape[0], STEP // x.element_size()
    constants = {"TILE_M": TILE_M, "TILE_N": TILE_N, "TILE_K": tile_k, "STAGES": STAGES,
                 "BYTES": stage_bytes(TILE_M, TILE_N, tile_k, x.element_size())}
    return (boxes_of(x, TILE_M // 2, tile_k), boxes_of(weight, TILE_N, tile_k), m, n, k), constants


def linear(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """x @ weight.T by linear_kernel, which only a Hopper GPU runs. At most one program for each SM.

    x: (m, k), weight: (n, k), contiguous, of one of DTYPES. k: at least 1, rows of a multiple of 16 bytes; n: a
    multiple of 8. The result: (m, n), of the dtype of x; bfloat16 if that is FP8.
    """
    (x_desc, weight_desc, m, n, k), constants = operands(x, weight)
    out = torch.empty((m, n), dtype=torch.bfloat16 if x.element_size() == 1 else x.dtype, device=x.device)
    layout = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, TILE_N, 32 // x.element_size()])
    programs = min(multiprocessors(), triton.cdiv(m, TILE_M) * triton.cdiv(n, TILE_N))
    linear_kernel[(programs,)](
        x_desc, weight_desc, boxes_of(out, TILE_M // 2, TILE_N // 2), m, n, k, LAYOUT=layout, **constants,
        num_warps=4, maxnreg=168)
    return out


def producer_alone(x: torch.Tensor, weight: torch.Tensor) -> None:
    """The producer of linear, for the compiler: compiled(producer_alone, x, weight). On a GPU it would never end."""
    arguments, constants = operands(x, weight)
    producer_kernel[(1,)](*arguments, **constants, num_warps=1)


# Given: the roles in the model, with tiles of 4 x 8 and steps of 2 along k
def asked_boxes(m: int, n: int, k: int, stages: int, program: int = 0, programs: int = 1) -> list[tuple]:
    """What your producer asks for at each step: where the upper and lower box of x begin, and that of weight."""
    return _asked(m, n, k, stages, program, programs)[0]


def asked_at_once(m: int, n: int, k: int, stages: int) -> int:
    """The most stages whose copies were on their way at once, by your producer."""
    return _asked(m, n, k, stages, 0, 1)[1]


def _asked(m, n, k, stages, program, programs):
    return gluon_model.run_producer(
        producer, (m, n, k), (4, 8, 2), stages, (program, programs), stage_bytes(4, 8, 2, 2), 2)


def simulate(x: torch.Tensor, weight: torch.Tensor, stages: int, programs: int = 1) -> torch.Tensor:
    """x @ weight.T in float64 by your producer and consumer."""
    return torch.from_numpy(_modelled(x, weight, stages, programs)[0])


def overlap(x: torch.Tensor, weight: torch.Tensor, stages: int) -> dict[str, int]:
    """The most that was seen in any order of the roles: products in flight, stages on their way, and what costs time.

    "slots kept while storing": slots of used items that a consumer had not given back when it stored a tile.
    "waits for a store": how often a consumer waited for its own store before the next tile's first product.
    """
    return _modelled(x, weight, stages, 1)[1]


def _modelled(x, weight, stages, programs):
    return gluon_model.run_linear(
        x.double().cpu().numpy(), weight.double().cpu().numpy(), (producer, consumer), (4, 8, 2), stages, programs,
        stage_bytes(4, 8, 2, x.element_size()), x.element_size())
