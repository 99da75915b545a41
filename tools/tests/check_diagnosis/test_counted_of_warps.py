"""What counters of warps, of transfers and of arithmetic tell a learner whose assertion about them failed."""

from dataclasses import replace
from pathlib import Path

import pytest

from tools.check.count import Call as CallOfALesson
from tools.check.diagnosis.asserted import told_by_numbers
from tools.check.diagnosis.counted import told_by_counters
from tools.sim.counters import Counters, Counts, Launch, Line, Transfers, Warps
from tools.tests.check_diagnosis.counting import counters, cuda_launch, launch, of_lines

# Of CUDA kernels ---------------------------------------------------------------------------------


def test_transfers_are_told_even_where_no_kernel_ran():
    made = counters()
    made.transfers = Transfers(uploads=2, bytes_uploaded=8000, downloads=1, bytes_downloaded=4, synchronizations=1)
    between = "Between host and GPU: 2 uploads (8,000 bytes), 1 download (4 bytes), 1 synchronization."
    for asked in ("counters.transfers.uploads == 1", "transfers.bytes_downloaded == 0", "moved.downloads == 0"):
        assert told_by_counters(made, asked) == [between, "What must cross, and how often? Which line moves the rest?"]


def test_what_should_have_crossed_is_asked_for():
    assert told_by_counters(counters(), "assert counters.transfers.uploads == 2") == [
        "Between host and GPU: nothing crossed, and the host never waited.",
        "What must cross, and how often? Which line should move it?",
    ]


def test_where_the_host_waits_too_often_nobody_is_sent_to_look_for_a_copy():
    made = counters()
    made.transfers = Transfers(uploads=1, bytes_uploaded=8, downloads=1, bytes_downloaded=4, synchronizations=3)
    between = "Between host and GPU: 1 upload (8 bytes), 1 download (4 bytes), 3 synchronizations."
    calls = "Which calls make the host wait for the GPU, and how often do they run?"
    asked = "assert counters.transfers.synchronizations == 1"
    assert told_by_counters(made, asked) == [between, "Counted 3, needed 1: 3 times as much.", calls]
    asked = "assert (counters.transfers.uploads, counters.transfers.synchronizations) == (1, 1)"
    assert told_by_counters(made, asked)[-1] == calls
    assert told_by_counters(made, "assert 1 <= counters.transfers.synchronizations <= 2") == [between, calls]
    asked = "assert counters.transfers.synchronizations == 4"
    assert told_by_counters(made, asked)[-1] == "Where must the host wait for the GPU, and for what?"


def test_sectors_of_a_request_are_told_from_the_worst_line_on():
    first, second, question = told_by_counters(counters(cuda_launch()), "counters.sectors_per_request == 4")
    assert first == "line 10: x = a[i * 8]  16.0 sectors a request"
    assert second == "line 11: out[i] = x  4.0 sectors a request"
    assert question.endswith("how far apart are they?")


def test_fewer_sectors_than_needed_are_told_by_the_threads_that_do_not_ask():
    lines = tuple(
        Line("day.py", number, source, "load", Counts(accesses=32 * lanes, sectors=32, warps=Warps(requests=32)))
        for number, source, lanes in ((9, "a = x[i]", 32), (10, "b = y[i]", 1))
    )
    made = counters(Launch("walk", (1,), lines[0].counts + lines[1].counts, lines))
    assert told_by_counters(made, "assert counters.sectors_per_request == 4") == [
        "Counted 1.0, needed 4: 1/4 of it.",
        "line 10: b = y[i]  1.0 of 32 threads ask in a request",
        "Why do the other threads of the warp not ask?",
    ]


def test_a_line_that_loads_and_stores_alike_is_told_once():
    alike = Counts(bytes_loaded=128, sectors=32, warps=Warps(requests=1))
    lines = tuple(Line("day.py", 9, "out[i] = x[i]", kind, alike) for kind in ("load", "store"))
    made = counters(Launch("walk", (1,), alike + alike, lines))
    assert told_by_counters(made, "counters.sectors_per_request == 4")[:-1] == [
        "line 9, load and store: out[i] = x[i]  32.0 sectors a request each"
    ]


def test_a_line_that_loads_and_stores_unalike_is_told_twice_each_time_with_its_kind():
    sectors = {"load": 4, "store": 5}
    lines = tuple(
        Line("day.py", 9, "out[i] = x[i]", kind, Counts(sectors=count, warps=Warps(requests=1)))
        for kind, count in sectors.items()
    )
    made = counters(Launch("walk", (1,), lines[0].counts + lines[1].counts, lines))
    assert told_by_counters(made, "counters.sectors_per_request == 4")[:-1] == [
        "line 9, store: out[i] = x[i]  5.0 sectors a request",
        "line 9, load: out[i] = x[i]  4.0 sectors a request",
    ]


def test_requests_are_told_with_how_many_there_are():
    line = Line("day.py", 9, "out[i] = x[i]", "load", Counts(sectors=64, warps=Warps(requests=16)))
    assert told_by_counters(of_lines(line), "assert counters.requests == 12") == [
        "Counted 16, needed 12: 1.3 times as much.",
        "line 9: out[i] = x[i]  16 requests",
        "Which warps ask for something there, and how often?",
    ]


def test_conflicts_are_told_with_the_line_that_has_them():
    row, question = told_by_counters(counters(cuda_launch()), "counters.conflicts == 0")
    assert row == "line 12: tile[x, y] = x  992 of 1,024 wavefronts are conflicts"
    assert "32 banks" in question


def test_wavefronts_are_told_with_the_requests_that_they_are_for():
    row, question = told_by_counters(counters(cuda_launch()), "predicted == counters.wavefronts")
    assert row == "line 12: tile[x, y] = x  1,024 wavefronts for 32 requests"
    assert "32 banks" in question
    line = Line("day.py", 12, "tile[t] = x", "shared store", Counts(warps=Warps(shared_requests=32, wavefronts=32)))
    assert told_by_counters(of_lines(line), "predicted == counters.wavefronts")[-1].endswith("and how often?")


def test_atomics_that_meet_are_asked_for_their_words():
    warps = Warps(shared_requests=32, wavefronts=1024, conflicts=992, same_word=992)
    line = Line("day.py", 9, "cuda.atomic.add(most, 0, x)", "shared atomic", Counts(warps=warps))
    row, question = told_by_counters(of_lines(line), "counters.conflicts == 0")
    assert question == "How many threads of a warp update the same word there, one after the other?"
    apart = Warps(shared_requests=32, wavefronts=1024, conflicts=992, same_word=31)
    line = Line("day.py", 9, "cuda.atomic.add(bins, 32 * t, x)", "shared atomic", Counts(warps=apart))
    assert "32 banks" in told_by_counters(of_lines(line), "counters.conflicts == 0")[-1]


def test_a_kernel_without_shared_memory_is_not_asked_for_its_threads():
    line = Line("day.py", 9, "out[i] = x[i]", "store", Counts(bytes_stored=64, sectors=2, warps=Warps(requests=1)))
    assert told_by_counters(of_lines(line), "assert counters.bytes_shared == 5120") == [
        "Counted 0, needed 5,120.",
        "No line asks shared memory for anything. What do the threads of a block share?",
    ]


def test_branches_that_part_a_warp_are_told():
    row, question = told_by_counters(counters(cuda_launch()), "assert counters.divergent_branches == 0")
    assert row == "line 9: if i % 2:  32 of 64 branches diverged"
    assert question.endswith("Could whole warps go one way?")


def test_lines_in_which_lanes_rest_are_told():
    told = told_by_counters(counters(cuda_launch()), "counters.active_lanes > 30")
    assert told == [
        "line 10: x = a[i * 8]  16.0 of 32 lanes active",
        "Which threads of a warp have nothing to do there?",
    ]


def test_lanes_that_rest_where_nothing_is_moved_are_asked_for_their_line():
    line = Line("day.py", 9, "if i % 2:", "branch", Counts(warps=Warps(branches=64)))
    (said,) = told_by_counters(of_lines(line), "counters.active_lanes == 32")
    assert said.startswith("No line moves anything with fewer lanes.")


def test_launches_that_are_alike_are_told_once():
    told = told_by_counters(counters(launch(), launch(), launch(5)), "counters.programs == 4")
    assert told[:2] == [
        "add_kernel ran in 6 programs: the grid was (6,), 2 times.",
        "add_kernel ran in 5 programs: the grid was (5,).",
    ]


def test_copies_within_the_gpu_do_not_cross():
    made = counters()
    made.transfers = Transfers(copies=1, bytes_copied=64)
    for asked in ("assert counters.transfers.bytes_copied == 0", "assert counters.transfers.copies == 0"):
        assert told_by_counters(made, asked) == [
            "Between host and GPU: nothing crossed, and the host never waited. Within the GPU: 1 copy (64 bytes).",
            "Which line copies within the GPU's memory, and what for?",
        ]


def test_operations_in_float64_that_are_wanted_are_counted():
    made = of_lines(arithmetic("x = 2.0 * y", float64=4096, warps=Warps()))
    told = told_by_counters(made, "assert made.float64 == 2048", {"made": made})
    assert told[-1] == "Which of these operations does each element need?"


def test_launches_are_told_once_with_how_often_they_were_made():
    told = told_by_counters(counters(launch(), launch(), cuda_launch()), "len(counters.launches) == 1")
    assert told[:2] == ["add_kernel was launched 2 times with grid (6,).", "walk was launched 1 time with grid (8,)."]
    assert told[-1].startswith("Which line launches it")


def test_a_launch_that_is_asked_about_its_bytes_tells_bytes():
    assert (
        "2,048 bytes in 512 sectors"
        in told_by_counters(counters(cuda_launch()), "counters.launches[0].counts.bytes_loaded == 2048")[0]
    )


def test_blocks_of_cuda_kernels_are_called_so():
    assert (
        told_by_counters(counters(cuda_launch()), "counters.programs == 4")[0]
        == "walk ran in 8 blocks: the grid was (8,)."
    )


@pytest.mark.parametrize(
    "block, said", [((256,), "of 256 threads"), ((16, 16), "of 16 x 16 threads"), ((1,), "of 1 thread")], ids=str
)
def test_blocks_are_told_with_their_threads_where_these_are_known(block, said):
    told = told_by_counters(counters(replace(cuda_launch(), block=block)), "counters.programs == 4")
    assert told[0] == f"walk ran in 8 blocks {said}: the grid was (8,)."


def test_measured_counters_tell_what_they_know():
    from tools.check import metrics

    measured = metrics.counters([("walk", (8, 1, 1), dict.fromkeys(metrics.ALL, 32.0))])
    assert told_by_counters(measured, "counters.programs == 4")[0] == "walk ran in 8 blocks: the grid was (8, 1, 1)."
    assert told_by_counters(metrics.counters([]), "counters.sectors == 4") == []


def test_counters_of_two_calls_are_told_side_by_side_and_once():
    names = {"by_programs": counters(launch(sectors=625)), "by_threads": counters(launch(sectors=2500))}
    asked = "assert (by_programs.bytes, by_programs.sectors) == (by_threads.bytes, by_threads.sectors)"
    assert told_by_counters(names["by_programs"], asked, names) == [
        "by_programs.sectors is 625, by_threads.sectors is 2,500: 1/4 of it.",
        "Which of the two is as it should be?",
    ]
    assert told_by_counters(names["by_threads"], asked, names) == []
    told = told_by_counters(names["by_threads"], "assert by_threads.sectors == 625", names)
    assert told[0].startswith("Counted 2,500")


# Numbers in float64, conversions, barriers --------------------------------------------------------


def arithmetic(source: str, **figures) -> Line:
    return Line("day.py", 7, source, "arithmetic", Counts(**figures))


@pytest.mark.parametrize(
    "source, warps, question",
    [
        (
            "total += a[i] * 2.0  # here",
            Warps(),
            "In a kernel 0.0 is float64. So is what float32 makes with float64, or with an int. "
            "Where does one come in?",
        ),
        ("total = tl.sum(x, dtype=tl.float64)", None, "Which dtype has each number of that line?"),
        ("out[i] = 0.5 * x[i];", Warps(), "Is a double among them, or a constant such as 0.5 without f?"),
    ],
)
def test_what_computes_in_float64_is_told_with_its_line(source, warps, question):
    made = of_lines(arithmetic(source, float64=1024, warps=warps))
    both, row, asks = told_by_counters(made, "assert counters.float64 == 0")
    assert both == "Counted 1,024, needed 0."
    assert row.startswith("line 7: ") and row.endswith("  1,024 operations in float64")
    assert asks == question and "here" not in row


def test_twice_as_many_operations_in_float64_are_compared():
    made, other = of_lines(arithmetic("x = 2.0 * y", float64=4096)), of_lines(arithmetic("x = y", float64=2048))
    told = told_by_counters(made, "assert made.float64 == other.float64", {"made": made, "other": other.float64})
    assert told == [] or told[0].startswith("line 7")
    told = told_by_counters(made, "assert made.float64 == other", {"made": made, "other": 2048})
    assert told[0] == "Counted 4,096, other 2,048: 2 times as much."


def test_what_a_line_did_in_two_launches_is_added_up():
    line = Line("day.py", 9, "cuda.syncthreads()", "barrier", Counts(warps=Warps(barriers=8)))
    made = of_lines(line)
    made.add(made.launches[0])
    told = told_by_counters(made, "assert counters.barriers == 8")
    assert told[:2] == [
        "Counted 16, needed 8: 2 times as much.",
        "line 9: cuda.syncthreads()  16 times that a warp came to it",
    ]
    line = Line("day.py", 8, "x = load()", "load", Counts(bytes_loaded=64, sectors=2))
    made = of_lines(line)
    made.add(made.launches[0])
    told = told_by_counters(made, "assert predicted == made.bytes", {"predicted": 256, "made": made})
    assert "It is 128 too much: as if line 8 were added twice." in told


def test_a_quotient_may_be_what_is_in_float64():
    made = of_lines(arithmetic("middle = int((low + high) / 2)", float64=64, warps=Warps()))
    assert told_by_counters(made, "assert counters.float64 == 0")[-1].startswith(
        "In a kernel 0.0 is float64, so is / of whole numbers. So is what"
    )


def test_conversions_and_barriers_are_told_with_their_lines():
    made = of_lines(arithmetic("x = y.to(tl.float32)", conversions=64))
    assert told_by_counters(made, "assert counters.conversions == 0") == [
        "Counted 64, needed 0.",
        "line 7: x = y.to(tl.float32)  64 conversions",
        "Which conversion does the result not need?",
    ]
    made = of_lines(arithmetic("x = 2.0 * y", conversions=64))
    assert told_by_counters(made, "assert counters.conversions == 0")[-1] == "Which two types meet there?"
    load = arithmetic("x = tl.load(x_ptr).to(tl.float32)", conversions=64)
    loads = [replace(load, line=number) for number in (1, 2, 3)]
    made = of_lines(*loads, arithmetic("tl.store(out_ptr, x)", conversions=4))
    told = told_by_counters(made, "assert counters.conversions == 0")
    assert told[-1] == "Which conversion does the result not need?"  # of the lines that stand above it
    waits = Line("day.py", 9, "cuda.syncthreads()", "barrier", Counts(warps=Warps(barriers=2048)))
    assert told_by_counters(of_lines(waits), "assert counters.barriers == 64") == [
        "Counted 2,048, needed 64: 32 times as much.",
        "line 9: cuda.syncthreads()  2,048 times that a warp came to it",
        "Which threads must wait there, and when?",
    ]
    again = Line("day.py", 10, "cuda.syncthreads()", "barrier", Counts(warps=Warps(barriers=2048)))
    told = told_by_counters(of_lines(waits, again), "assert counters.barriers == 2048")
    assert told[-1] == "Which of them does the kernel need?"  # each warp comes to each of them once: no loop
    asks = Line("day.py", 9, "sums[t] = x", "shared store", Counts(warps=Warps(shared_requests=16, bytes_shared=64)))
    assert told_by_counters(of_lines(asks), "assert counters.shared_requests == 8") == [
        "Counted 16, needed 8: 2 times as much.",
        "line 9: sums[t] = x  64 bytes in 16 requests",
        "Which threads ask shared memory for something there, and how often?",
    ]


def in_loops(x):
    x[0] = 0
    for i in range(4):
        x[i] = 0
        for j in range(4):
            x[j] = 0


FIRST = in_loops.__code__.co_firstlineno


@pytest.mark.parametrize(
    "lines, needed, asks",
    [
        ([1], 4, "Which threads must wait there, and when?"),
        ([1], 0, "Which threads wait for each other: those of a block, or those of one warp?"),
        ([1], 60, "Is one missing, or do some warps end, or turn off, before it?"),
        ([1, 3], 8, "Which of them does the kernel need?"),
        ([3], 8, f"It stands in the loop of line {FIRST + 2}. Must all threads wait in each of its turns?"),
        ([3, 5], 8, "Which loop does each barrier stand in?"),
    ],
)
def test_barriers_are_asked_for_the_loops_that_they_stand_in(lines, needed, asks):
    text = Path(__file__).read_text().splitlines()
    waits = [
        Line(__file__, FIRST + line, text[FIRST + line - 1], "barrier", Counts(warps=Warps(barriers=16)))
        for line in lines
    ]
    made = of_lines(*waits)
    made.call = CallOfALesson(in_loops, (), {}, 0.0)
    assert told_by_counters(made, f"assert counters.barriers == {needed}")[-1] == asks


@pytest.mark.parametrize(
    "counted, needed, said",
    [
        (66, 4, ": 16.5 times as much."),
        (14, 6, ": 2.3 times as much."),
        (131, 6, ": 22 times as much."),
        (96, 64, ": 1.5 times as much."),
        (14, 16, "."),
        (16, 64, ": 1/4 of it."),
        (8, 16, ": half of it."),
        (-2.5, -1.0, "."),
    ],
)
def test_a_ratio_is_told_in_times_or_as_one_of_several_parts(counted, needed, said):
    told = told_by_numbers(f"assert counted == {needed}", {"counted": counted})
    assert told == [f"counted is {counted}, needed {needed}{said}"]


def test_infinity_has_no_ratio_to_a_number():
    assert told_by_numbers("assert largest == x", {"largest": float("inf"), "x": 3.0}) == ["largest is inf, x 3.0."]


def test_a_library_in_float64_is_named():
    made = counters()
    made.library_float64 = ["cupy.matmul"]
    assert told_by_counters(made, "assert counters.library_float64 == []")[0] == "cupy.matmul worked with float64."


def test_fills_are_told_by_name():
    made = Counters(library_fills=["torch.zeros"])
    told = told_by_counters(made, "assert counters.library_fills == []")
    assert told[0] == "torch.zeros wrote elements beside your kernel."


def test_float64_is_not_spoken_of_where_none_was_counted_or_bytes_are_asked_for():
    assert told_by_counters(counters(launch()), "assert counters.float64 == 5") == []
    told = told_by_counters(counters(launch()), "assert counters.bytes == float64_bytes(x)")
    assert "float64" not in " ".join(told)


def test_a_launch_is_shown_in_a_few_words():
    assert repr([launch()]) == "[<add_kernel, grid (6,)>]"
