"""The lesson again, as checks: what copies cost, many joined in one, three kinds of memory, both directions at once."""

import numpy as np
import pytest

from tools.check import assert_matches, count, notes, terms
from tools.gpu import device
from week1.katas.transfers import transfers as lesson

SIMULATED = device == "cpu"
pytestmark = pytest.mark.filterwarnings("ignore:Grid size", "ignore:Host array used in CUDA kernel")


def always(value):
    """An oracle for one call, whose right answer is known."""
    return lambda *args: value


def inverted(pixels, rounds):
    return pixels ^ np.uint8(255 * (rounds % 2))


def photograph(rng, rows, cols):
    """Grey levels of a bright disc in the dark, with noise."""
    row, col = np.mgrid[:rows, :cols]
    image = 40 + 150 * (np.hypot(row - rows / 2, col - cols / 2) < cols / 3) + rng.normal(0, 8, (rows, cols))
    return image.clip(0, 255).astype(np.uint8)


def shortest(function, *args):
    """Milliseconds by the lesson's clock; on a GPU the best of five, and after a call that compiles."""
    if not SIMULATED:
        function(*args)
    return min(lesson.milliseconds(function, *args) for _ in range(1 if SIMULATED else 5))


# Task 1: what a copy costs ------------------------------------------------------------------------

@pytest.mark.task(1)
def test_two_megabytes_in_four_copies():
    """At 10 GB/s they take 0.2 ms, and four times 25 us besides."""
    def in_turn(nbytes, copies, gb_per_s, overhead_us):
        return terms(bytes=nbytes / gb_per_s / 1e6, overhead=copies * overhead_us / 1e3)

    assert in_turn(2_000_000, 4, 10.0, 25.0).total == pytest.approx(0.3)
    assert_matches(lesson.predict_milliseconds, 2_000_000, 4, 10.0, 25.0, oracle=in_turn)


@pytest.mark.task(1)
@pytest.mark.edge
def test_predicts_copies_of_nothing_and_copies_that_cost_nothing():
    assert_matches(lesson.predict_milliseconds, 0, 3, 10.0, 25.0, oracle=always(0.075))
    assert_matches(lesson.predict_milliseconds, 64_000_000, 1000, 64.0, 0.0, oracle=always(1.0))


@pytest.mark.task(1)
def test_at_half_speed_a_copy_costs_what_it_carries():
    """25 us are 250 KB at 10 GB/s: most arrays are smaller, and most copies wait more than they carry."""
    for gb_per_s, overhead_us, size in [(10.0, 25.0, 250_000.0), (50.0, 10.0, 500_000.0)]:
        assert_matches(lesson.half_speed_size, gb_per_s, overhead_us, oracle=always(size))


@pytest.mark.task(1)
def test_the_clock_runs_while_two_hundred_kernels_are_launched():
    """Each keeps the host for some microseconds, although it has next to nothing to do."""
    ms_of_200_launches, ms_of_one = round(shortest(lesson.launch, 200), 3), shortest(lesson.launch, 1)
    notes.taken.append(f"{1e3 * ms_of_200_launches / 200:.1f} us a launch")
    assert 0.2 < ms_of_200_launches < 200
    assert ms_of_one < ms_of_200_launches / 10


@pytest.mark.task(1)
def test_the_clock_waits_for_a_copy_that_the_host_does_not_wait_for():
    """And so can tell that the GPU fetches pinned memory faster than the driver hands it pageable memory."""
    pinned, pageable = shortest(lesson.upload_pinned, 2**24), shortest(lesson.upload, 2**24, 1)
    times_as_fast = round(pageable / pinned, 1)
    notes.taken.append(f"{times_as_fast} times as fast")
    assert times_as_fast >= 1.5


@pytest.mark.task(1)
def test_predicts_what_the_clock_then_shows():
    """From the smallest and the largest copy: what 64 in between will take. The simulator is as simple as this model;
    on a GPU, where the 64 find their bytes in the host's caches, it is right within a factor of three."""
    overhead_us, large = 1e3 * shortest(lesson.upload, 1, 1), shortest(lesson.upload, 2**24, 1)
    gb_per_s = 2**24 / 1e6 / (large - overhead_us / 1e3)
    predicted = lesson.predict_milliseconds(2**22, 64, gb_per_s, overhead_us)
    measured = shortest(lesson.upload, 2**22, 64)
    notes.taken.append(f"{overhead_us:.0f} us a copy, {gb_per_s:.1f} GB/s")
    # The simulator: one who waits for the GPU before the last event reads a tenth more. An H200: 2.02 was seen.
    within = 1.25 if SIMULATED else 3
    assert measured / within < predicted < within * measured


# Task 2: one copy for many ------------------------------------------------------------------------

@pytest.mark.task(2)
def test_inverts_three_pictures_of_different_shapes():
    pictures = [np.array([[0, 255], [1, 100]], np.uint8), np.array([7], np.uint8), np.array([[10, 20, 30]], np.uint8)]
    assert_matches(lesson.invert_all, pictures, oracle=lambda pictures: [255 - picture for picture in pictures])


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("shapes", [[(1, 1)], [(0, 5), (3, 2)], [(16, 16), (0,), (257,)], [(1000,)] * 3], ids=str)
def test_inverts_any_number_of_pictures_of_any_size(shapes, rng):
    pictures = [rng.integers(0, 256, shape, np.uint8) for shape in shapes]
    assert_matches(lesson.invert_all, pictures, oracle=lambda pictures: [255 - picture for picture in pictures])


@pytest.mark.task(2)
@pytest.mark.counters
def test_all_pictures_cross_together_and_no_byte_twice(rng):
    pictures = [photograph(rng, 12, 16) for _ in range(20)]
    counters = count(lesson.invert_all, pictures)
    moved = counters.transfers
    assert (moved.uploads, moved.downloads, len(counters.launches)) == (1, 1, 1)
    assert (moved.bytes_uploaded, moved.bytes_downloaded) == (20 * 192, 20 * 192)
    assert (counters.programs, counters.requests) == (15, 2 * 3840 / 32)  # full warps load once and store once


@pytest.mark.task(1, 2)
@pytest.mark.speed
def test_together_they_take_a_fifth_of_the_time(rng):
    pictures = [photograph(rng, 32, 48) for _ in range(32)]
    times_as_fast = round(shortest(lesson.one_by_one, pictures) / shortest(lesson.invert_all, pictures), 1)
    notes.taken.append(f"{times_as_fast} times as fast")
    assert times_as_fast >= 5


# Task 3: three kinds of memory --------------------------------------------------------------------

KINDS = {"pinned": lesson.invert_pinned, "mapped": lesson.invert_mapped, "managed": lesson.invert_managed}


@pytest.mark.task(3)
@pytest.mark.parametrize("memory", KINDS)
def test_inverts_four_pixels(memory):
    assert_matches(KINDS[memory], np.array([0, 1, 128, 255], np.uint8), 1, oracle=inverted)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("memory", KINDS)
@pytest.mark.parametrize("n, rounds", [(1, 2), (255, 3), (257, 1), (1000, 2)])
def test_inverts_any_number_of_pixels_so_many_times(memory, n, rounds, rng):
    assert_matches(KINDS[memory], rng.integers(0, 256, n, np.uint8), rounds, oracle=inverted)


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("memory, copies", [("pinned", 1), ("mapped", 0), ("managed", 0)])
def test_pinned_memory_is_copied_once_each_way_and_the_others_never(memory, copies, rng):
    counters = count(KINDS[memory], photograph(rng, 20, 30).ravel(), 4)
    assert (counters.transfers.uploads, counters.transfers.downloads) == (copies, copies)
    assert [launch.kernel for launch in counters.launches] == 4 * ["invert_kernel"]
    assert (counters.programs, counters.requests) == (4 * 3, 4 * 2 * 19)  # of 600 pixels, in 19 warps


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("memory", KINDS)
def test_the_host_waits_exactly_once_and_before_it_reads(memory, rng):
    """A copy or a launch that waits would be a second time."""
    counters = count(KINDS[memory], photograph(rng, 20, 30).ravel(), 4)
    assert counters.transfers.synchronizations == 1


@pytest.mark.task(1, 3)
@pytest.mark.speed
def test_both_copies_of_pinned_memory_take_less_time_than_one_of_pageable_memory():
    """The copies alone, without a round. On a GPU the time to get pinned memory, some milliseconds, is in it too."""
    pixels = np.zeros(2**22, np.uint8)
    both_pinned, one_pageable = shortest(lesson.invert_pinned, pixels, 0), shortest(lesson.upload, pixels.size, 1)
    notes.taken.append(f"{both_pinned:.2f} ms both, {one_pageable:.2f} ms one")
    assert both_pinned < (1 if SIMULATED else 20) * one_pageable


@pytest.mark.task(1, 3)
def test_mapped_memory_takes_longer_than_managed_where_it_is_used_again():
    """A kernel reaches over the link for the one, each time, and finds the other in the GPU's memory."""
    pixels, rounds = (np.zeros(2**19, np.uint8), 3) if SIMULATED else (np.zeros(2**22, np.uint8), 100)
    mapped, managed = (round(1e3 * shortest(KINDS[memory], pixels, rounds)) for memory in ("mapped", "managed"))
    notes.taken.append(f"{mapped} us mapped, {managed} us managed")
    assert mapped > 1.1 * managed


@pytest.mark.task(3)
def test_mapped_memory_crosses_at_every_use():
    for memory, rounds, crossed in [("pinned", 1, 2000), ("pinned", 5, 2000), ("mapped", 1, 2000),
                                    ("mapped", 5, 10_000), ("managed", 5, 2000)]:
        assert_matches(lesson.bytes_over_link, memory, 1000, rounds, oracle=always(crossed))


# Task 4: both directions at once ------------------------------------------------------------------

def film(rng, frames, rows, cols):
    """A few frames with a scratch that moves."""
    still = photograph(rng, rows, cols)
    moving = np.stack([still] * frames)
    for number, frame in enumerate(moving):
        frame[:, (7 * number) % cols] = 255
    return moving


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("frames", [1, 2, 3, 4, 7])
def test_develops_every_frame_of_a_film_of_any_length(frames, rng):
    assert_matches(lesson.develop, film(rng, frames, 16, 24), oracle=lambda frames: 255 - frames, exact=True)


@pytest.mark.task(4)
@pytest.mark.counters
def test_every_frame_still_crosses_once_each_way_and_gets_one_launch(rng):
    counters = count(lesson.develop, film(rng, 5, 32, 96))
    moved = counters.transfers
    assert (moved.uploads, moved.downloads, len(counters.launches)) == (5, 5, 5)
    assert (moved.bytes_uploaded, moved.bytes_downloaded) == (5 * 3072, 5 * 3072)
    assert (counters.programs, counters.requests) == (5 * 2, 5 * 2 * 12)  # of 384 words, in 12 warps


@pytest.mark.task(4)
@pytest.mark.counters
def test_the_host_does_not_wait_between_frames(rng):
    """To wait for each of three streams at the end is fine, or for all of them at once."""
    counters = count(lesson.develop, film(rng, 12, 16, 24))
    assert 1 <= counters.transfers.synchronizations <= 4


@pytest.mark.task(1, 4)
@pytest.mark.speed
def test_the_pipeline_is_at_least_a_fifth_faster(rng):
    """Up and down take equally long: with many large frames, both at once would halve the time."""
    loaded = lesson.load(film(rng, 2, 2048, 2048) if SIMULATED else film(rng, 20, 4096, 4096))
    times_as_fast = round(shortest(lesson.one_stream, loaded) / shortest(lesson.pipeline, loaded), 2)
    notes.taken.append(f"{times_as_fast} times as fast")
    assert times_as_fast >= 1.2  # the reference: 1.31 on the modelled clock, 1.5 to 1.7 on an H200
