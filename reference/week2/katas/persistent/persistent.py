"""Week 2, kata: programs that stay (persistent)

Challenge
    Rows of very different lengths: documents, experts, sequences. A fixed number of programs stays on the GPU and takes
    row after row. Decide who takes which row, predict when the last one is done, and say when it is not worth it.

        6 rows that take 6, 1, 4, 1, 3, 1 clocks; 2 programs; each digit is one clock, and names the row
        every second row       program 0   0000002222444      13 clocks
                               program 1   135
        the next row, by queue program 0   000000444           9
                               program 1   1222235
        queue, longest first   program 0   00000013            8
                               program 1   22224445

Explore
    ./course python -c "x = [6, 1, 4, 1, 3, 1]; print(sum(x[0::2]), sum(x[1::2]), sum(x) / 2)"
    Which line of the picture is that? Why can no order of the rows be done in less than the third number?

Concept
    Turns are rows in the order in which they are given out: turn t is row order[t], in a kernel a load from order_ptr.
    Static: program p takes turns p, p + programs, p + 2 * programs, ... Nobody has to ask. If rows are equally long, no
    program has more than one row more than another. In a kernel tl.program_id(0) is p, tl.num_programs(0) is the number
    of programs, and range(begin, end, step) may use them.
    Queue: a program that is free takes the next turn that nobody has. A counter in memory starts at 0, and
        turn = tl.atomic_add(next_ptr, 1)
    gives the number that it had before, and adds 1: no two programs get the same. A program goes on while its turn is
    a row: while turn < rows. Triton has no break. It draws when its row is done: who draws before that holds a turn
    that a free program could take, and the picture's rows are done after 10 clocks, not 9. Each program draws one turn
    too many, from which it learns that it is done.
    The counter has to be 0 at each launch: torch.zeros(1, dtype=torch.int32, device=x.device).
    The number of programs is fixed: it depends on the GPU, not on the rows.
    Makespan (day 4): the time until the last program is done. It is no shorter than all work / programs, and no shorter
    than the longest row. If a long row comes last, all others wait for it. So give out the longest rows first.
    Order: sorted(range(rows), key=lambda row: -lengths[row]) sorts rows, the longest first, and leaves equally long
    ones as they were. A key may be a pair: rows with equal first parts are sorted by the second.
    L2: each row is multiplied by the weights of its kind, `width` numbers. A simple model: turns run in waves (day 7),
    each of as many turns as there are programs, and L2 loads the weights of a kind once a wave. kinds has the kind of
    each row, so that of turn t is kinds[order[t]]. Sorted by kind, the rows of a wave need few weights; but then the
    longest rows are not first.
    When to keep the grid: a grid with a program for each row is a queue too. The hardware gives the next block to the
    SM that is free, at the cost of a start each: the block is launched, its arguments are loaded. A program that stays
    has one start, and by queue also a ticket, an atomic, for each row. If rows are long and starts are short, staying
    gains nothing. It gains where rows are many and short, where a program prepares something that all its rows use,
    such as a table in shared memory, or where it loads the next tile before this one is stored, as on day 7.
    By queue the program of a row differs from run to run; its sum does not: one program adds it up, in one order.

Code it
    Task 1  static_makespan, queue_makespan, busy_share: who is done when            (seven lines)
    Task 2  static_kernel: each program takes the turns that are its own              (three lines)
    Task 3  queue_kernel and sums_by_queue: tickets                                   (nine lines)
    Task 4  longest_first, by_kind, wave_bytes: which row is whose turn               (four lines)
    Task 5  predict_clocks: a grid, programs that stay, or a queue?                   (four lines)

Verify
    pytest week2/katas/persistent      then: ./course quiz week2/katas/persistent
    Reflect: all rows are equally long. Which of the three would you take, and what decides?

Simulated without a GPU: results, bytes and atomics are exact; programs take turns at the counter in some order, which
is not that of time. So makespans are computed here. On any GPU a test sees which program took which row; on a Hopper
GPU (H100, H200) another one times the queue beside static turns.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import functools

import torch
import triton
import triton.language as tl

BLOCK = 1024
PROGRAMS_PER_SM = 8  # of 4 warps each: at up to 64 registers a thread an SM has room for so many


@functools.cache
def programs_that_fit() -> int:
    """So many programs that all of them run at once: 8 for each SM of this GPU.

    More may fit: `./course compiled` says how many blocks an SM holds. None has to wait for another's end.
    """
    sms = triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"]
    return PROGRAMS_PER_SM * sms


# Task 1
def static_makespan(lengths: list[int], programs: int) -> int:
    """Clocks until the last program is done, if program p takes rows p, p + programs, ... A row takes its length."""
    return max(sum(lengths[p::programs]) for p in range(programs))


def queue_makespan(lengths: list[int], programs: int) -> int:
    """Clocks until the last program is done, if whoever is free first takes the next row.

    Of several that are free, say that the one with the lowest number takes it: whoever does, the makespan is the same.
    """
    free = [0] * programs  # when each program is free
    for length in lengths:
        first = free.index(min(free))
        free[first] += length
    return max(free)


def busy_share(lengths: list[int], programs: int, makespan: int) -> float:
    """The share of the programs' time, from 0 to 1, in which they work on rows. makespan: more than 0."""
    return sum(lengths) / (programs * makespan)


# Given: the work on one row
@triton.jit
def sum_row(x_ptr, starts_ptr, kinds_ptr, weight_ptr, out_ptr, owners_ptr, row, width, BLOCK: tl.constexpr):
    """out[row] = the sum of x times the weights of the row's kind; owners[row], if wanted, the program that did it."""
    start = tl.load(starts_ptr + row)
    length = tl.load(starts_ptr + row + 1) - start
    kind = tl.load(kinds_ptr + row)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, length, BLOCK):
        j = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + j, mask=j < length, other=0.0)
        weight = tl.load(weight_ptr + kind * width + j, mask=j < length, other=0.0)
        total += x * weight
    tl.store(out_ptr + row, tl.sum(total))
    if owners_ptr is not None:
        tl.store(owners_ptr + row, tl.program_id(0))


@triton.jit
def grid_kernel(x_ptr, starts_ptr, kinds_ptr, weight_ptr, order_ptr, out_ptr, owners_ptr, width, BLOCK: tl.constexpr):
    row = tl.load(order_ptr + tl.program_id(0))
    sum_row(x_ptr, starts_ptr, kinds_ptr, weight_ptr, out_ptr, owners_ptr, row, width, BLOCK=BLOCK)


def sums_by_grid(x: torch.Tensor, starts: torch.Tensor, kinds: torch.Tensor, weight: torch.Tensor,
                 order: torch.Tensor, *, out: torch.Tensor | None = None,
                 owners: torch.Tensor | None = None) -> torch.Tensor:
    """The weighted sum of each row, (rows,) float32: one program for each row.

    x: float32, row after row. starts: int32, (rows + 1,): row r is x[starts[r]:starts[r + 1]], which may be empty.
    kinds: int32, (rows,). weight: (kinds, width) float32, contiguous, width at least that of the longest row: row r is
    multiplied by the first numbers of weight[kinds[r]]. order: int32, (rows,): turn t is row order[t]. rows: 1 or more.
    out: allocated if not given. owners: int32, (rows,), if given: it gets the program that computed each row.
    """
    out = torch.empty(len(kinds), dtype=torch.float32, device=x.device) if out is None else out
    grid_kernel[(len(kinds),)](
        x, starts, kinds, weight, order, out, owners, weight.shape[1], BLOCK=BLOCK)
    return out


# Task 2
@triton.jit
def static_kernel(x_ptr, starts_ptr, kinds_ptr, weight_ptr, order_ptr, out_ptr, owners_ptr, rows, width,
                  BLOCK: tl.constexpr):
    for turn in range(tl.program_id(0), rows, tl.num_programs(0)):
        row = tl.load(order_ptr + turn)
        sum_row(x_ptr, starts_ptr, kinds_ptr, weight_ptr, out_ptr, owners_ptr, row, width, BLOCK=BLOCK)


def sums_static(x: torch.Tensor, starts: torch.Tensor, kinds: torch.Tensor, weight: torch.Tensor, order: torch.Tensor,
                programs: int | None = None, *, out: torch.Tensor | None = None,
                owners: torch.Tensor | None = None) -> torch.Tensor:
    """The same by static_kernel: `programs` programs that stay, programs_that_fit() if None. Given. rows may be 0."""
    out = torch.empty(len(kinds), dtype=torch.float32, device=x.device) if out is None else out
    static_kernel[(programs or programs_that_fit(),)](
        x, starts, kinds, weight, order, out, owners, len(kinds), weight.shape[1], BLOCK=BLOCK)
    return out


# Task 3
@triton.jit
def queue_kernel(x_ptr, starts_ptr, kinds_ptr, weight_ptr, order_ptr, out_ptr, owners_ptr, next_ptr, rows, width,
                 BLOCK: tl.constexpr):
    """next_ptr: the counter of turns, one int32."""
    tl.static_assert(next_ptr.dtype.element_ty == tl.int32, "The counter of turns, next_ptr, is no int32.")
    turn = tl.atomic_add(next_ptr, 1)
    while turn < rows:
        row = tl.load(order_ptr + turn)
        sum_row(x_ptr, starts_ptr, kinds_ptr, weight_ptr, out_ptr, owners_ptr, row, width, BLOCK=BLOCK)
        turn = tl.atomic_add(next_ptr, 1)


def sums_by_queue(x: torch.Tensor, starts: torch.Tensor, kinds: torch.Tensor, weight: torch.Tensor,
                  order: torch.Tensor, programs: int | None = None, *, out: torch.Tensor | None = None,
                  owners: torch.Tensor | None = None) -> torch.Tensor:
    """The same by queue_kernel: `programs` programs that stay, programs_that_fit() if None. rows may be 0.

    Fewer rows than programs do not lower that number.
    """
    out = torch.empty(len(kinds), dtype=torch.float32, device=x.device) if out is None else out
    turns = torch.zeros(1, dtype=torch.int32, device=x.device)
    queue_kernel[(programs or programs_that_fit(),)](
        x, starts, kinds, weight, order, out, owners, turns, len(kinds), weight.shape[1], BLOCK=BLOCK)
    return out


def owners_by_queue(order: list[int], programs: int, given_out: int, rows: int) -> list[int]:
    """The program that takes each row of one element, -1 for nobody. Given, for the tests.

    given_out: where the counter of turns stands at the start. rows: so many turns are rows; order may have more.
    """
    n = len(order)
    order, kinds, owners, turns = (torch.tensor(values, dtype=torch.int32, device=tools.gpu.device)
                                   for values in (order, [0] * n, [-1] * n, [given_out]))
    x, starts = torch.ones(n, device=order.device), torch.arange(n + 1, dtype=torch.int32, device=order.device)
    queue_kernel[(programs,)](
        x, starts, kinds, x, order, torch.empty_like(x), owners, turns, rows, 1, BLOCK=BLOCK)
    return owners.tolist()


def drawn_by_queue(given_out: int, rows: int) -> list[int]:
    """Where the counter of turns stands while one program sums each row; row t is turn t. Given, for the tests.

    The counter is the weight of all rows, and each has one element, 1. given_out: as in owners_by_queue.
    """
    order, starts, kinds, turns = (torch.tensor(values, dtype=torch.int32, device=tools.gpu.device)
                                   for values in (range(rows), range(rows + 1), [0] * rows, [given_out]))
    x, out = torch.ones(rows, device=order.device), torch.zeros(rows, device=order.device)
    queue_kernel[(1,)](x, starts, kinds, turns, order, out, None, turns, rows, 1, BLOCK=BLOCK)
    return out.int().tolist()


# Task 4
def longest_first(lengths: list[int]) -> list[int]:
    """An order of the rows: the longest first, equally long ones as they come."""
    return sorted(range(len(lengths)), key=lambda row: -lengths[row])


def by_kind(lengths: list[int], kinds: list[int]) -> list[int]:
    """An order of the rows: kind 0, then kind 1, ...; in a kind the longest first, equally long ones as they come."""
    return sorted(range(len(lengths)), key=lambda row: (kinds[row], -lengths[row]))


def wave_bytes(order: list[int], kinds: list[int], programs: int, width: int) -> list[int]:
    """Bytes of weight that each wave touches: `programs` turns that follow each other, the last wave perhaps fewer.

    The weights of a kind are `width` float32, and count once in a wave.
    """
    waves = [order[first:first + programs] for first in range(0, len(order), programs)]
    return [4 * width * len({kinds[row] for row in wave}) for wave in waves]


# Task 5
def predict_clocks(lengths: list[int], programs: int, start: int, ticket: int) -> tuple[int, int, int]:
    """Clocks until all rows are done by a grid, by static turns, and by queue.

    Grid: a program for each row. The hardware gives the next row to one of `programs` places, whichever is free first;
    each row takes its length and `start`. Static and queue: `programs` programs that stay, each pays `start` once.
    Queue: each row takes its length and `ticket`; the last turn, which is no row, takes nothing.
    Without rows these are 0, start and start.
    """
    grid = queue_makespan([start + length for length in lengths], programs)
    static = start + static_makespan(lengths, programs)
    queue = start + queue_makespan([ticket + length for length in lengths], programs)
    return grid, static, queue


def cheapest(lengths: list[int], programs: int, start: int, ticket: int) -> str:
    """What is done first, "grid", "static" or "queue"; the first of these if several are. Given."""
    clocks = dict(zip(("grid", "static", "queue"), predict_clocks(lengths, programs, start, ticket)))
    return min(clocks, key=lambda name: clocks[name])
