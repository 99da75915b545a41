"""NVIDIA's compiler takes the sources in which tests use tensor cores, asynchronous copies, barriers and atomics."""

from pathlib import Path

import pytest

from tools.tests.sim.cupy_raw import test_async_copies, test_atomic_objects, test_barriers, test_bfloat16, test_wmma

SOURCES = {
    "tensor cores": (test_wmma.TILED, "crt/mma.h"),
    "numbers of 16 bits": (test_bfloat16.CODE, "cuda_bf16.h"),
    "copies": (test_async_copies.PRIMITIVES, "cuda_pipeline.h"),
    "copies in PTX": (test_async_copies.PTX, ""),
    "objects": (
        test_barriers.BLOCK
        + test_barriers.BARRIERS
        + test_barriers.PIPELINES
        + test_async_copies.GROUPS
        + test_atomic_objects.CODE,
        "cccl/cuda/pipeline",
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_nvidias_compiler_takes_the_same_source(name):
    nvrtc = pytest.importorskip(
        "cuda.bindings.nvrtc",
        reason="needs cuda-bindings with NVRTC; not installed; pip install -e '.[compilers]' brings them",
    )
    from cuda import pathfinder

    code, header = SOURCES[name]
    headers = Path(pathfinder.find_nvidia_header_directory("cudart") or "")
    if header and not (headers / header).is_file():
        pytest.skip(f"needs CUDA's header {header}; not found; pip install nvidia-cuda-crt nvidia-cuda-cccl bring it")
    program = nvrtc.nvrtcCreateProgram(code.encode(), b"kernel.cu", 0, [], [])[1]
    flags = "--gpu-architecture=compute_90", "-std=c++17", "-default-device", f"-I{headers}", f"-I{headers / 'cccl'}"
    status = nvrtc.nvrtcCompileProgram(program, len(flags), [flag.encode() for flag in flags])[0]
    log = bytearray(nvrtc.nvrtcGetProgramLogSize(program)[1])
    nvrtc.nvrtcGetProgramLog(program, log)
    assert status == 0, log.decode()
