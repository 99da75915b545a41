"""Machine instructions by source line, from a text as nvdisasm writes it."""

from tools.compiler.sass_lines import by_line
from tools.compiler.table import barriers, telling, tensor_instructions

SASS = """\
.text.add_kernel:
	//## File "/elsewhere/week1/day4/vector_add.py", line 60
        /*0000*/                   LDC R1, c[0x0][0x28] ;
	//## File "/elsewhere/week1/day4/vector_add.py", line 63
        /*0180*/              @!P0 LDG.E.128 R16, desc[UR4][R2.64] ;
        /*0190*/              @P1  LDG.E.128 R12, desc[UR4][R20.64] ;
	//## File "/usr/lib/triton/standard.py", line 43 inlined at "/elsewhere/week1/day4/vector_add.py", line 65
	//## File "/elsewhere/week1/day4/vector_add.py", line 65
        /*01a0*/                   HMMA.16816.F32 R4, R8, R6, R4 ;
	//## File "/usr/lib/triton/standard.py", line 43
        /*01b0*/                   FADD R1, R2, R3 ;
	//## File "/elsewhere/week1/day4/vector_add.py", line 63
        /*01c0*/                   STG.E [R2.64], R4 ;
        /*01d0*/                   NOP;
"""


def test_instructions_belong_to_the_line_noted_before_them():
    assert by_line(SASS, "week1/day4/vector_add.py") == {
        60: {"LDC": 1},
        63: {"LDG.E.128": 2, "STG.E": 1},
        65: {"HMMA.16816.F32": 1},
    }


def test_a_file_that_is_not_in_it_has_no_lines():
    assert by_line(SASS, "week1/day5/naive_matmul.py") == {}


def test_the_opcodes_that_tell_most_come_first():
    assert telling({"IADD3": 90, "STG.E": 1, "LDG.E.128": 2, "HMMA.16816.F32": 2}) == (
        "LDG.E.128 2, HMMA.16816.F32 2, STG.E 1"
    )


def test_tensor_instructions_and_barriers_are_counted_by_opcode():
    sass = {
        "HMMA.16816.F32": 8,
        "HGMMA.64x128x16.F32": 2,
        "UTCHMMA": 1,
        "FFMA": 64,
        "BAR.SYNC.DEFER_BLOCKING": 3,
        "IMMA.16832.S8.S8": 4,
        "SYNCS.ARRIVE.TRANS64": 1,
        "BMOV": 5,
    }
    assert (tensor_instructions(sass), barriers(sass)) == (15, 4)
