"""The lesson again, as checks: the same lines on the GPU, three launches for ten, what crosses, a darker photo."""

from pathlib import Path

import numpy as np
import pytest

from tools.check import assert_matches, count, speed_ratio
from tools.check.tolerances import accumulated
from tools.gpu import cupy
from week1.katas.preprocessing import preprocessing as lesson

PHOTO = str(Path(__file__).with_name("photo.ppm"))
BOTH = pytest.mark.parametrize("name", ["preprocess_on_gpu", "preprocess_fused"])


def fed(images, size, gamma=2.2):
    """What a network is fed, image by image in float64."""
    planes = np.empty((len(images), 3, size, size))
    for image, made in zip(images, planes):
        top, left = (image.shape[0] - size) // 2, (image.shape[1] - size) // 2
        light = (image[top:top + size, left:left + size] / 255) ** gamma
        spread = max(light.std(), 1e-4)
        made[...] = np.moveaxis((light - light.mean()) / spread, 2, 0)
    return planes


def images_of(rng, n, height, width):
    """Images that differ in exposure and in their colours."""
    brightest = rng.integers(40, 256, (n, 1, 1, 3))
    return (rng.uniform(0, 1, (n, height, width, 3)) * brightest).astype(np.uint8)


def lesson_image():
    grey = [100, 100, 100]
    return np.array([[[grey, [255, 0, 0], [0, 255, 0], grey], [grey, [0, 0, 255], [255, 255, 255], grey]]], np.uint8)


def lesson_planes(images, size):
    return np.array([[[[1, -1], [-1, 1]], [[-1, 1], [-1, 1]], [[-1, -1], [1, 1]]]], np.float64)


def close(size):
    """For sums over an image. Its bytes are whole numbers, which every format of lower precision holds as well."""
    return accumulated(np.float32, 3 * size * size).blind_to("tf32 round trip", "bfloat16 round trip")


def pixels(*images):
    """Images of one pixel each, given by its three bytes."""
    return np.array([[[image]] for image in images], np.uint8)


SMALL = {  # images, size, gamma
    "the_colours_of_an_image_share_a_mean_and_a_spread": (
        np.array([[[[200, 0, 40], [100, 50, 0]], [[150, 20, 10], [255, 0, 0]]]], np.uint8), 2, 1.0),
    "each_image_has_its_own_mean_and_spread": (pixels([20, 0, 0], [255, 128, 128]), 1, 1.0),
    "light_is_a_byte_over_255_to_the_power_gamma": (pixels([0, 128, 255]), 1, 2.0),
}


# Task 1: the same lines, on the GPU ---------------------------------------------------------------

@pytest.mark.task(1)
def test_makes_the_planes_of_the_lesson():
    assert_matches(lesson.preprocess_on_gpu, lesson_image(), 2, oracle=lesson_planes, tolerance=close(2))


@pytest.mark.task(1)
@pytest.mark.parametrize("rule", SMALL)
def test_small_images_show_that(rule):
    images, size, gamma = SMALL[rule]
    assert_matches(lesson.preprocess_on_gpu, images, size, gamma, oracle=fed, tolerance=close(size))


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("n, height, width, size", [(1, 1, 2, 1), (2, 5, 8, 5), (3, 9, 7, 4), (4, 33, 40, 32)])
def test_crops_the_middle_of_any_number_of_images(n, height, width, size, rng):
    assert_matches(lesson.preprocess_on_gpu, images_of(rng, n, height, width), size, oracle=fed, tolerance=close(size))


@pytest.mark.task(1)
@pytest.mark.parametrize("gamma", [1.0, 1.8, 2.4])
def test_takes_any_gamma(gamma, rng):
    assert_matches(lesson.preprocess_on_gpu, images_of(rng, 2, 20, 30), 16, gamma, oracle=fed, tolerance=close(16))


@pytest.mark.task(1)
@pytest.mark.counters
def test_bytes_go_up_and_floats_come_down(rng):
    """The crop has 3 * 2 * 16 * 16 bytes, whatever lies around it."""
    counters = count(lesson.preprocess_on_gpu, images_of(rng, 2, 40, 50), 16)
    assert (counters.transfers.uploads, counters.transfers.bytes_uploaded) == (1, 1536)
    assert (counters.transfers.downloads, counters.transfers.bytes_downloaded) == (1, 4 * 1536)
    assert counters.transfers.synchronizations == 1


@pytest.mark.task(1)
@pytest.mark.counters
def test_no_operation_on_the_gpu_is_in_float64(rng):
    """Ten operations move about 65 bytes for each byte of the crop. Which line would make it twice as many?"""
    counters = count(lesson.preprocess_on_gpu, images_of(rng, 2, 40, 50), 16)
    assert (counters.float64, counters.library_float64) == (0, [])
    bytes_for_each = counters.bytes / 1536
    assert 40 <= bytes_for_each <= 80


# Task 2: three launches ---------------------------------------------------------------------------

@pytest.mark.task(2)
def test_the_planes_of_the_lesson_in_three_launches():
    assert_matches(lesson.preprocess_fused, lesson_image(), 2, oracle=lesson_planes, tolerance=close(2))


@pytest.mark.task(2)
@pytest.mark.parametrize("rule", SMALL)
def test_small_images_show_of_the_kernels_that(rule):
    images, size, gamma = SMALL[rule]
    assert_matches(lesson.preprocess_fused, images, size, gamma, oracle=fed, tolerance=close(size))


@pytest.mark.task(2)
def test_what_was_made_on_the_gpu_stays_there():
    def planes_there(images, size):
        return cupy.asarray(lesson_planes(images, size))

    assert_matches(lesson.preprocess_to_gpu, lesson_image(), 2, oracle=planes_there, tolerance=close(2))


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n, height, width, size", [(1, 1, 2, 1), (2, 5, 8, 5), (3, 9, 7, 4), (4, 33, 40, 32)])
def test_fused_takes_any_number_of_images(n, height, width, size, rng):
    assert_matches(lesson.preprocess_fused, images_of(rng, n, height, width), size, oracle=fed, tolerance=close(size))


@pytest.mark.task(2)
@pytest.mark.parametrize("gamma", [1.0, 1.8, 2.4])
def test_fused_takes_any_gamma(gamma, rng):
    assert_matches(lesson.preprocess_fused, images_of(rng, 2, 20, 30), 16, gamma, oracle=fed, tolerance=close(16))


@pytest.mark.task(2)
@pytest.mark.counters
def test_three_launches_between_one_upload_and_one_download(rng):
    counters = count(lesson.preprocess_fused, images_of(rng, 2, 40, 50), 16)
    assert counters.library_operations == []
    assert len(counters.launches) == 3
    assert (counters.transfers.uploads, counters.transfers.bytes_uploaded) == (1, 1536)
    assert (counters.transfers.downloads, counters.transfers.bytes_downloaded) == (1, 6144)


@pytest.mark.task(2)
@pytest.mark.counters
def test_no_line_of_c_computes_in_float64(rng):
    counters = count(lesson.preprocess_fused, images_of(rng, 2, 40, 50), 16)
    assert counters.float64 == 0


@pytest.mark.task(2)
@pytest.mark.counters
def test_three_kernels_move_less_than_a_third_of_what_ten_did(rng):
    """The bytes of the crop three times, the planes once, and for each of them a mean, or a mean and a spread."""
    counters = count(lesson.preprocess_fused, images_of(rng, 2, 40, 50), 16)
    bytes_for_each = counters.bytes / 1536
    assert 7 <= bytes_for_each <= 20  # the crop three times and the planes once are 7 already


@pytest.mark.task(1, 2)
@pytest.mark.edge
@BOTH
def test_an_image_of_one_colour_becomes_zeros(name):
    colours = 0, 100, 255
    images = np.stack([np.full((6, 6, 3), colour, np.uint8) for colour in colours])
    largest = np.abs(getattr(lesson, name)(images, 4)).max(axis=(1, 2, 3))
    far_from_zero = [colour for colour, each in zip(colours, largest.tolist()) if not each < 1e-3]
    assert far_from_zero == []


@pytest.mark.task(1, 2)
@pytest.mark.edge
@BOTH
def test_noise_in_the_dark_is_not_blown_up(name, rng):
    """Bytes 0 and 1 are light 0 and 0.000005. Divided by its own spread that would look like a picture."""
    dark = rng.integers(0, 2, (2, 16, 16, 3), dtype=np.uint8)
    assert_matches(getattr(lesson, name), dark, 16, oracle=fed, tolerance=close(16))


@pytest.mark.task(1, 2)
@pytest.mark.tolerance
@BOTH
def test_a_wall_that_is_almost_of_one_colour_keeps_its_pattern(name, rng):
    """Bytes 254 and 255: the spread is a half percent of the mean, and its square 4 digits below the mean's."""
    wall = rng.integers(254, 256, (2, 32, 32, 3), dtype=np.uint8)
    found = getattr(lesson, name)(wall, 32)
    largest_error = float(np.abs(found - fed(wall, 32)).max())
    assert largest_error < 5e-4


@pytest.mark.task(2)
@pytest.mark.gpu
@pytest.mark.speed
def test_a_network_on_the_gpu_is_fed_ten_times_as_fast_as_by_numpy(rng):
    """128 images, the upload included."""
    images = images_of(rng, 128, 256, 256)
    light = np.float32(255)

    def by_numpy(images, size):
        top, left = (images.shape[1] - size) // 2, (images.shape[2] - size) // 2
        apart = (images[:, top:top + size, left:left + size] / light) ** np.float32(2.2)
        apart -= apart.mean(axis=(1, 2, 3), keepdims=True)
        spread = np.sqrt((apart * apart).mean(axis=(1, 2, 3), keepdims=True))
        return np.ascontiguousarray((apart / np.maximum(spread, np.float32(1e-4))).transpose(0, 3, 1, 2))

    assert speed_ratio(lesson.preprocess_to_gpu, by_numpy, images, 224) >= 10


# Task 3: predict, then measure --------------------------------------------------------------------

@pytest.mark.task(2, 3)
@pytest.mark.counters
@pytest.mark.parametrize("n, size", [(1, 2), (3, 20)])
def test_predicts_the_bytes_that_cross(n, size, rng):
    def crossed(n, size):
        transfers = count(lesson.preprocess_fused, images_of(rng, n, 30, 40), size).transfers
        return transfers.bytes_uploaded, transfers.bytes_downloaded

    assert_matches(lesson.predict_crossing, n, size, oracle=crossed)


@pytest.mark.task(3)
def test_no_gpu_makes_a_link_faster_than_it_is():
    """100 x 100 pixels: 30 kB up and 120 kB down. 15 GB/s carry that a hundred thousand times a second."""
    def carried(size, gb_per_s):
        return gb_per_s * 1e9 / (15 * size**2)

    assert carried(100, 15.0) == 1e5
    assert_matches(lesson.most_images_per_second, 100, 15.0, oracle=carried)


# What it is for: a photo ----------------------------------------------------------------------------

@pytest.mark.task(1, 2)
@BOTH
def test_a_photo_in_half_the_light_looks_the_same_to_a_network(name):
    """As it was taken, in half the light, and turned around: its bytes differ, what a network is fed does not."""
    photo = lesson.load(PHOTO)
    half = (((photo / 255.0) ** 2.2 / 2) ** (1 / 2.2) * 255).round().astype(np.uint8)
    bright, dark, turned = getattr(lesson, name)(np.stack([photo, half, photo[::-1, ::-1]]), 48)
    assert np.abs(photo.astype(int) - half).max() > 60
    assert np.abs(bright - dark).max() < 0.1
    assert np.allclose(bright, turned[:, ::-1, ::-1], atol=1e-5)
