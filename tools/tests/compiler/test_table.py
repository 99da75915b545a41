"""The table that print(evidence) shows."""

from dataclasses import replace

import pytest
import torch

from tools.check import compiled
from tools.compiler import table
from tools.models.occupancy import Occupancy
from tools.tests.compiler.conftest import lesson_in

ADD = """\
add_kernel(x_ptr: *fp32, y_ptr: *fp32, out_ptr: *fp32, n: i32, BLOCK=1024)
h100: grid 4 x 1 x 1, 4 warps, 3 stages
  26 registers, 0 bytes spilled, 0 bytes of shared memory
  16 blocks = 64 of 64 warps on a multiprocessor; limited by warps

                                                          bytes  sectors  useful
 line                                                  a thread /request
   15  load   x = tl.load(x_ptr + mine, mask=exists)         16     16.0    100%
   16  load   y = tl.load(y_ptr + mine, mask=exists)         16     16.0    100%
   17  store  tl.store(out_ptr + mine, x + y, mask=exists)   16     16.0    100%

  SASS: LDG.E.128 4, STG.E.128 2"""


def test_the_table_of_a_vector_add(plain):
    evidence = compiled(plain.vector_add, torch.zeros(4096), torch.zeros(4096))
    registers = evidence.kernels[0].registers  # the one figure that a new compiler may change
    assert str(evidence) == ADD.replace("26 registers", f"{registers} registers")


def test_no_line_is_wider_than_a_terminal(plain):
    half = torch.zeros(256, 256, dtype=torch.float16)
    for chip in ("t4", "b200"):
        lines = str(compiled(plain.matmul, half, half, chip=chip)).splitlines()
        assert max(map(len, lines)) <= 80
        assert not any(line != line.rstrip() for line in lines)


def test_what_is_unknown_is_a_question_mark(plain):
    text = str(compiled(plain.histogram, torch.zeros(128, dtype=torch.int32)))
    assert text.count("?") == 2


def test_several_launches_and_configs_are_mentioned(plain):
    assert "grid 4 x 1 x 1, 2 launches, 4 warps" in str(compiled(plain.two_kernels, torch.zeros(4096)))
    assert "3 stages, first of 2 configs" in str(compiled(plain.tuned_copy, torch.zeros(4096)))


LAYOUT = "NVMMASharedLayout(swizzle_byte_width=128, rank=2, transposed=False, cga_layout=[])"


@pytest.fixture
def kernel(plain):
    return compiled(plain.vector_add, torch.zeros(4096), torch.zeros(4096)).kernels[0]


def test_of_gluon_there_are_no_stages_and_of_its_layouts_the_kind_alone(kernel):
    own = str(compiled(lesson_in("of_gluon").copied, torch.zeros(4096), 4))
    assert "\nh100: grid 8 x 1 x 1, 4 warps\n" in own and "   16     16.0    100%" in own
    constants = {"LAYOUT": "SliceLayout(dim=1, parent=BlockedLayout([1], [32], [4], [0]))", "BLOCK": "64"}
    signature = {"x_desc": f"tensordesc<bf16[64, 64],{LAYOUT}>", "LAYOUT": "constexpr", "BLOCK": "constexpr"}
    head = table.of_kernel(replace(kernel, signature=signature, constants=constants)).splitlines()[0]
    assert head == "add_kernel(x_desc: tensordesc<bf16[64, 64]>, LAYOUT=SliceLayout, BLOCK=64)"


def test_of_what_the_copy_engine_moves_no_column_of_question_marks_is_shown(kernel):
    tiles = tuple(replace(each, width=0, requests=None, sectors=None, useful_bytes=None) for each in kernel.accesses)
    text = table.of_kernel(replace(kernel, accesses=tiles))
    assert "?" not in text and "a thread" not in text
    assert " line  moved in whole tiles by the copy engine (TMA)\n   15  load   x = tl.load(x_ptr + mine" in text


def test_all_that_keeps_more_blocks_out_is_named(kernel):
    room = Occupancy(1, 12, 64, "registers", ("registers", "shared memory"))
    told = table.of_kernel(replace(kernel, occupancy=room))
    assert "  1 block = 12 of 64 warps on a multiprocessor; limited by registers and shared\n    memory\n" in told
    full = Occupancy(16, 64, 64, "warps", ("warps", "registers"))
    assert "limited by warps\n" in table.of_kernel(replace(kernel, occupancy=full))
