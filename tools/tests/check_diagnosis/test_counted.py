"""What counters tell a learner whose assertion about them failed."""

from types import SimpleNamespace

import pytest

from tools.check.count import Call as CallOfALesson
from tools.check.diagnosis.asserted import told_by_numbers
from tools.check.diagnosis.counted import told_by_counters
from tools.sim.counters import Counters, Counts, Launch, Line, Transfers, Warps


def counters(*launches: Launch, library_operations=()) -> Counters:
    made = Counters(library_operations=list(library_operations))
    for launch in launches:
        made.add(launch)
    return made


def launch(programs: int = 6, sectors: int = 625) -> Launch:
    source = "x = tl.load(x_ptr + mine, mask=exists)  # all of it"
    line = Line("week1/day4/vector_add.py", 63, source, "load", Counts(bytes_loaded=20_000, sectors=sectors))
    return Launch("add_kernel", (programs,), line.counts + Counts(programs=programs), (line,))


def cuda_launch() -> Launch:
    """A strided load, a transposing store to shared memory, and an if that parts each warp."""
    lines = (
        Line("day.py", 9, "if i % 2:", "branch", Counts(warps=Warps(branches=64, divergent_branches=32))),
        Line(
            "day.py",
            10,
            "x = a[i * 8]",
            "load",
            Counts(bytes_loaded=2048, sectors=512, warps=Warps(requests=32, instructions=32, lanes=512)),
        ),
        Line(
            "day.py",
            11,
            "out[i] = x",
            "store",
            Counts(bytes_stored=2048, sectors=128, warps=Warps(requests=32, instructions=32, lanes=1024)),
        ),
        Line(
            "day.py",
            12,
            "tile[x, y] = x",
            "shared store",
            Counts(warps=Warps(shared_requests=32, wavefronts=1024, conflicts=992, instructions=32, lanes=1024)),
        ),
    )
    return Launch("walk", (8,), sum((line.counts for line in lines), Counts(programs=8)), lines)


def test_a_library_that_did_the_work_is_named():
    told = told_by_counters(counters(library_operations=["torch.add", "torch.add"]), "counters.programs == 5")
    assert told == ["torch.add did the work; no kernel was launched. Which line launches yours?"]


def test_a_kernel_that_was_never_launched_is_missed():
    told = told_by_counters(counters(), "counters.bytes_loaded == 12")
    assert told == ["No kernel was launched. Which line launches yours?"]


def test_a_library_beside_the_kernel_is_named_where_that_is_asked():
    both = counters(launch(), library_operations=["torch.Tensor.contiguous"])
    assert (
        told_by_counters(both, "counters.library_operations == []")[0]
        == "torch.Tensor.contiguous worked beside your kernel."
    )
    assert "contiguous" not in " ".join(told_by_counters(both, "counters.programs == 5"))


def test_programs_are_told_with_their_grid():
    assert (
        told_by_counters(counters(launch(6)), "counters.programs == 5")[0]
        == "add_kernel ran in 6 programs: the grid was (6,)."
    )


def test_bytes_and_sectors_are_told_line_by_line():
    both, row, question = told_by_counters(counters(launch(sectors=2500)), "assert counters.sectors == 625")
    assert both == "Counted 2500, needed 625: 4 times as much."
    assert row == "line 63: x = tl.load(x_p..., mask=exists)  20000 bytes in 2500 sectors" and len(row) <= 76
    assert question == "A sector holds 32 bytes. How far apart in memory are the neighbours of a block?"


def one_at_a_time(x):
    for i in range(len(x)):
        x[i] = 0


def test_elements_that_a_loop_moves_one_by_one_are_asked_after_with_the_loop():
    loop = one_at_a_time.__code__.co_firstlineno + 1
    line = Line(__file__, loop + 1, "x[i] = 0", "store", Counts(bytes_stored=20_000, sectors=5000))
    made = counters(Launch("one_at_a_time", (1,), line.counts, (line,)))
    made.call = CallOfALesson(one_at_a_time, (), {}, 0.0)
    question = told_by_counters(made, "assert counters.sectors == 625")[-1]
    assert f"How many elements does one turn of the loop in line {loop} move, and how far apart are they?" in question


def test_elements_that_lie_apart_are_asked_after_by_warps():
    warps = Warps(requests=32, instructions=32, lanes=1024)
    line = Line("day.py", 10, "x = a[i * 8]", "load", Counts(bytes_loaded=4096, sectors=1024, warps=warps))
    made = counters(Launch("walk", ((1,), (32,)), line.counts, (line,)))
    question = told_by_counters(made, "assert counters.sectors == 128")[-1]
    assert "How far apart are the elements that the threads of a warp move at one time?" in question


def test_other_questions_are_left_alone():
    assert told_by_counters(counters(launch()), "assert counters.lines == 0") == []


# Both sides of the assertion ----------------------------------------------------------------------


def test_a_sector_is_spoken_of_only_where_the_needed_ones_would_hold_the_bytes():
    """625 sectors hold 20,000 bytes. Where more are moved than fit, or fewer sectors were touched, that is not it."""
    for needed in (624, 626, 700):
        told = told_by_counters(counters(launch()), f"assert counters.sectors == {needed}")
        assert told[0] == f"Counted 625, needed {needed}." and "neighbours" not in told[-1]


def test_what_is_stored_too_often_is_told_with_the_line_that_stores():
    lines = (
        Line("day.py", 8, "x = load()", "load", Counts(bytes_loaded=64, sectors=2)),
        Line("day.py", 9, "store(x)", "store", Counts(bytes_stored=128, sectors=4)),
    )
    made = counters(Launch("walk", (1,), sum((line.counts for line in lines), Counts(programs=1)), lines))
    assert told_by_counters(made, "assert counters.bytes_stored == 4 * 8") == [
        "Counted 128, needed 32: 4 times as much.",
        "line 9: store(x)  128 bytes in 4 sectors",
        "How often does that line run, and for which elements?",
    ]


def test_of_a_tuple_the_first_wrong_entry_is_spoken_of():
    asked = "assert (counters.bytes_loaded, counters.bytes_stored) == (20_000, 4)"
    assert told_by_counters(counters(launch()), asked)[0] == "Counted 0, needed 4."
    asked = "assert counters.bytes_loaded == counters.bytes_stored == 20_000"
    assert told_by_counters(counters(launch()), asked)[0] == "Counted 0, needed 20000."


@pytest.mark.parametrize(
    "predicted, said",
    [
        (128, "It is 64 short: as much as line 8 should add."),
        (256, "It is 64 too much: as if line 8 were added twice."),
        (100, "What does the prediction leave out, or count twice?"),
    ],
)
def test_a_prediction_is_compared_with_the_lines(predicted, said):
    lines = (
        Line("day.py", 8, "x = load()", "load", Counts(bytes_loaded=64, sectors=2)),
        Line("day.py", 9, "store(x)", "store", Counts(bytes_stored=128, sectors=4)),
    )
    made = counters(Launch("walk", (1,), sum((line.counts for line in lines), Counts(programs=1)), lines))
    told = told_by_counters(made, "assert predicted == made.bytes", {"predicted": predicted, "made": made})
    assert told[0].startswith(f"Counted 192, predicted {predicted}") and said in told


def test_a_prediction_that_differs_by_as_much_as_two_lines_is_left_alone():
    lines = tuple(Line("day.py", number, "load()", "load", Counts(bytes_loaded=48)) for number in (8, 9))
    made = counters(Launch("walk", (1,), Counts(bytes_loaded=96, programs=1), lines))
    told = told_by_counters(made, "assert predicted == made.bytes", {"predicted": 48, "made": made})
    assert "short" not in " ".join(told)


def test_plain_numbers_are_told_side_by_side():
    names = {"share": 1.0, "total": 96, "text": "1.0"}
    assert told_by_numbers("assert share == 12 / total", names) == ["share is 1.0, needed 0.125: 8 times as much."]
    for asked in ("assert text == 12 / total", "assert share >= text", "assert f(share) == 2", "assert share"):
        assert told_by_numbers(asked, names) == []


@pytest.mark.parametrize(
    "asked, told",
    [
        ("assert copies < 10", "copies is 200, needed less than 10."),
        ("assert copies <= 9", "copies is 200, needed at most 9."),
        ("assert 0.4 < ratio < 2.5", "ratio is 3.25, needed more than 0.4 and less than 2.5."),
        ("assert 7 <= few", "few is 3, needed at least 7."),
        ("assert ratio > copies + 1", "ratio is 3.25, needed more than 201."),
    ],
)
def test_a_bound_is_told_beside_the_number(asked, told):
    assert told_by_numbers(asked, {"copies": 200, "ratio": 3.25, "few": 3}) == [told]


def test_a_grid_is_told_beside_the_one_that_is_needed():
    made = counters(Launch("walk", (3, 2), Counts(programs=6), ()))
    assert told_by_counters(made, "assert counters.launches[0].grid[:2] == (2, 3)") == [
        "walk was launched with grid (3, 2); needed is (2, 3).",
        "Which axis of the grid counts what, and which number of a program goes with it?",
    ]


def test_a_library_that_is_wanted_is_told_with_how_often():
    made = counters(Launch("cupy_divide", (1,), Counts(), ()), library_operations=["cupy.matmul"] * 20 + ["cupy.sort"])
    assert told_by_counters(made, 'assert counters.library_operations == ["cupy.matmul"] * 10') == [
        "cupy.matmul worked 20 times, needed 10 times.",
        "cupy.sort worked 1 time, needed 0 times.",
        "Which line asks for it, and how often does that line run?",
    ]
    told = told_by_counters(made, "assert counters.library_operations == []")
    assert "your kernel" not in " ".join(told) and "did the work" in told[0]


def test_wide_elements_in_shared_memory_are_seen_in_its_bytes():
    line = Line(
        "day.py",
        12,
        "tile[y, x] = 1",
        "shared store",
        Counts(warps=Warps(shared_requests=32, bytes_shared=8 * 1024, wavefronts=64, lanes=1024)),
    )
    told = told_by_counters(counters(Launch("walk", (1,), line.counts, (line,))), "assert counters.wavefronts == 32")
    assert told[0] == "Counted 64, needed 32: 2 times as much."
    assert told[-2:] == [
        "Each element there has 8 bytes, and a wavefront brings 4 to each of 32 threads.",
        "Which dtype has the shared array?",
    ]


def test_an_assertion_that_calls_something_is_not_called_again():
    def sectors():
        raise AssertionError("it was called")

    told = told_by_counters(counters(launch()), "assert counters.sectors == sectors()", {"sectors": sectors})
    assert told[0].startswith("line 63") and told[-1].endswith("?")


class Call(SimpleNamespace):
    """A call that counts so many sectors, whatever its block is; `only`: the blocks that it takes."""

    longest, seconds = 64, 0.0

    def counted(self, block):
        return counters(launch(sectors=self.sectors_of(block))) if block in self.only else None


@pytest.mark.parametrize(
    "block, sectors_of, only, unused",
    [
        (16, lambda block: 625, (8, 32), True),
        (16, lambda block: 625, (32,), True),
        (16, lambda block: 625, (), False),
        (16, lambda block: 10_000 // block, (8, 32), False),
        (16, lambda block: 625 + (block > 16), (8, 32), False),
        (64, lambda block: 625, (32, 128), False),
    ],
    ids=["ignored", "a half is refused", "any other is refused", "used", "used above", "larger than all there is"],
)
def test_a_block_that_changes_nothing_is_asked_for(block, sectors_of, only, unused):
    made = counters(launch())
    made.call = Call(keywords={"block": block, "how": "fast"}, sectors_of=sectors_of, only=only)
    said = f"With another block than {block} the same is counted. Where is block used?"
    assert (told_by_counters(made, "assert counters.sectors == 700")[-1] == said) == unused


# Of CUDA kernels ---------------------------------------------------------------------------------


def test_transfers_are_told_even_where_no_kernel_ran():
    made = counters()
    made.transfers = Transfers(uploads=2, bytes_uploaded=8000, downloads=1, bytes_downloaded=4, synchronizations=1)
    for asked in ("counters.transfers.uploads == 1", "transfers.bytes_downloaded == 0", "moved.downloads == 0"):
        assert told_by_counters(made, asked) == [
            "Between host and GPU: 2 uploads (8,000 bytes), 1 download (4 bytes), 1 synchronization.",
            "What must cross, and how often? Which line moves the rest?",
        ]


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
        "line 9: out[i] = x[i]  32.0 sectors a request"
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


def test_conflicts_are_told_with_the_line_that_has_them():
    row, question = told_by_counters(counters(cuda_launch()), "counters.conflicts == 0")
    assert row == "line 12: tile[x, y] = x  992 of 1024 wavefronts are conflicts"
    assert "32 banks" in question


def test_wavefronts_are_told_with_the_requests_that_they_are_for():
    row, question = told_by_counters(counters(cuda_launch()), "predicted == counters.wavefronts")
    assert row == "line 12: tile[x, y] = x  1024 wavefronts for 32 requests"
    assert question.endswith("and how often?")


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


def test_launches_are_told_once_with_how_often_they_were_made():
    told = told_by_counters(counters(launch(), launch(), cuda_launch()), "len(counters.launches) == 1")
    assert told[:2] == ["add_kernel was launched 2 times with grid (6,).", "walk was launched 1 time with grid (8,)."]
    assert told[-1].startswith("Which line launches it")


def test_a_launch_that_is_asked_about_its_bytes_tells_bytes():
    assert (
        "2048 bytes in 512 sectors"
        in told_by_counters(counters(cuda_launch()), "counters.launches[0].counts.bytes_loaded == 2048")[0]
    )


def test_blocks_of_cuda_kernels_are_called_so():
    assert (
        told_by_counters(counters(cuda_launch()), "counters.programs == 4")[0]
        == "walk ran in 8 blocks: the grid was (8,)."
    )


def test_measured_counters_tell_what_they_know():
    from tools.check import metrics

    measured = metrics.counters([("walk", (8, 1, 1), dict.fromkeys(metrics.ALL, 32.0))])
    assert told_by_counters(measured, "counters.programs == 4")[0] == "walk ran in 8 blocks: the grid was (8, 1, 1)."
    assert told_by_counters(metrics.counters([]), "counters.sectors == 4") == []


def test_counters_of_two_calls_are_told_side_by_side_and_once():
    names = {"by_programs": counters(launch(sectors=625)), "by_threads": counters(launch(sectors=2500))}
    asked = "assert (by_programs.bytes, by_programs.sectors) == (by_threads.bytes, by_threads.sectors)"
    assert told_by_counters(names["by_programs"], asked, names) == [
        "by_programs.sectors is 625, by_threads.sectors is 2500: 1/4 of it.",
        "Which of the two is as it should be?",
    ]
    assert told_by_counters(names["by_threads"], asked, names) == []
    told = told_by_counters(names["by_threads"], "assert by_threads.sectors == 625", names)
    assert told[0].startswith("Counted 2500")


# Numbers in float64, conversions, barriers --------------------------------------------------------


def of_lines(*lines: Line) -> Counters:
    return counters(Launch("walk", (1,), sum((line.counts for line in lines), Counts(programs=1)), lines))


def arithmetic(source: str, **figures) -> Line:
    return Line("day.py", 7, source, "arithmetic", Counts(**figures))


@pytest.mark.parametrize(
    "source, warps, question",
    [
        (
            "total += a[i] * 2.0  # here",
            Warps(),
            "In a kernel 0.0 is float64, and so is all that it is added to. Where does one come in?",
        ),
        ("total = tl.sum(x, dtype=tl.float64)", None, "Which dtype has each number of that line?"),
        ("out[i] = 0.5 * x[i];", Warps(), "Is a double among them, or a constant such as 0.5 without f?"),
    ],
)
def test_what_computes_in_float64_is_told_with_its_line(source, warps, question):
    made = of_lines(arithmetic(source, float64=1024, warps=warps))
    both, row, asks = told_by_counters(made, "assert counters.float64 == 0")
    assert both == "Counted 1024, needed 0."
    assert row.startswith("line 7: ") and row.endswith("  1024 operations in float64")
    assert asks == question and "here" not in row


def test_twice_as_many_operations_in_float64_are_compared():
    made, other = of_lines(arithmetic("x = 2.0 * y", float64=4096)), of_lines(arithmetic("x = y", float64=2048))
    told = told_by_counters(made, "assert made.float64 == other.float64", {"made": made, "other": other.float64})
    assert told == [] or told[0].startswith("line 7")
    told = told_by_counters(made, "assert made.float64 == other", {"made": made, "other": 2048})
    assert told[0] == "Counted 4096, other 2048: 2 times as much."


def test_conversions_and_barriers_are_told_with_their_lines():
    made = of_lines(arithmetic("x = y.to(tl.float32)", conversions=64))
    assert told_by_counters(made, "assert counters.conversions == 0") == [
        "Counted 64, needed 0.",
        "line 7: x = y.to(tl.float32)  64 conversions",
        "Which two types meet there?",
    ]
    waits = Line("day.py", 9, "cuda.syncthreads()", "barrier", Counts(warps=Warps(barriers=2048)))
    assert told_by_counters(of_lines(waits), "assert counters.barriers == 64") == [
        "Counted 2048, needed 64: 32 times as much.",
        "line 9: cuda.syncthreads()  2048 times that a warp came to it",
        "Which loop does each barrier stand in?",
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


def test_a_ratio_above_two_is_no_fraction():
    assert told_by_numbers("assert counted == 4", {"counted": 66}) == ["counted is 66, needed 4: 16.5 times as much."]


def test_infinity_has_no_ratio_to_a_number():
    assert told_by_numbers("assert largest == x", {"largest": float("inf"), "x": 3.0}) == ["largest is inf, x 3.0."]


def test_a_library_in_float64_is_named():
    made = counters()
    made.library_float64 = ["cupy.matmul"]
    assert told_by_counters(made, "assert counters.library_float64 == []")[0] == "cupy.matmul worked with float64."


def test_float64_is_not_spoken_of_where_none_was_counted_or_bytes_are_asked_for():
    assert told_by_counters(counters(launch()), "assert counters.float64 == 5") == []
    told = told_by_counters(counters(launch()), "assert counters.bytes == float64_bytes(x)")
    assert "float64" not in " ".join(told)


def test_a_launch_is_shown_in_a_few_words():
    assert repr([launch()]) == "[<add_kernel, grid (6,)>]"
