"""Mistakes in kernels, made in real ones that run simulated, are named; and nothing is claimed by luck."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from tools import worker
from tools.check import Mismatch, assert_matches
from tools.check.diagnosis import Symptoms, diagnose
from tools.check.diagnosis.source import Source
from tools.check.tolerances import accumulated
from tools.sim.counters import Counters, Transfers
from tools.tests.check_diagnosis.examine import name, told
from tools.worker import Outcome, Raised

pytest.importorskip("triton")

FILE = Path(__file__).parent / "lessons" / "wrong_kernels.py"
MODULE = "wrong_kernels"


@pytest.fixture
def lesson(monkeypatch):
    module = worker.proxy(MODULE, FILE)  # in a process that simulates, also where there is a GPU
    monkeypatch.setitem(sys.modules, MODULE, module)
    return module


@pytest.fixture
def rng():
    return np.random.default_rng(6)


def numbers(rng, *shape) -> torch.Tensor:
    return torch.from_numpy(rng.normal(size=shape) - 3).float()


def failure(function, *args, oracle, tolerance=accumulated("float32", 64), **kwargs) -> Mismatch:
    with pytest.raises(Mismatch) as caught:
        assert_matches(function, *args, oracle=oracle, tolerance=tolerance, **kwargs)
    return caught.value


# Real kernels ---------------------------------------------------------------------------------------------


def test_padding_that_takes_part_is_named(lesson, rng):
    x = numbers(rng, 6, 50)
    found = failure(lesson.row_max, x, oracle=lambda x: x.amax(1))
    assert found.cause == "padding_counted"
    assert "It is right if x went on with zeros from 50 to 64." in found.text
    assert failure(lesson.softmax, x, oracle=lambda x: x.softmax(1)).cause == "padding_counted"


@pytest.mark.parametrize(
    "mistake, cause, seen",
    [
        ("exchanges the operands", "tiles_exchanged", "each tile of b, 16 x 16, stood to the left of that of a"),
        ("accumulates in float16", "float16_precision", "Every number fits float16 exactly"),
    ],
)
def test_a_product_gone_wrong_is_named(lesson, rng, mistake, cause, seen):
    def matmul(a, b, mistake):
        return a @ b

    found = failure(lesson.matmul, numbers(rng, 32, 48), numbers(rng, 48, 64), mistake, oracle=matmul)
    assert found.cause == cause and seen in " ".join(found.text.split())


def test_a_reduction_over_the_wrong_axis_is_named(lesson, rng):
    found = failure(lesson.sum_of_each_column, numbers(rng, 16, 16), oracle=lambda x: x.sum(0))
    assert found.cause == "wrong_axis"


def test_a_wrong_row_stride_is_named_with_both(lesson, rng):
    found = failure(lesson.double, numbers(rng, 5, 9), oracle=lambda x: 2 * x)
    assert found.cause == "misread_strides"
    assert "It is right for x read with strides (5, 1); those of x are (9, 1)." in found.text


@pytest.mark.parametrize(
    "how, cause, seen",
    [
        ("no launch", "never_launched", "No kernel was launched. Which line launches yours?"),
        ("no programs", "no_programs", "copy_kernel was launched with a grid of no programs at all."),
        ("masks all", "nothing_stored", "copy_kernel ran in 4 programs and stored nothing."),
        ("too few", "tail_not_stored", "3 programs stored 48 of 50 elements, none from element 48 on."),
        ("starts late", "head_not_stored", "Nothing was stored before element 3."),
        ("same block", "same_block", "What does each program do differently?"),
        ("overlap", "blocks_overlap", "Where should the block of program"),
    ],
)
def test_a_launch_gone_wrong_is_named(lesson, rng, how, cause, seen):
    found = failure(lesson.copy, numbers(rng, 50), how, oracle=lambda x, how: x.clone())
    assert found.cause == cause and seen in found.text


@pytest.mark.parametrize("negative", [[0], [0, 1, 2], [7, 30], [49]])
def test_a_store_that_leaves_out_what_was_loaded_is_named(lesson, rng, negative):
    x = numbers(rng, 50).abs() + 1
    x[negative] *= -1
    found = failure(lesson.positive, x, False, oracle=lambda x, late: x.clamp(min=0))
    lines = FILE.read_text().splitlines()
    store = lines.index("        tl.store(out_ptr + mine, x, mask=(mine < n) & (x > 0.0))") + 1
    assert found.cause == "left_out_of_a_store"
    assert f"Line {store} stored {50 - len(negative)} of 50 elements, not element {negative[0]};" in found.text
    assert f"line {store - 4} loaded 50." in " ".join(found.text.split())
    assert "Which elements does the mask of that store leave out?" in found.text


def test_a_store_three_places_late_is_no_mask_that_leaves_out(lesson, rng):
    found = failure(lesson.positive, numbers(rng, 50).abs() + 1, True, oracle=lambda x, late: x.clamp(min=0))
    assert found.cause == "head_not_stored"


@pytest.mark.parametrize(
    "how, cause, seen",
    [
        ("rows of out", "stored_twice", "stored 8 elements into 6 places. Which of them share a place?"),
        ("bounds exchanged", "tail_not_stored", "1 program stored 4 of 8 elements; its tile has 8."),
    ],
)
def test_a_tile_stored_in_part_or_twice_is_named(lesson, rng, how, cause, seen):
    def turned(x, how, **tiles):
        return x.T.contiguous()

    found = failure(lesson.turned, numbers(rng, 2, 4), how, tile_m=2, tile_n=4, oracle=turned)
    assert found.cause == cause and seen in " ".join(found.text.split())


def test_a_store_in_the_row_order_of_a_result_that_goes_by_columns_is_named(lesson, rng):
    assert failure(lesson.by_column, numbers(rng, 5, 9), oracle=lambda x: x.clone()).cause == "row_by_row"


def test_a_store_inside_the_loop_is_named_where_the_sum_is_empty(lesson):
    assert_matches(lesson.row_sums, torch.ones(3, 20), oracle=lambda x: x.sum(1))
    found = failure(lesson.row_sums, torch.empty(3, 0), oracle=lambda x: x.sum(1))
    lines = FILE.read_text().splitlines()
    store = lines.index("        tl.store(out_ptr + row, total)") + 1
    loop = lines.index("    for start in range(0, k, BLOCK):") + 1
    assert found.cause == "store_not_reached"
    assert f"No store for k = 0: line {store} stores inside the loop of line {loop}." in found.text


def test_a_store_inside_a_loop_of_no_turns_is_named_by_the_number_that_is_0(lesson):
    assert_matches(lesson.power, torch.ones(1), 2, oracle=lambda x, turns: x**turns)
    found = failure(lesson.power, torch.ones(1), 0, oracle=lambda x, turns: x**turns)
    assert found.cause == "store_not_reached"
    assert "No store for turns = 0: line" in found.text and found.text.endswith("and where is it stored?")
    assert "..." not in found.text


@pytest.mark.parametrize("strides", [(1, 1), (9, 0)])
def test_a_stride_that_is_left_out_is_named(rng, strides):
    x = rng.normal(size=(5, 9))
    got = np.lib.stride_tricks.as_strided(x, x.shape, tuple(8 * step for step in strides)) @ np.arange(9.0)
    found = told(got, x @ np.arange(9.0), x, names=("x",), oracle=lambda x: x @ np.arange(9.0))
    assert found.words.startswith(f"It is right for x read with strides {strides}; those of x are (9, 1).")


@pytest.mark.parametrize(
    "waits, text, cause",
    [(0, "stream.record()", "not_arrived"), (1, "stream.record()", None), (0, "while not event.query(): pass", None)],
)
def test_downloads_that_the_host_never_waits_for_are_named(rng, waits, text, cause):
    counters = Counters(transfers=Transfers(downloads=2, bytes_downloaded=80, synchronizations=waits))
    want = rng.normal(size=10)
    found = diagnose(
        Symptoms(
            "values", rng.normal(size=10), want, np.ones(10, bool), count=lambda: counters, source=Source(text, "copy")
        )
    )
    assert (found and found.name) == cause
    assert not cause or found.words.startswith("2 downloads were under way, and the host waited for nothing.")


@pytest.mark.parametrize(
    "how, asks",
    [
        ("no mask", "The last block is partly empty. Which of its positions exist?"),
        ("one too many", "x has 50 elements, and the first is element 0. Is element 50 one of them?"),
        ("mask of another", "What does the mask compare, and with what?"),
    ],
)
def test_what_a_mask_should_have_stopped_ends_in_one_question(lesson, rng, how, asks):
    found = failure(lesson.careless, numbers(rng, 50), how, oracle=lambda x, how: x.clone())
    assert found.text.endswith(asks)
    assert found.text.count("?") == 1 and len(found.text.splitlines()) <= 10  # a long line takes two


def test_a_refusal_shows_the_call_and_the_learners_line(lesson, rng):
    found = failure(lesson.careless, numbers(rng, 50), "no mask", oracle=lambda x, how: x.clone())
    lines = found.text.splitlines()
    assert lines[0] == "careless(x: float32[50], how='no mask')"
    assert lines[2].startswith("careless_kernel, line ") and lines[2].endswith(":  x = tl.load(x_ptr + mine)")
    assert lines[3].startswith("program 3 of 4 loads 16 elements; 14 of them lie past the end of x")


@pytest.mark.parametrize(
    "how, cause, seen",
    [
        ("rows for columns", "row_length", "Which of the two lengths is that of a row?"),
        (
            "strides exchanged",
            "transposed",
            "For the first 5 rows and columns alone nothing is refused, but:\n"
            "What came back is the wanted array transposed.",
        ),
    ],
)
def test_a_square_shows_why_an_access_left_a_matrix(lesson, rng, how, cause, seen):
    found = failure(lesson.table, numbers(rng, 5, 9), how, oracle=lambda x, how: x.clone())
    assert found.cause == cause and seen in found.text


def test_strides_that_are_not_the_results_own_are_not_called_a_length(lesson, rng):
    """In a square cut from a view they go wrong as they did; stored row by row they are right."""
    found = failure(lesson.by_strides_of_x, numbers(rng, 6, 20)[:, ::2], oracle=lambda x: x.clone())
    assert found.cause == "layout", found.text
    assert found.text.endswith("With x contiguous it is right. Which line counts on how it is stored?")


def test_what_a_mask_keeps_out_is_not_called_a_length(lesson, rng):
    """Two columns fill a block of two, so a square of two rows is right by luck."""
    found = failure(lesson.bare, numbers(rng, 2, 5), oracle=lambda x: x - x.sum(1, keepdim=True))
    assert found.text.endswith("What must those positions hold, so that they change nothing?")


def test_one_number_that_all_programs_store_asks_for_an_operation(lesson, rng):
    found = failure(lesson.total, numbers(rng, 50), oracle=lambda x: x.sum(0, keepdim=True))
    assert "One number is wanted, and programs " in found.text
    assert found.text.endswith("Should one of them, or which operation loses nothing of either?")
    assert lesson.total(numbers(rng, 10)).shape == (1,)


def test_a_row_that_a_mask_left_out_is_told_with_what_asked_for_it(lesson, rng):
    def rows(x, ids):
        return torch.stack([x[i] if i < len(x) else torch.zeros(x.shape[1]) for i in ids])

    found = failure(lesson.rows, numbers(rng, 4, 3), torch.tensor([2, 9, 0]), oracle=rows)
    assert found.cause == "row_not_stored", found.text
    assert "Row 1 was never written: ids holds 9 there." in found.text


def test_a_refusal_inside_an_expression_names_its_kernel(lesson, rng):
    found = failure(lesson.between, numbers(rng, 10), oracle=lambda x: x.clone())
    assert "\nbetween_kernel, line " in found.text and "compare three" in found.text, found.text


# Silence --------------------------------------------------------------------------------------------------


def of_missing(missing, count=None) -> str:
    return diagnose(Symptoms("never_written", wrong=missing, count=count)).name


def test_a_lesson_without_kernels_is_not_told_to_launch_one():
    assert of_missing(np.full(50, True)) == "nothing_written"
    assert of_missing(np.arange(50) > 40) == "partly_written"


def test_counters_that_cannot_be_had_change_nothing():
    def count(*args):
        raise RuntimeError("the lesson crashed")

    assert of_missing(np.full(50, True), count) == "nothing_written"


def test_a_sum_does_not_mind_zeros_behind_its_rows(rng):
    x = rng.normal(size=(6, 50))
    assert name(x.sum(1) + rng.normal(size=6), x.sum(1), x, oracle=lambda x: x.sum(1)) is None


def test_rounded_results_are_not_called_integers_on_the_way(rng):
    want = rng.normal(size=50) * 40
    assert name(np.round(want), want, want.copy()) is None


def test_noise_on_a_product_is_no_exchange_of_tiles(rng):
    a, b = rng.normal(size=(32, 32)), rng.normal(size=(32, 32))
    assert name(a @ b + rng.normal(size=(32, 32)), a @ b, a, b, oracle=np.matmul) is None


def refusal(message: str, source: str = "", *args, **more):
    frame = worker.Frame("week1/day4/vector_add.py", 60, "add_kernel", source)
    outcome = Outcome(None, Raised("Fault", message, (frame,)), {}, None, False, "", 0.0)
    found = diagnose(Symptoms("refusal", args=args, outcome=outcome, **more))
    return found and found.name


def test_a_refusal_in_other_words_keeps_its_own_question():
    for message in (
        "",
        "programs (0, 1) and (0, 2) both store element [3, 2] of out.",
        "program 2 of 3 loads 4 elements; 2 of them lie before the start of x (10 elements).",
    ):
        assert refusal(message, "x = tl.load(x_ptr, mask=exists)") is None


@pytest.mark.parametrize(
    "message, source, said",
    [
        ("acc.type.element_ty == out_dtype", "acc = tl.dot(a, b, acc)", "makes acc,"),
        ("acc.type.element_ty == out_dtype", "s = tl.dot(a, b, acc=s, out_dtype=tl.float32)", "makes s,"),
        ("acc.type.element_ty == out_dtype", "s = tl.dot(f(a), b, s)", "makes what it adds to,"),
        ("strides must be aligned", "acc = tl.dot(a, b, acc)", ""),
    ],
)
def test_a_sum_that_tl_dot_refuses_is_asked_for_by_its_name(message, source, said):
    frame = worker.Frame("week1/day6/tiling.py", 60, "matmul_kernel", source)
    message = f"acc.type.shape == ret_ty.shape and {message}" if said else message
    outcome = Outcome(None, Raised("AssertionError", message, (frame,)), {}, None, False, "", 0.0)
    found = diagnose(Symptoms("raised", outcome=outcome))
    assert (found is None) == (not said) and said in (found.words if found else "")


@pytest.mark.parametrize(
    "message, words",
    [
        (
            "Loop-carried variable total has initial type <['16'], fp32> but is re-assigned to <['16'], fp64> in loop!",
            "total begins as float32, and a turn of the loop makes float64 of it.",
        ),
        (
            "Loop-carried variable l has initial type int32 but is re-assigned to\n<['8'], bf16> in loop!",
            "l begins as int32, and a turn of the loop makes bfloat16 of it.",
        ),
        ("Loop-carried variable x has initial type <['1'], fp32> but is re-assigned to <['2'], fp32> in loop!", None),
        (
            "Expected dtype ['fp32', 'fp64'] but got bf16",
            "The function takes float32 or float64, and was given bfloat16.",
        ),
        ("Expected dtype ['fp32', 'fp64'] but got int32", None),
    ],
)
def test_a_type_that_triton_refuses_is_told_in_the_words_of_torch(message, words):
    outcome = Outcome(None, Raised("CompileError", message, ()), {}, None, False, "", 0.0)
    found = diagnose(Symptoms("raised", outcome=outcome))
    assert found is None if words is None else found.words.startswith(words + "\nWhich ")


def of_a_value_error(message, source):
    frame = worker.Frame("week3/day1/dot_product.py", 60, "scores_kernel", source)
    outcome = Outcome(None, Raised("ValueError", message, (frame,)), {}, None, False, "", 0.0)
    found = diagnose(Symptoms("raised", outcome=outcome))
    return found and found.words


@pytest.mark.parametrize(
    "source, shapes, said",
    [
        (
            "acc += tl.sum(query[None, :] * keys, axis=0)",
            "acc is [4], query is [2], keys is [4, 2]",
            "Along axis 0 keys adds up to [2], one for each column; acc is [4].",
        ),
        ("acc = acc + tl.sum(keys, 1)", "acc is [2], keys is [4, 2]", "Along axis 1 keys adds up to [4], one for each"),
        ("acc += tl.sum(keys, axis=1)", "acc is [4], keys is [4, 2]", ""),  # so it is right: something else is not
        ("acc += tl.sum(keys * more, axis=0)", "acc is [4], keys is [4, 2], more is [4, 2]", ""),
        ("acc += tl.sum(keys, axis=0)", "acc is [4], keys is [4, 8]", ""),  # not what the message is about
        ("acc += query", "acc is [4], query is [2]", ""),
    ],
)
def test_a_sum_along_the_other_axis_is_named_by_what_is_left(source, shapes, said):
    message = "Cannot make_shape_compatible: incompatible dimensions at index 0: 4 and 2\n"
    found = of_a_value_error(message + shapes, source)
    assert (found is None) == (not said) and (found or "").startswith(said)


def test_a_store_of_more_values_than_places_is_told_with_both_shapes():
    message = "pointer argument to have shape ['constexpr[4]', 'constexpr[2]'] but got ['constexpr[1]', '4']\nx is [2]"
    found = of_a_value_error(message, "tl.store(out_ptr + row, cosine)")
    assert found.startswith("The values, with the mask, are [4, 2]; the places for them are [1, 4].")


def test_a_tile_that_triton_takes_none_of_is_asked_for_the_length_that_grows():
    found = of_a_value_error("numel (2097152) exceeds triton maximum tensor numel (1048576)", "keys = tl.load(place)")
    assert "more than 1048576 elements" in found and "Which length of this one grows with the arguments?" in found


@pytest.mark.parametrize(
    "side, element, ids, found",
    [
        ("past the end", "[4, 0]", [2, 4, 3], "index_from_data"),
        ("before the start", "[-2, 0]", [0, -2], "index_from_data"),
        ("past the end", "[4, 0]", [2, 9, 3], None),
        ("past the end", "[40, 1]", [2, 4], None),
        ("past the end", "[4, 0]", [0, 1, 1, 4], None),  # where parts of the table begin and end
        ("past the end", "[4, 0]", [0, 4, 1, 4], "index_from_data"),
        ("past the end", "[4, 0]", [], None),
    ],
)
def test_a_row_that_an_argument_asks_for_and_that_does_not_exist_is_named(side, element, ids, found):
    gone = (
        f"program 1 of 3 loads 3 elements; 3 of them lie {side} of table (4 x 3\nelements).\n"
        f"First one: element {element}."
    )
    more = {"names": ("table", "ids")}
    assert refusal(gone, "row = table[i]", np.ones((4, 3)), np.array(ids, np.int64), **more) == found


@pytest.mark.parametrize(
    "writes, wrote, found",
    [
        ("thread 0 of block 1 writes element 0 of out,", "thread 0 of block 0 wrote in line 8.", "same_in_every_block"),
        ("thread 0 of block 0 writes element 3 of out,", "thread 0 of block 1 wrote in line 8.", "threads_overlap"),
        ("thread 1 of block 0 writes element 0 of out,", "thread 0 of block 0 wrote in line 8.", "threads_overlap"),
        (
            "thread (0, 2) of block (1, 0) writes element [2, 0] of out,",
            "thread (0, 2) of block (0, 0) wrote in line 8.",
            "threads_overlap",
        ),
        ("thread 1 of block 0 writes element 0 of out,", "thread 0 of block 0 wrote in line 9.", None),
        ("thread 1 of block 0 writes element 0 of out,", "thread 0 of block 0 read in line 8.", None),
    ],
)
def test_threads_that_store_one_element_by_one_line_are_asked_for_their_own(writes, wrote, found):
    race = f"copy_kernel, line 8:  out[i] = x[i]\n{writes}\nwhich {wrote}\nBlocks run in any order.\n\nWhy?"
    assert refusal(race) == found


def test_threads_that_fill_one_place_of_shared_memory_are_asked_which_should():
    race = (
        "copy_kernel, line 8:  tile[0] = x[i]\nthread 1 of block 0 writes element 0 of tile,\n"
        "which thread 0 of block 0 wrote in line 8.\nNo barrier lies between the two.\n\nWhy?"
    )
    raised = Raised("Fault", race, (worker.Frame("a.py", 8, "copy_kernel", ""),))
    outcome = Outcome(None, raised, {}, None, False, "", 0.0)
    found = diagnose(Symptoms("refusal", names=("x",), args=(), outcome=outcome))
    assert found and "Which threads of a block should fill it" in found.words


@pytest.mark.parametrize(
    "line, element, found",
    [
        ("cuda.atomic.add(out, 0, sums[0])", 0, "all_pass_it_on"),
        ("cuda.atomic.add(out, i, sums[i])", 1, None),
        ("out[i] = sums[0]", 0, None),
    ],
)
def test_threads_that_all_pass_the_result_of_their_block_on_are_asked_how_many_need_to(line, element, found):
    race = f"thread 32 of block 0 reads element {element} of sums,\nwhich thread 0 of block 0 wrote in line 8."
    assert refusal(f"tree_kernel, line 9:  {line}\n{race}\nNo barrier lies between the two.\n\nWhy?") == found


def test_a_square_matrix_cannot_show_more():
    past = "program 3 of 4 loads 3 elements; 2 of them lie past the end of y (3 x 3 elements)."
    assert refusal(past, "", np.eye(3), oracle=lambda x: x, again=lambda x: x) is None
