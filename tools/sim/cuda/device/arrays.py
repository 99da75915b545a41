"""Arrays that a kernel asks for: cuda.shared.array, cuda.local.array and cuda.const.array_like."""

from types import SimpleNamespace

from tools.sim.cuda.run.intrinsic import intrinsic
from tools.sim.cuda.run.warps import current


@intrinsic(name="cuda.shared.array")
def _shared(shape, dtype, alignment=None):
    return current().space.shared(shape, dtype)


@intrinsic(name="cuda.local.array")
def _local(shape, dtype, alignment=None):
    return current().space.local(shape, dtype)


@intrinsic(name="cuda.const.array_like")
def _constant(values):
    return values


shared, local = SimpleNamespace(array=_shared), SimpleNamespace(array=_local)
const = SimpleNamespace(array_like=_constant)
