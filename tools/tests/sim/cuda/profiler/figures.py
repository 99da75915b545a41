"""What is compared: the simulator's figures and the metrics of Nsight Compute that say the same."""

from tools.check.metrics import METRICS, NAMES
from tools.sim.counters import Counters
from tools.sim.recording import record
from tools.tests.sim.cuda.profiler.cases import Case

# measured too, to be looked at: they count instructions of the machine, which has no lines of source
BESIDE = [
    "smsp__inst_executed_op_shared_atom.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "smsp__sass_branch_targets.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
]


def simulated(case: Case) -> dict[str, int]:
    """The simulator's figures for one launch."""
    with record() as counters:
        case.kernel[case.configuration](*case.arguments)
    return {figure: total(counters, figure) for figure in METRICS}


def total(counters: Counters, figure: str) -> int:
    """A figure over all launches: the sum over the lines of its kind of access."""
    where, name = figure.split(": ")
    space, operation = where.split()
    kind = operation.removesuffix("s") if space == "global" else f"shared {operation.removesuffix('s')}"
    return sum(
        getattr(line.counts, NAMES[name]) for launch in counters.launches for line in launch.lines if line.kind == kind
    )


def measured(metrics: dict[str, float]) -> dict[str, int]:
    """The profiler's figures for one launch, under our names."""
    return {figure: int(sum(metrics[name] for name in names)) for figure, names in METRICS.items()}
