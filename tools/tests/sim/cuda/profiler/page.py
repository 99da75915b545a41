"""tools/sim/PROFILER.md: every compared figure, and what lies behind each that differs."""

import tomllib
from pathlib import Path

from tools.check.metrics import METRICS
from tools.tests.sim.cuda.profiler.cases import cases
from tools.tests.sim.cuda.profiler.figures import measured, simulated

EXPLAINED = Path(__file__).with_name("differences.toml")
COMMAND = """\
ncu --csv --print-units base --clock-control none --metrics $(python -m tools.tests.sim.cuda.profiler metrics) \\
    python -m tools.tests.sim.cuda.profiler launch > measured.csv
python -m tools.tests.sim.cuda.profiler record measured.csv
python -m tools.tests.sim.cuda.profiler page"""


class Comparison:
    """record: as in measured.json. figures: (group, kernel, figure, simulated, measured), all of them."""

    def __init__(self, record: dict):
        self.figures = [
            (case.group, case.name, figure, ours, theirs[figure])
            for case in cases()
            for theirs in [measured(record["launches"][case.name])]
            for figure, ours in simulated(case).items()
        ]

    def share(self, group: str) -> tuple[int, int]:
        """Equal figures, and all; those that are zero on both sides prove little, and are left out."""
        pairs = [(ours, theirs) for which, _, _, ours, theirs in self.figures if which == group and (ours or theirs)]
        return sum(ours == theirs for ours, theirs in pairs), len(pairs)

    def differences(self) -> list[tuple[str, str, int, int]]:
        return [(kernel, figure, ours, theirs) for _, kernel, figure, ours, theirs in self.figures if ours != theirs]


def explained() -> dict[str, dict]:
    """Kernel -> figures, reason and machine code, from differences.toml."""
    return tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))


def text(record: dict) -> str:
    """The page."""
    comparison = Comparison(record)
    return "\n".join([*_head(record["machine"], comparison), *_table(comparison), *_differences(comparison)]) + "\n"


def _head(machine: dict[str, str], comparison: Comparison) -> list[str]:
    shares = {group: comparison.share(group) for group in ("textbook", "hard")}
    lines = [
        "# The simulator's counters beside the profiler's",
        "",
        "Written by `python -m tools.tests.sim.cuda.profiler page`; a test compares it with the record.",
        "",
        f"Measured on {machine['card']}, {machine['date']}, with Nsight Compute {machine['Nsight Compute']}, "
        f"numba-cuda {machine['numba-cuda']}, Numba {machine['numba']}.",
        "",
    ]
    for group, (equal, figures) in shares.items():
        kernels = len({kernel for which, kernel, *_ in comparison.figures if which == group})
        lines.append(
            f"- {kernels} {group} launches: {equal} of {figures} figures are equal to the last digit "
            f"({equal / figures:.1%}). Figures that are 0 on both sides are not counted."
        )
    return [*lines, "", "To measure again, on a machine with a GPU:", "", "```", COMMAND, "```", ""]


def _table(comparison: Comparison) -> list[str]:
    """One row for each launch, a column for each figure."""
    lines = [
        "## All figures",
        "",
        "One number: simulated and measured are equal. Two: simulated / measured. A dash: 0 on both sides.",
        "",
    ]
    names = [figure.replace("global ", "").replace(":", "<br>") for figure in METRICS]
    lines += ["| kernel | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    rows: dict[str, list[str]] = {}
    for _, kernel, _, ours, theirs in comparison.figures:
        cell = "-" if ours == theirs == 0 else str(ours) if ours == theirs else f"**{ours} / {theirs}**"
        rows.setdefault(kernel, []).append(cell)
    return lines + [f"| {kernel} | " + " | ".join(cells) + " |" for kernel, cells in rows.items()] + [""]


def _differences(comparison: Comparison) -> list[str]:
    lines = [
        "## What differs, and why",
        "",
        "The simulator counts what the source asks for. The compiler may do with less: it keeps a value in a "
        "register, or moves several neighbours with one instruction.",
        "",
    ]
    reasons = explained()
    kernels = dict.fromkeys(kernel for kernel, *_ in comparison.differences())
    for kernel in kernels:
        of_kernel = [
            f"{figure} {ours} / {theirs}" for name, figure, ours, theirs in comparison.differences() if name == kernel
        ]
        reason = reasons.get(kernel, {"reason": "not explained", "code": ""})
        lines += [f"**{kernel}** ({'; '.join(of_kernel)}): {reason['reason']}", ""]
        if reason["code"]:
            lines += ["```", reason["code"].strip(), "```", ""]
    return lines
