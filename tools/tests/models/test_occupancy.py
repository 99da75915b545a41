"""Occupancy against figures worked out by hand from NVIDIA's tables."""

import pytest

from tools.models.chips import chip, chips
from tools.models.occupancy import Occupancy, occupancy


def of(name: str, **needs) -> Occupancy:
    return occupancy(chip(name).limits, **needs)


@pytest.mark.parametrize("name, blocks, warps", [
    ("t4", 8, 32), ("a100", 16, 64), ("l4", 12, 48), ("h100", 16, 64),
])
def test_a_small_kernel_fills_the_multiprocessor_with_warps(name, blocks, warps):
    assert of(name, warps=4, registers=32, shared=0) == Occupancy(blocks, warps, warps, "warps")


def test_one_warp_blocks_run_out_of_blocks_first():
    assert of("h100", warps=1, registers=24, shared=0) == Occupancy(32, 32, 64, "blocks")
    assert of("rtx3090", warps=1, registers=24, shared=0) == Occupancy(16, 16, 48, "blocks")


def test_registers_are_given_to_warps_in_units_within_a_quarter_of_the_multiprocessor():
    # 65 registers: 2080 for a warp, rounded up to 2304; 7 warps fit in a quarter's 16384, so 28 in all.
    assert of("a100", warps=4, registers=65, shared=0) == Occupancy(7, 28, 64, "registers")
    assert of("h100", warps=4, registers=255, shared=0) == Occupancy(2, 8, 64, "registers")
    assert of("h100", warps=8, registers=255, shared=0) == Occupancy(1, 8, 64, "registers")


def test_shared_memory_includes_what_the_system_reserves():
    # 64 KB + 1 KB a block: three fit into 228 KB, and not three and a half.
    assert of("h100", warps=4, registers=32, shared=65536) == Occupancy(3, 12, 64, "shared memory")
    assert of("t4", warps=4, registers=32, shared=32768) == Occupancy(2, 8, 32, "shared memory")
    assert of("a100", warps=8, registers=32, shared=98304).blocks == 1


def test_a_block_that_asks_for_too_much_shared_memory_does_not_fit_at_all():
    assert of("h100", warps=4, registers=32, shared=232448).blocks == 1
    assert of("h100", warps=4, registers=32, shared=232449) == Occupancy(0, 0, 64, "shared memory")


def test_the_fraction_is_of_the_warps_that_could_be_resident():
    assert of("h100", warps=4, registers=255, shared=0).fraction == 8 / 64


def test_every_figure_names_its_source():
    assert all(known.source and known.limits.source for known in chips().values())


def test_the_course_knows_the_chips_it_speaks_of():
    capabilities = {name: known.capability for name, known in chips().items()}
    assert capabilities == {
        "t4": 75, "a100": 80, "rtx3090": 86, "l4": 89, "rtx4090": 89, "h100": 90, "h200": 90, "b200": 100,
    }


def test_an_unknown_chip_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="no chip is called 'v100'; the table has t4, a100"):
        chip("v100")
