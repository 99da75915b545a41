"""Kernels that the compiler rejects, or that the chip could not launch: what the learner reads."""

import pytest

from tools import ROOT
from tools.check import CompileError, compiled

FILE = "tools/tests/compiler/lessons/doubtful.py"
REJECTED = {  # kernel -> the source line, and words of the reason
    "arange_of_an_argument": ("tl.store(out_ptr + tl.arange(0, n), 1.0)", "must be of type tl.constexpr"),
    "small_dot": ("tl.store(out_ptr + i[:, None] * 4 + i[None, :], tl.dot(tile, tile))", "K >= 16"),
    "python_list": ("for value in [1.0, 2.0]:", "List"),
    "python_dict": ('values = {"a": 1.0}', "Dict"),
    "type_changes_in_a_loop": ("for i in range(0, n):", "initial type int32 but is re-assigned to fp32"),
    "break_in_a_loop": ("break", "Break"),
    "index_into_a_tile": ("tl.store(out_ptr, tile[3].to(tl.float32))", "unsupported tensor index"),
    "branches_of_two_types": (
        "if n > 3:",
        "Mismatched type for value between then block (int32) and else block (fp32)",
    ),
    "condition_on_a_tile": ("if tile > 2:", "Boolean value of Tensor"),
    "print_of_an_f_string": ('print(f"tile={tile}")', "f-string"),
    "shapes_that_do_not_fit": (
        "tl.store(out_ptr + tl.arange(0, BLOCK), tl.zeros((BLOCK // 2,), tl.float32))",
        "16 and 8",
    ),
}


def rejection(doubtful, name: str, chip: str = "h100", **options) -> str:
    with pytest.raises(CompileError) as caught:
        compiled(doubtful.launch, name, chip=chip, **options)
    return str(caught.value)


@pytest.mark.parametrize("name", REJECTED)
def test_a_rejected_kernel_is_told_with_the_learners_line_and_the_compilers_reason(doubtful, name):
    source, reason = REJECTED[name]
    text = rejection(doubtful, name)
    head, line, *words = text.splitlines()
    number = 1 + [line.strip() for line in (ROOT / FILE).read_text().splitlines()].index(source)
    assert head == f"{name} does not compile for h100: {FILE}, line {number}"
    assert line == f"    {source}"
    assert reason in " ".join(words)
    assert len(text.splitlines()) <= 6 and max(map(len, text.splitlines()[1:])) <= 80


def test_an_assert_on_a_tile_compiles_to_nothing(doubtful):
    assert compiled(doubtful.launch, "failing_assert").kernels[0].name == "failing_assert"


def test_too_much_shared_memory_is_an_error_of_its_own(doubtful):
    head, line, reason = rejection(doubtful, "too_much_shared_memory", warps=8).splitlines()[:3]
    assert head.startswith("too_much_shared_memory compiles, but cannot be launched on h100: ")
    assert "needs 262144 bytes of shared memory, h100 has 232448" in reason


def test_a_mistake_in_a_helper_is_told_with_the_line_of_the_helper(doubtful):
    assert "    return tile[3]\n" in rejection(doubtful, "mistake_in_a_helper")


def test_a_mistake_in_a_call_of_the_library_is_told_with_the_line_of_the_call(doubtful):
    text = rejection(doubtful, "mistake_in_an_argument_of_the_library")
    assert "tl.sum(tl.arange(0, BLOCK), axis=2)" in text
    assert "triton/language" not in text


def test_the_chip_decides_which_types_there_are(doubtful):
    assert compiled(doubtful.launch, "eight_bits_for_new_chips", chip="h100").kernels
    assert "fp8e4nv not supported" in rejection(doubtful, "eight_bits_for_new_chips", chip="t4")


def test_what_the_assembler_rejects_is_told_in_its_words(doubtful):
    text = rejection(doubtful, "bogus_assembler")
    assert text.startswith("bogus_assembler does not compile for h100: ")
    assert text.endswith("The assembler says: Not a name of any known instruction: 'twice'")


def test_after_a_rejection_the_same_process_compiles_on(doubtful):
    rejection(doubtful, "python_dict")
    assert compiled(doubtful.launch, "innocent").kernels["innocent"].launches == 1


def test_a_launch_with_a_missing_argument_raises_what_triton_raises(doubtful):
    with pytest.raises(TypeError, match="'n'") as caught:
        compiled(doubtful.launch_without_n)
    assert caught.value.raised.frames[-1].source == "innocent[(1,)](torch.zeros(16), BLOCK=16)"


def test_a_grid_of_fractions_raises_what_a_launch_raises(doubtful):
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        compiled(doubtful.launch_half_a_program)
