"""Profile the matmul of today with Nsight Compute on this machine's GPU, and write the report that task 3 reads.

    ./course python -m week1.day5.record_report my_report.json

A second argument names another module with a `matmul`; reference.week1.day5.naive_matmul made report_h200.json.
"""

import csv
import importlib
import json
import re
import subprocess
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path

from tools import gpu
from tools.models import chips

KERNEL, SIZE = "matmul_kernel", 4096
TIME, NANOSECONDS = "gpu__time_duration.sum", ("ns", "nsecond")
COUNTED = {  # what the report calls it -> what Nsight Compute does
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_hit_percent": "l1tex__t_sector_hit_rate.pct",
    "l2_hit_percent": "lts__t_sector_hit_rate.pct",
    "dram_bytes_read": "dram__bytes_read.sum",
    "dram_bytes_written": "dram__bytes_write.sum",
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


def main(arguments: list[str]) -> int:
    match arguments:
        case ["--launch", module]:
            launch(module)
        case [file, *rest] if len(rest) < 2:
            record(Path(file), *rest)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


def launch(module: str) -> None:
    """What is profiled: one product of random matrices."""
    import torch

    a, b = (torch.randn(SIZE, SIZE, device="cuda") for _ in range(2))
    importlib.import_module(module).matmul(a, b)
    torch.cuda.synchronize()


def record(file: Path, module: str = "week1.day5.naive_matmul") -> None:
    card = gpu.card()
    if card is None:
        raise SystemExit("No GPU here: nothing was profiled.")
    metrics = [TIME, *COUNTED.values(), *UNITS.values(), *STALLS.values()]
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
               "--kernel-name", KERNEL, "--launch-count", "1", "--metrics", ",".join(metrics)]
    made = subprocess.run([*command, sys.executable, "-m", "week1.day5.record_report", "--launch", module],
                          capture_output=True, text=True)
    if made.returncode != 0:
        raise SystemExit(f"ncu failed:\n{made.stdout}{made.stderr}")
    report = about(card, module) | read(made.stdout)
    file.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def about(card, module: str) -> dict:
    chip = chips.detect(card.name, 10 * card.capability[0] + card.capability[1])
    profiler = subprocess.run(["ncu", "--version"], capture_output=True, text=True, check=True).stdout
    versions = {name: version(name) for name in ("torch", "triton")}
    return {
        "card": card.name, "date": date.today().isoformat(),
        "versions": versions | {"ncu": re.search(r"Version (\S+)", profiler)[1]},
        "command": f"./course python -m week1.day5.record_report FILE {module}",
        "kernel": KERNEL, "m": SIZE, "n": SIZE, "k": SIZE,
        "peak_gflops": round(chip.peaks["fp32"] / 1e9) if chip else None,
    }


def read(text: str) -> dict:
    """The figures of the one kernel in ncu's CSV: a line of names, a line of units, a line of values."""
    names, units, values = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))[:3]
    found = dict(zip(names, zip(values, units)))

    def figure(name: str) -> float:
        if name not in found:
            raise SystemExit(f"ncu says nothing about {name}.")
        number = float(found[name][0].replace(",", ""))
        return int(number) if number.is_integer() else number

    if found[TIME][1] not in NANOSECONDS:
        raise SystemExit(f"ncu gives {TIME} in {found[TIME][1]}, not in nanoseconds.")
    return {
        "seconds": figure(TIME) / 1e9,
        **{name: figure(metric) for name, metric in COUNTED.items()},
        "percent_of_peak": {unit: figure(metric) for unit, metric in UNITS.items()},
        "stalls": {reason: figure(metric) for reason, metric in STALLS.items()},
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
