"""The lesson again, as checks: what the reports said, kernels that are whole and no slower, a report of your own."""

import json
from functools import cache
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count
from tools.check.inputs import awkward_lengths, vectors
from tools.check.tolerances import accumulated
from tools.gpu import device
from week2.katas.race_hunt import planted
from week2.katas.race_hunt import race_hunt as lesson
from week2.katas.race_hunt.accesses import first_race, tiles_turned, told

RECORDED = Path(__file__).with_name("sanitizer_h200.json")  # what sanitize.py wrote on a GPU machine
FOUND = {  # kernel -> kind, line, threads
    "mirror": ("race", 39, [0, 63]),
    "row_sums": ("race", 51, [0, 1]),
    "below_largest": ("barrier", 65, [0, 36]),
    "snake": ("none", 0, []),
    "histogram": ("race", 89, [0, 32]),
    "interleave": ("race", 100, [33, 17]),
    "triples": ("unset", 117, [63]),
    "steps": ("bounds", 124, [1]),
}
THREADS_OF = {  # kind -> what the list of threads holds
    "race": "who came later, then who came before", "barrier": "the first who waits, then the first who never comes",
    "unset": "who reads", "bounds": "the program, not the element", "none": "nobody, since there is no report",
}
SAID_OF = {  # tool -> what the lesson says of it
    "racecheck": "It looks for races in shared memory, whatever their cure.",
    "memcheck": "It looks for accesses outside of arrays.",
    "synccheck": "It is for barriers, but missed those that some threads passed by.",
    "initcheck": "It looks at elements inside of arrays, and in global memory alone.",
}
LENGTHS = awkward_lengths(block=64)[1:]  # 1, 63, 64, 65, and a prime

pytestmark = pytest.mark.filterwarnings("ignore:Grid size")  # Numba's advice to start more blocks


def vector(rng, n):
    x, = vectors(rng, n, count=1)
    return x


def integers(rng, n):
    return torch.from_numpy(rng.integers(0, 16, n)).to(device, torch.int32)


def ramp(n, first=1.0):
    return torch.arange(first, first + n, device=device)


# Task 1: what the reports say ---------------------------------------------------------------------

@cache
def reports():
    return planted.reports()


def recorded(tool):
    """Kernels that compute-sanitizer's tool reported on an H200 -> the lines of planted.py that its report names."""
    kernels = json.loads(RECORDED.read_text(encoding="utf-8"))["kernels"]
    return {name: said[tool]["lines"] for name, said in kernels.items() if said[tool]["lines"]}


def kind_of(name):
    return lesson.findings()[name][0]


def line_of(name):
    return lesson.findings()[name][1]


@pytest.mark.task(1)
def test_findings_has_an_entry_for_each_of_the_eight():
    kernels_without_a_finding = [name for name in FOUND if name not in lesson.findings()]
    assert kernels_without_a_finding == []


@pytest.mark.task(1)
@pytest.mark.parametrize("name", FOUND)
def test_names_the_kind_of_fault(name):
    """Its report tells: two threads and an order, threads that never come, an element without a value, or an end."""
    assert_matches(kind_of, name, oracle=lambda name: FOUND[name][0])


@pytest.mark.task(1)
@pytest.mark.parametrize("name", FOUND)
def test_names_the_line_of_planted_py_that_the_report_begins_with(name):
    """The simulator is asked again: its report of today has the line too."""
    assert_matches(line_of, name, oracle=lambda name: FOUND[name][1])
    begins_with = f"{name}_kernel, line {line_of(name)}:" if FOUND[name][1] else "No fault."
    assert reports()[name].startswith(begins_with)


@pytest.mark.task(1)
@pytest.mark.parametrize("name", FOUND)
def test_names_the_threads_in_the_order_of_the_report(name):
    """The one that came later is named first; of a barrier the first who waits, then the first who never comes."""
    (kind, _, wanted), named = FOUND[name], list(lesson.findings()[name][2])
    text = f"findings()['{name}'] names {named}. Of kind '{kind}' the list is: {THREADS_OF[kind]}."
    assert named == wanted, text


@pytest.mark.task(1)
def test_by_tool_has_a_list_for_each_of_the_four():
    tools_without_a_list = [tool for tool in SAID_OF if tool not in lesson.by_tool()]
    assert tools_without_a_list == []
    assert len(lesson.by_tool()) == len(SAID_OF)


@pytest.mark.task(1)
@pytest.mark.parametrize("tool", SAID_OF)
def test_names_the_kernels_that_the_tool_reported_on_an_h200(tool):
    """A tool reports what it looks for, where it looks, and nothing else."""
    named, reported = lesson.by_tool().get(tool, []), list(recorded(tool))
    too_many, missing = sorted(set(named) - set(reported)), sorted(set(reported) - set(named))
    text = f"by_tool()['{tool}'] has {', '.join(too_many)}: not reported on an H200. {SAID_OF[tool]}"
    assert not too_many, text
    text = f"by_tool()['{tool}'] lacks {', '.join(missing)}: reported on an H200. {SAID_OF[tool]}"
    assert not missing, text
    assert len(named) == len(reported)


@pytest.mark.task(1)
def test_the_tools_of_an_h200_name_the_lines_of_findings():
    """Each report there names the line of the simulator's report among its own."""
    other_lines = {name: lines for tool in SAID_OF for name, lines in recorded(tool).items()
                   if line_of(name) not in lines}
    assert other_lines == {}


def counted_work_of(kernel, function, *args, **options):
    """Counters of a call whose work is done by one launch of this kernel, and not by lines of PyTorch."""
    counters = count(function, *args, **options)
    assert counters.library_operations == []
    kernels_that_run = [launch.kernel for launch in counters.launches]
    assert kernels_that_run == [kernel]
    return counters


HAS_NO_TILE = "Right without a tile; but it stays here. What has to happen around it?"


# Task 2: order ------------------------------------------------------------------------------------

def turned(x, blocks=None):
    return x.view(-1, 64).flip(1).reshape(-1)


@pytest.mark.task(2)
def test_mirror_turns_two_tiles_round_one_after_the_other():
    assert_matches(lesson.mirror, ramp(128), blocks=1, oracle=turned, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n, blocks", [(0, 1), (64, 1), (192, 2), (448, 3)])
def test_mirror_takes_any_number_of_tiles(n, blocks, rng):
    assert_matches(lesson.mirror, vector(rng, n), blocks=blocks, oracle=turned, exact=True)


@pytest.mark.task(2)
@pytest.mark.counters
def test_mirror_waits_twice_for_each_tile_and_moves_each_element_once(rng):
    """Two warps a block. One barrier after the tile is filled, one before it is filled anew."""
    counters = counted_work_of("mirror_kernel", lesson.mirror, vector(rng, 640), blocks=2)
    tiles, warps = 10, 2
    assert counters.programs == 2
    assert counters.bytes_shared > 0, HAS_NO_TILE
    assert counters.barriers <= 2 * tiles * warps, "Who waits for whom at each of them?"
    assert counters.bytes_loaded == counters.bytes_stored == 4 * 640
    assert counters.bytes_shared <= 2 * 4 * 640
    assert counters.bytes_atomic == 0


def summed(x):
    return x.sum(dim=1)


@pytest.mark.task(2)
def test_row_sums_adds_up_two_rows():
    """1 + 2 + ... + 32 = 528, and 33 + ... + 64 = 1552."""
    assert_matches(lesson.row_sums, ramp(64).view(2, 32), oracle=summed, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("rows", [4, 6, 34])
def test_row_sums_takes_several_blocks(rows, rng):
    assert_matches(lesson.row_sums, vector(rng, 32 * rows).view(rows, 32), oracle=summed,
                   tolerance=accumulated(np.float32, 32))


@pytest.mark.task(2)
@pytest.mark.counters
def test_row_sums_never_lets_one_warp_wait_for_the_other(rng):
    """Each row belongs to one warp, and its lanes need nobody else."""
    counters = counted_work_of("row_sums_kernel", lesson.row_sums, vector(rng, 320).view(10, 32))
    assert counters.barriers == 0, "Which cure lets the lanes of a warp wait for each other, and nobody else?"
    assert counters.bytes_loaded == 4 * 320
    assert counters.bytes_stored == 4 * 10
    assert counters.float64 == 0


@pytest.mark.task(2)
@pytest.mark.counters
def test_row_sums_asks_memory_no_more_than_before(rng):
    """A warp stores once, loads two and stores one in five steps, and loads a sum. x is four sectors, the sum one."""
    counters, warps = count(lesson.row_sums, vector(rng, 320).view(10, 32)), 10
    assert counters.shared_requests <= (1 + 5 * 3 + 1) * warps
    assert counters.conflicts == 0
    assert counters.sectors == (4 + 1) * warps


@pytest.mark.task(2)
@pytest.mark.compiled
def test_the_compiler_finds_a_barrier_of_the_warp_for_each_step_of_row_sums_and_none_of_the_block(rng):
    kernel = compiled(lesson.row_sums, vector(rng, 64).view(2, 32), chip="h100").kernels["row_sums_kernel"]
    barriers_of_the_block = [name for name in kernel.instructions if name.startswith(("bar.sync", "barrier.sync"))]
    assert barriers_of_the_block == [], "In PTX this is a syncthreads. Which threads wait at it, and which have to?"
    barriers_of_the_warp = kernel.instructions.get("bar.warp.sync", 0)
    assert barriers_of_the_warp <= 5, "Five steps: before each, one syncwarp puts it behind the step before"


def below(x):
    return torch.cat([piece.max() - piece for piece in x.split(64)])


@pytest.mark.task(2)
@pytest.mark.parametrize("numbers", [[2, 7, 5], [0, 0, 0]])
def test_below_largest_of_three_numbers(numbers):
    x = torch.tensor(numbers, dtype=torch.int32, device=device)
    assert_matches(lesson.below_largest, x, oracle=below)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n", LENGTHS)
def test_below_largest_takes_any_length(n, rng):
    assert_matches(lesson.below_largest, integers(rng, n), oracle=below)


@pytest.mark.task(2)
@pytest.mark.counters
def test_threads_of_below_largest_without_an_element_update_nothing(rng):
    """A 0 for each block; for each element at most one update and one load."""
    counters, blocks = count(lesson.below_largest, integers(rng, 200)), 4
    assert counters.bytes_shared <= 4 * (blocks + 200 + 200), "What do threads behind the end do there?"


@pytest.mark.task(2)
@pytest.mark.counters
def test_below_largest_waits_twice_in_each_block(rng):
    """Once for the 0 of thread 0, once for the largest of all. Warps that have left by return do not come."""
    counters = counted_work_of("below_largest_kernel", lesson.below_largest, integers(rng, 200))
    blocks, warps = 4, 2
    assert counters.barriers <= 2 * blocks * warps
    assert_loads_at_most_twice(counters, n=200, threads=blocks * 64)
    assert counters.bytes_stored == 4 * 200


def assert_loads_at_most_twice(counters, n, threads):
    """Each element in two lines, as it may be; a failure tells of a line in which threads behind the end load too."""
    __tracebackhide__ = True
    loads = [line for line in counters.launches[0].lines if line.kind == "load"]
    by_all_threads = [line.line for line in loads if line.counts.bytes_loaded == 4 * threads]
    if counters.bytes_loaded > 2 * 4 * n and by_all_threads:
        raise AssertionError(f"In line {by_all_threads[0]} all {threads} threads load; x has {n} elements.\n"
                             f"What do the {threads - n} threads behind the end load there?")
    assert counters.bytes_loaded <= 2 * 4 * n


def snaked(x):
    turned_round = x.clone()
    turned_round[1::2] = x[1::2].flip(1)
    return turned_round


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_snake_turns_every_second_row(rows, rng):
    assert_matches(lesson.snake, vector(rng, 64 * rows).view(rows, 64), oracle=snaked, exact=True)


@pytest.mark.task(2)
@pytest.mark.counters
def test_snake_waits_in_the_rows_that_are_turned_and_in_no_other(rng):
    """Rows 1, 3 and 5 of seven. In the others each thread reads what it stored itself."""
    counters = counted_work_of("snake_kernel", lesson.snake, vector(rng, 64 * 7).view(7, 64))
    rows_turned, warps = 3, 2
    assert counters.bytes_shared > 0, HAS_NO_TILE
    assert counters.barriers <= rows_turned * warps, "In which rows does a thread read what another one stored?"
    assert counters.bytes_loaded == counters.bytes_stored == 4 * 64 * 7


# Task 3: places -----------------------------------------------------------------------------------

def counted(x, blocks=None):
    return torch.bincount(x, minlength=16).to(torch.int32)


@pytest.mark.task(3)
def test_histogram_counts_a_number_that_three_threads_have():
    x = torch.tensor([3, 5, 3, 1, 3], dtype=torch.int32, device=device)
    assert_matches(lesson.histogram, x, oracle=counted)


@pytest.mark.task(3)
def test_each_element_counts_in_one_of_two_blocks():
    """70 threes. Blocks have 64 threads: the last six are for the second block alone."""
    x = torch.full((70,), 3, dtype=torch.int32, device=device)
    assert_matches(lesson.histogram, x, blocks=2, oracle=counted)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n, blocks", [(0, 1), (1, 1), (63, 1), (64, 2), (65, 1), (521, 3)])
def test_histogram_takes_any_length_and_any_number_of_blocks(n, blocks, rng):
    assert_matches(lesson.histogram, integers(rng, n), blocks=blocks, oracle=counted)


@pytest.mark.task(3)
@pytest.mark.counters
def test_histogram_goes_to_global_memory_once_for_each_bin_of_a_block(rng):
    """However many elements it counts: those go to shared memory. Two barriers, for each of two warps."""
    counters = counted_work_of("histogram_kernel", lesson.histogram, integers(rng, 1000), blocks=3)
    blocks, bins, warps = 3, 16, 2
    assert counters.bytes_atomic == 4 * bins * blocks
    assert counters.barriers == 2 * blocks * warps
    assert counters.bytes_loaded == 4 * 1000


@pytest.mark.task(3)
@pytest.mark.counters
def test_each_thread_of_histogram_takes_its_share(rng):
    """Threads side by side load elements side by side, each of them once: eight to a sector."""
    counters = count(lesson.histogram, integers(rng, 960), blocks=3)
    loads = [line.counts for line in counters.launches[0].lines if line.kind == "load"]
    times_that_each_element_is_loaded = sum(counts.bytes_loaded for counts in loads) / (4 * 960)
    assert times_that_each_element_is_loaded == 1
    sectors_loaded, sectors_of_x = sum(counts.sectors for counts in loads), 960 * 4 // 32
    assert sectors_loaded == sectors_of_x


def woven(a, b):
    return torch.stack([a, b], dim=1).reshape(-1)


@pytest.mark.task(3)
def test_interleave_puts_each_number_of_b_behind_its_number_of_a():
    assert_fills_its_tile(lesson.interleave, ramp(64), ramp(64, first=101.0))
    assert_matches(lesson.interleave, ramp(64), ramp(64, first=101.0), oracle=woven, exact=True)


def assert_fills_its_tile(function, a, b):
    """What a failure adds to the report of a place to which nothing was stored: who has which place."""
    __tracebackhide__ = True
    try:
        function(a, b)
    except Exception as fault:
        what, _, _ = str(fault).partition("\n\n")
        if "to which nothing was stored" not in " ".join(what.split()):
            return  # assert_matches tells
        raise AssertionError(f"{what}\nTwo lines store 64 numbers each, in a tile of 128 places.\n"
                             "Which places do both lines store to, and which does neither?") from None


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n", [128, 320])
def test_interleave_takes_several_blocks(n, rng):
    assert_matches(lesson.interleave, *vectors(rng, n, count=2), oracle=woven, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_interleave_stores_whole_sectors_and_waits_once(rng):
    """Two blocks of two warps. Threads side by side store side by side, as the tile allows."""
    counters = counted_work_of("interleave_kernel", lesson.interleave, *vectors(rng, 128, count=2))
    blocks, warps = 2, 2
    assert counters.sectors == (128 + 128 + 256) * 4 // 32
    assert counters.bytes_shared == 2 * 4 * 256
    assert counters.barriers == blocks * warps


def tripled(x):
    padded = torch.nn.functional.pad(x, (1, 1))
    return padded[:-2] + padded[1:-1] + padded[2:]


@pytest.mark.task(3)
def test_triples_of_the_numbers_on_both_sides_of_a_border():
    """1, 2, ... 65. Element 63 is the last of block 0, element 64 the only one of block 1; each needs the other."""
    assert_neighbours_across_the_border(ramp(65))
    assert_matches(lesson.triples, ramp(65), oracle=tripled, exact=True)


def assert_neighbours_across_the_border(x):
    """What a failure adds to a wrong sum at the border: what stands in it where x[63] or x[64] should be."""
    __tracebackhide__ = True
    try:
        out = lesson.triples(x)
    except Exception:
        return  # assert_matches tells
    for place, neighbour in ((63, 64), (64, 63)):
        if float(out[place]) != float(tripled(x)[place]):
            raise AssertionError(without_its_neighbour(float(out[place]), place, neighbour))


def without_its_neighbour(got, place, neighbour):
    """Of x[i] = i + 1: got is out[place], in which x[neighbour], of another block, is not added."""
    rest = {63: 63 + 64, 64: 65}[place]
    instead = {0: "nothing", **{i + 1: f"x[{i}]" for i in range(65)}}.get(got - rest, f"{got - rest:g}")
    return (f"out[{place}] is {got:g}: {instead} is added where x[{neighbour}] = {neighbour + 1} should be.\n"
            f"x[{neighbour}] is of another block. Who brings it into this tile, and where to?")


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n", [*LENGTHS, 128])
def test_triples_takes_any_length(n, rng):
    assert_matches(lesson.triples, vector(rng, n), oracle=tripled, tolerance=accumulated(np.float32, 3))


@pytest.mark.task(3)
@pytest.mark.counters
def test_triples_loads_two_elements_beside_each_block_and_waits_once(rng):
    counters = counted_work_of("triples_kernel", lesson.triples, vector(rng, 300))
    blocks, warps = 5, 2
    elements_on_the_other_side_of_a_border = 2 * (blocks - 1)
    assert_loads_no_more_than_once_in_a_tile(counters, 300, elements_on_the_other_side_of_a_border)
    assert counters.bytes_loaded == 4 * (300 + elements_on_the_other_side_of_a_border)
    assert counters.conversions == 0
    assert counters.barriers == blocks * warps


def assert_loads_no_more_than_once_in_a_tile(counters, n, beside):
    """What a failure says where two lines load most of x: the lesser one could find it in the tile."""
    __tracebackhide__ = True
    loads = [line for line in counters.launches[0].lines if line.kind == "load"]
    of_line = {line.line: line.counts.bytes_loaded // 4 for line in loads if line.counts.bytes_loaded > 4 * beside}
    if counters.bytes_loaded > 4 * (n + beside) and len(of_line) == 2 and sum(of_line.values()) > n + beside:
        (one, many), (other, more) = of_line.items()
        raise AssertionError(f"Lines {one} and {other} load {many} and {more} elements of x, which has {n}.\n"
                             f"Which of the elements that line {other} loads are in the tile already?")


def stepped(x):
    return torch.cat([x[1:], x.new_zeros(1)]) - x


@pytest.mark.task(3)
def test_steps_of_three_numbers():
    assert_matches(lesson.steps, torch.tensor([5.0, 7.0, 4.0], device=device), oracle=stepped, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n", LENGTHS)
def test_steps_takes_any_length(n, rng):
    assert_matches(lesson.steps, vector(rng, n), oracle=stepped, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_steps_loads_each_element_twice_and_nothing_beside(rng):
    """Once as itself; all but the first once more, as what comes after another."""
    counters = counted_work_of("steps_kernel", lesson.steps, vector(rng, 320))
    assert counters.programs == 5
    assert counters.bytes_loaded == 4 * (320 + 319)
    assert counters.bytes_stored == 4 * 320


# Task 4: a report of your own ---------------------------------------------------------------------

def check_first_race(accesses, wanted):
    found = lesson.find_race(accesses)
    text = "" if found == wanted else told(accesses, found, wanted)
    assert found == wanted, text


@pytest.mark.task(4)
@pytest.mark.parametrize("operations, races", [
    (("store", "load"), True), (("load", "store"), True), (("store", "store"), True), (("load", "load"), False),
    (("atomic", "atomic"), False), (("atomic", "load"), True), (("store", "atomic"), True)])
def test_find_race_wants_two_threads_of_which_one_changes_the_element_and_not_both_by_atomics(operations, races):
    did, does = operations
    check_first_race([(7, 0, did, 3), (5, 0, does, 3)], (1, 0) if races else None)


@pytest.mark.task(4)
@pytest.mark.parametrize("second, why", [
    ((7, 0, "store", 3), "the same thread"), ((5, 1, "store", 3), "a barrier between"),
    ((5, 0, "store", 4), "another element")])
def test_find_race_finds_none_without_two_threads_one_element_and_the_same_barriers(second, why):
    check_first_race([(7, 0, "store", 3), second], None)


@pytest.mark.task(4)
@pytest.mark.edge
def test_find_race_finds_none_in_an_empty_list_or_in_one_access():
    for accesses in ([], [(0, 0, "store", 0)]):
        check_first_race(accesses, None)


@pytest.mark.task(4)
def test_find_race_looks_beyond_the_access_just_before():
    """Thread 1 touches another element, thread 0 its own once more; only then comes thread 2."""
    check_first_race([(0, 0, "load", 5), (1, 0, "store", 6), (0, 0, "load", 5), (2, 0, "store", 5)], (3, 0))


@pytest.mark.task(4)
@pytest.mark.parametrize("operation", ["load", "atomic"])
@pytest.mark.parametrize("thread", [0, 1])
def test_find_race_remembers_more_than_one_access_of_an_element(operation, thread):
    """Threads 0 and 1 do the same, in no race; then one of them stores, and races with the other."""
    accesses, wanted = [(0, 0, operation, 5), (1, 0, operation, 5), (thread, 0, "store", 5)], (2, 1 - thread)
    if lesson.find_race(accesses) is None:
        raise AssertionError(f"{told(accesses, None, wanted)}\n"
                             f"Access {thread} is of element 5 too, but thread {thread} made it itself.\n"
                             "Is it enough to remember one access of an element?")
    check_first_race(accesses, wanted)


@pytest.mark.task(4)
@pytest.mark.parametrize("first", ["load", "store"])
def test_find_race_still_knows_the_access_before_a_store(first):
    """Thread 1 races with both accesses of thread 0; the one that came first counts, and no store wipes it out."""
    check_first_race([(0, 0, first, 0), (0, 0, "store", 0), (1, 0, "store", 0)], (2, 0))


@pytest.mark.task(4)
def test_find_race_finds_that_of_mirror_in_its_second_tile_with_one_barrier_a_tile_and_none_with_two():
    """Four threads, two tiles. Thread 0 stores element 0 anew, which thread 3 read after the same barrier."""
    check_first_race(tiles_turned(4, 2, 1), (8, 7))
    check_first_race(tiles_turned(4, 2, 2), None)


@pytest.mark.task(4)
def test_find_race_finds_one_at_the_end_of_a_long_healthy_list():
    """Three tiles without a race; then thread 1 stores element 0, which thread 3 was the last to load."""
    check_first_race([*tiles_turned(4, 3, 2), (1, 5, "store", 0)], (24, 23))


@pytest.mark.task(4)
@pytest.mark.parametrize("threads, elements", [(4, 30), (2, 3), (64, 64)])
def test_find_race_finds_the_first_of_many_accesses(threads, elements, rng):
    kinds = ["load", "load", "atomic", "store"]
    accesses = [(int(rng.integers(threads)), step // 20, kinds[rng.integers(4)], int(rng.integers(elements)))
                for step in range(120)]
    check_first_race(accesses, first_race(accesses))


LONG_AND_HEALTHY = {  # what all accesses of a list have in common: the access at a place
    "All are of one element, each with one barrier more": lambda place: (place % 64, place, "store", 0),
    "All have the same barriers, each is of another element": lambda place: (place % 64, 0, "store", place),
}


@pytest.mark.task(4)
@pytest.mark.parametrize("alike", LONG_AND_HEALTHY)
def test_find_race_looks_at_no_access_that_cannot_race_with_the_new_one(alike):
    """16 times as many accesses take some 16 times as long; 256 times, if each is looked at beside all before it."""
    short, long = ([LONG_AND_HEALTHY[alike](place) for place in range(many)] for many in (128, 2048))
    check_first_race(long, None)
    times_as_long = min(seconds(long, 1) for _ in range(3)) / seconds(short, 5)
    assert times_as_long < 64, (
        f"Of {len(long):,} accesses it took {times_as_long:,.0f} times as long as of {len(short)}.\n"
        f"{alike}: no two can race.\n"
        "Beside which of those before it is each one looked at?")


def seconds(accesses, calls):
    """The shortest of so many calls."""
    times = []
    for _ in range(calls):
        start = perf_counter()
        lesson.find_race(accesses)
        times.append(perf_counter() - start)
    return min(times)
