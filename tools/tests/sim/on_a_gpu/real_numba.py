"""A recorded launch of Numba's on a real GPU."""

import warnings
from typing import Any

import numpy as np

from tools.tests.sim.on_a_gpu.compare import outcome
from tools.tests.sim.on_a_gpu.functions import rebuilt


def prepare() -> None:
    np.row_stack = getattr(np, "row_stack", np.vstack)  # which numba-cuda 0.30 asks for
    import numba.cuda  # noqa: F401


def replay(launch: dict) -> dict:
    """Its outcome, beside the simulated one."""
    warnings.simplefilter("ignore")
    from numba import cuda

    kernel = cuda.jit(rebuilt(launch["function"]))
    held: dict[tuple, Any] = {}
    arguments = [_argument(cuda, held, each) for each in launch["before"]]
    kernel[launch["grid"], launch["block"], 0, launch["shared"]](*arguments)
    cuda.synchronize()
    pairs = []
    for number, (simulated, real) in enumerate(zip(launch["after"], arguments)):
        if isinstance(simulated, tuple) and simulated and isinstance(simulated[0], str) and simulated[0] == "array":
            pairs.append((f"argument {number}", np.ascontiguousarray(simulated[2]), real.copy_to_host()))
    return outcome(pairs)


def _argument(cuda: Any, held: dict, value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    if not (value and isinstance(value[0], str) and value[0] == "array"):
        return tuple(_argument(cuda, held, each) for each in value)
    _, address, array = value
    key = address, array.shape, array.strides, array.dtype.str
    if key not in held:
        array = np.asarray(array)
        plain = array if array.flags.c_contiguous or array.flags.f_contiguous else np.ascontiguousarray(array)
        held[key] = cuda.to_device(plain)
    return held[key]
