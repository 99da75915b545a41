"""Whole kernels, as lessons have them: their results, and that NVIDIA's compiler takes the same sources."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim.recording import record
from tools.tests.sim.cupy_raw import (
    test_compiling,
    test_cooperative_groups,
    test_counts,
    test_fences,
    test_functions,
    test_half,
    test_races,
    test_structures,
    test_waiting,
    test_warps,
)
from tools.tests.sim.cupy_raw.kernels import all_of_them, cases
from tools.tests.sim.cupy_raw.ladders import test_language_model, test_reductions, test_samples, test_sgemm
from tools.tests.sim.cupy_raw.running import needs_compiler

CASES = {case.kernel: case for case in cases()}
SOURCES = {
    "kernels": "\n".join(dict.fromkeys(case.code for case in cases())),
    "counts": test_counts.CODE,
    "functions": test_functions.CODE,
    "halves": test_half.CODE,
    "correct": test_races.CORRECT,
    "races": test_races.RACES,
    "warps": test_warps.CODE,
    "module": test_compiling.MODULE,
    "groups": test_cooperative_groups.CODE,
    "fences": test_fences.RACES,
    "fences and flags": test_fences.CORRECT,
    "waiting": test_waiting.CODE,
    "structures": test_structures.CODE,
    "reductions": test_reductions.CODE,
    "products": test_sgemm.CODE,
    "language model": test_language_model.CODE,
    "samples": test_samples.CODE,
}


@pytest.fixture(scope="module")
def module():
    return all_of_them(cp)


@needs_compiler
@pytest.mark.parametrize("name", CASES)
def test_a_kernel_computes_what_numpy_does(module, name):
    case = CASES[name]
    with record() as counters:
        got = case.run(cp, module)
    np.testing.assert_allclose(got, case.expected, rtol=0, atol=case.tolerance)
    assert counters.launches[-1].counts.requests > 0
    assert all(line.source for line in counters.launches[-1].lines)


@needs_compiler
def test_counting_changes_no_result(module):
    for case in CASES.values():
        with record():
            counted = case.run(cp, module)
        assert (counted == case.run(cp, module)).all(), case.kernel


@pytest.mark.parametrize("name", SOURCES)
def test_nvidias_compiler_takes_the_same_source(name):
    nvrtc = pytest.importorskip(
        "cuda.bindings.nvrtc",
        reason="needs cuda-bindings with NVRTC; not installed; pip install -e '.[compilers]' brings them",
    )
    from cuda import pathfinder

    program = nvrtc.nvrtcCreateProgram(SOURCES[name].encode(), b"kernel.cu", 0, [], [])[1]
    headers = pathfinder.find_nvidia_header_directory("cudart")
    folders = [f"-I{folder}".encode() for folder in (headers, f"{headers}/cccl")]  # of CUDA, and of its C++ library
    options = [b"--gpu-architecture=compute_90", b"-std=c++17", b"-default-device", *folders]
    status = nvrtc.nvrtcCompileProgram(program, len(options), options)[0]
    log = bytearray(nvrtc.nvrtcGetProgramLogSize(program)[1])
    nvrtc.nvrtcGetProgramLog(program, log)
    assert status == 0, log.decode()
