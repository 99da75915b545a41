"""The lesson again, as checks: who is done when, programs that stay, turns from a counter, orders, the cheapest."""

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, speed_ratio
from tools.check.inputs import integers, vectors
from tools.check.tolerances import accumulated, elementwise
from tools.gpu import device
from week2.katas.persistent import persistent as lesson

LESSON = [6, 1, 4, 1, 3, 1]
WIDTH = 3000  # weights of a kind
INF, NAN = float("inf"), float("nan")


# Task 1: who is done when -------------------------------------------------------------------------

def static_by_clock(lengths, programs):
    """Every clock, each program works on the first of its own rows that is not done."""
    left = [[length for row, length in enumerate(lengths) if row % programs == p] for p in range(programs)]
    clocks = 0
    while any(sum(rows) for rows in left):
        clocks += 1
        for rows in left:
            while rows and rows[0] == 0:
                rows.pop(0)
            if rows:
                rows[0] -= 1
    return clocks


def queue_by_clock(lengths, programs):
    """Every clock, each program that has nothing takes the next row."""
    waiting, left, clocks = list(lengths), [0] * programs, 0
    while True:
        for p in range(programs):
            while left[p] == 0 and waiting:
                left[p] = waiting.pop(0)
        if not any(left):
            return clocks
        clocks += 1
        left = [max(0, clock - 1) for clock in left]


@pytest.mark.task(1)
@pytest.mark.parametrize("lengths, programs", [([3, 1], 2), ([3, 1, 2], 2), (LESSON, 2), (LESSON, 3)])
def test_program_p_takes_every_row_that_is_programs_further(lengths, programs):
    assert_matches(lesson.static_makespan, lengths, programs, oracle=static_by_clock)


@pytest.mark.task(1)
@pytest.mark.parametrize("lengths, programs", [([3, 1], 2), ([3, 1, 1], 2), ([2, 2, 8], 2), (LESSON, 2), (LESSON, 3)])
def test_whoever_is_free_takes_the_next_row(lengths, programs):
    assert_matches(lesson.queue_makespan, lengths, programs, oracle=queue_by_clock)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("lengths, programs", [
    ([], 3), ([5], 1), ([5], 4), ([2] * 9, 4), ([0, 7, 0, 1], 2), ([1] * 133, 132),
    ([3, 9, 1, 4, 4, 2, 8, 1, 1, 6, 5, 7, 2], 3)])
def test_there_may_be_more_programs_than_rows_and_rows_of_nothing(lengths, programs):
    assert_matches(lesson.static_makespan, lengths, programs, oracle=static_by_clock)
    assert_matches(lesson.queue_makespan, lengths, programs, oracle=queue_by_clock)


@pytest.mark.task(1)
@pytest.mark.parametrize("makespan", [13, 9, 8])
def test_the_share_is_work_by_the_time_of_all_programs(makespan):
    """16 clocks of work, two programs."""
    def share(lengths, programs, makespan):
        return (6 + 1 + 4 + 1 + 3 + 1) / (makespan + makespan)

    assert_matches(lesson.busy_share, LESSON, 2, makespan, oracle=share, tolerance=elementwise(np.float64))


# Tasks 2 and 3: programs that stay ----------------------------------------------------------------

def ragged(rng, lengths, kinds=3, order=None, whole=True):
    """Rows of these lengths, of kinds 0, 1, 2, 0, ... Whole numbers from -2 to 2, whose sums are exact, or any."""
    n, rows = sum(lengths), len(lengths)
    if whole:
        x, weight = integers(rng, (n,), -2, 3), integers(rng, (kinds, WIDTH), -2, 3)
    else:
        x, weight = (vectors(rng, size, count=1)[0] for size in (n, kinds * WIDTH))
    x, weight = (torch.as_tensor(values).to(device, torch.float32) for values in (x, weight))
    starts = numbers(np.cumsum([0, *lengths]))
    order = numbers(range(rows) if order is None else order)
    return x, starts, numbers(row % kinds for row in range(rows)), weight.reshape(kinds, WIDTH), order


def numbers(values):
    return torch.tensor([int(value) for value in values], dtype=torch.int32, device=device)


def row_by_row(x, starts, kinds, weight, order, programs=None):
    out = torch.zeros(len(kinds), dtype=weight.dtype, device=x.device)
    for row, kind in enumerate(kinds.tolist()):
        first, end = int(starts[row]), int(starts[row + 1])
        out[row] = 0.0 + (x[first:end] * weight[kind, :end - first]).sum()  # 0.0 for -0.0
    return out


def owners_of(function, arguments, programs):
    """The program that computed each row; -1 where nobody did."""
    owners = torch.full_like(arguments[2], -1)
    function(*arguments, programs, owners=owners)
    return owners.tolist()


@pytest.mark.task(2)
def test_static_one_program_takes_all_rows(rng):
    assert_matches(lesson.sums_static, *ragged(rng, [3, 1, 2]), 1, oracle=row_by_row, exact=True)


@pytest.mark.task(2)
@pytest.mark.parametrize("rows, programs, wanted", [(2, 2, [0, 1]), (5, 2, [0, 1, 0, 1, 0]), (4, 3, [0, 1, 2, 0])])
def test_static_turns_go_round_the_programs(rows, programs, wanted, rng):
    owners = owners_of(lesson.sums_static, ragged(rng, [2] * rows), programs)
    assert owners == wanted, f"{rows} rows, {programs} programs: rows were taken by {owners}, wanted: {wanted}."


@pytest.mark.task(2)
def test_static_turn_t_is_row_order_t(rng):
    owners = owners_of(lesson.sums_static, ragged(rng, [2] * 4, order=[3, 1, 0, 2]), 2)
    wanted = [0, 1, 1, 0]  # turns 0 and 2 are rows 3 and 0
    assert owners == wanted, f"Of order 3, 1, 0, 2 rows were taken by {owners}, wanted: {wanted}."


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("lengths", [[], [0], [1], [0, 5, 0], [1023, 1024, 1025], [7, 2049, 1, 0, 300, 64, 8]])
@pytest.mark.parametrize("programs", [1, 3])
def test_static_takes_rows_of_any_length_and_any_number_of_them(lengths, programs, rng):
    assert_matches(lesson.sums_static, *ragged(rng, lengths), programs, oracle=row_by_row, exact=True)


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_static_nan_and_infinity_stay_in_their_rows():
    x = torch.tensor([1.0, NAN, 2.0, INF, 5.0], device=device)
    weight = torch.ones((1, WIDTH), device=device)
    arguments = x, numbers([0, 1, 2, 3, 4, 5]), numbers([0] * 5), weight, numbers([4, 2, 0, 1, 3])
    assert_matches(lesson.sums_static, *arguments, 2, oracle=row_by_row, exact=True)


def traffic_of(lengths):
    """Bytes loaded: the row of each turn, where it begins and ends, its kind; its elements and their weights."""
    return 4 * (4 * len(lengths) + 2 * sum(lengths))


@pytest.mark.task(2)
@pytest.mark.counters
def test_static_each_program_stays_and_each_row_is_read_once(rng):
    lengths = [5, 40, 3, 17, 1, 1100]
    counters = count(lesson.sums_static, *ragged(rng, lengths), 4)
    assert counters.programs == 4, f"{counters.programs} programs were launched, wanted: 4, who stay."
    assert counters.bytes_loaded == traffic_of(lengths)
    assert counters.bytes_stored == 4 * len(lengths)
    assert counters.bytes_atomic == 0


@pytest.mark.task(2)
@pytest.mark.compiled
def test_static_loads_and_sums_without_an_atomic(rng):
    kernel = compiled(lesson.sums_static, *ragged(rng, LESSON), 2, chip="h100").kernels["static_kernel"]
    loads = sum(times for name, times in kernel.instructions.items() if name.startswith("ld.global"))
    atomics = [name for name in kernel.instructions if name.startswith(("atom", "red."))]
    assert loads >= 6, f"{loads} loads stand in the code: order, two starts, kind, x and weight are wanted."
    assert atomics == []
    assert kernel.spills == 0


@pytest.mark.task(3)
def test_queue_one_program_takes_all_rows(rng):
    assert_matches(lesson.sums_by_queue, *ragged(rng, [3, 1, 2]), 1, oracle=row_by_row, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_queue_each_program_stays_and_each_row_is_read_once(rng):
    lengths = [5, 40, 3, 17, 1, 1100]
    counters = count(lesson.sums_by_queue, *ragged(rng, lengths), 4)
    assert counters.programs == 4, f"{counters.programs} programs were launched, wanted: 4, who stay."
    assert counters.bytes_loaded == traffic_of(lengths)
    assert counters.bytes_stored == 4 * len(lengths)


@pytest.mark.task(3)
@pytest.mark.parametrize("rows, programs", [(2, 2), (6, 2), (7, 3), (3, 5)])
def test_queue_no_row_is_left_out(rows, programs, rng):
    owners = owners_of(lesson.sums_by_queue, ragged(rng, [2] * rows), programs)
    left_out = [row for row, owner in enumerate(owners) if owner == -1]
    assert left_out == [], f"{rows} rows, {programs} programs: nobody took rows {left_out}."


@pytest.mark.task(3)
def test_queue_begins_anew_at_each_launch(rng):
    arguments = ragged(rng, LESSON)
    for _ in range(2):
        owners = owners_of(lesson.sums_by_queue, arguments, 2)
        assert -1 not in owners, f"A second launch took {6 - owners.count(-1)} of 6 rows. Where does its counter begin?"


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("rows, programs", [(6, 2), (9, 4), (2, 5)])
def test_queue_every_turn_is_drawn_from_the_counter(rows, programs, rng):
    """One for each row, and one for each program that is no row. To begin with turn program_id saves these."""
    counters = count(lesson.sums_by_queue, *ragged(rng, [2] * rows), programs)
    drawn, least, most = counters.bytes_atomic, 4 * rows, 4 * (rows + programs)
    why = f"Atomics updated {drawn} bytes, wanted: {most}, an int32 for each of {rows} rows and {programs} programs."
    as_many = least <= drawn <= most
    assert as_many, why


@pytest.mark.task(3)
@pytest.mark.counters
def test_queue_looks_each_turn_up_in_the_order(rng):
    lengths = [8, 8, 8, 8]
    loaded = count(lesson.sums_by_queue, *ragged(rng, lengths, order=[3, 2, 0, 1]), 2).bytes_loaded
    wanted = traffic_of(lengths)
    why = f"{loaded} bytes were loaded, wanted: {wanted}, 16 of them the rows of four turns."
    assert loaded == wanted, why


@pytest.mark.task(3)
@pytest.mark.parametrize("programs, given_out", [(1, 3), (2, 4)])
def test_queue_nobody_takes_a_turn_that_was_given_out_before(programs, given_out):
    """The counter stands at 3 or 4 already. A program may begin with turn program_id, and draw afterwards."""
    order = [3, 1, 0, 2]
    owners = lesson.owners_by_queue(order, programs, given_out)
    taken = {turn for turn, row in enumerate(order) if owners[row] != -1} - set(range(programs))
    why = (f"The counter stood at {given_out} of 4, so turns {list(range(given_out, 4))} are left. "
           f"{programs} programs took {sorted(taken)}.")
    assert taken == set(range(given_out, 4)), why


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("lengths", [[], [0], [1], [0, 5, 0], [1023, 1024, 1025], [7, 2049, 1, 0, 300, 64, 8]])
@pytest.mark.parametrize("programs", [1, 3])
def test_queue_takes_rows_of_any_length_and_any_number_of_them(lengths, programs, rng):
    assert_matches(lesson.sums_by_queue, *ragged(rng, lengths), programs, oracle=row_by_row, exact=True)


@pytest.mark.task(2, 3)
@pytest.mark.counters
@pytest.mark.parametrize("name", ["sums_static", "sums_by_queue"])
def test_as_many_programs_as_fit_stay_if_no_number_is_given(name, rng):
    counters = count(getattr(lesson, name), *ragged(rng, LESSON))
    assert counters.programs in (lesson.programs_that_fit(), 8 * 132)  # of this GPU, or of the simulated one


@pytest.mark.task(2, 3)
@pytest.mark.tolerance
def test_a_row_has_the_same_bits_whoever_sums_it(rng):
    """By a grid, by static turns and by queue, in two orders: one program adds up a row, in one order."""
    lengths = [700, 3, 2500, 64, 1, 1500, 2900, 2222]
    plain = ragged(rng, lengths, whole=False)
    assert_matches(lesson.sums_by_queue, *plain, 2, oracle=row_by_row, tolerance=accumulated(np.float32, 2900))
    turned = *plain[:4], numbers([5, 2, 7, 0, 1, 3, 6, 4])
    results = [lesson.sums_by_grid(*plain), *(function(*arguments, programs) for arguments in (plain, turned)
               for programs in (1, 2, 4) for function in (lesson.sums_static, lesson.sums_by_queue))]
    differ = [i for i, result in enumerate(results) if not torch.equal(result, results[0])]
    assert differ == [], f"Of {len(results)} ways to launch, these gave other bits than the grid: {differ}."


@pytest.mark.task(3)
@pytest.mark.compiled
def test_queue_draws_by_an_atomic_and_sums_in_float32(rng):
    kernel = compiled(lesson.sums_by_queue, *ragged(rng, LESSON), 2, chip="h100").kernels["queue_kernel"]
    atomics = sum(times for name, times in kernel.instructions.items() if name.startswith("atom"))
    in_float64 = [name for name in kernel.instructions if "f64" in name]
    assert atomics in (1, 2), f"{atomics} atomics stand in the code: a first turn and a next one are wanted."
    assert in_float64 == []
    assert kernel.spills == 0


@pytest.mark.task(3)
@pytest.mark.gpu
def test_queue_shares_long_rows_that_all_fall_to_one_program_otherwise(rng):
    """Every 64th of 1024 rows is long. By static turns program 0 of 64 has all 16."""
    lengths = [2900 if row % 64 == 0 else 1 for row in range(1024)]
    arguments = ragged(rng, lengths)
    static, queue = (owners_of(function, arguments, 64) for function in (lesson.sums_static, lesson.sums_by_queue))
    most_static, most_queue = (max(owners[::64].count(p) for p in range(64)) for owners in (static, queue))
    assert most_static == 16
    assert most_queue < 16, f"One program drew {most_queue} of the 16 long rows."


@pytest.mark.task(3)
@pytest.mark.hopper
@pytest.mark.speed
def test_queue_is_twice_as_fast_as_static_turns_where_one_program_has_all_long_rows():
    """16 rows of 131072 elements, each the first of as many rows as there are programs; all others have 16."""
    programs, long = lesson.programs_that_fit(), 2**17
    lengths = torch.full((16 * programs,), 16)
    lengths[::programs] = long
    starts = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
    rows = len(lengths)
    x, weight = (torch.randn(size, device=device) for size in (int(lengths.sum()), (3, long)))
    arguments = (x, starts.to(device, torch.int32), numbers(row % 3 for row in range(rows)), weight,
                 numbers(range(rows)))
    assert speed_ratio(lesson.sums_by_queue, lesson.sums_static, *arguments) >= 2


# Task 4: which row is whose turn ------------------------------------------------------------------

def pick_the_longest(lengths):
    left, order = dict(enumerate(lengths)), []
    while left:
        longest = max(left.values())
        row = next(row for row, length in left.items() if length == longest)
        order.append(row)
        del left[row]
    return order


@pytest.mark.task(4)
@pytest.mark.parametrize("lengths", [[1, 3, 2], LESSON, [5, 5, 5], [0, 2, 0, 7, 2], []])
def test_longest_first_and_equals_as_they_come(lengths):
    assert_matches(lesson.longest_first, lengths, oracle=pick_the_longest)


@pytest.mark.task(1, 4)
def test_the_longest_first_are_done_earlier():
    """As in the lesson's picture: 9 clocks as they come, 8 with the longest first."""
    order = lesson.longest_first(LESSON)
    as_they_come = lesson.queue_makespan(LESSON, 2)
    sorted_rows = lesson.queue_makespan([LESSON[row] for row in order], 2)
    assert (as_they_come, sorted_rows) == (9, 8), f"Makespans: {as_they_come} and {sorted_rows}, wanted: 9 and 8."


def kind_after_kind(lengths, kinds):
    order = []
    for kind in range(max(kinds, default=0) + 1):
        rows = [row for row in range(len(kinds)) if kinds[row] == kind]
        order += [rows[i] for i in pick_the_longest([lengths[row] for row in rows])]
    return order


@pytest.mark.task(4)
@pytest.mark.parametrize("lengths, kinds", [
    ([1, 1, 1], [1, 0, 1]), ([1, 2, 3], [0, 0, 0]), (LESSON, [2, 0, 1, 0, 2, 2]), ([4, 9, 4, 9], [1, 0, 1, 1]),
    ([], [])])
def test_kinds_stay_together_each_with_its_longest_first(lengths, kinds):
    assert_matches(lesson.by_kind, lengths, kinds, oracle=kind_after_kind)


def bytes_by_marks(order, kinds, programs, width):
    """Mark the weights that a wave touches, and count."""
    waves = []
    for first in range(0, len(order), programs):
        touched = np.zeros((100, width), np.float32)
        for row in order[first:first + programs]:
            touched[kinds[row]] = 1
        waves.append(int(touched.sum()) * touched.itemsize)
    return waves


@pytest.mark.task(4)
@pytest.mark.parametrize("order, kinds, programs", [
    ([0], [5], 1), ([0, 1], [5, 5], 2), ([0, 1], [5, 6], 2), ([0, 1, 2], [5, 5, 6], 2), ([2, 0, 1, 3], [1, 2, 1, 2], 2),
    ([], [], 4), ([0, 1, 2, 3, 4], [0, 1, 0, 1, 2], 4)])
def test_weights_of_a_kind_count_once_in_a_wave(order, kinds, programs):
    assert_matches(lesson.wave_bytes, order, kinds, programs, 30, oracle=bytes_by_marks)


@pytest.mark.task(4)
def test_an_order_by_kind_touches_fewer_weights():
    """64 rows of 8 kinds that take turns, 16 programs: 8 kinds in each wave, or 2."""
    kinds = [row % 8 for row in range(64)]
    sums = [sum(lesson.wave_bytes(order, kinds, 16, 1000)) for order in (
        list(range(64)), lesson.by_kind([1] * 64, kinds))]
    assert sums == [4 * 8 * 4000, 4 * 2 * 4000], f"{sums} bytes in all, wanted: {[128000, 32000]}."


# Task 5: a grid, static turns or a queue ---------------------------------------------------------

def clocks_by_clock(lengths, programs, start, ticket):
    return (queue_by_clock([start + length for length in lengths], programs),
            start + static_by_clock(lengths, programs),
            start + queue_by_clock([ticket + length for length in lengths], programs))


@pytest.mark.task(5)
@pytest.mark.parametrize("start, ticket", [(0, 0), (10, 0), (0, 1), (10, 1), (2, 4)])
@pytest.mark.parametrize("lengths", [[4], [4] * 8, LESSON])
def test_a_grid_starts_for_each_row_and_a_queue_has_tickets(lengths, start, ticket):
    assert_matches(lesson.predict_clocks, lengths, 2, start, ticket, oracle=clocks_by_clock)


@pytest.mark.task(5)
@pytest.mark.parametrize("lengths, start, ticket, wanted", [
    ([4] * 8, 10, 2, "static"), (LESSON, 10, 1, "queue"), (LESSON, 0, 1, "grid"), ([5, 5], 3, 0, "grid")])
def test_programs_that_stay_pay_where_starts_cost_more_than_they_save(lengths, start, ticket, wanted):
    """Equal rows; uneven rows; starts for nothing; a row for each of two programs."""
    name = lesson.cheapest(lengths, 2, start, ticket)
    why = f"Rows {lengths}, start {start}, ticket {ticket}: {name} is said to be done first, wanted: {wanted}."
    assert name == wanted, why
