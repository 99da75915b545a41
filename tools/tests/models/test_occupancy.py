"""Occupancy against figures worked out by hand, the driver's calculator on an H200 and NVIDIA's cuda_occupancy.h."""

import importlib.util
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.models.chips import chip, chips
from tools.models.occupancy import Occupancy, occupancy
from tools.models.warps import warps_in
from tools.tests.models.recorded import rows


def of(name: str, **needs) -> Occupancy:
    return occupancy(chip(name).limits, **needs)


@pytest.mark.parametrize("name, blocks, warps", [("t4", 8, 32), ("a100", 16, 64), ("l4", 12, 48), ("h100", 16, 64)])
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
    assert of("h100", warps=8, registers=255, shared=150_000).limiters == ("registers", "shared memory")


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


@pytest.mark.parametrize(
    "needs",
    [
        {"warps": 33, "registers": 16, "shared": 0},
        {"warps": 1, "registers": 256, "shared": 0},
        {"warps": 17, "registers": 128, "shared": 0},
    ],
)
def test_a_kernel_that_cannot_be_launched_has_no_blocks(needs):
    assert of("h100", **needs).blocks == 0


def test_the_blocks_are_those_that_the_driver_gives_on_an_h200():
    recorded = rows("occupancy_h200.json")
    assert len(recorded) == 200
    for kernel in recorded:
        ours = of(
            "h200",
            warps=warps_in(kernel["threads"]),
            registers=kernel["registers"],
            shared=kernel["static"] + kernel["dynamic"],
        )
        assert ours.blocks == kernel["driver"], kernel


# NVIDIA's own arithmetic, compiled -----------------------------------------------------------------------------

CASES = 3000  # of each capability
ORACLE = r"""
#include <cstdio>
#include <climits>
#include "cuda_occupancy.h"
int main() {
    int capability, warps, registers, shared, optin, reserved, threads, used, fixed, dynamic;
    while (scanf("%d %d %d %d %d %d %d %d %d %d", &capability, &warps, &registers, &shared, &optin, &reserved,
                 &threads, &used, &fixed, &dynamic) == 10) {
        cudaOccDeviceProp card;
        card.computeMajor = capability / 10;
        card.computeMinor = capability % 10;
        card.maxThreadsPerBlock = 1024;
        card.maxThreadsPerMultiprocessor = 32 * warps;
        card.regsPerBlock = card.regsPerMultiprocessor = registers;
        card.warpSize = 32;
        card.sharedMemPerBlock = 49152;
        card.sharedMemPerMultiprocessor = shared;
        card.numSms = 1;
        card.sharedMemPerBlockOptin = optin;
        card.reservedSharedMemPerBlock = reserved;
        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = INT_MAX;
        kernel.numRegs = used;
        kernel.sharedSizeBytes = fixed;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = dynamic;
        cudaOccDeviceState state;
        cudaOccResult result;
        int error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &card, &kernel, &state, threads, dynamic);
        printf("%d\n", error ? -1 : result.activeBlocksPerMultiprocessor);
    }
}
"""


def header() -> Path | None:
    """The folder of cuda_occupancy.h: every CUDA toolkit brings it, and so does Triton."""
    folders = [Path(os.environ["CUDA_HOME"], "include")] if "CUDA_HOME" in os.environ else []
    if triton := importlib.util.find_spec("triton"):
        folders += [Path(place, "backends/nvidia/include") for place in triton.submodule_search_locations]
    folders += [Path("/usr/local/cuda/include")]
    return next((folder for folder in folders if (folder / "cuda_occupancy.h").exists()), None)


@pytest.fixture(scope="module")
def calculator(tmp_path_factory):
    """Blocks of many kernels at once, by NVIDIA's calculator."""
    if not (folder := header()):
        pytest.skip("needs cuda_occupancy.h; neither Triton nor a CUDA toolkit is installed; set CUDA_HOME")
    if not shutil.which("g++"):
        pytest.skip("needs g++; it is not installed; install it with the package manager of your system")
    work = tmp_path_factory.mktemp("oracle")
    (work / "oracle.cpp").write_text(ORACLE)
    subprocess.run(["g++", f"-I{folder}", "oracle.cpp", "-o", "oracle"], cwd=work, check=True)

    def blocks(cases: list[tuple[int, ...]]) -> list[int]:
        lines = "\n".join(" ".join(map(str, case)) for case in cases)
        run = subprocess.run([work / "oracle"], input=lines, cwd=work, capture_output=True, text=True, check=True)
        return [int(line) for line in run.stdout.split()]

    return blocks


@pytest.mark.parametrize("capability", sorted({known.capability for known in chips().values()}))
def test_random_kernels_have_the_occupancy_of_nvidias_calculator(capability, calculator):
    limits = next(known.limits for known in chips().values() if known.capability == capability)
    dice, cases, ours = random.Random(capability), [], []
    for _ in range(CASES):
        threads = dice.choice([dice.randrange(1, 97), dice.randrange(1, 1100)])
        registers = dice.choice([16, dice.randrange(1, 80), dice.randrange(1, 256)])
        most = dice.choice([1, 8192, limits.shared // 3, limits.shared])
        fixed, dynamic = dice.randrange(min(most, 49152)), dice.randrange(most)
        cases.append(
            (
                capability,
                limits.warps,
                limits.registers,
                limits.shared,
                limits.shared_per_block,
                limits.shared_reserved,
                threads,
                registers,
                fixed,
                dynamic,
            )
        )
        ours.append(occupancy(limits, warps_in(threads), registers, fixed + dynamic).blocks)
    expected = calculator(cases)
    if set(expected) == {-1}:
        pytest.skip(
            f"needs a cuda_occupancy.h that knows compute capability {capability / 10}; this one is older; "
            "set CUDA_HOME to a CUDA toolkit of version 13"
        )
    assert [(case, blocks) for case, blocks, found in zip(cases, expected, ours) if blocks != found] == []
    assert {0, 1, limits.blocks} <= set(expected)
