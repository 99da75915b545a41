"""The lesson again, as checks: one instruction, a loop and what it is worth, and what sets the compiler free.

listings_gcc.txt and listings_clang.txt hold what two compilers made of loops.c, with the commands that made them.
"""

import ctypes
import subprocess

import numpy as np
import pytest

from tools.check import assert_matches, notes, speed_ratio
from week1.katas.simd import simd as lesson
from week1.katas.simd.record_listings import CHANGES, HERE, disassemble, recorded

LESSON = """
  30:	vmulps ymm1,ymm2,YMMWORD PTR [rsi+rax*1]
  35:	vmovups YMMWORD PTR [rcx+rax*1],ymm1
  3a:	add    rax,0x20
  3e:	cmp    rdi,rax
  41:	jne    30 <scale+0x30>
""".strip("\n")
MADE = {compiler: recorded(compiler) for compiler in ("gcc", "clang")}


def always(value):
    """An oracle for one call, whose right answer is known."""
    return lambda *args: value


def instruction(text):
    name, _, operands = text.partition(" ")
    return 0, name, operands


def changed(compiler, loop):
    """The listings of a loop, by what was changed in it."""
    return {change: MADE[compiler][loop, "haswell", change] for change in CHANGES}


# Task 1: one instruction --------------------------------------------------------------------------

@pytest.mark.task(1)
def test_the_multiplication_of_the_lesson_has_eight_lanes_of_256_bits():
    multiplication = instruction("vmulps ymm1,ymm2,YMMWORD PTR [rsi+rax*1]")
    assert_matches(lesson.width, multiplication, oracle=always(256))
    assert_matches(lesson.lanes, multiplication, oracle=always(8))


@pytest.mark.task(1)
@pytest.mark.parametrize("text, bits", [
    ("mulps xmm1,xmm0", 128), ("vmulps zmm0,zmm2,ZMMWORD PTR [rsi+rax*1]", 512), ("add rax,0x20", 0), ("ret", 0),
    ("vextractf128 xmm1,ymm0,0x1", 256), ("vmovss DWORD PTR [rdi],xmm0", 128), ("vzeroupper", 0),
])
def test_reads_the_widest_register(text, bits):
    assert_matches(lesson.width, instruction(text), oracle=always(bits))


@pytest.mark.task(1)
@pytest.mark.parametrize("text, count", [
    ("mulps xmm1,xmm0", 4), ("vaddpd ymm0,ymm1,ymm2", 4), ("vaddps zmm0,zmm1,ZMMWORD PTR [rdi]", 16),
    ("vfmadd231ps ymm0,ymm1,ymm2", 8), ("vfnmadd132pd zmm0,zmm1,zmm2", 8), ("vmaxps ymm0,ymm1,ymm2", 8),
])
def test_packed_arithmetic_works_in_all_lanes(text, count):
    assert_matches(lesson.lanes, instruction(text), oracle=always(count))


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("text, count", [
    ("vaddss xmm0,xmm0,DWORD PTR [rax]", 1), ("vmulsd xmm0,xmm1,xmm2", 1), ("vfmadd132ss xmm0,xmm1,xmm2", 1),
    ("vmovups YMMWORD PTR [rdi+rax*1],ymm0", 0), ("vshufps ymm0,ymm1,ymm1,0x0", 0), ("add rax,0x20", 0),
    ("vxorps xmm0,xmm0,xmm0", 0), ("sub rdi,rax", 0), ("vpmaxsd ymm0,ymm1,ymm2", 0),
])
def test_scalar_arithmetic_works_in_one_lane_and_moves_shuffles_and_counters_in_none(text, count):
    assert_matches(lesson.lanes, instruction(text), oracle=always(count))


# Task 2: the loop, and what it is worth -----------------------------------------------------------

@pytest.mark.task(1, 2)
def test_the_loop_of_the_lesson_is_all_of_its_five_instructions():
    instructions = lesson.parse(LESSON)
    loop = lesson.hot_loop(instructions)
    assert loop == instructions


@pytest.mark.task(1, 2)
def test_each_of_five_instructions_is_worth_1_6_elements():
    assert_matches(lesson.elements_per_instruction, LESSON, oracle=always(1.6))


@pytest.mark.task(1, 2)
def test_the_hot_loop_is_neither_what_stands_around_it_nor_what_takes_the_rest():
    """Of all that gcc made of scale: 8 elements in 5 instructions. What is left over is computed without a loop."""
    listing = MADE["gcc"]["scale", "haswell", "as it is"]
    loop = [name for _, name, _ in lesson.hot_loop(lesson.parse(listing))]
    assert loop == ["vmulps", "vmovups", "add", "cmp", "jne"]


@pytest.mark.task(1, 2)
@pytest.mark.edge
def test_code_without_a_jump_back_has_no_loop():
    skips = "   0:\tje     8 <f+0x8>\n   2:\tmulps  xmm0,xmm1\n   8:\tret"
    found = lesson.hot_loop(lesson.parse(skips))
    assert found == []
    assert_matches(lesson.elements_per_instruction, skips, oracle=always(0.0))


@pytest.mark.task(1, 2)
@pytest.mark.compiled
@pytest.mark.parametrize("compiler, chip, elements, instructions", [
    ("gcc", "x86-64", 4, 6), ("gcc", "haswell", 8, 5), ("gcc", "skylake-avx512", 8, 5), ("gcc", "x86-64-v4", 16, 5),
    ("clang", "x86-64", 16, 15), ("clang", "haswell", 64, 19),
    ("clang", "skylake-avx512", 64, 19), ("clang", "x86-64-v4", 64, 19),
])
def test_what_two_compilers_made_of_scale_for_four_chips(compiler, chip, elements, instructions):
    """clang writes several turns into one. skylake-avx512 has 512 bits, and both compilers prefer 256 there."""
    listing = MADE[compiler]["scale", chip, "as it is"]
    assert_matches(lesson.elements_per_instruction, listing, oracle=always(elements / instructions))


@pytest.mark.task(1, 2)
@pytest.mark.compiled
@pytest.mark.parametrize("loop, elements, instructions", [
    ("sum", 8, 11), ("add_to", 1, 5), ("until_negative", 1, 8), ("running", 1, 5), ("column", 8, 17),
])
def test_what_gcc_made_of_the_loops_that_hold_it_back(loop, elements, instructions):
    """sum has eight additions in a turn, of one lane each. column multiplies eight at once, and packs for long."""
    listing = MADE["gcc"][loop, "haswell", "as it is"]
    assert_matches(lesson.elements_per_instruction, listing, oracle=always(elements / instructions))


# Task 3: what sets the compiler free --------------------------------------------------------------

@pytest.mark.task(1, 2, 3)
@pytest.mark.compiled
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("loop, change", [
    ("sum", "-ffast-math"), ("add_to", "restrict, -ffast-math"), ("until_negative", "no early exit"),
    ("column", "stride 1"),
])
def test_what_cures_a_loop(compiler, loop, change):
    assert_matches(lesson.cure, changed(compiler, loop), oracle=always(change))


@pytest.mark.task(1, 2, 3)
@pytest.mark.compiled
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("loop", ["scale", "running"])
def test_nothing_cures_what_is_well_or_cannot_be_helped(compiler, loop):
    assert_matches(lesson.cure, changed(compiler, loop), oracle=always(None))


@pytest.mark.task(1, 2, 3)
@pytest.mark.edge
def test_a_change_that_saves_one_instruction_of_five_is_no_cure():
    saved = LESSON.replace("  3e:	cmp    rdi,rax\n", "")
    assert_matches(lesson.cure, {"as it is": LESSON, "restrict": saved}, oracle=always(None))
    assert_matches(lesson.cure, {"as it is": "   0:\tret", "restrict": "   0:\tret"}, oracle=always(None))


@pytest.mark.task(1, 2, 3)
@pytest.mark.edge
def test_twice_as_much_is_enough_and_the_first_of_equals_is_taken():
    by_sixteen = LESSON.replace("ymm", "zmm").replace("YMM", "ZMM")
    listings = {"restrict": by_sixteen, "as it is": LESSON, "-ffast-math": by_sixteen}
    assert_matches(lesson.cure, listings, oracle=always("restrict"))


# The compiler of this machine ---------------------------------------------------------------------

@pytest.mark.task(1, 2)
@pytest.mark.compiled
@pytest.mark.x86_compiler
def test_what_the_compiler_of_this_machine_makes_of_scale_for_its_own_chip():
    """More than one element an instruction, in registers of 256 bits and more; less, where the chip has no AVX."""
    listing = disassemble("cc", "native", "as it is")["scale"]
    widest = max(lesson.width(each) for each in lesson.hot_loop(lesson.parse(listing)))
    elements = lesson.elements_per_instruction(listing)
    notes.taken.append(f"{widest} bits, {elements:.1f} elements an instruction")
    assert widest in (128, 256, 512)
    assert elements > widest / 256


@pytest.mark.task(1, 2, 3)
@pytest.mark.compiled
@pytest.mark.x86_compiler
def test_the_compiler_of_this_machine_needs_the_same_cure_for_a_sum_and_has_none_for_a_running_one():
    made = {change: disassemble("cc", "haswell", change) for change in ("as it is", "-ffast-math")}
    for loop, change in [("sum", "-ffast-math"), ("running", None)]:
        assert_matches(lesson.cure, {name: listings[loop] for name, listings in made.items()}, oracle=always(change))


@pytest.mark.task(1, 2, 3)
@pytest.mark.speed
@pytest.mark.x86_compiler
def test_the_cure_makes_a_sum_more_than_twice_as_fast(rng, tmp_path):
    """In order, each addition waits for the one before, 2 to 5 clocks. Eight lanes wait together; 5 times is usual."""
    def compiled(change):
        library = tmp_path / f"{len(CHANGES[change])}.so"
        subprocess.run(["cc", "-O3", "-march=native", *CHANGES[change], "-shared", "-fPIC", "-o", library,
                        HERE / "loops.c"], check=True)
        total = ctypes.CDLL(str(library)).sum
        total.restype, total.argtypes = ctypes.c_float, [ctypes.c_void_p, ctypes.c_size_t]
        return lambda x: total(x.ctypes.data, x.size)

    cure = lesson.cure(changed("gcc", "sum"))
    x = rng.normal(1, 0.1, 100_000).astype(np.float32)
    cured, as_it_is = compiled(cure), compiled("as it is")
    assert abs(cured(x) / x.sum(dtype=np.float64) - 1) < 1e-3
    assert speed_ratio(cured, as_it_is, x) >= 2
