"""Layers of a language model, forwards: layer norm, softmax and attention, a warp or a block for each row."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import counted, needs_compiler, zeros

pytestmark = needs_compiler

CODE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define INFINITE __int_as_float(0x7f800000)

extern "C" __global__ void layer_norm(const float* x, const float* weight, const float* bias, float* out, float* means,
                                      float* scales, int rows, int columns) {
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= rows) return;
    x += row * columns;
    float sum = 0, squares = 0;
    for (int i = warp.thread_rank(); i < columns; i += warp.size()) sum += x[i];
    float mean = cg::reduce(warp, sum, cg::plus<float>{}) / columns;
    for (int i = warp.thread_rank(); i < columns; i += warp.size()) squares += (x[i] - mean) * (x[i] - mean);
    float scale = rsqrtf(cg::reduce(warp, squares, cg::plus<float>{}) / columns + 1e-5f);
    if (warp.thread_rank() == 0) {
        means[row] = mean;
        __stcs(scales + row, scale);
    }
    for (int i = warp.thread_rank(); i < columns; i += warp.size())
        __stcs(out + row * columns + i, (__ldcs(x + i) - mean) * scale * weight[i] + bias[i]);
}

// The largest value and the sum of one row together, as each grows.
struct Row { float largest, sum; };
extern "C" __global__ void softmax_in_one_pass(const float* x, float* out, int rows, int columns) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= rows) return;
    x += row * columns;
    Row mine = {-INFINITE, 0};
    for (int i = warp.thread_rank(); i < columns; i += warp.size()) {
        float largest = fmaxf(mine.largest, x[i]);
        mine = {largest, mine.sum * expf(mine.largest - largest) + expf(x[i] - largest)};
    }
    auto both = [](Row a, Row b) {
        if (a.sum == 0) return b;
        if (b.sum == 0) return a;
        float largest = fmaxf(a.largest, b.largest);
        return Row{largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
    };
    Row all = cg::reduce(warp, mine, both);
    for (int i = warp.thread_rank(); i < columns; i += warp.size())
        out[row * columns + i] = expf(x[i] - all.largest) / all.sum;
}

__device__ float of_block(cg::thread_block block, float* part, float value, bool largest) {
    auto warp = cg::tiled_partition<32>(block);
    value = largest ? cg::reduce(warp, value, cg::greater<float>()) : cg::reduce(warp, value, cg::plus<float>());
    if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = value;
    block.sync();
    value = warp.thread_rank() < warp.meta_group_size() ? part[warp.thread_rank()] : largest ? -INFINITE : 0.f;
    value = largest ? cg::reduce(warp, value, cg::greater<float>()) : cg::reduce(warp, value, cg::plus<float>());
    block.sync();
    return value;
}

// A block for one query of one head: its scores up to its own place, their softmax, the mixture of values.
extern "C" __global__ void attention(const float* qkv, float* out, int steps, int heads, int size) {
    extern __shared__ float scores[];
    float* part = scores + steps;
    auto block = cg::this_thread_block();
    int step = blockIdx.x, head = blockIdx.y, row = 3 * heads * size, at = head * size;
    const float *q = qkv + step * row + at, *k = qkv + heads * size + at, *v = k + heads * size;
    float largest = -INFINITE, sum = 0;
    for (int other = block.thread_rank(); other <= step; other += block.size()) {
        float score = 0;
        for (int i = 0; i < size; i++) score += q[i] * k[other * row + i];
        scores[other] = score * rsqrtf(size);
        largest = fmaxf(largest, scores[other]);
    }
    largest = of_block(block, part, largest, true);
    for (int other = block.thread_rank(); other <= step; other += block.size())
        sum += scores[other] = expf(scores[other] - largest);
    sum = of_block(block, part, sum, false);
    for (int i = block.thread_rank(); i < size; i += block.size()) {
        float mixed = 0;
        for (int other = 0; other <= step; other++) mixed += scores[other] * v[other * row + i];
        out[(step * heads + head) * size + i] = mixed / sum;
    }
}
"""


@pytest.fixture(scope="module")
def module():
    return cp.RawModule(code=CODE)


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(7)


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@pytest.mark.parametrize("columns", [1, 31, 70])
def test_layer_norm_with_a_warp_for_each_row(module, rng, columns):
    x, weight, bias = (rng.standard_normal(shape).astype(np.float32) for shape in ((5, columns), columns, columns))
    out, means, scales = zeros((5, columns)), zeros(5), zeros(5)
    arguments = (*map(cp.asarray, (x, weight, bias)), out, means, scales, np.int32(5), np.int32(columns))
    counters = counted(module.get_function("layer_norm"), (2,), (128,), arguments)
    scale = 1 / np.sqrt(x.var(1) + 1e-5)
    np.testing.assert_allclose(means.get(), x.mean(1), atol=1e-6)
    np.testing.assert_allclose(out.get(), (x - x.mean(1)[:, None]) * scale[:, None] * weight + bias, atol=1e-4)
    assert counters.bytes_loaded == 5 * 6 * 4 * columns  # x four times, as it is written, weight and bias


@pytest.mark.parametrize("columns", [1, 31, 70])
def test_softmax_of_structures_in_one_pass(module, rng, columns):
    x, out = rng.standard_normal((3, columns)).astype(np.float32) * 5, zeros((3, columns))
    module.get_function("softmax_in_one_pass")((1,), (96,), (cp.asarray(x), out, np.int32(3), np.int32(columns)))
    np.testing.assert_allclose(out.get(), softmax(x.astype(np.float64)), atol=1e-6)


@pytest.mark.parametrize("threads", [32, 64])
def test_attention_looks_back_only(module, rng, threads):
    steps, heads, size = 9, 2, 8
    qkv = rng.standard_normal((steps, 3, heads, size)).astype(np.float32)
    out, shared = zeros((steps, heads, size)), 4 * (steps + threads // 32)
    sizes = (np.int32(each) for each in (steps, heads, size))
    module.get_function("attention")((steps, heads), (threads,), (cp.asarray(qkv), out, *sizes), shared_mem=shared)
    q, k, v = qkv.astype(np.float64).transpose(1, 2, 0, 3)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(size)
    scores[:, ~np.tri(steps, dtype=bool)] = -np.inf
    np.testing.assert_allclose(out.get(), (softmax(scores) @ v).transpose(1, 0, 2), atol=1e-5)
