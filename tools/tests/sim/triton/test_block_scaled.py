"""NVFP4, MXFP4 and MXFP8 from numbers to a product: tl.dot_scaled against ml_dtypes."""

import ml_dtypes
import numpy as np
import pytest
import torch

import tools.gpu
from tools.tests.compiler.lessons import block_scaled

pytestmark = pytest.mark.skipif(tools.gpu.card() is not None, reason="tests the simulator: run it with --sim")

E2M1, E4M3, E5M2 = ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
POWER = ml_dtypes.float8_e8m0fnu
FORMATS = {"e2m1": (E2M1, 6.0), "e4m3": (E4M3, 448.0), "e5m2": (E5M2, 57344.0)}


def quantized(x: np.ndarray, form: str, group: int) -> tuple:
    """Numbers and scales as tensors, and what they stand for in float64. A group of zeros has the scale 0."""
    kind, largest = FORMATS[form]
    groups = x.reshape(len(x), -1, group)
    wanted = np.abs(groups).max(axis=-1) / largest
    if group == 16:
        scales = wanted.astype(E4M3)
    else:
        scales = np.exp2(np.ceil(np.log2(np.maximum(wanted, 2.0**-127)))).astype(POWER)
    factors = scales.astype(np.float64)[..., None]
    numbers = np.divide(groups, factors, out=np.zeros_like(groups), where=factors > 0).astype(kind)
    meant = (numbers.astype(np.float64) * factors).reshape(x.shape)
    return in_bytes(numbers.reshape(x.shape)), as_tensor(scales), meant


def in_bytes(numbers: np.ndarray) -> torch.Tensor:
    """Two numbers of four bits share a byte, the first in its lower half."""
    bits = numbers.view(np.uint8)
    if numbers.dtype != E2M1:
        return as_tensor(numbers)
    return torch.from_numpy(bits[:, 0::2] | bits[:, 1::2] << 4)


def as_tensor(values: np.ndarray) -> torch.Tensor:
    bits = torch.from_numpy(values.view(np.uint8))
    return (
        bits
        if values.dtype == POWER
        else bits.view({E4M3: torch.float8_e4m3fn, E5M2: torch.float8_e5m2}[values.dtype.type])
    )


def matrix(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    x = rng.standard_normal((rows, columns)) * np.exp2(rng.integers(-6, 6, (rows, columns // 32))).repeat(32, axis=1)
    x[3, :32] = 0
    return x


@pytest.mark.parametrize(
    ("form", "group"),
    [("e2m1", 16), ("e2m1", 32), ("e4m3", 32), ("e5m2", 32)],
    ids=["NVFP4", "MXFP4", "MXFP8 e4m3", "MXFP8 e5m2"],
)
def test_a_product_of_quantized_matrices_is_that_of_the_numbers_they_stand_for(form, group, rng):
    a, a_scales, a_meant = quantized(matrix(rng, 64, 128), form, group)
    b, b_scales, b_meant = quantized(matrix(rng, 32, 128), form, group)
    got = block_scaled.scaled_matmul(a, a_scales, b, b_scales, form, group, (32, 32, 64)).numpy()
    bound = 1e-6 * (np.abs(a_meant) @ np.abs(b_meant).T)
    assert (np.abs(got - a_meant @ b_meant.T) <= bound).all()
    assert (got[3] != 0).any() and np.isfinite(got).all()


def test_a_kernel_quantizes_to_nvfp4_as_ml_dtypes_does(rng):
    x = matrix(rng, 8, 64).astype(np.float32)
    out, scales, tensor_scale = block_scaled.quantize(torch.from_numpy(x))
    groups = x.reshape(8, 4, 16) / np.float32(tensor_scale)
    factors = (np.abs(groups).max(axis=-1) / np.float32(6)).astype(E4M3)
    wide = factors.astype(np.float32)[..., None]
    numbers = np.divide(groups, wide, out=np.zeros_like(groups), where=wide > 0).astype(E2M1)
    assert scales.view(torch.uint8).tolist() == factors.view(np.uint8).tolist()
    codes = numbers.reshape(8, 64).view(np.uint8)
    assert out.tolist() == (codes[:, 0::2] | codes[:, 1::2] << 4).tolist()


def test_nvfp4_from_floats_to_a_product(rng):
    a, b = (torch.from_numpy(rng.standard_normal((32, 256))).float() for _ in range(2))
    got, want = block_scaled.nvfp4_matmul(a, b, (32, 32, 64)), a @ b.T
    assert 0.02 < float((got - want).norm() / want.norm()) < 0.2


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_weights_in_four_bits_meet_inputs_in_sixteen_that_have_no_scale(dtype, rng):
    w, w_scales, w_meant = quantized(matrix(rng, 32, 128), "e2m1", 32)
    x = torch.from_numpy(rng.standard_normal((16, 128))).to(dtype)
    got = block_scaled.weights_matmul(x, w, w_scales, (16, 32, 64)).numpy()
    exact = x.double().numpy()
    assert (np.abs(got - exact @ w_meant.T) <= 1e-6 * (np.abs(exact) @ np.abs(w_meant).T)).all()


def test_beside_fp16_a_scale_from_two_to_the_sixteenth_on_is_infinite_as_the_compiler_widens_it():
    """Seen in the compiler's ttgir: truncf of the scale to f16, and mulf in f16."""
    w, scales = torch.full((16, 64), 0x11, dtype=torch.uint8), torch.full((16, 4), 127 + 16).byte()  # 0.5
    scales[1:] = 127 + 15
    for dtype, want in ((torch.float16, torch.inf), (torch.bfloat16, 128 * 2.0**15)):
        got = block_scaled.weights_matmul(torch.ones(16, 128, dtype=dtype), w, scales, (16, 16, 64))
        assert got[0, 0] == want and got[0, 1] == 128 * 2.0**14


@pytest.mark.parametrize(("group", "scale"), [(16, 0.0), (32, 0)], ids=["e4m3", "e8m0"])
def test_a_scale_of_zero_is_zero_in_e4m3_and_a_very_small_power_in_e8m0(group, scale):
    numbers = torch.full((16, 32), 0x22, dtype=torch.uint8)  # 1.0 everywhere
    scales = torch.ones(16, 64 // group).to(torch.float8_e4m3fn) if group == 16 else torch.full((16, 2), 127).byte()
    scaled = scales.clone()
    scaled[0] = scale
    got = block_scaled.scaled_matmul(numbers, scaled, numbers, scales, "e2m1", group, (16, 16, 64))
    assert got[0, 0] == (0.0 if group == 16 else 64 * 2.0**-127) and got[1, 0] == 64


def test_a_scale_of_255_in_e8m0_is_not_a_number():
    numbers, scales = torch.full((16, 32), 0x22, dtype=torch.uint8), torch.full((16, 2), 127).byte()
    broken = scales.clone()
    broken[2, 1] = 255
    got = block_scaled.scaled_matmul(numbers, broken, numbers, scales, "e2m1", 32, (16, 16, 64))
    assert got[2].isnan().all() and not got[3].isnan().any()
