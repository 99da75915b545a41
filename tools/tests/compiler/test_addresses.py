"""The integer part of TTGIR, evaluated: against the formulas that kernels were written from, and by hand."""

import numpy as np
import pytest
import torch

from tools.check import compiled
from tools.compiler import addresses, ttgir

X, OUT = 1 << 40, 2 << 40  # where the arguments are said to lie


def evaluated(text: str, program=(0, 0, 0), grid=(4, 4, 1), **arguments):
    return addresses.touches(ttgir.parse(text), arguments, program, grid)


def text_of(evidence) -> str:
    return evidence.kernels[0].text("ttgir")


def test_addresses_follow_the_kernels_formula_in_every_program(plain):
    text = text_of(compiled(plain.transpose, torch.zeros(256, 256)))
    rows, cols = np.arange(64)[:, None], np.arange(64)[None, :]
    for program in [(0, 0, 0), (3, 1, 0)]:
        load, store = evaluated(text, program, x_ptr=X, out_ptr=OUT)
        i, j = 64 * program[0] + rows, 64 * program[1] + cols
        assert np.array_equal(load.addresses, X + 4 * (i * 256 + j))
        assert np.array_equal(store.addresses, OUT + 4 * (j * 256 + i))
        assert load.mask.all() and load.element_bytes == 4


def test_masks_are_evaluated_too(plain):
    text = text_of(compiled(plain.vector_add, torch.zeros(1500), torch.zeros(1500)))
    last = evaluated(text, (1, 0, 0), x_ptr=X, y_ptr=X, out_ptr=OUT, n=1500)
    assert [int(touch.mask.sum()) for touch in last] == [476, 476, 476]


def test_a_pipelined_loop_is_followed_into_its_first_turn(plain):
    half = torch.zeros(256, 256, dtype=torch.float16)
    text = text_of(compiled(plain.matmul, half, half, chip="a100"))
    touches = evaluated(text, (1, 2, 0), a_ptr=X, b_ptr=X, c_ptr=OUT, K=256, N=256)
    rows, inner = 64 + np.arange(64)[:, None], np.arange(32)[None, :]
    of_a = [touch for touch in touches if touch.addresses.shape == (64, 32)]
    for turn, touch in enumerate(of_a):  # before the loop and in it, each a step further along K
        assert np.array_equal(touch.addresses, X + 2 * (rows * 256 + 32 * turn + inner))
    assert len(of_a) == 3


def test_what_depends_on_loaded_values_is_unknown(plain):
    text = text_of(compiled(plain.gather, torch.zeros(128, dtype=torch.int64), torch.zeros(128)))
    index, gathered, store = evaluated(text, index_ptr=X, x_ptr=X, out_ptr=OUT)
    assert index.addresses is not None and store.addresses is not None
    assert gathered.addresses is None and gathered.mask is None


# By hand -----------------------------------------------------------------------------------------


def kernel(body: str) -> str:
    return f"""
        module attributes {{}} {{
          tt.func public @k(%x: !tt.ptr<f32>, %n: i32) attributes {{}} {{
            {body}
            tt.return
          }}
        }}"""


def address_of(body: str, n: int) -> float:
    """In elements from x: where a load at %at is, an i32 that the body computes from %n."""
    load = """
        %p = tt.addptr %x, %at : !tt.ptr<f32>, i32
        %v = tt.load %p : !tt.ptr<f32>"""
    (touch,) = evaluated(kernel(body + load), (2, 0, 0), x=X, n=n)
    return (int(touch.addresses) - X) / 4


@pytest.mark.parametrize(
    "operation, n, want",
    [
        ("addi", 5, 12),
        ("subi", 5, -2),
        ("muli", 5, 35),
        ("divsi", 50, 7),
        ("divsi", -50, -7),
        ("remsi", 50, 1),
        ("remsi", -50, -1),
        ("minsi", 5, 5),
        ("maxsi", 5, 7),
        ("andi", 12, 4),
        ("ori", 8, 15),
        ("xori", 5, 2),
        ("shli", 1, 128),
        ("shrsi", -256, -2),
        ("shrui", 256, 2),
        ("divui", 50, 7),
        ("remui", 50, 1),
        ("muli", 2**30, -(2**30)),
    ],
)
def test_integer_operations_are_those_of_the_chip(operation, n, want):
    body = f"""
        %c = arith.constant 7 : i32
        %at = arith.{operation} %n, %c : i32"""
    assert address_of(body, n) == want


@pytest.mark.parametrize(
    "how, n, want",
    [
        ("slt", -1, 1),
        ("ult", -1, 0),
        ("sge", 7, 1),
        ("sgt", 7, 0),
        ("ule", 7, 1),
        ("eq", 7, 1),
        ("ne", 7, 0),
        ("sle", 8, 0),
    ],
)
def test_comparisons_tell_signed_from_unsigned(how, n, want):
    body = f"""
        %c = arith.constant 7 : i32
        %b = arith.cmpi {how}, %n, %c : i32
        %at = arith.extui %b : i1 to i32"""
    assert address_of(body, n) == want


@pytest.mark.parametrize("n, want", [(1, 5), (0, 9)])
def test_of_two_branches_the_one_that_is_taken_counts(n, want):
    body = """
        %zero = arith.constant 0 : i32
        %five = arith.constant 5 : i32
        %nine = arith.constant 9 : i32
        %b = arith.cmpi ne, %n, %zero : i32
        %at = scf.if %b -> (i32) {
          scf.yield %five : i32
        } else {
          scf.yield %nine : i32
        }"""
    assert address_of(body, n) == want


@pytest.mark.parametrize("n, touched", [(2, 0), (3, 1)])
def test_a_program_that_returns_early_touches_nothing(n, touched):
    body = """
        %pid = tt.get_program_id x : i32
        %b = arith.cmpi sge, %pid, %n : i32
        cf.cond_br %b, ^bb1, ^bb2
      ^bb1:  // pred: ^bb0
        tt.return
      ^bb2:  // pred: ^bb0
        %v = tt.load %x : !tt.ptr<f32>"""
    assert len(evaluated(kernel(body), (2, 0, 0), x=X, n=n)) == touched


def test_a_loop_of_no_turns_touches_nothing():
    body = """
        %zero = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        scf.for %i = %zero to %n step %one  : i32 {
          %v = tt.load %x : !tt.ptr<f32>
        }"""
    assert [len(evaluated(kernel(body), x=X, n=n)) for n in (0, 1, 9)] == [0, 1, 1]
