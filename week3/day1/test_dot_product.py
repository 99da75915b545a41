"""The lesson again, as checks: two measures by hand, scores of any keys, what they cost, cosines in the same read."""

import math
import re

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, speed_ratio, terms
from tools.check.inputs import awkward_lengths, integers, matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week3.day1 import dot_product as lesson

INF, NAN = float("inf"), float("nan")
QUERY = [1.0, 2.0, 0.0, 1.0]
KEYS = [[2.0, 1.0, 5.0, 0.0], [-2.0, 1.0, 3.0, 0.0], [1.0, 0.0, 0.0, 1.0], [1.0, 2.0, 1.0, 1.0]]


def tensor(values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, device=device)


def whole_numbers(rng, n, d, dtype=torch.float32):
    """A query and n keys whose scores are exact in float32, and never 0 by what is missing alone."""
    return tuple(torch.from_numpy(integers(rng, shape, 1, 9)).to(device, dtype) for shape in ((d,), (n, d)))


def numbers(rng, n, d, dtype=torch.float32):
    return tuple(torch.from_numpy(values).to(device, dtype) for values in (
        matrices(rng, (1, d))[0][0], matrices(rng, (n, d))[0]))


def apart(keys, by=3):
    """The same keys with rows further apart in memory, and NaN between them."""
    wide = torch.full((keys.shape[0], keys.shape[1] + by), NAN, dtype=keys.dtype, device=keys.device)
    wide[:, :keys.shape[1]] = keys
    return wide[:, :keys.shape[1]]


def scored(query, keys, **blocks):
    return (query * keys).sum(-1)


def exactly_scored(query, keys, **blocks):
    return scored(query.double(), keys.double()).float()


def measured(query, keys, **blocks):
    """Cosines; 0 where a length is 0."""
    lengths = query.square().sum(-1).sqrt() * keys.square().sum(-1).sqrt()
    return torch.where(lengths == 0, 0.0, scored(query, keys) / lengths)


def summed(keys):
    """float32 sums over d. Elements of 16 bits have no more digits than tf32 has: it cannot be told apart."""
    tolerance = accumulated(np.float32, keys.shape[1])
    return tolerance if keys.dtype == torch.float32 else tolerance.blind_to("tf32 round trip")


def loads_of(kernel):
    """Of what the compiler made: the width in bytes of each load that stands in it."""
    return [access.width for access in kernel.loads]


def products_in_64_bits(kernel):
    """How many multiplications of integers the compiler was given in 64 bits."""
    return re.findall(r"arith\.muli .*: (?:tensor<[\dx]+x)?(i\d+)", kernel.text("ttir")).count("i64")


def assert_one_launch(function, kernel, n, block_n, programs, dtype, rng):
    query, keys = whole_numbers(rng, n, 6, dtype)
    counters = count(function, query, apart(keys), block_n=block_n, block_d=4)
    assert counters.library_operations == []
    assert [launch.kernel for launch in counters.launches] == [kernel]
    assert counters.programs == programs


def assert_loads(function, keys_of_a_program, rng):
    """Each key once, the query once a program."""
    n, programs = sum(keys_of_a_program), len(keys_of_a_program)
    counters = count(function, *whole_numbers(rng, n, 40), block_n=8, block_d=16)
    needed = 4 * 40 * (n + programs)
    why = what_gives(counters.bytes_loaded, {
        "all keys, and the query for each of them. How often is it needed?": 4 * 40 * (n + n),
        "all keys, and the query twice a program": 4 * 40 * (n + 2 * programs),
        f"what {8 * programs} keys take; there are {n}. Which of the last program exist?": 4 * 40 * 9 * programs})
    assert counters.bytes_loaded == needed, why
    assert counters.bytes_stored == 4 * n
    assert counters.bytes_atomic == 0


def assert_uses_block_d(function, rng):
    """float16 is converted where it was loaded, in masked places too: in more of them if block_d is larger."""
    query, keys = whole_numbers(rng, 8, 1, torch.float16)
    in_16, in_32 = (count(function, query, keys, block_n=8, block_d=size).conversions for size in (16, 32))
    why = f"Converted: {in_16} places with block_d = 16, {in_32} with block_d = 32. Where is block_d used?"
    assert in_32 > in_16, why


def assert_takes_no_idle_step(function, rng):
    """A step converts what it loads, in masked places too: twice as much in two steps as in one."""
    in_one_step, in_two_steps = (
        count(function, *whole_numbers(rng, 8, d, torch.float16), block_n=8, block_d=32).conversions for d in (32, 64))
    why = (f"block_d = 32. Converted: {in_one_step} places with d = 32, {in_two_steps} with d = 64.\n"
           "Of how many steps is that, and how many of them have an element?")
    assert in_two_steps == 2 * in_one_step, why


# Task 1: by hand ----------------------------------------------------------------------------------

def score_by_numpy(x, y):
    return float(np.dot(x, y))


def cosine_by_numpy(x, y):
    lengths = np.linalg.norm(x) * np.linalg.norm(y)
    return float(np.dot(x, y) / lengths) if lengths else 0.0


def nearest_by_numpy(query, keys):
    return tuple(int(np.argmax([measure(query, key) for key in keys])) for measure in (score_by_numpy, cosine_by_numpy))


def what_gives(value, mistakes):
    """What the mistake is that gives this value, if it is one of these."""
    return next((f"{value} is {words}" for words, result in mistakes.items()
                 if value == pytest.approx(result, nan_ok=True)), "")


@pytest.mark.task(1)
def test_elements_at_the_same_place_are_multiplied():
    for x, y in [([3.0], [-2.0]), ([0.0], [5.0])]:
        assert_matches(lesson.dot, x, y, oracle=score_by_numpy)


@pytest.mark.task(1)
def test_the_products_of_all_places_are_added_up():
    dot_of_1_10_and_2_3 = lesson.dot([1.0, 10.0], [2.0, 3.0])
    why = what_gives(dot_of_1_10_and_2_3, {
        "(1 + 10) * (2 + 3): what is multiplied, and what is added?": 55, "1 * 2 alone: where is 10 * 3?": 2,
        "10 * 3 alone: where is 1 * 2?": 30, "a product of sums: (1 + 2) * (10 + 3)": 39})
    assert dot_of_1_10_and_2_3 == 32, why
    assert_matches(lesson.dot, [1.0, 10.0, 100.0], [2.0, -3.0, 4.0], oracle=score_by_numpy)


@pytest.mark.task(1)
def test_the_four_keys_of_the_lesson_have_the_scores_4_and_0_and_2_and_6():
    for key in KEYS:
        assert_matches(lesson.dot, QUERY, key, oracle=score_by_numpy)


@pytest.mark.task(1)
def test_two_vectors_of_length_5_with_the_score_24_have_the_cosine_24_over_25():
    cosine_of_3_4_and_4_3 = lesson.cosine([3.0, 4.0], [4.0, 3.0])
    why = what_gives(cosine_of_3_4_and_4_3, {
        "24 / (25 * 25): what is the length of (3, 4), if its square is 25?": 24 / 625,
        "24 / 5: and the other length?": 24 / 5, "24 / 10: lengths are multiplied": 2.4, "the score": 24,
        "the angle, whose cosine is wanted": math.acos(0.96)})
    assert cosine_of_3_4_and_4_3 == pytest.approx(0.96), why


@pytest.mark.task(1)
def test_the_four_keys_of_the_lesson_have_the_cosines_of_the_lesson():
    for key in KEYS:
        assert_matches(lesson.cosine, QUERY, key, oracle=cosine_by_numpy)


@pytest.mark.task(1)
def test_a_cosine_is_1_in_the_same_direction_and_minus_1_in_the_opposite_one():
    for times in (1.0, 8.0, -1.0, -0.25):
        assert_matches(lesson.cosine, QUERY, [times * element for element in QUERY], oracle=cosine_by_numpy)


@pytest.mark.task(1)
@pytest.mark.edge
def test_the_cosine_of_a_zero_vector_is_0():
    for x, y in [([3.0, 4.0], [0.0, 0.0]), ([0.0, 0.0], [3.0, 4.0]), ([0.0, 0.0], [0.0, 0.0])]:
        assert_matches(lesson.cosine, x, y, oracle=cosine_by_numpy)


@pytest.mark.task(1)
@pytest.mark.nonfinite
def test_a_vector_with_nan_or_infinity_has_the_cosine_nan_even_with_a_zero_vector():
    for x, y in [([NAN, 1.0], [3.0, 4.0]), ([0.0, 0.0], [NAN, 1.0]), ([1.0, INF], [0.0, 0.0])]:
        cosine_of_x_and_y = lesson.cosine(x, y)
        cosine_is_nan = math.isnan(cosine_of_x_and_y)
        assert cosine_is_nan, f"cosine({x}, {y}) is {cosine_of_x_and_y}; wanted is NaN. Where is it lost?"


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("size, square, asks", [
    ("1e100", "1e200", "floats end at 1.8e308. Which step goes beyond?"),
    ("1e-100", "1e-200", "floats end at 5e-324. Which step goes beyond, or takes a short vector for a zero vector?"),
], ids=["1e100", "1e-100"])
def test_a_cosine_does_not_depend_on_how_long_the_vectors_are(size, square, asks):
    x, y = ([float(size) * element for element in vector] for vector in ([3.0, 4.0], [4.0, 3.0]))
    rounded_cosine = round(lesson.cosine(x, y), 9)
    why = (f"cosine([3 * {size}, 4 * {size}], [4 * {size}, 3 * {size}])\n"
           f"x . x and y . y are near {square}, and {asks}")
    assert rounded_cosine == 0.96, why


@pytest.mark.task(1)
def test_the_key_3_4_has_the_larger_score_and_the_key_2_0_the_larger_cosine():
    """Of the query (1, 0): the scores are 3 and 2, the cosines 0.6 and 1."""
    nearest_to_1_0 = lesson.nearest([1.0, 0.0], [[3.0, 4.0], [2.0, 0.0]])
    why = what_gives(nearest_to_1_0, {
        "the key of the larger score, twice: which key has the larger cosine?": (0, 0),
        "the key of the larger cosine, twice: which key has the larger score?": (1, 1),
        "the other way round: the score comes first": (1, 0),
        "the largest score and the largest cosine: which keys have them?": (3, 1)})
    assert nearest_to_1_0 == (0, 1), why


@pytest.mark.task(1)
def test_k3_is_nearest_to_the_query_by_both_measures_and_without_it_k0_by_one_and_k2_by_the_other():
    assert_matches(lesson.nearest, QUERY, KEYS, oracle=nearest_by_numpy)
    assert_matches(lesson.nearest, QUERY, KEYS[:3], oracle=nearest_by_numpy)


@pytest.mark.task(1)
@pytest.mark.edge
def test_of_equal_keys_the_first_one_is_nearest():
    nearest_of_two_equal_keys = lesson.nearest([1.0, 0.0], [[2.0, 0.0], [2.0, 0.0]])
    why = "Both keys have the score 2 and the cosine 1. Which of equal ones counts?"
    assert nearest_of_two_equal_keys == (0, 0), why


@pytest.mark.task(1)
@pytest.mark.edge
def test_some_key_is_nearest_even_if_all_point_away_from_the_query():
    """Their scores are -3 and -2, their cosines -0.6 and -1. Then there is one key alone."""
    nearest_to_1_0 = lesson.nearest([1.0, 0.0], [[-3.0, -4.0], [-2.0, 0.0]])
    why = what_gives(nearest_to_1_0, {
        "key 0 twice; its score is -3, that of key 1 is -2. With which score do you begin?": (0, 0)})
    assert nearest_to_1_0 == (1, 0), why
    assert_matches(lesson.nearest, [1.0, 0.0], [[-2.0, 0.0]], oracle=nearest_by_numpy)


# Task 2: scores of any keys -----------------------------------------------------------------------

@pytest.mark.task(2)
def test_one_program_scores_four_keys_of_two_elements_in_one_step():
    """What is left of the lesson's vectors without their last two elements."""
    query, keys = tensor(QUERY[:2]), tensor([key[:2] for key in KEYS])
    assert_matches(lesson.scores, query, keys, block_n=4, block_d=2, oracle=exactly_scored, exact=True)


@pytest.mark.task(2)
def test_two_programs_score_two_keys_each():
    assert_matches(lesson.scores, tensor(QUERY), tensor(KEYS), block_n=2, block_d=4, oracle=exactly_scored, exact=True)


@pytest.mark.task(2)
def test_a_key_of_four_elements_takes_two_steps_of_two():
    assert_matches(lesson.scores, tensor(QUERY), tensor(KEYS), block_n=4, block_d=2, oracle=exactly_scored, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n", awkward_lengths(block=8))  # 0, 1, 7, 8, 9, 17
def test_scores_any_number_of_keys(n, rng):
    assert_matches(lesson.scores, *whole_numbers(rng, n, 5), block_n=8, block_d=8, oracle=exactly_scored, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
def test_a_key_may_be_longer_than_any_tile(rng):
    """64 keys of 20000 elements would be a tile of 64 x 32768; Triton takes no tile of more than 2**20 elements."""
    query, keys = whole_numbers(rng, 2, 20000)
    assert_matches(lesson.scores, query, keys, block_n=64, block_d=4096, oracle=exactly_scored, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("d", awkward_lengths(block=16))  # 0, 1, 15, 16, 17, 37
def test_scores_keys_of_any_length(d, rng):
    assert_matches(lesson.scores, *whole_numbers(rng, 5, d), block_n=8, block_d=16, oracle=exactly_scored, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n, d, dtype", [(5, 6, torch.float32), (9, 37, torch.float16), (9, 37, torch.bfloat16)])
def test_keys_may_be_columns_of_something_wider(n, d, dtype, rng):
    query, keys = whole_numbers(rng, n, d, dtype)
    assert_matches(lesson.scores, query, apart(keys), block_n=4, block_d=4, oracle=exactly_scored, exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
def test_keys_may_be_every_second_row_or_overlap_or_be_one_and_the_same(rng):
    """Windows of a signal begin one element apart: row stride 1. One row that stands for all has row stride 0."""
    query, table = whole_numbers(rng, 10, 6)
    _, signal = whole_numbers(rng, 1, 20)
    for keys in (table[::2], signal[0].unfold(0, 6, 1), signal[:, :6].expand(5, 6)):
        assert_matches(lesson.scores, query, keys, block_n=4, block_d=4, oracle=exactly_scored, exact=True)


@pytest.mark.task(2)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_products_of_narrow_numbers_need_not_be_narrow(dtype):
    """200 * 400 is 80000: float16 ends at 65504, and bfloat16 has only 8 digits for it. The scores are float32."""
    score_of_200_and_400 = lesson.scores(tensor([200.0], dtype), tensor([[400.0]], dtype), block_n=1, block_d=1).item()
    why = what_gives(score_of_200_and_400, {
        "200 * 400 in float16: which of them is converted, and when?": INF,
        "200 * 400 in bfloat16: which of them is converted, and when?": 79872})
    assert score_of_200_and_400 == 80000, why
    query, keys = tensor([200.0, 3.0], dtype), tensor([[400.0, 5.0], [-400.0, 7.0], [1.0, 1.0]], dtype)
    assert_matches(lesson.scores, query, keys, block_n=4, block_d=2, oracle=exactly_scored, exact=True)


@pytest.mark.task(2)
@pytest.mark.tolerance
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_adds_up_in_float32_and_takes_the_blocks_of_the_lesson_if_none_are_given(dtype, rng):
    query, keys = numbers(rng, 70, 200, dtype)
    assert_matches(lesson.scores, query, keys, oracle=scored, tolerance=summed(keys))


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_nan_and_infinity_in_a_key_are_seen_in_its_own_score_alone():
    """0 times infinity is NaN: the query of the lesson has a 0 where k2 is infinite."""
    keys = tensor(KEYS)
    keys[0, 1], keys[2, 2], keys[3, 0] = NAN, INF, -INF
    assert_matches(lesson.scores, tensor(QUERY), keys, block_n=2, block_d=2, oracle=exactly_scored, exact=True)


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_nan_and_infinity_in_the_query_are_seen_in_every_score():
    for value in (NAN, INF):
        query = tensor([1.0, 2.0, value, 1.0])
        assert_matches(lesson.scores, query, tensor(KEYS), block_n=2, block_d=2, oracle=exactly_scored, exact=True)


@pytest.mark.task(2)
@pytest.mark.counters
@pytest.mark.parametrize("n, block_n, programs, dtype", [(16, 8, 2, torch.float32), (18, 4, 5, torch.float16)])
def test_scores_is_your_kernel_one_program_for_each_block_of_keys(n, block_n, programs, dtype, rng):
    assert_one_launch(lesson.scores, "scores_kernel", n, block_n, programs, dtype, rng)


@pytest.mark.task(2)
@pytest.mark.counters
@pytest.mark.parametrize("keys_of_a_program", [(8, 8), (8, 8, 4)])
def test_each_key_is_loaded_once_and_the_query_once_a_program(keys_of_a_program, rng):
    assert_loads(lesson.scores, keys_of_a_program, rng)


@pytest.mark.task(2)
@pytest.mark.counters
def test_neighbours_of_a_row_are_loaded_together(rng):
    """A row of 64 float32 fills 8 sectors of 32 bytes. The query has 8 a program, the scores of 8 keys fill one."""
    counters = count(lesson.scores, *whole_numbers(rng, 16, 64), block_n=8, block_d=32)
    assert counters.sectors <= 16 * 8 + 2 * 8 + 2


@pytest.mark.task(2)
@pytest.mark.counters
def test_float32_is_scored_without_a_conversion(rng):
    counters = count(lesson.scores, *whole_numbers(rng, 8, 20), block_n=8, block_d=16)
    assert counters.float64 == 0
    assert counters.conversions == 0


@pytest.mark.task(2)
@pytest.mark.counters
def test_a_step_takes_block_d_elements_of_a_key(rng):
    assert_uses_block_d(lesson.scores, rng)


@pytest.mark.task(2)
@pytest.mark.counters
@pytest.mark.parametrize("d, steps", [(32, 1), (64, 2), (65, 3)])
def test_no_step_is_masked_as_a_whole(d, steps, rng):
    """A step of 8 float16 keys converts what it loads, 8 * 32 elements of keys and 32 of the query."""
    counters = count(lesson.scores, *whole_numbers(rng, 8, d, torch.float16), block_n=8, block_d=32)
    steps_done = counters.conversions / (8 * 32 + 32)
    why = (f"d = {d}, block_d = 32: so many conversions as in {steps_done:g} steps of 32.\n"
           "How many steps have an element, and how large is a step?")
    assert steps_done <= steps, why


@pytest.mark.task(2)
@pytest.mark.compiled
def test_a_thread_loads_sixteen_bytes_of_a_key_at_once(rng):
    kernel = compiled(lesson.scores, *numbers(rng, 128, 256, torch.float16), chip="h100").kernels["scores_kernel"]
    spills, widest_load = kernel.spills, max(loads_of(kernel))
    assert spills == 0
    assert widest_load == 16


@pytest.mark.task(2)
@pytest.mark.compiled
def test_the_beginning_of_a_row_is_computed_in_64_bits(rng):
    """Key 2**24 of 128 elements each begins at element 2**31, which 32 bits cannot hold."""
    kernel = compiled(lesson.scores, *numbers(rng, 128, 256, torch.float16), chip="h100").kernels["scores_kernel"]
    row_begins_in_64_bits = products_in_64_bits(kernel)
    assert row_begins_in_64_bits >= 1


@pytest.mark.task(2)
@pytest.mark.gpu
def test_scores_keys_that_begin_beyond_the_reach_of_32_bits(rng):
    query, last = whole_numbers(rng, 3, 128, torch.float16)
    keys = torch.empty(2**24 + 3, 128, dtype=torch.float16, device=device)  # 4 GiB
    keys[-3:] = last
    assert torch.equal(lesson.scores(query, keys)[-3:], exactly_scored(query, last))


def copy_of_half(query, keys):
    """Moves as many bytes as reading all keys does: half of them are read, half are written."""
    return keys[: len(keys) // 2].clone()


@pytest.mark.task(2)
@pytest.mark.hopper
@pytest.mark.speed
@pytest.mark.parametrize("dtype, least", [(torch.float32, 0.8), (torch.float16, 0.7)])
def test_scores_come_at_nearly_the_speed_of_a_copy(dtype, least):
    query, keys = (torch.randn(shape, device=device).to(dtype) for shape in (128, (2**22, 128)))
    assert speed_ratio(lesson.scores, copy_of_half, query, keys) >= least


# Task 3: predict, then count ----------------------------------------------------------------------

def traffic(n, d, itemsize, block_n):
    programs = len(range(0, n, block_n))
    return terms(keys=itemsize * n * d, query_in_the_first_program=itemsize * d * min(programs, 1),
                 query_in_the_other_programs=itemsize * d * max(programs - 1, 0), scores=4 * n)


@pytest.mark.task(3)
def test_one_program_loads_keys_and_the_query_and_stores_scores():
    assert_matches(lesson.predict_traffic, 64, 100, 4, 64, oracle=traffic)


@pytest.mark.task(3)
def test_two_programs_load_the_query_twice():
    for block_n in (32, 16, 1):
        assert_matches(lesson.predict_traffic, 64, 100, 4, block_n, oracle=traffic)


@pytest.mark.task(3)
def test_keys_of_two_bytes_an_element_have_scores_of_four_bytes():
    bytes_of_64_keys_of_100_float16 = lesson.predict_traffic(64, 100, 2, 64)
    why = what_gives(bytes_of_64_keys_of_100_float16, {
        "right but for the scores: how many bytes has a float32?": 2 * (6400 + 100 + 64),
        "right for float32": 4 * (6400 + 100 + 64)})
    assert bytes_of_64_keys_of_100_float16 == 2 * 6400 + 2 * 100 + 4 * 64, why


@pytest.mark.task(3)
@pytest.mark.edge
def test_a_program_with_a_few_keys_loads_the_whole_query_too():
    for n, block_n in [(65, 64), (17, 8), (1, 64), (0, 8)]:
        assert_matches(lesson.predict_traffic, n, 37, 4, block_n, oracle=traffic)


@pytest.mark.task(2, 3)
@pytest.mark.counters
@pytest.mark.parametrize("n, d, dtype", [(16, 32, torch.float32), (20, 37, torch.float16)])
def test_predicts_the_bytes_of_scores_that_are_counted(n, d, dtype, rng):
    predicted = lesson.predict_traffic(n, d, dtype.itemsize, 8)
    counters = count(lesson.scores, *whole_numbers(rng, n, d, dtype), block_n=8, block_d=16)
    assert predicted == counters.bytes


# Task 4: cosines ----------------------------------------------------------------------------------

def assert_measures(query, keys, **blocks):
    assert_matches(lesson.cosines, query, keys, **blocks, oracle=measured, tolerance=summed(keys))


@pytest.mark.task(4)
def test_four_programs_find_the_cosine_of_one_key_each():
    """With a query of length 2."""
    assert_measures(tensor([1.0] * 4), tensor(KEYS), block_n=1, block_d=4)


@pytest.mark.task(4)
def test_the_cosine_of_a_key_does_not_depend_on_the_keys_beside_it():
    query, keys = tensor(QUERY), tensor(KEYS)
    cosine_of_k0_alone = round(lesson.cosines(query, keys[:1], block_n=1, block_d=4).tolist()[0], 4)
    cosine_of_k0_beside_three_others = round(lesson.cosines(query, keys, block_n=4, block_d=4).tolist()[0], 4)
    why = what_gives(cosine_of_k0_beside_three_others, {
        f"{what}: what does a sum without an axis add up?": round(score / math.sqrt(6 * square), 4)
        for what, score, square in [("k0's score over the length of all four keys together", 4, 53),
                                    ("the score of all four keys together over k0's length", 12, 30),
                                    ("the score of all four keys together over the length of all four", 12, 53)]})
    assert cosine_of_k0_beside_three_others == cosine_of_k0_alone, why
    assert_measures(query, keys, block_n=4, block_d=4)


@pytest.mark.task(4)
def test_two_programs_find_two_cosines_each_in_two_steps():
    """k3 and the query in the second step: (1, 1) . (0, 1) is 1, and the squares of their lengths are 2 and 1."""
    cosine_of_k3 = round(lesson.cosines(tensor(QUERY), tensor(KEYS[3:]), block_n=1, block_d=2).item(), 4)
    why = what_gives(cosine_of_k3, {
        f"right if {which} of the second step alone. What becomes of the step before?":
            round(score / math.sqrt(query * key), 4)
        for which, score, query, key in [
            ("the length of the query is that", 6, 1, 7), ("the length of the key is that", 6, 6, 2),
            ("both lengths are those", 6, 1, 2), ("the score is that", 1, 6, 7), ("all three are those", 1, 1, 2)]})
    assert cosine_of_k3 == 0.9258, why
    assert_measures(tensor(QUERY), tensor(KEYS), block_n=2, block_d=2)


@pytest.mark.task(4)
@pytest.mark.edge
def test_a_zero_vector_has_the_cosine_0_with_every_other():
    zeros = torch.zeros(4, device=device)
    with_a_zero = tensor([KEYS[0], [0.0] * 4, KEYS[3]])
    for query, keys in [(tensor(QUERY), with_a_zero), (zeros, with_a_zero)]:
        assert_measures(query, keys, block_n=4, block_d=4)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("size, square, asks", [
    ("1e12", "1e24", "float32 ends at 3.4e38. Which step goes beyond?"),
    ("1e-12", "1e-24", "float32 ends at 1.4e-45. Which step goes beyond, or takes something larger instead?"),
], ids=["1e12", "1e-12"])
def test_cosines_do_not_depend_on_how_long_the_vectors_are(size, square, asks):
    query, keys = float(size) * tensor(QUERY), float(size) * tensor(KEYS)
    rounded_cosines = [round(cosine, 4) for cosine in lesson.cosines(query, keys, block_n=4, block_d=4).tolist()]
    why = f"cosines({size} * q, {size} * keys of the lesson)\nThe squares of lengths are near {square}; {asks}"
    assert rounded_cosines == [0.2981, 0.0, 0.5774, 0.9258], why


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("n, d", [(0, 5), (3, 0), (7, 15), (8, 16), (9, 17), (17, 37), (1, 1)])
def test_finds_cosines_of_any_number_of_keys_of_any_length(n, d, rng):
    assert_measures(*numbers(rng, n, d), block_n=8, block_d=16)


@pytest.mark.task(4)
@pytest.mark.edge
def test_finds_cosines_of_keys_longer_than_any_tile(rng):
    assert_measures(*numbers(rng, 2, 20000), block_n=64, block_d=4096)


@pytest.mark.task(4)
@pytest.mark.edge
def test_squares_of_float16_need_not_fit_float16():
    """300 * 300 is 90000."""
    query, keys = tensor([300.0], torch.float16), tensor([[300.0]], torch.float16)
    cosine_of_300_and_300 = round(lesson.cosines(query, keys, block_n=1, block_d=1).item(), 4)
    asks = "300 * 300 is infinity in float16. What is converted, and when?"
    why = what_gives(cosine_of_300_and_300, {f"a score divided by an infinite length: {asks}": 0,
                                             f"an infinite score divided by the lengths: {asks}": INF,
                                             f"infinity divided by infinity: {asks}": NAN})
    assert cosine_of_300_and_300 == 1, why
    query, keys = tensor([300.0, 100.0], torch.float16), tensor([[300.0, -100.0], [0.0, 1.0]], torch.float16)
    assert_measures(query, keys, block_n=2, block_d=2)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_finds_cosines_of_keys_that_lie_apart(dtype, rng):
    query, keys = numbers(rng, 5, 6, dtype)
    assert_measures(query, apart(keys), block_n=4, block_d=4)
    query, keys = numbers(rng, 70, 130, dtype)
    assert_measures(query, apart(keys))


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_a_key_with_nan_or_infinity_has_the_cosine_nan_and_no_other_key_has():
    cosine_of_a_key_with_nan = lesson.cosines(tensor([1.0]), tensor([[NAN]]), block_n=1, block_d=1).item()
    cosine_is_nan = math.isnan(cosine_of_a_key_with_nan)
    why = {"the cosine of a zero vector. Which comparisons are true of NaN?": 0}
    assert cosine_is_nan, what_gives(cosine_of_a_key_with_nan, why)
    keys = tensor([*KEYS, KEYS[0]])
    keys[0, 1], keys[2, 0], keys[3, 1] = NAN, INF, -INF
    assert_measures(tensor(QUERY), keys, block_n=2, block_d=2)


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_a_query_with_nan_has_no_cosine_of_0_even_with_a_zero_vector():
    assert_measures(tensor([1.0, 2.0, NAN, 1.0]), tensor([KEYS[0], [0.0] * 4]), block_n=2, block_d=4)


@pytest.mark.task(4)
@pytest.mark.counters
@pytest.mark.parametrize("n, block_n, programs, dtype", [(16, 8, 2, torch.float32), (18, 4, 5, torch.float16)])
def test_cosines_are_one_launch_of_your_kernel(n, block_n, programs, dtype, rng):
    assert_one_launch(lesson.cosines, "cosines_kernel", n, block_n, programs, dtype, rng)


@pytest.mark.task(4)
@pytest.mark.counters
@pytest.mark.parametrize("keys_of_a_program", [(8, 8), (8, 8, 4)])
def test_cosines_load_each_key_once_too(keys_of_a_program, rng):
    assert_loads(lesson.cosines, keys_of_a_program, rng)


@pytest.mark.task(4)
@pytest.mark.counters
def test_a_step_of_cosines_takes_block_d_elements_too(rng):
    assert_uses_block_d(lesson.cosines, rng)


@pytest.mark.task(4)
@pytest.mark.counters
def test_no_step_of_cosines_is_masked_as_a_whole(rng):
    assert_takes_no_idle_step(lesson.cosines, rng)


@pytest.mark.task(4)
@pytest.mark.counters
def test_cosines_load_whole_sectors_and_stay_in_float32(rng):
    counters = count(lesson.cosines, *numbers(rng, 16, 64), block_n=8, block_d=32)
    assert counters.sectors <= 16 * 8 + 2 * 8 + 2
    assert counters.float64 == 0
    assert counters.conversions == 0


@pytest.mark.task(4)
@pytest.mark.compiled
def test_three_sums_fit_the_registers(rng):
    kernel = compiled(lesson.cosines, *numbers(rng, 128, 256), chip="h100").kernels["cosines_kernel"]
    spills, widest_load = kernel.spills, max(loads_of(kernel))
    assert spills == 0
    assert widest_load == 16


@pytest.mark.task(4)
@pytest.mark.compiled
def test_the_beginning_of_a_row_is_computed_in_64_bits_for_cosines_too(rng):
    kernel = compiled(lesson.cosines, *numbers(rng, 128, 256), chip="h100").kernels["cosines_kernel"]
    row_begins_in_64_bits = products_in_64_bits(kernel)
    assert row_begins_in_64_bits >= 1


@pytest.mark.task(4)
@pytest.mark.hopper
@pytest.mark.speed
def test_cosines_come_at_nearly_the_speed_of_a_copy():
    query, keys = (torch.randn(shape, device=device) for shape in (128, (2**22, 128)))
    assert speed_ratio(lesson.cosines, copy_of_half, query, keys) >= 0.8
