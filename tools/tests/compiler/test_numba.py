"""CUDA kernels as Numba's own compiler sees them: machine code, accesses, and what it rejects."""

import os
import sys

import numpy as np
import pytest

from tools import ROOT
from tools.check import CompileError, compiled
from tools.compiler import NoCompiler
from tools.models import chips
from tools.tests.compiler.conftest import lesson_in
from tools.worker.process import environment

pytest.importorskip("numba_cuda", reason="needs numba-cuda; found none; pip install -e '.[compilers]'")

FILE = "tools/tests/compiler/lessons/cuda_kernels.py"
X = np.zeros(1024, np.float32)
MATRIX = np.zeros((64, 64), np.float32)
REJECTED = {  # kernel -> the source line, and words of the reason
    "float_index": ("x[i / 2] = 1.0", "Unsupported array index type float64"),
    "two_types": ("x[0] = part[0]", "Numba has no getitem(float64, Literal[int](0))."),
    "mistake_in_a_device_function": ("return value.amount", "Unknown attribute 'amount' of type float32"),
    "unknown_attribute": ("x[0] = x.length", "Unknown attribute 'length' of type array(float32, 1d, C)"),
    "too_few_arguments": ("x[0] = cuda.shfl_down_sync(0xFFFFFFFF, x[0])", "required positional argument: 'delta'"),
    "file_in_a_kernel": ('with open("x"):', "no with statement"),  # the simulator knows it, and is not asked twice
    "too_much_static_kernel": ("def too_much_static_kernel(x):", "too much shared data (0x10000 bytes, 0xc000 max)"),
}


@pytest.fixture(scope="module")
def kernels():
    return lesson_in("cuda_kernels")


def only(evidence):
    (kernel,) = evidence.kernels
    return kernel


def line_of(source: str) -> int:
    return 1 + [line.strip() for line in (ROOT / FILE).read_text().splitlines()].index(source)


def of(opcodes: dict[str, int], *beginnings: str) -> int:
    return sum(count for opcode, count in opcodes.items() if opcode.startswith(beginnings))


def facts(access) -> tuple:
    return access.line, access.kind, access.width, access.instructions


# The launch --------------------------------------------------------------------------------------


def test_a_kernel_is_compiled_with_the_types_of_the_real_launch(kernels):
    kernel = only(compiled(kernels.vector_add, X, X))
    assert kernel.signature == dict.fromkeys(("x", "y", "out"), "array(float32, 1d, C)")
    assert (kernel.name, kernel.file, kernel.line) == ("add_kernel", FILE, line_of("def add_kernel(x, y, out):"))
    assert (kernel.grid, kernel.num_warps, kernel.launches) == ((8, 1, 1), 4, 1)


def test_one_signature_is_one_entry_and_another_a_second(kernels):
    single, double = compiled(kernels.vector_add_twice, X, X).kernels
    assert (single.launches, single.signature["x"]) == (2, "array(float32, 1d, C)")
    assert (double.launches, double.signature["x"]) == (1, "array(float64, 1d, C)")
    assert double.sass["DADD"] == single.sass["FADD"] == 1


def test_a_value_of_an_outer_function_is_compiled_in(kernels):
    assert only(compiled(kernels.scale_by, 2.0, X)).sass.get("FADD") == 1  # twice a number is a sum
    assert "FMUL" in only(compiled(kernels.scale_by, np.float32(3), X)).sass


# The machine code --------------------------------------------------------------------------------


@pytest.mark.parametrize("chip", ["h100", "t4", "gb10"])
def test_a_vector_add_has_the_instructions_that_it_needs_on_every_chip(kernels, chip):
    kernel = only(compiled(kernels.vector_add, X, X, chip=chip))
    assert (kernel.chip, kernel.spills, kernel.shared_bytes) == (chip, 0, 0)
    assert (of(kernel.instructions, "ld.global"), of(kernel.instructions, "st.global")) == (2, 1)
    assert (of(kernel.sass, "LDG.E"), of(kernel.sass, "FADD"), of(kernel.sass, "STG.E")) == (2, 1, 1)
    assert 8 <= kernel.registers <= 24


def test_a_tiled_product_goes_through_shared_memory_between_two_barriers(kernels):
    kernel = only(compiled(kernels.matmul, MATRIX, MATRIX))
    assert (kernel.shared_bytes, kernel.num_warps) == (2 * 16 * 16 * 4, 8)
    assert kernel.sass["FFMA"] == 16  # the inner loop, unrolled
    assert of(kernel.sass, "BAR.SYNC") == 2
    assert of(kernel.instructions, "ld.shared") == 32 and 0 < of(kernel.sass, "LDS") <= 32


def test_a_literal_of_python_creeps_in_as_float64(kernels):
    wide, single = (only(compiled(kernels.launch, name, X)) for name in ("scale_kernel", "scale_in_float32_kernel"))
    assert {"F2F.F64.F32", "DFMA", "F2F.F32.F64"} <= wide.sass.keys()
    assert "FFMA" in single.sass and not of(single.sass, "D", "F2F")


def test_dynamic_shared_memory_counts_as_that_of_the_block(kernels):
    assert only(compiled(kernels.launch, "dynamic_kernel", X, 128, 512)).shared_bytes == 512


def test_registers_that_do_not_suffice_are_spilled(kernels):
    kernel = only(compiled(kernels.launch, "many_registers_kernel", X))
    assert kernel.registers == 255 and kernel.spills >= 4 * of(kernel.sass, "LDL", "STL") > 0
    assert kernel.occupancy.limiter == "registers"


def test_max_registers_is_heeded_and_costs_spills(kernels):
    few, many = (only(compiled(kernels.launch, f"{name}_registers_kernel", X)) for name in ("few", "many"))
    assert few.registers <= 64 and few.spills > many.spills
    assert few.occupancy.blocks > many.occupancy.blocks


# Line by line ------------------------------------------------------------------------------------


def test_each_line_says_how_wide_it_moves_global_memory(kernels):
    single, double = compiled(kernels.vector_add_twice, X, X).kernels
    line = line_of("out[i] = x[i] + y[i]")
    assert list(map(facts, single.accesses)) == [(line, "load", 4, 2), (line, "store", 4, 1)]
    assert list(map(facts, double.accesses)) == [(line, "load", 8, 2), (line, "store", 8, 1)]
    assert single.loads[0].source == "out[i] = x[i] + y[i]" and single.loads[0].sectors_per_request is None


def test_an_access_in_a_device_function_stands_at_its_own_line(kernels):
    kernel = only(compiled(kernels.sum_of_weights, X))
    assert list(map(facts, kernel.accesses)) == [
        (line_of("return x[i] / float32(x.size)"), "load", 4, 1),
        (line_of("cuda.atomic.add(out, 0, in_single(weight(x, i)))"), "atomic", 4, 1),
    ]
    assert not of(kernel.sass, "D", "F2F.F64")  # in_single has a signature


def test_the_texts_of_ptx_and_sass_are_there_to_be_read(kernels):
    kernel = only(compiled(kernels.vector_add, X, X))
    assert ".target sm_90" in kernel.text("ptx") and "LDG.E" in kernel.text("sass")


def test_the_table_says_what_is_known(kernels):
    text = str(compiled(kernels.matmul, MATRIX, MATRIX))
    assert "h100: grid 4 x 4 x 1, 8 warps\n" in text
    assert "2048 bytes of shared memory" in text and max(map(len, text.splitlines())) <= 80


# What is rejected --------------------------------------------------------------------------------


def rejection(kernels, *args, **options) -> list[str]:
    with pytest.raises(CompileError) as caught:
        compiled(kernels.launch, *args, **options)
    return str(caught.value).splitlines()


@pytest.mark.parametrize("name", REJECTED)
def test_a_rejected_kernel_is_told_with_the_learners_line_and_the_compilers_reason(kernels, name):
    source, reason = REJECTED[name]
    head, line, *words = rejection(kernels, name, X)
    assert head == f"{name} does not compile for h100: {FILE}, line {line_of(source)}"
    assert line == f"    {source}"
    assert reason in " ".join(words)
    assert len(words) <= 4 and max(map(len, words)) <= 80


def test_threads_that_need_more_registers_than_there_are_cannot_be_launched(kernels):
    head, _, *reason = rejection(kernels, "many_registers_kernel", X, 1024)
    assert head.startswith("hold_many compiles, but cannot be launched on h100: ")
    assert " ".join(reason).startswith("A block of 1024 threads needs 255 registers for each, h100 has 65536 in all.")


def test_more_shared_memory_than_the_chip_has_cannot_be_launched(kernels):
    reason = " ".join(rejection(kernels, "much_shared_kernel", X, 128, 40_000, chip="t4")[2:])
    assert reason.startswith("It needs 80000 bytes of shared memory, t4 has 65536.")


def test_a_chip_that_the_compiler_has_left_behind_is_named(kernels):
    with pytest.raises(ValueError, match="numba-cuda's compiler makes no code for v100"):
        compiled(kernels.vector_add, X, X, chip="v100")


@pytest.mark.parametrize("absent", ["numba", "numba_cuda"])  # Numba alone brings an older numba.cuda
def test_without_numba_cuda_the_answer_says_how_to_get_it(monkeypatch, absent):
    from tools.compiler.numba import code

    monkeypatch.setitem(sys.modules, absent, None)
    with pytest.raises(NoCompiler) as caught:
        code.compiler()
    text = str(caught.value)
    assert text.startswith(f"needs numba-cuda and NVIDIA's compiler, for CUDA kernels; found none (import of {absent} ")
    assert text.endswith("-m pip install -e '.[compilers]'") and caught.value.what == "numba-cuda"


# Where a driver is installed ----------------------------------------------------------------------

PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry store_kernel(.param .u64 out)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd2], %r1;
    ret;
}
"""


def test_a_kernel_that_the_drivers_cache_knows_has_the_same_figures(monkeypatch):
    """Then nothing is assembled, and the linker's log says nothing about it."""
    from tools.compiler.numba import code

    kernel = code.Code("store_kernel", chips.chip("h100"), PTX, 0)
    assembled, link = code.assemble(kernel), code._link
    monkeypatch.setattr(code, "_link", lambda kernel: (link(kernel)[0], ""))
    again = code.assemble(kernel)
    assert (again.registers, again.spills, again.local) == (assembled.registers, 0, assembled.local)


def test_the_process_that_compiles_finds_no_gpu_and_uses_no_cache_of_the_drivers():
    assert environment("compile")["CUDA_VISIBLE_DEVICES"] == environment("interpret")["CUDA_VISIBLE_DEVICES"] == ""
    assert environment("compile")["CUDA_CACHE_DISABLE"] == "1"
    assert environment("gpu").get("CUDA_VISIBLE_DEVICES") == os.environ.get("CUDA_VISIBLE_DEVICES")
