"""Measure the kernels on a GPU with Nsight Compute, for tools/sim/PROFILER.md.

    python -m tools.tests.sim.cupy_raw.profiler results         # of the GPU beside the simulated ones; needs CuPy
    ncu --csv --print-units base --clock-control none --profile-from-start off \\
        --metrics $(python -m tools.tests.sim.cupy_raw.profiler metrics) \\
        python -m tools.tests.sim.cupy_raw.profiler launch > measured.csv
    python -m tools.tests.sim.cupy_raw.profiler record measured.csv
    python -m tools.tests.sim.cuda.profiler page
"""

import datetime
import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from tools.check.metrics import ALL
from tools.check.profiler import known_metrics, launches
from tools.gpu import in_sight_of_profiler

RECORD = Path(__file__).with_name("measured.json")


def metrics() -> None:
    """All names, for ncu's --metrics; only those that this ncu knows for this card."""
    from tools.tests.sim.cupy_raw.profiler.figures import INSTRUCTIONS

    print(",".join(known_metrics("ncu", (*ALL, *(name for names in INSTRUCTIONS.values() for name in names)))))


def launch() -> None:
    """Each kernel once on the GPU, compiled and with its arguments there before."""
    import cupy

    from tools.tests.sim.cupy_raw.profiler.cases import cases
    from tools.tests.sim.cupy_raw.profiler.in_triton import TRITON

    for case in cases():
        case.run(cupy, in_sight_of_profiler)
    for each in TRITON:
        each.run("cuda", nullcontext)  # compiled now
        each.run("cuda", in_sight_of_profiler)


def results() -> None:
    """Where the results of the GPU differ from the simulated ones."""
    import cupy

    import tools.sim.cupy as stand_in
    from tools.tests.sim.cupy_raw.profiler.cases import cases

    for case in cases():
        pairs = zip(case.run(stand_in, nullcontext), case.run(cupy, nullcontext))
        apart = [float(np.abs(a.astype("f8") - b.astype("f8")).max()) for a, b in pairs]
        print(f"{case.name:60}", "equal" if not any(apart) else f"up to {max(apart):.2g} apart")


def machine_code(folder: str) -> None:
    """The machine code of all kernels, as cubins: CuPy's wherever CUPY_CACHE_DIR says, Triton's in `folder`."""
    import cupy

    from tools.tests.sim.cupy_raw.profiler.cases import GROUPS, cases
    from tools.tests.sim.cupy_raw.profiler.in_triton import TRITON

    for case in {case.group: case for case in cases() if case.group in GROUPS}.values():
        case.run(cupy, nullcontext)
    for each in TRITON:
        each.run("cuda", nullcontext)
        for cache in each.kernel.device_caches.values():
            for made in cache[0].values():
                Path(folder, f"{each.name}.cubin").write_bytes(made.asm["cubin"])


def record(file: str) -> None:
    """Keep what ncu printed as CSV."""
    from tools.tests.sim.cupy_raw.profiler.cases import names

    found = [figures for _, _, figures in launches(Path(file).read_text())]
    if len(names()) != len(found):
        sys.exit(f"{file} has {len(found)} launches; there are {len(names())} cases.")
    RECORD.write_text(json.dumps({"machine": machine(), "launches": dict(zip(names(), found))}, indent=1) + "\n")


def machine() -> dict[str, str]:
    """Card, versions and date."""
    from importlib.metadata import version

    import cupy

    from tools.gpu import installed_card

    card, profiler = installed_card(), subprocess.run(["ncu", "--version"], capture_output=True, text=True).stdout
    driver = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True
    ).stdout
    major, minor = cupy.cuda.nvrtc.getVersion()
    return {
        "card": card.name if card else "none",
        "driver": driver.strip(),
        "CuPy": cupy.__version__,
        "NVRTC": f"{major}.{minor}",
        "Triton": version("triton"),
        "Nsight Compute": profiler.split("Version")[-1].split()[0],
        "date": str(datetime.date.today()),
    }


if __name__ == "__main__":
    command, *arguments = sys.argv[1:] or ["help"]
    known = {function.__name__: function for function in (metrics, launch, results, machine_code, record)}
    if command not in known:
        sys.exit(__doc__)
    known[command](*arguments)
