"""Streams and events by numba.cuda's names: a pipeline whose overlap shows, and mistakes that a GPU would hide."""

import numpy as np
import pytest

from tools.models.timeline import COMPUTE, DOWNLOAD, UPLOAD
from tools.sim import cuda
from tools.sim.faults import Fault

N = 1 << 19
CHUNKS = 4


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = 2 * x[i]


def pipeline(streams, host) -> None:
    """Each chunk goes up, is doubled and comes down in a stream of its own."""
    device_array = cuda.device_array(N, np.float32)
    size = N // CHUNKS
    for chunk in range(CHUNKS):
        stream, part = streams[chunk % len(streams)], slice(chunk * size, (chunk + 1) * size)
        device_array[part].copy_to_device(host[part], stream=stream)
        double[size // 256, 256, stream](device_array[part])
        device_array[part].copy_to_host(host[part], stream=stream)
    cuda.synchronize()


def pinned_ones() -> np.ndarray:
    host = cuda.pinned_array(N, np.float32)
    host[:] = 1
    return host


def test_a_pipeline_of_two_streams_overlaps_copies_and_gives_the_right_result(device, monkeypatch):
    monkeypatch.setattr("tools.sim.host.HAND_OVER", 1e-6)  # else the host is the slowest of all
    host = pinned_ones()
    pipeline([cuda.stream(), cuda.stream()], host)
    assert (host == 2).all()
    assert device.timeline.overlap(UPLOAD, DOWNLOAD) > 0.3 * device.timeline.overlap(UPLOAD, UPLOAD)
    assert device.timeline.overlap(UPLOAD, COMPUTE) > 0


def test_one_stream_overlaps_nothing(device):
    host = pinned_ones()
    pipeline([cuda.stream()], host)
    assert (host == 2).all()
    assert device.timeline.overlap(UPLOAD, DOWNLOAD) == 0


def test_pageable_memory_overlaps_nothing(device, monkeypatch):
    monkeypatch.setattr("tools.sim.host.HAND_OVER", 1e-6)
    host = np.ones(N, np.float32)
    pipeline([cuda.stream(), cuda.stream()], host)
    assert (host == 2).all()
    assert device.timeline.overlap(UPLOAD, DOWNLOAD) == 0


def test_a_pipeline_is_shorter_than_its_pieces_one_by_one(device, monkeypatch):
    monkeypatch.setattr("tools.sim.host.HAND_OVER", 1e-6)
    times = []
    for streams in ([cuda.stream()], [cuda.stream() for _ in range(CHUNKS)]):
        before = device.timeline.now
        pipeline(streams, pinned_ones())
        times.append(device.timeline.now - before)
    assert times[1] < 0.7 * times[0]


def test_a_kernel_in_another_stream_must_wait_for_the_upload():
    one, other = cuda.stream(), cuda.stream()
    array = cuda.to_device(pinned_ones(), stream=one)
    with pytest.raises(Fault) as caught:
        double[N // 256, 256, other](array)
    assert caught.value.kind == "race"
    assert caught.value.text.splitlines()[1] == "kernel double uses memory that may still be written in another stream,"


def test_an_event_makes_it_wait():
    one, other, uploaded = cuda.stream(), cuda.stream(), cuda.event()
    array = cuda.to_device(pinned_ones(), stream=one)
    uploaded.record(one)
    uploaded.wait(other)
    double[N // 256, 256, other](array)
    other.synchronize()
    assert (array.copy_to_host() == 2).all()


def test_an_array_keeps_its_stream_so_its_download_need_not_wait_for_others():
    one, other = cuda.stream(), cuda.stream()
    array = cuda.to_device(pinned_ones(), stream=one)
    one.synchronize()
    double[N // 256, 256, other](array)
    with pytest.raises(Fault, match="the download uses memory that may still be written"):
        array.copy_to_host()


def test_a_buffer_that_is_filled_again_too_early_is_found():
    stream, host = cuda.stream(), pinned_ones()
    cuda.to_device(host, stream=stream)
    host[:] = 3
    with pytest.raises(Fault, match="the host changed pinned memory of 2,097,152 bytes"):
        stream.synchronize()


def test_auto_synchronize_waits_at_the_end():
    host, array = pinned_ones(), cuda.to_device(np.zeros(N, np.float32))
    with cuda.stream().auto_synchronize() as stream:
        array.copy_to_host(host, stream=stream)
        assert (host == 1).all()
    assert (host == 0).all()


def test_elapsed_time_is_that_of_the_work_between():
    start, end, stream = cuda.event(), cuda.event(), cuda.stream()
    start.record(stream)
    cuda.to_device(pinned_ones(), stream=stream)
    end.record(stream)
    end.synchronize()
    assert 1e-3 * start.elapsed_time(end) == pytest.approx(25e-6 + N * 4 / 51.2e9)


def test_an_event_in_one_stream_says_nothing_about_another():
    one, other, event = cuda.stream(), cuda.stream(), cuda.event()
    event.record(other)
    array = cuda.to_device(pinned_ones(), stream=one)
    event.synchronize()
    with pytest.raises(Fault):
        double[N // 256, 256, other](array)


def test_what_the_simulator_cannot_do_is_said():
    with pytest.raises(NotImplementedError, match="stream.synchronize"):
        cuda.stream().add_callback(print)
    with pytest.raises(NotImplementedError, match="stream.synchronize"):
        cuda.stream().async_done()


def test_a_stream_that_there_is_not_is_an_error():
    with pytest.raises(ValueError, match="no stream"):
        cuda.external_stream(99)
