"""Arrays that a kernel asks for: cuda.shared.array, cuda.local.array and cuda.const.array_like."""

from types import SimpleNamespace
from typing import Any

from tools.sim.cuda.memory.array import Array
from tools.sim.cuda.run.intrinsic import intrinsic
from tools.sim.cuda.run.warps import current


@intrinsic(name="cuda.shared.array")
def _shared(shape: Any, dtype: Any, alignment: Any = None) -> Array:
    return current().space.shared(shape, dtype)


@intrinsic(name="cuda.local.array")
def _local(shape: Any, dtype: Any, alignment: Any = None) -> Array:
    return current().space.local(shape, dtype)


@intrinsic(name="cuda.const.array_like")
def _constant(values: Array) -> Array:
    return values


shared, local = SimpleNamespace(array=_shared), SimpleNamespace(array=_local)
const = SimpleNamespace(array_like=_constant)
