"""The figures that are compared: the simulator's, and the metrics of Nsight Compute that say the same."""

import os
from contextlib import nullcontext
from unittest.mock import patch

from tools.check.metrics import METRICS as OF_NUMBA
from tools.sim.recording import record
from tools.sim.triton.programs import SEED
from tools.tests.sim.cuda.profiler.figures import total
from tools.tests.sim.cupy_raw.profiler.cases import Case
from tools.tests.sim.cupy_raw.profiler.in_triton import TritonCase

INSTRUCTIONS = {  # of shared memory that the profiler counts apart: by asynchronous copies, and of a whole matrix
    "shared loads: instructions": ["smsp__sass_inst_executed_op_ldsm.sum"],
    "shared stores: instructions": ["smsp__sass_inst_executed_op_ldgsts.sum"],
    "shared stores: wavefronts": ["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"],
    "shared stores: conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum"],
}
METRICS = {figure: names + INSTRUCTIONS.get(figure, []) for figure, names in OF_NUMBA.items()}
OF_TRITON = {  # a Triton program has no warps before it is compiled: bytes and sectors are all there is to compare
    "bytes loaded": ["smsp__sass_data_bytes_mem_global_op_ld.sum"],
    "bytes stored": ["smsp__sass_data_bytes_mem_global_op_st.sum"],
    "sectors loaded": ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
    "sectors stored": ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
    "atomic bytes": ["smsp__sass_data_bytes_mem_global_op_atom.sum", "smsp__sass_data_bytes_mem_global_op_red.sum"],
}


def simulated(case: Case) -> dict[str, int]:
    """The simulator's figures for one launch."""
    import tools.sim.cupy as cupy

    with record() as counters:
        case.run(cupy, nullcontext)
    return {figure: total(counters, figure) for figure in METRICS}


def simulated_triton(case: TritonCase) -> dict[str, int]:
    """The simulator's figures for one launch of Triton's. One seed: who waits for whom depends on it."""
    with patch.dict(os.environ, {SEED: "0"}), record() as counters:
        case.run("cpu", nullcontext)
    lines = [line for launch in counters.launches for line in launch.lines]
    sectors = {kind: sum(line.counts.sectors for line in lines if line.kind == kind) for kind in ("load", "store")}
    figures = {
        "bytes loaded": counters.bytes_loaded,
        "bytes stored": counters.bytes_stored,
        "sectors loaded": sectors["load"],
        "sectors stored": sectors["store"],
        "atomic bytes": counters.bytes_atomic,
    }
    return {name: figures[name] for name in of_triton(case)}


def of_triton(case: TritonCase) -> list[str]:
    """The figures that do not depend on who waits how long."""
    return [name for name in OF_TRITON if not (case.waits and name == "atomic bytes")]


def measured(metrics: dict[str, float], case: Case | TritonCase) -> dict[str, int]:
    """The profiler's figures for one launch, under our names."""
    if isinstance(case, TritonCase):
        return {name: int(sum(metrics[each] for each in OF_TRITON[name])) for name in of_triton(case)}
    return {figure: int(sum(metrics[name] for name in names)) for figure, names in METRICS.items()}
