"""The lesson again, as checks: what overlap gains, streams that wait, three engines at work, small products at once."""

import functools

import numpy as np
import pytest

from tools.check import assert_matches, count, notes, terms
from tools.check.tolerances import accumulated
from week2.katas.streams import streams as lesson
from week2.katas.streams.show_timeline import DEFAULT, overlap

pytestmark = pytest.mark.filterwarnings("ignore:Grid size", "ignore:Host array used in CUDA kernel")


def always(value):
    """An oracle for one call, whose right answer is known."""
    return lambda *args: value


def step(x, rounds, *args):
    for _ in range(rounds):
        x = x / 2 + 1
    return x


# Task 1: what to expect --------------------------------------------------------------------------

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
    end = lesson.makespan(2, 4.0, 2.0, 1.0, 1)
    why = "with one buffer, upload 1 waits until kernel 0 has read it, at 6"
    said = f"makespan(2, 4.0, 2.0, 1.0, buffers=1) gave {end}, wanted 13.0: {why}."
    assert end == 6.0 + 4.0 + 2.0 + 1.0, said


@pytest.mark.task(1)
def test_a_kernel_waits_until_its_target_is_down():
    end = lesson.makespan(2, 1.0, 1.0, 5.0, 1)
    why = "with one buffer, kernel 1 waits until download 0 has emptied it, at 7"
    said = f"makespan(2, 1.0, 1.0, 5.0, buffers=1) gave {end}, wanted 13.0: {why}."
    assert end == 7.0 + 1.0 + 5.0, said


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
    waits = count(lesson.relay, rng.normal(size=300), 1).transfers.synchronizations
    said = f"The host waited {waits} times, and relay itself asks for 1. What in `after` makes the host wait?"
    assert waits == 1, said


@pytest.mark.task(2)
@pytest.mark.counters
def test_a_stream_waits_for_the_other_one_alone():
    """A third stream uploads 4 MB, 82 us of work. What waits for a small kernel need not wait for that."""
    download_begins, large_upload_is_done = (round(each) for each in lesson.beside(2**19))
    said = (f"The small download began at {download_begins} us, not before the upload of a third stream was done, "
            f"at {large_upload_is_done} us. Which streams do your record and wait name?")
    assert download_begins < large_upload_is_done, said


# Task 3: three engines at work --------------------------------------------------------------------

CHUNKS, US = 3, 164  # of 8 MB, each of which takes 164 us to cross
BEGIN, END = range(2)  # of a span


@functools.cache
def seen(way):
    """What the simulated GPU did with such chunks: engine -> spans, and the numbers of its streams."""
    return lesson.timeline(CHUNKS, 2**20, way)


def spans(way, engine):
    return [(start, end) for start, end, _ in seen(way)[engine]]


def streams_of(engine):
    return sorted({stream for *_, stream in seen("overlapped")[engine]})


def seen_at(*moments):
    """Microseconds, rounded, of moments (engine, chunk, BEGIN or END) of "overlapped"."""
    return [round(spans("overlapped", engine)[chunk][side]) for engine, chunk, side in moments]


@pytest.mark.task(3)
def test_every_result_is_there_when_it_returns(rng):
    """Places for results hold NaN until the host has waited for them, where the GPU is simulated."""
    missing = int(np.isnan(lesson.stepped(rng.normal(size=(2, 4)), 1, "overlapped")).sum())
    said = f"{missing} of 8 results were not there when it returned. For which stream does the host wait at the end?"
    assert missing == 0, said


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
    waits, streams = count(lesson.stepped, rng.normal(size=(12, 40)), 1, "overlapped").transfers.synchronizations, 3
    unnamed = [f"the {engine}" for engine in ("upload", "download") if DEFAULT in streams_of(engine)]
    asks = (f"Which stream does {' and '.join(unnamed)} of a chunk name?" if unnamed else
            "What in the loop makes the host wait, not a stream: a synchronize, or memory that is not pinned?")
    said = f"The host waited {waits} times for 12 chunks; once for each of 3 streams is enough. {asks}"
    assert 1 <= waits <= streams, said


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("chunks", [3, 6])
def test_two_buffers_on_each_side_are_enough_for_any_number_of_chunks(chunks):
    bytes_of_a_chunk = 8 * 100
    buffers = sum(lesson.allocated(chunks, 100, "overlapped")) / bytes_of_a_chunk
    said = f"{chunks} chunks took {buffers:g} buffers of the GPU's memory, wanted 2 + 2. Which lines make arrays there?"
    assert buffers == 2 + 2, said


@pytest.mark.task(3)
@pytest.mark.counters
def test_each_engine_has_a_stream_of_its_own_and_none_is_the_default():
    streams = {engine: streams_of(engine) for engine in seen("overlapped")}
    in_the_default = [engine for engine, used in streams.items() if DEFAULT in used]
    said = f"In stream 0, the default, ran work of: {', '.join(in_the_default)}. Which of your lines names no stream?"
    assert not in_the_default, said
    assert list(streams.values()) == [[1], [2], [3]], f"Streams by engine: {streams}; wanted: one each, all different."


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("engine", ["upload", "download"])
def test_copies_go_from_and_to_pinned_memory(engine):
    took = round(max(end - start for start, end in spans("overlapped", engine)))
    said = (f"One {engine} took {took} us, and {US} with pinned memory, as the arrays of the job are. Does the copy "
            "take chunk and result as they are, or an array that is made of them?")
    assert took <= 1.1 * US, said


@pytest.mark.task(3)
@pytest.mark.counters
def test_an_upload_waits_for_its_own_buffer_alone():
    """Kernel 0 reads buffer 0, and upload 1 fills buffer 1."""
    upload_1_begins, kernel_0_is_done = seen_at(("upload", 1, BEGIN), ("compute", 0, END))
    said = (f"Upload 1 is to fill buffer 1 while kernel 0 reads buffer 0. It began at {upload_1_begins} us, and "
            f"kernel 0 was done at {kernel_0_is_done} us. Which wait asks for more than buffer 1, or is its event that "
            "of buffer 0?")
    assert upload_1_begins < kernel_0_is_done, said


@pytest.mark.task(3)
@pytest.mark.counters
def test_a_kernel_waits_for_its_own_target_alone():
    """Download 0 empties target 0, and kernel 1 fills target 1."""
    kernel_1_begins, download_0_is_done = seen_at(("compute", 1, BEGIN), ("download", 0, END))
    said = (f"Kernel 1 is to fill target 1 while download 0 empties target 0. It began at {kernel_1_begins} us, and "
            f"download 0 was done at {download_0_is_done} us. Which wait asks for more than target 1, or is its event "
            "that of target 0?")
    assert kernel_1_begins < download_0_is_done, said


@pytest.mark.task(3)
@pytest.mark.counters
def test_uploads_overlap_downloads_for_nearly_all_chunks_but_the_first():
    """The last chunk has no upload beside its download, and the first no download beside its upload."""
    in_one, yours = (round(overlap(spans(way, "upload"), spans(way, "download")))
                     for way in ("one stream", "overlapped"))
    assert in_one == 0
    begins, down_begins, down_ends = seen_at(("upload", 1, BEGIN), ("download", 0, BEGIN), ("download", 0, END))
    waits = begins == down_ends
    said = (f"Uploads and downloads were at work at once for {yours} us, wanted nearly {(CHUNKS - 1) * US}. Upload 1 "
            f"began at {begins} us, download 0 at {down_begins}, done at {down_ends}. "
            f"{'Why does upload 1 wait for a download of another chunk?' if waits else 'What keeps them apart?'}")
    us_of_upload_beside_download = yours
    assert us_of_upload_beside_download >= 0.8 * (CHUNKS - 1) * US, said


@pytest.mark.task(3)
@pytest.mark.counters
def test_kernels_run_while_the_next_chunk_is_uploaded():
    """All but the last one, in full."""
    kernels, uploads = (spans("overlapped", engine) for engine in ("compute", "upload"))
    us_of_kernel_beside_upload = round(overlap(kernels, uploads), 1)
    nearly_all = round(0.9 * sum(end - start for start, end in kernels[:-1]), 1)
    begins, read, ends, emptied = seen_at(("upload", 2, BEGIN), ("compute", 0, END), ("upload", 1, END),
                                          ("download", 0, END))
    said = (f"Upload 2 began when download 0 was done, at {emptied} us. Its own buffer was free at {read}, when kernel "
            "0 had read it. Who needs what a download empties, the upload or the kernel?")
    assert begins != emptied, said
    said = (f"Kernels ran for {us_of_kernel_beside_upload} us beside an upload, wanted {nearly_all}. Upload 2 began at "
            f"{begins} us; its buffer had been read at {read}, and upload 1 was done at {ends}. What does it wait for?")
    assert us_of_kernel_beside_upload >= nearly_all, said


@pytest.mark.task(1, 3)
def test_the_timeline_takes_what_was_predicted():
    """From the spans of one stream. The model leaves the host out, which needs 25 us for each piece of work."""
    up, kernel, down = (spans("one stream", engine)[0] for engine in ("upload", "compute", "download"))
    predicted = lesson.makespan(CHUNKS, up[1] - up[0], kernel[1] - kernel[0], down[1] - down[0], 2)
    took = spans("overlapped", "download")[-1][1] - spans("overlapped", "upload")[0][0]
    notes.taken.append(f"{predicted:.0f} us predicted, {took:.0f} us on the simulated GPU")
    assert predicted <= took * 1.001, f"{predicted:.0f} us predicted, {took:.0f} taken: what can begin earlier?"
    said = f"{took:.0f} us, and {predicted:.0f} by your makespan: which work waits longer than by the rules of task 1?"
    assert took <= 1.05 * predicted, said


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
    at_once = lesson.kernels_at_once(4, 2, 132)
    said = (f"kernels_at_once(blocks=4, blocks_per_sm=2, sms=132) gave {at_once}, wanted 66: there is room for 264 "
            "blocks, and those of one kernel may lie on several SMs.")
    assert at_once == 66, said


@pytest.mark.task(4)
@pytest.mark.edge
def test_a_part_of_a_kernel_does_not_count_and_a_large_one_is_alone():
    room = "there is room for 264 blocks"
    for blocks, blocks_per_sm, at_once, why in [
            (100, 2, 2, f"{room}, two kernels of 100 and a part of a third. Does a part fit?"),
            (264, 2, 1, f"{room}, and one kernel fills it. What of it is left for a second?"),
            (265, 2, 1, f"{room}. A larger kernel runs, too, its last block later. How many run then?"),
            (133, 2, 1, f"{room}, one kernel of 133 and a part of a second. Does a part fit?"),
            (132, 2, 2, f"{room}, and two kernels fill it. Does each SM take one block of each?"),
            (1, 8, 1056, "an SM has room for 8 blocks, of 8 kernels as well. Does a kernel of one block take a whole "
                         "SM in yours?")]:
        got = lesson.kernels_at_once(blocks, blocks_per_sm, 132)
        said = f"kernels_at_once({blocks=}, {blocks_per_sm=}, sms=132) gave {got}, wanted {at_once}: {why}"
        assert got == at_once, said
        assert_matches(lesson.kernels_at_once, blocks, blocks_per_sm, 132, oracle=always(at_once))


def by_numpy(a, b, streams):
    return a.astype(np.float64) @ b.astype(np.float64)


def factors(rng, count, m, k, n):
    return (rng.normal(size=shape).astype(np.float32) for shape in ((count, m, k), (count, k, n)))


@pytest.mark.task(4)
@pytest.mark.counters
@pytest.mark.parametrize("last", [0, 1])
def test_main_goes_on_after_the_product_that_begins_last(last):
    """It is in streams[last], behind the upload that is done last."""
    _, products, main = lesson.behind_uploads(2**20, last)
    assert len(products) == 2, f"2 products, 2 streams, {len(products)} launches: what does the loop count?"
    main_goes_on, product_begins = round(main), round(products[last])
    said = (f"main went on at {main_goes_on} us, the product in streams[{last}] began at {product_begins} us. "
            "After the last launch, for which streams does multiply_all make main wait?")
    assert main_goes_on >= product_begins, said


@pytest.mark.task(4)
def test_one_product_in_one_stream(rng):
    a, b = factors(rng, 1, 2, 3, 4)
    assert_matches(lesson.products, a, b, 1, oracle=by_numpy, tolerance=accumulated(np.float32, 3))


@pytest.mark.task(4)
@pytest.mark.counters
def test_products_take_the_streams_in_turn():
    """The first work of the streams is in their order: 0 is the default stream, 1 main, 2 streams[0]."""
    streams_of_products = lesson.product_streams(5, 3)
    names = ["the default stream", "main", *(f"streams[{number}]" for number in range(3))]
    expected = [2, 3, 4, 2, 3]
    assert len(streams_of_products) == 5, f"5 products, {len(streams_of_products)} launches: what does the loop count?"
    elsewhere = [number for number, stream in enumerate(streams_of_products) if stream != expected[number]]
    first = elsewhere[0] if elsewhere else 0
    said = (f"Product {first} of 5 ran in {names[streams_of_products[first]]}, wanted {names[expected[first]]} of 3. "
            "Which stream does its launch name?")
    assert not elsewhere, said


@pytest.mark.task(4)
@pytest.mark.counters
@pytest.mark.parametrize("last", [0, 1])
def test_a_product_does_not_wait_for_the_other_stream(last):
    """streams[last] uploads for longer, and a product follows in each."""
    uploads, products, _ = lesson.behind_uploads(2**20, last)
    product_begins, other_upload_is_done = round(products[1 - last]), round(uploads[last])
    said = (f"The product in streams[{1 - last}] began at {product_begins} us, not before the upload in "
            f"streams[{last}] was done, at {other_upload_is_done} us. How often, and when, do streams wait for main, "
            "and main for them?")
    assert product_begins < other_upload_is_done, said


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("number, streams", [(2, 2), (5, 2), (2, 3), (7, 4)])
def test_any_number_of_products_in_any_number_of_streams(number, streams, rng):
    a, b = factors(rng, number, 5, 3, 4)
    launches = len(count(lesson.products, a, b, streams).launches)
    assert launches == number, f"{number} products, {streams} streams, {launches} launches: what does the loop count?"
    assert_matches(lesson.products, a, b, streams, oracle=by_numpy, tolerance=accumulated(np.float32, 3))


@pytest.mark.task(4)
@pytest.mark.counters
def test_each_product_is_one_launch_and_the_host_waits_once(rng):
    a, b = factors(rng, 6, 20, 8, 36)
    counters = count(lesson.products, a, b, 3)
    assert len(counters.launches) == 6
    grids = sorted({launch.grid[:2] for launch in counters.launches})
    asks = ("Which of the two comes first in yours, rows or columns?" if grids == [(2, 3)] else
            "For how many threads of which axis does blocks_for count?")
    said = (f"out has 20 rows and 36 columns, a block TILE = 16 of each, and the kernel counts columns first: 3 x 2 "
            f"blocks. Yours: {' and '.join(f'{x} x {y}' for x, y in grids)}. {asks}")
    assert grids == [(3, 2)], said
    waits = counters.transfers.synchronizations
    said = f"The host waited {waits} times, and Products.run itself asks for 1. What in multiply_all makes it wait?"
    assert waits == 1, said


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("m, n", [(1, 1), (15, 17), (33, 16), (16, 33)])
def test_products_of_more_than_one_block(m, n, rng):
    a, b = factors(rng, 2, m, 7, n)
    assert_matches(lesson.products, a, b, 2, oracle=by_numpy, tolerance=accumulated(np.float32, 7))


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
