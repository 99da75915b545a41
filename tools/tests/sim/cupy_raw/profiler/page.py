"""The second part of tools/sim/PROFILER.md: CUDA C++ and Triton, every figure, and why some differ."""

import json
import tomllib
from pathlib import Path

from tools.tests.sim.cupy_raw.profiler.cases import GROUPS, Case, cases
from tools.tests.sim.cupy_raw.profiler.figures import METRICS, OF_TRITON, measured, simulated, simulated_triton
from tools.tests.sim.cupy_raw.profiler.in_triton import TRITON, TritonCase

RECORD, EXPLAINED = Path(__file__).with_name("measured.json"), Path(__file__).with_name("differences.toml")
TITLE = "# CUDA C++ and Triton"
COMMAND = """\
ncu --csv --print-units base --clock-control none --profile-from-start off \\
    --metrics $(python -m tools.tests.sim.cupy_raw.profiler metrics) \\
    python -m tools.tests.sim.cupy_raw.profiler launch > measured.csv
python -m tools.tests.sim.cupy_raw.profiler record measured.csv"""
Pair = tuple[int, int]


class Comparison:
    """figures: (simulated, measured) of each figure of each launch, by its name."""

    def __init__(self) -> None:
        record = json.loads(RECORD.read_text(encoding="utf-8"))
        self.machine, launches = record["machine"], record["launches"]
        self.groups: dict[str, list[str]] = {}
        self.figures: dict[str, dict[str, Pair]] = {}
        for case in [*cases(), *TRITON]:
            ours = simulated(case) if isinstance(case, Case) else simulated_triton(case)
            theirs = measured(launches[case.name], case)
            self.figures[case.name] = {name: (ours[name], theirs[name]) for name in ours}
            self.groups.setdefault(_group(case), []).append(case.name)

    def share(self, group: str) -> Pair:
        """Equal figures, and all; those that are zero on both sides prove little, and are left out."""
        pairs = [pair for name in self.groups[group] for pair in self.figures[name].values() if any(pair)]
        return sum(ours == theirs for ours, theirs in pairs), len(pairs)

    def different(self) -> dict[str, dict[str, Pair]]:
        """Of each launch that has any, the figures that differ."""
        found = {
            name: {figure: pair for figure, pair in figures.items() if pair[0] != pair[1]}
            for name, figures in self.figures.items()
        }
        return {name: figures for name, figures in found.items() if figures}


def _group(case: Case | TritonCase) -> str:
    return case.group if isinstance(case, Case) else "Triton"


def explained() -> dict[str, dict[str, str]]:
    """Launch -> reason and machine code, from differences.toml."""
    return tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))


def text(comparison: Comparison) -> str:
    """This part of the page."""
    in_cpp = [name for group in GROUPS for name in comparison.groups[group]]
    return "\n".join(
        [
            *_head(comparison),
            *_table(comparison, in_cpp, list(METRICS)),
            *_table(comparison, comparison.groups["Triton"], list(OF_TRITON)),
            *_differences(comparison),
        ]
    )


def _head(comparison: Comparison) -> list[str]:
    machine = comparison.machine
    versions = ", ".join(f"{name} {machine[name]}" for name in ("driver", "CuPy", "NVRTC", "Triton", "Nsight Compute"))
    lines = [
        TITLE,
        "",
        f"Measured on {machine['card']}, {machine['date']}: {versions}. An asynchronous copy counts as a load and as a "
        "store to shared memory, though the profiler has instructions of its own for it.",
        "",
    ]
    for group, names in comparison.groups.items():
        equal, figures = comparison.share(group)
        lines.append(f"- {group}: {len(names)} launches, {equal} of {figures} figures equal ({equal / figures:.1%})")
    return [*lines, "", "To measure again:", "", "```", COMMAND, "```", ""]


def _table(comparison: Comparison, launches: list[str], figures: list[str]) -> list[str]:
    """One row for each launch, a column for each figure."""
    names = [figure.replace("global ", "").replace(":", "<br>") for figure in figures]
    lines = ["| kernel | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for launch in launches:
        cells = (_cell(comparison.figures[launch].get(figure)) for figure in figures)
        lines.append(f"| {launch.replace('<', '&lt;')} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _cell(pair: Pair | None) -> str:
    """Empty for what depends on who waits how long."""
    if pair is None:
        return ""
    ours, theirs = pair
    return f"**{ours} / {theirs}**" if ours != theirs else str(ours) if ours else "-"


def _differences(comparison: Comparison) -> list[str]:
    lines, reasons = ["## What differs there, and why", ""], explained()
    for launch, figures in comparison.different().items():
        pairs = "; ".join(f"{figure} {ours} / {theirs}" for figure, (ours, theirs) in figures.items())
        reason = reasons.get(launch, {"reason": "not explained", "code": ""})
        lines += [f"**{launch.replace('<', '&lt;')}** ({pairs}): {reason['reason']}", ""]
        lines += ["```", reason["code"].strip(), "```", ""]
    return lines
