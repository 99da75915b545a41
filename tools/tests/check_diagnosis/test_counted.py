"""What counters tell a learner whose assertion about them failed."""

from types import SimpleNamespace

import pytest

from tools.check.count import Call as CallOfALesson
from tools.check.diagnosis.asserted import told_by_numbers
from tools.check.diagnosis.counted import told_by_counters
from tools.sim.counters import Counts, Launch, Line, Warps
from tools.tests.check_diagnosis.counting import counters, launch, of_lines


def test_a_library_that_did_the_work_is_named():
    told = told_by_counters(counters(library_operations=["torch.add", "torch.add"]), "counters.programs == 5")
    assert told == ["torch.add did the work; no kernel was launched. Which line launches yours?"]


def test_of_a_lesson_without_kernels_nobody_launches_one():
    made = counters(library_operations=["cupy.matmul"])
    made.call = CallOfALesson(one_at_a_time, (), {}, 0.0)
    asked = "assert counters.library_operations == []"
    assert told_by_counters(made, asked) == ["cupy.matmul worked. Which line asks for it, and on which arrays?"]


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
    assert both == "Counted 2,500, needed 625: 4 times as much."
    assert row == "line 63: x = tl.load(x_p..., mask=exists)  20,000 bytes in 2,500 sectors" and len(row) <= 76
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


@pytest.mark.parametrize("needed, spoken_of", [(51, True), (48, False), (70, False), (12, False)])
def test_a_sector_is_spoken_of_where_the_needed_ones_would_hold_the_bytes_and_hardly_more(needed, spoken_of):
    lines = (
        Line("day.py", 8, "x = load()", "load", Counts(bytes_loaded=1536, sectors=96)),
        Line("day.py", 9, "store(x)", "store", Counts(bytes_stored=12, sectors=3)),
    )
    made = counters(Launch("walk", (1,), sum((line.counts for line in lines), Counts(programs=1)), lines))
    told = told_by_counters(made, f"assert counters.sectors == {needed}")
    assert ("A sector holds 32 bytes" in told[-1]) == spoken_of


def test_without_a_dot_product_its_tiles_are_not_asked_for():
    told = told_by_counters(counters(launch()), "assert counters.flops == 64")
    assert told == ["Counted 0, needed 64.", "No line computes a dot product of tiles. Which line multiplies?"]


def test_without_a_fact_there_is_no_question():
    made = counters(Launch("cupy_exp", (1,), Counts(bytes_stored=64), ()))
    assert told_by_counters(made, "assert max(each.bytes_stored for each in counters.launches) <= 8") == []


def test_long_numbers_are_told_in_few_digits():
    assert told_by_numbers("assert us >= 9.00924886873579", {"us": 0}) == ["us is 0, needed at least 9.009."]
    assert told_by_numbers("assert us >= 9.009251", {"us": 9.009249}) == ["us is 9.009249, needed at least 9.009251."]


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
    assert told_by_counters(counters(launch()), asked)[0] == "Counted 0, needed 20,000."


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


def test_what_the_tests_need_is_not_called_a_prediction():
    line = Line("day.py", 8, "store(x)", "store", Counts(bytes_stored=2048, sectors=96, warps=Warps(requests=32)))
    told = told_by_counters(
        made := of_lines(line), "assert made.sectors == sectors_needed", {"made": made, "sectors_needed": 64}
    )
    assert told == [
        "Counted 96, sectors_needed 64: 1.5 times as much.",
        "line 8: store(x)  2,048 bytes in 96 sectors",
        "A sector holds 32 bytes. How far apart are the elements that the threads of a warp move at one time?",
    ]


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
        ("assert few <= copies <= ratio", "copies is 200, needed at least 3 and at most 3.25."),
    ],
)
def test_a_bound_is_told_beside_the_number(asked, told):
    assert told_by_numbers(asked, {"copies": 200, "ratio": 3.25, "few": 3}) == [told]


def test_a_constant_is_not_told_as_what_was_seen():
    assert told_by_numbers("assert abs(loss) < INF", {"loss": float("inf"), "INF": float("inf")}) == []


def test_a_grid_is_told_beside_the_one_that_is_needed():
    made = counters(Launch("walk", (3, 2), Counts(programs=6), ()))
    assert told_by_counters(made, "assert counters.launches[0].grid[:2] == (2, 3)") == [
        "walk was launched with grid (3, 2); needed is (2, 3).",
        "Which axis of the grid counts what, and which number of a program goes with it?",
    ]


@pytest.mark.parametrize(
    "needed, told",
    [
        ((2, 1), ["one too many along axis 0 and axis 1.", "round where nothing is left over?"]),
        ((3, 1), ["one too many along axis 1.", "round where nothing is left over?"]),
        ((4, 2), ["one too few along axis 0.", "round where something is left over?"]),
        ((4, 1), ["needed is (4, 1).", "Which line computes the grid, and from which lengths?"]),
        ((6, 4), ["needed is (6, 4).", "Which line computes the grid, and from which lengths?"]),
    ],
)
def test_a_grid_that_is_one_off_is_told_as_rounded(needed, told):
    made = counters(Launch("walk", (3, 2), Counts(programs=6), ()))
    said = told_by_counters(made, f"assert counters.launches[0].grid[:2] == {needed}")
    assert [line.endswith(end) for line, end in zip(said[-2:], told)] == [True, True], said


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
