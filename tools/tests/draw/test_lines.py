"""Counters by source line, and the sentence on the line that wastes most."""

import re

import numpy as np
import pytest

from tools.draw import line_table, lines
from tools.sim import cuda
from tools.sim.counters import Counters, Counts, Launch, Line, Warps
from tools.tests.draw.kernels import (
    add,
    along_rows,
    counted,
    down_columns,
    every_other,
    one_bank,
    product,
    shifted,
    zeros,
)

pytestmark = pytest.mark.filterwarnings("ignore::tools.sim.cuda.host.errors.NumbaPerformanceWarning")

RUNS = {
    "side by side": lambda: add[2, 64](zeros(128), zeros(128), zeros(128)),
    "columns": lambda: down_columns[1, (32, 2)](zeros(32, 16), zeros(32, 16)),
    "bank": lambda: one_bank[1, 32](zeros(32)),
    "shifted": lambda: shifted[4, 32](zeros(129), zeros(128)),
    "every other": lambda: every_other[4, 64](zeros(256), zeros(256)),
}


def sentence(run) -> str:
    return re.sub(r"([Ll]ine) \d+", r"\1 N", lines.worst(lines.kernels(counted(run))))


@pytest.mark.parametrize(("name", "said"), {
    "side by side": "No line touches many more sectors than its bytes need.",
    "columns": "Line N asks for 32 sectors in a load of one warp, on average: neighbouring threads are far apart in "
               "memory, and each gets a sector of its own. 4 would do.",
    "bank": "Line N takes 32 wavefronts for a shared store of one warp: its threads want different words of one bank. "
            "1 would do.",
    "shifted": "Line N asks for 5 sectors in a load of one warp, on average: what a warp asks for does not begin "
               "where a sector does. 4 would do.",
}.items())  # fmt: skip
def test_the_sentence_is_about_what_is_wasted(name, said):
    assert sentence(RUNS[name]) == said


def test_a_branch_that_parts_warps_is_named_where_no_sector_is_wasted():
    @cuda.jit
    def halves(out):
        i = cuda.grid(1)
        if i % 32 < 16:
            out[i] = 1
        else:
            out[i] = 2

    said = sentence(lambda: halves[2, 64](zeros(128)))
    assert said == (
        "At line N the lanes of a warp part in 4 of 4 decisions: a warp goes one way, then the other, "
        "and some lanes idle in each."
    )


def test_a_branch_that_lets_one_lane_of_a_warp_store_its_sum_is_not_named():
    @cuda.jit
    def sums_of_warps(x, out):
        i = cuda.grid(1)
        value = x[i]
        for distance in (16, 8, 4, 2, 1):
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, distance)
        if i % 32 == 0:
            out[i // 32] = value

    assert "part" not in sentence(lambda: sums_of_warps[2, 64](zeros(128), zeros(4)))


def atomics_at(place) -> str:
    """What is said of atomics of 4 warps, where each thread updates this element of out."""

    @cuda.jit
    def updates(x, places, out):
        i = cuda.grid(1)
        cuda.atomic.add(out, places[i], x[i])

    return sentence(lambda: updates[2, 64](zeros(128), np.array([place(i) for i in range(128)]), zeros(4096)))


def test_atomics_of_one_element_are_not_said_to_be_far_apart():
    assert atomics_at(lambda i: 5) == (
        "Line N sends 32 sectors in an atomic of one warp, on average: its threads update the same element, one "
        "after the other. Fewer would do if a warp updated each element once."
    )


def test_atomics_are_said_to_be_far_apart_where_that_is_sure():
    apart = atomics_at(lambda i: 32 * i)
    assert "in an atomic of one warp, on average: neighbouring threads are far apart in memory, and each gets" in apart
    four_at_each_of_eight = atomics_at(lambda i: 64 * (i // 4))
    assert "threads are apart in memory, or update the same element one after the other" in four_at_each_of_eight
    assert "atomic" not in atomics_at(lambda i: i)


def test_a_line_that_stores_into_more_sectors_than_it_loads_is_named():
    x, out = zeros(8, 32), zeros(8, 36)  # every other row of out begins inside a sector
    said = sentence(lambda: along_rows[(1, 8), (32, 1)](x, out))
    assert said == (
        "Line N touches 36 sectors in its stores, and 32 in its loads of as many bytes. Do both begin where sectors do?"
    )


def test_lanes_that_have_nothing_to_load_do_not_make_the_others_lie_apart():
    @cuda.jit
    def where_positive(x, out):
        i = cuda.grid(1)
        if x[i] > 0:
            out[i] = x[i]

    x = zeros(1024)
    x[::3] = 1
    assert "apart" not in sentence(lambda: where_positive[8, 128](x, zeros(1024)))


def only(run) -> lines.Kernel:
    (kernel,) = lines.kernels(counted(run))
    return kernel


def triton_counters(loaded: int, sectors: int) -> Counters:
    """As of a Triton kernel: without warps."""
    counts = Counts(bytes_loaded=loaded, sectors=sectors, accesses=loaded // 4)
    line = Line("week1/day4/x.py", 7, "x = tl.load(x_ptr)", "load", counts)
    counters = Counters()
    counters.add(Launch("kernel", (4,), counts + Counts(programs=4), (line,)))
    return counters


def test_a_triton_kernel_is_told_by_the_bytes_of_a_sector():
    wasteful, thrifty = (lines.worst(lines.kernels(triton_counters(4096, sectors))) for sectors in (1024, 128))
    assert wasteful == (
        "Line 7 uses 4 of the 32 bytes of a sector, on average: neighbours in its block are far apart in memory."
    )
    assert thrifty == "No line touches many more sectors than its bytes need."


def test_the_line_that_asks_for_most_is_named_where_lines_differ():
    def run():
        product[(1, 2), (32, 4)](zeros(8, 8), zeros(8, 32), zeros(8, 32))

    assert sentence(run) == ("Line N touches 320 of all 352 sectors, which is 91%, and its bytes need nearly as many.")


def test_lines_that_touch_as_many_as_each_other_are_named_together():
    kernel = lines.Kernel("copy", (1,))
    for line, sectors in ((7, 64), (9, 64), (11, 32)):
        kernel.rows.append(lines.Row(line, "", "load", Counts(bytes_loaded=32 * sectors, sectors=sectors)))
    assert lines.worst([kernel]) == (
        "Lines 7 and 9 touch 64 of all 160 sectors each, which is 40%, and their bytes need as many."
    )
    kernel.rows[0].counts.bytes_loaded -= 4  # so that the last sector is not full
    assert "and their bytes need nearly as many" in lines.worst([kernel])


def test_of_single_elements_it_is_not_said_that_their_bytes_need_the_sectors():
    """A lane alone could not have shared its sector, so nothing is wasted; but 4 bytes do not need 32."""
    kernel = lines.Kernel("heads", (1,))
    for line, sectors in ((7, 64), (9, 32)):
        alone = Counts(bytes_loaded=4 * sectors, sectors=sectors, accesses=sectors, warps=Warps(requests=sectors))
        kernel.rows.append(lines.Row(line, "", "load", alone))
    assert lines.worst([kernel]) == "Line 7 touches 64 of all 96 sectors, which is 67%."


@cuda.jit
def updates_one_word(x, out):
    most = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        most[0] = 0
    cuda.syncthreads()
    cuda.atomic.max(most, 0, x[t])
    cuda.syncthreads()
    if t == 0:
        out[0] = most[0]


@cuda.jit
def updates_words_of_one_bank(x, out):
    bins = cuda.shared.array(1024, np.int32)
    t = cuda.threadIdx.x
    for i in range(t, 1024, 32):
        bins[i] = 0
    cuda.syncthreads()
    cuda.atomic.max(bins, 32 * t, x[t])
    cuda.syncthreads()
    out[t] = bins[32 * t]


@cuda.jit
def counts_in_one_word(x, out):
    seen = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        seen[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(seen, 0, 1)
    cuda.syncthreads()
    out[t] = x[t] + seen[0]


WAYS = {
    "one word": (updates_one_word, "its threads update the same word, one after the other. 1 would do if a warp "
                                   "updated each word once."),
    "one bank": (updates_words_of_one_bank, "its threads want different words of one bank. 1 would do."),
}  # fmt: skip


@pytest.mark.parametrize("kernel, why", WAYS.values(), ids=WAYS)
def test_atomics_of_one_word_and_of_one_bank_are_told_apart(kernel, why):
    numbers = np.zeros(32, np.int32)
    said = sentence(lambda: kernel[1, 32](numbers, numbers.copy()))
    assert said == f"Line N takes 32 wavefronts for a shared atomic of one warp: {why}"
    figures = only(lambda: kernel[1, 32](numbers, numbers.copy()))
    assert ("of one word" in figures.columns) == (kernel is updates_one_word) and "conflicts" in figures.columns


def test_the_constant_1_is_added_by_all_lanes_at_once():
    """On an H200; the profiler counted one wavefront for all lanes of a word."""
    numbers = np.zeros(32, np.int32)
    assert "wavefronts" not in sentence(lambda: counts_in_one_word[1, 32](numbers, numbers.copy()))


def test_a_kernel_of_which_no_grid_is_known_is_its_name():
    assert line_table.heading(lines.Kernel("mean", (), launches=1)) == "mean"


def test_nothing_is_said_where_nothing_moves():
    assert lines.worst(lines.kernels(Counters())) is None
    assert lines.worst(lines.kernels(triton_counters(0, 0))) is None


def test_launches_of_one_kernel_are_added_up():
    def run():
        add[2, 64](zeros(128), zeros(128), zeros(128))
        add[2, 64](zeros(128), zeros(128), zeros(128))
        add[4, 32](zeros(128), zeros(128), zeros(128))

    kernels = lines.kernels(counted(run))
    assert [(each.grid, each.launches, each.counts.bytes) for each in kernels] == [((2,), 2, 3072), ((4,), 1, 1536)]
    assert [row.counts.bytes for row in kernels[0].rows if row.kind in ("load", "store")] == [2048, 1024]


def test_a_table_of_a_kernel():
    assert (
        re.sub(r"^ +\d+  ", "   N  ", line_table.terminal(only(RUNS["bank"])), flags=re.M)
        == """\
one_bank: 1 block
line              bytes  requests  sectors  /request  wavefronts  conflicts
   N  tile[x, 0] = x
    shared store    128         1        -         -          32         31
    32 conversions
   N  out[x] = tile[x, 0]
    shared load     128         1        -         -          32         31
    store           128         1        4       4.0           -          -"""
    )


def test_columns_that_are_all_zero_are_left_out():
    assert only(RUNS["side by side"]).columns == ("bytes", "requests", "sectors", "sectors/request")
    assert lines.kernels(triton_counters(4096, 128))[0].columns == ("bytes", "sectors", "bytes/sector")


def test_branches_are_shown_where_lanes_part():
    assert "branch: the lanes of a warp parted 8 of 8 times" in line_table.terminal(only(RUNS["every other"]))
    assert "branch" not in line_table.terminal(only(RUNS["side by side"]))


def test_what_a_line_does_without_memory_is_told_in_words():
    for counts, kind, words in (
        (Counts(warps=Warps(barriers=8)), "barrier", "8 barriers"),
        (Counts(float64=64, warps=Warps()), "arithmetic", "64 float64 operations"),
        (Counts(conversions=96), "arithmetic", "96 conversions"),
    ):
        counters = Counters()
        counters.add(Launch("kernel", (1,), counts, (Line("week1/day4/x.py", 7, "a line", kind, counts),)))
        (kernel,) = lines.kernels(counters)
        assert line_table.terminal(kernel).endswith(f"\n   7  a line\n    {words}")


@pytest.mark.parametrize("name", RUNS)
def test_a_table_fits_into_eighty_columns(name):
    assert max(map(len, line_table.terminal(only(RUNS[name])).splitlines())) <= 80


def test_figures_are_those_of_the_counters():
    run = lambda: product[(2, 2), (4, 4)](zeros(8, 8), zeros(8, 8), zeros(8, 8))  # noqa: E731
    kernel, counters = only(run), counted(run)
    assert sum(lines.figure(row, "sectors") for row in kernel.rows) == counters.sectors
    assert sum(lines.figure(row, "bytes") for row in kernel.rows) == counters.bytes
    assert kernel.counts.warps == Warps(**vars(counters.warps))
