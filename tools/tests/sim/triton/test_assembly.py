"""Inline assembly: conversions, bits and arithmetic; the clock; what is not simulated."""

import ml_dtypes
import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import tools.gpu
from tools.sim.triton.assembly import evaluated
from tools.sim.triton.faults import Fault

pytestmark = pytest.mark.skipif(tools.gpu.card() is not None, reason="tests the simulator: run it with --sim")

# In kernels --------------------------------------------------------------------------------------

PACK_FP4 = tl.constexpr("""
{
    .reg .b8 first, second, third, fourth;
    cvt.rn.satfinite.e2m1x2.f32 first, $5, $1;    // the second operand becomes the lower half
    cvt.rn.satfinite.e2m1x2.f32 second, $6, $2;
    cvt.rn.satfinite.e2m1x2.f32 third, $7, $3;
    cvt.rn.satfinite.e2m1x2.f32 fourth, $8, $4;
    mov.b32 $0, {first, second, third, fourth};
}
""")


@triton.jit
def pack_fp4(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    even, odd = tl.load(x_ptr + 2 * i), tl.load(x_ptr + 2 * i + 1)
    packed = tl.inline_asm_elementwise(PACK_FP4, "=r,r,r,r,r,r,r,r,r", [even, odd], tl.int8, True, 4)
    tl.store(out_ptr + i, packed)


def test_floats_are_converted_to_four_bits_two_to_a_byte(rng):
    x = (rng.standard_normal(64) * 4).astype(np.float32)
    x[:4] = [0.25, 100.0, -100.0, 0.75]  # two ties, and what is too large
    out = torch.empty(32, dtype=torch.int8)
    pack_fp4[(1,)](torch.from_numpy(x), out, N=32)
    bits = np.clip(x, -6, 6).astype(ml_dtypes.float4_e2m1fn).view(np.uint8)
    assert out.numpy().view(np.uint8).tolist() == (bits[0::2] | bits[1::2] << 4).tolist()


@triton.jit
def wait_for_nothing(x_ptr, N: tl.constexpr):
    tl.extra.cuda.gdc_wait()
    tl.store(x_ptr + tl.arange(0, N), 1.0)
    tl.extra.cuda.gdc_launch_dependents()


def test_a_kernel_that_waits_for_the_one_before_it_has_nothing_to_wait_for():
    x = torch.zeros(16)
    wait_for_nothing[(1,)](x, N=16, launch_pdl=True)
    assert x.tolist() == [1.0] * 16


@triton.jit
def clock(out_ptr):
    before = tl.extra.cuda.globaltimer()
    program = tl.program_id(0)
    tl.store(out_ptr + program, tl.extra.cuda.globaltimer() - before)
    tl.store(out_ptr + 200 + program, tl.extra.cuda.smid().to(tl.int64))


def test_there_is_a_clock_and_a_multiprocessor():
    out = torch.zeros(400, dtype=torch.int64)
    clock[(200,)](out)
    assert (out[:200] >= 0).all() and sorted(set(out[200:].tolist())) == list(range(132))


@triton.jit
def two_results(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    half, twice = tl.inline_asm_elementwise(
        "mul.f32 $0, $2, 0f3F000000; add.f32 $1, $2, $2;", "=f,=f,f", [x], (tl.float32, tl.float32), True, 1
    )
    tl.store(out_ptr + i, half)
    tl.store(out_ptr + N + i, twice)


def test_assembly_may_have_several_results():
    out = torch.empty(2, 4)
    two_results[(1,)](torch.arange(4).float(), out, N=4)
    assert out.tolist() == [[0, 0.5, 1, 1.5], [0, 2, 4, 6]]


@triton.jit
def of_undefined(x_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i, tl.inline_asm_elementwise("add.f32 $0, $1, $1;", "=f,f", [x], tl.float32, True, 1))


def test_of_undefined_elements_the_results_are_undefined():
    with pytest.raises(Fault, match="What the mask keeps out is undefined"):
        of_undefined[(1,)](torch.zeros(8), 7, N=8)


@triton.jit
def lane(out_ptr, ASM: tl.constexpr, CONSTRAINTS: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.inline_asm_elementwise(ASM, CONSTRAINTS, [i], tl.int32, True, 1))


@pytest.mark.parametrize(
    ("asm", "unknown"),
    [
        ("mov.u32 $0, %laneid;", "%laneid"),
        ("ld.global.b32 $0, [$1];", "ld.global.b32"),
        ("shfl.sync.bfly.b32 $0, $1, 1, 31, 0xffffffff;", "shfl.sync.bfly.b32"),
        ("@p mov.b32 $0, $1;", "@p"),
        ("min.NaN.f32 $0, $1, $1;", "min.NaN.f32"),
    ],
)
def test_an_instruction_that_is_not_known_is_named(asm, unknown):
    with pytest.raises(Fault, match=f"Inline assembly with {unknown} is not simulated here; a GPU runs it") as caught:
        lane[(1,)](torch.zeros(4, dtype=torch.int32), asm, "=r,r", N=4)
    assert caught.value.function == "lane"


def test_constraints_must_name_as_many_registers_as_there_are():
    with pytest.raises(Fault, match="The constraints name 2 registers for the inputs; with pack=1 they fill 1."):
        lane[(1,)](torch.zeros(4, dtype=torch.int32), "mov.b32 $0, $1;", "=r,r,r", N=4)


# What the launch says ----------------------------------------------------------------------------


@triton.jit
def warps_and_threads(out_ptr):
    threads: tl.constexpr = tl.extra.cuda.num_threads()
    tl.store(out_ptr + tl.arange(0, threads), tl.extra.cuda.num_warps())


@pytest.mark.parametrize(("options", "warps"), [({}, 4), ({"num_warps": 1}, 1), ({"num_warps": 8}, 8)])
def test_a_kernel_is_told_how_many_warps_and_threads_a_program_has(options, warps):
    out = torch.zeros(512, dtype=torch.int32)
    warps_and_threads[(1,)](out, **options)
    assert out.tolist() == [warps] * 32 * warps + [0] * (512 - 32 * warps)


# Instructions ------------------------------------------------------------------------------------


def result(asm: str, *arguments: list, dtype: str = "u4", result: str = "u4", pack: int = 1) -> list:
    given = [np.array(each).astype(dtype) for each in arguments]
    return evaluated(asm, given, [np.dtype(result)], pack)[0].tolist()


def test_bits():
    assert result("lop3.b32 $0, $1, $2, $3, 0xE8;", [12], [10], [6]) == [14]  # the majority
    assert result("prmt.b32 $0, $1, $2, 0x0167;", [0x03020100], [0x07060504]) == [0x00010607]
    assert result("shl.b32 $0, $1, 33;", [1]) == [0] and result("shr.s32 $0, $1, 40;", [-8], dtype="i4") == [2**32 - 1]
    assert result("bfe.u32 $0, $1, 4, 8;", [0xABCD]) == [0xBC] and result("popc.b32 $0, $1;", [255]) == [8]
    assert result("mul.hi.u32 $0, $1, $2;", [2**31], [6]) == [3]
    assert result("setp.lt.u32 p, $1, $2; selp.b32 $0, $1, $2, p;", [5, 1], [3, 2]) == [3, 1]


def test_floats():
    assert result("fma.rn.f32 $0, $1, $2, $1;", [2.0], [0.5], dtype="f4", result="f4") == [3.0]
    assert result("add.ftz.f32 $0, $1, $1;", [1e-40], dtype="f4", result="f4") == [0.0]
    assert result("add.sat.f32 $0, $1, $1;", [3.0], dtype="f4", result="f4") == [1.0]
    assert result("tanh.approx.f32 $0, $1;", [0.0], dtype="f4", result="f4") == [0.0]
    assert result("mul.f16x2 $0, $1, $1;", [3.0, 5.0], dtype="f2", result="f2", pack=2) == [9.0, 25.0]


def test_conversions():
    assert result("cvt.rni.s32.f32 $0, $1;", [2.5, -1.5], dtype="f4", result="i4") == [2, -2]
    assert result("cvt.rn.f32.s32 $0, $1;", [-7], dtype="i4", result="f4") == [-7.0]
    assert result("cvt.u32.u8 $0, $1;", [511]) == [255]
    assert result("cvt.rn.satfinite.e4m3x2.f32 $0, $2, $1;", [1.0], [1e9], dtype="f4", result="u2") == [0x7E38]
    assert result("cvt.rn.bf16x2.f32 $0, $2, $1;", [1.0], [-2.0], dtype="f4") == [0xC0003F80]
    wide = "{.reg .b8 low, none1, none2, none3; mov.b32 {low, none1, none2, none3}, $1; cvt.rn.f16x2.e2m1x2 $0, low;}"
    assert result(wide, [0x72]) == [0x46003C00]  # 1.0 and 6.0
