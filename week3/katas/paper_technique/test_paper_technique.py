"""The kata again, as checks: the claim as a formula, one store of loss and lse, gradients by chunks, what is kept."""

import pytest
import torch
from torch.nn.functional import cross_entropy as of_logits

from tools.check import assert_matches, compiled, compiled_by_torch, count, gradcheck, gradients, memory
from tools.check import speed_ratio, terms
from tools.check.inputs import matrices
from tools.check.tolerances import SLACK, Tolerance, accumulated, unit
from tools.gpu import device
from week3.katas.paper_technique import paper_technique as lesson

NAN, INF, IGNORED = float("nan"), float("inf"), -100
FLOAT32 = 4  # bytes
TILES = 16, 32, 16  # tokens, words, columns
PRODUCTS = "matmul", "mm", "mm_", "linear", "einsum"  # how PyTorch's names of products end


def tensor(values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, device=device)


def case(rng, tokens, vocabulary, d, dtype=torch.float32):
    """hidden, classifier, and labels, of which every fourth is ignored, the second first. Logits have a variance of 1:
    an error of a larger logit would be one of its exponential, and of a loss near 0."""
    hidden, classifier = matrices(rng, (tokens, d), (vocabulary, d))
    hidden, classifier = (torch.from_numpy(x).to(device, dtype) for x in (hidden / d**0.5, classifier))
    labels = torch.from_numpy(rng.integers(0, vocabulary, tokens)).to(device)
    labels[1::4] = IGNORED
    return hidden, classifier, labels


def story():
    """hidden, classifier and labels of the lesson's picture: the logits are 4 0 2 6."""
    keys = [[2, 1, 5, 0], [-2, 1, 3, 0], [1, 0, 0, 1], [1, 2, 1, 1]]
    return tensor([[1, 2, 0, 1]]), tensor(keys), torch.tensor([2], device=device)


def with_logits(logits, label, dtype=torch.float32):
    """One token with a hidden state of 1, and words with these logits."""
    return tensor([[1.0]], dtype), tensor(logits, dtype)[:, None], torch.tensor([label], device=device)


def losses(hidden, classifier, labels, tiles=None):
    """loss and lse of each token, from all logits."""
    logits = hidden @ classifier.T
    return of_logits(logits, labels, reduction="none") + 0.0, logits.logsumexp(1)  # -0.0 + 0.0 is 0.0


def mean_loss(hidden, classifier, labels):
    """Of the tokens that count, and 0 if there are none."""
    return of_logits(hidden @ classifier.T, labels, reduction="sum") / (labels != IGNORED).sum().clamp(min=1)


def backward_by_autograd(d_loss, hidden, classifier, labels, lse, chunk=None):
    with torch.enable_grad():
        leaves = [x.detach().requires_grad_() for x in (hidden, classifier)]
        return torch.autograd.grad(mean_loss(*leaves, labels), leaves, d_loss.to(hidden.dtype))


def sums(dtype, length):
    """Sums of products; of 16 bits the inputs have no more digits than tf32 has."""
    name = str(dtype).removeprefix("torch.")
    if dtype in (torch.float32, torch.float64):
        return accumulated(name, length)
    return accumulated("float32", length).blind_to("tf32 round trip", "float16 round trip", "bfloat16 round trip")


def rounded(dtype):
    """Gradients that are rounded to 16 bits once."""
    name = str(dtype).removeprefix("torch.")
    return Tolerance(SLACK * 2 * unit(name), f"{name} gradients", name).blind_to(
        "tf32 round trip", "float16 round trip", "bfloat16 round trip")


def loss_and_lse(*arguments):
    loss, lse = lesson.token_losses(*arguments, tiles=TILES)
    return round(loss[0].item(), 3), round(lse[0].item(), 3)


# Task 1: the claim --------------------------------------------------------------------------------

@pytest.mark.task(1)
def test_three_float32_matrices_of_logits_are_the_24000_mb_of_the_paper():
    mib_of_logits = lesson.bytes_of_logits(tokens=8192, vocabulary=256000, matrices=3) // 2**20
    assert mib_of_logits == 24000


@pytest.mark.task(1)
@pytest.mark.parametrize("tokens, vocabulary, matrices", [(3, 5, 1), (7, 1, 2)])
def test_each_matrix_has_a_logit_of_four_bytes_for_each_token_and_word(tokens, vocabulary, matrices):
    assert_matches(lesson.bytes_of_logits, tokens, vocabulary, matrices,
                   oracle=lambda tokens, vocabulary, matrices: FLOAT32 * tokens * vocabulary * matrices)


@pytest.mark.task(1)
@pytest.mark.parametrize("tokens", [1, 8192])
def test_the_forward_makes_two_numbers_a_token(tokens):
    assert_matches(lesson.bytes_of_forward, tokens,
                   oracle=lambda tokens: terms(loss=FLOAT32 * tokens, lse=FLOAT32 * tokens))


def makes_on_the_way_back(tokens, vocabulary, d, chunk, size):
    words = min(chunk, vocabulary)
    return terms(d_hidden=size * tokens * d, d_classifier=size * vocabulary * d, logits=FLOAT32 * tokens * words)


@pytest.mark.task(1)
@pytest.mark.parametrize("tokens, vocabulary, d, chunk, size", [
    (3, 11, 5, 2, 4), (8192, 256000, 2304, 4096, 2), (3, 11, 5, 16, 4)])
def test_the_backward_makes_two_gradients_and_one_chunk_of_logits(tokens, vocabulary, d, chunk, size):
    assert_matches(lesson.bytes_of_backward, tokens, vocabulary, d, chunk, size, oracle=makes_on_the_way_back)


# Task 2: loss and lse -----------------------------------------------------------------------------

@pytest.mark.task(2)
def test_the_token_of_the_lesson_has_loss_4_145_and_lse_6_145():
    loss, lse = loss_and_lse(*story())
    assert lse != 6.203, "lse is 6.203: 28 places past the last word are in l, each with exp(0 - 6)"
    of_lse = {
        "nan": "lse is NaN: exp(m_new - LOWEST) is inf, 0 * inf NaN. Of which difference is l multiplied by exp?",
        "-inf": "lse is -inf: exp(LOWEST - 6) is 0, and so is l. Which sum is multiplied by exp(m - m_new)?",
        "inf": "lse is inf: exp(4 - LOWEST). Which m is taken off, the one before this tile or m_new?",
        "-3.40282e+38": "lse is LOWEST: m stays as it began. Which line makes it m_new?",
        "0.145": "lse is .145, log(l) alone. What was taken off each logit?",
        "7.156": "lse is 6 + l. Of what is 6.145 - 6 = .145 the logarithm?",
        "4.145": "lse is 4.145 and loss 6.145. Which pointer is which result's?"}
    of_loss = {
        "inf": "loss is inf, picked -inf. What does a word that is not the label add to picked?",
        "-4.145": "loss is -4.145, and should be small, near 0, for a good guess. Which is taken off which?",
        "6.145": "loss is lse: the label's logit, 2, was not taken off. Where is picked added up?"}
    assert (loss, lse) == (4.145, 6.145), of_lse.get(f"{lse:g}") or of_loss.get(f"{loss:g}")


@pytest.mark.task(2)
def test_a_logit_adds_up_the_tiles_of_all_columns():
    """Ones in 20 columns, one word: its logit is 20. A tile has 16 columns."""
    logit = loss_and_lse(tensor([[1.0] * 20]), tensor([[1.0] * 20]), torch.tensor([0], device=device))[1]
    assert logit != 4, "The logit is 4, of the last 4 columns of 20: what did the tile of the first 16 leave?"
    assert logit != 16, "The logit is 16, of the first 16 columns of 20. How many tiles of columns are there?"
    assert logit == 20


@pytest.mark.task(2)
def test_each_token_has_a_maximum_of_its_own():
    """Two tokens whose logits are 1 and 1, and 200 and 200."""
    lse = lesson.token_losses(tensor([[1.0], [200]]), tensor([[1.0], [1]]), torch.tensor([0, 0], device=device))[1]
    seen = [round(each, 3) for each in lse.tolist()]
    assert seen[0] != -INF, "lse[0] is -inf: exp(1 - 200) is 0, and 200 is token 1's. Over which axis is tl.max?"
    assert seen == [1.693, 200.693]


@pytest.mark.task(2)
def test_a_place_past_the_last_word_is_no_word():
    """Three logits of -5. The tile has 29 places more, whose logits are 0."""
    loss, lse = loss_and_lse(*with_logits([-5.0, -5, -5], label=1))
    assert lse != 3.368, "As if 29 more words had a logit of 0: places of the tile past the last word. exp(0) is 1."
    assert (loss, lse) == (1.099, -3.901)


@pytest.mark.task(2)
@pytest.mark.parametrize("words, wanted, what", [
    (32, (3.466, -196.534), "The words fill their tile: what was m before it?"),
    (3, (1.099, -198.901), "Is the 0 of places past the last word in the maximum?")], ids=["32 words", "3 words"])
def test_logits_of_minus_200_are_no_less_than_their_maximum(words, wanted, what):
    """lse is -200 + log(words)."""
    loss, lse = loss_and_lse(*with_logits([-200.0] * words, label=1))
    assert lse != -INF, f"lse is -inf: exp(-200 - 0) is 0. {what}"
    assert (loss, lse) == wanted


@pytest.mark.task(2)
def test_a_larger_logit_in_the_second_tile_rescales_the_sum_of_the_first():
    """32 logits of 0, then one of 3: lse = log(32 + exp(3)) = 3.953."""
    loss, lse = loss_and_lse(*with_logits([0.0] * 32 + [3.0], label=0))
    assert lse != 6.497, "lse is 3 + log(33): l of the first tile is a sum of exp(logits - 0). Which factor makes it 3?"
    assert lse != 3.0, "lse is 3: nothing is left of the 32 words of the first tile"
    assert lse == 3.953


@pytest.mark.task(2)
def test_a_smaller_logit_in_the_second_tile_leaves_the_maximum_as_it_is():
    """A logit of 200, 31 of 0, then one of 0 in the next tile: exp(200) has no place in float32."""
    loss, lse = loss_and_lse(*with_logits([200.0] + [0.0] * 32, label=32))
    assert lse != 200.693, "lse is 200 + log(2): word 32 has a logit of 200, as word 0. With what do its logits begin?"
    assert abs(lse) < INF, f"lse is {lse}: is m the maximum of all words so far, or of this tile alone? exp(200) is inf"
    assert (loss, lse) == (200.0, 200.0)


@pytest.mark.task(2)
@pytest.mark.parametrize("label", [1, 31, 32, 39])
def test_the_label_is_picked_from_the_tile_that_it_is_in(label):
    """The logit of word j is j / 8, so 8 * (lse - loss) is the word. Words 32 to 39 are in the second tile."""
    loss, lse = loss_and_lse(*with_logits([word / 8 for word in range(40)], label=label))
    assert lse == 7.01
    picked_word = round(8 * (lse - loss), 1)
    assert picked_word != 34, "lse - loss is 4.25, the logits of words 1 and 33. Word 33 has place 1 of its tile."
    assert abs(picked_word) < INF, f"lse - loss is {lse - loss}: of a place past the last word. The label is {label}."
    tile = label // 32
    asks = ["what does tile 1, which has not got it, make of picked?", "which words has tile 1?"][tile]
    assert picked_word != 0, f"The label, word {label}, is in tile {tile}, and picked is 0 at the end: {asks}"
    assert picked_word == label, f"lse - loss is {lse - loss:g}, the logit of the label is {label / 8:g}."


@pytest.mark.task(2)
@pytest.mark.edge
def test_an_ignored_token_has_loss_0_whatever_its_hidden_state_holds():
    """Three tokens with the same logits, 1 and 1; the second and the third are ignored, the third is NaN."""
    hidden, classifier = tensor([[1.0], [1.0], [NAN]]), tensor([[1.0], [1.0]])
    loss = lesson.token_losses(hidden, classifier, torch.tensor([0, IGNORED, IGNORED], device=device))[0].tolist()
    of_an_ignored_token = round(loss[1], 3)
    asks = "What is the loss of such a token?"
    assert of_an_ignored_token != 1.693, f"loss[1] is 1.693, lse: the label of token 1 is IGNORED. {asks}"
    assert str(loss[2]) != "nan", "loss[2] is NaN: token 2 is ignored, and its hidden state is NaN. What is 0 * NaN?"
    assert [round(each, 3) for each in loss] == [0.693, 0.0, 0.0]


@pytest.mark.task(2)
@pytest.mark.tolerance
def test_float32_is_multiplied_with_all_of_its_24_binary_digits():
    """One token, one word, one column: the logit is 1 + 2**-12, and so is lse."""
    label = torch.tensor([0], device=device)
    lse = lesson.token_losses(tensor([[1 + 2**-12]]), tensor([[1.0]]), label)[1].item()
    why = "lse is 1, wanted 1.000244: tl.dot rounds to 11 binary digits, if not told otherwise. By which argument?"
    assert round(lse, 6) != 1, why
    assert round(lse, 6) == 1.000244


@pytest.mark.task(2)
@pytest.mark.parametrize("tokens, vocabulary, d", [(1, 1, 1), (15, 31, 15), (16, 32, 16), (17, 33, 17), (37, 101, 41)])
def test_losses_of_any_number_of_tokens_words_and_columns(tokens, vocabulary, d, rng):
    assert_matches(lesson.token_losses, *case(rng, tokens, vocabulary, d), tiles=TILES, oracle=losses,
                   tolerance=sums(torch.float32, 100 + d + vocabulary))


@pytest.mark.task(2)
@pytest.mark.nonfinite
@pytest.mark.parametrize("strange", [NAN, INF, -INF])
def test_what_is_not_finite_spoils_the_loss_of_its_own_token(strange, rng):
    hidden, classifier, _ = case(rng, 5, 40, 7)
    hidden[3, 2] = strange
    loss = lesson.token_losses(hidden, classifier, torch.arange(5, device=device), tiles=TILES)[0]
    tokens_with_a_finite_loss = [token for token in range(5) if loss[token].isfinite()]
    assert tokens_with_a_finite_loss == [0, 1, 2, 4]


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_a_first_tile_of_words_that_are_all_hidden_counts_as_nothing():
    """32 logits of -inf, then 1 and 1: lse = 1 + log(2)."""
    loss, lse = loss_and_lse(*with_logits([-INF] * 32 + [1.0, 1.0], label=33))
    assert str(lse) != "nan", "NaN: m of the first tile was -inf. What is -inf - -inf? With which number can m begin?"
    assert (loss, lse) == (0.693, 1.693)


@pytest.mark.task(2)
@pytest.mark.tolerance
def test_logits_of_float16_are_float32():
    """300 * 300 is 90000: float16 ends at 65504."""
    hidden, classifier, labels = with_logits([300.0, 0.0], label=1, dtype=torch.float16)
    loss = lesson.token_losses(300 * hidden, classifier, labels)[0].item()
    assert abs(loss) < INF, f"loss is {loss}: 90000 has no place in float16. In which dtype are logits added up?"
    assert loss == 90000.0


@pytest.mark.task(2)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_losses_are_float32_or_float64_for_inputs_of_any_dtype(dtype, rng):
    arguments = case(rng, 17, 40, 100, dtype)
    assert [x.dtype for x in lesson.token_losses(*arguments)] == [torch.promote_types(dtype, torch.float32)] * 2
    assert_matches(lesson.token_losses, *arguments, tiles=TILES, oracle=losses, tolerance=sums(dtype, 140))


@pytest.mark.task(2)
def test_the_classifier_may_be_stored_column_by_column_and_columns_of_hidden_apart():
    """hidden is (1, 10), words are (1, 2) and (3, 4): logits of 21 and 43. In memory they are 1 - 10 -, and 1 3 2 4."""
    hidden, classifier = tensor([[1.0, NAN, 10, NAN]])[:, ::2], tensor([[1.0, 3], [2, 4]]).T
    loss, lse = loss_and_lse(hidden, classifier, torch.tensor([0], device=device))
    assert lse != 42.0, "As if the words were (1, 3) and (2, 4), row by row in memory. Which strides are handed on?"
    assert (loss, lse) == (22.0, 43.0)


@pytest.mark.task(2)
@pytest.mark.counters
def test_one_kernel_stores_loss_and_lse_once_and_no_logits(rng):
    counters = count(lesson.token_losses, *case(rng, 40, 100, 24), tiles=TILES)
    loss_and_lse_of_40_tokens, logits = 2 * 40 * FLOAT32, 40 * 100 * FLOAT32
    stored = counters.bytes_stored
    assert stored < logits, f"{stored} bytes were stored. The logits alone are {logits}: they may stay in registers."
    times = stored / loss_and_lse_of_40_tokens  # 2.5: one of the two 4 times, the other once
    assert times not in (2.5, 4), f"{stored} bytes, {times:g} times both: 4 tiles of words. In which loop is a store?"
    assert stored == loss_and_lse_of_40_tokens
    assert (counters.library_operations, [each.kernel for each in counters.launches]) == ([], ["loss_kernel"])


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_tile_is_loaded_once_for_each_product(rng):
    """3 tiles of tokens, 4 of words, 2 of columns. A logit of each label may be a product of its own: 40 more rows."""
    counters = count(lesson.token_losses, *case(rng, 40, 100, 24), tiles=TILES)
    times = counters.flops / (3 * 4 * 2 * (2 * 16 * 32 * 16))
    assert times <= 1, f"each logit is computed {times:g} times. What of m and l is known when it is first there?"
    hidden, classifier, labels, rows_of_labels = 4 * 40 * 24, 3 * 100 * 24, 2 * 40, 2 * 40 * 24
    loads = FLOAT32 * (hidden + classifier + labels + rows_of_labels)
    assert counters.bytes_loaded <= loads


@pytest.mark.task(2)
@pytest.mark.counters
def test_tiles_of_16_bits_are_multiplied_in_16_bits(rng):
    """So that tensor cores take them as they are. The logit of each label may be a product of its own: 40 rows."""
    counters = count(lesson.token_losses, *case(rng, 40, 100, 24, torch.bfloat16), tiles=TILES)
    each_tile_is_converted = counters.conversions > 2 * 40 * 24
    assert counters.float64 == 0
    assert not each_tile_is_converted, "Each tile is converted: tl.dot takes 16 bits, and adds up in float32"


@pytest.mark.task(1, 2)
@pytest.mark.counters
def test_the_forward_allocates_what_was_predicted_even_if_nothing_is_contiguous(rng):
    hidden, classifier, labels = case(rng, 128, 200, 24)
    predicted = lesson.bytes_of_forward(tokens=128)
    used = memory(lesson.token_losses, hidden.T.contiguous().T, classifier.T.contiguous().T, labels)
    assert used.peak <= predicted


@pytest.mark.task(2)
@pytest.mark.compiled
def test_logits_fit_the_registers_and_come_from_tensor_cores(rng):
    arguments = case(rng, 130, 300, 128, torch.bfloat16)
    kernel = compiled(lesson.token_losses, *arguments, chip="h100").kernels["loss_kernel"]
    products = [name for name in kernel.instructions if name.startswith("wgmma.mma_async")]
    exponentials = sum(times for name, times in kernel.instructions.items() if name.startswith("ex2"))
    assert products != []
    assert exponentials < 2 * 64, f"{exponentials} exponentials for 64 logits of a thread: is m one number a token?"
    assert kernel.spills == 0


def by_all_logits(hidden, classifier, labels):
    return of_logits((hidden @ classifier.T).float(), labels, reduction="none")


@pytest.mark.task(2)
@pytest.mark.hopper
@pytest.mark.speed
def test_losses_come_within_sight_of_those_from_stored_logits():
    hidden, classifier = (torch.randn(rows, 2048, device=device).bfloat16() for rows in (8192, 32768))
    labels = torch.randint(0, 32768, (8192,), device=device)
    assert speed_ratio(lesson.token_losses, by_all_logits, hidden, classifier, labels) >= 0.3


# Task 3: gradients --------------------------------------------------------------------------------

def backward_case(rng, tokens, vocabulary, d, dtype=torch.float32, d_loss=1.0):
    """d_loss, hidden, classifier, labels, and lse from all logits."""
    hidden, classifier, labels = case(rng, tokens, vocabulary, d, dtype)
    lse = losses(hidden.double(), classifier.double(), labels)[1].to(torch.promote_types(dtype, torch.float32))
    return torch.tensor(d_loss, dtype=lse.dtype, device=device), hidden, classifier, labels, lse


def assert_goes_back(d_loss, hidden, *others, chunk=16):
    __tracebackhide__ = True
    tolerance = sums(hidden.dtype, 256) if hidden.element_size() > 2 else rounded(hidden.dtype)
    assert_matches(lesson.cross_entropy_backward, d_loss, hidden, *others, chunk=chunk, oracle=backward_by_autograd,
                   tolerance=tolerance)


def d_logits_of_one_token(logits, label, chunk):
    """d_classifier of a token with a hidden state of 1 is d_logits."""
    arguments = with_logits(logits, label)
    found = lesson.cross_entropy_backward(tensor(1.0), *arguments, losses(*arguments)[1], chunk=chunk)[1]
    return [round(each, 3) + 0.0 for each in found[:, 0].tolist()]


@pytest.mark.task(3)
@pytest.mark.parametrize("chunk", [4, 2, 3, 100])
def test_the_logits_of_the_lesson_have_the_gradients_of_the_picture(chunk):
    d_logits = d_logits_of_one_token(logits=[4.0, 0, 2, 6], label=2, chunk=chunk)
    softmax = [0.117, 0.002, 0.016, 0.865]
    asks = "By what does lse - picked change with the logit that was picked?"
    if chunk == 2:  # with 4 words the label was found
        asks = "Word 2 is the first of its chunk here: with which word does a chunk begin?"
    assert len(d_logits) == 4, "As many rows as there are tokens, not words. Which gradient is returned first?"
    assert d_logits != softmax, f"This is the softmax. {asks}"
    assert d_logits[0] != 48.453, "exp(4) - 6.145 is 48.453. When is lse taken off, before exp or after it?"
    assert d_logits[0] != 0.982, ".982 and .018: each chunk has a softmax of its own. Which number knows all words?"
    assert d_logits[:2] != [-0.984, 0.865], "Words 0 and 1 have the gradients of 2 and 3. Which rows has each chunk?"
    assert d_logits[0] != -0.883, f"1 is taken off at word 0, too. The label is word 2, and a chunk has {chunk} words."
    assert d_logits == [0.117, 0.002, -0.984, 0.865]


@pytest.mark.task(3)
def test_a_label_counts_in_its_own_chunk_alone():
    """Four equal words, 2 at a time: softmax .25 each. The label is word 1, the second word of the first chunk."""
    d_logits = d_logits_of_one_token(logits=[1.0] * 4, label=1, chunk=2)
    second_chunk = d_logits[2:]
    assert second_chunk == [0.25, 0.25], "Word 3 lost 1, too: the label is word 1. With which word does a chunk begin?"
    assert d_logits == [0.25, -0.75, 0.25, 0.25]


def two_tokens():
    """All logits of the first are 1, so each softmax is .25, and its label is word 1; the second has a hidden state of
    0. Word 0 has a 4 in a column of its own, so d_hidden has 4 times its d_logits there."""
    hidden, classifier = tensor([[1.0, 0], [0, 0]]), tensor([[1.0, 4], [1, 0], [1, 0], [1, 0]])
    return hidden, classifier, torch.tensor([1, 1], device=device)


def why_scaled_so(d_words):
    """What d_classifier of two_tokens, or a number like it, says where d_loss is 8; 8 / 2 = 4 would be right."""
    return {
        (1, 0, 1, 1): "Word 1 has 4 * .25 - 1, not 4 * (.25 - 1). What must come before the scaling?",
        (2, -6, 2, 2): "All is 8 times d_logits, by d_loss alone. How many tokens count?",
        (0.5, -1.5, 0.5, 0.5): "All is 2 times d_logits, 8 / 2 / 2. Which line divides by 2 once more?",
        (0.125, -0.375, 0.125, 0.125): "All is half of d_logits: 1 / 2 without d_loss, which is 8. Where is it?",
        (0.25, -0.75, 0.25, 0.25): "d_logits without d_loss / counted. Before which products are they scaled?",
    }.get(tuple(d_words))


@pytest.mark.task(3)
def test_d_loss_over_the_tokens_that_count_scales_both_gradients():
    """d_loss is 8, and two tokens count: all is 4 times as much."""
    hidden, classifier, labels = two_tokens()
    lse = losses(hidden, classifier, labels)[1]
    d_hidden, d_classifier = lesson.cross_entropy_backward(tensor(8.0), hidden, classifier, labels, lse, chunk=2)
    d_words = [round(each, 3) for each in d_classifier[:, 0].tolist()]
    d_column = round(d_hidden[0, 1].item(), 3)
    assert d_words == [1, -3, 1, 1], why_scaled_so(d_words)
    assert d_column != 1, "d_hidden comes from d_logits that are not scaled. Which line must stand before its product?"
    assert d_column != 0, "d_hidden has nothing of words 0 and 1, only of the last chunk. How are chunks put together?"
    assert d_column == 4


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("in_ignored", [0.0, NAN, INF])
def test_an_ignored_token_adds_nothing_to_any_gradient(in_ignored, rng):
    """Tokens 1 and 5 are ignored: the gradients are those of the others alone."""
    d_loss, hidden, classifier, labels, lse = backward_case(rng, 7, 33, 5)
    hidden[1::4], lse[1::4] = in_ignored, NAN if in_ignored else 0.0
    d_hidden, d_classifier = lesson.cross_entropy_backward(d_loss, hidden, classifier, labels, lse, chunk=16)
    counted = labels != IGNORED
    wanted = backward_by_autograd(d_loss, hidden[counted], classifier, labels[counted], None)
    d_hidden_of_ignored = d_hidden[~counted].abs().max().item()
    words_with_nan = d_classifier.isnan().any(1).sum().item()
    why = f"hidden of tokens 1 and 5, which are ignored, holds {in_ignored}. What is 0 times it?"
    if not in_ignored:
        why = "NaN, though ignored tokens have a hidden state of 0: exp(0 - lse) is inf. For which lse is it 0?"
    assert words_with_nan == 0, why
    assert d_hidden_of_ignored == 0, "Tokens 1 and 5 are ignored, but have a d_hidden. Which lse makes exp(0 - lse) 0?"
    assert torch.allclose(d_hidden[counted], wanted[0], atol=1e-5)
    assert torch.allclose(d_classifier, wanted[1], atol=1e-5)


@pytest.mark.task(3)
@pytest.mark.parametrize("tokens, vocabulary, d, chunk", [
    (1, 1, 1, 1), (5, 31, 7, 16), (6, 32, 7, 16), (7, 33, 9, 16), (17, 37, 5, 5), (3, 37, 20, 64)])
def test_any_chunk_has_the_gradients_of_the_formula(tokens, vocabulary, d, chunk, rng):
    assert_goes_back(*backward_case(rng, tokens, vocabulary, d, d_loss=3.0), chunk=chunk)


@pytest.mark.task(3)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_gradients_of_any_dtype_are_rounded_once(dtype, rng):
    assert_goes_back(*backward_case(rng, 17, 40, 10, dtype, d_loss=3.0))


@pytest.mark.task(3)
@pytest.mark.tolerance
def test_chunks_of_d_hidden_are_added_up_in_float32():
    """512 equal words, 16 at a time. The first chunk adds 512, each of 31 others .2: float16 has steps of .5 there."""
    classifier = tensor([[16384.0]] * 16 + [[6.4]] * 495 + [[0.0]], torch.float16)
    arguments = tensor([[0.0]], torch.float16), classifier, torch.tensor([511], device=device)
    lse = tensor([512.0]).log()
    d_hidden = lesson.cross_entropy_backward(tensor(1.0), *arguments, lse, chunk=16)[0].item()
    assert d_hidden != 512.0, "512, where .2 more adds nothing in float16. In which dtype are chunks added up?"
    assert d_hidden == 518.0


@pytest.mark.task(3)
@pytest.mark.tolerance
def test_what_a_chunk_adds_to_d_hidden_is_not_rounded_to_16_bits():
    """64 equal words, 16 at a time. The first chunk adds 2049, the second -2048: float16 has steps of 2 there."""
    classifier = tensor([[8192.0]] * 8 + [[8200.0]] * 8 + [[-8192.0]] * 16 + [[0.0]] * 32, torch.float16)
    arguments = tensor([[0.0]], torch.float16), classifier, torch.tensor([63], device=device)
    d_hidden = lesson.cross_entropy_backward(tensor(1.0), *arguments, tensor([64.0]).log(), chunk=16)[0].item()
    rounded_d_hidden = round(d_hidden, 2)
    assert rounded_d_hidden != 0.0, "0: 2049 of the first chunk became 2048 in float16. In which dtype is its product?"
    assert rounded_d_hidden == 1.0


@pytest.mark.task(3)
@pytest.mark.tolerance
def test_the_backward_computes_logits_of_float16_in_float32():
    """300 * 300 is 90000, that of the other word, the label, 0: its d_classifier is -300."""
    hidden, classifier, labels = with_logits([300.0, 0.0], label=1, dtype=torch.float16)
    d_classifier = lesson.cross_entropy_backward(tensor(1.0), 300 * hidden, classifier, labels, tensor([90000.0]))[1]
    seen = d_classifier[:, 0].tolist()
    why = f"d_classifier is {seen[0]}: float16 has no 90000. What is float32 before the product?"
    assert str(seen[0]) not in ("inf", "nan"), why
    assert seen == [300.0, -300.0]


@pytest.mark.task(3)
@pytest.mark.edge
def test_gradients_of_huge_logits_are_those_of_the_label_and_the_largest():
    """Logits of 1000: exp(1000) is infinite, exp(1000 - lse) is 1."""
    d_logits = d_logits_of_one_token(logits=[1000.0, -1000, 0, 10], label=2, chunk=2)
    assert d_logits == [1.0, 0.0, -1.0, 0.0]


def alive_at_the_peak(used, shape, dtype="float32"):
    """The lines that made tensors of this shape and dtype, one for each that is alive when most bytes are."""
    return [f"line {each.line}" for each in used.at_peak if (each.shape, each.dtype) == (shape, dtype)]


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("words, what", [
    (64, "which makes a new one, where it could write into the one there is?"),
    (1024, "what forgets the one of the turn before?")],
    ids=["one turn", "16 turns"])
def test_one_chunk_of_logits_is_alive_at_a_time(words, what, rng):
    """128 tokens, 64 words at a time: in one turn, and in 16."""
    used = memory(lesson.cross_entropy_backward, *backward_case(rng, 128, words, 16), chunk=64)
    lines = alive_at_the_peak(used, (128, 64))
    one_line = len(set(lines)) == 1
    made = f"each made by {lines[0]}" if one_line else f"made by {' and '.join(lines)}"
    assert len(lines) < 2, f"{len(lines)} chunks at once, {made}: {what}"


@pytest.mark.task(1, 3)
@pytest.mark.counters
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_the_backward_needs_what_was_predicted(dtype, rng):
    """128 tokens, 1024 words, 64 at a time, d = 16. Beside what was predicted there is room for hidden states three
    times and a chunk's rows twice, in float32, and some numbers a token; that is less than all words in float32."""
    tokens, words, d, chunk = 128, 1024, 16, 64
    predicted = lesson.bytes_of_backward(tokens, words, d, chunk, size=dtype.itemsize)
    predicted_and_room = predicted + FLOAT32 * (3 * tokens * d + 2 * chunk * d) + 64 * tokens
    used = memory(lesson.cross_entropy_backward, *backward_case(rng, tokens, words, d, dtype), chunk=chunk)
    wide = [] if dtype is torch.float32 else alive_at_the_peak(used, (words, d))
    assert wide == [], f"{wide[0]} made float32[1024,16], all words: how many of them does one chunk need in float32?"
    assert used.peak <= predicted_and_room


@pytest.mark.task(3)
@pytest.mark.counters
def test_each_chunk_takes_three_products(rng):
    """The logits once, d_hidden, d_classifier."""
    operations = count(lesson.cross_entropy_backward, *backward_case(rng, 7, 64, 5), chunk=16).library_operations
    products = len([name for name in operations if name.endswith(PRODUCTS)])
    assert 0 < products <= 3 * 4, f"{products} products for 4 chunks. d_hidden and d_classifier share one d_logits."


# Task 4: for autograd -----------------------------------------------------------------------------

@pytest.mark.task(2, 4)
def test_the_mean_is_that_of_the_tokens_that_count():
    """Two losses of log(2), one of 0, whose label has all of the softmax, and two ignored tokens."""
    labels = torch.tensor([0, 0, 0, IGNORED, IGNORED], device=device)
    hidden, classifier = tensor([[0.0], [0], [1000], [1], [1]]), tensor([[1.0], [-1.0]])
    loss = round(lesson.cross_entropy(hidden, classifier, labels).item(), 3)
    assert loss != 0.277, "2 * log(2) / 5: two of these five tokens are ignored. How many count?"
    assert loss != 1.386, "2 * log(2), the sum of the losses. By what is a sum divided that is to be a mean?"
    assert loss != 0.693, "log(2): the token with a loss of 0 counts, too. What says that a token does not?"
    assert loss == 0.462
    loss_of_one_token = round(lesson.cross_entropy(*story()).item(), 3)
    assert loss_of_one_token == 4.145, "The mean of one loss, 4.145, is that loss. What is the least divisor?"


@pytest.mark.task(2, 3, 4)
def test_the_gradients_are_scaled_once_by_d_loss_and_the_tokens_that_count():
    """d_loss is 8, and two tokens count: all is 4 times as much."""
    d_classifier = gradients(lesson.cross_entropy)(*two_tokens(), d_out=tensor(8.0))[1]
    d_words = [round(each, 3) for each in d_classifier[:, 0].tolist()]
    assert d_words == [1, -3, 1, 1], why_scaled_so(d_words)


@pytest.mark.task(2, 3, 4)
@pytest.mark.edge
@pytest.mark.parametrize("tokens", [3, 0])
def test_where_no_token_counts_loss_and_gradients_are_0(tokens, rng):
    """Three tokens that are all ignored, and no token at all."""
    hidden, classifier, labels = case(rng, tokens, 5, 7)
    labels[:] = IGNORED
    loss = lesson.cross_entropy(hidden, classifier, labels).item()
    d_hidden, d_classifier = gradients(lesson.cross_entropy)(hidden, classifier, labels, d_out=tensor(1.0))
    assert str(loss) != "nan", "NaN: no token counts here. What is 0 / 0?"
    assert loss == 0.0
    assert (d_hidden.shape, d_hidden.abs().sum().item(), d_classifier.abs().max().item()) == ((tokens, 7), 0.0, 0.0)


@pytest.mark.task(2, 4)
def test_the_mean_loss_in_any_layout(rng):
    assert_matches(lesson.cross_entropy, *case(rng, 9, 33, 7), oracle=mean_loss,
                   tolerance=sums(torch.float32, 128), layouts="any")


@pytest.mark.task(2, 3, 4)
def test_gradients_of_the_mean_in_any_layout(rng):
    assert_matches(gradients(lesson.cross_entropy), *case(rng, 9, 33, 7), d_out=tensor(3.0),
                   oracle=gradients(mean_loss), tolerance=sums(torch.float32, 128), layouts="any")


@pytest.mark.task(2, 3, 4)
def test_the_gradients_are_how_the_loss_changes(rng):
    """In float64, by differences of cross_entropy itself."""
    gradcheck(lesson.cross_entropy, *case(rng, 6, 11, 5, torch.float64))


@pytest.mark.task(2, 3, 4)
def test_the_gradients_are_the_same_under_torch_compile(rng):
    assert_matches(gradients(compiled_by_torch(lesson.cross_entropy)), *case(rng, 6, 11, 5), d_out=tensor(1.0),
                   oracle=gradients(mean_loss), tolerance=sums(torch.float32, 128))


@pytest.mark.task(2, 3, 4)
@pytest.mark.counters
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_beside_the_arguments_lse_alone_waits_for_the_backward(dtype, rng):
    """And the number of tokens that count, if it was kept. Neither argument is contiguous."""
    lse, counted = 64 * FLOAT32, 8
    hidden, classifier, labels = case(rng, 64, 100, 24, dtype)
    turned = (x.T.contiguous().T for x in (hidden, classifier))
    used = memory(gradients(lesson.cross_entropy), *turned, labels, d_out=tensor(1.0))
    assert used.saved <= lse + counted, "What else waits, and what makes it? The kernel takes any strides."


@pytest.mark.task(2, 3, 4)
@pytest.mark.counters
def test_lse_is_computed_once_for_both_ways(rng):
    counters = count(gradients(lesson.cross_entropy), *case(rng, 9, 33, 7), d_out=tensor(1.0))
    launched = [each.kernel for each in counters.launches]
    again = "The backward computes lse again, by all logits. What could the forward have saved?"
    assert launched != ["loss_kernel"] * 2, again
    assert launched == ["loss_kernel"]
