"""kernel[grid, block, stream, shared](...): what the core, the clock and the record get. (Refusals: snippets/.)"""

import numpy as np
import pytest

from tools.models.timeline import COMPUTE
from tools.sim import cuda, recording
from tools.sim.counters import Counts, Launch
from tools.sim.cuda.faults import Refused
from tools.sim.cuda.host import launch_config
from tools.sim.cuda.host.errors import CUDAError, NumbaPerformanceWarning
from tools.sim.cuda.session import session


@cuda.jit
def kernel(x):
    x[0] = 1


@pytest.fixture
def calls(monkeypatch):
    """All calls of the core, which does nothing and counts 10 million sectors."""
    calls = []

    def launch(function, grid, block, arguments, **named):
        calls.append(dict(named, function=function, grid=grid, block=block))
        return Launch(named["name"], grid, Counts(sectors=10_000_000, programs=grid[0]), ())

    monkeypatch.setattr(launch_config.core, "launch", launch)
    return calls


@pytest.fixture
def x():
    return cuda.device_array(4)


def test_grid_and_block_become_three_axes(calls, x):
    kernel[200, (32, 2)](x)
    assert calls == [
        {
            "function": kernel.py_func,
            "grid": (200, 1, 1),
            "block": (32, 2, 1),
            "dynamic_shared": 0,
            "name": "kernel",
            "resident": 132 * 32,
        }
    ]


def test_shared_memory_and_stream_are_passed_on(calls, x, device):
    stream = cuda.stream()
    kernel[(10, 20), 64, stream, 4096](x)
    assert calls[0]["dynamic_shared"] == 4096
    assert device.timeline.spans[-1].stream == stream.number


def test_a_launch_is_on_record_with_the_grid_as_it_was_given(calls, x):
    with recording.record() as counters:
        kernel[200, 32](x)
        kernel[(10, 20), 32](x)
    assert [(launch.kernel, launch.grid) for launch in counters.launches] == [("kernel", (200,)), ("kernel", (10, 20))]


def test_a_launch_is_on_record_with_its_block(calls, x):
    with recording.record() as counters:
        kernel[200, 32](x)
        kernel[200, (16, 2)](x)
        kernel[200, (1, 4, 1)](x)
    assert [launch.block for launch in counters.launches] == [(32,), (16, 2), (1, 4)]


def test_a_launch_takes_the_host_a_moment_and_the_device_the_time_of_its_sectors(calls, x, device):
    kernel[200, 32](x)
    span = device.timeline.spans[-1]
    assert (span.engine, span.label) == (COMPUTE, "kernel")
    assert span.start == pytest.approx(25e-6)
    assert span.end - span.start == pytest.approx(320e6 / 3352e9)


def test_a_kernel_that_fails_leaves_no_launch_and_no_result(monkeypatch):
    def launch(*_, **__):
        raise ArithmeticError

    monkeypatch.setattr(launch_config.core, "launch", launch)
    array = np.zeros(3)
    with recording.record() as counters, pytest.raises(ArithmeticError):
        kernel[200, 32](array)
    assert (counters.launches, counters.transfers.downloads) == ((), 0)


def test_events_around_a_launch_measure_it_on_the_modelled_clock(calls, x):
    start, end = cuda.event(), cuda.event()
    start.record()
    kernel[200, 32](x)
    end.record()
    end.synchronize()
    assert cuda.event_elapsed_time(start, end) == pytest.approx((25e-6 + 320e6 / 3352e9) * 1e3)


# Warnings ----------------------------------------------------------------------------------------


def test_warnings_point_to_the_line_of_the_launch(calls, x):
    with pytest.warns(NumbaPerformanceWarning, match="Grid size 1 ") as caught:
        kernel[1, 32](x)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("variable", "value"), [("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0"), ("NUMBA_DISABLE_PERFORMANCE_WARNINGS", "1")]
)
def test_numbas_variables_silence_them(calls, x, monkeypatch, recwarn, variable, value):
    monkeypatch.setenv(variable, value)
    kernel[1, 32](x)
    assert len(recwarn) == 0


# How large ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("chip", "threads"), [("h100", 1024), ("rtx4090", 768), ("t4", 1024)])
def test_forall_takes_the_largest_block_that_fills_a_multiprocessor(calls, monkeypatch, chip, threads):
    monkeypatch.setenv("COURSE_CHIP", chip)
    cuda.close()
    kernel.forall(10_000)(cuda.device_array(4))
    assert calls[0]["block"] == (threads, 1, 1)
    assert calls[0]["grid"] == (-(-10_000 // threads), 1, 1)


def test_forall_takes_the_block_that_is_named(calls, x):
    kernel.forall(1000, tpb=96)(x)
    assert (calls[0]["grid"], calls[0]["block"]) == ((11, 1, 1), (96, 1, 1))


def test_a_launch_that_is_too_large_says_what_and_how_much(calls, x):
    with pytest.raises(CUDAError, match=r"CUDA_ERROR_INVALID_VALUE: .*\nA block of 2,048 threads .* 1,024"):
        kernel[1, (64, 32)](x)
    with pytest.raises(CUDAError, match="A grid of 65,536 along z .* 65,535"):
        kernel[(1, 1, 65536), 32](x)
    with pytest.raises(CUDAError, match="49,152 bytes of shared memory, not 49,153"):
        kernel[1, 32, 0, 49153](x)
    assert not calls


# jit ---------------------------------------------------------------------------------------------


def test_a_kernel_keeps_the_name_and_the_words_of_its_function():
    @cuda.jit
    def documented(x):
        """Does nothing."""

    assert (documented.__name__, documented.__doc__) == ("documented", "Does nothing.")
    assert repr(documented).startswith("CUDADispatcher(<function ")


def test_each_combination_of_types_is_one_signature(calls, x):
    fresh = cuda.jit(kernel.py_func)
    for argument in (x, x[1:], cuda.device_array(4, np.int8), x):
        fresh[200, 32](argument)
    assert list(map(str, fresh.signatures)) == [
        "(Array(float64, 1, 'C', False, aligned=True),)",
        "(Array(int8, 1, 'C', False, aligned=True),)",
    ]


def test_a_specialized_kernel_takes_no_other_types(x):
    special = kernel.specialize(x)
    with pytest.raises(TypeError, match="wants array"):
        special[200, 32](cuda.device_array(4, np.int8))


def test_with_a_signature_what_numba_refuses_is_refused_at_once():
    with pytest.raises(Refused, match="A kernel gives nothing back"):

        @cuda.jit("void(float64[:])")
        def returns(x):
            return x[0]


def test_without_one_it_is_refused_at_the_first_launch(x):
    @cuda.jit
    def returns(x):
        return x[0]

    with pytest.raises(Refused, match="A kernel gives nothing back"):
        returns[200, 32](x)


@pytest.mark.parametrize("name", ["inspect_asm", "get_regs_per_thread", "overloads"])
def test_what_only_a_compiler_knows_is_said_to_be_so(name, monkeypatch):
    monkeypatch.setattr(session, "compile", None)
    with pytest.raises(AttributeError, match=f"{name} needs Numba's compiler"):
        getattr(kernel, name)()


def test_other_attributes_are_unknown_as_usual():
    with pytest.raises(AttributeError, match="has no attribute 'banana'"):
        kernel.banana


@pytest.mark.parametrize("option", [{"link": ["code.cu"]}, {"extensions": [object()]}])
def test_what_needs_more_than_python_is_refused(option):
    with pytest.raises(NotImplementedError, match="runs Python alone"):
        cuda.jit(**option)(kernel.py_func)
    cuda.jit(**{name: [] for name in option})(kernel.py_func)


# The core itself ---------------------------------------------------------------------------------


def test_a_kernel_runs_is_counted_and_gives_its_result():
    @cuda.jit
    def add(a, b, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a[i] + b[i]

    a, b = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    out = cuda.device_array(1000, np.float32)
    with recording.record() as counters:
        add[8, 128](cuda.to_device(a), cuda.to_device(b), out)
    assert out.copy_to_host().tolist() == list(range(1, 1001))
    assert (counters.bytes_loaded, counters.bytes_stored, counters.launches[0].grid) == (8000, 4000, (8,))


def test_a_device_function_with_a_signature_converts_to_its_types():
    @cuda.jit("int32(int32)", device=True)
    def double(x):
        return 2 * x

    @cuda.jit
    def apply(out, x):
        out[0] = double(x)

    out = np.zeros(1)
    for x, expected in ((2.7, 4), (2**31, 0), (3, 6)):
        apply[1, 1](out, x)
        assert out[0] == expected
