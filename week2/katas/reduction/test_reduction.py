"""The lesson again, as checks: a tree that wastes nothing, shuffles, what they ask of memory, any operation."""

import numpy as np
import pytest
import torch

from tools.check import Mismatch, assert_matches, compiled, count, speed_ratio, terms
from tools.check.inputs import awkward_lengths, vectors
from tools.check.tolerances import accumulated
from tools.gpu import device
from week2.katas.reduction import reduction as lesson

INF, NAN = float("inf"), float("nan")
LESSON = [5.0, 2.0, 8.0, 1.0, 4.0, 7.0, 3.0, 6.0]
LENGTHS = sorted({*awkward_lengths(block=32), *awkward_lengths(block=256)})  # 0, 1, 31 to 33, 67, 255 to 257, 521
LARGE = 2**28  # float32: 1 GiB
SMS = 132  # of the simulated GPU, an H100
OPERATIONS = {"sum": torch.sum, "product": torch.prod, "max": torch.amax, "min": torch.amin}

pytestmark = pytest.mark.filterwarnings("ignore:Grid size")  # Numba's advice to start more blocks


def total(x, blocks=None):
    return x.sum().reshape(1)


def tensor(values):
    return torch.tensor(values, dtype=torch.float32, device=device)


def vector(rng, n):
    x, = vectors(rng, n, count=1)
    return x


def reduced(name, x):
    """By PyTorch, which has no maximum of nothing."""
    if not x.numel() and name in ("max", "min"):
        return torch.full((1,), -INF if name == "max" else INF, dtype=x.dtype, device=x.device)
    return OPERATIONS[name](x).reshape(1)


def instructions(function, *args):
    """Of the kernel that a call launches first, by the compiler: name -> how many."""
    counters = count(function, *args)
    assert len(counters.launches) >= 1
    return compiled(function, *args, chip="h100").kernels[0].instructions


def in_float64(names):
    return [name for name in names if "f64" in name]


def times_counted(function, n, blocks=None):
    """How often each of n elements enters a sum: the sum of a 1 there, and of zeros elsewhere."""
    keywords = {} if blocks is None else {"blocks": blocks}
    return [int(function(row.contiguous(), **keywords).item()) for row in torch.eye(n, device=device)]


def once_each(n, blocks=None):
    return [1] * n


def assert_no_step_is_missing(found, place, adds):
    """Where elements are left out, the first of them stands as far from place 0 as the missing step reaches."""
    missing = [i for i, times in enumerate(found) if times == 0]
    first = missing[0] if missing else 0
    why = (f"Element {first} is the first of {len(missing)} that do not enter the sum.\n"
           f"Which step adds {place} {first} to {place} 0, and does {adds} come to it?")
    assert first not in (1, 2, 4, 8, 16) or max(found) > 1, why


def assert_once_each(function, *args, place, adds):
    """Each element enters the sum once; where a whole step is missing, the failure says which."""
    try:
        assert_matches(function, *args, oracle=once_each)
        return
    except Mismatch as found:
        mismatch = found
    if any(words in mismatch.text for words in ("\n\nGot ", "Another value:")):
        assert_no_step_is_missing(function(*args), place, adds)
    raise mismatch


def ones_lost(function, *args, **keywords):
    """Of 31 ones after 2**24, an element for each lane of a warp. 2**24 + 1 is rounded to 2**24."""
    x = torch.ones(32, device=device)
    x[0] = 2.0**24
    return int(2**24 + 31 - function(*args, x, **keywords).item())


def why_lost(ones):
    return (f"2**24 and 31 ones, a lane each: {ones} of the ones are lost, needed at most 1.\n"
            "Five steps that double what a lane holds add 1, 2, 4, 8 and 16 to 2**24.\n"
            "How many shuffles are there, and what does each bring?")


def assert_one_warp_does_the_second_level(counters, blocks):
    stored, loaded_by_each_warp = 4 * 8, 4 * 8
    why = ("Each of the 8 warps of a block loads the 8 sums; the result of one is used.\n"
           "Which warp should do it, and what keeps the other seven away?")
    assert counters.bytes_shared != (stored + 8 * loaded_by_each_warp) * blocks, why


def assert_not_twice(function, *args, **keywords):
    """The last of 257 elements is for thread 0 of block 1. Thread 0 of block 0 may come there in its second turn."""
    x = torch.zeros(257, device=device)
    x[256] = 1
    times = int(function(*args, x, **keywords).item())
    why = ("x[256] of 257 elements was added twice. It is for thread 0 of block 1.\n"
           "Where is thread 0 of block 0 in its second turn?\n"
           "How many threads of both blocks take part in one turn?")
    added_twice = times == 2
    assert not added_twice, why


def assert_only_results_are_read(name, x):
    """One element takes a block of one warp, which stores one result: another fault is not told here."""
    try:
        count(lesson.reduce, name, x)
    except Exception as fault:
        found, _, beyond = str(fault).partition("to which nothing was stored. Only element 0 was stored.")
        why = (f"{found}to which nothing was stored.\nThe block has 32 threads, so 1 warp and 1 result.\n\n"
               "How many results has a block of blockDim.x threads, and who reads more?")
        reads_a_second_result = bool(beyond) and "reads element 1 of" in found
        assert not reads_a_second_result, why


def assert_changes_nothing(name, result, x, identity, question):
    why = f"identity_of({name!r}) is {identity}.\nThe {name} of that and {x} is {result}.\n{question}"
    assert result == x, why


# Task 1: a tree in shared memory ------------------------------------------------------------------

def times_in_the_tree(n):
    return times_counted(lesson.sum_tree, n)


@pytest.mark.task(1)
def test_each_of_eight_places_of_the_tree_counts_once():
    assert_once_each(times_in_the_tree, 8, place="place", adds="the loop")


@pytest.mark.task(1)
def test_tree_adds_the_eight_numbers_of_the_lesson():
    assert_matches(lesson.sum_tree, tensor(LESSON), oracle=total, exact=True)


@pytest.mark.task(1)
@pytest.mark.counters
def test_one_thread_of_a_block_passes_its_sum_on():
    counters, threads_that_add = count(lesson.sum_tree, tensor(LESSON)), 1
    assert counters.bytes_atomic == 4 * threads_that_add


@pytest.mark.task(1)
def test_tree_adds_all_that_one_block_holds():
    """1 + 2 + ... + 256, exact in float32: each place counts once."""
    assert_matches(lesson.sum_tree, torch.arange(1.0, 257.0, device=device), oracle=total, exact=True)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("n", LENGTHS)
def test_tree_takes_any_length(n, rng):
    assert_matches(lesson.sum_tree, vector(rng, n), oracle=total, tolerance=accumulated(np.float32, n))


@pytest.mark.task(1)
@pytest.mark.nonfinite
def test_tree_passes_nan_and_infinity_on():
    for values in ([1.0, NAN, 2.0], [INF, 1.0, 2.0], [1.0, INF, -INF], [3.0] * 300 + [-INF]):
        assert_matches(lesson.sum_tree, tensor(values), oracle=total, exact=True)


@pytest.mark.task(1)
@pytest.mark.counters
def test_tree_loads_each_element_once(rng):
    counters = count(lesson.sum_tree, vector(rng, 1024))
    assert counters.bytes_loaded == 4 * 1024
    assert counters.library_operations == []


@pytest.mark.task(1)
@pytest.mark.counters
def test_tree_computes_nothing_in_float64(rng):
    counters = count(lesson.sum_tree, vector(rng, 300))
    assert counters.float64 == 0
    assert counters.conversions == 0


@pytest.mark.task(1)
@pytest.mark.counters
def test_tree_parts_a_warp_only_where_less_than_a_warp_works(rng):
    """The steps 16, 8, 4, 2 and 1, and the one thread that passes the sum on: six in each of four blocks."""
    interleaved = count(lesson.sum_interleaved, vector(rng, 1024)).divergent_branches
    counters, blocks = count(lesson.sum_tree, vector(rng, 1024)), 4
    assert counters.divergent_branches <= 6 * blocks
    assert interleaved > 6 * blocks


@pytest.mark.task(1)
@pytest.mark.counters
def test_tree_has_no_bank_conflicts(rng):
    """Where sum_strided has hundreds."""
    strided, counters = (count(function, vector(rng, 1024)) for function in (lesson.sum_strided, lesson.sum_tree))
    assert counters.conflicts == 0
    assert strided.conflicts > 300


@pytest.mark.task(1)
@pytest.mark.counters
def test_tree_asks_shared_memory_no_more_than_three_times_a_step(rng):
    """A block: 8 warps store, twice at most; then 4, 2, 1, 1, 1, 1, 1, 1 load two numbers and store one; one loads."""
    counters, blocks = count(lesson.sum_tree, vector(rng, 1024)), 4
    assert counters.wavefronts <= (2 * 8 + 3 * 12 + 1) * blocks


@pytest.mark.task(1)
@pytest.mark.counters
def test_tree_waits_once_for_each_of_its_eight_steps(rng):
    """Eight warps a block. A ninth barrier, after the last step or before the first, does no harm."""
    counters, warps = count(lesson.sum_tree, vector(rng, 1024)), 4 * 8
    assert counters.barriers <= 9 * warps


@pytest.mark.task(1)
@pytest.mark.compiled
def test_the_compiler_finds_one_float32_for_each_thread_in_shared_memory(rng):
    kernel = compiled(lesson.sum_tree, vector(rng, 1024), chip="h100").kernels["tree_kernel"]
    shared_bytes_of_a_thread = kernel.shared_bytes / 256
    assert shared_bytes_of_a_thread == 4
    assert in_float64(kernel.instructions) == []


# Task 2: registers and shuffles -------------------------------------------------------------------

def times_by_shuffles(n, blocks):
    return times_counted(lesson.sum_shuffles, n, blocks)


@pytest.mark.task(2)
def test_each_lane_of_one_warp_counts_once():
    assert_once_each(times_by_shuffles, 32, 1, place="lane", adds="warp_sum")


@pytest.mark.task(2)
def test_each_element_belongs_to_one_of_two_blocks():
    assert_matches(times_by_shuffles, 4, 2, oracle=once_each)
    assert_not_twice(lesson.sum_shuffles, blocks=2)


@pytest.mark.task(2)
@pytest.mark.counters
def test_one_thread_of_a_block_passes_the_sum_of_its_warps_on():
    counters, threads_that_add = count(lesson.sum_shuffles, tensor(LESSON), blocks=1), 1
    assert counters.bytes_atomic == 4 * threads_that_add


@pytest.mark.task(2)
def test_shuffles_add_the_numbers_of_one_warp():
    """1 + 2 + ... + 32, one for each lane."""
    assert_matches(lesson.sum_shuffles, torch.arange(1.0, 33.0, device=device), blocks=1, oracle=total, exact=True)


@pytest.mark.task(2)
@pytest.mark.tolerance
def test_each_shuffle_doubles_what_a_lane_has_the_sum_of():
    lost = ones_lost(lesson.sum_shuffles, blocks=1)
    assert lost <= 1, why_lost(lost)


@pytest.mark.task(2)
def test_shuffles_add_the_sums_of_all_warps_of_a_block():
    x = torch.arange(1.0, 257.0, device=device)
    assert_matches(lesson.sum_shuffles, x, blocks=1, oracle=total, exact=True)


@pytest.mark.task(2)
def test_one_block_takes_more_elements_than_it_has_threads():
    x = torch.arange(1.0, 1001.0, device=device)
    assert_matches(lesson.sum_shuffles, x, blocks=1, oracle=total, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("blocks", [1, 3])
def test_shuffles_take_any_length_and_any_number_of_blocks(n, blocks, rng):
    assert_matches(lesson.sum_shuffles, vector(rng, n), blocks=blocks, oracle=total,
                   tolerance=accumulated(np.float32, n))


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_shuffles_pass_nan_and_infinity_on():
    for values in ([1.0, NAN, 2.0], [INF, 1.0, 2.0], [1.0, INF, -INF], [3.0] * 300 + [-INF]):
        assert_matches(lesson.sum_shuffles, tensor(values), blocks=1, oracle=total, exact=True)


@pytest.mark.task(2)
@pytest.mark.counters
def test_shuffles_load_each_element_once_four_sectors_at_a_time(rng):
    """Threads side by side take elements side by side, in each turn of the loop."""
    counters = count(lesson.sum_shuffles, vector(rng, 4096), blocks=2)
    assert counters.bytes_loaded == 4 * 4096
    assert counters.sectors_per_request <= 4
    assert counters.library_operations == []


@pytest.mark.task(2)
@pytest.mark.counters
def test_shuffles_need_one_atomic_and_one_barrier_a_block(rng):
    """However many elements the block adds up. Each of its eight warps comes to the barrier."""
    counters, blocks = count(lesson.sum_shuffles, vector(rng, 4096), blocks=2), 2
    assert counters.bytes_atomic == 4 * blocks
    assert counters.barriers == 8 * blocks


@pytest.mark.task(2)
@pytest.mark.counters
def test_the_same_plan_in_triton_asks_for_as_many_bytes(rng):
    x = vector(rng, 2**16)
    assert_matches(lesson.sum_triton, x, oracle=total)
    assert count(lesson.sum_triton, x).bytes_loaded == count(lesson.sum_shuffles, x).bytes_loaded == 4 * 2**16


@pytest.mark.task(2)
@pytest.mark.counters
def test_only_the_sums_of_warps_pass_through_shared_memory(rng):
    """A block has eight warps. Each stores one sum, and one of them loads all in a single request."""
    counters, blocks = count(lesson.sum_shuffles, vector(rng, 4096), blocks=2), 2
    requests, of_twice_as_many = counters.shared_requests, count(lesson.sum_shuffles, vector(rng, 8192), blocks=2)
    more_requests = of_twice_as_many.shared_requests - requests
    why = (f"Shared memory gets {requests:,} requests, and {more_requests:,} more for twice as many elements.\n"
           "What does a turn of the loop ask it for?\nCould the thread keep that in a register?")
    assert more_requests == 0, why
    assert_one_warp_does_the_second_level(counters, blocks)
    assert counters.bytes_shared == 2 * 4 * 8 * blocks
    assert counters.shared_requests == (8 + 1) * blocks


@pytest.mark.task(2)
@pytest.mark.counters
def test_shuffles_compute_nothing_in_float64(rng):
    counters = count(lesson.sum_shuffles, vector(rng, 300), blocks=1)
    assert counters.float64 == 0
    assert counters.conversions == 0


@pytest.mark.task(1, 2)
@pytest.mark.tolerance
def test_a_tree_keeps_the_ones_that_a_sum_one_by_one_loses():
    """2**24 and 4095 ones. 2**24 + 1 is rounded to 2**24: whoever adds the ones to it one by one loses them all."""
    x = torch.ones(4096, device=device)
    x[0] = 2.0**24
    ones_lost_by_the_tree = 2**24 + 4095 - lesson.sum_tree(x).item()
    ones_lost_by_shuffles = 2**24 + 4095 - lesson.sum_shuffles(x).item()
    assert ones_lost_by_the_tree <= 256
    assert ones_lost_by_shuffles <= 256


@pytest.mark.task(2)
@pytest.mark.compiled
def test_the_compiler_finds_shuffles_in_float32(rng):
    kernel = compiled(lesson.sum_shuffles, vector(rng, 1024), chip="h100").kernels["shuffle_kernel"]
    shuffles = sum(number for name, number in kernel.instructions.items() if name.startswith("shfl"))
    assert shuffles > 0
    assert in_float64(kernel.instructions) == []


@pytest.mark.task(2)
@pytest.mark.compiled
def test_a_thread_of_the_same_plan_in_triton_asks_for_four_times_as_many_bytes_at_once(rng):
    x = vector(rng, 2**16)
    by_shuffles = compiled(lesson.sum_shuffles, x, chip="h100").kernels["shuffle_kernel"]
    by_triton = compiled(lesson.sum_triton, x, chip="h100").kernels["triton_kernel"]
    assert {access.width for access in by_shuffles.loads} == {4}
    assert {access.width for access in by_triton.loads} == {16}


@pytest.mark.task(2)
@pytest.mark.hopper
@pytest.mark.speed
def test_the_same_plan_in_triton_reads_faster_than_shuffles(rng):
    """1.11 times as fast on an H200; 1.04 on an H100, whose memory is slower, so that both wait for it."""
    x = vector(rng, 2**20).repeat(LARGE // 2**20)
    assert speed_ratio(lesson.sum_triton, lesson.sum_shuffles, x) >= 1.02


@pytest.mark.task(2)
@pytest.mark.hopper
@pytest.mark.speed
def test_shuffles_read_at_nearly_two_thirds_of_the_speed_of_a_copy(rng):
    """A copy of half as many elements moves as many bytes: half of them are read, half written."""
    def copy(x):
        return x[: LARGE // 2].clone()

    assert speed_ratio(lesson.sum_shuffles, copy, vector(rng, 2**20).repeat(LARGE // 2**20)) >= 0.64


# Task 3: predict, then count ----------------------------------------------------------------------

def atomics(n, blocks):
    return n, max(1, len(range(0, n, 256))), blocks


@pytest.mark.task(3)
def test_threads_add_once_each_or_blocks_do():
    for n, blocks in [(1024, 2), (1000, 3), (257, 7), (0, 1)]:
        whole, rest = divmod(n, 256)
        why = f"{n} elements fill {whole} blocks of 256 threads, and sum_tree gets {whole} atomics.\n"
        why += (f"Which block adds up the other {rest}?" if rest else
                "How many blocks does blocks_for(0) give, and does their thread 0 add?")
        assert lesson.predict_atomics(n, blocks) != (n, whole, blocks) or (n and not rest), why
        assert_matches(lesson.predict_atomics, n, blocks, oracle=atomics)


@pytest.mark.task(1, 2, 3)
@pytest.mark.counters
@pytest.mark.parametrize("n, blocks", [(1024, 2), (1000, 3)])
def test_predicts_the_atomics_that_are_counted(n, blocks, rng):
    x = vector(rng, n)
    predicted = lesson.predict_atomics(n, blocks)
    counted = (count(lesson.sum_atomic, x), count(lesson.sum_tree, x), count(lesson.sum_shuffles, x, blocks=blocks))
    assert predicted == tuple(counters.bytes_atomic // 4 for counters in counted)


@pytest.mark.task(3)
def test_partial_results_are_stored_once_and_loaded_once():
    def traffic(n, blocks):
        return terms(x=4 * n, stored=4 * blocks, loaded=4 * blocks, result=4)

    for n, blocks in [(1200, 5), (513, 3), (2**28, 1056)]:
        predicted = lesson.predict_traffic(n, blocks)
        why = (f"{predicted} = 4 * ({n} + {blocks} + 1): each of the {blocks} partial results once.\n"
               "The first launch stores them. What does the second launch do with them?")
        assert predicted != 4 * (n + blocks + 1), why
        assert_matches(lesson.predict_traffic, n, blocks, oracle=traffic)


# Task 4: any operation, any length ----------------------------------------------------------------

@pytest.mark.task(4)
@pytest.mark.parametrize("n", [100, 33, 7, 1000])
def test_threads_of_a_block_are_whole_warps(n):
    blocks, threads = lesson.choose_launch(n, 16)
    lanes_beyond_whole_warps = threads % 32
    assert lanes_beyond_whole_warps == 0


@pytest.mark.task(4)
def test_few_elements_get_few_warps_and_one_block():
    launches = {100: (1, 128), 256: (1, 256), 33: (1, 64), 32: (1, 32), 1: (1, 32), 0: (1, 32)}
    for n, launch in launches.items():
        blocks, threads = lesson.choose_launch(n, 16)
        of_threads = f"of {threads} threads for {n} elements"
        why = f"{blocks} blocks {of_threads}.\nWhich of these blocks has no element, and what makes it start?"
        assert blocks < 2 or (blocks - 1) * threads < n, why
        why = (f"A block {of_threads}: {threads // 32} warps, and {launch[1] // 32} would hold them.\n"
               "How many warps do so many elements fill?")
        assert blocks != 1 or threads <= launch[1], why
        why = f"{blocks} blocks {of_threads}.\nWho stores the result? Even of nothing there is one."
        assert blocks > 0, why
        assert_matches(lesson.choose_launch, n, 16, oracle=lambda n, sms: launches[n])


@pytest.mark.task(4)
def test_a_multiprocessor_gets_eight_blocks_however_many_elements_there_are():
    for n in (2**28, 2**15, 2**15 + 1):
        blocks, threads = lesson.choose_launch(n, 16)
        launched = f"{n:,} elements, 16 multiprocessors: {blocks:,} blocks of {threads} threads.\n"
        why = f"{launched}16 * BLOCKS_PER_SM is 128. What keeps the blocks from growing with n?"
        assert blocks <= 128, why
        why = f"{launched}How many blocks does each multiprocessor get, and how many does it hold?"
        assert blocks != 16, why
        assert_matches(lesson.choose_launch, n, 16, oracle=lambda n, sms: (8 * sms, 256))


@pytest.mark.task(4)
def test_many_elements_get_whole_blocks_with_a_thread_for_each_as_long_as_that_fits():
    launches = {(257, 16): (2, 256), (1000, 16): (4, 256), (2**15 - 300, 16): (127, 256), (2**15, 132): (128, 256),
                (2**28, 132): (1056, 256)}
    for n, sms in launches:
        blocks, threads = lesson.choose_launch(n, sms)
        why = (f"{blocks} blocks of {threads} threads for {n} elements: {n - blocks * threads} have no thread,\n"
               f"and {8 * sms} blocks would fit. How is the last block rounded, which is not full?")
        assert blocks * threads >= n or blocks >= 8 * sms, why
        assert_matches(lesson.choose_launch, n, sms, oracle=lambda n, sms: launches[n, sms])


@pytest.mark.task(4)
def test_zero_changes_no_sum_and_one_no_product():
    zero, one = lesson.identity_of("sum"), lesson.identity_of("product")
    for x in (3.0, -3.0, INF, -INF):
        assert_changes_nothing("sum", zero + x, x, zero, "What can be added to every number, and changes none?")
        assert_changes_nothing("product", one * x, x, one, "By what can every number be multiplied unchanged?")


@pytest.mark.task(4)
def test_no_number_is_below_the_identity_of_max_or_above_that_of_min():
    lowest, highest = lesson.identity_of("max"), lesson.identity_of("min")
    for x in (3.0, -3.0, INF, -INF):
        assert_changes_nothing("max", max(lowest, x), x, lowest, "Which number is below every other, -inf too?")
    for x in (3.0, -3.0, INF, -INF):
        assert_changes_nothing("min", min(highest, x), x, highest, "Which number is above every other, inf too?")


@pytest.mark.task(4)
@pytest.mark.parametrize("name, element", [("sum", 3.0), ("product", 3.0), ("max", -3.0), ("min", 3.0)])
def test_one_element_alone_is_the_result(name, element):
    """31 lanes of its warp have none."""
    assert_only_results_are_read(name, tensor([element]))
    assert_matches(lesson.reduce, name, tensor([element]), oracle=reduced, exact=True)


@pytest.mark.task(4)
@pytest.mark.parametrize("name", OPERATIONS)
def test_reduces_the_eight_numbers_of_the_lesson(name):
    assert_matches(lesson.reduce, name, tensor(LESSON), oracle=reduced, exact=True)


@pytest.mark.task(4)
def test_no_element_is_taken_by_two_blocks():
    assert_not_twice(lesson.reduce, "sum")


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("name", ["sum", "max", "min"])
@pytest.mark.parametrize("n", LENGTHS)
def test_reduces_any_length(name, n, rng):
    assert_matches(lesson.reduce, name, vector(rng, n), oracle=reduced, tolerance=accumulated(np.float32, n))


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("n", LENGTHS)
def test_multiplies_any_number_of_factors(n, rng):
    """Near 1, or a product of many would leave float32."""
    x = 1 + vector(rng, n) / 1000
    assert_matches(lesson.reduce, "product", x, oracle=reduced, tolerance=accumulated(np.float32, n))


@pytest.mark.task(4)
@pytest.mark.tolerance
def test_each_shuffle_doubles_what_a_lane_has_the_result_of():
    lost = ones_lost(lesson.reduce, "sum")
    assert lost <= 1, why_lost(lost)


@pytest.mark.task(4)
@pytest.mark.edge
def test_no_element_is_left_out_where_a_grid_has_fewer_threads():
    n = 8 * SMS * 256 + 300
    blocks, threads = lesson.choose_launch(n, lesson.multiprocessors())
    counted = int(lesson.reduce("sum", torch.ones(n, device=device)).item())
    why = (f"Of {n:,} ones {counted:,} were counted.\n"
           f"{blocks} blocks of {threads} threads are {blocks * threads:,}, and the second launch has 256\n"
           f"threads for {blocks} results. Who reads the rest, of x and of the results?")
    assert counted >= n, why
    assert counted == n


@pytest.mark.task(4)
@pytest.mark.counters
def test_neighbours_load_neighbours_in_each_turn_of_the_loop():
    """32 elements side by side lie in 4 sectors, or in 5 where a block's share begins within one."""
    counters = count(lesson.reduce, "sum", torch.ones(8 * SMS * 256 + 300, device=device))
    assert counters.sectors_per_request <= 5


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("name", ["sum", "max"])
def test_reduces_more_than_one_grid_holds(name, rng):
    """A little more than 1056 blocks of 256 threads, as many as the simulated GPU gets."""
    x = vector(rng, 8 * SMS * 256 + 300)
    x[-1] = 100
    assert_matches(lesson.reduce, name, x, oracle=reduced, tolerance=accumulated(np.float32, x.numel()))


@pytest.mark.task(4)
@pytest.mark.nonfinite
@pytest.mark.parametrize("name", OPERATIONS)
def test_reduces_to_nan_where_there_is_one(name):
    for values in ([1.0, NAN, 2.0], [NAN, 1.0], [2.0] * 300 + [NAN], [1.0, INF, 2.0], [-INF, 2.0]):
        assert_matches(lesson.reduce, name, tensor(values), oracle=reduced, exact=True)


@pytest.mark.task(4)
@pytest.mark.counters
def test_few_elements_take_one_launch_and_many_take_two(rng):
    few, many = (count(lesson.reduce, "max", vector(rng, n)) for n in (100, 1000))
    assert many.library_operations == []
    assert len(few.launches) == 1
    assert [launch.counts.programs for launch in many.launches] == [4, 1]


@pytest.mark.task(4)
@pytest.mark.counters
@pytest.mark.parametrize("name", ["sum", "max"])
def test_reduces_without_an_atomic(name, rng):
    counters = count(lesson.reduce, name, vector(rng, 1000))
    assert counters.bytes_atomic == 0


@pytest.mark.task(4)
@pytest.mark.counters
def test_each_warp_passes_one_result_through_shared_memory(rng):
    """The first launch has four blocks of eight warps, the second has one. Each has one barrier."""
    counters, blocks = count(lesson.reduce, "min", vector(rng, 1024)), 4 + 1
    assert_one_warp_does_the_second_level(counters, blocks)
    assert counters.bytes_shared == 2 * 4 * 8 * blocks
    assert counters.barriers == 8 * blocks


@pytest.mark.task(3, 4)
@pytest.mark.counters
def test_predicts_the_traffic_that_is_counted(rng):
    """Of 1000 elements and 4 blocks. None of it is atomic."""
    predicted = lesson.predict_traffic(1000, 4)
    counters = count(lesson.reduce, "sum", vector(rng, 1000))
    assert predicted == counters.bytes


@pytest.mark.task(4)
@pytest.mark.counters
@pytest.mark.parametrize("name", ["sum", "min"])
def test_no_operation_leaves_float32(name, rng):
    counters = count(lesson.reduce, name, vector(rng, 300))
    why = (f"{counters.float64:,} operations in float64: op gives it where one of its two numbers is.\n"
           "What does a thread begin with, what does a lane without an element take,\n"
           "and of which type is the shared array? Which of them is float64?")
    assert counters.float64 == 0, why
    assert counters.conversions == 0


@pytest.mark.task(4)
@pytest.mark.compiled
@pytest.mark.parametrize("name", ["sum", "max"])
def test_the_compiler_builds_each_operation_into_a_kernel_of_float32(name, rng):
    assert in_float64(instructions(lesson.reduce, name, vector(rng, 1000))) == []


@pytest.mark.task(4)
@pytest.mark.gpu
def test_the_same_elements_give_the_same_bits_every_time(rng):
    x = vector(rng, 2**20)
    results = {lesson.reduce("sum", x).item() for _ in range(20)}
    assert len(results) == 1


@pytest.mark.task(4)
@pytest.mark.hopper
@pytest.mark.speed
def test_reduces_a_hundred_times_as_fast_as_numpy(rng):
    """NumPy adds up the same elements in the memory of the host, on one core."""
    on_gpu = vector(rng, 2**20).repeat(LARGE // 2**20)
    on_host = on_gpu.cpu().numpy()

    def by_numpy(name, x):
        return on_host.sum()

    assert speed_ratio(lesson.reduce, by_numpy, "sum", on_gpu) >= 100


@pytest.mark.task(4)
@pytest.mark.hopper
@pytest.mark.speed
def test_reduces_at_nearly_two_thirds_of_the_speed_of_a_copy(rng):
    """A copy of half as many elements moves as many bytes: half of them are read, half written."""
    def copy(name, x):
        return x[: LARGE // 2].clone()

    assert speed_ratio(lesson.reduce, copy, "sum", vector(rng, 2**20).repeat(LARGE // 2**20)) >= 0.64
