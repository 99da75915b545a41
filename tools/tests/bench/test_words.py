"""Figures in plain words: each sentence follows from its value. The figures of a real report speak for themselves."""

import json

import pytest

from tools import ROOT
from tools.bench import words
from tools.bench.words import Kernel
from tools.check import count
from tools.sim.counters import Counters, Counts, Warps

REPORT = json.loads((ROOT / "week1/day5/report_h200.json").read_text(encoding="utf-8"))
REPORTED = dict(zip(("SM", "L1", "L2", "DRAM"), words.UNITS.values()))
MEASURED = {
    words.TIME: REPORT["seconds"] * 1e9,
    **{REPORTED[unit]: percent for unit, percent in REPORT["percent_of_peak"].items()},
    **{words.STALL.format(reason): value for reason, value in REPORT["stalls"].items()},
}


def test_a_real_report_of_a_naive_matmul_reads_as_what_it_is():
    assert words.of_kernel(REPORT["kernel"], MEASURED) == [
        "matmul_kernel, 496 ms:",
        "Limited by the L2 cache: 94.9% of its peak; device memory: 11.5%.",
        "Top stall: long_scoreboard, 52% of all waiting: for data from global or local memory.",
    ]


def test_every_stall_of_a_real_report_has_words():
    assert set(REPORT["stalls"]) <= set(words.STALLS)


@pytest.mark.parametrize(
    ("dram", "sm", "says"),
    [
        (91.0, 20.0, "Limited by device memory: 91.0% of its peak."),
        (60.0, 20.0, "Limited by device memory: 60.0% of its peak."),
        (59.9, 20.0, "No unit reaches 60% of its peak; the busiest is device memory: 59.9%. It waits."),
        (
            12.0,
            80.0,
            "Limited by the SMs, arithmetic and the issue of instructions: 80.0% of its peak; device memory: 12.0%.",
        ),
        (
            3.0,
            6.0,
            "No unit reaches 60% of its peak; the busiest is the SMs, arithmetic and the issue of instructions: "
            "6.0%; device memory: 3.0%. It waits.",
        ),
    ],
)
def test_the_busiest_unit_decides_the_sentence(dram, sm, says):
    assert words.limit({REPORTED["DRAM"]: dram, REPORTED["SM"]: sm}) == says


@pytest.mark.parametrize(("percent", "few"), [(100.0, False), (25.0, False), (24.0, True)])
def test_few_warps_are_called_few(percent, few):
    assert words.occupancy(percent).startswith(f"Occupancy reached: {percent:.0f}% of the warps")
    assert ("few" in words.occupancy(percent)) == few


def test_what_was_not_measured_is_not_told():
    assert words.of_kernel("f", {words.TIME: None, words.OCCUPANCY: None}) == ["f:"]


# Shares of time -----------------------------------------------------------------------------------


def test_kernels_are_ranked_by_their_share_and_the_rest_is_summed():
    kernels = [Kernel(name, 1, ns) for name, ns in (("a", 100), ("b", 600), ("c", 200), ("d", 60), ("e", 40))]
    assert words.time_shares(kernels) == [
        "60% of the GPU's time: b, 600 ns in 1 launch",
        "20% of the GPU's time: c, 200 ns in 1 launch",
        "10% of the GPU's time: a, 100 ns in 1 launch",
        "10%: 2 more",
    ]


def test_several_launches_are_several():
    assert words.time_shares([Kernel("a", 3, 3e6)]) == ["100% of the GPU's time: a, 3 ms in 3 launches"]


def test_no_kernel_is_said():
    assert words.time_shares([]) == ["It saw no kernel."]


def test_cpu_functions_have_their_share_and_small_ones_are_left_out():
    found = {"seconds": 2.0, "functions": [["f, line 3 of a.py", 1, 1.5], ["g", 7, 0.49], ["h", 1, 0.01]]}
    assert words.cpu_shares(found) == ["75% of 2 s: f, line 3 of a.py, 1 call", "24% of 2 s: g, 7 calls"]


# Simulated ----------------------------------------------------------------------------------------


def launched(asked, sectors, **of_warps):
    plain = Counters().to_plain()
    warps = vars(Warps(**of_warps)) if of_warps else None
    counts = vars(Counts(bytes_loaded=asked, sectors=sectors)) | {"warps": warps}
    return Counters.from_plain(plain | {"launches": (("k", (1,), counts, (), ()),)})


def test_half_wanted_sectors_are_half_wanted():
    assert words.counted(launched(1600, 100)) == [
        "k asks for 100% of 1,600 bytes.",
        "Of the 3,200 bytes in its sectors 1,600 are asked for, which is 50%.",
    ]


def test_lanes_that_share_a_sector_are_not_called_more_than_all():
    assert "Lanes share what sectors bring: 6,400 bytes are asked for, 3,200 cross in sectors." in words.counted(
        launched(6400, 100)
    )


def test_warps_tell_their_sectors_lanes_and_conflicts():
    lines = words.counted(launched(3200, 100, requests=25, instructions=10, lanes=160, wavefronts=8, conflicts=4))
    assert lines[2:] == [
        "4.0 sectors for each request of a warp; 16.0 of 32 lanes at work in an average statement.",
        "Shared memory: 4 of 8 wavefronts are bank conflicts.",
    ]


def test_a_call_of_a_library_names_it():
    import torch

    def add(x):
        return torch.add(x, x)

    import tools.gpu

    if tools.gpu.card():
        pytest.skip("needs a run without a GPU: there count asks a lesson's process, and this function has none")
    assert words.counted(count(add, torch.ones(3))) == ["Done by libraries, not counted: torch.add."]
