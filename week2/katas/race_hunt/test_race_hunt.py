"""The lesson again, as checks: what the reports said, kernels that are whole and no slower, a report of your own."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count
from tools.check.inputs import awkward_lengths, vectors
from tools.check.tolerances import accumulated
from tools.gpu import device
from week2.katas.race_hunt import planted
from week2.katas.race_hunt import race_hunt as lesson

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


def kind_of(name):
    return lesson.findings()[name][0]


def line_of(name):
    return lesson.findings()[name][1]


def threads_of(name):
    return list(lesson.findings()[name][2])


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
    assert_matches(threads_of, name, oracle=lambda name: FOUND[name][2])


def differences(tool, reported):
    """Names that are missing from what the lesson says of a tool, and names that should not be there."""
    named = set(lesson.by_tool().get(tool, []))
    return {"reported, not named": sorted(reported - named), "named, not reported": sorted(named - reported)}


NONE = {"reported, not named": [], "named, not reported": []}


@pytest.mark.task(1)
def test_memcheck_finds_what_leaves_an_array():
    of_memcheck = differences("memcheck", {"steps"})
    assert of_memcheck == NONE


@pytest.mark.task(1)
def test_synccheck_misses_a_barrier_that_some_pass_by():
    """To an H200, threads that have ended have come. The simulator says who never came."""
    of_synccheck = differences("synccheck", set())
    assert of_synccheck == NONE


@pytest.mark.task(1)
def test_racecheck_finds_races_in_shared_memory():
    """A thread that comes too early, one that should use another element: to racecheck they are the same."""
    of_racecheck = differences("racecheck", {"mirror", "row_sums", "histogram", "interleave"})
    assert of_racecheck == NONE


@pytest.mark.task(1)
def test_initcheck_looks_at_global_memory_alone():
    """All that the eight kernels load from there has a value. Which memory is it that one of them finds empty?"""
    of_initcheck = differences("initcheck", set())
    assert of_initcheck == NONE


@pytest.mark.task(1)
def test_what_you_name_is_what_an_h200_reported():
    """Each report there names the line of the simulator's report among its own."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))["kernels"]
    lines = {tool: {name: said[tool]["lines"] for name, said in recorded.items() if said[tool]["lines"]}
             for tool in ("racecheck", "memcheck", "synccheck", "initcheck")}
    named = {tool: sorted(names) for tool, names in lesson.by_tool().items()}
    assert named == {tool: sorted(reported) for tool, reported in lines.items()}
    other_lines = {name: found for reported in lines.values() for name, found in reported.items()
                   if line_of(name) not in found}
    assert other_lines == {}


def kernels_that_run(function, *args):
    """Of a call: its kernels. A line of PyTorch that works in their place is a fault."""
    counters = count(function, *args)
    assert counters.library_operations == []
    return [launch.kernel for launch in counters.launches]


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
    counters, tiles, warps = count(lesson.mirror, vector(rng, 640), blocks=2), 10, 2
    assert counters.library_operations == []
    assert counters.programs == 2
    assert counters.barriers <= 2 * tiles * warps
    assert counters.bytes_loaded == counters.bytes_stored == 4 * 640
    assert counters.bytes_shared == 2 * 4 * 640
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
    counters = count(lesson.row_sums, vector(rng, 320).view(10, 32))
    assert counters.barriers == 0
    assert counters.bytes_loaded == 4 * 320
    assert counters.bytes_stored == 4 * 10
    assert counters.float64 == 0


@pytest.mark.task(2)
@pytest.mark.counters
def test_row_sums_asks_shared_memory_no_more_than_before(rng):
    """A warp stores once, loads two numbers and stores one in each of five steps, and loads the sum."""
    counters, warps = count(lesson.row_sums, vector(rng, 320).view(10, 32)), 10
    assert counters.shared_requests <= (1 + 5 * 3 + 1) * warps
    assert counters.conflicts == 0


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_lane_of_row_sums_loads_one_element(rng):
    """32 neighbours are four sectors, in one request of the warp. Its sum is one more."""
    counters, warps = count(lesson.row_sums, vector(rng, 320).view(10, 32)), 10
    assert counters.sectors == (4 + 1) * warps


@pytest.mark.task(2)
@pytest.mark.compiled
def test_the_compiler_finds_no_barrier_of_the_block_in_row_sums(rng):
    kernel = compiled(lesson.row_sums, vector(rng, 64).view(2, 32), chip="h100").kernels["row_sums_kernel"]
    barriers_of_the_block = [name for name in kernel.instructions if name.startswith(("bar.sync", "barrier.sync"))]
    assert barriers_of_the_block == []


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
def test_below_largest_waits_twice_in_each_block(rng):
    """Once for the 0 of thread 0, once for the largest of all."""
    counters, blocks, warps = count(lesson.below_largest, integers(rng, 200)), 4, 2
    assert counters.barriers == 2 * blocks * warps
    assert counters.bytes_loaded <= 2 * 4 * 200
    assert counters.bytes_stored == 4 * 200


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
    counters, rows_turned, warps = count(lesson.snake, vector(rng, 64 * 7).view(7, 64)), 3, 2
    assert counters.barriers == rows_turned * warps
    assert counters.bytes_loaded == counters.bytes_stored == 4 * 64 * 7


@pytest.mark.task(2)
@pytest.mark.counters
def test_the_kernels_of_task_2_do_all_of_the_work(rng):
    x = vector(rng, 128)
    assert kernels_that_run(lesson.mirror, x) == ["mirror_kernel"]
    assert kernels_that_run(lesson.row_sums, x.view(4, 32)) == ["row_sums_kernel"]
    assert kernels_that_run(lesson.below_largest, integers(rng, 100)) == ["below_largest_kernel"]
    assert kernels_that_run(lesson.snake, x.view(2, 64)) == ["snake_kernel"]


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
    counters, blocks, bins, warps = count(lesson.histogram, integers(rng, 1000), blocks=3), 3, 16, 2
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
    assert_matches(lesson.interleave, ramp(64), ramp(64, first=101.0), oracle=woven, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n", [128, 320])
def test_interleave_takes_several_blocks(n, rng):
    assert_matches(lesson.interleave, *vectors(rng, n, count=2), oracle=woven, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_interleave_stores_whole_sectors_and_waits_once(rng):
    """Two blocks of two warps. Threads side by side store side by side, as the tile allows."""
    counters, blocks, warps = count(lesson.interleave, *vectors(rng, 128, count=2)), 2, 2
    sectors_needed = (128 + 128 + 256) * 4 // 32
    assert counters.sectors == sectors_needed
    assert counters.bytes_shared == 2 * 4 * 256
    assert counters.barriers == blocks * warps


def tripled(x):
    padded = torch.nn.functional.pad(x, (1, 1))
    return padded[:-2] + padded[1:-1] + padded[2:]


@pytest.mark.task(3)
def test_triples_of_the_numbers_on_both_sides_of_a_border():
    """1, 2, ... 65. Element 63 is the last of block 0, element 64 the only one of block 1; each needs the other."""
    assert_matches(lesson.triples, ramp(65), oracle=tripled, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n", [*LENGTHS, 128])
def test_triples_takes_any_length(n, rng):
    assert_matches(lesson.triples, vector(rng, n), oracle=tripled, tolerance=accumulated(np.float32, 3))


@pytest.mark.task(3)
@pytest.mark.counters
def test_triples_loads_two_elements_beside_each_block_and_waits_once(rng):
    counters, blocks, warps = count(lesson.triples, vector(rng, 300)), 5, 2
    elements_on_the_other_side_of_a_border = 2 * (blocks - 1)
    assert counters.bytes_loaded == 4 * (300 + elements_on_the_other_side_of_a_border)
    assert counters.conversions == 0
    assert counters.barriers == blocks * warps


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
    counters = count(lesson.steps, vector(rng, 320))
    assert counters.library_operations == []
    assert counters.programs == 5
    assert counters.bytes_loaded == 4 * (320 + 319)
    assert counters.bytes_stored == 4 * 320


@pytest.mark.task(3)
@pytest.mark.counters
def test_the_kernels_of_task_3_do_all_of_the_work(rng):
    x = vector(rng, 128)
    assert kernels_that_run(lesson.histogram, integers(rng, 100)) == ["histogram_kernel"]
    assert kernels_that_run(lesson.interleave, x, x) == ["interleave_kernel"]
    assert kernels_that_run(lesson.triples, x) == ["triples_kernel"]
    assert kernels_that_run(lesson.steps, x) == ["steps_kernel"]


# Task 4: a report of your own ---------------------------------------------------------------------

def race_in(accesses):
    return str(lesson.find_race(accesses))


def no_race(accesses):
    return "None"


def first_race(accesses):
    """Each access against all before it."""
    for later, (thread, barriers, operation, element) in enumerate(accesses):
        for earlier, (other, passed, did, where) in enumerate(accesses[:later]):
            alike = operation == did and did != "store"
            if thread != other and barriers == passed and element == where and not alike:
                return f"({later}, {earlier})"
    return "None"


def tiles_turned(threads, tiles, barriers_a_tile):
    """The accesses of mirror: threads come one after the other, between barriers."""
    accesses = []
    for tile in range(tiles):
        passed = barriers_a_tile * tile
        accesses += [(t, passed, "store", t) for t in range(threads)]
        accesses += [(t, passed + 1, "load", threads - 1 - t) for t in range(threads)]
    return accesses


@pytest.mark.task(4)
@pytest.mark.parametrize("operations, races", [
    (("store", "load"), True), (("load", "store"), True), (("store", "store"), True), (("load", "load"), False),
    (("atomic", "atomic"), False), (("atomic", "load"), True), (("store", "atomic"), True)])
def test_two_threads_race_if_one_changes_the_element_and_not_both_by_atomics(operations, races):
    did, does = operations
    assert_matches(race_in, [(7, 0, did, 3), (5, 0, does, 3)], oracle=lambda accesses: "(1, 0)" if races else "None")


@pytest.mark.task(4)
@pytest.mark.parametrize("second, why", [
    ((7, 0, "store", 3), "the same thread"), ((5, 1, "store", 3), "a barrier between"),
    ((5, 0, "store", 4), "another element")])
def test_no_race_without_two_threads_one_element_and_the_same_barriers(second, why):
    assert_matches(race_in, [(7, 0, "store", 3), second], oracle=no_race)


@pytest.mark.task(4)
@pytest.mark.edge
def test_nothing_races_in_an_empty_list_or_alone():
    for accesses in ([], [(0, 0, "store", 0)]):
        assert_matches(race_in, accesses, oracle=no_race)


@pytest.mark.task(4)
def test_looks_beyond_the_access_just_before():
    """Thread 1 touches another element, thread 0 its own once more; only then comes thread 2."""
    accesses = [(0, 0, "load", 5), (1, 0, "store", 6), (0, 0, "load", 5), (2, 0, "store", 5)]
    assert_matches(race_in, accesses, oracle=lambda accesses: "(3, 0)")


@pytest.mark.task(4)
def test_mirror_races_in_its_second_tile_with_one_barrier_a_tile_and_not_with_two():
    """Four threads, two tiles. Thread 0 stores element 0 anew, which thread 3 read after the same barrier."""
    assert_matches(race_in, tiles_turned(4, 2, 1), oracle=lambda accesses: "(8, 7)")
    assert_matches(race_in, tiles_turned(4, 2, 2), oracle=no_race)


@pytest.mark.task(4)
def test_finds_a_race_at_the_end_of_a_long_healthy_list():
    """Three tiles without a race; then thread 1 stores element 0, which thread 3 was the last to load."""
    accesses = [*tiles_turned(4, 3, 2), (1, 5, "store", 0)]
    assert_matches(race_in, accesses, oracle=lambda accesses: "(24, 23)")


@pytest.mark.task(4)
@pytest.mark.parametrize("threads, elements", [(4, 30), (2, 3), (64, 64)])
def test_finds_the_first_race_of_many_accesses(threads, elements, rng):
    kinds = ["load", "load", "atomic", "store"]
    accesses = [(int(rng.integers(threads)), step // 20, kinds[rng.integers(4)], int(rng.integers(elements)))
                for step in range(120)]
    assert_matches(race_in, accesses, oracle=first_race)
