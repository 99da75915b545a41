"""The kernels on a real GPU beside the simulated one: results, and the profiler's figures.

    python -m tools.tests.sim.cupy_raw.on_a_gpu                       # results of both; needs CuPy
    ncu --csv --print-units base --clock-control none \\
        --metrics $(python -m tools.tests.sim.cupy_raw.on_a_gpu metrics) \\
        python -m tools.tests.sim.cupy_raw.on_a_gpu launch > measured.csv
    python -m tools.tests.sim.cupy_raw.on_a_gpu compare measured.csv  # figures of both; needs no GPU
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tools.check.metrics import METRICS, NAMES
from tools.tests.sim.cupy_raw.kernels import Case, all_of_them, cases

WIDTH = 34  # columns of a kernel's name


def launch() -> None:
    """Each kernel once on the GPU, and nothing else: this runs under the profiler."""
    import cupy

    module = all_of_them(cupy)
    for case in cases():
        case.run(cupy, module)


def results() -> None:
    """How far the two results of each kernel are apart."""
    import cupy

    import tools.sim.cupy as simulated

    theirs, ours = all_of_them(cupy), all_of_them(simulated)
    for case in cases():
        difference = _apart(case.run(cupy, theirs), case.run(simulated, ours))
        verdict = "equal" if difference == 0 else f"{difference:.1e} apart, {case.tolerance:.0e} allowed"
        print(f"{case.kernel:{WIDTH}}{verdict}{'' if difference <= case.tolerance else '   DIFFERS'}")


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    if one.dtype.kind in "iu":
        return float((one != other).sum())
    return float(np.abs(one.astype(np.float64) - other).max())


def metrics() -> None:
    """All names, for ncu's --metrics."""
    print(",".join(sorted({name for names in METRICS.values() for name in names})))


def compare(file: str) -> None:
    """Our figures and those of ncu's CSV, where they differ; how many are equal."""
    from tools.check.profiler import launches

    names = {case.kernel.partition("<")[0] for case in cases()}
    measured = [figures for kernel, _, figures in launches(Path(file).read_text()) if kernel.partition("<")[0] in names]
    equal = total = 0
    for case, theirs in zip(cases(), measured, strict=True):
        for figure, ours in figures_of(case).items():
            profiled = round(sum(theirs[name] or 0 for name in METRICS[figure]))
            total += bool(ours or profiled)
            equal += ours == profiled != 0
            if ours != profiled:
                print(f"{case.kernel:{WIDTH}}{figure:30}{ours:8} here {profiled:8} measured")
    print(f"{equal} of {total} figures are equal")


def figures_of(case: Case) -> dict[str, int]:
    """The simulated figures of one launch, under the names of METRICS."""
    import tools.sim.cupy as simulated
    from tools.sim.recording import record

    with record() as counters:
        case.run(simulated, all_of_them(simulated))
    return {figure: sum(_lines(counters, figure)) for figure in METRICS}


def _lines(counters, figure: str) -> Iterator[int]:
    where, name = figure.split(": ")
    space, operation = where.removesuffix("s").split()
    kind = operation if space == "global" else f"shared {operation}"
    for line in counters.launches[-1].lines:
        if line.kind == kind:
            yield getattr(line.counts, NAMES[name])


if __name__ == "__main__":
    command, *arguments = sys.argv[1:] or ["results"]
    known = {function.__name__: function for function in (results, launch, metrics, compare)}
    if command not in known:
        sys.exit(__doc__)
    known[command](*arguments)
