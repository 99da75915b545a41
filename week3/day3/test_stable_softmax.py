"""The lesson again, as checks: log-sum-exp, stable weights, one kernel for them, one for their logarithms, traffic."""

import re
import textwrap
from collections import Counter

import numpy as np
import pytest
import torch

from tools.check import Mismatch, assert_matches, compiled, count, given, made_elsewhere, speed_ratio, terms
from tools.check.inputs import matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week3.day3 import stable_softmax as lesson

INF, NAN = float("inf"), float("nan")
KEYS = [2.0, 0.0, 1.0, 3.0]  # the scores of the lesson
WEIGHTS = [0.23688282, 0.03205860, 0.08714432, 0.64391426]
LOG_SUM = 3.44018970
F16, BF16, F32 = torch.float16, torch.bfloat16, torch.float32
each_shape = pytest.mark.parametrize("rows, n", [(3, 1), (3, 3), (3, 4), (3, 5), (2, 127), (2, 128), (2, 129), (0, 5)])


def named(dtype):
    return str(dtype).removeprefix("torch.")


def array(values, dtype=np.float32):
    return np.array(values, dtype)


def tensor(values, dtype=F32):
    return torch.tensor(values, dtype=dtype, device=device)


def rows_of(rng, rows, n, dtype=F32, times=1.0):
    """Scores: random numbers around 0, times this."""
    return torch.from_numpy(times * matrices(rng, (rows, n))[0]).to(device, dtype)


def apart(scores, by=3):
    """The same scores with rows further apart in memory, and large ones between them."""
    rows, n = scores.shape
    wide = torch.full((rows, n + by), 20.0, dtype=scores.dtype, device=scores.device)
    wide[:, :n] = scores
    return wide[:, :n]


def weights(scores):
    """PyTorch's softmax is NaN where all scores are -inf; the lesson's is 0."""
    return torch.softmax(scores, dim=-1).masked_fill((scores == -INF).all(dim=-1, keepdim=True), 0.0)


def log_weights(scores):
    return torch.log_softmax(scores, dim=-1).masked_fill((scores == -INF).all(dim=-1, keepdim=True), -INF)


def log_sums(scores):
    return torch.logsumexp(scores, dim=-1)


def softmax_of_pytorch(scores):
    return torch.softmax(scores, dim=-1)


def for_arrays(function):
    """The same for NumPy's arrays."""
    def of_array(scores):
        return function(torch.from_numpy(scores)).numpy()
    of_array.__name__ = function.__name__
    return of_array


def listed(values):
    return " ".join(f"{value:.7g}" for value in values)


def with_fact(found, fact):
    """The same failure, which tells a fact more."""
    return Mismatch(f"{found.text}\n\n{textwrap.fill(fact, 76)}", found.cause)


def assert_row(function, scores, wanted, fact):
    """The result for one row, right to 1e-5; a failure tells the fact beside it, or fact(got)."""
    __tracebackhide__ = True
    got, wanted = np.ravel(getattr(function(scores), "tolist", list)()), np.ravel(wanted)
    if got.shape == wanted.shape and np.allclose(got, wanted, rtol=1e-5, atol=0, equal_nan=True):
        return
    call = f"{function.__name__}(scores), of {listed(np.ravel(scores.tolist()))}"
    told = textwrap.fill(fact(got) if callable(fact) else fact, 76)
    raise Mismatch(f"{call}\n\nGot    {listed(got)}\nwanted {listed(wanted)}\n\n{told}", "row")


ABOUT_FLOAT64 = "float32 becomes float64 beside np.ones(4), np.float64(1) and their like, not beside a plain 1."
ABOUT_SQUEEZE = "x.squeeze() drops each axis of length 1, x.squeeze(-1) only the last. Which of them is to go?"
ABOUT_HIDDEN_NAN = ("tl.max of -inf, NaN, -inf is -inf: it hides the NaN. tl.sum of the exponentials does not. By "
                    "which of them does the kernel find out that no score counts?")


def about_log_sum(row):
    """What a failure says of the log-sum-exp of a row with infinite scores."""
    def fact(got):
        if max(row) == INF:
            return "m is inf. exp(inf - inf) is NaN, and so is a sum of it. exp(inf - 0) is inf."
        if np.isnan(got).any():
            return "m is -inf. -inf - -inf is NaN, exp(-inf - 0) is 0. Which of them does the row meet?"
        return "Each exponential is 0, and so is l. np.log(0) is -inf. Of what was the logarithm taken?"
    return fact


def about_hidden_row(got):
    """What a failure says of the weights of a row of -inf alone."""
    if np.isnan(got).any():
        return "m is -inf. -inf - -inf is NaN, exp(-inf - 0) is 0, and 0 / 0 is NaN. Which of them does a row meet?"
    return "exp(-inf - 0) is 0, and no weight of the row is another number. Which step makes one of it?"


def about_infinite_row(got):
    """What a failure says of the weights of a row with inf."""
    if np.isnan(got).any() and not got[~np.isnan(got)].any():
        return "As if 0 were taken off: inf / inf is NaN, 1 / inf is 0. For which m does a softmax take 0 off?"
    return "exp(inf - inf) is NaN, and so are the sum and each weight. Which step makes a number of NaN?"


def about_the_step(added):
    """What a failure says of the scores of the lesson, with so much added to each."""
    total, step = added + LOG_SUM, float(np.spacing(np.float32(abs(added + LOG_SUM))))
    return f"The log-sum-exp is {total:.4f}. There the numbers of float32 are {step:.2g} apart: what is rounded to one?"


def summed(dtype, n):
    """Sums of n exponentials in float32, rounded once to the dtype. So the sum itself never is float16."""
    tolerance = accumulated(dtype, n)
    return tolerance if dtype == F32 else tolerance.blind_to(f"{named(dtype)} accumulation")


# Task 1: log-sum-exp ------------------------------------------------------------------------------

def assert_array(function, oracle, scores):
    """Of NumPy's scores, in sums of n exponentials. A failure by the dtype tells what makes float64 of float32."""
    __tracebackhide__ = True
    tolerance = accumulated(scores.dtype, max(1, scores.shape[-1]))
    try:
        assert_matches(function, scores, oracle=for_arrays(oracle), tolerance=tolerance)
    except Mismatch as found:
        if found.cause != "wrong_dtype":
            raise
        raise with_fact(found, ABOUT_FLOAT64) from None


def followed_by(function, scores):
    """What NumPy did with these scores, and with all that came of them."""
    seen = given.followed(scores)
    function(seen)
    return seen.notes


IN_WORDS = {"maximum.reduce": "maximum", "add.reduce": "sum"}


def assert_numpy_works_once(function, rng):
    """It takes exp of each score and a maximum or a sum of each row once, of all rows together, in their dtype."""
    __tracebackhide__ = True
    six_rows, one_row = (matrices(rng, (rows, 5))[0].astype(np.float32) for rows in (6, 1))
    six, one = (followed_by(function, scores) for scores in (six_rows, one_row))
    numbers_made_by_exp = sum(size for name, size, _ in six.made if name.startswith("exp"))
    times_that_exp_met_each_score = numbers_made_by_exp // six_rows.size
    assert times_that_exp_met_each_score <= 1, (
        f"np.exp made {numbers_made_by_exp} numbers of {six_rows.size} scores. Which name keeps what it made first, "
        "for all who need it?")
    along_rows = Counter((name, dtype) for name, size, dtype in six.made if name in IN_WORDS and size == len(six_rows))
    (found_again, _), times_it_was_found = max(along_rows.items(), key=lambda each: each[1], default=(("", ""), 0))
    assert times_it_was_found <= 1, (
        f"The {IN_WORDS[found_again]} of each row was found {times_it_was_found} times. Which name keeps what "
        "the first call found?")
    wide = [name for name, size, dtype in six.made if dtype == "float64" and size >= six_rows.size]
    operations_that_made_float64 = len(wide)
    assert operations_that_made_float64 == 0, (
        f"The scores are float32, and {wide[0]} made float64 of all of them, of twice the bytes. Which call converts "
        "them?")
    calls_for_six_rows, calls_for_one_row = (len(notes.calls) + notes.numbers_read for notes in (six, one))
    assert calls_for_six_rows <= calls_for_one_row, (
        "Row after row goes through Python. Along which axis does one call of NumPy work on all of them?")


@pytest.mark.task(1)
def test_log_sum_exp_of_the_four_keys_of_the_lesson():
    assert_array(lesson.logsumexp, log_sums, array(KEYS))


@pytest.mark.task(1)
@pytest.mark.parametrize("added", [100, -200, 10_000, 1e30, -1e30])
def test_log_sum_exp_grows_with_what_is_added_to_each_score(added):
    assert_array(lesson.logsumexp, log_sums, array(KEYS) + np.float32(added))


@pytest.mark.task(1)
def test_log_sum_exp_of_scores_that_lie_far_apart():
    assert_array(lesson.logsumexp, log_sums, array([0, 1000, -1000]))


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 5), (5, 1), (1, 4), (2, 1, 5), (0, 3)], ids=str)
def test_each_row_has_a_log_sum_exp_of_its_own(shape, rng):
    scores = 40 * matrices(rng, shape)[0] + 300 * np.arange(np.prod(shape[:-1])).reshape(*shape[:-1], 1)
    try:
        assert_matches(lesson.logsumexp, scores, oracle=for_arrays(log_sums), layouts="any")
    except Mismatch as found:
        if found.cause not in ("wrong_shape", "reshaped") or 1 not in shape[:-1]:
            raise
        raise with_fact(found, ABOUT_SQUEEZE) from None


@pytest.mark.task(1)
@pytest.mark.nonfinite
@pytest.mark.parametrize("row", [[-INF, -INF, -INF], [-INF], [INF, 1.0, 2.0], [INF, -INF, INF]], ids=listed)
def test_log_sum_exp_of_infinite_scores_is_infinite(row):
    assert_row(lesson.logsumexp, array(row), max(row), about_log_sum(row))


@pytest.mark.task(1)
@pytest.mark.nonfinite
@pytest.mark.parametrize("row", [[-INF, 3.0, -INF], [1.0, NAN, 2.0], [-INF, NAN, -INF], [INF, NAN, 1.0]], ids=listed)
def test_log_sum_exp_counts_no_hidden_key_and_lets_nan_be_seen(row):
    assert_array(lesson.logsumexp, log_sums, array([row, KEYS[:3]]))


@pytest.mark.task(1)
@pytest.mark.nonfinite
@pytest.mark.parametrize("shape", [(0,), (3, 0)], ids=str)
def test_a_sum_of_no_score_is_0_and_its_logarithm_minus_infinity(shape):
    assert_array(lesson.logsumexp, log_sums, np.empty(shape, np.float32))


@pytest.mark.task(1)
@pytest.mark.counters
def test_log_sum_exp_takes_exp_of_each_score_once_and_of_all_rows_together(rng):
    assert_numpy_works_once(lesson.logsumexp, rng)


# Task 2: stable weights ---------------------------------------------------------------------------

@pytest.mark.task(2)
@pytest.mark.parametrize("added", [0, 100, -200])
def test_weights_of_the_four_keys_whatever_is_added_to_each_score(added):
    assert_array(lesson.stable_softmax, weights, array(KEYS) + np.float32(added))


@pytest.mark.task(2)
@pytest.mark.tolerance
@pytest.mark.parametrize("added", [10_000, -1_000_000])
def test_weights_keep_their_digits_whatever_is_added(added):
    assert_row(lesson.stable_softmax, array(KEYS) + np.float32(added), WEIGHTS, about_the_step(added))


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 5), (5, 1), (1, 4), (0, 3), (3, 0)], ids=str)
def test_each_row_has_weights_of_its_own(shape, rng):
    scores = matrices(rng, shape)[0] + 1000 * np.arange(np.prod(shape[:-1])).reshape(*shape[:-1], 1)
    assert_matches(lesson.stable_softmax, scores, oracle=for_arrays(weights), layouts="any")


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_scores_that_lie_as_far_apart_as_float32_allows():
    assert_array(lesson.stable_softmax, weights, array([[3e38, -3e38, 1.0], [-3e38, -3e38, -3e38], [3e38, 3e38, 0.0]]))


@pytest.mark.task(2)
@pytest.mark.nonfinite
@pytest.mark.parametrize("n", [4, 1])
def test_a_row_of_minus_infinity_alone_has_weights_0(n):
    assert_row(lesson.stable_softmax, array([-INF] * n), [0.0] * n, about_hidden_row)


@pytest.mark.task(2)
@pytest.mark.nonfinite
@pytest.mark.parametrize("row", [[INF, 1.0, 2.0], [INF, 1e4, -INF]], ids=listed)
def test_a_row_with_infinity_has_weights_nan(row):
    assert_row(lesson.stable_softmax, array(row), [NAN] * 3, about_infinite_row)


@pytest.mark.task(2)
@pytest.mark.nonfinite
@pytest.mark.parametrize("row", [[-INF, 3.0, -INF], [1.0, NAN, 2.0], [-INF, NAN, -INF], [INF, NAN, 1.0]], ids=listed)
def test_hidden_keys_weigh_0_and_nan_is_seen_in_its_own_row(row):
    assert_array(lesson.stable_softmax, weights, array([row, KEYS[:3]]))


@pytest.mark.task(2)
@pytest.mark.counters
def test_weights_take_exp_of_each_score_once_and_of_all_rows_together(rng):
    assert_numpy_works_once(lesson.stable_softmax, rng)


# Task 3: one kernel -------------------------------------------------------------------------------

def assert_rows(function, oracle, scores, tolerance=None):
    __tracebackhide__ = True
    n = scores.shape[1]
    assert_matches(function, scores, oracle=oracle, tolerance=tolerance or summed(scores.dtype, n))


def assert_into_wide_rows(function, oracle, scores):
    """With an out whose rows lie further apart than those of scores."""
    __tracebackhide__ = True
    stride = scores.stride(0) + 4

    def with_out(scores):
        return function(scores, out=apart(torch.full_like(scores, NAN), by=stride - scores.shape[1]))

    with_out.__name__ = f"{function.__name__}_with_out"
    try:
        assert_rows(with_out, oracle, scores)
    except Mismatch as found:
        fact = f"The rows of out begin {stride} elements apart, those of scores {scores.stride(0)}."
        raise with_fact(found, fact) from None


@pytest.mark.task(3)
@pytest.mark.parametrize("added", [0, 100, -200])
def test_kernel_weighs_the_four_keys_whatever_is_added_to_each_score(added):
    assert_rows(lesson.row_softmax, weights, tensor([KEYS]) + added)


@pytest.mark.task(3)
@pytest.mark.edge
@each_shape
def test_kernel_weighs_any_number_of_rows_of_any_width(rows, n, rng):
    assert_rows(lesson.row_softmax, weights, rows_of(rng, rows, n) + 50 * tensor([[-2.0], [0.0], [1.0]])[:rows])


@pytest.mark.task(3)
@pytest.mark.edge
def test_kernel_follows_the_row_strides_of_scores_and_of_out(rng):
    scores = rows_of(rng, 3, 5)
    assert_into_wide_rows(lesson.row_softmax, weights, scores)
    assert_rows(lesson.row_softmax, weights, apart(scores))
    assert_rows(lesson.row_softmax, weights, scores[::2])
    assert_rows(lesson.row_softmax, weights, scores[:1].expand(3, 5))
    assert_into_wide_rows(lesson.row_softmax, weights, apart(scores))


@pytest.mark.task(3)
@pytest.mark.nonfinite
@pytest.mark.parametrize("n", [4, 5])
def test_kernel_gives_a_row_of_minus_infinity_alone_weights_0(n):
    assert_row(lesson.row_softmax, tensor([[-INF] * n]), [0.0] * n, about_hidden_row)


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_kernel_lets_a_nan_be_seen_that_the_maximum_hides():
    assert_row(lesson.row_softmax, tensor([[-INF, NAN, -INF]]), [NAN] * 3, ABOUT_HIDDEN_NAN)


@pytest.mark.task(3)
@pytest.mark.nonfinite
@pytest.mark.parametrize("row", [[-INF, 3.0, -INF], [INF, 1.0, 2.0], [1.0, NAN, 2.0], [-INF, NAN, -INF],
                                 [INF, NAN, 1.0]], ids=listed)
def test_kernel_lets_infinity_and_nan_be_seen_in_their_own_row(row):
    assert_rows(lesson.row_softmax, weights, tensor([row, KEYS[:3]]))


@pytest.mark.task(3)
@pytest.mark.tolerance
@pytest.mark.parametrize("dtype", [F16, BF16], ids=named)
def test_kernel_computes_narrow_scores_in_float32(dtype, rng):
    """Scores from about -20 to 20: rounding them again after the difference would show."""
    assert_rows(lesson.row_softmax, weights, rows_of(rng, 3, 129, dtype, times=5))


@pytest.mark.task(3)
@pytest.mark.tolerance
def test_kernel_adds_up_131072_equal_scores():
    """131072 times 1 is no float16, but each weight, 2**-17, is one."""
    got = lesson.row_softmax(torch.full((1, 131_072), 60_000.0, dtype=F16, device=device))
    smallest_weight, largest_weight = float(got.min()), float(got.max())
    assert smallest_weight == 2**-17, "131072 exponentials of 1 add up to more than 65504, where float16 ends"
    assert largest_weight == 2**-17


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("dtype", [F32, F16], ids=named)
def test_kernel_reads_each_score_once_and_writes_each_weight_once(dtype, rng):
    scores = apart(rows_of(rng, 6, 100, dtype))
    counters, once = count(lesson.row_softmax, scores), 6 * 100 * scores.itemsize
    assert counters.library_operations == []
    assert counters.library_fills == []
    assert counters.bytes_loaded == once
    assert counters.bytes_stored == once


@pytest.mark.task(3)
def test_out_is_made_where_the_scores_lie():
    made_without_a_place = made_elsewhere(lesson.row_softmax)(tensor([KEYS]))
    why = [f"Line {line} does not tell {operation} where, and PyTorch takes the CPU. A kernel of a GPU cannot store "
           "there. Where do the scores lie?" for line, operation in made_without_a_place]
    assert made_without_a_place == [], why[0]


@pytest.mark.task(3)
@pytest.mark.counters
def test_one_launch_starts_a_program_for_each_row(rng):
    counters = count(lesson.row_softmax, rows_of(rng, 7, 100))
    assert [launch.grid for launch in counters.launches] == [(7,)]


@pytest.mark.task(3)
@pytest.mark.counters
def test_kernel_weighs_float32_without_a_conversion(rng):
    counters = count(lesson.row_softmax, rows_of(rng, 3, 64))
    assert counters.conversions == 0
    assert counters.float64 == 0


def assert_few_instructions(kernel):
    """For rows of 32768 float32: 32 warps of 32 threads, 32 scores for each. What has no register is spilled."""
    __tracebackhide__ = True
    spilled_bytes, widest_load = kernel.spills, max(load.width for load in kernel.loads)
    exponentials_of_32_scores = len(re.findall(r"\bex2\.", kernel.text("ptx")))
    assert spilled_bytes == 0, (f"with num_warps={kernel.num_warps} not every number of a row has a register. Which "
                                "numbers beside those of the row does a thread hold until the store?")
    assert widest_load == 16
    assert exponentials_of_32_scores <= 32, "Which name keeps what tl.exp made first, for the sum and for the result?"


def assert_rows_begin_in_64_bits(kernel):
    """By the multiplications of integers that the compiler was given."""
    __tracebackhide__ = True
    products = re.findall(r"arith\.muli .*: (?:tensor<[\dx]+x)?(i\d+)", kernel.text("ttir"))
    row_begins_in_64_bits = products.count("i64")
    assert row_begins_in_64_bits >= 2, "row * stride, of scores and of out: is a factor converted, or the product?"


def kernel_for(rows_function, n):
    """What the compiler makes of it for two rows of n float32."""
    name = rows_function.__name__.removeprefix("row_") + "_kernel"
    return compiled(rows_function, tensor([[0.0]]).expand(2, n), chip="h100").kernels[name]


@pytest.mark.task(3)
@pytest.mark.compiled
@pytest.mark.parametrize("n, block, warps", [(512, 512, 4), (513, 1024, 4), (9000, 16_384, 16), (32_768, 32_768, 32)])
def test_a_launch_takes_the_next_power_of_two_and_the_warps_for_it(n, block, warps):
    kernel = kernel_for(lesson.row_softmax, n)
    block_n, num_warps = int(kernel.constants["BLOCK_N"]), kernel.num_warps
    assert block_n == block, (f"{block_n - n} places of the block hold no score of a row of {n}. next_power_of_2({n}) "
                              f"is {block}: of which number is {block_n} the next power of two?")
    asks = f"Is it what warps_for says of a block of {block}?"
    if num_warps == lesson.warps_for(n):
        asks = f"warps_for({n}) is {num_warps}. A row has {n} scores: how many places has its block?"
    assert num_warps == warps, asks


@pytest.mark.task(3)
@pytest.mark.compiled
def test_kernel_begins_each_row_at_a_product_in_64_bits():
    assert_rows_begin_in_64_bits(kernel_for(lesson.row_softmax, 32_768))


@pytest.mark.task(3)
@pytest.mark.compiled
def test_kernel_keeps_a_row_of_32768_in_registers():
    assert_few_instructions(kernel_for(lesson.row_softmax, 32_768))


@pytest.mark.task(3)
@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [F16, BF16, F32], ids=named)
def test_kernel_weighs_rows_of_1_to_131072_on_a_gpu(dtype, rng):
    for n in (1, 33, 1000, 8192, 32_769, 131_072):
        scores = rows_of(rng, 5, n, dtype, times=3)
        got, exact = lesson.row_softmax(scores).double(), weights(scores.double())
        error_of_largest_weight = float(((got - exact).abs() / exact.amax(dim=-1, keepdim=True)).max())
        assert error_of_largest_weight <= 4 * max(torch.finfo(dtype).eps, 1e-6)


@pytest.mark.task(3)
@pytest.mark.gpu
def test_kernel_weighs_rows_that_begin_beyond_the_reach_of_32_bits(rng):
    scores = torch.zeros(2**18 + 2, 2**13, dtype=F16, device=device)  # 4 GiB
    scores[-2:] = rows_of(rng, 2, 2**13, F16)
    last_rows = lesson.row_softmax(scores)[-2:]
    assert torch.allclose(last_rows.float(), weights(scores[-2:].float()), rtol=2e-3, atol=1e-7)


def a_copy(scores):
    """Reads and writes as many bytes as a softmax has to."""
    return scores.clone()


@pytest.mark.task(3)
@pytest.mark.hopper
@pytest.mark.speed
@pytest.mark.parametrize("rival, least", [(a_copy, 0.79), (softmax_of_pytorch, 1.5)], ids=["copy", "PyTorch"])
def test_kernel_runs_nearly_as_fast_as_a_copy_and_half_as_fast_again_as_pytorch(rival, least):
    scores = torch.randn(8192, 8192, device=device).to(F16)
    assert speed_ratio(lesson.row_softmax, rival, scores) >= least


# Task 4: logarithms of weights --------------------------------------------------------------------

@pytest.mark.task(4)
@pytest.mark.parametrize("added", [0, 100, -200])
def test_logarithms_of_the_four_weights_whatever_is_added_to_each_score(added):
    assert_rows(lesson.row_log_softmax, log_weights, tensor([KEYS]) + added)


@pytest.mark.task(4)
@pytest.mark.tolerance
@pytest.mark.parametrize("added", [10_000, -1_000_000])
def test_logarithms_keep_their_digits_whatever_is_added_to_each_score(added):
    wanted = [key - LOG_SUM for key in KEYS]
    assert_row(lesson.row_log_softmax, tensor([KEYS]) + added, wanted, about_the_step(added))


@pytest.mark.task(4)
@pytest.mark.tolerance
def test_a_weight_that_underflows_has_a_logarithm_still():
    fact = "exp(-200) is 0 in float32, and so is exp(-3e38). What is log(0)?"
    assert_row(lesson.row_log_softmax, tensor([[0.0, -200.0, -90.0]]), [0.0, -200.0, -90.0], fact)
    assert_row(lesson.row_log_softmax, tensor([[0.0, 3e38, 1.0]]), [-3e38, 0.0, -3e38], fact)


@pytest.mark.task(4)
@pytest.mark.edge
@each_shape
def test_logarithms_of_any_number_of_rows_of_any_width(rows, n, rng):
    assert_rows(lesson.row_log_softmax, log_weights, rows_of(rng, rows, n) + 50 * tensor([[-2.0], [0.0], [1.0]])[:rows])


@pytest.mark.task(4)
@pytest.mark.edge
def test_logarithms_follow_the_row_strides_of_scores_and_of_out(rng):
    scores = rows_of(rng, 3, 5)
    assert_into_wide_rows(lesson.row_log_softmax, log_weights, scores)
    assert_rows(lesson.row_log_softmax, log_weights, apart(scores))
    assert_into_wide_rows(lesson.row_log_softmax, log_weights, apart(scores))


@pytest.mark.task(4)
@pytest.mark.nonfinite
@pytest.mark.parametrize("n", [4, 5])
def test_logarithms_of_a_row_of_minus_infinity_alone_are_minus_infinity(n):
    fact = "-inf - -inf is NaN, in whichever line. log(0) is -inf as well."
    assert_row(lesson.row_log_softmax, tensor([[-INF] * n]), [-INF] * n, fact)


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_logarithms_let_a_nan_be_seen_that_the_maximum_hides():
    assert_row(lesson.row_log_softmax, tensor([[-INF, NAN, -INF]]), [NAN] * 3, ABOUT_HIDDEN_NAN)


@pytest.mark.task(4)
@pytest.mark.nonfinite
@pytest.mark.parametrize("row", [[-INF, 3.0, -INF], [INF, 1.0, 2.0], [1.0, NAN, 2.0], [-INF, NAN, -INF]], ids=listed)
def test_logarithms_of_rows_with_infinity_and_nan(row):
    assert_rows(lesson.row_log_softmax, log_weights, tensor([row, KEYS[:3]]))


@pytest.mark.task(4)
@pytest.mark.tolerance
@pytest.mark.parametrize("dtype", [F16, BF16], ids=named)
def test_logarithms_of_narrow_scores_are_computed_in_float32(dtype, rng):
    assert_rows(lesson.row_log_softmax, log_weights, rows_of(rng, 3, 129, dtype, times=5))


@pytest.mark.task(4)
@pytest.mark.counters
def test_logarithms_too_read_once_and_write_once_in_one_launch(rng):
    counters, once = count(lesson.row_log_softmax, rows_of(rng, 6, 100)), 4 * 6 * 100
    assert counters.library_operations == []
    assert counters.library_fills == []
    assert counters.bytes_loaded == once
    assert counters.bytes_stored == once
    assert [launch.grid for launch in counters.launches] == [(6,)]
    assert counters.conversions == 0
    assert counters.float64 == 0


@pytest.mark.task(4)
@pytest.mark.compiled
def test_logarithms_keep_a_row_of_32768_in_registers():
    kernel = kernel_for(lesson.row_log_softmax, 32_768)
    assert_rows_begin_in_64_bits(kernel)
    assert_few_instructions(kernel)


@pytest.mark.task(4)
@pytest.mark.hopper
@pytest.mark.speed
def test_logarithms_come_nearly_at_the_speed_of_a_copy():
    scores = torch.randn(8192, 8192, device=device).to(F16)
    assert speed_ratio(lesson.row_log_softmax, a_copy, scores) >= 0.79


# Task 5: predict ----------------------------------------------------------------------------------

def loads_and_stores(rows, n, itemsize):
    return terms(loads=rows * n * itemsize, stores=rows * n * itemsize)


def operands_and_results(rows, n, itemsize):
    """Scores that are read and written, and the maximum and the sum of each row: both are written and read."""
    scores, column = rows * n * itemsize, rows * itemsize
    return terms(maximum=scores, difference=2 * scores, exp=2 * scores, sum=scores, quotient=2 * scores,
                 maxima_and_sums=4 * column)


@pytest.mark.task(5)
@pytest.mark.parametrize("rows, n, itemsize", [(1, 4, 4), (3, 100, 2), (7, 1, 8), (0, 5, 4)])
def test_predicts_what_one_kernel_moves(rows, n, itemsize):
    assert_matches(lesson.predict_traffic, rows, n, itemsize, oracle=loads_and_stores)


@pytest.mark.task(3, 5)
@pytest.mark.counters
@pytest.mark.parametrize("rows, n, dtype", [(1, 4, F32), (3, 100, F16), (5, 129, F32)], ids=str)
def test_predicts_the_bytes_that_are_counted(rows, n, dtype, rng):
    scores = rows_of(rng, rows, n, dtype)
    predicted, counted = lesson.predict_traffic(rows, n, scores.itemsize), count(lesson.row_softmax, scores).bytes
    assert predicted == counted


@pytest.mark.task(5)
def test_predicts_that_each_maximum_and_each_sum_is_written_and_read():
    moved_beside_scores = lesson.predict_separate(3, 0, 4)  # of three rows without a score
    assert moved_beside_scores == 48, "one operation writes a maximum or a sum, another reads it"


@pytest.mark.task(5)
@pytest.mark.parametrize("rows, n, itemsize", [(1, 7, 4), (3, 100, 2), (5, 1, 8), (0, 6, 4)])
def test_predicts_what_five_operations_move(rows, n, itemsize):
    assert_matches(lesson.predict_separate, rows, n, itemsize, oracle=operands_and_results)
