"""The lesson again, as checks: what overlap gains, streams that wait, three engines at work, small products at once."""

import functools

import numpy as np
import pytest

from tools.check import assert_matches, count, notes, terms
from tools.check.tolerances import accumulated
from week2.katas.streams import streams as lesson

pytestmark = pytest.mark.filterwarnings("ignore:Grid size", "ignore:Host array used in CUDA kernel")


def always(value):
    """An oracle for one call, whose right answer is known."""
    return lambda *args: value


def step(x, rounds, *args):
    for _ in range(rounds):
        x = x / 2 + 1
    return x


# Task 1: what to expect, and what was seen --------------------------------------------------------

@pytest.mark.task(1)
def test_three_chunks_in_turn_take_the_eighteen_milliseconds_of_the_lesson():
    assert_matches(lesson.in_turn, 3, 2.0, 3.0, 1.0,
                   oracle=lambda chunks, up, kernel, down: terms(up=chunks * up, kernel=chunks * kernel,
                                                                 down=chunks * down))


@pytest.mark.task(1)
def test_one_chunk_overlaps_with_nothing():
    assert_matches(lesson.makespan, 1, 2.0, 3.0, 1.0, 2, oracle=always(6.0))


@pytest.mark.task(1)
@pytest.mark.edge
def test_no_chunks_take_no_time():
    assert_matches(lesson.in_turn, 0, 2.0, 3.0, 1.0, oracle=always(0.0))
    assert_matches(lesson.makespan, 0, 2.0, 3.0, 1.0, 2, oracle=always(0.0))


@pytest.mark.task(1)
def test_each_engine_takes_one_chunk_at_a_time():
    """Two chunks, each in a buffer of its own: the slowest engine needs 2 * 5, the others 1 before it or after it."""
    for times in [(5.0, 1.0, 1.0), (1.0, 5.0, 1.0), (1.0, 1.0, 5.0)]:
        assert_matches(lesson.makespan, 2, *times, 2, oracle=always(12.0))


@pytest.mark.task(1)
def test_a_buffer_is_filled_again_when_it_has_been_read():
    """One buffer on each side. Upload 1 begins when kernel 0 is done, at 6; its kernel at 10, its download at 12."""
    assert_matches(lesson.makespan, 2, 4.0, 2.0, 1.0, 1, oracle=always(13.0))


@pytest.mark.task(1)
def test_a_kernel_waits_until_its_target_is_down():
    """One buffer on each side, a slow download: kernel 1 begins when download 0 is done, at 7."""
    assert_matches(lesson.makespan, 2, 1.0, 1.0, 5.0, 1, oracle=always(13.0))


@pytest.mark.task(1)
def test_three_chunks_on_three_engines_take_twelve():
    assert_matches(lesson.makespan, 3, 2.0, 3.0, 1.0, 2, oracle=always(12.0))


def longest_path(chunks, up, kernel, down, buffers):
    """When the last work ends: each piece begins when all that it waits for has ended."""
    @functools.cache
    def end(engine, chunk):
        if chunk < 0:
            return 0.0
        waits = {"up": [("up", chunk - 1), ("kernel", chunk - buffers)],
                 "kernel": [("kernel", chunk - 1), ("up", chunk), ("down", chunk - buffers)],
                 "down": [("down", chunk - 1), ("kernel", chunk)]}[engine]
        return max(end(*each) for each in waits) + {"up": up, "kernel": kernel, "down": down}[engine]

    return end("down", chunks - 1)


@pytest.mark.task(1)
@pytest.mark.parametrize("chunks", [2, 3, 7, 16])
@pytest.mark.parametrize("buffers", [1, 2, 3])
def test_any_job_takes_as_long_as_its_longest_path(chunks, buffers, rng):
    up, kernel, down = (float(each) for each in rng.integers(1, 20, 3))
    assert_matches(lesson.makespan, chunks, up, kernel, down, buffers, oracle=longest_path)


@pytest.mark.task(1)
def test_two_spans_share_what_both_cover():
    assert_matches(lesson.overlap, [(0.0, 4.0)], [(1.0, 9.0)], oracle=always(3.0))
    assert_matches(lesson.overlap, [(2.0, 3.0)], [(0.0, 9.0)], oracle=always(1.0))


@pytest.mark.task(1)
@pytest.mark.edge
def test_spans_apart_share_nothing():
    for first, second in [([], []), ([(0.0, 2.0)], []), ([(0.0, 2.0)], [(2.0, 3.0)]), ([(5.0, 6.0)], [(1.0, 4.0)])]:
        time_shared = float(lesson.overlap(first, second))
        assert time_shared == 0, f"overlap({first}, {second}) gave {time_shared}"


@pytest.mark.task(1)
def test_all_spans_of_one_engine_meet_all_of_the_other():
    """The picture of the lesson: uploads against kernels share 2 to 4 and 5 to 7."""
    uploads, kernels = [(0.0, 2.0), (2.0, 4.0), (5.0, 7.0)], [(2.0, 5.0), (5.0, 8.0), (8.0, 11.0)]
    assert_matches(lesson.overlap, uploads, kernels, oracle=always(4.0))
    assert_matches(lesson.overlap, kernels, uploads, oracle=always(4.0))


# Task 2: one stream waits for another -------------------------------------------------------------

@pytest.mark.task(2)
def test_four_numbers_pass_through_three_streams(rng):
    assert_matches(lesson.relay, rng.normal(size=4), 3, oracle=step, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n", [1, 255, 256, 257, 1009])
def test_any_number_passes_through_three_streams(n, rng):
    assert_matches(lesson.relay, rng.normal(size=n), 1, oracle=step, exact=True)


@pytest.mark.task(2)
@pytest.mark.counters
def test_only_the_last_stream_is_waited_for_by_the_host(rng):
    counters, waits_of_relay_itself = count(lesson.relay, rng.normal(size=300), 1), 1
    assert counters.transfers.synchronizations == waits_of_relay_itself


@pytest.mark.task(2)
@pytest.mark.counters
def test_a_stream_waits_for_the_other_one_alone():
    """A third stream uploads 4 MB, 82 us of work. What waits for a small kernel need not wait for that."""
    us_when_the_download_begins, us_when_the_large_upload_is_done = (round(each) for each in lesson.beside(2**19))
    assert us_when_the_download_begins < us_when_the_large_upload_is_done


# Task 3: three engines at work --------------------------------------------------------------------

CHUNKS, US = 3, 164  # of 8 MB, each of which takes 164 us to cross


@functools.cache
def seen(way):
    """What the simulated GPU did with such chunks: engine -> spans, and the numbers of its streams."""
    return lesson.timeline(CHUNKS, 2**20, way)


def spans(way, engine):
    return [(start, end) for start, end, _ in seen(way)[engine]]


@pytest.mark.task(3)
def test_every_result_is_there_when_it_returns(rng):
    """Places for results hold NaN until the host has waited for them, where the GPU is simulated."""
    places_without_a_result = int(np.isnan(lesson.stepped(rng.normal(size=(2, 4)), 1, "overlapped")).sum())
    assert places_without_a_result == 0


@pytest.mark.task(3)
def test_two_chunks_of_four_numbers_are_stepped(rng):
    assert_matches(lesson.stepped, rng.normal(size=(2, 4)), 1, "overlapped", oracle=step, exact=True)


@pytest.mark.task(3)
def test_chunks_that_share_a_buffer_do_not_disturb_each_other(rng):
    assert_matches(lesson.stepped, rng.normal(size=(5, 300)), 2, "overlapped", oracle=step, exact=True)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("chunks, n", [(1, 1), (2, 255), (3, 256), (4, 257), (7, 31)])
def test_any_number_of_chunks_of_any_length(chunks, n, rng):
    assert_matches(lesson.stepped, rng.normal(size=(chunks, n)), 3, "overlapped", oracle=step, exact=True)


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_nan_and_infinity_stay_where_they_are():
    x = np.array([[1.0, np.nan, 3.0], [np.inf, 2.0, -np.inf], [np.nan, 0.0, 1.0]])
    assert_matches(lesson.stepped, x, 2, "overlapped", oracle=step, exact=True)


@pytest.mark.task(3)
@pytest.mark.counters
def test_each_chunk_crosses_once_each_way_and_gets_one_launch(rng):
    counters, chunks = count(lesson.stepped, rng.normal(size=(5, 320)), 1, "overlapped"), 5
    moved = counters.transfers
    assert (moved.uploads, moved.downloads, len(counters.launches)) == (chunks, chunks, chunks)
    assert (moved.bytes_uploaded, moved.bytes_downloaded) == (8 * 320 * chunks, 8 * 320 * chunks)
    assert moved.bytes_copied == 0
    blocks_of_256, requests_of_full_warps = 2 * chunks, 2 * 320 / 32 * chunks  # each warp loads once and stores once
    assert counters.programs == blocks_of_256
    assert counters.requests == requests_of_full_warps


@pytest.mark.task(3)
@pytest.mark.counters
def test_the_host_waits_after_the_last_chunk_alone(rng):
    """Once for all of them, or once for each of three streams; with twelve chunks to tell it from once a chunk."""
    counters, streams = count(lesson.stepped, rng.normal(size=(12, 40)), 1, "overlapped"), 3
    assert 1 <= counters.transfers.synchronizations <= streams


@pytest.mark.task(3)
@pytest.mark.counters
def test_each_engine_has_a_stream_of_its_own_and_none_is_the_default():
    streams = {engine: sorted({stream for *_, stream in work}) for engine, work in seen("overlapped").items()}
    assert streams == {"upload": [1], "compute": [2], "download": [3]}


@pytest.mark.task(1, 3)
@pytest.mark.counters
def test_uploads_overlap_downloads_for_nearly_all_chunks_but_the_first():
    """The last chunk has no upload beside its download, and the first no download beside its upload."""
    in_one, yours = (round(lesson.overlap(spans(way, "upload"), spans(way, "download")))
                     for way in ("one stream", "overlapped"))
    assert in_one == 0
    us_of_upload_beside_download = yours
    assert us_of_upload_beside_download >= 0.8 * (CHUNKS - 1) * US


@pytest.mark.task(1, 3)
@pytest.mark.counters
def test_kernels_run_while_the_next_chunk_is_uploaded():
    """All but the last one, in full."""
    kernels, uploads = (spans("overlapped", engine) for engine in ("compute", "upload"))
    us_of_kernel_beside_upload = round(lesson.overlap(kernels, uploads), 1)
    us_of_kernels = sum(end - start for start, end in kernels[:-1])
    assert us_of_kernel_beside_upload >= 0.9 * us_of_kernels


@pytest.mark.task(1, 3)
def test_the_timeline_takes_what_was_predicted():
    """From the spans of one stream. The model leaves the host out, which needs 25 us for each piece of work."""
    up, kernel, down = (spans("one stream", engine)[0] for engine in ("upload", "compute", "download"))
    predicted = lesson.makespan(CHUNKS, up[1] - up[0], kernel[1] - kernel[0], down[1] - down[0], 2)
    took = spans("overlapped", "download")[-1][1] - spans("overlapped", "upload")[0][0]
    notes.taken.append(f"{predicted:.0f} us predicted, {took:.0f} us on the simulated GPU")
    assert predicted <= took * 1.001
    assert took <= 1.05 * predicted


@pytest.mark.task(3)
@pytest.mark.gpu
@pytest.mark.hopper
@pytest.mark.speed
def test_three_streams_are_faster_than_one(rng):
    """16 chunks of 33 MB, and a kernel that computes about as long as they take to cross."""
    x = rng.normal(size=(16, 2**22))
    one, yours = (lesson.milliseconds(x, 1000, way) for way in ("one stream", "overlapped"))
    notes.taken.append(f"{one / yours:.2f} times as fast as one stream")
    assert one / yours >= 1.17  # the course asks its reference for 1.3


# Task 4: small products side by side --------------------------------------------------------------

@pytest.mark.task(4)
def test_sixty_six_kernels_of_four_blocks_fill_an_h100():
    """132 SMs, two blocks on each."""
    assert_matches(lesson.kernels_at_once, 4, 2, 132, oracle=always(66))


@pytest.mark.task(4)
@pytest.mark.edge
def test_a_part_of_a_kernel_does_not_count_and_a_large_one_is_alone():
    for arguments, at_once in [((100, 2, 132), 2), ((264, 2, 132), 1), ((265, 2, 132), 1), ((133, 2, 132), 1),
                               ((132, 2, 132), 2), ((1, 8, 132), 1056)]:
        assert_matches(lesson.kernels_at_once, *arguments, oracle=always(at_once))


def by_numpy(a, b, streams):
    return a.astype(np.float64) @ b.astype(np.float64)


def factors(rng, count, m, k, n):
    return (rng.normal(size=shape).astype(np.float32) for shape in ((count, m, k), (count, k, n)))


@pytest.mark.task(4)
def test_one_product_in_one_stream(rng):
    a, b = factors(rng, 1, 2, 3, 4)
    assert_matches(lesson.products, a, b, 1, oracle=by_numpy, tolerance=accumulated(np.float32, 3))


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("number, streams", [(2, 2), (5, 2), (2, 3), (7, 4)])
def test_any_number_of_products_in_any_number_of_streams(number, streams, rng):
    a, b = factors(rng, number, 5, 3, 4)
    assert_matches(lesson.products, a, b, streams, oracle=by_numpy, tolerance=accumulated(np.float32, 3))


@pytest.mark.task(4)
@pytest.mark.counters
def test_each_product_is_one_launch_and_the_host_waits_once(rng):
    a, b = factors(rng, 6, 20, 8, 36)
    counters = count(lesson.products, a, b, 3)
    columns_then_rows_of_blocks = [launch.grid[:2] for launch in counters.launches]
    assert columns_then_rows_of_blocks == [(3, 2)] * 6
    waits_at_the_end = 1
    assert counters.transfers.synchronizations == waits_at_the_end


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("m, n", [(1, 1), (15, 17), (33, 16), (16, 33)])
def test_products_of_more_than_one_block(m, n, rng):
    a, b = factors(rng, 2, m, 7, n)
    assert_matches(lesson.products, a, b, 2, oracle=by_numpy, tolerance=accumulated(np.float32, 7))


@pytest.mark.task(4)
@pytest.mark.counters
def test_products_take_the_streams_in_turn():
    """Streams are numbered as they are used: main uploads, so it is 1."""
    streams_of_products = lesson.product_streams(5, 3)
    assert streams_of_products == [2, 3, 4, 2, 3]


@pytest.mark.task(4)
@pytest.mark.gpu
@pytest.mark.hopper
@pytest.mark.speed
def test_eight_streams_are_faster_than_one(rng):
    """32 products of four blocks, each of which leaves 128 of 132 SMs idle."""
    a, b = factors(rng, 32, 32, 4096, 32)
    one, eight = (lesson.product_milliseconds(a, b, streams) for streams in (1, 8))
    notes.taken.append(f"{one / eight:.2f} times as fast as one stream")
    assert one / eight >= 1.17  # the course asks its reference for 1.3
