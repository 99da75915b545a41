"""What is said about kernels that compile: types, machine code, memory accesses by source line."""

import re

import pytest
import torch

from tools.check import compiled

CHIPS = ("t4", "a100", "h100", "b200")


def only(evidence):
    (kernel,) = evidence.kernels
    return kernel


def vectors(n: int) -> tuple:
    return torch.zeros(n), torch.zeros(n)


def halves(n: int) -> tuple:
    return torch.zeros(n, n, dtype=torch.float16), torch.zeros(n, n, dtype=torch.float16)


# The launch -----------------------------------------------------------------------------------------------


def test_a_kernel_is_compiled_with_the_types_and_constants_of_the_real_launch(plain):
    kernel = compiled(plain.vector_add, *vectors(4096)).kernels["add_kernel"]
    assert kernel.signature == {
        "x_ptr": "*fp32",
        "y_ptr": "*fp32",
        "out_ptr": "*fp32",
        "n": "i32",
        "BLOCK": "constexpr",
    }
    assert kernel.constants == {"BLOCK": "1024"}
    assert (kernel.grid, kernel.launches, kernel.num_warps) == ((4, 1, 1), 1, 4)
    assert (kernel.file, kernel.line) == ("tools/tests/compiler/lessons/plain.py", 12)


def test_alignment_is_that_of_the_view_that_was_passed(plain):
    x = torch.zeros(4100)
    assert only(compiled(plain.vector_add, x[:4096], x[4:])).aligned == ("x_ptr", "y_ptr", "out_ptr", "n")
    assert only(compiled(plain.vector_add, x[:4096], x[1:4097])).aligned == ("x_ptr", "out_ptr", "n")


def test_one_signature_is_one_entry_and_another_a_second(plain):
    kernels = compiled(plain.two_kernels, torch.zeros(4096)).kernels
    assert [(kernel.name, kernel.launches) for kernel in kernels] == [
        ("add_kernel", 2),
        ("add_kernel", 1),
        ("copy_kernel", 1),
    ]
    assert kernels["copy_kernel"] is kernels[2]


def test_a_name_that_is_ambiguous_or_unknown_is_answered_with_what_there_is(plain):
    kernels = compiled(plain.two_kernels, torch.zeros(4096)).kernels
    with pytest.raises(LookupError, match="^two_kernels launched add_kernel with 2 signatures: .* One was expected"):
        kernels["add_kernel"]
    with pytest.raises(LookupError, match="^two_kernels launched no kernel mul; launched: add_kernel, copy_kernel.$"):
        kernels["mul"]


def test_of_an_autotuned_kernel_the_first_config_is_compiled(plain):
    kernel = only(compiled(plain.tuned_copy, torch.zeros(4096)))
    assert (kernel.configs, kernel.constants) == (2, {"BLOCK": "256"})
    assert (kernel.num_warps, kernel.grid) == (2, (16, 1, 1))


def test_a_call_without_kernels_gives_none(plain):
    evidence = compiled(plain.no_kernel, torch.zeros(4))
    assert evidence.kernels == ()
    with pytest.raises(LookupError, match="^no_kernel launched no kernel add_kernel; launched: none.$"):
        evidence.kernels["add_kernel"]
    assert str(evidence) == "The call launched no kernel (compiled for h100)."


def test_the_call_is_made_as_on_each_chip(plain):
    evidence = compiled(plain.as_many_programs_as_multiprocessors, torch.zeros(4096), chip=("t4", "h100"))
    grids = {chip: each.kernels[0].grid for chip, each in evidence.items()}
    assert grids == {"t4": (40, 1, 1), "h100": (132, 1, 1)}


# The machine code ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chip", CHIPS)
def test_a_vector_add_has_the_instructions_that_it_needs_on_every_chip(plain, chip):
    kernel = only(compiled(plain.vector_add, *vectors(4096), chip=chip))
    assert (kernel.chip, kernel.spills, kernel.shared_bytes) == (chip, 0, 0)
    assert 8 <= kernel.registers <= 40
    assert kernel.instructions["ld.global.v4.b32"] == 4  # 1024 elements, 128 threads, two vectors
    assert kernel.instructions["st.global.v4.b32"] == 2
    assert kernel.instructions["add.f32"] == 8
    loads = {opcode: count for opcode, count in kernel.sass.items() if opcode.startswith("LDG")}
    assert sum(loads.values()) == 4 and all(".128" in opcode for opcode in loads)
    assert kernel.sass["FADD"] == 8 or kernel.sass.get("FADD2") == 4


@pytest.mark.parametrize("chip, instruction", [("a100", "HMMA"), ("h100", "HGMMA"), ("b200", "UTCHMMA")])
def test_a_matrix_product_runs_on_the_matrix_unit_of_its_chip(plain, chip, instruction):
    kernel = only(compiled(plain.matmul, *halves(256), chip=chip))
    assert any(opcode.startswith(instruction) for opcode in kernel.sass)
    assert kernel.shared_bytes >= 2 * 2 * 64 * 32 * 2  # two stages of two tiles of 64 x 32 halves


def test_the_turing_matrix_product_spills_and_occupancy_says_what_it_costs(plain):
    kernel = only(compiled(plain.matmul, *halves(256), chip="t4"))
    assert kernel.registers == 255 and kernel.spills > 100
    assert (kernel.occupancy.blocks, kernel.occupancy.limiter) == (2, "registers")


def test_the_texts_of_every_stage_are_there_to_be_read(plain):
    kernel = only(compiled(plain.vector_add, *vectors(4096)))
    assert "tt.load" in kernel.text("ttir")
    assert "#ttg.blocked" in kernel.text("ttgir")
    assert ".target sm_90a" in kernel.text("ptx")
    assert re.search(r"/\*[0-9a-f]+\*/ .* LDG\.E\.128", kernel.text("sass"))
    with pytest.raises(ValueError, match="no stage is called 'cubin'"):
        kernel.text("cubin")


# Memory, line by line --------------------------------------------------------------------------------------


def facts(access) -> tuple:
    return access.kind, access.width, access.sectors_per_request, access.efficiency


def test_each_line_says_what_it_moves(plain):
    x, y, out = only(compiled(plain.vector_add, *vectors(4096))).accesses
    assert x.source == "x = tl.load(x_ptr + mine, mask=exists)"
    assert (x.line + 1, x.line + 2) == (y.line, out.line)
    assert facts(x) == facts(y) == ("load", 16, 16.0, 1.0)
    assert facts(out) == ("store", 16, 16.0, 1.0)


@pytest.mark.parametrize(
    "stride, width, sectors, useful", [(1, 16, 16, 1), (2, 4, 32, 1 / 8), (8, 4, 32, 1 / 8), (32, 4, 32, 1 / 8)]
)
def test_a_strided_load_touches_a_sector_for_each_thread(plain, stride, width, sectors, useful):
    kernel = only(compiled(plain.copy, torch.zeros(4096 * stride), stride))
    assert [facts(load) for load in kernel.loads] == [("load", width, sectors, useful)]
    assert [facts(store) for store in kernel.stores] == [("store", 16, 16, 1)]


def test_a_transpose_through_shared_memory_is_coalesced_on_both_sides(plain):
    kernel = only(compiled(plain.transpose, torch.zeros(256, 256)))
    assert [facts(access)[1:] for access in kernel.accesses] == [(16, 16, 1), (16, 16, 1)]
    assert kernel.shared_bytes == 64 * 64 * 4


def test_a_length_that_is_no_multiple_of_sixteen_costs_the_wide_accesses(plain):
    wide, narrow = (only(compiled(plain.vector_add, *vectors(n))) for n in (1024, 1025))
    assert [access.width for access in wide.accesses] == [16, 16, 16]
    assert [access.width for access in narrow.accesses] == [4, 4, 4]


def test_rows_that_begin_inside_a_sector_cost_a_sector_more(plain):
    # Rows of 500 floats: 2000 bytes. 15 of their 16 warp requests are whole, the last has 20 elements. Every
    # other row begins in the middle of a sector: 5 sectors for a whole request instead of 4.
    (load,) = only(compiled(plain.softmax, torch.zeros(2, 500))).loads
    assert (load.requests, load.useful_bytes) == (2 * 16, 2 * 2000)
    assert load.sectors == (15 * 4 + 3) + (15 * 5 + 3)


def test_where_addresses_are_loaded_first_nothing_is_claimed(plain):
    kernel = only(compiled(plain.histogram, torch.zeros(128, dtype=torch.int32)))
    atomic, load = kernel.accesses
    assert facts(atomic) == ("atomic", 4, None, None)
    assert facts(load) == ("load", 4, 4.0, 1.0)


@pytest.mark.parametrize("chip", CHIPS)
def test_loads_inside_a_pipelined_loop_are_counted_at_their_lines(plain, chip):
    kernel = only(compiled(plain.matmul, *halves(256), chip=chip))
    assert [access.source.split(" = ")[0] for access in kernel.loads] == ["a", "b"]
    assert [facts(access)[1:] for access in kernel.accesses] == [(16, 16.0, 1.0)] * 3


def test_figures_repeat_from_call_to_call(plain):
    first, second = (compiled(plain.softmax, torch.zeros(7, 500)).kernels[0].accesses for _ in range(2))
    assert first == second
