"""CUDA graphs by stream capture: what is noted, what a launch of the graph does, and what a capture forbids."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim import recording
from tools.tests.sim.cupy_raw.running import needs_compiler

ADD = r"""
extern "C" __global__ void add(float* x, float amount) {
    x[threadIdx.x] += amount;
}
"""


@pytest.fixture
def stream():
    made = cp.cuda.Stream(non_blocking=True)
    with made:
        yield made
        if made.is_capturing():
            made.end_capture()


def floats(size: int = 8) -> cp.ndarray:
    return cp.arange(size, dtype=np.float32)


def test_nothing_runs_until_the_graph_is_launched(stream):
    x = floats()
    stream.begin_capture()
    assert stream.is_capturing()
    x += 1
    y = cp.sqrt(x) * 2
    graph = stream.end_capture()
    assert not stream.is_capturing()
    assert x.get().tolist() == list(range(8))
    graph.upload()
    graph.launch()
    stream.synchronize()
    assert (x.get() == np.arange(8) + 1).all() and np.allclose(y.get(), 2 * np.sqrt(np.arange(8) + 1))


def test_each_launch_sees_what_the_arrays_hold_by_then(stream):
    x, total = floats(), cp.zeros((), np.float32)
    stream.begin_capture()
    cp.sum(x * x, out=total)
    graph = stream.end_capture()
    for factor in (1, 2, 3):
        x[...] = floats() * factor
        graph.launch()
        assert float(total) == factor**2 * 140


@needs_compiler
def test_a_raw_kernel_keeps_the_numbers_of_its_capture(stream):
    kernel, x, amount = cp.RawKernel(ADD, "add"), floats(), np.array([2], np.float32)
    stream.begin_capture()
    kernel((1,), (8,), (x, amount))
    kernel((1,), (8,), (x, np.float32(1)))
    graph = stream.end_capture()
    amount[0] = 100
    graph.launch()
    graph.launch()
    assert (x.get() == np.arange(8) + 6).all()


def test_elementwise_kernels_fills_and_copies_are_captured(stream):
    triple = cp.ElementwiseKernel("float32 x", "float32 y", "y = 3 * x", "triple")
    x, y, z = floats(), cp.empty(8, np.float32), cp.empty(8, np.float32)
    stream.begin_capture()
    both = cp.concatenate([x, z])
    triple(x, y)
    z[...] = y
    y.fill(7)
    x[2:4] = 0
    graph = stream.end_capture()
    graph.launch()
    assert z.get().tolist() == [3 * i for i in range(8)] and y.get().tolist() == [7] * 8
    graph.launch()
    assert both.get().tolist() == [0, 1, 0, 0, *range(4, 8), *(3 * i for i in range(8))]
    assert z.get().tolist() == [0, 3, 0, 0, 12, 15, 18, 21]


def test_a_launch_counts_what_its_kernels_do_and_takes_the_host_once(stream):
    x = floats()
    with recording.record() as captured:
        stream.begin_capture()
        for _ in range(3):
            x += 1
        graph = stream.end_capture()
    with recording.record() as launched:
        graph.launch()
    assert not captured.launches
    assert [launch.kernel for launch in launched.launches] == ["cupy_add"] * 3
    assert launched.bytes_stored == 3 * 32


def test_another_stream_joins_by_an_event(stream):
    other, begun, ended = cp.cuda.Stream(non_blocking=True), cp.cuda.Event(), cp.cuda.Event()
    x = floats()
    stream.begin_capture()
    y = x * 2
    begun.record(stream)
    other.wait_event(begun)
    with other:
        z = y + 1
        ended.record(other)
    assert other.is_capturing()
    stream.wait_event(ended)
    graph = stream.end_capture()
    assert not other.is_capturing()
    graph.launch()
    assert (z.get() == 2 * np.arange(8) + 1).all()


def test_work_that_nobody_waits_for_is_unjoined(stream):
    other, begun = cp.cuda.Stream(non_blocking=True), cp.cuda.Event()
    x = floats()
    stream.begin_capture()
    begun.record(stream)
    other.wait_event(begun)
    with other:
        x += 1
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorStreamCaptureUnjoined"):
        stream.end_capture()
    assert not stream.is_capturing() and not other.is_capturing()


@pytest.mark.parametrize("wait", ["stream.synchronize()", "cp.cuda.Device().synchronize()"])
def test_to_wait_is_forbidden_and_loses_the_capture(stream, wait):
    stream.begin_capture()
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorStreamCaptureUnsupported"):
        eval(wait, {"cp": cp, "stream": stream})
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorStreamCaptureInvalidated"):
        stream.end_capture()
    stream.synchronize()


def test_to_ask_is_forbidden_too(stream):
    stream.begin_capture()
    assert not stream.done
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorStreamCaptureInvalidated"):
        stream.end_capture()


@pytest.mark.parametrize("fetch", ["x.get()", "float(x[0])", "cp.nonzero(x)", "x.set(np.zeros(8, np.float32))"])
def test_values_cannot_be_fetched(stream, fetch):
    x = floats()
    stream.begin_capture()
    with pytest.raises(RuntimeError, match="so synchronous API calls are disallowed"):
        eval(fetch, {"cp": cp, "np": np, "x": x})
    stream.end_capture()


@pytest.mark.parametrize("call", ["x.reshape(2, 4) @ x.reshape(4, 2)", "cp.random.random(4)", "cp.arange(4)"])
def test_what_graphs_here_do_not_hold_says_so(stream, call):
    x = floats()
    stream.begin_capture()
    with pytest.raises(NotImplementedError, match="graphs of the simulated GPU do not hold it"):
        eval(call, {"cp": cp, "x": x})
    stream.end_capture()


def test_the_default_stream_cannot_capture_and_must_not_meddle():
    with pytest.raises(RuntimeError, match="cannot capture on the default"):
        cp.cuda.Stream.null.begin_capture()
    blocking, x = cp.cuda.Stream(), floats()
    blocking.begin_capture()
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorStreamCaptureImplicit"):
        cp.cuda.Stream.null.is_capturing()
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorStreamCaptureImplicit"):
        x += 1
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorStreamCaptureInvalidated"):
        blocking.end_capture()
    x += 1
    assert x.get()[0] == 1


def test_captures_begin_and_end_in_pairs(stream):
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorIllegalState"):
        stream.end_capture()
    stream.begin_capture()
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorIllegalState"):
        stream.begin_capture()
    stream.end_capture().launch()
    with pytest.raises(NotImplementedError, match="must be created via stream capture"):
        cp.cuda.Graph()


def test_events_of_a_capture_do_not_happen(stream):
    event = cp.cuda.Event()
    stream.begin_capture()
    event.record(stream)
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorCapturedEvent"):
        event.synchronize()
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorStreamCaptureInvalidated"):
        stream.end_capture()
