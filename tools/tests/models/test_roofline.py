"""The roofline against figures worked out by hand."""

from itertools import permutations

import pytest

from tools.models.roofline import Ceiling, arithmetic_intensity, attainable, bound, lowest, ridge_point

PEAK, BANDWIDTH = 60e12, 3e12  # flop/s, bytes/s: the ridge is at 20 flop/byte


@pytest.mark.parametrize(
    "intensity, reached, limit",
    [
        (0, 0, "memory"),
        (1 / 12, 0.25e12, "memory"),
        (19, 57e12, "memory"),
        (20, 60e12, "compute"),
        (1000, 60e12, "compute"),
        (float("inf"), 60e12, "compute"),
    ],
)
def test_a_kernel_reaches_what_memory_feeds_up_to_the_peak(intensity, reached, limit):
    assert attainable(intensity, PEAK, BANDWIDTH) == pytest.approx(reached)
    assert bound(intensity, PEAK, BANDWIDTH) == limit


def test_the_ridge_is_where_both_limits_meet():
    assert ridge_point(PEAK, BANDWIDTH) == 20


def test_intensity_is_flop_per_byte():
    assert arithmetic_intensity(2 * 512**3, 3 * 4 * 512**2) == pytest.approx(512 / 6)
    assert arithmetic_intensity(5, 0) == float("inf")


def test_of_several_ceilings_the_slowest_decides_in_whatever_order_they_stand():
    arithmetic, device, cache = Ceiling("fp32", 6e12, 60e12), Ceiling("HBM", 6e11, 3e12), Ceiling("L2", 9e11, 6e12)
    assert [ceiling.seconds for ceiling in (arithmetic, device, cache)] == pytest.approx([0.1, 0.2, 0.15])
    for order in permutations([arithmetic, device, cache]):
        assert lowest(order) is device
    assert lowest([arithmetic, Ceiling("HBM", 1e11, 3e12)]) is arithmetic


def test_a_kernel_without_arithmetic_is_bound_by_memory():
    assert lowest([Ceiling("fp32", 0, PEAK), Ceiling("HBM", 1, BANDWIDTH)]).name == "HBM"
