"""A stand-in for numba.cuda where there is no GPU: `from tools.gpu import cuda`, and kernels run unchanged.

Kernels run for all threads in lockstep warps on NumPy, and are counted and checked meanwhile; what the host calls
keeps to Numba's rules on the simulated device of tools/sim/host.py. Each room imports from those before it:

session, faults, types   numbers   memory   run   translate   host   device   jit
"""

from types import ModuleType, SimpleNamespace
from typing import Any

from tools.sim.cuda import jit as _jit
from tools.sim.cuda import types
from tools.sim.cuda.device import arrays as _device_arrays
from tools.sim.cuda.device import atomics as atomic
from tools.sim.cuda.device import barriers, cache_hints, cg, fp16, geometry, libdevice, scalars, shuffles
from tools.sim.cuda.host import allocation, arguments, arrays, device, errors, host_arrays, streams
from tools.sim.cuda.run import debugger
from tools.sim.cuda.translate import not_simulated

_NAMES: dict[ModuleType, str] = {
    _jit: "jit",
    geometry: "blockDim blockIdx grid gridDim gridsize laneid threadIdx warpsize",
    _device_arrays: "const local shared",
    barriers: "syncthreads syncthreads_and syncthreads_count syncthreads_or syncwarp "
    "threadfence threadfence_block threadfence_system",
    shuffles: "activemask all_sync any_sync ballot_sync eq_sync lanemask_lt match_all_sync match_any_sync "
    "shfl_down_sync shfl_sync shfl_up_sync shfl_xor_sync",
    scalars: "brev cbrt clz ffs fma nanosleep popc selp",
    cache_hints: "ldca ldcg ldcs ldcv ldlu stcg stcs stwb stwt",
    debugger: "debug",
    arguments: "In InOut Out",
    allocation: "is_cuda_array",
    arrays: "as_cuda_array device_array device_array_like from_cuda_array_interface to_device",
    host_arrays: "managed_array mapped mapped_array mapped_array_like pinned pinned_array pinned_array_like",
    streams: "default_stream event event_elapsed_time external_stream legacy_default_stream stream synchronize",
    device: "MemoryInfo close cuda_error current_context defer_cleanup detect get_current_device gpus is_available "
    "is_bfloat16_supported is_float16_supported is_fp8_supported is_supported_version list_devices profile_start "
    "profile_stop profiling select_device",
    errors: "CudaSupportError",
}
globals().update({name: getattr(module, name) for module, names in _NAMES.items() for name in names.split()})
__all__ = ["atomic", "cg", "cudadrv", "fp16", "implementation", "libdevice", "types"]
__all__ += " ".join(_NAMES.values()).split()

_TYPES = {name: kind for name, kind in types.NAMES.items() if name not in ("float16", "f2")}  # as numba.cuda has them
implementation = "the simulator of this course"
cudadrv = SimpleNamespace(  # where programs look for classes
    driver=SimpleNamespace(CudaAPIError=errors.CudaAPIError),
    error=SimpleNamespace(CudaSupportError=errors.CudaSupportError),
    devicearray=SimpleNamespace(
        DeviceNDArray=arrays.DeviceNDArray,
        DeviceRecord=arrays.DeviceRecord,
        MappedNDArray=host_arrays.MappedNDArray,
        ManagedNDArray=host_arrays.ManagedNDArray,
    ),
)


def __getattr__(name: str) -> Any:
    """Types, as cuda.float32; and why there is nothing else."""
    if name in _TYPES:
        return _TYPES[name]
    raise AttributeError(not_simulated.explain(name))


def __dir__() -> list[str]:
    return [*__all__, *_TYPES]
