"""memory: cases counted by hand, here and in a process of its own; the words of an assertion about it."""

import gc

import pytest
import torch

from tools import gpu, worker
from tools.check import gradients, memory
from tools.check.diagnosis.alive import told_by_memory
from tools.worker import NotMeasured
from tools.worker.alive import Held
from tools.worker.memory import Memory

N, D = 256, 128  # every tensor is a multiple of 512 bytes, so that a GPU's allocator rounds nothing
SQUARE, TALL, COLUMN = 4 * N * N, 4 * N * D, 4 * N


@pytest.fixture
def qkv():
    return [torch.randn(N, D, device=gpu.device) for _ in range(3)]


def line_of(norms, text) -> int:
    return [line.strip() for line in open(norms.__file__)].index(text) + 1


# Cases counted by hand ------------------------------------------------------------------------------------


def test_scores_and_weights_of_naive_attention_are_alive_together(norms, qkv):
    used = memory(norms.attention, *qkv)
    assert used.peak == 2 * SQUARE + TALL  # scores, weights, and the result
    assert used.kept == 0
    assert (used.largest.bytes, used.largest.shape, used.largest.dtype) == (SQUARE, (N, N), "float32")
    assert used.largest.line == line_of(norms, "scores = q @ k.T")
    assert [held.source for held in used.at_peak] == [
        "scores = q @ k.T",
        "weights = torch.softmax(scores, 1)",
        "return weights @ v",
    ]


def test_what_is_done_in_place_needs_nothing_new(norms, qkv):
    assert memory(norms.tidy_attention, *qkv).peak == SQUARE + 2 * TALL + COLUMN  # scores, products, result, sums


def test_a_kernel_needs_what_its_launcher_allocates(norms):
    x = torch.ones(1024, device=gpu.device)
    used = memory(norms.scale, x)
    assert (used.peak, used.kept, used.largest.source) == (4096, 0, used.largest.source)
    assert used.largest.source.startswith("out = torch.empty(")
    assert memory(norms.scaled, x, 2.0, 64, out=torch.empty_like(x)).peak == 0


def test_views_and_tensors_that_were_there_before_are_not_counted(norms):
    x = torch.ones(64, 64, device=gpu.device)
    assert memory(norms.view, x).peak == 0
    assert memory(norms.view, x).largest == Held(0, (), "", 0, "", "")
    assert memory(norms.masked, torch.ones(64, 64)).peak == 4 * 64 * 64


def test_literals_and_tensors_that_grow_are_counted(norms):
    assert memory(norms.literal, torch.ones(16)).peak == 64 + 64
    assert memory(norms.grows, torch.ones(1)).peak == 400


def test_what_a_lesson_keeps_for_later_is_told(norms):
    used = memory(norms.keeps, torch.ones(256, device=gpu.device))
    assert (used.peak, used.kept) == (2048, 1024)
    assert [held.source for held in used.left] == ["kept.append(x + 1)"]


def test_what_only_points_at_itself_is_not_kept(norms):
    used = memory(norms.points_at_itself, torch.ones(256))
    assert (used.peak, used.kept) == (2048, 0)


def test_all_that_is_made_counts_though_little_is_alive_at_one_time(norms):
    used = memory(norms.sum_of_shifted, torch.ones(N, device=gpu.device), 16)
    assert used.made == 16 * 2 * COLUMN  # each turn a shifted copy and a sum
    assert used.peak == 3 * COLUMN  # both, and the sum before
    assert [(held.bytes, times) for held, times in used.each_made] == [(COLUMN, 32)]


def test_between_forward_and_backward_lies_what_is_saved(norms):
    x, weight, bias = torch.randn(N, D), torch.randn(D), torch.randn(D)
    used = memory(gradients(norms.layernorm), x, weight, bias, d_out=torch.randn(N, D))
    assert used.saved == TALL + COLUMN  # x_hat and rstd; weight is an argument
    assert used.kept == 0
    assert [held.shape for held in used.after_forward.tensors] == [(N, D), (N, 1)]
    assert used.peak > used.saved


def test_pytorchs_own_backward_is_followed_too(norms, qkv):
    used = memory(gradients(norms.attention), *qkv, d_out=torch.randn(N, D, device=gpu.device))
    assert used.saved == SQUARE  # of softmax the weights are enough
    assert used.peak >= 3 * SQUARE
    assert any(held.line == 0 for held in used.at_peak)


def test_saved_belongs_to_gradients(norms):
    with pytest.raises(NotMeasured, match="memory\\(gradients\\(f\\)"):
        memory(norms.view, torch.ones(2, 2)).saved


def test_a_second_measurement_says_the_same_and_the_arguments_stay(norms):
    x = torch.ones(256)
    assert memory(norms.scale, x) == memory(norms.scale, x)
    assert x.tolist() == [1] * 256 and gc.isenabled()


def test_what_the_function_raises_is_raised(norms):
    with pytest.raises(ValueError, match="x is odd"):
        memory(norms.too_much, torch.ones(1))
    assert gc.isenabled()


def test_a_figure_that_a_lesson_made_up_is_not_believed(norms_there, monkeypatch):
    answer = worker.lesson.Answer((1, (0, []), (0, ["much"]), None, (0, []), (0, (), "", 0, "", "")), None, "")
    monkeypatch.setattr(norms_there.view.lesson, "ask", lambda *_: answer)
    with pytest.raises(worker.Died, match="something else than memory"):
        memory(norms_there.view, torch.ones(2, 2))


def test_of_a_gpu_the_allocators_own_peak_counts(norms_here, monkeypatch):
    """The steps around the call, with an allocator of three calls: nothing else of a GPU is needed for that."""
    said = []
    cuda = {
        "synchronize": lambda: said.append("synchronize"),
        "reset_peak_memory_stats": lambda: said.append("reset"),
        "memory_allocated": lambda: 1000,
        "max_memory_allocated": lambda: 9192,
    }
    for name, does in cuda.items():
        monkeypatch.setattr(torch.cuda, name, does)
    monkeypatch.setattr(gpu, "card", lambda: gpu.Card("a card", (9, 0), (13, 0)))
    monkeypatch.setattr("tools.worker.memory.device", lambda: "cpu")
    used = memory(norms_here.keeps, torch.ones(256))
    assert said == ["synchronize", "reset", "synchronize"]
    assert (used.peak, used.kept, used.largest.bytes) == (8192, 1024, 1024)


# Words ----------------------------------------------------------------------------------------------------


def test_an_assertion_about_the_peak_names_the_largest_tensors_and_their_lines(norms, qkv):
    used = memory(norms.attention, *qkv)
    scores = line_of(norms, "scores = q @ k.T")
    assert told_by_memory(used, "assert used.peak <= 100", {"used": used}) == [
        f"line {scores}: scores = q @ k.T  made float32[256,256], 262,144 bytes",
        f"line {scores + 1}: weights = torch.softmax(scores, 1)  made float32[256,256], 262,144 bytes",
        f"line {scores + 2}: return weights @ v  made float32[256,128], 131,072 bytes",
        "Which of them does the result need whole, and until when?",
    ]
    first, *_ = told_by_memory(used, "assert used.peak == 2 * n", {"used": used, "n": SQUARE})
    assert first == "Counted 655,360, needed 524,288: 1.25 times as much."


def test_several_tensors_of_one_line_share_a_row():
    three = (Held(64, (16,), "float32", 7, "out = x + 1 + y", "add"),) * 3
    used = Memory(192, 0, three[0], three, (), None, 0, ())
    assert told_by_memory(used, "assert used.peak == 128", {"used": used})[1] == (
        "line 7: out = x + 1 + y  made 3 times float32[16], 64 bytes each"
    )


@pytest.mark.parametrize(
    "source, operation, shown",
    [
        ("hidden = hidden_scores.masked_fill(~mask, 0)", "masked_fill", "...masked_fill(~mask, 0)"),
        ("left = scores.masked_fill(~mask_of_all, -torch.inf)", "masked_fill", "...masked_fill(~mask_of_all, -t..."),
        ("scores_of_all_heads = torch.exp(scores - maxima)", "sub", "scores_of_all_he...cores - maxima)"),
        ("return scores.exp().masked_fill(~mask, 0.0)", "exp", "...exp().masked_fill(~mask, 0.0)"),
        ("y = x.exp()  # in place of a table of all of them", "exp", "y = x.exp()"),
    ],
)
def test_a_long_line_is_cut_beside_the_operation_that_made_the_tensor(source, operation, shown):
    one = Held(64, (16,), "float32", 7, source, operation)
    used = Memory(64, 0, one, (one,), (), None, 0, ())
    assert told_by_memory(used, "assert used.peak < 9", {"used": used})[0] == (
        f"line 7: {shown}  made float32[16], 64 bytes"
    )


def test_each_figure_is_told_by_its_own_tensors(norms, qkv):
    used = memory(norms.keeps, torch.ones(256))
    assert told_by_memory(used, "assert used.kept == 0", {"used": used})[0] == "Counted 1,024, needed 0."
    assert told_by_memory(used, "assert used.kept == 0", {"used": used})[-1] == (
        "Who still holds them when the call has ended?"
    )
    used = memory(norms.sum_of_shifted, torch.ones(N), 16)
    line, question = told_by_memory(used, "assert used.made <= 9", {"used": used})
    assert line.endswith(": total = total + (x + shift)  made 32 times float32[256], 1,024 bytes each")
    assert question == "Which of them could be made once?"
    used = memory(gradients(norms.attention), *qkv, d_out=torch.randn(N, D))
    assert "weights = torch.softmax" in told_by_memory(used, "assert used.saved < 9", {"used": used})[0]
    assert "scores = q @ k.T" in told_by_memory(used, "assert used.largest.bytes < 9", {"used": used})[0]
    assert told_by_memory(used, "assert used.kept == 1", {"used": used})[-1] == "Nothing was left."
    assert told_by_memory(used, "assert other > 1", {"used": used}) == []
