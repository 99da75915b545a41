"""The lesson again, as checks: what is timed, what numbers say, pairs, a verdict or none, a table."""

import math

import numpy as np
import pytest

from tools.check import Mismatch, assert_matches, count, notes
from week2.katas.benchmark import benchmark as lesson
from week2.katas.benchmark.fake_gpu import fake_gpu, remark

pytestmark = pytest.mark.filterwarnings("ignore:Grid size")  # Numba's advice to start more blocks


def always(value):
    """An oracle for one call, whose right answer is known."""
    return lambda *args, **keywords: value


def runs(gpu):
    """The calls that a fake GPU saw, in order."""
    return [entry for entry in gpu.log if entry in ("ours", "rival")]


def failure(call, *paragraphs):
    """An error that tells the call, and below it the paragraphs that are not empty."""
    return AssertionError("\n\n".join([call, *filter(None, paragraphs)]))


def assert_told(function, *args, oracle, why, **keywords):
    """assert_matches; where another value came back, the failure ends with the sentence that why() returns."""
    __tracebackhide__ = True
    try:
        assert_matches(function, *args, oracle=oracle, **keywords)
    except Mismatch as found:
        if "It raised" in found.text:
            raise
        raise failure(found.text, why()) from None


def asked(entries):
    return f"Asked of the GPU, in this order: {', '.join(entries[:9])}{', ...' if len(entries) > 9 else '.'}"


def assert_same(got, wanted, unit, call, *paragraphs):
    """Two lists of numbers. paragraphs: what a failure adds to them."""
    __tracebackhide__ = True
    if isinstance(got, list) and len(got) == len(wanted) and np.allclose(got, wanted, rtol=1e-6, atol=0):
        return
    shown = [", ".join(f"{each:.4g}" for each in numbers) or "nothing" if isinstance(numbers, list) else repr(numbers)
             for numbers in (got, wanted)]
    if not isinstance(got, list):
        unit = ", which is no list"
    raise failure(call, f"Got {shown[0]}{unit}.\nWanted {shown[1]}.", *paragraphs)


def assert_times(gpu, wanted, *, warmup, repeats):
    """Of gpu.ours: in microseconds."""
    __tracebackhide__ = True
    got = lesson.time_calls(gpu.ours, gpu, warmup=warmup, repeats=repeats)
    got = [1e6 * each for each in got] if isinstance(got, list) else got
    call = f"time_calls(gpu.ours, gpu, warmup={warmup}, repeats={repeats})"
    assert_same(got, wanted, " us", call, remark(gpu.log, warmup, repeats), asked(gpu.log))


def upside_down(got, wanted):
    """Which pairs hold 1 / their ratio, as a question; "" where something else is wrong."""
    if not isinstance(got, list) or len(got) != len(wanted) or not all(isinstance(each, float) for each in got):
        return ""
    turned = [pair for pair, (one, right) in enumerate(zip(got, wanted)) if not math.isclose(one, right, rel_tol=1e-6)]
    if not turned or not all(math.isclose(got[pair] * wanted[pair], 1, rel_tol=1e-6) for pair in turned):
        return ""
    pair = turned[0]
    inverse = f"{got[pair]:.4g} is 1 / {wanted[pair]:.4g}"
    if len(turned) == len(wanted):
        return f"{inverse}: every pair is upside down. Whose seconds are divided by whose?"
    first = "baseline" if pair % 2 else "function"
    return (f"{inverse}: pair {pair} is upside down.\n"
            f"There the {first} is to come first. Which of your two times is that of the {first}?")


def assert_none_kept(gpu, call):
    __tracebackhide__ = True
    if gpu.outputs_kept:
        raise failure(
            call, f"Outputs of earlier calls that were alive as a call began: {gpu.outputs_kept}. Who has them?")


def shares_told(gpu, warmup, pairs):
    """Whose calls are too few or too many, as a question; "" where nobody's are."""
    ours, rival, each = runs(gpu).count("ours"), runs(gpu).count("rival"), warmup + pairs
    if ours == rival == each:
        return ""
    return (f"Calls of ours: {ours}, of rival: {rival}. Wanted of each: {warmup} to warm up + {pairs} timed = {each}.\n"
            "Whose calls are not as many as that?")


def assert_ratios(gpu, wanted, *, warmup, pairs):
    """Of gpu.rival over gpu.ours."""
    __tracebackhide__ = True
    got = lesson.paired_ratios(gpu.ours, gpu.rival, gpu, warmup=warmup, pairs=pairs)
    call = f"paired_ratios(gpu.ours, gpu.rival, gpu, warmup={warmup}, pairs={pairs})"
    order = asked([entry for entry in gpu.log if entry in ("ours", "rival", "flush")])
    told = remark(gpu.log, 2 * warmup, 2 * pairs) or shares_told(gpu, warmup, pairs)
    assert_same(got, wanted, "", call, told, order, upside_down(got, wanted))


# Task 1: one function, timed ----------------------------------------------------------------------

@pytest.mark.task(1)
def test_one_call_takes_the_hundred_microseconds_of_the_lesson():
    gpu = fake_gpu(ours=100.0)
    assert_times(gpu, [100.0], warmup=0, repeats=1)


@pytest.mark.task(1)
def test_times_come_one_for_each_call_in_their_order():
    gpu = fake_gpu(ours=[100.0, 130.0, 90.0, 250.0])
    assert_times(gpu, [100.0, 130.0, 90.0, 250.0], warmup=0, repeats=4)


@pytest.mark.task(1)
def test_calls_that_warm_up_are_made_and_not_timed():
    """The first keeps the host for 0.3 s: it compiles. The second is still slow. A fifth call would take 700 us."""
    gpu = fake_gpu(ours=[900.0, 500.0, 100.0, 110.0, 700.0], first=300_000.0)
    assert_times(gpu, [100.0, 110.0], warmup=2, repeats=2)


@pytest.mark.task(1)
def test_no_call_finds_its_data_in_the_cache():
    """From a full cache each would take 40 us."""
    gpu = fake_gpu(ours=100.0, warm=0.4)
    assert_times(gpu, [100.0] * 3, warmup=1, repeats=3)


@pytest.mark.task(1)
def test_a_call_that_is_shorter_than_its_launch_is_timed_without_the_launch():
    """2 us of the GPU, 5 of the host: while the GPU flushes, the host has time to ask for start, call and stop."""
    gpu = fake_gpu(ours=2.0)
    assert_times(gpu, [2.0] * 3, warmup=1, repeats=3)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("warmup, repeats", [(0, 0), (2, 0), (0, 1), (3, 2), (1, 7)])
def test_calls_as_often_as_asked(warmup, repeats):
    gpu = fake_gpu(ours=100.0)
    assert_times(gpu, [100.0] * repeats, warmup=warmup, repeats=repeats)
    if len(runs(gpu)) != warmup + repeats:
        raise failure(f"time_calls(gpu.ours, gpu, warmup={warmup}, repeats={repeats})",
                      remark(gpu.log, warmup, repeats), asked(gpu.log))


@pytest.mark.task(1)
@pytest.mark.counters
def test_flushes_once_for_each_call_that_is_timed():
    """A flush is work as well: 100 us here."""
    gpu = fake_gpu(ours=100.0)
    lesson.time_calls(gpu.ours, gpu, warmup=3, repeats=5)
    flushes, timed = gpu.log.count("flush"), 5
    why = f"{flushes} flushes for {timed} timed calls and 3 that warm up. Which calls need an empty L2?"
    assert flushes == timed, why


@pytest.mark.task(1)
@pytest.mark.counters
def test_what_a_call_returns_is_not_kept():
    """Eighty outputs of 1 GB would fill a GPU of 80 GB, and one beside the next call takes the room of a second."""
    gpu = fake_gpu(ours=100.0)
    lesson.time_calls(gpu.ours, gpu, warmup=2, repeats=5)
    assert_none_kept(gpu, "time_calls(gpu.ours, gpu, warmup=2, repeats=5)")


# Task 2: what a list of numbers says --------------------------------------------------------------

def assert_quantile(values, share, wanted):
    __tracebackhide__ = True
    last = len(values) - 1
    why = f"Sorted, it is at position {share} * {last} = {share * last:g}, counted from 0; the last is {last}."
    assert_told(lesson.quantile, values, share, oracle=always(wanted), why=lambda: why)


@pytest.mark.task(2)
def test_the_median_of_three_is_the_one_in_the_middle():
    assert_quantile([30.0, 10.0, 20.0], 0.5, 20.0)


@pytest.mark.task(2)
def test_a_quantile_leaves_the_values_in_their_order():
    """They are the times of calls, one after the other: pairs need them so."""
    values_afterwards = [30.0, 10.0, 20.0]
    lesson.quantile(values_afterwards, 0.5)
    why = (f"quantile was given [30.0, 10.0, 20.0], and its caller has {values_afterwards} now.\n"
           "Which of .sort() and sorted() makes a list of its own?")
    assert values_afterwards == [30.0, 10.0, 20.0], why


@pytest.mark.task(2)
def test_a_quantile_may_lie_between_two_values():
    """Position 0.25 * 5 is 1.25: a quarter of the way from 20 to 40. Position 0.35 * 5 is 1.75."""
    values = [10.0, 20.0, 40.0, 80.0, 90.0, 100.0]
    assert_quantile(values, 0.25, 25.0)
    assert_quantile(values, 0.35, 35.0)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n", [1, 2, 3, 20, 101])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.95, 1.0])
def test_quantiles_of_any_number_of_values(n, share, rng):
    values = rng.normal(100, 20, n).tolist()
    assert_quantile(values, share, float(np.quantile(values, share)))


def chance_told(n, k):
    """What speaks for k, or against it."""
    ways = f"comb({n}, 0)" if k == 1 else f"(comb({n}, 0) + ... + comb({n}, {k - 1}))"
    chance = 2 * sum(math.comb(n, i) for i in range(k)) / 2**n
    compared = "more than" if chance > 0.05 else "at most"
    return f"k = {k} has a chance of 2 * {ways} / 2**{n} = {chance:.4f}, {compared} 0.05."


def ends_told(got, ordered, right):
    """What is wrong with an interval. right: its k, 0 where nothing is known."""
    n = len(ordered)
    if got == (0.0, math.inf):
        return chance_told(n, right)
    if not isinstance(got, tuple) or len(got) != 2 or not set(got) <= set(ordered):
        return "Its ends are not the k-th smallest and the k-th largest value, for any k."
    low, high = ordered.index(got[0]) + 1, n - ordered.index(got[1])
    if low != high:
        return f"Its ends are number {low} from below and number {high} from above."
    return f"Its ends are those of k = {low}. {chance_told(n, low if low > right else right)}"


def assert_interval(values, right):
    """right: the k of the interval, 0 where nothing is known."""
    __tracebackhide__ = True
    ordered = sorted(values)
    wanted = (ordered[right - 1], ordered[-right]) if right else (0.0, math.inf)
    assert_told(lesson.median_interval, values, oracle=always(wanted),
                why=lambda: ends_told(lesson.median_interval(list(values)), ordered, right))


@pytest.mark.task(2)
def test_two_of_ten_may_fall_on_one_side():
    """The lesson's example, and the third at each end would be too much."""
    values = [7.0, 1.0, 10.0, 4.0, 2.0, 9.0, 3.0, 8.0, 6.0, 5.0]
    assert_interval(values, 2)


@pytest.mark.task(2)
@pytest.mark.edge
def test_fewer_than_six_values_say_nothing():
    """All five fall on one side in 2 of 32 cases, six in 2 of 64: 6.2 and 3.1 percent."""
    assert_interval([1.15, 1.2, 1.1, 1.3, 1.25], 0)
    assert_interval([1.4, 1.2, 1.1, 1.3, 1.25, 1.5], 1)
    assert_matches(lesson.median_interval, [], oracle=always((0.0, math.inf)))


def largest_by_coins(n):
    """The largest k: fewer than k of n coins fall on one side in at most 5 percent of all ways in which they fall."""
    fewest = [min(coins.bit_count(), n - coins.bit_count()) for coins in range(2**n)]
    return max(k for k in range(n) if sum(side < k for side in fewest) <= 0.05 * 2**n)


@pytest.mark.task(2)
@pytest.mark.parametrize("n", [7, 8, 9, 12, 13])
def test_cuts_as_many_values_as_coins_allow(n, rng):
    values = rng.normal(1.1, 0.1, n).tolist()
    assert_interval(values, largest_by_coins(n))


@pytest.mark.task(2)
def test_more_values_narrow_the_interval():
    """From tables of the sign test: the 6th of 20, the 14th of 40, the 40th of 100."""
    for n, k in [(20, 6), (40, 14), (100, 40)]:
        assert_interval([float(i) for i in range(1, n + 1)], k)


# Task 3: one function against another -------------------------------------------------------------

@pytest.mark.task(3)
def test_a_ratio_above_one_says_that_the_function_is_the_faster_one():
    gpu = fake_gpu(ours=100.0, rival=110.0)
    assert_ratios(gpu, [1.1], warmup=0, pairs=1)


@pytest.mark.task(3)
def test_the_order_of_a_pair_changes_no_ratio():
    gpu = fake_gpu(ours=100.0, rival=110.0)
    assert_ratios(gpu, [1.1, 1.1], warmup=0, pairs=2)


@pytest.mark.task(3)
def test_every_other_pair_begins_with_the_baseline():
    gpu = fake_gpu(ours=100.0, rival=110.0)
    lesson.paired_ratios(gpu.ours, gpu.rival, gpu, warmup=0, pairs=3)
    pairs = [runs(gpu)[i:i + 2] for i in range(0, len(runs(gpu)), 2)]
    if pairs != [["ours", "rival"], ["rival", "ours"], ["ours", "rival"]]:
        both = all(sorted(pair) == ["ours", "rival"] for pair in pairs)
        raise failure(
            "paired_ratios(gpu.ours, gpu.rival, gpu, warmup=0, pairs=3)",
            f"Called {' | '.join(' '.join(pair) for pair in pairs)}.\nWanted ours rival | rival ours | ours rival.",
            "Each pair has both, but which of them begins?" if both
            else "Two calls in a row are a pair: one of ours and one of rival.")


@pytest.mark.task(3)
def test_drift_favours_neither():
    """Each run takes 1 % more than the one before: once the later one is the baseline, once it is the function."""
    gpu = fake_gpu(ours=100.0, rival=110.0, drift=0.01)
    wanted = [1.1 * 1.01, 1.1 / 1.01] * 5
    assert_ratios(gpu, wanted, warmup=0, pairs=10)


@pytest.mark.task(3)
def test_a_gpu_that_slows_down_slows_both_of_a_pair():
    """Half as fast from the fourth pair on: a mean of all times would compare other times."""
    gpu = fake_gpu(ours=[100.0] * 3 + [200.0], rival=[110.0] * 3 + [220.0])
    assert_ratios(gpu, [1.1] * 6, warmup=0, pairs=6)


@pytest.mark.task(3)
def test_both_are_warmed_up_before_the_first_pair():
    gpu = fake_gpu(ours=[100.0], rival=[900.0, 110.0], first=300_000.0)
    assert_ratios(gpu, [1.1, 1.1], warmup=1, pairs=2)
    told = shares_told(gpu, 1, 2)
    if told:
        raise failure("paired_ratios(gpu.ours, gpu.rival, gpu, warmup=1, pairs=2)", remark(gpu.log, 2, 4) or told)


@pytest.mark.task(3)
def test_neither_of_a_pair_finds_its_data_in_the_cache():
    """Both load the same data: from a full cache each takes three tenths of its time."""
    gpu = fake_gpu(ours=100.0, rival=110.0, warm=0.3)
    assert_ratios(gpu, [1.1] * 3, warmup=1, pairs=3)


@pytest.mark.task(3)
@pytest.mark.edge
def test_a_function_may_be_compared_with_itself():
    """Its calls take 100 and 125 us in turn; in the second pair the baseline comes first."""
    gpu = fake_gpu(ours=[100.0, 125.0, 100.0, 125.0])
    got = lesson.paired_ratios(gpu.ours, gpu.ours, gpu, warmup=0, pairs=2)
    assert_same(got, [1.25, 0.8], "", "paired_ratios(gpu.ours, gpu.ours, gpu, warmup=0, pairs=2)",
                upside_down(got, [1.25, 0.8]) or
                "function and baseline are one and the same here: a dict by function keeps one of the two times.")


@pytest.mark.task(3)
@pytest.mark.counters
def test_no_output_of_a_pair_is_alive_in_the_next_call():
    """It would take room that the next call may need, and a harness of 20 pairs would hold forty of them."""
    gpu = fake_gpu(ours=100.0)
    lesson.paired_ratios(gpu.ours, gpu.rival, gpu, warmup=2, pairs=4)
    assert_none_kept(gpu, "paired_ratios(gpu.ours, gpu.rival, gpu, warmup=2, pairs=4)")


# Task 4: a verdict, or none -----------------------------------------------------------------------

def assert_verdict(right, ratios, **claim):
    """claim: wanted, or nothing where the default of 1.0 is meant."""
    __tracebackhide__ = True
    wanted = claim.get("wanted", 1.0)

    def why():
        low, high = interval = lesson.median_interval(list(ratios))
        where = "all above" if low > wanted else "all below" if high < wanted else "neither all above nor all below"
        return f"median_interval of these ratios is {interval}, {where} {wanted}."

    assert_told(lesson.verdict, ratios, **claim, oracle=always(right), why=why)


@pytest.mark.task(4)
def test_six_ratios_on_one_side_decide():
    assert_verdict("faster", [1.08, 1.12, 1.1, 1.11, 1.09, 1.1])
    assert_verdict("slower", [0.92, 0.88, 0.9, 0.91, 0.89, 0.9])


@pytest.mark.task(4)
def test_ratios_on_both_sides_do_not():
    """Their median is 1.1."""
    assert_verdict("cannot say", [0.9, 1.3, 1.1, 1.2, 0.95, 1.1, 1.12])


@pytest.mark.task(4)
def test_one_wild_ratio_of_ten_does_no_harm():
    assert_verdict("faster", [1.1] * 9 + [0.2])
    assert_verdict("slower", [0.9] * 9 + [40.0])


@pytest.mark.task(4)
@pytest.mark.edge
def test_five_ratios_are_too_few_and_equal_is_not_faster():
    assert_verdict("cannot say", [1.5] * 5)
    assert_verdict("cannot say", [1.0] * 20)


@pytest.mark.task(4)
def test_a_claim_of_a_tenth_more_is_judged_by_that():
    ratios = [1.05, 1.06, 1.07, 1.05, 1.06, 1.07]
    for wanted, right in [(1.0, "faster"), (1.1, "slower"), (1.06, "cannot say")]:
        assert_verdict(right, ratios, wanted=wanted)


@pytest.mark.task(4)
def test_finds_a_tenth_more_in_noise_and_drift(rng):
    """Times that scatter by 5 percent, some of them three times as long."""
    for seed in rng.integers(2**31, size=8).tolist():
        gpu = fake_gpu(ours=100.0, rival=110.0, noise=0.05, drift=0.002, warm=0.5, first=1e5, seed=seed)
        assert_matches(lesson.compare, gpu.ours, gpu.rival, gpu, pairs=60, oracle=always("faster"))
        gpu = fake_gpu(ours=100.0, rival=110.0, noise=0.05, drift=0.002, warm=0.5, first=1e5, seed=seed)
        assert_matches(lesson.compare, gpu.rival, gpu.ours, gpu, pairs=60, oracle=always("slower"))


@pytest.mark.task(4)
def test_refuses_a_verdict_on_a_function_against_itself(rng):
    """The chance of a verdict is 4 percent for 20 pairs: two of fifty are usual, twelve are one case in a million."""
    verdicts = []
    for seed in rng.integers(2**31, size=50).tolist():
        gpu = fake_gpu(ours=100.0, noise=0.3, seed=seed)
        verdicts.append(lesson.compare(gpu.ours, gpu.ours, gpu, pairs=20))
    verdicts_on_nothing = 50 - verdicts.count("cannot say")
    assert verdicts_on_nothing <= 11


@pytest.mark.task(3, 4)
@pytest.mark.gpu
@pytest.mark.hopper
@pytest.mark.speed
def test_finds_a_copy_that_is_a_tenth_longer():
    """2**26 float32 against 1.1 times as many: 268 and 295 MB, each loaded and stored."""
    ratios = lesson.planted(2**26, 1.1, pairs=40)
    notes.taken.append(f"{np.median(ratios):.3f} times as long")
    assert 1.05 < np.median(ratios) < 1.15
    assert lesson.verdict(ratios) == "faster"
    assert lesson.verdict(lesson.planted(2**26, 1.0, pairs=40), 1.03) != "faster"


# Task 5: a table ----------------------------------------------------------------------------------

BYTES = {  # what another result of the lesson's case says
    10**9 - 5000: "That is 1000000000 - 5000: the old peak, less what is allocated. Where does a new peak begin?",
    5000 + 4096: "That is 4096 and the 5000 bytes that were there already.",
    4096 - 1024: "That is 4096 - 1024: the output counts as allocated while you have it. What was there without it?",
    1024: "That is the output alone. What else was there during the call is gone once it has returned.",
    0: "Once a call has returned, and its output is gone, as much is allocated as before it.",
}


def bytes_told():
    gpu = fake_gpu(ours=100.0, peaks=(4096, 0), output=1024)
    return BYTES.get(lesson.peak_bytes(gpu.ours, gpu), "")


@pytest.mark.task(5)
def test_a_call_needs_what_the_peak_lies_above_what_was_there():
    """5000 bytes are allocated before, and work of long ago needed 1e9. The call returns 1024 of its 4096 bytes."""
    gpu = fake_gpu(ours=100.0, peaks=(4096, 0), output=1024)
    assert_told(lesson.peak_bytes, gpu.ours, gpu, oracle=always(4096), why=bytes_told)


@pytest.mark.task(5)
@pytest.mark.counters
def test_the_bytes_of_a_call_take_one_call():
    gpu = fake_gpu(ours=100.0)
    lesson.peak_bytes(gpu.ours, gpu)
    calls = len(runs(gpu))
    if calls != 1:
        raise failure(
            "peak_bytes(gpu.ours, gpu)",
            f"Calls of gpu.ours: {calls}. Wanted: 1, the one whose bytes are asked for.",
            "table warms up before that: what would another call be for?" if calls > 1 else "Whose bytes are these?")


@pytest.mark.task(5)
def test_what_was_there_is_asked_for_before_the_call():
    """Of its 4096 bytes a call leaves 512 allocated, as a library keeps room to work in: it needs them, too."""
    gpu = fake_gpu(ours=100.0, peaks=(4096, 0), left=512)
    needed = lesson.peak_bytes(gpu.ours, gpu)
    why = ("Before the call 5000 bytes were allocated, at its peak 9096, after it 5512.\n"
           f"peak_bytes says {needed}, wanted: 4096.\n"
           "When did you ask what is allocated: before the call or after it?")
    assert needed == 4096, why


@pytest.mark.task(5)
@pytest.mark.edge
def test_a_call_may_allocate_nothing():
    gpu = fake_gpu(ours=100.0)
    assert_matches(lesson.peak_bytes, gpu.ours, gpu, oracle=always(0))


@pytest.mark.task(5)
def test_a_row_is_made_of_the_calls_that_are_timed_and_of_one_for_its_bytes():
    """Three more warm up, before the two that are timed."""
    gpu = fake_gpu(ours=100.0)
    lesson.table({"mine": (gpu.ours, gpu)}, repeats=2)
    calls, wanted, timed = len(runs(gpu)), 3 + 2 + 1, gpu.log.count("event") // 2
    if calls != wanted:
        raise failure(
            'table({"mine": (gpu.ours, gpu)}, repeats=2)',
            f"With repeats=2, {timed} calls were timed for one row, of {calls} in all.\n"
            f"Wanted: 3 to warm up + 2 timed + 1 for the bytes = {wanted}.",
            "How often is time_calls called for a row, and for how many repeats?" if timed != 2
            else "Who makes the others: time_calls, peak_bytes or table?" if calls > wanted
            else "Which of them are not made?")


@pytest.mark.task(5)
def test_a_row_has_name_median_quantiles_and_bytes():
    """Three calls warm up, then 100, 300 and 200 us: positions 1, 0.1 and 1.9 of 100, 200, 300."""
    gpu = fake_gpu(ours=[900.0] * 3 + [100.0, 300.0, 200.0], peaks=(64, 0))
    why = "The times are 100, 300 and 200 us: quantiles 0.5, 0.05 and 0.95 are 200, 110 and 290 us."
    assert_told(lesson.table, {"mine": (gpu.ours, gpu)}, repeats=3,
                oracle=always([("mine", 200e-6, 110e-6, 290e-6, 64)]), why=lambda: why)


@pytest.mark.task(5)
def test_the_smallest_median_comes_first():
    """One of a's times is the smallest of all: its quantile 0.05 lies a fifth of the way from 50 to 110 us."""
    gpu = fake_gpu(ours=[110.0] * 3 + [50.0] + [110.0], rival=100.0, peaks=(64, 128))
    contestants = {"a": (gpu.ours, gpu), "b": (gpu.rival, gpu)}
    names = [row[0] for row in lesson.table(contestants, repeats=5)]
    why = (f"The rows are of {names}. The medians are 110 us of a and 100 us of b.\n"
           "By which entry of a row are rows sorted?")
    assert names == ["b", "a"], why
    gpu = fake_gpu(ours=[110.0] * 3 + [50.0] + [110.0], rival=100.0, peaks=(64, 128))
    contestants = {"a": (gpu.ours, gpu), "b": (gpu.rival, gpu)}
    wanted = [("b", 100e-6, 100e-6, 100e-6, 128), ("a", 110e-6, 62e-6, 110e-6, 64)]
    assert_matches(lesson.table, contestants, repeats=5, oracle=always(wanted))


@pytest.mark.task(5)
@pytest.mark.edge
def test_a_table_of_nobody_is_empty():
    assert_matches(lesson.table, {}, oracle=always([]))


@pytest.mark.task(5)
def test_four_languages_stand_in_one_table(rng):
    x, y = rng.normal(size=(2, 1000)).astype(np.float32)
    rows = lesson.race(x, y, repeats=2)
    names = sorted(row[0] for row in rows)
    assert names == ["CUDA", "NumPy", "PyTorch", "Triton"]
    for _, median, low, high, _ in rows:
        assert 0 < low <= median <= high
    bytes_of_out, = (row[4] for row in rows if row[0] == "NumPy")
    assert bytes_of_out >= 4 * 1000


@pytest.mark.task(5)
@pytest.mark.counters
def test_each_kernel_runs_three_times_to_warm_up_then_twice_for_times_and_once_for_bytes(rng):
    x, y = rng.normal(size=(2, 257)).astype(np.float32)
    counters, kernels, calls = count(lesson.race, x, y, repeats=2), 2, 3 + 2 + 1
    launches = len(counters.launches)
    why = f"Each kernel ran {launches / kernels:g} times, wanted {calls}. Which call is too many or missing?"
    assert launches == kernels * calls, why
    assert counters.bytes_loaded == kernels * calls * 2 * 4 * 257
