"""Profilers: how their files are read, and one line for each that is missing, fails, or writes something else.

The small samples are laid out as the tools write them; the figures of ncu's are those of week1/day5/report_h200.json.
"""

import json
import subprocess
import sys

import pytest

from tools import ROOT, gpu
from tools.bench import profilers, words
from tools.bench.words import Kernel
from tools.course.learner.lesson import LessonBroken
from tools.tests.bench.test_words import MEASURED, REPORT
from tools.tests.course.content.test_workload import BENCH, small

NAMES = ["ID", "Kernel Name", "Grid Size", "device__attribute_chip", *MEASURED]
RAW = "\n".join(
    [
        "==PROF== Disconnected",
        ",".join(f'"{name}"' for name in NAMES),
        ",".join('""' for _ in NAMES),
        ",".join(f'"{value}"' for value in (0, REPORT["kernel"], "(16777216, 1, 1)", 0, *MEASURED.values())),
    ]
)
NSYS = """Processing [x.sqlite] with [cuda_gpu_kern_sum.py]...

Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
75.0,300,3,100.0,100.0,100,100,0.0,add_kernel
25.0,100,1,100.0,100.0,100,100,0.0,"void at::native::fill<4, at::native::Functor<float>>(int, T2)"
"""


def node(name, *children, **metrics):
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": list(children)}


def leaf(name, count, ns):
    return node(name, **{"count": count, "time (ns)": ns})


PROTON = json.dumps(
    [
        node("ROOT", leaf("add_kernel", 2, 500), node("scope", leaf("add_kernel", 1, 250))),
        {"CUDA": {"0": {"arch": "90", "num_sms": 132}}},
    ]
)


def test_ncus_raw_page_gives_kernels_and_metrics():
    ((name, figures),) = profilers.ncu_kernels(RAW)
    assert name == "matmul_kernel"
    assert figures == pytest.approx(MEASURED)
    assert words.of_kernel(name, figures)[1] == "Limited by the L2 cache: 94.9% of its peak; device memory: 11.5%."


def test_a_metric_that_the_gpu_does_not_have_is_none():
    text = RAW.replace(f'"{MEASURED[words.TIME]}"', '"n/a"')
    ((_, figures),) = profilers.ncu_kernels(text)
    assert figures[words.TIME] is None


@pytest.mark.parametrize("text", ["", "==PROF== Connected\n", '"ID","Kernel Name"\n"",""\n'])
def test_no_launch_gives_no_kernel(text):
    assert list(profilers.ncu_kernels(text)) == []


def test_nsys_sums_are_read_after_whatever_comes_before():
    assert profilers.nsys_kernels(NSYS) == [Kernel("add_kernel", 3, 300.0), Kernel("fill", 1, 100.0)]
    assert profilers.nsys_kernels("SKIPPED: x.sqlite does not contain CUDA kernel data.") == []


def test_protons_tree_is_summed_by_kernel():
    assert profilers.proton_kernels(PROTON) == [Kernel("add_kernel", 3, 750.0)]


def test_a_trace_of_pytorch_gives_kernels_and_copies_in_nanoseconds():
    events = [
        {"ph": "X", "cat": "kernel", "name": "add_kernel", "dur": 2.5},
        {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "dur": 10},
        {"ph": "X", "cat": "cpu_op", "name": "aten::add", "dur": 99},
        {"ph": "M", "name": "process_name"},
    ]
    assert profilers.torch_kernels(json.dumps({"traceEvents": events})) == [
        Kernel("add_kernel", 1, 2500.0),
        Kernel("Memcpy HtoD (Pageable -> Device)", 1, 10000.0),
    ]


def test_a_trace_that_pytorch_wrote_here_is_read(tmp_path):
    """A real one. Without a GPU it holds no kernel, and that is what is said."""
    script = (
        "import sys, torch\nfrom torch.profiler import ProfilerActivity, profile\n"
        "with profile(activities=[ProfilerActivity.CPU]) as seen: torch.ones(9).add(1)\n"
        "seen.export_chrome_trace(sys.argv[1])"
    )
    file = tmp_path / "trace.json"
    subprocess.run([sys.executable, "-c", script, str(file)], check=True, capture_output=True, timeout=600)
    text = file.read_text(encoding="utf-8")
    assert "aten::add" in text
    assert words.time_shares(profilers.torch_kernels(text)) == ["It saw no kernel."]


# Files that an H200 left: one launch of day 3's saxpy for 2**26 elements, with a thread for each ---------------------

RECORDED = ROOT / "tools/tests/bench/recorded"


def recorded(suffix: str) -> str:
    return (RECORDED / f"saxpy_h200{suffix}").read_text(encoding="utf-8")


def test_what_an_h200_recorded_is_one_launch_of_one_kernel_by_the_name_in_the_lesson():
    (traced,) = profilers.torch_kernels(recorded(".trace.json"))
    (timed,) = profilers.proton_kernels(recorded(".hatchet"))
    assert [(each.name, each.launches) for each in (traced, timed)] == 2 * [("saxpy_kernel", 1)]
    assert traced.ns == pytest.approx(timed.ns, rel=0.01)


def test_what_ncu_recorded_on_an_h200_is_told_in_words():
    ((name, figures),) = profilers.ncu_kernels(recorded(".ncu.csv"))
    assert list(words.of_kernel(name, figures)) == [
        "saxpy_kernel, 383 us:",
        "Limited by the SMs, arithmetic and the issue of instructions: 83.9% of its peak; device memory: 43.1%.",
        "Occupancy reached: 84% of the warps that an SM has room for.",
        "Top stall: long_scoreboard, 37% of all waiting: for data from global or local memory.",
    ]


# What is missing ----------------------------------------------------------------------------------


@pytest.fixture
def with_card(monkeypatch):
    monkeypatch.setattr(gpu, "card", lambda: gpu.Card("a card", (9, 0), (13, 0)))


def call_of(tmp_path, on="gpu"):
    unit = small(tmp_path, bench=BENCH.replace('on="cpu"', f'on="{on}"'))
    return profilers.calls(unit, tmp_path)[0]


def put(tmp_path, monkeypatch, name, script):
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!{sys.executable}\n{script}\n", encoding="utf-8")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ("ncu", "is not on PATH; it comes with the CUDA toolkit, often as /usr/local/cuda/bin/ncu."),
        ("nsys", "is not on PATH; it comes with Nsight Systems."),
    ],
)
def test_a_tool_that_is_not_installed_is_one_line(tmp_path, monkeypatch, tool, says):
    monkeypatch.setenv("PATH", str(tmp_path))
    said = profilers._asked(tool, profilers.TOOLS[tool], call_of(tmp_path))
    assert (said.missing, said.lines) == (True, (says,))


def test_without_rights_to_the_counters_the_remedy_is_told(tmp_path, monkeypatch):
    put(
        tmp_path,
        monkeypatch,
        "ncu",
        "import sys\nif '--query-metrics' not in sys.argv:\n"
        "    print('==ERROR== ERR_NVGPUCTRPERM - The user does not have permission')\n    sys.exit(1)",
    )
    profilers.profiler.known_metrics.cache_clear()
    said = profilers._asked("ncu", profilers._ncu, call_of(tmp_path))
    assert said.missing and "ERR_NVGPUCTRPERM" in said.lines[0]
    assert "NVreg_RestrictProfilingToAdminUsers=0" in " ".join(said.lines)


def test_ncus_report_is_imported_and_kept_beside_its_table(tmp_path, monkeypatch):
    put(tmp_path, monkeypatch, "ncu", f"import sys\nif '--import' in sys.argv: print({RAW!r})")
    profilers.profiler.known_metrics.cache_clear()
    call = call_of(tmp_path)
    said = profilers._asked("ncu", profilers._ncu, call)
    assert said.lines[0] == "matmul_kernel, 496 ms:"
    assert said.file == call.folder / "double.ncu-rep"
    assert (call.folder / "double.ncu.csv").read_text(encoding="utf-8").strip() == RAW


def test_a_tool_that_fails_tells_its_last_line(tmp_path, monkeypatch):
    put(tmp_path, monkeypatch, "nsys", "print('one'); print('no such option'); raise SystemExit(2)")
    said = profilers._asked("nsys", profilers._nsys, call_of(tmp_path))
    assert (said.missing, said.lines) == (True, ("nsys failed (exit status 2): no such option",))


def test_a_tool_that_hangs_is_ended(tmp_path, monkeypatch):
    put(tmp_path, monkeypatch, "nsys", "import time; time.sleep(60)")
    monkeypatch.setattr(profilers, "PATIENCE", 0.5)
    said = profilers._asked("nsys", profilers._nsys, call_of(tmp_path))
    assert (said.missing, said.lines) == (True, ("was ended after 0.5 s.",))


def test_a_file_of_another_form_is_no_crash(tmp_path, monkeypatch):
    monkeypatch.setattr(profilers, "_ran", lambda *args: "")
    call = call_of(tmp_path)
    call.file(".trace.json").write_text("[]", encoding="utf-8")
    said = profilers._asked("torch.profiler", profilers._torch, call)
    assert said.missing and said.lines[0].startswith("wrote something that cannot be read (TypeError")


# Without a GPU ------------------------------------------------------------------------------------


def test_without_a_gpu_the_simulator_speaks_and_every_tool_says_why_it_does_not(tmp_path, monkeypatch):
    monkeypatch.setenv(gpu.SIMULATE, "1")
    said = list(profilers.look(call_of(tmp_path)))
    missing = [(tool, True) for tool in profilers.TOOLS]
    assert [(each.tool, each.missing) for each in said] == [("simulated", False), *missing]
    assert {each.lines for each in said[1:]} == {(f"needs a GPU, but {profilers.why_simulated()}.",)}


def test_a_kernel_of_the_course_is_counted_in_a_process_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv(gpu.SIMULATE, "1")
    if not (ROOT / "reference").exists():
        pytest.skip("needs the reference solutions, which the learner edition does not have")
    from tools.course.content import catalogue

    folder = tmp_path / "week1/day4"
    folder.mkdir(parents=True)
    for file in (ROOT / "week1/day4").glob("*.*"):
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "vector_add.py").write_bytes((ROOT / "reference/week1/day4/vector_add.py").read_bytes())
    call = profilers.calls(catalogue.unit("week1/day4", tmp_path), tmp_path)[0]
    assert next(iter(profilers.look(call))).lines[0] == "add_kernel asks for 100% of 49,152 bytes."


def test_a_function_of_the_cpu_is_shown_by_pythons_profiler(tmp_path):
    (said,) = profilers.look(call_of(tmp_path, on="cpu"))
    assert said.tool == "cProfile" and any("scaled, line 37 of small.py, 1 call" in line for line in said.lines)


def test_a_gap_is_told_before_any_tool_starts(tmp_path):
    unit = small(tmp_path, bench=BENCH.replace('"double"', '"halve"'))
    with pytest.raises(LessonBroken, match="halve, of task 1, is not written yet"):
        list(profilers.look(profilers.calls(unit, tmp_path)[0]))


def test_on_a_gpu_the_largest_size_is_profiled(tmp_path, with_card):
    unit = small(tmp_path, bench=BENCH.replace("sizes=(8,), laptop", "sizes=(8, 4096), laptop"))
    assert profilers.calls(unit, tmp_path)[0].size == 4096
