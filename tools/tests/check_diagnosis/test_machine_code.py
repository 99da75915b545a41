"""What compiled kernels tell a learner whose assertion about them failed."""

import textwrap
from types import SimpleNamespace

from tools.check.diagnosis.machine_code import told_by_kernel


def test_other_questions_are_left_alone():
    assert told_by_kernel(SimpleNamespace(accesses=[]), "kernel.registers < 64") == []


def test_a_compiled_kernel_tells_the_width_of_each_line():
    access = SimpleNamespace(line=63, source="x = tl.load(x_ptr + mine)", width=4)
    told = told_by_kernel(SimpleNamespace(accesses=[access]), "[access.width for access in kernel.accesses]")
    assert told[0] == "line 63: x = tl.load(x_ptr + mine)  4 bytes at a time"
    assert told[-1].endswith("?")


def test_a_kernel_with_float64_tells_which_argument_brought_it():
    asked = '[name for name in kernel.instructions if "f64" in name] == []'
    kernel = SimpleNamespace(signature={"a": "float64", "x": "array(float32, 1d, C)"}, instructions={})
    assert told_by_kernel(kernel, asked)[0] == "The launch passed a as float64."
    kernel = SimpleNamespace(signature={"x": "array(float32, 1d, C)"}, instructions={"add.f64": 2})
    told = told_by_kernel(kernel, asked)
    assert told == [
        "No argument of the kernel is float64.",
        "In a kernel 0.0 is float64; a sum that begins with 0 becomes it, and so does x if here else 0. "
        "Where does one come in?",
    ]


def test_a_kernel_with_float64_in_shared_memory_is_asked_for_its_dtype():
    asked = '[name for name in kernel.instructions if "f64" in name] == []'
    kernel = SimpleNamespace(signature={"x": "array(float32, 1d, C)"}, instructions={"ld.shared.f64": 3})
    assert told_by_kernel(kernel, asked)[-1] == "Its shared memory holds float64. Which dtype has the shared array?"


def test_products_of_whole_numbers_are_told_with_their_bits():
    ttir = """
    #loc = loc("/home/a b/day.py":56:0)
    %1 = arith.muli %a, %b : i32 loc(#loc5)
    %2 = arith.muli %c, %d : i64 loc(#loc6)
    %3 = arith.muli %e, %f : tensor<16x8xi32> loc(#loc4)
    #loc4 = loc("/home/a b/day.py":62:34)
    #loc5 = loc("column"(#loc7))
    #loc6 = loc("row"("/home/a b/day.py":61:3))
    #loc7 = loc("/home/a b/day.py":58:3)
    """
    kernel = SimpleNamespace(text=lambda stage: textwrap.dedent(ttir))
    assert told_by_kernel(kernel, "assert row_starts_in_64_bits >= 2") == [
        "line 58 multiplies in 32 bits",
        "line 62 multiplies in 32 bits",
        "line 61 multiplies in 64 bits",
        "Which of these products may pass 2**31?",
    ]


def test_a_product_of_a_function_that_a_kernel_calls_is_told_with_its_own_line_if_the_lesson_has_it():
    ttir = """
    #loc = loc("/home/day.py":56:0)
    %1 = arith.muli %a, %b : i32 loc(#loc5)
    %2 = arith.muli %c, %d : i32 loc(#loc6)
    #loc1 = loc("/home/day.py":60:34)
    #loc2 = loc("/home/day.py":40:12)
    #loc3 = loc("/usr/triton/language/random.py":57:28)
    #loc4 = loc("offset"(#loc2))
    #loc5 = loc(callsite(#loc4 at #loc1))
    #loc6 = loc(callsite(#loc3 at #loc1))
    """
    kernel = SimpleNamespace(text=lambda stage: textwrap.dedent(ttir))
    assert told_by_kernel(kernel, "assert row_starts_in_64_bits >= 2") == [
        "line 40 multiplies in 32 bits",
        "Which of these products may pass 2**31?",
    ]
