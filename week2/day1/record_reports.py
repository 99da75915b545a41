"""Profile the kernels of reported_kernels.py on this machine's GPU, and write what the tests of today read.

    ./course python -m week2.day1.record_reports FOLDER

reports_h200.json: figures of Nsight Compute for each kernel, and timelines of CUPTI. occupancy_h200.json: how many
blocks fit on a multiprocessor, as the driver says. Each kernel runs in a process of its own, with a time limit.
"""

import ctypes
import itertools
import json
import re
import subprocess
import sys
import tempfile
from datetime import date
from importlib.metadata import version
from pathlib import Path

from tools import gpu
from tools.check.profiler import launches
from week2.day1 import reported_kernels

MODULE, SECONDS = "week2.day1.record_reports", 60  # the most that one report may take
COUNTED = {  # what the report calls it -> what Nsight Compute does
    "registers": "launch__registers_per_thread",
    "block": "launch__block_size",
    "shared_bytes": "launch__shared_mem_per_block_static",
    "waves": "launch__waves_per_multiprocessor",
    "theoretical_occupancy_percent": "sm__maximum_warps_per_active_cycle_pct",
    "achieved_occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "lanes_per_instruction": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "instructions": "smsp__inst_executed.sum",
    "fp32_add": "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "fp32_multiply": "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "fp32_multiply_add": "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "dram_bytes_read": "dram__bytes_read.sum",
    "dram_bytes_written": "dram__bytes_write.sum",
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_instructions_load": "smsp__sass_inst_executed_op_shared_ld.sum",
    "shared_instructions_store": "smsp__sass_inst_executed_op_shared_st.sum",
    "shared_wavefronts_load": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_wavefronts_store": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_conflicts_load": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_conflicts_store": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "l1_hit_percent": "l1tex__t_sector_hit_rate.pct",
    "l2_hit_percent": "lts__t_sector_hit_rate.pct",
}
UNITS = {
    "SM": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "L1": "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
    "L2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "DRAM": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
}
STALLS = {  # warps that wait in an average cycle in which one goes on
    reason: f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"
    for reason in ("barrier", "branch_resolving", "dispatch_stall", "drain", "lg_throttle", "long_scoreboard",
                   "math_pipe_throttle", "mio_throttle", "no_instruction", "not_selected", "short_scoreboard", "wait")
}
TIME = "gpu__time_duration.sum"
THREADS = (32, 64, 96, 100, 128, 192, 224, 256, 320, 384, 512, 640, 768, 1000, 1024)
SHARED = (0, 1, 1024, 3000, 6144, 9000, 16384, 20000, 32768, 50000, 74000, 98304, 115712, 116000, 200000, 232448)
HELD = (1, 8, 16, 22, 24, 30, 32, 40, 48, 54, 64, 80, 96, 112, 118, 140, 160, 190, 220, 240)  # floats of a thread
HOLDING = """
extern "C" __global__ void holding(float *p, float *q) {
    float held[HELD];
    #pragma unroll
    for (int i = 0; i < HELD; i++) held[i] = p[1024 * i + threadIdx.x];
    #pragma unroll
    for (int i = 0; i < HELD; i++) q[1024 * i + threadIdx.x] = held[i] * 2.0f;
}
"""


def main(arguments: list[str]) -> int:
    match arguments:
        case ["--timeline", name]:
            print(json.dumps(timeline(name)))
        case ["--occupancy"]:
            print(json.dumps(occupancies()))
        case [folder]:
            record(Path(folder))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


def record(folder: Path) -> None:
    card = gpu.card()
    if card is None:
        raise SystemExit("No GPU here: nothing was profiled.")
    folder.mkdir(parents=True, exist_ok=True)
    about = {"card": card.name, "date": date.today().isoformat(), "versions": versions(),
             "command": f"./course python -m {MODULE} FOLDER"}
    reports = {name: kernel_report(name) for name in reported_kernels.LAUNCHES}
    timelines = {name: own_process("--timeline", name) for name in TIMELINES}
    write(folder / "reports_h200.json", about | {"kernels": reports, "timelines": timelines})
    write(folder / "occupancy_h200.json", about | {"cases": own_process("--occupancy")})
    print(summary(reports, timelines))


def write(file: Path, report: dict) -> None:
    """JSON with each list of plain values on one line."""
    text = json.dumps(report, indent=1)
    file.write_text(re.sub(r"\[[^\[\]{}]*\]", lambda found: " ".join(found[0].split()), text) + "\n", encoding="utf-8")


def versions() -> dict[str, str]:
    said = subprocess.run(["ncu", "--version"], capture_output=True, text=True, check=True).stdout
    cupy = next((version(name) for name in ("cupy-cuda13x", "cupy-cuda12x") if installed(name)), "?")
    return {"torch": version("torch"), "cupy": cupy, "numba-cuda": version("numba-cuda"),
            "ncu": re.search(r"Version (\S+)", said)[1]}


def installed(name: str) -> bool:
    try:
        return bool(version(name))
    except ModuleNotFoundError:
        return False


def ended(command: list[str]) -> tuple[int, str, str]:
    """Exit status, output and errors of a command; one that takes too long has status 124."""
    try:
        made = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 124, "", f"took more than {SECONDS} seconds"
    return made.returncode, made.stdout, made.stderr


def own_process(*arguments: str):
    """What this module prints as JSON for these arguments; None, and a line about it, if it fails."""
    code, said, errors = ended([sys.executable, "-m", MODULE, *arguments])
    if code != 0:
        print(f"{' '.join(arguments)} failed ({code}): {errors[-1500:]}", flush=True)
        return None
    return json.loads(said.splitlines()[-1])


# Kernels ---------------------------------------------------------------------------------------------

def kernel_report(name: str) -> dict | None:
    metrics = [TIME, *COUNTED.values(), *UNITS.values(), *STALLS.values()]
    code, said, errors = profiled(name, metrics)
    if unknown := re.findall(r"Failed to find metric \W*([\w.]+)", said):
        print(f"{name}: ncu does not know {unknown}", flush=True)
        code, said, errors = profiled(name, [metric for metric in metrics if metric not in unknown])
    found = list(launches(said))
    if len(found) != 1:
        print(f"{name}: ncu profiled {len(found)} launches ({code}): {said[-1500:]} {errors[-500:]}", flush=True)
        return None
    kernel, grid, figures = found[0]
    return {
        "kernel": kernel, "grid": list(grid), "seconds": (figures[TIME] or 0) / 1e9,
        **{name: whole(figures.get(metric)) for name, metric in COUNTED.items()},
        "percent_of_peak": {unit: figures.get(metric) for unit, metric in UNITS.items()},
        "stalls": {reason: figures.get(metric) for reason, metric in STALLS.items()},
    }


def profiled(name: str, metrics: list[str]) -> tuple[int, str, str]:
    return ended(["ncu", "--csv", "--print-units", "base", "--print-kernel-base", "function",
                  "--clock-control", "none", "--profile-from-start", "off", "--metrics", ",".join(metrics),
                  sys.executable, "-m", "week2.day1.reported_kernels", name])


def whole(number: float | None) -> float | int | None:
    return int(number) if number is not None and number.is_integer() else number


# Timelines -------------------------------------------------------------------------------------------

def in_turn(torch, chunks: int, elements: int, streams: int, work) -> list[dict]:
    """Each chunk goes up, is worked on by one kernel and comes down again, in one of so many streams."""
    host = [torch.rand(elements).pin_memory() for _ in range(chunks)]
    there = [torch.empty(elements, device="cuda") for _ in range(chunks)]
    lanes = [torch.cuda.Stream() for _ in range(streams)]
    first = torch.cuda.Event(enable_timing=True)
    marks = [[torch.cuda.Event(enable_timing=True) for _ in range(4)] for _ in range(chunks)]
    torch.cuda.synchronize()
    first.record(lanes[0])
    for chunk in range(chunks):
        with torch.cuda.stream(lanes[chunk % streams]):
            reached = iter(marks[chunk])
            next(reached).record()
            there[chunk].copy_(host[chunk], non_blocking=True)
            next(reached).record()
            work(there[chunk])
            next(reached).record()
            host[chunk].copy_(there[chunk], non_blocking=True)
            next(reached).record()
    torch.cuda.synchronize()
    spans = []
    for chunk in range(chunks):
        at = [max(0.0, 1e3 * first.elapsed_time(mark)) for mark in marks[chunk]]
        spans += [{"what": what, "stream": chunk % streams, "start_us": start, "end_us": end,
                   "bytes": 0 if what == "kernel" else 4 * elements}
                  for what, start, end in zip(("upload", "kernel", "download"), at, at[1:])]
    return one_at_a_time(spans)


def one_at_a_time(spans: list[dict]) -> list[dict]:
    """The same spans, where each begins when the one of its kind that ended before it has ended.

    An event of CUDA tells when its stream came that far. A copy or a kernel that fills the GPU then waits for the one
    of its kind that is under way, in whichever stream.
    """
    free = dict.fromkeys(("upload", "kernel", "download"), 0.0)
    for span in sorted(spans, key=lambda span: span["end_us"]):
        start = max(span["start_us"], free[span["what"]])
        free[span["what"]] = span["end_us"]
        span["start_us"], span["end_us"] = round(start, 1), round(span["end_us"], 1)
    return spans


def small_launches(torch, launches: int, elements: int) -> list[dict]:
    """As PyTorch's profiler saw them."""
    from torch.profiler import ProfilerActivity, profile

    there = torch.rand(elements, device="cuda")

    def launch():
        for _ in range(launches):
            there.add_(1.0)
        torch.cuda.synchronize()

    launch()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        launch()
    with tempfile.TemporaryDirectory() as folder:
        profiler.export_chrome_trace(f"{folder}/trace.json")
        events = json.loads(Path(folder, "trace.json").read_text())["traceEvents"]
    ran = sorted((event for event in events if event.get("cat") == "kernel"), key=lambda event: float(event["ts"]))
    first = float(ran[0]["ts"])
    return [{"what": "kernel", "stream": 0, "start_us": round(float(event["ts"]) - first, 1),
             "end_us": round(float(event["ts"]) - first + float(event["dur"]), 1), "bytes": 0} for event in ran]


TIMELINES = {
    "one_stream": lambda torch: in_turn(torch, 8, 2**22, 1, torch.Tensor.lgamma_),
    "three_streams": lambda torch: in_turn(torch, 8, 2**22, 3, torch.Tensor.lgamma_),
    "small_launches": lambda torch: small_launches(torch, 40, 1000),
    # of other sizes, for timeline_bound
    "five_chunks": lambda torch: in_turn(torch, 5, 3 * 2**20, 1, torch.Tensor.sin_),
    "busy_kernels": lambda torch: in_turn(torch, 6, 2**21, 2, lambda x: x.polygamma_(3)),
}


def timeline(name: str) -> list[dict]:
    """What ran on the GPU, in order: upload, kernel or download, its stream, start and end in microseconds, bytes."""
    import torch

    TIMELINES[name](torch)
    return sorted(TIMELINES[name](torch), key=lambda span: span["start_us"])


# Occupancy -------------------------------------------------------------------------------------------

def occupancies() -> list[list[int]]:
    """[threads of a block, registers of a thread, bytes of shared memory of a block, blocks that fit on one SM]"""
    import cupy

    driver = ctypes.CDLL("libcuda.so.1")
    cases = []
    for held in HELD:
        kernel = cupy.RawKernel(HOLDING, "holding", options=(f"-DHELD={held}",))
        kernel.max_dynamic_shared_size_bytes = max(SHARED)
        for number, (threads, shared) in enumerate(itertools.product(THREADS, SHARED)):
            if (number + held) % 7 == 0 or shared == 0:
                blocks = ctypes.c_int()
                failed = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                    ctypes.byref(blocks), ctypes.c_void_p(kernel.kernel.ptr), threads, ctypes.c_size_t(shared))
                if not failed:
                    cases.append([threads, kernel.num_regs, shared, blocks.value])
    return cases


def summary(reports: dict, timelines: dict) -> str:
    lines = []
    for name, report in reports.items():
        if report is None:
            lines.append(f"{name}: NONE")
            continue
        units = " ".join(f"{unit} {value or 0:.0f}" for unit, value in report["percent_of_peak"].items())
        stalls = sorted(report["stalls"].items(), key=lambda item: -(item[1] or 0))[:3]
        lines.append(f"{name}: {1e3 * report['seconds']:.3f} ms | {units} | regs {report['registers']} "
                     f"waves {report['waves']} occ {report['theoretical_occupancy_percent']}"
                     f"/{report['achieved_occupancy_percent']} lanes {report['lanes_per_instruction']} | "
                     + " ".join(f"{reason} {value or 0:.2f}" for reason, value in stalls))
    for name, spans in timelines.items():
        lines.append(f"{name}: {len(spans or [])} spans, {spans[-1]['end_us'] if spans else 0} us")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
