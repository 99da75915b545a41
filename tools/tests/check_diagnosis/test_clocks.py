"""What was timed, from one number: a fake clock's intervals give each misreading its own result."""

import statistics

import pytest

from tools.check import Mismatch, assert_matches
from tools.check.given import fake_clock

DURATIONS = [9.0, 90.0, 0.25, 4.0, 0.5, 1.0, 0.125, 2.0, 0.375, 3.5]  # asking and waiting, of five calls


def intervals(work, wait, warmup, repeats, clock):
    """(seconds of the calls that count, of the warm-up calls)"""
    taken = []
    for _ in range(warmup + repeats):
        start = clock()
        work()
        wait()
        taken.append(clock() - start)
    return taken[warmup:], taken[:warmup]


def timed(how):
    """A function that times as it should, and then makes `how` of its intervals."""

    def seconds_per_call(work, *, warmup, repeats, clock, wait):
        return how(*intervals(work, wait, warmup, repeats, clock))

    return seconds_per_call


def asking(work, *, warmup, repeats, clock, wait):
    taken = []
    for number in range(warmup + repeats):
        start = clock()
        work()
        taken.append(clock() - start)
        wait()
    return statistics.median(taken[warmup:])


def waiting(work, *, warmup, repeats, clock, wait):
    taken = []
    for number in range(warmup + repeats):
        work()
        start = clock()
        wait()
        taken.append(clock() - start)
    return statistics.median(taken[warmup:])


def starts_once(work, *, warmup, repeats, clock, wait):
    taken, start = [], clock()
    for number in range(warmup + repeats):
        work()
        wait()
        taken.append(clock() - start)
    return statistics.median(taken[warmup:])


def shares_out_all(work, *, warmup, repeats, clock, wait):
    start = clock()
    for number in range(warmup + repeats):
        work()
        wait()
    return (clock() - start) / repeats


def both_readings_first(work, *, warmup, repeats, clock, wait):
    taken = []
    for number in range(warmup + repeats):
        start = clock()
        taken.append(clock() - start)
        work()
        wait()
    return statistics.median(taken[warmup:])


def never_waits(work, *, warmup, repeats, clock, wait):
    return statistics.median(intervals(work, lambda: None, warmup, repeats, clock)[0])


def other_clock(work, *, warmup, repeats, clock, wait):
    import time

    return statistics.median(intervals(work, wait, warmup, repeats, time.perf_counter)[0])


def failure(function, want, warmup=1, repeats=4) -> Mismatch:
    clock = fake_clock(DURATIONS)
    with pytest.raises(Mismatch) as caught:
        assert_matches(
            function,
            clock.work,
            warmup=warmup,
            repeats=repeats,
            clock=clock,
            wait=clock.work,
            oracle=lambda *args, **how: want,
        )
    return caught.value


RIGHT = statistics.median([4.25, 1.5, 2.125, 3.875])


@pytest.mark.parametrize(
    "function, seen",
    [
        (timed(lambda counted, before: statistics.mean(counted)), "That is the mean of the calls, not the median."),
        (
            timed(lambda counted, before: 1 / statistics.median(1 / each for each in counted)),
            "That is the median of the rates, not the rate of the median time.",
        ),
        (timed(lambda counted, before: sum(counted)), "That is the time of all calls together. How long"),
        (timed(lambda counted, before: min(counted)), "That is the fastest of the calls"),
        (timed(lambda counted, before: max(counted)), "That is the slowest of the calls"),
        (timed(lambda counted, before: sorted(counted)[1]), "That is the lower of the two calls in the middle."),
        (
            timed(lambda counted, before: statistics.mean(before + counted)),
            "the mean with the warm-up calls among them.",
        ),
        (timed(lambda counted, before: sum(before + counted)), "of all calls together, the warm-up among them."),
        (timed(lambda counted, before: before[0]), "That is the time of the first call of all."),
        (asking, "That is the time to ask for the work, without the wait for it."),
        (waiting, "That is the wait alone, without the time to ask for the work."),
        (starts_once, "As if each call began when the first one did."),
        (shares_out_all, "That is the time of all calls and the warm-up, divided by repeats."),
        (both_readings_first, "No call lies between the two readings of the clock."),
        (never_waits, "work and wait ran 5 times together; 1 + 4 of each make 10."),
        (other_clock, "clock was never read. Which clock does it read instead?"),
        (timed(lambda counted, before: 1000 * statistics.median(counted)), "It is 1000 times what was wanted."),
    ],
)
def test_a_misreading_of_the_clock_is_named(function, seen):
    text = failure(function, RIGHT).text
    assert seen in " ".join(text.split()) and "...\n" not in text


def test_a_division_by_no_time_comes_of_calls_that_were_not_made():
    def rate(work, *, warmup, repeats, clock, wait):
        return 1 / statistics.median(intervals(lambda: None, lambda: None, warmup, repeats, clock)[0])

    assert "work and wait ran 0 times together; 1 + 4 of each make 10." in failure(rate, RIGHT).text

    def breaks_off(work, *, warmup, repeats, clock, wait):
        work()
        return clock.now.no_such_name

    assert "ran" not in failure(breaks_off, RIGHT).text.partition("raised")[2]


def test_the_higher_of_two_calls_in_the_middle_is_no_median():
    found = failure(timed(lambda counted, before: sorted(counted)[2]), statistics.median([99, 4.25, 1.5, 2.125]), 0, 4)
    assert "That is the higher of the two calls in the middle." in found.text


def test_the_warm_up_among_the_calls_moves_the_median():
    found = failure(timed(lambda counted, before: statistics.median(before + counted)), 4.25, 2, 3)
    assert found.cause is None  # with these calls it is the time of one of them as well
    found = failure(timed(lambda counted, before: statistics.median(before + counted)), 2.125, 1, 3)
    assert found.cause == "clock_misread" and "the median with the warm-up calls among them" in found.text


def test_a_rate_is_read_as_the_time_that_makes_it():
    def gflops(work, *, warmup, repeats, clock, wait):
        return 6e-9 / statistics.mean(intervals(work, wait, warmup, repeats, clock)[0])

    assert "That is the mean of the calls" in failure(gflops, 6e-9 / RIGHT).text


@pytest.mark.parametrize("got", [3.14159, 0.0, -1.0, float("nan")])
def test_a_time_that_no_misreading_gives_is_left_alone(got):
    found = failure(timed(lambda counted, before: got), RIGHT)
    assert found.cause is None or found.cause != "clock_misread" or got == 0.0


def test_two_misreadings_that_give_one_time_are_not_told_apart():
    """Of one call the mean, the sum, the fastest and the slowest are the median; and the first is the last."""
    found = failure(timed(lambda counted, before: sum(before)), 4.25, 1, 1)
    assert "That is the time of the first call of all." in found.text
    assert failure(timed(lambda counted, before: 0.25), 4.25, 0, 1).cause is None
