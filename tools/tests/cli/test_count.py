"""course count: the figures of the learner's own kernels by source line, what wastes most, and the journal."""

import sys
from types import SimpleNamespace

import pytest

from tools import gpu
from tools.cli import count as command
from tools.cli.__main__ import main
from tools.course.learner import journal
from tools.tests.cli.kernels import BENCH, GAP, LESSON, TURN, write_day
from tools.tests.conftest import needs_solutions

pytestmark = pytest.mark.skipif(gpu.card() is not None, reason="tests the simulator: run it with --sim")


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """run(lesson) -> exit code, standard output, standard error of `course count week1/day1`."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("CI", raising=False)

    def run(lesson: str = LESSON, bench: str = BENCH):
        write_day(tmp_path, lesson, bench)
        code = main(["count", "week1/day1"], tmp_path)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_each_kernel_is_a_table_and_the_worst_line_a_sentence(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert (
        out
        == """\
add, 128 float32, counted by the simulator

add_kernel: 4 blocks
line       bytes  requests  sectors  /request
  13  out[i] = x[i] + y[i]
    load   1,024         8       32       4.0
    store    512         4       16       4.0

In all 1 launch: 1,024 bytes loaded and 512 stored, the least that any program
can move.
Between host and GPU: 3 uploads (1,536 bytes) and 3 downloads (1,536 bytes).
The host waited for the GPU 3 times, downloads included.
No line touches many more sectors than its bytes need.

turn, 32 x 8 float32, counted by the simulator

turn_kernel: 1 block (1 x 1)
line       bytes  requests  sectors  /request
  26  out[row, col] = x[row, col]
    load   1,024         8      256      32.0
    store  1,024         8      256      32.0

In all 1 launch: 1,024 bytes loaded and 1,024 stored, the least that any program
can move.
Between host and GPU: 2 uploads (2,048 bytes) and 2 downloads (2,048 bytes).
The host waited for the GPU twice, downloads included.
Line 26 asks for 32 sectors in a load of one warp, on average: neighbouring
threads are far apart in memory, and each gets a sector of its own. 4 would do.

What each figure is, and what is good: docs/METRICS.md
"""
    )


def test_atomics_are_no_stores(run):
    _, out, _ = run(LESSON.replace("out[i] = x[i] + y[i]", "cuda.atomic.add(out, i, x[i] + y[i])"))
    assert "In all 1 launch: 1,024 bytes loaded, 0 stored and 512 updated by atomics" in " ".join(out.split())


def test_the_totals_go_into_the_journal(run, tmp_path):
    run()
    add, turn = journal.read(tmp_path).of(kind=journal.COUNT, unit="week1/day1")
    assert add.facts["function"] == "add" and add.facts["size"] == 128 and add.facts["simulated"] is True
    assert add.facts["totals"] == {
        "bytes_loaded": 1024,
        "bytes_stored": 512,
        "sectors": 48,
        "requests": 12,
        "transfers_uploads": 3,
        "transfers_downloads": 3,
        "transfers_bytes_uploaded": 1536,
        "transfers_bytes_downloaded": 1536,
        "transfers_synchronizations": 3,
    }
    assert turn.facts["totals"]["sectors"] == 512


def test_a_gap_does_not_keep_what_is_written_from_being_counted(run):
    code, out, err = run(GAP)
    assert code == 0 and "add_kernel: 4 blocks" in out and "turn" not in out
    assert err == (
        "week1/day1/small.py, line 30: turn, of task 2, is not written yet.\nTo work it: ./course week1/day1\n"
    )


def test_where_nothing_is_written_the_first_gap_is_named(run):
    code, out, err = run(
        GAP.replace(
            "    out = np.empty_like(x)\n    add_kernel[4, 32](x, y, out)\n    return out\n",
            '    raise NotImplementedError("week1/day1 task 1: add")\n',
        )
    )
    assert (code, out) == (2, "")
    assert err == "week1/day1/small.py, line 17: add, of task 1, is not written yet.\nTo work it: ./course week1/day1\n"


BROKEN = [
    # instead of                     comes          is said
    ("if i < out.size:",             "if True:",    "add_kernel, line 13:  out[i] = x[i] + y[i]"),
    ("add_kernel[5, 32](x, y, out)", "x.nothing()", "small.py, line 18: AttributeError: 'numpy.ndarray' object has no"),
    ("return out",                   "return out[", "week1/day1/small.py, line 19: SyntaxError: '[' was never closed"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "first"), BROKEN)
def test_what_the_lesson_raises_is_said_in_five_lines_at_most(run, before, after, first):
    only_add = BENCH.replace(TURN, "")
    code, out, err = run(LESSON.replace("add_kernel[4, 32]", "add_kernel[5, 32]").replace(before, after, 1), only_add)
    assert (code, out) == (2, "")
    assert err.startswith(first) and len(err.splitlines()) <= 5 and "Traceback" not in err


def test_a_day_without_a_kernel_says_so_in_one_line(run):
    assert run(bench="") == (2, "", "week1/day1 has no kernel for ./course count. To work it: ./course week1/day1\n")
    on_cpu = BENCH.replace("{})", '{}, on="cpu")')
    assert run(bench=on_cpu) == (
        2,
        "",
        "week1/day1 has no kernel for ./course count. To work it: ./course week1/day1\n",
    )


def test_an_empty_kernel_is_said_to_touch_nothing(run):
    _, out, _ = run(LESSON.replace("    if i < out.size:\n        out[i] = x[i] + y[i]\n", ""))
    assert "add_kernel touches no memory." in out


def test_on_a_machine_with_a_gpu_the_profilers_figures_stand_beside(run, monkeypatch):
    from tools.check.metrics import counters

    measured = counters(
        [
            (
                "add_kernel",
                (4,),
                {
                    "smsp__sass_data_bytes_mem_global_op_ld.sum": 1024.0,
                    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 33.0,
                },
            )
        ]
    )
    simulated = command.count

    def count(function, *arguments, profiler=False):
        return measured if profiler else simulated(function, *arguments)

    class Card:
        name = "NVIDIA Something"

    monkeypatch.setattr(command, "count", count)
    monkeypatch.setattr(command, "gpu", SimpleNamespace(card=lambda: Card))  # the lesson still finds none
    _, out, _ = run()
    assert "  bytes_loaded                 1,024         1,024" in out
    assert "  requests                        12      not told" in out
    assert "simulated      profiler  (NVIDIA Something)" in out


def test_a_missing_profiler_is_said_and_the_count_stands(run, monkeypatch):
    simulated = command.count

    def count(function, *arguments, profiler=False):
        if profiler:
            raise command.NoProfiler("profiler=True needs ncu")
        return simulated(function, *arguments)

    monkeypatch.setattr(command, "count", count)
    monkeypatch.setattr(command, "gpu", SimpleNamespace(card=object))
    code, out, _ = run()
    assert code == 0 and out.count("profiler=True needs ncu") == 2 and "add_kernel: 4 blocks" in out


def test_in_continuous_integration_no_journal_is_written(run, tmp_path, monkeypatch):
    write_day(tmp_path)
    monkeypatch.setenv("CI", "true")
    assert main(["count", "week1/day1"], tmp_path) == 0
    assert not (tmp_path / "journal").exists()


# The lessons of this course -----------------------------------------------------------------------


@needs_solutions
@pytest.mark.parametrize("day", ["week1/day2", "week1/day3", "week1/day6", "week1/day7", "week1/katas/elementwise"])
def test_the_calls_of_a_lesson_are_counted_to_the_end(course, day):
    course.solve(day)
    ran = course.run(sys.executable, "-m", "tools.cli", "count", day)
    assert ran.code == 0 and ran.lines[-1] == "What each figure is, and what is good: docs/METRICS.md"
    assert "Error" not in ran.text and "NotCounted" not in ran.text
