"""Names of numba.cuda that this simulator has not, with the reasons."""

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
NAMES_IN_C = "char short int long longlong uchar ushort uint ulong ulonglong float double"
VECTORS = [f"{name}{width}" for name in NAMES_IN_C.split() for width in "1234"]
VECTORS += [f"{name}x{width}" for name in f"{INTEGERS} float32 float64".split() for width in "1234"]

REASONS = {
    "vectors as values are not simulated; an array with an axis of 2 or 4 elements is": " ".join(VECTORS)
    + " dim3 Dim3",
    "bfloat16 is not simulated in CUDA kernels; Triton kernels know it": "bfloat16",
    "it needs Numba's compiler, and the simulator compiles nothing": """compile compile_all compile_ptx
        compile_for_current_device compile_ptx_for_current_device literal_unroll alias optional deferred_type
        config_default_cc numba_cuda_default_ptx_cc""",
    "it makes kernels of its own, and here the learner writes them": "reduce Reduce vectorize guvectorize",
    "it links code that is not Python": """declare_device Archive CUSource Cubin Fatbin LTOIR LinkableCode Object
        PTXSource ffi ffi_forced_object""",
    "one process with one device is simulated": """open_ipc_array IpcHandle GetIpcHandleMixin
        per_thread_default_stream""",
    "it belongs to the inside of numba-cuda": """BaseCUDAMemoryManager HostOnlyCUDAMemoryManager set_memory_manager
        MappedMemory MemoryPointer PinnedMemory KernelRuntimeError GridGroup grid_group require_context runtime
        HAS_NUMBA prepare_shape_strides_dtype""",
}
REASON = {name: reason for reason, names in REASONS.items() for name in names.split()}


def explain(name: str) -> str:
    """Why the module has no such name."""
    if name in REASON:
        return f"numba.cuda has {name}, and its simulator has not:\n{REASON[name]}."
    return f"module 'numba.cuda' has no attribute {name!r}"
