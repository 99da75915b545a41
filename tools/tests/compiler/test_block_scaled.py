"""Block-scaled products compiled for chips with and without an instruction for them."""

import pytest
import torch

from tools.check import compiled
from tools.compiler import CompileError
from tools.tests.compiler.conftest import lesson_in

BLOCKS = (128, 128, 256)


@pytest.fixture(scope="module")
def block_scaled():
    return lesson_in("block_scaled")


def operands(form: str, group: int) -> tuple:
    packed, scales = (2 if form == "e2m1" else 1), torch.uint8 if group == 32 else torch.float8_e4m3fn
    numbers = torch.uint8 if form == "e2m1" else torch.float8_e4m3fn
    one = torch.zeros(128, 512 // packed, dtype=numbers), torch.zeros(128, 512 // group, dtype=scales)
    return *one, *one, form, group


@pytest.mark.parametrize(
    ("form", "group", "kind"),
    [("e2m1", 16, "mxf4nvf4"), ("e2m1", 32, "mxf4"), ("e4m3", 32, "mxf8f6f4")],
    ids=["NVFP4", "MXFP4", "MXFP8"],
)
def test_on_blackwell_one_instruction_multiplies_and_scales(block_scaled, form, group, kind):
    kernel = compiled(block_scaled.scaled_matmul, *operands(form, group), BLOCKS, chip="b200").kernels[0]
    (opcode,) = [name for name in kernel.instructions if name.startswith("tcgen05.mma")]
    assert f"kind::{kind}." in opcode and "block_scale" in opcode


def test_on_hopper_the_operands_are_widened_and_multiplied_in_16_bits(block_scaled):
    kernel = compiled(block_scaled.scaled_matmul, *operands("e2m1", 32), BLOCKS, chip="h100").kernels[0]
    assert not any("block_scale" in name for name in kernel.instructions)
    assert any(name.startswith("wgmma") and "bf16.bf16" in name for name in kernel.instructions)


def test_nvfp4_from_floats_to_a_product_is_compiled_for_blackwell(block_scaled):
    kernels = compiled(
        block_scaled.nvfp4_matmul, torch.ones(128, 512), torch.ones(128, 512), BLOCKS, chip="b200"
    ).kernels
    assert [each.name for each in kernels] == ["quantize_kernel", "scaled_matmul_kernel"]


def test_a_scale_in_e4m3_is_for_blackwell_alone(block_scaled):
    with pytest.raises(CompileError, match="does not compile for h100.*\n(.*\n)+The compiler's pass .* fails on it"):
        compiled(block_scaled.scaled_matmul, *operands("e2m1", 16), BLOCKS, chip="h100")
