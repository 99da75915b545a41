"""What counters and compiled kernels tell a learner whose assertion about them failed."""

from types import SimpleNamespace

from tools.check.diagnosis.counted import told_by_counters, told_by_kernel
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
        Line("day.py", 10, "x = a[i * 8]", "load", Counts(
            bytes_loaded=2048, sectors=512, warps=Warps(requests=32, instructions=32, lanes=512))),
        Line("day.py", 11, "out[i] = x", "store", Counts(
            bytes_stored=2048, sectors=128, warps=Warps(requests=32, instructions=32, lanes=1024))),
        Line("day.py", 12, "tile[x, y] = x", "shared store", Counts(
            warps=Warps(shared_requests=32, wavefronts=1024, conflicts=992, instructions=32, lanes=1024))),
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


def test_a_kernel_with_float64_tells_which_argument_brought_it():
    asked = '[name for name in kernel.instructions if "f64" in name] == []'
    kernel = SimpleNamespace(signature={"a": "float64", "x": "array(float32, 1d, C)"})
    assert told_by_kernel(kernel, asked)[0] == "The launch passed a as float64."
    kernel = SimpleNamespace(signature={"x": "array(float32, 1d, C)"})
    told = told_by_kernel(kernel, asked)
    assert told[0] == "No argument of the kernel is float64." and told[1].endswith("Where does one come in?")


# Of CUDA kernels ---------------------------------------------------------------------------------

def test_transfers_are_told_even_where_no_kernel_ran():
    made = counters()
    made.transfers = Transfers(uploads=2, bytes_uploaded=8000, downloads=1, bytes_downloaded=4, synchronizations=1)
    for asked in ("counters.transfers.uploads == 1", "transfers.bytes_downloaded == 0", "moved.downloads == 0"):
        assert told_by_counters(made, asked) == [
            "Between host and GPU: 2 uploads (8,000 bytes), 1 download (4 bytes), 1 synchronization.",
            "What must cross, and how often? Which line moves the rest?"]


def test_sectors_of_a_request_are_told_from_the_worst_line_on():
    first, second, question = told_by_counters(counters(cuda_launch()), "counters.sectors_per_request == 4")
    assert first == "line 10: x = a[i * 8]  16.0 sectors a request"
    assert second == "line 11: out[i] = x  4.0 sectors a request"
    assert question.endswith("how far apart are they?")


def test_a_line_that_loads_and_stores_alike_is_told_once():
    alike = Counts(bytes_loaded=128, sectors=32, warps=Warps(requests=1))
    lines = tuple(Line("day.py", 9, "out[i] = x[i]", kind, alike) for kind in ("load", "store"))
    made = counters(Launch("walk", (1,), alike + alike, lines))
    assert told_by_counters(made, "counters.sectors_per_request == 4")[:-1] == [
        "line 9: out[i] = x[i]  32.0 sectors a request"]


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
    assert told == ["line 10: x = a[i * 8]  16.0 of 32 lanes active",
                    "Which threads of a warp have nothing to do there?"]


def test_launches_are_told_once_with_how_often_they_were_made():
    told = told_by_counters(counters(launch(), launch(), cuda_launch()), "len(counters.launches) == 1")
    assert told[:2] == ["add_kernel was launched 2 times with grid (6,).", "walk was launched 1 time with grid (8,)."]
    assert told[-1].startswith("Which line launches it")


def test_a_launch_that_is_asked_about_its_bytes_tells_bytes():
    assert "2048 bytes in 512 sectors" in told_by_counters(
        counters(cuda_launch()), "counters.launches[0].counts.bytes_loaded == 2048")[0]


def test_blocks_of_cuda_kernels_are_called_so():
    assert told_by_counters(counters(cuda_launch()), "counters.programs == 4")[0] == \
        "walk ran in 8 blocks: the grid was (8,)."


def test_measured_counters_tell_what_they_know():
    from tools.check import metrics

    measured = metrics.counters([("walk", (8, 1, 1), dict.fromkeys(metrics.ALL, 32.0))])
    assert told_by_counters(measured, "counters.programs == 4")[0] == "walk ran in 8 blocks: the grid was (8, 1, 1)."
    assert told_by_counters(metrics.counters([]), "counters.sectors == 4") == []
