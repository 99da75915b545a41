"""The lesson again, as checks: who is done when, programs that stay, turns from a counter, orders, the cheapest."""

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, memory, speed_ratio
from tools.check.inputs import integers, vectors
from tools.check.tolerances import accumulated, elementwise
from tools.gpu import device
from week2.katas.persistent import persistent as lesson

LESSON = [6, 1, 4, 1, 3, 1]
WIDTH = 3000  # weights of a kind


def on_copies(function, *arguments):
    """What the function returns, given lists that no other test sees; it may not change them."""
    copies = [list(given) if isinstance(given, list) else given for given in arguments]
    result = function(*copies)
    for given, after in zip(arguments, copies):
        if given != after:
            raise AssertionError(f"It was given the list {given}, and left {after} of it to whoever calls it. "
                                 "Which line changes the list?")
    return result


# Task 1: who is done when -------------------------------------------------------------------------

def static_shares(lengths, programs):
    """Of each program, the lengths of its rows: they are dealt like cards."""
    shares = [[] for _ in range(programs)]
    for row, length in enumerate(lengths):
        shares[row % programs].append(length)
    return shares


def queue_shares(lengths, programs):
    """Every clock, each program that has nothing left takes the next row."""
    waiting, left, shares = list(lengths), [0] * programs, [[] for _ in range(programs)]
    while waiting:
        for p in range(programs):
            while left[p] == 0 and waiting:
                left[p] = waiting.pop(0)
                shares[p].append(left[p])
        left = [max(0, clocks - 1) for clocks in left]
    return shares


def static_clocks(lengths, programs):
    return max(map(sum, static_shares(lengths, programs)))


def queue_clocks(lengths, programs):
    return max(map(sum, queue_shares(lengths, programs)))


WAITS = "Who waits for the others of a wave?"
DEALT = "Which rows are those of program 0?"
FREE = "Who is free first, and which row comes next?"


def not_the_last(makespan, lengths, programs, shares, ask):
    """What the rows are, when the last is done, and which one other way of sharing them takes the wrong makespan."""
    words = ", ".join(f"program {p} of {' + '.join(map(str, share)) or 0}" for p, share in enumerate(shares))
    size = -(-len(lengths) // programs)
    ways = {
        "turns that go round": (static_clocks(lengths, programs), ask),
        "a queue": (queue_clocks(lengths, programs), ask),
        "a queue, the longest first": (queue_clocks(sorted(lengths)[::-1], programs), "Who sorts the rows?"),
        "a queue, the shortest first": (queue_clocks(sorted(lengths), programs), "Who sorts the rows?"),
        "rows in blocks, side by side": (max(sum(lengths[p * size:(p + 1) * size]) for p in range(programs)), ask),
        "waves, each as long as its longest row": (
            sum(max(lengths[t:t + programs]) for t in range(0, len(lengths), programs)), WAITS),
        "the longest row": (max(lengths), ask), "all rows in one program": (sum(lengths), ask),
        "an even share of all work": (-(-sum(lengths) // programs), "Can a row be cut into parts?"),
        "the program that is done first": (min(map(sum, shares)), "Who is done last?")}
    taken = [(f" {makespan} is the time of {way}.", asks) for way, (clocks, asks) in ways.items() if clocks == makespan]
    other, ask = taken[0] if len(taken) == 1 else ("", ask)  # of several it is not known which
    return (f"Rows {lengths}: {words.replace('program 0', 'program 0 has rows', 1)} clocks. The last is done after "
            f"{max(map(sum, shares))}, not {makespan}.{other} {ask}")


@pytest.mark.task(1)
@pytest.mark.parametrize("lengths, programs", [([3, 1], 2), ([2, 6, 8, 1, 7], 2), (LESSON, 2), (LESSON, 3)])
def test_program_p_takes_every_row_that_is_programs_further(lengths, programs):
    """Each other way of sharing rows of 2, 6, 8, 1 and 7 clocks takes another time."""
    makespan, wanted = on_copies(lesson.static_makespan, lengths, programs), static_clocks(lengths, programs)
    if makespan != wanted:
        raise AssertionError(not_the_last(makespan, lengths, programs, static_shares(lengths, programs), DEALT))


@pytest.mark.task(1)
@pytest.mark.parametrize("lengths, programs", [
    ([3, 1], 2), ([2, 6, 8, 1, 7], 2), ([3, 1, 1], 2), ([4, 6, 1, 7], 2), (LESSON, 2), (LESSON, 3), ([5], 4)])
def test_whoever_is_free_takes_the_next_row(lengths, programs):
    makespan, wanted = on_copies(lesson.queue_makespan, lengths, programs), queue_clocks(lengths, programs)
    if makespan != wanted:
        raise AssertionError(not_the_last(makespan, lengths, programs, queue_shares(lengths, programs), FREE))


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("lengths, programs", [
    ([], 3), ([5], 1), ([5], 4), ([2] * 9, 4), ([0, 7, 0, 1], 2), ([1] * 133, 132),
    ([3, 9, 1, 4, 4, 2, 8, 1, 1, 6, 5, 7, 2], 3)])
def test_there_may_be_more_programs_than_rows_and_rows_of_nothing(lengths, programs):
    assert_matches(lesson.static_makespan, lengths, programs, oracle=static_clocks)
    assert_matches(lesson.queue_makespan, lengths, programs, oracle=queue_clocks)


@pytest.mark.task(1)
@pytest.mark.parametrize("makespan", [13, 9, 8])
def test_the_share_is_work_by_the_time_of_all_programs(makespan):
    """16 clocks of work, two programs."""
    def share(*_):
        return 16 / (makespan + makespan)

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
    """In blocks, with the longest rows first, program 0 would have all the long ones."""
    try:
        owners = owners_of(lesson.sums_static, ragged(rng, [2] * rows), programs)
    except Exception as fault:
        if "both store element" not in str(fault):
            raise
        raise AssertionError(f"{rows} rows, {programs} programs: two programs summed the same row. With which "
                             "turn does a program begin, and how many further is its next?") from None
    in_blocks = ", each a block of rows" if owners == sorted(owners) and set(owners) == set(wanted) else ""
    if owners != wanted:
        raise AssertionError(f"{rows} rows, {programs} programs: taken by {owners}{in_blocks}; wanted: {wanted}. "
                             "Which turns are those of program 0?")


@pytest.mark.task(2)
def test_static_turn_t_is_row_order_t(rng):
    owners = owners_of(lesson.sums_static, ragged(rng, [2] * 4, order=[3, 1, 0, 2]), 2)
    wanted = [0, 1, 1, 0]  # turns 0 and 2 are rows 3 and 0
    as_if = ", as if turn t were row t" if owners == [0, 1, 0, 1] else ""
    if owners != wanted:
        raise AssertionError(f"Order 3, 1, 0, 2: rows 0 to 3 were taken by {owners}{as_if}; wanted: {wanted}. "
                             "Which array says what row a turn is?")


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("lengths", [[], [0], [1], [0, 5, 0], [1023, 1024, 1025], [7, 2049, 1, 0, 300, 64, 8]])
@pytest.mark.parametrize("programs", [1, 3])
def test_static_takes_rows_of_any_length_and_any_number_of_them(lengths, programs, rng):
    assert_matches(lesson.sums_static, *ragged(rng, lengths), programs, oracle=row_by_row, exact=True)


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_static_nan_and_infinity_stay_in_their_rows():
    x = torch.tensor([1.0, float("nan"), 2.0, float("inf"), 5.0], device=device)
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
def test_static_steps_to_its_next_turn_and_does_not_look_for_it(rng):
    """To divide each turn by the number of programs, and look at the remainder, is a walk through all turns."""
    kernel = compiled(lesson.sums_static, *ragged(rng, LESSON), 2, chip="h100").kernels["static_kernel"]
    remainders = [name for name in kernel.instructions if name.startswith("rem.")]
    assert remainders == [], f"The code computes remainders, {remainders}. Does every program look at every turn?"


@pytest.mark.task(2)
@pytest.mark.compiled
def test_static_loads_and_sums_without_an_atomic(rng):
    kernel = compiled(lesson.sums_static, *ragged(rng, LESSON), 2, chip="h100").kernels["static_kernel"]
    loads = sum(times for name, times in kernel.instructions.items() if name.startswith("ld.global"))
    atomics = [name for name in kernel.instructions if name.startswith(("atom", "red."))]
    assert loads >= 6, f"{loads} loads stand in the code: order, two starts, kind, x and weight are wanted."
    assert atomics == []
    assert kernel.spills == 0
    assert kernel.occupancy.blocks >= lesson.PROGRAMS_PER_SM


def turns_taken(order, programs, given_out, rows):
    """Those whose row somebody took."""
    owners = lesson.owners_by_queue(order, programs, given_out, rows)
    return [turn for turn, row in enumerate(order) if owners[row] != -1]


@pytest.mark.task(3)
def test_queue_the_first_turn_beyond_the_rows_is_nobodys():
    taken = turns_taken([3, 1, 0, 2], programs=1, given_out=0, rows=3)
    why = ("as if turn t were row t; order is 3, 1, 0, 2. Which array says what row a turn is?"
           if taken == [1, 2, 3] else
           "wanted: [0, 1, 2]. Of 3 rows, turns 0 to 2 are rows, turn 3 is not. At which turn does a program stop?")
    if taken != [0, 1, 2]:
        raise AssertionError(f"Turns {taken} were taken, {why}")


@pytest.mark.task(3)
def test_queue_begins_anew_at_each_launch(rng):
    arguments = ragged(rng, LESSON)
    try:
        first, second = (6 - owners_of(lesson.sums_by_queue, arguments, 1).count(-1) for _ in range(2))
    except Exception as fault:
        if "before the start of order" not in str(fault):
            raise
        what, _, _ = str(fault).partition("\n\n")
        raise AssertionError(f"{what}\nA turn below 0 was drawn.\n"
                             "What does the counter hold at the launch, and what does an atomic give?") from None
    assert second == first, f"Two launches took {first} and {second} of 6 rows. Where does the second's counter begin?"


def times(counters, kind, array=""):
    """How often elements were updated (kind "atomic") or stored ("store") by lines that name this array."""
    return sum(line.counts.accesses for launch in counters.launches for line in launch.lines
               if line.kind == kind and array in line.source)


@pytest.mark.task(3)
def test_queue_one_program_sums_each_row_once(rng):
    counters = count(lesson.sums_by_queue, *ragged(rng, [2, 2, 2]), 1)
    assert counters.programs == 1, f"{counters.programs} programs were launched; 1 was asked for."
    sums = times(counters, "store", "out_ptr")
    ask = "Does the counter begin with a turn that the program has already?" if sums == 4 else "Each is wanted once."
    assert sums <= 3, f"1 program stored {sums} sums of 3 rows: a row was summed twice. {ask}"


@pytest.mark.task(3)
def test_queue_one_program_draws_each_turn_by_an_atomic(rng):
    """3 draws for 3 rows, and one that is no row. To begin with turn program_id saves this one."""
    counters = count(lesson.sums_by_queue, *ragged(rng, [2, 2, 2]), 1)
    sums, draws = times(counters, "store", "out_ptr"), times(counters, "atomic")
    other = (f"At least {sums - draws} turns were not drawn." if draws else
             "Between a load and a store of the counter another program may load the same number.")
    why = f"1 program summed {sums} rows. Draws by an atomic: {draws}, wanted: 4, the last of which is no row. {other}"
    assert draws >= sums, why


@pytest.mark.task(3)
@pytest.mark.parametrize("programs, given_out", [(1, 3), (2, 4)])
def test_queue_nobody_takes_a_turn_that_was_given_out_before(programs, given_out):
    """The counter stands at 3 or 4 already. A program may begin with turn program_id, and draw afterwards."""
    taken = [turn for turn in turns_taken([3, 1, 0, 2], programs, given_out, rows=4) if turn >= programs]
    left = list(range(given_out, 4))
    if taken != left:
        raise AssertionError(f"The counter stood at {given_out} of 4, so turns {left} are left. Taken: {taken}. "
                             "Does the kernel set the counter, or step without asking it?")


@pytest.mark.task(3)
@pytest.mark.parametrize("rows, programs", [(3, 1), (2, 2), (6, 2), (7, 3), (3, 5)])
def test_queue_no_row_is_left_out(rows, programs, rng):
    owners = owners_of(lesson.sums_by_queue, ragged(rng, [2] * rows), programs)
    left_out = [row for row, owner in enumerate(owners) if owner == -1]
    ask = "With which number does the counter begin?" if 0 in left_out else "Who draws a turn after the first ones?"
    if left_out:
        raise AssertionError(f"{rows} rows in turn, programs: {programs}; nobody took rows {left_out}. {ask}")


@pytest.mark.task(3)
def test_queue_draws_its_next_turn_when_the_row_is_done():
    """In turn t the counter of one program stands at t + 1. A program may begin with turn program_id, here turn 0."""
    stood = lesson.drawn_by_queue(given_out=1, rows=4)[1:]
    early = ("The turn after each row was drawn before the row was summed. If row 1 is long, who else can take turn 2?"
             if stood == [3, 4, 5] else "When is a turn drawn, and how often?")
    # A relaxed atomic need not refresh what an SM has cached: on a GPU a later row might see a lower number.
    if any(at not in range(1, row + 2) for row, at in enumerate(stood, 1)):
        raise AssertionError("One program. While rows 1, 2 and 3 were summed, the counter stood at "
                             f"{stood}, wanted: [2, 3, 4]. {early}")


@pytest.mark.task(3)
def test_queue_the_weights_of_a_kind_begin_after_those_of_the_kinds_before():
    """Three rows of one element, 1.0, of kinds 0, 1 and 2; each element of weight is its own place."""
    weight = torch.arange(3 * WIDTH, dtype=torch.float32, device=device).reshape(3, WIDTH)
    arguments = torch.ones(3, device=device), numbers(range(4)), numbers(range(3)), weight, numbers(range(3))
    met = lesson.sums_by_queue(*arguments, 2).tolist()
    why = f"Rows of kinds 0, 1, 2 met elements {met} of weight, which is 3 x {WIDTH}; wanted: 0, {WIDTH}, {2 * WIDTH}."
    assert met == [0, WIDTH, 2 * WIDTH], why


@pytest.mark.task(3)
def test_queue_one_program_takes_all_rows(rng):
    assert_matches(lesson.sums_by_queue, *ragged(rng, [3, 1, 2]), 1, oracle=row_by_row, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_queue_each_program_stays_and_each_row_is_read_once(rng):
    lengths = [5, 40, 3, 17, 1, 1100]
    counters = count(lesson.sums_by_queue, *ragged(rng, lengths), 4)
    assert counters.library_operations == []
    assert counters.programs == 4, f"{counters.programs} programs were launched, wanted: 4, who stay."
    assert counters.bytes_loaded == traffic_of(lengths)
    assert counters.bytes_stored == 4 * len(lengths)


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("rows, programs", [(7, 3), (9, 4), (2, 5)])
def test_queue_every_turn_is_drawn_from_the_counter(rows, programs, rng):
    """One for each row, and one for each program that is no row. To begin with turn program_id saves these."""
    counters = count(lesson.sums_by_queue, *ragged(rng, [2] * rows), programs)
    draws = times(counters, "atomic")
    all_rows = f" {programs} programs draw {rows} times each: who stops at the first turn that is no row?"
    why = (f"{draws} draws; wanted: at most {rows + programs}, one for each of {rows} rows and of {programs} programs."
           f"{all_rows if draws == rows * programs else ''}")
    assert draws in range(rows, rows + programs + 1), why


@pytest.mark.task(3)
@pytest.mark.counters
def test_queue_needs_no_memory_but_the_sums_and_one_counter(rng):
    """Where out is given, that is the counter alone. An allocator may round it up to 512 bytes."""
    arguments = ragged(rng, [300, 1, 200])
    needed = memory(lesson.sums_by_queue, *arguments, 2, out=torch.empty(3, device=device))
    assert needed.peak <= 512, "Beside the given out a launch needs a counter, one int32."


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("lengths", [[], [0], [1], [0, 5, 0], [1023, 1024, 1025], [7, 2049, 1, 0, 300, 64, 8]])
@pytest.mark.parametrize("programs", [1, 3])
def test_queue_takes_rows_of_any_length_and_any_number_of_them(lengths, programs, rng):
    assert_matches(lesson.sums_by_queue, *ragged(rng, lengths), programs, oracle=row_by_row, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_queue_launches_as_many_programs_as_static_if_no_number_is_given(rng):
    """A fixed number, that of the GPU: 6 rows do not make it smaller."""
    arguments = ragged(rng, LESSON)
    static, queue = (count(function, *arguments).programs for function in (lesson.sums_static, lesson.sums_by_queue))
    each = lesson.PROGRAMS_PER_SM
    meaning = {6: " 6 is one for each row, and fewer rows do not lower the number.",
               1: " All SMs but one have nothing to do.",
               static // each: f" {queue} is one for each SM, and {each} fit."}.get(queue, "")
    if queue != static:
        raise AssertionError(f"6 rows, no number given. Programs: {queue}; those of sums_static: {static}.{meaning} "
                             "Which function says how many fit?")


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


def not_the_longest_first(rows, lengths):
    """What is wrong with an order of rows, the longest first and equals as they come; "" if nothing is."""
    given = [lengths[row] for row in rows]
    if given == sorted(given, reverse=True):
        equals = [[row for row in rows if lengths[row] == length] for length in given]
        turned = next((equal for equal in equals if equal != sorted(equal)), None)
        return "" if turned is None else (
            f"Rows {sorted(turned)} are equally long and came as {turned}. "
            "Does a key turn them round, or a sorted list that is read backwards?")
    if given == sorted(given):
        return f"These rows have lengths {given}, the shortest first. Of which row is the key smallest?"
    if rows == sorted(rows):
        return f"These rows have lengths {given}: rows as they come. Which part of the key is a length?"
    return f"These rows have lengths {given}. Which part of the key is a length, and of which row is it smallest?"


@pytest.mark.task(4)
@pytest.mark.parametrize("lengths", [[1, 3, 2], LESSON, [5, 5, 5], [0, 2, 0, 7, 2], []])
def test_longest_first_and_equals_as_they_come(lengths):
    order, rows = on_copies(lesson.longest_first, lengths), list(range(len(lengths)))
    again = [row for row in rows if order.count(row) > 1]
    never = [row for row in rows if row not in order]
    if again and never:
        raise AssertionError(f"longest_first({lengths}) is {order}: rows {again} come again, rows {never} never. "
                             "Which of equally long rows does your search find?")
    if lengths and order == sorted(lengths, reverse=True):
        raise AssertionError(f"longest_first({lengths}) is {order}: lengths. Which rows have them?")
    if sorted(order) == rows and (why := not_the_longest_first(order, lengths)):
        raise AssertionError(f"longest_first({lengths}) is {order}. {why}")
    assert_matches(lesson.longest_first, lengths, oracle=pick_the_longest)


@pytest.mark.task(1, 4)
def test_the_longest_first_are_done_earlier():
    """As in the lesson's picture: 9 clocks as they come, 8 with the longest first."""
    order = on_copies(lesson.longest_first, LESSON)
    as_they_come = on_copies(lesson.queue_makespan, LESSON, 2)
    sorted_rows = on_copies(lesson.queue_makespan, [LESSON[row] for row in order], 2)
    assert (as_they_come, sorted_rows) == (9, 8), f"Makespans: {as_they_come} and {sorted_rows}, wanted: 9 and 8."


def kind_after_kind(lengths, kinds):
    order = []
    for kind in range(max(kinds, default=0) + 1):
        rows = [row for row in range(len(kinds)) if kinds[row] == kind]
        order += [rows[i] for i in pick_the_longest([lengths[row] for row in rows])]
    return order


@pytest.mark.task(4)
@pytest.mark.parametrize("kinds", [[1, 0, 1], [2, 0, 1, 0, 2, 2]])
def test_rows_of_a_kind_follow_each_other(kinds):
    given_out = [kinds[row] for row in on_copies(lesson.by_kind, LESSON[:len(kinds)], kinds)]
    if given_out != sorted(kinds):
        raise AssertionError(f"The kinds in your order: {given_out}, wanted: {sorted(kinds)}. "
                             "What is the first part of the key?")


@pytest.mark.task(4)
@pytest.mark.parametrize("lengths, kinds", [
    ([1, 1, 1], [1, 0, 1]), ([2, 3, 1], [0, 0, 0]), (LESSON, [2, 0, 1, 0, 2, 2]), ([4, 9, 4, 9], [1, 0, 1, 1]),
    ([], [])])
def test_kinds_stay_together_each_with_its_longest_first(lengths, kinds):
    order = on_copies(lesson.by_kind, lengths, kinds)
    for kind in sorted(set(kinds)) if sorted(order) == list(range(len(kinds))) else []:
        rows = [row for row in order if kinds[row] == kind]
        if why := not_the_longest_first(rows, lengths):
            raise AssertionError(f"by_kind({lengths}, {kinds}) is {order}. Rows {rows} are of kind {kind}. {why}")
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


def other_waves(order, kinds, programs, wanted):
    """What other waves, or another count, would give, and what to ask of it."""
    in_turns = [[kinds[row] for row in order[first:first + programs]] for first in range(0, len(order), programs)]
    further = [order[p::programs] for p in range(min(programs, len(order)))]
    return {
        "as if turn t were row t": (bytes_by_marks(range(len(order)), kinds, programs, 30), "Which row is turn t?"),
        "as if L2 kept a kind from an earlier wave": ([
            120 * len(set(wave) - {kind for before in in_turns[:number] for kind in before})
            for number, wave in enumerate(in_turns)], "How often is a kind loaded, if several waves need it?"),
        f"as if rows {' and '.join(map(str, further))} were waves": (
            [120 * len({kinds[row] for row in rows}) for rows in further], "Which turns run at the same time?"),
        "120 for each row": ([120 * len(wave) for wave in in_turns], "Do rows of a kind share its weights?"),
        "120 whenever a row is of another kind than the row before": ([
            120 * sum(here != before for before, here in zip([None, *wave], wave)) for wave in in_turns],
            "What if a kind comes again in the same wave?"),
        "as if there were no last wave": (wanted[:-1], "Has a wave always as many turns as there are programs?"),
        "the sum of all waves": (sum(wanted), "How many numbers are wanted?"),
        "as if a number had one byte": ([size // 4 for size in wanted], "How many bytes has a float32?")}


@pytest.mark.task(4)
@pytest.mark.parametrize("order, kinds, programs", [
    ([0], [5], 1), ([0, 1], [5, 6], 2), ([0, 1], [5, 5], 2), ([0, 1, 2], [5, 5, 6], 2),
    ([1, 0, 4, 2, 3], [1, 2, 1, 1, 2], 3), ([], [], 4), ([0, 1, 2, 3, 4], [0, 1, 0, 1, 2], 4),
    ([0, 1, 2, 3], [5, 6, 5, 6], 2)])
def test_a_wave_has_the_kinds_of_its_rows_each_once(order, kinds, programs):
    """With five rows and three programs each other way to count comes to other bytes."""
    waves = [order[first:first + programs] for first in range(0, len(order), programs)]
    rows = ", then ".join(f"rows {wave} of kinds {[kinds[row] for row in wave]}" for wave in waves)
    touched = on_copies(lesson.wave_bytes, order, kinds, programs, 30)
    wanted = bytes_by_marks(order, kinds, programs, 30)
    if touched != wanted:
        other = [(f", {way}", ask) for way, (size, ask) in other_waves(order, kinds, programs, wanted).items()
                 if size == touched]
        way, ask = other[0] if len(other) == 1 else ("", "Of how many kinds are the rows of each wave?")
        raise AssertionError(f"Waves: {rows or 'none'}; 120 bytes a kind, each once in a wave. "
                             f"Got {touched}{way}; wanted {wanted}. {ask}")


@pytest.mark.task(4)
def test_an_order_by_kind_touches_fewer_weights():
    """64 rows of 8 kinds that take turns, 16 programs: 8 kinds in each wave, or 2."""
    kinds, as_they_come = [row % 8 for row in range(64)], list(range(64))
    sums = [sum(on_copies(lesson.wave_bytes, order, kinds, 16, 1000)) for order in (
        as_they_come, sorted(as_they_come, key=kinds.__getitem__))]
    why = f"Bytes of all waves: {sums[0]} as rows come, {sums[1]} kind by kind; wanted: 128000 and 32000."
    assert sums == [4 * 8 * 4000, 4 * 2 * 4000], why


# Task 5: a grid, static turns or a queue ---------------------------------------------------------

PAID = {"grid": "whoever is free takes the next row, a start for each, no ticket",
        "static": "turns go round, one start a program, no ticket",
        "queue": "whoever is free takes the next row, one start a program, a ticket for each row"}


@pytest.mark.task(1, 5)
@pytest.mark.parametrize("start, ticket", [(0, 0), (10, 0), (0, 1), (10, 1), (2, 4)])
@pytest.mark.parametrize("lengths", [[4], [4] * 8, LESSON, []])
@pytest.mark.parametrize("name", PAID)
def test_a_grid_starts_for_each_row_and_a_queue_has_tickets(name, lengths, start, ticket):
    clocks = dict(zip(PAID, on_copies(lesson.predict_clocks, lengths, 2, start, ticket))).get(name)
    wanted = {"grid": queue_clocks([start + length for length in lengths], 2),
              "static": start + static_clocks(lengths, 2),
              "queue": start + queue_clocks([ticket + length for length in lengths], 2)}[name]
    last = " A program's last turn, no row, takes nothing." if (name, clocks) == ("queue", wanted + ticket) else ""
    ask = "Who pays for what, and how often?" if start or ticket else "Nobody pays anything. Who takes which row?"
    if clocks != wanted:
        raise AssertionError(f"Rows {lengths}, 2 programs, start {start}, ticket {ticket}. {name}: got {clocks}, "
                             f"wanted {wanted}: {PAID[name]}.{last} {ask}")


@pytest.mark.task(1, 5)
@pytest.mark.parametrize("lengths, start, ticket, wanted", [
    ([4] * 8, 10, 2, "static"), (LESSON, 10, 1, "queue"), (LESSON, 0, 1, "grid"), ([5, 5], 3, 0, "grid")])
def test_programs_that_stay_pay_where_starts_cost_more_than_they_save(lengths, start, ticket, wanted):
    """Equal rows; uneven rows; starts for nothing; a row for each of two programs."""
    name = on_copies(lesson.cheapest, lengths, 2, start, ticket)
    why = f"Rows {lengths}, start {start}, ticket {ticket}: {name} is said to be done first, wanted: {wanted}."
    assert name == wanted, why
