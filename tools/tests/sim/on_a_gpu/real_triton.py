"""A recorded launch of Triton's on a real GPU."""

import importlib
import pickle
import sys
from typing import Any

import numpy as np

from tools.tests.sim.on_a_gpu.compare import outcome


def prepare() -> None:
    """Triton for a GPU; the driver is not asked before processes are forked."""
    import pytest

    import tools.gpu as gpu

    sys.meta_path[:] = [each for each in sys.meta_path if type(each).__name__ != "_WhenTritonIsImported"]
    card = gpu.Card("GPU", (9, 0), (13, 0))
    gpu.installed_card = lambda: card  # type: ignore[assignment]
    pytest.skip = lambda *_, **__: None  # type: ignore[assignment]
    import torch  # noqa: F401
    import triton.language  # noqa: F401


def replay(launch: dict) -> dict:
    """Its outcome, beside the simulated one."""
    import torch

    if "<locals>" in launch["qualname"]:
        return {"outcome": "not replayed", "how": "a kernel inside a function"}
    kernel = _kernel(launch["module"], launch["qualname"])
    if hasattr(torch.cuda, "init"):
        torch.cuda.init()
    import triton

    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    storages: dict[int, Any] = {}
    args, kwargs = _made(pickle.loads(launch["before"]), storages)
    kernel[launch["grid"]](*args, **kwargs)
    torch.cuda.synchronize()
    pairs = [
        (name, ours, theirs)
        for name, simulated, real in _tensors("", pickle.loads(launch["after"]), {}, storages)
        for ours, theirs in [(simulated, real)]
    ]
    return outcome(pairs)


def _kernel(module: str, qualname: str) -> Any:
    value: Any = importlib.import_module(module)
    for part in qualname.split("."):
        value = getattr(value, part)
    while not type(value).__name__ == "JITFunction":
        value = value.fn
    return value


def _made(value: tuple, storages: dict) -> Any:
    import torch

    kind, *rest = value
    match kind:
        case "tensor":
            address, data, dtype, offset, shape, stride = rest
            if address not in storages:
                storages[address] = torch.from_numpy(data.copy()).cuda().untyped_storage()
            return torch.empty(0, dtype=getattr(torch, dtype), device="cuda").set_(
                storages[address], offset, shape, stride
            )
        case "sequence":
            made = [_made(each, storages) for each in rest[1]]
            return tuple(made) if rest[0] else made
        case "dict":
            return {name: _made(each, storages) for name, each in rest[0].items()}
        case "descriptor":
            from triton.tools.tensor_descriptor import TensorDescriptor

            return TensorDescriptor(*(_made(each, storages) for each in rest[:4]))
        case "function":
            return _kernel(rest[0], rest[1])
    return rest[0]


def _tensors(name: str, value: tuple, seen: dict, storages: dict) -> Any:
    """(where, simulated, real) of each storage, in the dtype of its first tensor."""
    import torch

    kind, *rest = value
    if kind == "tensor" and rest[1] is not None:
        address, data, dtype, *_ = rest
        kept = storages[address]
        real = torch.empty(0, dtype=torch.uint8, device="cuda").set_(kept, 0, (len(data),), (1,)).cpu().numpy()
        of = _numpy(dtype, data.nbytes)
        yield name, np.frombuffer(data.tobytes(), of), np.frombuffer(real.tobytes(), of)
    elif kind == "sequence":
        for number, each in enumerate(rest[1]):
            yield from _tensors(f"{name}[{number}]", each, seen, storages)
    elif kind == "dict":
        for key, each in rest[0].items():
            yield from _tensors(f"{name}.{key}", each, seen, storages)
    elif kind == "descriptor":
        yield from _tensors(name, rest[0], seen, storages)


def _numpy(dtype: str, size: int) -> np.dtype:
    import ml_dtypes

    name = {"float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2"}.get(dtype, dtype)
    try:
        made = np.dtype(getattr(ml_dtypes, name, None) or name)
    except TypeError:
        made = np.dtype(np.uint8)
    return made if size % made.itemsize == 0 else np.dtype(np.uint8)
