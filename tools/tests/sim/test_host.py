"""The simulated device that all stand-ins share: its clock, its transfers, and order between streams."""

import numpy as np
import pytest

from tools.models.chips import chip
from tools.models.timeline import COMPUTE, DOWNLOAD, UPLOAD
from tools.sim import host, recording
from tools.sim.device_memory import poisoned
from tools.sim.faults import Fault

MIB = 1 << 20
LARGE = 4 * MIB  # long enough under way for the host to submit more


@pytest.fixture
def device():
    return host.Device(chip("h100"))


def on_device(device, size=MIB):
    return device.memory.allocate(size).array(size, np.uint8)


def pinned(device, size=MIB):
    storage = np.zeros(size, np.uint8)
    device.memory.pin(storage)
    return storage


# Time --------------------------------------------------------------------------------------------


def test_pinned_memory_crosses_at_0_8_of_the_link_and_pageable_memory_at_10_gb_a_second(device):
    target = on_device(device)
    for source, rate in ((pinned(device), 0.8 * 64e9), (np.zeros(MIB, np.uint8), 10e9)):
        device.upload(target, source)
        device.download(source, target)
        upload, download = device.timeline.spans[-2:]
        assert (upload.engine, download.engine) == (UPLOAD, DOWNLOAD)
        assert upload.end - upload.start == pytest.approx(MIB / rate)
        assert download.end - download.start == pytest.approx(MIB / rate)


def test_a_kernel_takes_as_long_as_its_bytes_at_the_bandwidth_of_the_memory(device):
    device.execute("k", 0, [], lambda: 3352_000_000)
    assert device.timeline.spans[0].end - device.timeline.spans[0].start == pytest.approx(1e-3)
    assert (device.timeline.spans[0].engine, device.timeline.spans[0].label) == (COMPUTE, "k")


def test_a_kernel_that_touches_mapped_memory_waits_for_the_link(device):
    piece = device.memory.map(poisoned(MIB))
    device.execute("k", 0, [piece.storage], lambda: 0)
    assert device.timeline.spans[0].end - device.timeline.spans[0].start == pytest.approx(MIB / 51.2e9)


def test_the_host_waits_for_pageable_memory_even_if_it_asks_not_to(device):
    stream = device.stream()
    device.upload(on_device(device), np.zeros(MIB, np.uint8), stream, wait=False)
    assert device.timeline.now == device.timeline.spans[0].end


def test_copies_in_both_directions_and_a_kernel_overlap_in_streams_of_their_own(device):
    streams = [device.stream() for _ in range(3)]
    device.upload(on_device(device, LARGE), pinned(device, LARGE), streams[0], wait=False)
    device.execute("k", streams[1], [], lambda: 200_000_000)
    device.download(pinned(device, LARGE), on_device(device, LARGE), streams[2], wait=False)
    overlap = device.timeline.overlap
    assert overlap(UPLOAD, COMPUTE) > 0 and overlap(UPLOAD, DOWNLOAD) > 0 and overlap(COMPUTE, DOWNLOAD) > 0


def test_nothing_overlaps_in_the_default_stream(device):
    device.upload(on_device(device, LARGE), pinned(device, LARGE), wait=False)
    device.execute("k", 0, [], lambda: 200_000_000)
    assert device.timeline.overlap(UPLOAD, COMPUTE) == 0


def test_a_loop_of_questions_whether_it_is_over_ends(device):
    device.upload(on_device(device, LARGE), pinned(device, LARGE), wait=False)
    mark = device.record()
    asked = 0
    while not device.is_over(mark):
        asked += 1
    assert 0 < asked < 100


def test_streams_keep_nothing_of_work_that_the_host_knows_to_be_over(device):
    """Else each piece of work would look through all streams that the device ever had."""
    for stream in [device.stream() for _ in range(3)]:
        device.execute("k", stream, [], lambda: 1000)
    assert sum(map(len, device._order._streams.values())) == 3
    device.synchronize()
    assert sum(map(len, device._order._streams.values())) == 0


# What is counted ---------------------------------------------------------------------------------


def test_transfers_are_counted_with_their_bytes_and_waits(device):
    array, other = on_device(device, 100), on_device(device, 100)
    with recording.record() as counters:
        device.upload(array, np.zeros(100, np.uint8))
        device.copy(other, array)
        device.download(np.zeros(100, np.uint8), other)
        device.synchronize()
        device.wait_for(device.record())
    assert vars(counters.transfers) == {
        "uploads": 1,
        "downloads": 1,
        "copies": 1,
        "bytes_uploaded": 100,
        "bytes_downloaded": 100,
        "bytes_copied": 100,
        "synchronizations": 3,
    }


def test_a_download_that_nobody_waits_for_is_no_synchronization(device):
    with recording.record() as counters:
        device.download(pinned(device), on_device(device), device.stream(), wait=False)
    assert (counters.transfers.downloads, counters.transfers.synchronizations) == (1, 0)


# What arrives when -------------------------------------------------------------------------------


def test_an_asynchronous_download_arrives_when_the_host_has_waited(device):
    stream, target, source = device.stream(), pinned(device), on_device(device)
    source[:] = 7
    device.download(target, source, stream, wait=False)
    assert target.max() == 0
    device.synchronize(stream)
    assert target.min() == 7


@pytest.mark.parametrize(
    "wait",
    [
        lambda device, stream: device.synchronize(),
        lambda device, stream: device.wait_for(device.record(stream)),
        lambda device, stream: device.download(np.zeros(1, np.uint8), on_device(device, 1)),  # in the default stream
    ],
    ids=["device", "event", "blocking download"],
)
def test_every_kind_of_waiting_brings_it(device, wait):
    stream, target, source = device.stream(), pinned(device), on_device(device)
    source[:] = 7
    device.download(target, source, stream, wait=False)
    wait(device, stream)
    assert target.min() == 7


def test_waiting_for_another_stream_does_not_bring_it(device):
    stream, other, target, source = device.stream(), device.stream(), pinned(device), on_device(device)
    source[:] = 7
    device.download(target, source, stream, wait=False)
    device.synchronize(other)
    assert target.max() == 0


def test_it_brings_the_values_of_its_time(device):
    stream, target, source = device.stream(), pinned(device), on_device(device)
    source[:] = 7
    device.download(target, source, stream, wait=False)
    source[:] = 8
    device.synchronize(stream)
    assert target.min() == target.max() == 7


def test_the_device_itself_reads_what_it_brought_in_order_before_the_host_can(device):
    stream, between, source, target = device.stream(), pinned(device), on_device(device), on_device(device)
    source[:] = 7
    device.download(between, source, stream, wait=False)
    device.upload(target, between, stream, wait=False)
    assert target.min() == 7
    device.synchronize()


# What is refused ---------------------------------------------------------------------------------


def test_memory_that_the_host_fills_again_before_its_upload_is_over_is_a_race(device):
    stream, source = device.stream(), pinned(device)
    device.upload(on_device(device), source, stream, wait=False)
    source[0] = 1
    with pytest.raises(Fault) as caught:
        device.synchronize()
    assert caught.value.kind == "race" and "device.upload(on_device" in caught.value.source
    assert "the host changed pinned memory of 1,048,576 bytes while it might still be uploaded" in caught.value.text


def test_memory_that_the_host_fills_again_after_an_event_is_none(device):
    stream, source = device.stream(), pinned(device)
    device.upload(on_device(device), source, stream, wait=False)
    device.wait_for(device.record(stream))
    source[0] = 1
    device.synchronize()
    assert device.timeline.now > 0


def adds_one(array):
    def kernel():
        array[:] += 1
        return array.nbytes

    return kernel


def test_a_kernel_that_does_not_wait_for_an_upload_in_another_stream_is_a_race(device):
    array, one, other = on_device(device), device.stream(), device.stream()
    device.upload(array, pinned(device), one, wait=False)
    with pytest.raises(Fault) as caught:
        device.execute("add", other, [array], adds_one(array))
    assert "kernel add uses memory that may still be written in another stream" in caught.value.text
    assert "by the upload of line" in caught.value.text and "device.execute" in caught.value.source


def test_a_download_that_does_not_wait_for_a_kernel_in_another_stream_is_a_race(device):
    array, one, other = on_device(device), device.stream(), device.stream()
    device.execute("add", one, [array], adds_one(array))
    with pytest.raises(Fault, match="the download uses memory that may still be written"):
        device.download(pinned(device), array, other, wait=False)


def test_an_upload_into_memory_that_a_kernel_still_reads_is_a_race(device):
    array, one, other = on_device(device), device.stream(), device.stream()
    device.execute("read", one, [array], lambda: 100 * MIB)
    with pytest.raises(Fault, match="the upload uses memory that may still be read"):
        device.upload(array, pinned(device), other, wait=False)


def test_an_event_that_was_recorded_before_the_work_is_told_with_its_line(device):
    array, one, other = on_device(device), device.stream(), device.stream()
    device.execute("earlier", one, [on_device(device)], lambda: 100 * MIB)
    event = device.record(one)
    device.execute("read", one, [array], lambda: 100 * MIB)
    device.wait(other, event)
    with pytest.raises(Fault) as caught:
        device.upload(array, pinned(device), other, wait=False)
    start = test_an_event_that_was_recorded_before_the_work_is_told_with_its_line.__code__.co_firstlineno
    lines = caught.value.text.splitlines()
    assert lines[3] == f"It waits for an event that line {start + 3} recorded there before the kernel came."
    assert lines[-1] == "Which event should this stream wait for, and when is that to be recorded?"


@pytest.mark.parametrize(
    "waiting, says, asks",
    [
        (
            "other",
            "recorded in its own stream, not in that of the kernel.",
            "In which stream is the event to be recorded that this one waits for?",
        ),
        (
            "one",
            "The other stream waits for this one, by an event of line",
            "Which of the two should wait for the other?",
        ),
    ],
    ids=["its own stream", "the other way round"],
)
def test_an_event_of_the_stream_that_should_wait_is_told_as_such(device, waiting, says, asks):
    array, one, other = on_device(device), device.stream(), device.stream()
    device.execute("read", one, [array], lambda: 100 * MIB)
    device.wait(one if waiting == "one" else other, device.record(other))
    with pytest.raises(Fault) as caught:
        device.upload(array, pinned(device), other, wait=False)
    assert says in caught.value.text and caught.value.text.endswith(asks)


def test_a_wait_of_the_other_stream_that_its_own_next_work_needs_is_not_blamed(device):
    array, one, other = on_device(device), device.stream(), device.stream()
    device.execute("read", one, [array], lambda: 100 * MIB)
    device.wait(one, device.record(other))
    device.execute("next", one, [on_device(device)], lambda: 100 * MIB)
    with pytest.raises(Fault) as caught:
        device.upload(array, pinned(device), other, wait=False)
    *_, third, empty, asks = caught.value.text.splitlines()
    assert third == "That stream has had 1 more since, and this one waited for no event of it."
    assert (empty, asks) == ("", "Which event should this stream wait for before this line?")


@pytest.mark.parametrize("waits_before", [True, False])
def test_a_wait_for_something_else_is_not_spoken_of(device, waits_before):
    array, one, other, third = on_device(device), device.stream(), device.stream(), device.stream()
    if waits_before:
        device.wait(other, device.record(one))
    device.execute("read", one, [array], lambda: 100 * MIB)
    if not waits_before:
        device.wait(other, device.record(third))
    with pytest.raises(Fault) as caught:
        device.upload(array, pinned(device), other, wait=False)
    assert "It waits for an event" not in caught.value.text


@pytest.mark.parametrize(
    "order",
    [
        lambda device, one, other: device.wait(other, device.record(one)),
        lambda device, one, other: device.synchronize(one),
        lambda device, one, other: device.wait_for(device.record(one)),
    ],
    ids=["an event between the streams", "waiting for the stream", "waiting for an event"],
)
def test_what_puts_them_in_order_makes_it_none(device, order):
    array, one, other = on_device(device), device.stream(), device.stream()
    device.upload(array, pinned(device), one, wait=False)
    order(device, one, other)
    device.execute("add", other, [array], adds_one(array))
    assert array.max() == 1  # 0 + 1


def test_parts_that_do_not_overlap_may_be_used_at_the_same_time(device):
    array, source = on_device(device), pinned(device)
    for part in (slice(0, MIB // 2), slice(MIB // 2, MIB)):
        stream = device.stream()
        device.upload(array[part], source[part], stream, wait=False)
        device.execute("add", stream, [array[part]], adds_one(array[part]))
    device.synchronize()
    assert array.min() == array.max() == 1


def test_two_readers_are_no_race(device):
    array, one, other = on_device(device), device.stream(), device.stream()
    device.execute("read", one, [array], lambda: 100 * MIB)
    device.download(pinned(device), array, other, wait=False)
    assert device.timeline.overlap(COMPUTE, DOWNLOAD) > 0


def test_two_kernels_may_share_memory_by_atomics(device):
    total, one, other = on_device(device), device.stream(), device.stream()
    device.execute("add", one, [total], adds_one(total))
    device.execute("add", other, [total], adds_one(total))
    device.synchronize()
    assert total.max() == 1  # 255 + 2


def test_the_default_stream_waits_for_all_others_and_they_for_it(device):
    array, stream = on_device(device), device.stream()
    device.upload(array, pinned(device), stream, wait=False)
    device.execute("add", 0, [array], adds_one(array))
    device.download(pinned(device), array, stream, wait=False)
    device.synchronize()
    assert array.min() == 1


def test_a_stream_that_does_not_wait_for_the_default_one_can_race_with_it(device):
    array, stream = on_device(device), device.stream(blocking=False)
    device.execute("add", 0, [array], adds_one(array))
    with pytest.raises(Fault, match="may still be written in another stream"):
        device.download(pinned(device), array, stream, wait=False)


# Which device ------------------------------------------------------------------------------------


@pytest.fixture
def fresh():
    host.reset()
    yield
    host.reset()


def test_the_environment_names_the_chip(fresh, monkeypatch):
    monkeypatch.setenv("COURSE_CHIP", "a100")
    assert host.device().chip is chip("a100")
    assert host.device() is host.device()


def test_without_a_name_it_is_an_h100(fresh, monkeypatch):
    monkeypatch.delenv("COURSE_CHIP", raising=False)
    assert host.device().chip is chip("h100")


def test_an_unknown_chip_is_an_error_that_names_the_known_ones(fresh, monkeypatch):
    monkeypatch.setenv("COURSE_CHIP", "banana")
    with pytest.raises(ValueError, match="COURSE_CHIP: no chip is called 'banana'; the table has .*h100"):
        host.device()
