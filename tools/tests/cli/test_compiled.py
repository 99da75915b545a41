"""course compiled: what the real compiler makes of the learner's kernels, with the texts that it wrote on its way."""

import pytest

pytest.importorskip("triton", reason="Triton is not installed; there are no wheels for this system")

from tools import gpu  # noqa: E402
from tools.cli import compiled as command  # noqa: E402
from tools.cli.__main__ import main  # noqa: E402
from tools.compiler import CompileError, NoCompiler  # noqa: E402
from tools.tests.cli.kernels import BENCH, TURN, write_day  # noqa: E402

LESSON = '''"""Week 1, day 1: small"""

import tools.gpu

import torch
import triton
import triton.language as tl


# Task 1
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + mine, mask=mine < n)
    y = tl.load(y_ptr + mine, mask=mine < n)
    tl.store(out_ptr + mine, x + y, mask=mine < n)


def add(x, y):
    out = torch.empty_like(x)
    add_kernel[(1,)](x, y, out, x.numel(), BLOCK=128)
    return out


# Task 2
def turn(x):
    return x.T
'''
ON_TENSORS = BENCH.replace("arrays", "tensors")
ONLY_ADD = ON_TENSORS.replace(TURN.replace("arrays", "tensors"), "")


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """run(*arguments) -> exit code, standard output, standard error of `course compiled week1/day1`."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    write_day(tmp_path, LESSON, ON_TENSORS)

    def run(*arguments: str):
        code = main(["compiled", "week1/day1", *arguments], tmp_path)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_a_kernel_is_shown_with_its_evidence_its_lines_and_its_texts(run, tmp_path):
    assert run("--chip", "a100")[0] == 0
    assert not (tmp_path / ".course/compiled").exists()
    code, out, err = run("--chip", "a100", "--mlir")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("add, 128 float32, compiled for NVIDIA A100")
    assert "  tensor-core instructions: 0, barriers: 0" in lines
    load = next(line for line in lines if line.startswith("   14") and "LDG" in line)
    assert load.split()[2:6] == ["x", "=", "tl.load(x_ptr", "+"] and load.endswith("LDG.E 1")
    assert max(map(len, lines)) <= 80
    folder = tmp_path / ".course/compiled/week1/day1"
    assert sorted(file.name for file in folder.iterdir()) == ["add_kernel.ptx", "add_kernel.ttgir", "add_kernel.ttir"]
    assert "tt.load" in (folder / "add_kernel.ttir").read_text() and "#ttg" in (folder / "add_kernel.ttgir").read_text()
    assert any(line.startswith(".course/compiled/week1/day1/add_kernel.ttgir: ") for line in lines)
    assert any("tt.func public @add_kernel" in line for line in lines) and "loc(" not in out


@pytest.mark.parametrize(("name", "near"), [("h1oo", "h100"), ("H100", "h100"), ("B300", "b200")])
def test_a_slip_in_a_chips_name_is_answered_with_the_nearest_one(run, name, near):
    code, out, err = run("--chip", name)
    assert (code, out) == (2, "")
    assert err.startswith(f"No chip is called {name!r}. Did you mean {near}?\nThere are t4,")
    assert len(err.splitlines()) <= 5


@pytest.mark.parametrize("error", [CompileError("add_kernel, line 13: no"), NoCompiler("compiling needs\nnumba-cuda")])
def test_what_the_compiler_says_is_passed_on(run, monkeypatch, error):
    def compiled(*args, **kwargs):
        raise error

    monkeypatch.setattr(command, "compiled", compiled)
    assert run() == (2, "", f"{error}\n")


def test_a_day_that_launches_no_kernel_says_so_in_one_line(run, tmp_path, monkeypatch):
    without = LESSON.replace("    add_kernel[(1,)](x, y, out, x.numel(), BLOCK=128)\n", "")
    write_day(tmp_path, without, ON_TENSORS)
    assert run() == (2, "", "week1/day1 launches no kernel in Triton or Numba's CUDA, so nothing is compiled.\n")
    write_day(tmp_path, LESSON, "")
    assert run() == (2, "", "week1/day1 has no kernel for ./course compiled. To work it: ./course week1/day1\n")


@pytest.mark.parametrize(("card", "chip"), [
    (None, "h100"),
    (gpu.Card("NVIDIA H200", (9, 0), (13, 0)), "h200"),
    (gpu.Card("NVIDIA Unheard Of", (12, 1), (13, 0)), "h100"),
])  # fmt: skip
def test_the_chip_of_this_machine_is_taken_where_the_table_has_it(monkeypatch, card, chip):
    monkeypatch.setattr(command.gpu, "installed_card", lambda: card)
    assert command._of_machine() == chip
