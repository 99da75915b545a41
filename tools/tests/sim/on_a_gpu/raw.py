"""A recorded launch of CUDA C++ on a real GPU."""

from typing import Any

import numpy as np

from tools.tests.sim.on_a_gpu.compare import outcome

TOOLKIT = "/usr/local/cuda/include"


def prepare() -> None:
    import cupy  # noqa: F401
    import ml_dtypes  # noqa: F401


def replay(launch: dict) -> dict:
    """Its outcome, beside the simulated one."""
    import cupy

    kernel, module = _kernel(cupy, launch)
    for name, contents in launch["variables"].items():
        variable = cupy.ndarray((len(contents),), np.uint8, module.get_global(name))
        variable[...] = cupy.asarray(np.frombuffer(contents, np.uint8))
    held = {}
    for address, contents in launch["before"].items():
        held[address] = cupy.cuda.alloc(max(1, len(contents)))
        if contents:
            data = np.frombuffer(contents, np.uint8)
            cupy.ndarray(data.shape, np.uint8, held[address])[...] = cupy.asarray(data)
    arguments = tuple(_argument(cupy, held, each) for each in launch["arguments"])
    kernel(launch["grid"], launch["block"], arguments, shared_mem=launch["shared"])
    cupy.cuda.Device().synchronize()
    pairs = []
    for address, contents in launch["after"].items():
        if contents:
            dtype = _dtype(launch["arguments"], address, len(contents))
            got = cupy.ndarray((len(contents),), np.uint8, held[address]).get()
            pairs.append((_name(launch["arguments"], address), np.frombuffer(contents, dtype), got.view(dtype)))
    return outcome(pairs)


def _kernel(cupy: Any, launch: dict) -> tuple[Any, Any]:
    options = launch["options"]
    if "mma.h" in launch["code"]:  # CUDA's wheels, where CuPy looks first, have not what it includes
        options = (*options, f"-I{TOOLKIT}")
    module = cupy.RawModule(
        code=launch["code"],
        options=options,
        backend=launch["backend"],
        name_expressions=launch["expressions"] or None,
        enable_cooperative_groups=launch["cooperative"],
    )
    kernel = module.get_function(launch["kernel"])
    if launch["shared"] > 48 << 10:
        kernel.max_dynamic_shared_size_bytes = launch["most_shared"]
    return kernel, module


def _argument(cupy: Any, held: dict, place: tuple) -> Any:
    if place[0] == "value":
        return place[1]
    _, address, offset, _ = place
    return cupy.ndarray((1,), np.uint8, held[address] + offset)


def _dtype(places: list[tuple], address: int, size: int) -> np.dtype:
    """Of the first array that lies there; bytes where that does not fit."""
    import ml_dtypes

    name = next(each[3] for each in places if each[0] == "memory" and each[1] == address)
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name or "uint8")
    return dtype if size % dtype.itemsize == 0 else np.dtype(np.uint8)


def _name(places: list[tuple], address: int) -> str:
    numbers = (number for number, each in enumerate(places) if each[0] == "memory" and each[1] == address)
    return f"argument {next(numbers)}"
