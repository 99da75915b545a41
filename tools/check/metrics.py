"""The metrics of Nsight Compute that say what our counters say, and counters that are made of them."""

import textwrap
from collections.abc import Iterable
from math import prod
from typing import NamedTuple, TypeVar

from tools.sim.counters import FIGURES, OF_WARPS, Counters, Counts, Launch, NotCounted, Warps

WIDTH = 80  # columns

# our figure, of lines of this kind -> the profiler's metrics, whose sum it is
METRICS = {
    "global loads: requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
    "global loads: sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
    "global stores: requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"],
    "global stores: sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
    "global atomics: requests": [
        "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    ],
    "global atomics: sectors": [
        "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    ],
    "shared loads: instructions": ["smsp__sass_inst_executed_op_shared_ld.sum"],
    "shared loads: wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"],
    "shared loads: conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"],
    "shared stores: instructions": ["smsp__sass_inst_executed_op_shared_st.sum"],
    "shared stores: wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
    "shared stores: conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"],
    "shared atomics: instructions": ["smsp__sass_inst_executed_op_shared_atom.sum"],
    "shared atomics: wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"],
    "shared atomics: conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum"],
}
NAMES = {
    "requests": "requests",
    "sectors": "sectors",
    "instructions": "shared_requests",
    "wavefronts": "wavefronts",
    "conflicts": "conflicts",
}  # as a figure above ends -> a figure of counters
OF_LAUNCH = {  # a figure of counters -> metrics of a whole launch, whose sum it is
    **{
        ours: [metric for figure, metrics in METRICS.items() if figure.endswith(f": {theirs}") for metric in metrics]
        for theirs, ours in NAMES.items()
    },
    "bytes_loaded": ["smsp__sass_data_bytes_mem_global_op_ld.sum"],
    "bytes_stored": ["smsp__sass_data_bytes_mem_global_op_st.sum"],
    "bytes_atomic": ["smsp__sass_data_bytes_mem_global_op_atom.sum", "smsp__sass_data_bytes_mem_global_op_red.sum"],
    "bytes_shared": ["smsp__sass_data_bytes_mem_shared_op_ld.sum", "smsp__sass_data_bytes_mem_shared_op_st.sum"],
    "float64": ["smsp__sass_thread_inst_executed_op_fp64_pred_on.sum"],
    "conversions": ["smsp__sass_thread_inst_executed_op_conversion_pred_on.sum"],
    "instructions": ["smsp__inst_executed.sum"],
    "lanes": ["smsp__thread_inst_executed.sum"],
    "divergent_branches": ["smsp__sass_branch_targets_threads_divergent.sum"],
}
ALL = sorted({metric for metrics in OF_LAUNCH.values() for metric in metrics})
DERIVED = {
    "bytes": ("bytes_loaded", "bytes_stored", "bytes_atomic"),
    "active_lanes": ("lanes", "instructions"),
    "sectors_per_request": ("sectors", "requests"),
}


class Untold(NamedTuple):
    """In place of a figure that the profiler does not tell."""

    reason: str


UNTOLD = {
    "accesses": Untold("the profiler counts instructions of warps and bytes, not elements"),
    "lines": Untold("the profiler counts sectors of 32 bytes, not lines"),
    "barriers": Untold("the profiler counts how long warps wait at barriers, not how often"),
    "flops": Untold("the profiler counts instructions, not what a dot product is worth"),
    "same_word": Untold("the profiler counts conflicts, not what they are due to"),
    "branches": Untold("the profiler counts the targets of branches, not the decisions"),
}
OF_THE_WARPS = Untold("it stands among the figures of the warps")
UNSEEN = {
    "library_operations": Untold("the profiler sees kernels, those of libraries among the launches"),
    "library_float64": Untold("the profiler sees kernels, those of libraries among the launches"),
    "library_fills": Untold("the profiler sees kernels, those of libraries among the launches"),
    "transfers": Untold("the profiler sees kernels, not copies"),
}


class _Measured:
    """Counters of which some figures are Untold: whoever reads one gets NotCounted and the reason."""

    def __getattr__(self, name: str) -> object:
        for each in (name, *DERIVED.get(name, ())):
            value = vars(self).get(each)
            if isinstance(value, Untold):
                raise NotCounted(f"{each} is not among the measured figures: {value.reason}.")
        return super().__getattr__(name)  # type: ignore[misc]


def _property(name: str) -> property:
    """The figure of that name. Where it is Untold, or one of the warps', Python asks `__getattr__`."""

    def read(counts: _Measured) -> object:
        value = vars(counts).get(name, OF_THE_WARPS)
        if isinstance(value, Untold):
            raise NotCounted(name)  # an AttributeError
        return value

    def write(counts: _Measured, value: object) -> None:
        vars(counts)[name] = value

    return property(read, write)


for _name in (*FIGURES, *OF_WARPS, *UNSEEN):
    setattr(_Measured, _name, _property(_name))


class MeasuredCounts(_Measured, Counts):
    """The figures that the profiler measured of one launch."""

    def __str__(self) -> str:
        told = {name: value for name, value in (vars(self.warps) | vars(self)).items() if name in OF_LAUNCH}
        return ", ".join(f"{name} {value:,}" for name, value in told.items() if not isinstance(value, Untold))

    __repr__ = __str__


class MeasuredCounters(_Measured, Counters):
    """The figures that the profiler measured of one call: of the machine's instructions, as the compiler made them.

    Launches have no lines. bytes: what several lanes of a warp load from one address counts once, where the simulator
    counts each lane's. bytes_shared: without atomics. divergent_branches: of those that are no predicates now.
    float64: instructions, of which a function takes many, and a product and a sum together one. conversions: those
    between integers of different sizes, too.
    """

    def __str__(self) -> str:
        rows = [
            f"{launch.kernel}, grid {' x '.join(map(str, launch.grid))}: {launch.counts}" for launch in self.launches
        ]
        return "\n".join(
            line
            for row in rows or ["no kernel was launched"]
            for line in textwrap.wrap(row, WIDTH, subsequent_indent="    ")
        )


MEASURED = TypeVar("MEASURED", MeasuredCounts, MeasuredCounters)


def counters(launches: Iterable[tuple[str, tuple[int, ...], dict[str, float | None]]]) -> MeasuredCounters:
    """Counters from (kernel, grid, metrics) of each launch; a metric that was not measured is None, or missing."""
    figures = [(kernel, grid, _figures(grid, metrics)) for kernel, grid, metrics in launches]
    total = {name: _sum([each[name] for _, _, each in figures]) for name in (*OF_LAUNCH, "programs")}
    measured = _filled(MeasuredCounters(), {**total, **UNSEEN})
    measured.launches = tuple(
        Launch(kernel, grid, _filled(MeasuredCounts(), each), ()) for kernel, grid, each in figures
    )
    return measured


def _figures(grid: tuple[int, ...], metrics: dict[str, float | None]) -> dict[str, int | Untold]:
    return {
        name: _sum([_figure(metric, metrics.get(metric)) for metric in names]) for name, names in OF_LAUNCH.items()
    } | {"programs": prod(grid)}


def _figure(metric: str, value: float | None) -> int | Untold:
    return Untold(f"{metric} cannot be had on this GPU") if value is None else round(value)


def _sum(values: list[int | Untold]) -> int | Untold:
    untold = next((value for value in values if isinstance(value, Untold)), None)
    return untold or sum(value for value in values if not isinstance(value, Untold))


def _filled(counts: MEASURED, figures: dict[str, int | Untold]) -> MEASURED:
    """Put figures where they belong; what is Untold stands before those of the warps."""
    told = {name: value for name, value in figures.items() if not isinstance(value, Untold)}
    counts.warps = Warps(**{name: value for name, value in told.items() if name in OF_WARPS})
    others = {name: value for name, value in figures.items() if name not in OF_WARPS or name not in told}
    for name, value in (others | UNTOLD).items():
        setattr(counts, name, value)
    return counts
