"""What counters and compiled kernels tell a learner whose assertion about them failed."""

from types import SimpleNamespace

from tools.check.diagnosis.counted import told_by_counters, told_by_kernel
from tools.sim.counters import Counters, Counts, Launch, Line


def counters(*launches: Launch, library_operations=()) -> Counters:
    made = Counters(library_operations=list(library_operations))
    for launch in launches:
        made.add(launch)
    return made


def launch(programs: int = 6, sectors: int = 625) -> Launch:
    source = "x = tl.load(x_ptr + mine, mask=exists)  # all of it"
    line = Line("week1/day4/vector_add.py", 63, source, "load", Counts(bytes_loaded=20_000, sectors=sectors))
    return Launch("add_kernel", (programs,), line.counts + Counts(programs=programs), (line,))


def test_a_library_that_did_the_work_is_named():
    told = told_by_counters(counters(library_operations=["torch.add", "torch.add"]), "counters.programs == 5")
    assert told == ["torch.add did the work; no kernel was launched. Which line launches yours?"]


def test_a_kernel_that_was_never_launched_is_missed():
    told = told_by_counters(counters(), "counters.bytes_loaded == 12")
    assert told == ["No kernel was launched. Which line launches yours?"]


def test_a_library_beside_the_kernel_is_named_where_that_is_asked():
    both = counters(launch(), library_operations=["torch.Tensor.contiguous"])
    assert told_by_counters(both, "counters.library_operations == []")[0] == \
        "torch.Tensor.contiguous worked beside your kernel."
    assert "contiguous" not in " ".join(told_by_counters(both, "counters.programs == 5"))


def test_programs_are_told_with_their_grid():
    assert told_by_counters(counters(launch(6)), "counters.programs == 5")[0] == \
        "add_kernel ran in 6 programs: the grid was (6,)."


def test_bytes_and_sectors_are_told_line_by_line():
    row, question = told_by_counters(counters(launch(sectors=2500)), "counters.sectors == 625")
    assert row == "line 63: x = tl.load(x_p..., mask=exists)  20000 bytes in 2500 sectors" and len(row) <= 76
    assert question == "A sector holds 32 bytes. Are neighbours moved together?"
    assert "more than once" in told_by_counters(counters(launch()), "counters.bytes_loaded == 1")[-1]


def test_other_questions_are_left_alone():
    assert told_by_counters(counters(launch()), "counters.flops == 0") == []
    assert told_by_kernel(SimpleNamespace(accesses=[]), "kernel.registers < 64") == []


def test_a_compiled_kernel_tells_the_width_of_each_line():
    access = SimpleNamespace(line=63, source="x = tl.load(x_ptr + mine)", width=4)
    told = told_by_kernel(SimpleNamespace(accesses=[access]), "[access.width for access in kernel.accesses]")
    assert told[0] == "line 63: x = tl.load(x_ptr + mine)  4 bytes at a time"
    assert told[-1].endswith("?")
