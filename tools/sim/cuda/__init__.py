"""A stand-in for numba.cuda where there is no GPU: `from tools.gpu import cuda`, and kernels run unchanged.

Kernels run for all threads in lockstep warps on NumPy, and are counted and checked meanwhile; what the host calls
keeps to Numba's rules on the simulated device of tools/sim/host.py. Each room imports from those before it:

faults, types   numbers   memory   run   translate   host   device   jit
"""

from types import SimpleNamespace as _Module

from tools.sim.cuda import types
from tools.sim.cuda.device import atomics as atomic
from tools.sim.cuda.device import cg, fp16, libdevice, random
from tools.sim.cuda.device.arrays import const, local, shared
from tools.sim.cuda.device.barriers import (
    syncthreads,
    syncthreads_and,
    syncthreads_count,
    syncthreads_or,
    syncwarp,
    threadfence,
    threadfence_block,
    threadfence_system,
)
from tools.sim.cuda.device.geometry import blockDim, blockIdx, grid, gridDim, gridsize, laneid, threadIdx, warpsize
from tools.sim.cuda.device.scalars import brev, cbrt, clz, ffs, fma, nanosleep, popc, selp
from tools.sim.cuda.device.shuffles import (
    activemask,
    all_sync,
    any_sync,
    ballot_sync,
    eq_sync,
    lanemask_lt,
    match_all_sync,
    match_any_sync,
    shfl_down_sync,
    shfl_sync,
    shfl_up_sync,
    shfl_xor_sync,
)
from tools.sim.cuda.host import arrays, errors, host_arrays
from tools.sim.cuda.host.allocation import is_cuda_array
from tools.sim.cuda.host.arguments import In, InOut, Out
from tools.sim.cuda.host.arrays import (
    as_cuda_array,
    device_array,
    device_array_like,
    from_cuda_array_interface,
    to_device,
)
from tools.sim.cuda.host.device import (
    MemoryInfo,
    close,
    cuda_error,
    current_context,
    defer_cleanup,
    detect,
    get_current_device,
    gpus,
    is_available,
    is_bfloat16_supported,
    is_float16_supported,
    is_fp8_supported,
    is_supported_version,
    list_devices,
    profile_start,
    profile_stop,
    profiling,
    select_device,
)
from tools.sim.cuda.host.errors import CudaSupportError
from tools.sim.cuda.host.host_arrays import (
    managed_array,
    mapped,
    mapped_array,
    mapped_array_like,
    pinned,
    pinned_array,
    pinned_array_like,
)
from tools.sim.cuda.host.streams import (
    default_stream,
    event,
    event_elapsed_time,
    external_stream,
    legacy_default_stream,
    stream,
    synchronize,
)
from tools.sim.cuda.jit import jit
from tools.sim.cuda.run.debugger import debug
from tools.sim.cuda.translate import not_simulated

__all__ = [
    "activemask",
    "all_sync",
    "any_sync",
    "as_cuda_array",
    "atomic",
    "ballot_sync",
    "blockDim",
    "blockIdx",
    "brev",
    "cbrt",
    "cg",
    "close",
    "clz",
    "const",
    "cuda_error",
    "cudadrv",
    "CudaSupportError",
    "current_context",
    "debug",
    "default_stream",
    "defer_cleanup",
    "detect",
    "device_array",
    "device_array_like",
    "eq_sync",
    "event",
    "event_elapsed_time",
    "external_stream",
    "ffs",
    "fma",
    "fp16",
    "from_cuda_array_interface",
    "get_current_device",
    "gpus",
    "grid",
    "gridDim",
    "gridsize",
    "implementation",
    "In",
    "InOut",
    "is_available",
    "is_bfloat16_supported",
    "is_cuda_array",
    "is_float16_supported",
    "is_fp8_supported",
    "is_supported_version",
    "jit",
    "laneid",
    "lanemask_lt",
    "legacy_default_stream",
    "libdevice",
    "list_devices",
    "local",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "match_all_sync",
    "match_any_sync",
    "MemoryInfo",
    "nanosleep",
    "Out",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "popc",
    "profile_start",
    "profile_stop",
    "profiling",
    "random",
    "select_device",
    "selp",
    "shared",
    "shfl_down_sync",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_xor_sync",
    "stream",
    "synchronize",
    "syncthreads",
    "syncthreads_and",
    "syncthreads_count",
    "syncthreads_or",
    "syncwarp",
    "threadfence",
    "threadfence_block",
    "threadfence_system",
    "threadIdx",
    "to_device",
    "types",
    "warpsize",
]

_TYPES = {name: kind for name, kind in types.NAMES.items() if name not in ("float16", "f2")}  # as numba.cuda has them
implementation = "the simulator of this course"
cudadrv = _Module(  # where programs look for classes
    driver=_Module(CudaAPIError=errors.CudaAPIError),
    error=_Module(CudaSupportError=errors.CudaSupportError),
    devicearray=_Module(
        DeviceNDArray=arrays.DeviceNDArray,
        DeviceRecord=arrays.DeviceRecord,
        MappedNDArray=host_arrays.MappedNDArray,
        ManagedNDArray=host_arrays.ManagedNDArray,
    ),
)


def __getattr__(name: str):
    """Types, as cuda.float32; and why there is nothing else."""
    if name in _TYPES:
        return _TYPES[name]
    raise AttributeError(not_simulated.explain(name))


def __dir__() -> list[str]:
    return [*globals(), *_TYPES]
