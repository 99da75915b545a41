"""The table that print(evidence) shows."""

import torch

from tools.check import compiled

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
