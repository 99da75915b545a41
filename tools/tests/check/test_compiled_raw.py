"""compiled: the evidence for CuPy's RawKernels, which a lesson launches and nobody runs."""

import importlib.util
import sys

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.check import CompileError, compiled

pytest.importorskip("triton")
pytest.importorskip("cuda.bindings.nvrtc", reason="needs NVRTC; pip install -e '.[compilers]' brings it")

LESSON = r'''
import numpy as np
from tools.gpu import cupy

CODE = r"""
template <typename T> __global__ void twice(const T* x, T* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = 2 * x[blockIdx.x * blockDim.x + threadIdx.x];
}
"""


def twice(x, kind="float", typo=""):
    module = cupy.RawModule(code=CODE + typo, name_expressions=[f"twice<{kind}>"])
    out = cupy.empty_like(x)
    for _ in range(2):
        module.get_function(f"twice<{kind}>")((x.size // 32,), (32,), (x, out), shared_mem=64)
    return out
'''


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    file, name = tmp_path_factory.mktemp("compiled") / "raw.py", "week9.day4.raw"
    file.write_text(LESSON)
    spec = importlib.util.spec_from_file_location(name, file)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[name]


def test_launches_of_raw_kernels_are_compiled_and_not_run(lesson):
    x = cp.asarray(np.zeros(96, np.float32))
    kernel = compiled(lesson.twice, x).kernels["twice"]
    assert (kernel.grid, kernel.num_warps, kernel.launches, kernel.shared_bytes) == ((3, 1, 1), 1, 2, 64)
    assert kernel.constants == {"template": "float"} and kernel.loads[0].width == 4
    assert not any("f64" in opcode for opcode in kernel.instructions)
    wide = compiled(lesson.twice, x, kind="double").kernels[0]
    assert any("f64" in opcode for opcode in wide.instructions) and "DADD" in " ".join(wide.sass)


def test_what_the_compiler_rejects_is_told_at_its_line(lesson):
    with pytest.raises(CompileError, match='identifier "factor" is undefined'):
        compiled(lesson.twice, cp.asarray(np.zeros(32, np.float32)), typo="__device__ int f() { return factor; }")
