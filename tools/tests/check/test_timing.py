"""The timer itself, by a clock that only the timed functions move: what it excludes, finds, and refuses."""

import random

import pytest

from tools.check import Undecided, speed_ratio, timing
from tools.check.timing import Ratio, measure


class Clock:
    """Seconds that pass when somebody says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Fake:
    """A prepared function whose calls take the given seconds, the first one `cold` more."""

    def __init__(self, clock, seconds, cold=0.0, noise=0.0, seed=0):
        self.clock, self.seconds, self.cold, self.noise = clock, seconds, cold, noise
        self.random = random.Random(seed)
        self.calls = 0

    def run(self, times):
        self.clock.now += self.cold if self.calls == 0 else 0.0
        self.clock.now += self.seconds * times * (1 + self.noise * self.random.random())
        self.calls += times


def ratio_of(function_seconds, baseline_seconds, **options) -> Ratio:
    clock = Clock()
    function = Fake(clock, function_seconds, seed=1, **options)
    return measure(function, Fake(clock, baseline_seconds, seed=2, **options), clock)


def test_a_function_twice_as_fast_has_ratio_two():
    ratio = ratio_of(1e-3, 2e-3)
    assert ratio.value == pytest.approx(2) and (ratio >= 1.9) is True and (ratio >= 2.1) is False


def test_a_planted_slowdown_of_a_quarter_is_found_below_the_noise():
    ratio = ratio_of(1.25e-3, 1e-3, noise=0.2)
    assert (ratio >= 0.9) is False


def test_a_function_against_itself_is_undecided_at_one():
    ratio = ratio_of(1e-3, 1e-3, noise=0.1)
    assert ratio.low < 1 < ratio.high
    with pytest.raises(Undecided, match="too close or too noisy to call"):
        assert ratio >= 1.0
    assert (ratio >= 0.9) is True and (ratio >= 1.1) is False


def test_a_spread_that_is_too_wide_is_undecided():
    clock = Clock()
    ratio = measure(Fake(clock, 1e-3, noise=20, seed=3), Fake(clock, 1e-3, noise=20, seed=4), clock)
    assert ratio.high > 1.2 * ratio.low
    with pytest.raises(Undecided):
        assert ratio >= ratio.value


def test_the_first_call_does_not_count():
    assert ratio_of(1e-3, 2e-3, cold=1.0).value == pytest.approx(2)


def test_preparing_does_not_count(monkeypatch):
    clock = Clock()

    class Slow(Fake):
        def __enter__(self):
            clock.now += 100.0
            return self

        def __exit__(self, *exception):
            clock.now += 100.0

    monkeypatch.setattr(timing.worker, "prepare", lambda function, args, kwargs: Slow(clock, function(*args)))
    monkeypatch.setattr(timing, "measure", lambda first, second: measure(first, second, clock))
    ratio = speed_ratio(lambda x: x, lambda x: 3 * x, 1e-3)
    assert ratio.value == pytest.approx(3) and ratio.seconds == pytest.approx(1e-3)


def test_what_slows_the_machine_down_slows_both():
    """Half of the rounds run at a third of the speed, as on a laptop that heats up."""
    clock = Clock()

    class Throttled(Fake):
        def run(self, times):
            self.clock.now += self.seconds * times * (1 if self.clock.now < 0.5 else 3)

    ratio = measure(Throttled(clock, 1e-2), Throttled(clock, 2e-2), clock)
    assert ratio.value == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize("cold", [0.0, 1.0, 10.0])
def test_a_batch_of_short_calls_lasts_five_milliseconds_however_long_the_first_call_takes(cold):
    clock = Clock()
    timed = timing.Timed(Fake(clock, 1e-6, cold=cold), clock)
    timed.batch()
    assert 5e-3 <= timed.calls * 1e-6 <= 2e-2 and timed.seconds == [pytest.approx(1e-6)]


def test_a_call_as_long_as_a_batch_is_a_batch():
    clock = Clock()
    timed = timing.Timed(Fake(clock, 0.1), clock)
    timed.batch()
    assert timed.calls == 1


@pytest.mark.parametrize("seconds", [1e-7, 1e-5, 1e-3, 1e-1])
def test_the_whole_measurement_takes_about_three_seconds_at_most(seconds):
    clock = Clock()
    measure(Fake(clock, seconds, noise=0.5), Fake(clock, seconds, noise=0.5, seed=9), clock)
    assert clock.now < 4


def test_calls_of_many_seconds_are_made_a_few_times_only():
    clock = Clock()
    slow = Fake(clock, 10.0)
    ratio = measure(slow, Fake(clock, 1e-3), clock)
    assert slow.calls == 4 and (ratio >= 0.5) is False


def test_a_steady_machine_needs_eleven_pairs_and_a_noisy_one_more():
    assert ratio_of(1e-3, 2e-3).rounds == 11
    assert ratio_of(1e-3, 2e-3, noise=0.5).rounds > 11


def test_both_orders_occur():
    clock, order = Clock(), []

    class Noted(Fake):
        def run(self, times):
            super().run(times)
            order.append(self.seconds)

    measure(Noted(clock, 6e-3, seed=1), Noted(clock, 7e-3, seed=2), clock)
    assert set(zip(order[-22::2], order[-21::2])) == {(6e-3, 7e-3), (7e-3, 6e-3)}


@pytest.mark.parametrize(
    "values, text",
    [
        ((52.3, 49.1, 55.4), "52x (49 to 55)"),
        ((0.87, 0.85, 0.891), "0.87x (0.85 to 0.89)"),
        ((0.0123, 0.011, 0.0131), "0.012x (0.011 to 0.013)"),
    ],
)
def test_a_ratio_prints_with_its_interval(values, text):
    assert str(Ratio(*values, 1.0, 1.0, 11)) == repr(Ratio(*values, 1.0, 1.0, 11)) == text


def test_an_undecided_ratio_says_both_times_and_what_to_do():
    with pytest.raises(Undecided) as caught:
        assert Ratio(1.01, 0.96, 1.07, 5.2e-3, 5.25e-3, 41) >= 1.0
    assert str(caught.value) == (
        "Measured 1.01x (0.96 to 1.07), wanted 1.00x: too close or too noisy to call.\n"
        "One call takes 5.2 ms, the baseline 5.25 ms (medians of 41 pairs).\n"
        "Is other work running on this machine? Run this test again by itself."
    )


def test_real_functions_are_timed_by_the_real_clock():
    ratio = speed_ratio(lambda n: sum(range(n)), lambda n: sum(range(10 * n)), 2000)
    assert (ratio >= 3) is True and 1e-6 < ratio.seconds < 1e-2
