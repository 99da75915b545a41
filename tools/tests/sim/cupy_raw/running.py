"""Running CUDA C++ on the simulated GPU and looking at what came of it."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim.counters import Counters, Line
from tools.sim.cupy.raw import NoCompiler, toolchain
from tools.sim.faults import ThreadFault as Fault
from tools.sim.recording import record


def why_not() -> str:
    """Why kernels cannot be compiled here; nothing if they can."""
    try:
        toolchain.compiler()
    except NoCompiler as error:
        return str(error).splitlines()[0]
    return ""


needs_compiler = pytest.mark.skipif(bool(why_not()), reason=why_not())


def counted(kernel, grid, block, args, **named) -> Counters:
    with record() as counters:
        kernel(grid, block, args, **named)
    return counters


def fault_of(kernel, grid, block, args, **named) -> Fault:
    with pytest.raises(Fault) as caught:
        kernel(grid, block, args, **named)
    assert len(caught.value.text.splitlines()) <= 6
    assert all(len(line) <= 80 for line in caught.value.text.splitlines())
    return caught.value


def per_line(counters: Counters, kind: str) -> list[Line]:
    """The lines of the first launch that do this."""
    return [line for line in counters.launches[0].lines if line.kind == kind]


def floats(size: int) -> cp.ndarray:
    """0, 1, 2, ..."""
    return cp.asarray(np.arange(size, dtype=np.float32))


def zeros(size: int | tuple, dtype=np.float32) -> cp.ndarray:
    return cp.asarray(np.zeros(size, dtype))
