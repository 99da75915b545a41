"""docs/PATTERNS.md: every pattern has its four parts, and the skeletons that are whole really run."""

import ast
import importlib.util
import re
import textwrap

import numpy as np
import pytest

from tools import ROOT, gpu

PATTERNS = dict(
    re.findall(
        r"^## ([^\n]+)\n\n(.*?)(?=^## |\Z)",
        (ROOT / "docs/PATTERNS.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
)
pytestmark = pytest.mark.filterwarnings("ignore:Grid size", "ignore:Host array")  # five elements are few for a GPU

NAMES = ["Map", "Tiled map with a mask", "Grid-stride loop", "Gather", "Row reduction", "Tree reduction",
         "Shuffle reduction", "Tiled matmul", "Online softmax", "Split-K", "Double buffering", "Privatised histogram",
         "Scan by looking back", "Epilogue fusion", "Persistent kernel"]  # fmt: skip


def skeleton(name):
    return re.search(r"```python\n(.*?)```", PATTERNS[name], re.DOTALL)[1]


def test_all_patterns_are_there():
    assert list(PATTERNS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_pattern_says_when_shows_a_skeleton_and_names_counters_and_unit(name):
    when, _, rest = PATTERNS[name].partition("```python")
    lines = skeleton(name).strip().splitlines()
    assert when.strip()
    assert 2 <= len(lines) <= 7
    assert max(map(len, lines)) <= 120
    ast.parse(skeleton(name))
    assert "\nCounters: " in rest
    assert re.search(r"\(week \d, (day \d|kata\s\w+)\)|\[week\d/", rest)


# Skeletons that run ---------------------------------------------------------------------------------------------------

TRITON = """import tools.gpu
import triton
import triton.language as tl


@triton.jit
def kernel({parameters}):
"""
CUDA = """import numpy as np
from tools.gpu import cuda


@cuda.jit
def kernel({parameters}):
"""


@pytest.fixture
def kernel(tmp_path):
    """kernel(name, parameters, head, before, after): the kernel with the skeleton of that name as its body.

    It stands between the lines before and after, `depth` blanks further in.
    """

    def make(name, parameters, head=CUDA, before="", after="", depth=0):
        if head is TRITON:
            pytest.importorskip("triton", reason="needs Triton, which has builds for Linux only")
        file = tmp_path / "pattern.py"
        body = textwrap.dedent(before) + textwrap.indent(skeleton(name), depth * " ") + textwrap.dedent(after)
        file.write_text(head.format(parameters=parameters) + textwrap.indent(body, "    "), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("pattern", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.kernel

    return make


@pytest.mark.parametrize("name", ["Map", "Grid-stride loop"])
def test_one_thread_an_element(kernel, name):
    run = kernel(name, "x, out")
    x = np.array([1, 2, 4, 5, 8], np.float32)
    out = gpu.cuda.to_device(np.zeros_like(x))
    run[3, 2](gpu.cuda.to_device(x), out)
    assert out.copy_to_host().tolist() == (1 / x).tolist()


def test_one_program_a_block(kernel):
    import torch

    x = torch.tensor([1.0, 2.0, 4.0, 5.0, 8.0], device=gpu.device)
    out = torch.zeros_like(x)
    kernel("Tiled map with a mask", "x_ptr, out_ptr, n, BLOCK: tl.constexpr", TRITON)[(2,)](x, out, 5, BLOCK=4)
    assert out.tolist() == (1 / x).tolist()


def test_rows_that_exist_and_one_that_does_not(kernel):
    import torch

    table = torch.arange(16.0, device=gpu.device).reshape(4, 4)
    ids, out = torch.tensor([2, 0, 9, -1], device=gpu.device), torch.full((4, 4), 7.0, device=gpu.device)
    run = kernel(
        "Gather", "table_ptr, ids_ptr, out_ptr, rows, WIDTH: tl.constexpr", TRITON, before="col = tl.arange(0, WIDTH)\n"
    )
    run[(4,)](table, ids, out, 4, WIDTH=4)
    assert out.tolist() == [table[2].tolist(), table[0].tolist(), [0.0] * 4, [0.0] * 4]


def test_a_maximum_for_each_row(kernel):
    import torch

    x = torch.tensor([[-3.0, -1.0, -2.0], [5.0, 4.0, 6.0]], device=gpu.device)
    out = torch.zeros(2, device=gpu.device)
    kernel("Row reduction", "x_ptr, out_ptr, cols, BLOCK: tl.constexpr", TRITON)[(2,)](x, out, 3, BLOCK=4)
    assert out.tolist() == [-1.0, 6.0]


def test_a_block_adds_up(kernel):
    run = kernel(
        "Tree reduction",
        "x, out",
        before="t = cuda.threadIdx.x\npart = cuda.shared.array(64, np.float32)\npart[t] = x[t]\n",
        after="if t == 0:\n    out[0] = part[0]\n",
    )
    x, out = np.arange(64, dtype=np.float32), gpu.cuda.to_device(np.zeros(1, np.float32))
    run[1, 64](gpu.cuda.to_device(x), out)
    assert out.copy_to_host()[0] == x.sum()


def test_a_warp_adds_up(kernel):
    run = kernel(
        "Shuffle reduction",
        "values, out",
        before="x = values[cuda.threadIdx.x]\n",
        after="if cuda.threadIdx.x == 0:\n    out[0] = x\n",
    )
    values, out = np.arange(32, dtype=np.int32), gpu.cuda.to_device(np.zeros(1, np.int32))
    run[1, 32](gpu.cuda.to_device(values), out)
    assert out.copy_to_host()[0] == values.sum()


def test_tiles_multiply_like_a_matrix(kernel):
    import torch

    before = """\
        row, col, inner = tl.arange(0, TILE_M), tl.arange(0, TILE_N), tl.arange(0, TILE_K)
        a_exists, b_exists = row[:, None] < m, col[None, :] < n
        a_ptrs = a_ptr + row[:, None] * a_row_stride + inner[None, :] * a_col_stride
        b_ptrs = b_ptr + inner[:, None] * b_row_stride + col[None, :]
    """
    after = "tl.store(out_ptr + row[:, None] * n + col[None, :], acc, mask=a_exists & b_exists)\n"
    run = kernel(
        "Tiled matmul",
        "a_ptr, b_ptr, out_ptr, m, n, k, a_row_stride, a_col_stride, b_row_stride, "
        "TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr",
        TRITON,
        before,
        after,
    )
    a = torch.arange(13 * 40, device=gpu.device).reshape(13, 40).float() % 7
    b = torch.arange(40 * 11, device=gpu.device).reshape(40, 11).float() % 5
    out = torch.zeros(13, 11, device=gpu.device)
    run[(1,)](a, b, out, 13, 11, 40, *a.stride(), b.stride(0), TILE_M=16, TILE_N=16, TILE_K=16)
    assert torch.equal(out, a @ b)


def test_the_maximum_and_the_sum_of_a_whole_row_in_two_parts(kernel):
    import torch

    before = 'm_i, l_i = tl.full((), -float("inf"), tl.float32), tl.full((), 0.0, tl.float32)\nfor part in range(2):\n'
    before += "    x = tl.load(x_ptr + part * 4 + tl.arange(0, 4))\n"
    after = "tl.store(out_ptr, m_i + tl.log(l_i))\n"
    run = kernel("Online softmax", "x_ptr, out_ptr", TRITON, before, after, depth=4)
    x = torch.tensor([1.0, 9.0, 2.0, 3.0, 80.0, 4.0, 79.0, 5.0], device=gpu.device)
    out = torch.zeros(1, device=gpu.device)
    run[(1,)](x, out)
    assert out.item() == pytest.approx(torch.logsumexp(x, 0).item())


def test_every_value_is_counted_once(kernel):
    before = "own = cuda.shared.array(4, np.int32)\nif cuda.threadIdx.x < 4:\n    own[cuda.threadIdx.x] = 0\n"
    before += "cuda.syncthreads()\nBINS = 4\n"
    run = kernel("Privatised histogram", "x, out", before=before)
    x = np.array([0, 3, 3, 1, 3, 0, 2], np.int32)
    out = gpu.cuda.to_device(np.zeros(4, np.int32))
    run[2, 4](gpu.cuda.to_device(x), out)
    assert out.copy_to_host().tolist() == [2, 1, 1, 3]
