"""Week 2, day 1: profiling

Challenge
    Seventeen kernels ran on an H200 under a profiler; each report has 43 figures. First compute what they stand for,
    tasks 1 to 3. In a second sitting write the rules that name what holds a kernel back; try them on unseen reports.

        kernel    percent of peak        sectors    wavefronts  places  theoretical  top stall
                  SM   L1   L2   DRAM    a request  an instr.   filled  occupancy
        copy      33   19   66   56       4          -          100 %   100 %        long_scoreboard
        strided    7   24   93   79      18          -           97 %   100 %        long_scoreboard
        turned    32   98    0    0       4         32           97 %   100 %        mio_throttle
        roomy     10    5   15   11       4          1          100 %    16 %        long_scoreboard
        tail      62    0    0    0       4          -           50 %   100 %        math_pipe_throttle
        chase     50    8   46   26       1          -          100 %   100 %        long_scoreboard
        horner    88    2    6    5       4          -          100 %   100 %        math_pipe_throttle

Explore
    ./course python -m json.tool week2/day1/reports_h200.json    Which figures of copy and strided differ most?
    ./course week2/day1/explore_roofline.py    From which intensity on does more bandwidth no longer help?

Concept
    Achieved: a multiply-add is 2 flops. GB/s: 1e9 bytes a second; TFLOPS: 1e12 flops.
    Footprint: PyTorch gives each array a multiple of 512 bytes; 3 floats take 512, an empty array none.
    Peak: memory sends 2 bits on each wire of its bus in each clock; 8 bits are a byte. 1 MHz: 1e6 clocks a second.
    Roofline: at an intensity of i flops a byte, memory feeds i * bandwidth flops a second; arithmetic does no more
    than its peak. The lower one is the roof. They meet at the *ridge*; from there on "compute" is the bound.
    Occupancy: the share of its 64 warps that an SM holds, in whole blocks, which you count. Four things run out:
        "warps"          64; a block of 100 threads has 4, the last one part full;    then "blocks"   32
        "registers"      16384 in a quarter of an SM. A warp takes 32 times those of a thread, rounded up to a multiple
                         of 256, from one quarter: 12 warps of 1280 fit in each, 48 in all. A block may lie in several
        "shared memory"  233472 bytes; a block takes its own and 1024, together rounded up to a multiple of 128
    Places: 132 SMs times the blocks that fit on each. A grid runs in *waves* of so many blocks. tail has 265 blocks
    for 264 places: the second wave is one block, and half of the places of both waves stay empty.
    Stalls: warps that wait, by reason; see week 1, day 5. Also barrier: for other warps, math_pipe_throttle: for
    arithmetic. not_selected is no stall: such a warp could go on, and another one did.
    Diagnosis: the first rule that fits. The limits are chosen to tell these reports apart.
        1 "grid"        the grid fills less than 60 % of the places of its waves
        2 "sectors"     more than 8 sectors a request, loads and stores together; 32 neighbouring floats need 4
        3 "conflicts"   more than 2 wavefronts (week 1 day 7) an instruction on shared memory, loads and stores together
        4 "divergence"  less than 16 of 32 lanes take part in an instruction, on average
        5 "compute"     the unit nearest to its peak is at 60 % or more, and is the SM
        6 "memory"      the same, and it is L1, L2 or DRAM
        7 "occupancy"   the theoretical occupancy, the share of 64 warps that have room, is below 50 %
        8 "latency"     none of these: too little is under way at a time
    Timeline: spans of uploads, kernels, downloads. In one *stream*, a queue of work, they take turns; from several
    queues a copy and a kernel can overlap: run at once. Where nothing runs, the GPU waits for the next launch.

Code it
    Task 1  memory_footprint, achieved_bandwidth, achieved_tflops: what was done    (four lines)
    Task 2  peak_bandwidth, peak_tflops, roofline_bound: what could be done         (four lines)
    Task 3  occupancy: blocks on an SM, and what keeps more out                      (ten lines)
    Task 4  filled_share, top_stall, diagnose: from figures to a name             (thirty lines)
    Task 5  overlap_us, idle_us, timeline_bound: what ran at the same time         (eight lines)
    Task 6  bias_kernel: its report says "sectors"; repair it. Its launch is right   (two lines)

Verify
    pytest week2/day1                  then: ./course quiz week2/day1
    Reflect: the JSON's column and strided share a diagnosis. Which figures tell that only strided waits for DRAM?

Simulated without a GPU: results, sectors and requests are exact, the reports are real. Time is not simulated.
"""

import itertools
import math
from collections.abc import Iterator

import tools.gpu  # a real GPU or a simulated one; before cuda

import torch
from tools.gpu import cuda

WARP = 32               # threads
SMS = 132               # of an H100 or H200
WARPS, BLOCKS = 64, 32  # that an SM holds at most
REGISTERS = 16384       # in each quarter of an SM
SHARED = 233472         # bytes of shared memory of an SM
RESERVED = 1024         # of them for the system, for each block
BLOCK = 256             # threads of a block of bias_kernel


def up(value: int, unit: int) -> int:
    """value, rounded up to a multiple of unit."""
    return -(-value // unit) * unit


# Task 1
def memory_footprint(shapes: list[tuple[int, ...]], itemsize: int) -> int:
    """Bytes of GPU memory that arrays of these shapes take in PyTorch. itemsize: bytes of an element.

    math.prod multiplies the numbers of a shape.
    """
    return sum(up(math.prod(shape) * itemsize, 512) for shape in shapes)


def achieved_bandwidth(report: dict) -> float:
    """GB/s between DRAM and the chip: "dram_bytes_read" and "dram_bytes_written" over "seconds"."""
    return (report["dram_bytes_read"] + report["dram_bytes_written"]) / report["seconds"] / 1e9


def achieved_tflops(report: dict) -> float:
    """TFLOPS in float32: "fp32_add", "fp32_multiply" and "fp32_multiply_add" are how often threads did these."""
    flops = report["fp32_add"] + report["fp32_multiply"] + 2 * report["fp32_multiply_add"]
    return flops / report["seconds"] / 1e12


# Task 2
def peak_bandwidth(bus_bits: int, memory_mhz: float) -> float:
    """GB/s of a memory with so many wires and this clock."""
    return 2 * bus_bits / 8 * memory_mhz * 1e6 / 1e9


def peak_tflops(sms: int, multiply_adds: int, mhz: float) -> float:
    """TFLOPS of so many SMs that do so many multiply-adds each in a clock."""
    return 2 * sms * multiply_adds * mhz * 1e6 / 1e12


def roofline_bound(intensity: float, bandwidth: float, tflops: float) -> tuple[str, float]:
    """"memory" or "compute", and the TFLOPS that the roof allows.

    intensity: flops for each byte. bandwidth, tflops: the peaks, in GB/s and in TFLOPS.
    """
    fed = intensity * bandwidth / 1000
    return ("memory", fed) if fed < tflops else ("compute", tflops)


# Task 3
def occupancy(threads: int, registers: int, shared: int) -> tuple[int, str]:
    """How many blocks an SM holds at a time, and what keeps more out: of several, the first in the lesson's order.

    threads: of a block, 1 to 1024. registers: of a thread, 1 to 255. shared: bytes of a block, 0 to 232448.
    """
    warps = up(threads, WARP) // WARP
    warps_of_quarter = REGISTERS // up(registers * WARP, 256)
    fit = {
        "warps": WARPS // warps,
        "blocks": BLOCKS,
        "registers": 4 * warps_of_quarter // warps,
        "shared memory": SHARED // up(shared + RESERVED, 128),
    }
    limiter = min(fit, key=fit.get)
    return fit[limiter], limiter


# Task 4
def filled_share(report: dict) -> float:
    """Blocks of the grid as a share of the places of its waves, from 0 to 1.

    "grid": blocks along x, y and z, at least one. "block": threads; "registers": of a thread; "shared_bytes".
    Not by "waves", which the profiler rounds: for the 265 blocks of tail it says 1.
    """
    per_sm, _ = occupancy(report["block"], report["registers"], report["shared_bytes"])
    blocks = math.prod(report["grid"])
    return blocks / up(blocks, SMS * per_sm)


def top_stall(report: dict) -> str:
    """The entry of report["stalls"] with the highest value; not_selected is no stall."""
    stalls = report["stalls"]
    return max((reason for reason in stalls if reason != "not_selected"), key=stalls.get)


def diagnose(report: dict) -> tuple[str, str]:
    """The name of the first rule of the lesson that fits, and the top stall.

    Rule 2 compares "load_sectors" + "store_sectors" with "load_requests" + "store_requests"; rule 3
    "shared_wavefronts_load" and "..._store" with "shared_instructions_load" and "..._store", likewise added up.
    A kernel may have no requests, or no instructions on shared memory. Rule 4: "lanes_per_instruction".
    Rules 5 and 6: "percent_of_peak". Rule 7: "theoretical_occupancy_percent".
    """
    sectors = report["load_sectors"] + report["store_sectors"]
    requests = report["load_requests"] + report["store_requests"]
    wavefronts = report["shared_wavefronts_load"] + report["shared_wavefronts_store"]
    instructions = report["shared_instructions_load"] + report["shared_instructions_store"]
    percent = report["percent_of_peak"]
    unit = max(percent, key=percent.get)
    if filled_share(report) < 0.6:
        name = "grid"
    elif sectors > 8 * requests:
        name = "sectors"
    elif wavefronts > 2 * instructions:
        name = "conflicts"
    elif report["lanes_per_instruction"] < 16:
        name = "divergence"
    elif percent[unit] >= 60:
        name = "compute" if unit == "SM" else "memory"
    elif report["theoretical_occupancy_percent"] < 50:
        name = "occupancy"
    else:
        name = "latency"
    return name, top_stall(report)


# Task 5
def pieces(spans: list[dict]) -> Iterator[tuple[float, set[str]]]:
    """Given: the time from the first start to the last end, cut wherever a span starts or ends.

    For each piece its microseconds, and what runs in it: none, one or several of "upload", "kernel" and "download".
    span: "what", "start_us", "end_us".
    """
    times = sorted({span[key] for span in spans for key in ("start_us", "end_us")})
    for start, end in itertools.pairwise(times):
        yield end - start, {span["what"] for span in spans if span["start_us"] <= start and end <= span["end_us"]}


def overlap_us(spans: list[dict]) -> float:
    """Microseconds in which a kernel and a copy, up or down, run at the same time."""
    return sum(us for us, running in pieces(spans) if "kernel" in running and len(running) > 1)


def idle_us(spans: list[dict]) -> float:
    """Microseconds between the first start and the last end in which nothing runs."""
    return sum(us for us, running in pieces(spans) if not running)


def timeline_bound(spans: list[dict]) -> str:
    """"idle" if nothing runs in more than half of the time; else "transfers" or "kernels", which runs for longer.

    Two copies at the same time count once; so do two kernels. Equally long: "kernels".
    """
    whole = sum(us for us, running in pieces(spans))
    copies = sum(us for us, running in pieces(spans) if running & {"upload", "download"})
    kernels = sum(us for us, running in pieces(spans) if "kernel" in running)
    if idle_us(spans) > whole / 2:
        return "idle"
    return "transfers" if copies > kernels else "kernels"


# Task 6
@cuda.jit
def bias_kernel(x, bias, out):
    """An element of out for each thread."""
    i = cuda.grid(1)
    row, col = i // x.shape[1], i % x.shape[1]
    if row < x.shape[0]:
        out[row, col] = x[row, col] + bias[col]


def add_bias(x: torch.Tensor, bias: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """x plus a bias for each column, by bias_kernel.

    x: (m, n), bias: (n,), float32, contiguous. out: (m, n), allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    if out.numel():
        bias_kernel[up(out.numel(), BLOCK) // BLOCK, BLOCK](x, bias, out)
    return out
