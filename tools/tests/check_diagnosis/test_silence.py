"""Where a claim would be true by luck, or of the right answer too, nothing is said; and nothing breaks."""

import math
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from tools.check import Mismatch, assert_matches
from tools.check.diagnosis import RECOGNISERS, Symptoms, budget, diagnose
from tools.tests.check_diagnosis.corpus import CORPUS
from tools.tests.check_diagnosis.examine import name, symptoms_of, told
from tools.worker import Died


@pytest.fixture
def rng():
    return np.random.default_rng(8)


def test_a_right_answer_has_no_cause(rng):
    arrays = rng.normal(size=(6, 7)), rng.integers(0, 9, 30), np.zeros(5), np.full(8, np.nan), np.ones((0, 3))
    for array in arrays:
        assert name(array.copy(), array, array) is None


def test_a_symmetric_matrix_with_one_wrong_element_is_not_called_transposed(rng):
    want = rng.normal(size=(6, 6))
    want += want.T
    got = want.copy()
    got[2, 3] += 1
    assert name(got, want) is None


def test_noise_has_no_cause(rng):
    want = rng.normal(size=(12, 12))
    for scale in (1e-6, 1e-3, 0.1, 3):
        assert name(want + scale * rng.normal(size=want.shape), want, want) is None


def test_errors_that_grow_smoothly_are_not_called_a_wrong_tail():
    want = np.cumsum(np.linspace(1, 2, 400))
    assert name(want * (1 + 1e-15 * 1.05 ** np.arange(400)), want) is None


def test_zeros_that_lost_their_sign_are_not_blamed_on_what_a_mask_leaves_out(rng):
    x = rng.normal(size=60).astype(np.float32)
    x[::7] = -0.0
    for lesson, cause in [
        (lambda x: x + np.float32(0), "sign_of_zero_lost"),
        (lambda x: np.where(x == 0, -x, x), "sign_of_zero_lost"),
        (lambda x: np.where(np.abs(x) < 0.5, -x, x), None),  # more signs are wrong than those of zeros
        (lambda x: np.where(np.arange(60) == 20, 1, x + np.float32(0)).astype(x.dtype), None),  # one is wrong otherwise
    ]:
        with pytest.raises(Mismatch) as caught:
            assert_matches(lesson, x, oracle=np.copy, exact=True)
        assert caught.value.cause == cause


def test_two_or_three_elements_are_too_few_for_a_place(rng):
    want = rng.normal(size=3)
    assert name(np.array([want[0], want[1], 9.0]), want) is None
    assert name(want[::-1].astype(np.float16), want.astype(np.float16)) is None


def test_a_small_whole_number_is_not_explained_by_one_call():
    assert name(1, 2, 1, 1, 1, oracle=lambda m, n, k: 2) is None
    assert name(6, 2, 2, 3, oracle=lambda m, n: m) is None


def test_a_claim_about_whole_numbers_must_hold_in_other_calls_too():
    def area(m, n):
        return 2 * m * n

    lessons = [
        (lambda m, n: 4 * m * n, "constant_factor"),
        (lambda m, n: 2 * m * m, "repeated_argument"),
        (lambda m, n: 7200, None),
    ]
    for lesson, cause in lessons:
        assert name(lesson(60, 30), area(60, 30), 60, 30, oracle=area, again=lesson) == cause


def test_whole_numbers_are_not_mistaken_for_low_precision(rng):
    want = rng.normal(size=50) * 40
    assert name(np.round(want), want, want.copy()) is None


def test_a_few_numbers_are_called_narrow_only_if_they_are_the_wanted_ones_rounded():
    want = np.array([0.23688282, 0.0320586, 0.08714432, 0.64391426], np.float32)
    rounded = want.astype(np.float16).astype(np.float32)
    assert name(rounded, want, want.copy()) == "float16_precision"
    assert name(rounded * np.float32([1, 1, 1, 1 + 2**-9]), want, want.copy()) is None
    plain = np.array([0.25, 0.5, 0.75, 1.5], np.float32)
    assert name(plain, plain * np.float32(1.0001), want.copy()) != "float16_precision"
    assert name(rounded[[0, 1, 0, 1]], want[[0, 1, 0, 1]], want.copy()) == "float16_precision"


def test_zeros_that_are_right_leave_a_lost_nan_to_be_named():
    want = np.where(np.arange(40) % 5 == 0, np.nan, 0.0)
    assert name(np.zeros(40), want) == "lost_nan"


def test_three_rows_are_too_few_for_a_shift(rng):
    want = rng.normal(size=(6, 8))
    assert name(np.r_[want[3:], rng.normal(size=(3, 8))], want) is None
    assert name(np.r_[want[1:], rng.normal(size=(1, 8))], want) == "shifted"


def test_constant_values_tell_no_factor_from_an_offset():
    assert name(np.arange(9) + 4.0, np.arange(9) + 2.0) == "constant_offset"
    assert name(np.r_[np.full(20, 4.0), 8.0], np.r_[np.full(20, 2.0), 4.0]) is None
    assert name(np.full(20, 4.0), np.full(20, 2.0)) is None


def test_a_part_that_is_right_by_luck_is_not_called_right():
    want = np.r_[np.zeros(50), np.linspace(1, 2, 50)]
    assert name(-want + np.linspace(0, 1, 100) * (want != 0), want) is None


ODD = [
    None,
    "text",
    b"bytes",
    object(),
    len,
    np.float64,
    {},
    [],
    (),
    [[1, 2], [3]],
    ("a", 1),
    2**200,
    -1,
    True,
    1.5,
    1j,
    float("nan"),
    np.float16(1),
    np.array([]),
    np.array(3.0),
    np.array(["x"]),
    np.array([None, 1]),
    np.zeros((2, 0, 3)),
    np.ones((2,) * 4),
    np.full(9, np.nan),
    np.full(9, np.inf),
    np.full(5, 1 + 2j),
    np.zeros(6, "M8[s]"),
    np.zeros(4, "i4,f8"),
    np.full(5, 2**64 - 1, np.uint64),
    np.ma.masked_array([1.0, 2, 3, 4]),
]


def test_no_combination_of_odd_values_raises_or_warns():
    def refuses(*args):
        raise RuntimeError("no")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for got in ODD:
            for want in ODD:
                for function in (None, refuses, lambda *args: args[0]):
                    for fault in RECOGNISERS:
                        diagnose(
                            Symptoms(
                                fault, got, want, args=(want, got, 2), names=("x",), oracle=function, again=function
                            )
                        )


def cases(seed):
    """The symptoms against each wrong answer of the corpus of which the fault does not say all."""
    found = (symptoms_of(entry.right, entry.wrong, entry.inputs(np.random.default_rng(seed))) for entry in CORPUS)
    return [symptoms for symptoms in found if symptoms]


def test_no_recogniser_hides_an_exception_of_its_own():
    """diagnose() survives one; that must not become a way to work."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for symptoms in cases(seed=4):
            for recognise in RECOGNISERS[symptoms.kind]:
                recognise(symptoms)


def test_symptoms_are_left_as_they_were():
    for found in cases(seed=6):
        values = found.got, found.want, *found.args
        arrays = [value for value in values if isinstance(value, np.ndarray)]
        for array in arrays:
            array.flags.writeable = False
        before = [array.tobytes() for array in arrays]
        diagnose(found)
        assert [array.tobytes() for array in arrays] == before


def test_an_oracle_is_not_handed_large_arguments_again_and_again(rng):
    calls = []

    def oracle(x, y):
        calls.append(x.size)
        return x + y

    x, y = rng.normal(size=(2, 1_000_000))
    assert name(rng.normal(size=1_000_000), x + y, x, y, oracle=oracle) is None
    assert len(calls) <= 3


def test_after_a_call_that_took_the_process_down_there_is_no_other(rng):
    calls = []

    def lesson(x, y):
        calls.append(x)
        if len(calls) > 1:
            raise Died("it was a segmentation fault")
        return x * 0.7 + y

    with pytest.raises(Mismatch) as caught:
        assert_matches(lesson, *rng.normal(size=(2, 20)), oracle=np.add)
    assert caught.value.cause is None and len(calls) == 2


def test_the_lesson_is_called_a_bounded_number_of_times(rng):
    calls = []

    def again(*args):
        calls.append(args)
        return args[0] * 0.7

    args = [rng.normal(size=20) for _ in range(6)]
    name(args[0] * 0.7, sum(args), *args, oracle=lambda *args: sum(args), again=again)
    assert len(calls) <= 10


def test_the_lesson_is_not_called_where_the_oracle_refuses():
    calls = []

    def again(n):
        calls.append(n)
        return 2 * n

    def oracle(n):
        if n % 8:
            raise ValueError("n must be a multiple of 8")
        return n

    name(16, 8, 8, oracle=oracle, again=again)
    assert calls and not any(n % 8 for n in calls)


def test_what_a_busy_machine_makes_slow_is_told_all_the_same(rng, monkeypatch):
    """On the wall each call takes longer than the diagnosis may; of its own time it takes next to none."""

    def again(x, y):
        time.sleep(0.9)
        return 0.7 * x

    for place in ("symptoms", "budget"):
        monkeypatch.setattr(f"tools.check.diagnosis.{place}.OwnTimeOfAll", lambda: SimpleNamespace(lap=lambda: 0.01))
    x, y = rng.normal(size=(2, 20))
    assert name(0.7 * x, 0.7 * x + y, x, y, oracle=lambda x, y: 0.7 * x + y, again=again) == "unused_argument"


def test_an_argument_that_another_one_hides_is_not_called_unused(rng):
    """The larger of two times in place of their sum: far away the other one is larger."""

    def larger(x, y):
        return np.maximum(1 / x, 1 / y)

    x, y = rng.uniform(1, 2, 20), rng.uniform(5, 6, 20)
    assert name(larger(x, y), 1 / x + 1 / y, x, y, oracle=lambda x, y: 1 / x + 1 / y, again=larger) is None
    assert (
        name(2 * x, 2 * x + y, x, y, names=("x", "y"), oracle=lambda x, y: 2 * x + y, again=lambda x, y: 2 * x)
        == "unused_argument"
    )


@pytest.mark.parametrize("format_name, last_bits", [("float16", 2.0**-10), ("bfloat16", 2.0**-7)])
def test_rounding_noise_of_16_bits_is_no_constant(format_name, last_bits, rng):
    """What is right but for its last bits, and a constant times it with noise that rounding does not explain."""
    narrow = pytest.importorskip("ml_dtypes").bfloat16 if format_name == "bfloat16" else np.float16
    want = rng.normal(size=(12, 12)).astype(narrow)
    for factor, bits_of_noise in [(1, 1), (1, 4), (math.log2(math.e), 30), (math.log(2), 30), (math.pi, 30)]:
        noise = 1 + bits_of_noise * last_bits * rng.normal(size=want.shape)
        got = (factor * want.astype(np.float64) * noise).astype(narrow)
        found = told(got, want, want, tolerance=2 * last_bits)
        assert found is None or found.name != "constant_factor"


def test_a_multiple_of_a_small_whole_number_says_nothing():
    """Where nothing is wanted, nothing is every multiple of it."""
    links = np.array([2, 0, 3, 1])
    assert (
        name(
            5,
            3,
            links,
            2,
            oracle=lambda links, steps: 3 if (links == [2, 0, 3, 1]).all() else 0,
            again=lambda links, steps: 0 if steps > 2 else 5,
        )
        is None
    )
    assert name(50, 30, 10, oracle=lambda n: 3 * n, again=lambda n: 5 * n) == "constant_factor"


def test_one_number_that_hangs_on_lengths_alone_is_no_sum_over_some_steps():
    """A rate of 2 m k n / seconds with a third of k is not one step in three: no element is added up."""
    a, b = np.ones((4, 30)), np.ones((30, 6))

    def rate(a, b, work, repeats=3):
        return 2e-9 * a.shape[0] * a.shape[1] * b.shape[1] / 0.7

    assert (
        name(rate(a, b, None) / 3, rate(a, b, None), a, b, object(), oracle=rate, keywords={"repeats": 3})
        != "one_of_each_block"
    )
    x = np.random.default_rng(3).normal(size=30)
    assert name(x[::3].sum(), x.sum(), x, oracle=lambda x, block: x.sum(), keywords={"block": 3}) == "one_of_each_block"


def test_a_number_whose_part_is_rounded_away_is_not_called_unused():
    """Registers for two warpgroups in steps of 8: that one warp is taken for four shows in its size, not in a block."""

    def most(of_producer, threads=128):
        return (65536 - threads * of_producer) // 256 // 8 * 8

    names = ("of_producer",)
    assert name(most(24, 32), most(24), 24, names=names, oracle=most, again=lambda n: most(n, 32)) is None
    assert name(most(1), most(24), 24, names=names, oracle=most, again=lambda n: most(1)) == "unused_argument"


def test_of_a_list_that_the_tests_made_no_entries_are_missing_or_too_many():
    """One layout of 288 indices becomes a list of offsets: none of the lesson's entries is left out."""

    def offsets(size):
        return list(range(size // 4 * 3))

    for module, says in (("week2.katas.layouts.layouts", True), ("week2.katas.layouts.test_layouts", False)):
        offsets.__module__ = module
        with pytest.raises(Mismatch) as caught:
            assert_matches(offsets, 12, oracle=lambda size: list(range(size)))
        assert ("It has 9 entries, wanted 12." in caught.value.text) == says


def test_a_large_whole_number_that_is_wrong_otherwise_lost_no_ones():
    for got, want in ((2.0**24, 2.0**25), (2.0**24 + 8, 2.0**24), (3e7, 4.1e7), (2.0**23, 2.0**23 + 1)):
        assert name(np.float32(got), np.float32(want)) != "ones_lost"
    assert name(np.float32(2**24), np.float32(2**24 + 10)) == "ones_lost"


def test_a_product_that_is_rounded_all_alike_has_no_tile_in_another_place():
    a, b = np.ones((16, 128), np.float16), np.full((128, 32), 16.0, np.float16)
    b[0] += 3

    def rounded(a, b):
        return (a @ b).astype(np.float32)

    def exact(a, b):
        return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)

    assert name(rounded(a, b), exact(a, b), a, b, oracle=exact, again=rounded, tolerance=None) != "tile_elsewhere"


def test_one_of_three_numbers_that_is_a_simple_multiple_in_one_call_says_nothing():
    """The oracle knows no other call."""
    for got in (3.0, 4.0):
        x, want = np.array([2.0, 4.0, 8.0]), np.array([2.0, 3.0, 6.0])
        assert name(np.array([got, 3.0, 6.0]), want, x, again=lambda x: x) is None


def test_running_sums_that_the_tests_made_are_not_called_so():
    """How often each of 8 elements was counted: by every lane before it, too."""

    def times(n):
        return list(range(1, n + 1))

    for module, says in (("week2.katas.x.x", True), ("week2.katas.x.test_x", False)):
        times.__module__ = module
        with pytest.raises(Mismatch) as caught:
            assert_matches(times, 8, oracle=lambda n: [1] * n)
        assert ("the running sum" in caught.value.text) == says


def test_a_number_that_changes_nothing_beyond_a_few_is_called_unused_where_it_is():
    """Of two columns of tiles a cluster of two or more loads the rows once."""

    def traffic(rows, columns, cluster):
        return 1000 * rows * -(-columns // cluster) + 10 * columns

    names = ("rows", "columns", "cluster")
    ignored = told(
        traffic(5, 2, 1), traffic(5, 2, 2), 5, 2, 2, names=names, oracle=traffic, again=lambda r, c, _: traffic(r, c, 1)
    )
    assert ignored.words == "It is right for cluster = 1. Is cluster used at all?"


def test_a_list_of_numbers_has_no_last_block():
    want = [1.5, 2.25, 3.5, 4.75, 5.125, 6.5, 7.25, 8.0]
    with pytest.raises(Mismatch) as caught:
        assert_matches(lambda: want[:5] + [9.75, 1.25, 0.5], oracle=lambda: want)
    assert caught.value.text.endswith("Right up to element 4; everything after it is wrong.\nWhat is different there?")


def test_time_that_the_process_only_waited_for_a_processor_ends_no_search(monkeypatch):
    """The same words on a busy machine: what counts is own time, of which here nothing passes."""

    def slow(x, y):
        time.sleep(0.02)
        return 2 * x + np.exp(y)

    x, y = np.linspace(1, 3, 40) ** 2, np.cos(np.arange(40.0))
    monkeypatch.setattr(budget, "ALL_CALLS", 0.01)
    assert name(slow(y, x), slow(x, y), x, y, oracle=slow, again=slow) == "swapped_arguments"  # the first that is asked
    assert name(slow(x, x), slow(x, y), x, y, oracle=slow, again=slow) is None
    monkeypatch.setattr(budget.OwnTimeOfAll, "lap", lambda self: 0.0)
    assert name(slow(x, x), slow(x, y), x, y, oracle=slow, again=slow) == "repeated_argument"


def test_an_exchange_of_two_numbers_that_holds_within_one_block_alone_is_none():
    def tiles(m, n, k):
        return m * k * -(-n // 64) + k * n * -(-m // 16) + m * n

    def once(m, n, k):
        return m * k + k * n * -(-m // 16) + m * n

    here = 16, 128, 40
    names = ("m", "n", "k")
    assert name(once(*here), tiles(*here), *here, names=names, oracle=tiles, again=once) != "swapped_arguments"

    def exchanged(m, n, k):
        return tiles(m, k, n)

    assert (
        name(exchanged(*here), tiles(*here), *here, names=names, oracle=tiles, again=exchanged) == "swapped_arguments"
    )
