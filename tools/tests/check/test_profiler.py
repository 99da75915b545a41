"""count(..., profiler=True): what ncu writes, and every way in which it can be missing. No GPU is needed.

In ncu's place stands a script that writes a sample of its output and runs the program that it was given.
"""

import importlib.util
import sys

import numpy as np
import pytest

from tools import gpu, worker
from tools.check import NoProfiler, count, metrics, notes
from tools.check.profiler import launches
from tools.sim.counters import Counters, NotCounted

LESSON = """
import os
from tools.gpu import cuda

@cuda.jit
def add_kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]

def add(x, y, out):
    add_kernel[8, 128](x, y, out)
    print("added")
    return out

def note_call(file):
    with open(file, "a") as stream:
        stream.write("called ")

def choosy(x):
    raise ValueError("x has an odd length")

def not_yet(x):
    raise NotImplementedError("week9 task 1: not_yet")

def leave():
    os._exit(3)
"""
# A sample in the form in which Nsight Compute 2025 writes: the figures are made up.
HEAD = """==PROF== Connected to process 4711 (/usr/bin/python3.11)
==PROF== Profiling "vector_add": 0%....50%....100% - 3 passes
==PROF== Disconnected from process 4711
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",\
"CC","Section Name","Metric Name","Metric Unit","Metric Value"
"""
FIGURES = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "64",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": "32",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "1,250",
    "smsp__sass_data_bytes_mem_global_op_ld.sum": "8000.00",
    "smsp__inst_executed.sum": "100",
    "smsp__thread_inst_executed.sum": "2,400",
}
FAKE = """#!{python}
import subprocess, sys, time
from pathlib import Path
arguments = sys.argv[1:]
if arguments == ["--query-metrics"]:
    print({known!r})
    sys.exit()
Path(__file__).with_name("arguments").write_text(" ".join(arguments))
time.sleep({sleep})
program = arguments[arguments.index({python!r}):]
ended = subprocess.run(program).returncode if {runs} else 1
Path(arguments[arguments.index("--log-file") + 1]).write_text({log!r})
sys.exit(ended)
"""


def rows(number: int, kernel: str, grid: str, figures: dict[str, str]) -> str:
    place = f'"{number}","4711","python3.11","127.0.0.1","{kernel}","1","7","(128, 1, 1)","{grid}","0","9.0"'
    section = "Command line profiler metrics"
    return "".join(f'{place},"{section}","{name}","","{value}"\n' for name, value in figures.items())


def sample(**changed: str) -> str:
    whole = dict.fromkeys(metrics.ALL, "0") | FIGURES | {f"{name}.sum": value for name, value in changed.items()}
    return HEAD + rows(0, "vector_add", "(8, 1, 1)", whole)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("profiler") / "lesson.py"
    file.write_text(LESSON)
    return file


@pytest.fixture(scope="module")
def lesson(file):
    name = "week9.day4.profiled"
    spec = importlib.util.spec_from_file_location(name, file)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[name]


@pytest.fixture
def ncu(tmp_path, monkeypatch):
    """Puts a script in ncu's place, on a machine that seems to have a GPU; gives the folder that it is in."""
    monkeypatch.setattr(gpu, "card", lambda: gpu.Card("a card", (9, 0), (13, 0)))

    def put(log: str = sample(), known: str = "", runs: bool = True, sleep: float = 0.0):
        script = tmp_path / "ncu"
        script.write_text(FAKE.format(python=sys.executable, known=known, log=log, runs=runs, sleep=sleep))
        script.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        return tmp_path

    return put


@pytest.fixture
def vectors():
    return np.ones(1000, np.float32), np.ones(1000, np.float32), np.zeros(1000, np.float32)


# What ncu writes ---------------------------------------------------------------------------------


def test_launches_come_in_order_with_their_grids_and_figures():
    text = (
        HEAD
        + rows(0, "first", "(8, 1, 1)", {"a.sum": "1,024", "b.ratio": "31.75"})
        + rows(1, "second", "(4, 2, 1)", {"a.sum": "n/a"})
    )
    assert list(launches(text)) == [
        ("first", (8, 1, 1), {"a.sum": 1024.0, "b.ratio": 31.75}),
        ("second", (4, 2, 1), {"a.sum": None}),
    ]


@pytest.mark.parametrize(
    "written, name",
    [
        ("add_kernel", "add_kernel"),
        ("cudapy::__main__::vadd[abi:v1][abi:cw51](Array<float, (int)1, C, mutable, aligned>)", "vadd"),
        ("void at::native::fill<4, at::native::Functor<float>>(int, T2)", "fill"),
        ("_ZN5week14day711fast_matmul12tiled_kernelB2v1B4cw51E5ArrayIfLi2E1C7mutable7alignedE", "tiled_kernel"),
        ("_Z4vaddPfS_", "vadd"),
    ],
)
def test_kernels_have_the_names_that_their_functions_have(written, name):
    assert [kernel for kernel, _, _ in launches(HEAD + rows(0, written, "(1, 1, 1)", {"a.sum": "1"}))] == [name]


@pytest.mark.parametrize("text", ["", "==WARNING== No kernels were profiled.\n"])
def test_a_call_without_kernels_has_no_launches(text):
    counters = metrics.counters(launches(text))
    assert (counters.launches, counters.sectors, str(counters)) == ((), 0, "no kernel was launched")


def test_figures_have_the_names_that_the_simulator_uses():
    counters = metrics.counters(launches(sample() + rows(1, "other", "(4, 2, 1)", dict.fromkeys(metrics.ALL, "10"))))
    first, second = counters.launches
    assert isinstance(counters, Counters) and (first.kernel, first.grid, first.lines) == ("vector_add", (8, 1, 1), ())
    assert (first.counts.requests, first.counts.sectors, first.counts.bytes_loaded) == (96, 1250, 8000)
    assert (first.counts.active_lanes, first.counts.programs, second.counts.programs) == (24.0, 8, 8)
    assert second.counts.requests == 40  # loads, stores, and two kinds of atomics
    assert (counters.sectors, counters.programs, counters.active_lanes) == (1290, 16, 2410 / 110)
    assert repr(counters) == "<counters: 2 launches, 16 blocks>"
    assert str(counters).startswith("vector_add, grid 8 x 1 x 1: requests 96, ")


@pytest.mark.parametrize("name", ["accesses", "lines", "flops", "branches", "library_operations", "transfers"])
def test_what_ncu_cannot_tell_is_refused_with_the_reason(name):
    counters = metrics.counters(launches(sample()))
    with pytest.raises(NotCounted, match=f"{name} is not among the measured figures: the profiler"):
        getattr(counters, name)


def test_a_metric_that_the_gpu_lacks_is_no_zero():
    counters = metrics.counters(launches(sample(smsp__sass_data_bytes_mem_global_op_atom="n/a")))
    for name in ("bytes_atomic", "bytes"):
        with pytest.raises(NotCounted, match="smsp__sass_data_bytes_mem_global_op_atom.sum cannot be had"):
            getattr(counters.launches[0].counts, name)
        with pytest.raises(NotCounted, match="bytes_atomic"):
            getattr(counters, name)
    assert "bytes_atomic" not in str(counters) and counters.bytes_loaded == 8000
    with pytest.raises(AttributeError, match="no attribute 'seconds'"):
        counters.seconds


# The whole way -----------------------------------------------------------------------------------


def test_a_call_is_measured_in_a_fresh_process(ncu, lesson, vectors):
    folder = ncu()
    counters = count(lesson.add, *vectors, profiler=True)
    assert (counters.launches[0].kernel, counters.bytes_loaded) == ("vector_add", 8000)
    assert not vectors[2].any()
    assert notes.taken[-1] == "1 launch measured by Nsight Compute"
    asked = (folder / "arguments").read_text()
    assert "--clock-control none" in asked and "--print-units base" in asked and ",".join(metrics.ALL) in asked


def test_a_function_of_another_process_is_measured_too(ncu, file, vectors):
    ncu()
    remote = worker.proxy("week9.day4.profiled", file)
    assert count(remote.add, *vectors[:2], out=vectors[2], profiler=True).bytes_loaded == 8000


def test_the_call_is_made_once_before_so_that_nothing_is_compiled_in_sight(ncu, lesson, tmp_path):
    ncu()
    count(lesson.note_call, str(tmp_path / "calls"), profiler=True)
    assert (tmp_path / "calls").read_text() == "called called "


def test_only_metrics_that_this_ncu_knows_are_asked_for(ncu, lesson, vectors):
    folder = ncu(known="smsp__inst_executed  Counter  inst  # of instructions\nsmsp__thread_inst_executed  Counter")
    count(lesson.add, *vectors, profiler=True)
    assert "--metrics smsp__inst_executed.sum,smsp__thread_inst_executed.sum " in (folder / "arguments").read_text()


@pytest.mark.parametrize(
    "name, error, words",
    [("choosy", ValueError, "odd length"), ("not_yet", NotImplementedError, "week9 task 1: not_yet")],
)
def test_what_the_function_raises_is_raised(ncu, lesson, name, error, words):
    ncu()
    with pytest.raises(error, match=words):
        count(getattr(lesson, name), 1, profiler=True)


def test_a_lesson_that_ends_its_process_is_told_apart_from_a_profiler_that_fails(ncu, lesson):
    ncu()
    with pytest.raises(worker.Died, match=r"ended its own process under the profiler \(exit status 3\)"):
        count(lesson.leave, profiler=True)


def test_a_deadline_holds_for_the_profiler_too(ncu, lesson, vectors):
    ncu(sleep=30.0)
    with worker.deadline(1.0), pytest.raises(worker.TooSlow, match="no answer within 1 s"):
        count(lesson.add, *vectors, profiler=True)


# Where it cannot run -----------------------------------------------------------------------------


def refusal(lesson, vectors) -> str:
    with pytest.raises(NoProfiler) as caught:
        count(lesson.add, *vectors, profiler=True)
    text = str(caught.value)
    assert len(text.splitlines()) <= 5 and max(map(len, text.splitlines())) <= 80
    return text


@pytest.mark.parametrize("installed, found", [(None, "none was found"), ("a card", "this run simulates (--sim)")])
def test_without_a_gpu_the_simulator_is_recommended(lesson, vectors, monkeypatch, installed, found):
    monkeypatch.setattr(gpu, "card", lambda: None)
    monkeypatch.setattr(gpu, "installed_card", lambda: installed)
    text = refusal(lesson, vectors)
    assert text == f"profiler=True measures on a GPU; {found}.\nWithout profiler=True, count needs none."


def test_without_ncu_the_answer_says_where_it_comes_from(ncu, lesson, vectors, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    text = refusal(lesson, vectors)
    assert "not on PATH" in text and "/usr/local/cuda/bin/ncu" in text


def test_without_permission_the_answer_says_how_to_get_it(ncu, lesson, vectors):
    ncu(
        log="==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance "
        "Counters on the target device 0.\n"
    )
    text = refusal(lesson, vectors)
    assert "ERR_NVGPUCTRPERM" in text and "NVreg_RestrictProfilingToAdminUsers=0" in text


def test_any_other_error_is_told_in_ncus_words(ncu, lesson, vectors):
    error = "==ERROR== Cuda driver is not compatible with Nsight Compute"
    ncu(log=f"==PROF== Connected to process 1\n{error}\n", runs=False)
    text = refusal(lesson, vectors)
    assert text.splitlines() == ["ncu gave no figures (exit status 1). It says:", error]
