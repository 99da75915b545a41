"""What NVIDIA's compiler says of kernels in CUDA C++, without a GPU."""

import sys

import pytest

from tools.compiler import CompileError, NoCompiler
from tools.compiler.nvrtc import Shape, Source, compiled
from tools.sim import cupy

pytest.importorskip(
    "cuda.bindings.nvrtc",
    reason="needs cuda-bindings with NVRTC; not installed; pip install -e '.[compilers]' brings them",
)

CODE = r"""
#include <cuda_fp16.h>

template <typename T, int N> __global__ void reverse(const T* __restrict__ x, T* out) {
    __shared__ T tile[N];
    int i = threadIdx.x;
    tile[i] = x[i];
    __syncthreads();
    out[i] = tile[N - 1 - i];
}

extern "C" __global__ void copy(const float4* x, float4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i];
}

extern "C" __global__ void spills(float* x, int n) {
    float many[64];
    for (int i = 0; i < 64; i++) many[i] = x[i * n];
    __syncthreads();
    for (int i = 0; i < 64; i++) x[i * n + 1] = many[63 - i] * many[(i * 7) % 64];
}
"""


def test_a_kernel_shows_its_registers_its_memory_and_its_accesses():
    kernel = compiled(Source(CODE, "copy"), "h100", Shape(grid=(4, 2), block=(96,), dynamic=1000))
    assert (kernel.name, kernel.chip, kernel.file, kernel.line) == ("copy", "h100", "copy.cu", 12)
    assert kernel.signature == {"x": "const float4*", "out": "float4*", "n": "int"}
    assert 8 <= kernel.registers <= 32 and kernel.spills == 0 and kernel.shared_bytes == 1000
    assert (kernel.num_warps, kernel.grid) == (3, (4, 2))
    load, store = kernel.accesses
    assert (load.kind, load.width, load.line, load.source) == ("load", 16, 15, "out[i] = x[i];")
    assert (store.kind, store.width, store.line) == ("store", 16, 15)
    assert any(opcode.startswith("LDG.E.128") for opcode in kernel.sass)


@pytest.mark.parametrize("name, shared, width", [("reverse<float, 64>", 256, 4), ("reverse<__half, 32>", 64, 2)])
def test_a_template_is_named_with_its_arguments(name, shared, width):
    kernel = compiled(Source(CODE, name))
    assert (kernel.shared_bytes, kernel.accesses[0].width) == (shared, width)
    assert kernel.name == "reverse" and kernel.constants == {"template": name[8:-1]}


def test_each_kernel_of_a_source_is_seen_alone():
    assert not any(opcode.startswith("BAR") for opcode in compiled(Source(CODE, "copy")).sass)
    assert any(opcode.startswith("BAR") for opcode in compiled(Source(CODE, "spills")).sass)


def test_a_bound_on_registers_makes_a_kernel_spill():
    free, bound = (compiled(Source(CODE, "spills", options)) for options in ((), ("--maxrregcount=32",)))
    assert free.spills == 0 and bound.spills > 0 and bound.registers <= 32 < free.registers


def test_chips_differ():
    kernels = {chip: compiled(Source(CODE, "copy"), chip) for chip in ("t4", "b200")}
    assert kernels["t4"].occupancy.of_warps == 32 and kernels["b200"].occupancy.of_warps == 64


def test_what_was_compiled_before_comes_from_the_cache(monkeypatch):
    known = compiled(Source(CODE, "copy"))
    for asked in ("nvrtc._compile", "numba.code._link"):  # neither compiler nor assembler is asked again
        monkeypatch.setattr(f"tools.compiler.{asked}", None)
    again = compiled(Source(CODE, "copy"))
    assert (again.registers, again.spills, again.sass) == (known.registers, known.spills, known.sass)
    assert again.from_cache and ".entry copy(" in again.text("ptx") and ".entry spills(" not in again.text("ptx")


@pytest.mark.parametrize(
    "body, says",
    [
        ("out[0] = facter; // here", 'identifier "facter" is undefined'),
        ('asm("mov.u33 %r1, 1;"); // here', "The assembler says:"),
    ],
)
def test_an_error_is_told_at_its_line(body, says):
    code = f'extern "C" __global__ void f(float* out) {{\n    int i = threadIdx.x;\n    {body}\n}}\n'
    with pytest.raises(CompileError) as caught:
        compiled(Source(code, "f"))
    text = str(caught.value)
    assert text.startswith("f does not compile for h100: f.cu, line ") and says in text and len(text.splitlines()) <= 6
    assert "asm" in body or "line 3\n    out[0] = facter; // here" in text


def test_a_template_without_global_is_told_at_its_line():
    code = "\n\n\ntemplate <typename T> void f(T* out) { out[0] = 7; }\n"
    with pytest.raises(CompileError, match="f.cu, line 4\n(.|\n)*__global__"):
        compiled(Source(code, "f<int>"))


@pytest.mark.parametrize("name", ["gone", "reverse"])
def test_a_kernel_that_is_not_there(name):
    with pytest.raises(CompileError, match=f"There is no kernel {name} in it"):
        compiled(Source(CODE, name))


def test_a_simulated_raw_kernel_says_where_its_code_stands():
    kernel = cupy.RawKernel(CODE, "copy", ("-DN=3",))
    source = Source.of(kernel)
    assert (source.code, source.name, source.options) == (CODE, "copy", ("-DN=3",))
    assert source.file == __file__
    lines = open(__file__, encoding="utf-8").read().splitlines()
    assert lines[source.line - 1].startswith('extern "C" __global__ void copy(')


def test_without_nvrtc_it_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", None)
    with pytest.raises(NoCompiler) as caught:
        compiled(Source(CODE, "copy"))
    assert "needs NVRTC" in str(caught.value) and "pip install" in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 5


def test_a_part_of_cudas_headers_that_is_missing_is_no_fault_of_the_source():
    code = '#include "crt/not_there.h"\nextern "C" __global__ void f() {}\n'
    with pytest.raises(NoCompiler, match="needs crt/not_there.h, which CUDA's toolkit has"):
        compiled(Source(code, "f"))
