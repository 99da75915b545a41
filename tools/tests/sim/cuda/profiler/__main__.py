"""Measure the kernels on a GPU with Nsight Compute, and write tools/sim/PROFILER.md from what was measured.

    ncu --csv --print-units base --clock-control none --metrics $(python -m tools.tests.sim.cuda.profiler metrics) \\
        python -m tools.tests.sim.cuda.profiler launch > measured.csv
    python -m tools.tests.sim.cuda.profiler record measured.csv
    python -m tools.tests.sim.cuda.profiler page
"""

import datetime
import json
import subprocess
import sys
from pathlib import Path

from tools import ROOT
from tools.check.metrics import ALL
from tools.check.profiler import known_metrics, launches
from tools.tests.sim.cuda.profiler.figures import BESIDE

RECORD = Path(__file__).with_name("measured.json")
PAGE = ROOT / "tools" / "sim" / "PROFILER.md"


def metrics() -> None:
    """All names, for ncu's --metrics; only those that this ncu knows for this card."""
    print(",".join(known_metrics("ncu", (*ALL, *BESIDE))))


def launch() -> None:
    """Each kernel once on the GPU, its arguments there before."""
    from tools.gpu import cuda
    from tools.tests.sim.cuda.profiler.cases import cases

    for case in cases():
        arguments = [cuda.to_device(each) if hasattr(each, "dtype") else each for each in case.arguments]
        case.kernel[case.configuration](*arguments)
        cuda.synchronize()


def machine_code(folder: str) -> None:
    """The machine code of each kernel, one file each; they are compiled by their first launch."""
    from tools.tests.sim.cuda.profiler.cases import cases

    launch()
    for name, kernel in {case.kernel.py_func.__name__: case.kernel for case in cases()}.items():
        texts = kernel.inspect_sass()
        Path(folder, f"{name}.sass").write_text("\n".join(texts.values()) if isinstance(texts, dict) else texts)


def record(file: str) -> None:
    """Keep what ncu printed as CSV."""
    from tools.tests.sim.cuda.profiler.cases import cases

    measured = [figures for _, _, figures in launches(Path(file).read_text())]
    names = [case.name for case in cases()]
    if len(names) != len(measured):
        sys.exit(f"{file} has {len(measured)} launches; there are {len(names)} cases.")
    RECORD.write_text(json.dumps({"machine": machine(), "launches": dict(zip(names, measured))}, indent=1) + "\n")


def machine() -> dict[str, str]:
    """Card, versions and date."""
    from importlib.metadata import version

    from tools.gpu import installed_card

    profiler = subprocess.run(["ncu", "--version"], capture_output=True, text=True).stdout
    return {
        "card": installed_card().name,
        "numba-cuda": version("numba-cuda"),
        "numba": version("numba"),
        "Nsight Compute": profiler.split("Version")[-1].split()[0],
        "date": str(datetime.date.today()),
    }


def page() -> None:
    """Write the page from the records and a fresh simulation."""
    from tools.tests.sim.cuda.profiler.page import text
    from tools.tests.sim.cupy_raw.profiler import page as of_others

    PAGE.write_text(text(json.loads(RECORD.read_text())) + of_others.text(of_others.Comparison()))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:] or ["help"]
    known = {function.__name__: function for function in (metrics, launch, machine_code, record, page)}
    if command not in known:
        sys.exit(__doc__)
    known[command](*arguments)
