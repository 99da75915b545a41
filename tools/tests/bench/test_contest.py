"""A contest: correctness first, then all competitors in turn; and the figures that follow from their times."""

import itertools
from dataclasses import replace
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from tools.bench import contest
from tools.bench.contest import YOURS, NotTimed
from tools.check import timing
from tools.course.content.workload import workloads
from tools.tests.course.content.test_workload import BENCH, WRITTEN, small

CEILING = {"bandwidth": 1e9, "host": None, "peaks": {"float32": 1e9}, "date": "2026-11-20"}


class Steady:
    """Prepared work that takes so many seconds a call, by its own clock."""

    def __init__(self, clock, seconds):
        self.clock, self.seconds, self.calls = clock, seconds, 0

    def run(self, times):
        self.calls += times
        self.clock.now += times * self.seconds


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def workload_of(tmp_path, **changes):
    unit = small(tmp_path)
    return unit, replace(workloads(unit)[0], **changes)


def test_all_competitors_are_measured_equally_often_and_come_out_as_fast_as_they_are():
    clock = Clock()
    prepared = {name: Steady(clock, seconds) for name, seconds in ((YOURS, 0.02), ("a", 0.01), ("b", 0.04))}
    seconds = contest.measure(prepared, clock)
    assert len({len(each) for each in seconds.values()}) == 1 and len(seconds[YOURS]) >= 11
    assert [np.median(seconds[name]) for name in (YOURS, "a", "b")] == pytest.approx([0.02, 0.01, 0.04])


def times(clock, *own: float, rival: float = 0.01, budget: float = 3.0) -> int:
    """How many rounds a contest of `own`, whose calls take these seconds in turn, and a rival takes."""
    turns = itertools.cycle(own)
    prepared = {YOURS: Steady(clock, 0.0), "a": Steady(clock, rival)}
    prepared[YOURS].run = lambda count: setattr(clock, "now", clock.now + count * next(turns))
    return len(contest.measure(prepared, clock, lambda *so_far: contest.settled(*so_far, budget))[YOURS])


def test_the_stopwatch_stops_once_the_class_is_settled_and_not_before():
    assert times(Clock(), 0.1) == contest.FEWEST  # far behind, whatever comes
    assert times(Clock(), 0.0101, 0.0121) > 100  # within 2x in one round, holding its own in the next: until time is up
    assert times(Clock(), 0.1, 0.2) > contest.FEWEST  # far behind, but by how much?


def test_the_stopwatch_stops_when_time_is_up():
    assert times(Clock(), 0.0101, 0.0121, budget=1.0) < times(Clock(), 0.0101, 0.0121)
    assert times(Clock(), 2.0, budget=1.0) == timing.AT_LEAST


def test_the_memory_of_a_slow_call_is_not_watched(tmp_path, monkeypatch):
    unit, workload = workload_of(tmp_path)
    monkeypatch.setattr(contest, "WATCHED", 0.0)
    assert {row["peak_bytes"] for row in contest.contest(unit, workload, 64, CEILING)["rows"]} == {None}


def test_the_order_of_turns_is_not_always_the_same(monkeypatch):
    monkeypatch.setattr(contest, "random", SimpleNamespace(Random=lambda: Random(1)))  # by chance it may be the same
    clock, order = Clock(), []
    prepared = {name: Steady(clock, 0.01) for name in (YOURS, "a")}
    for name, each in prepared.items():
        each.run = lambda times, name=name, run=each.run: (order.append(name), run(times))
    contest.measure(prepared, clock)
    rounds = [tuple(order[start : start + 2]) for start in range(2, len(order) - 1, 2)]
    assert {(YOURS, "a"), ("a", YOURS)} <= set(rounds)


def test_a_contest_tells_time_rates_share_memory_lines_and_class(tmp_path):
    unit, workload = workload_of(tmp_path)
    record = contest.contest(unit, workload, 100_000, CEILING)
    own, rival = record["rows"]
    assert (own["name"], rival["name"]) == (YOURS, "NumPy")
    assert own["low"] <= own["seconds"] <= own["high"]
    assert own["gb_s"] == pytest.approx(800_000 / own["seconds"] / 1e9)
    assert own["gflop_s"] == pytest.approx(100_000 / own["seconds"] / 1e9)
    assert record["least_seconds"] == pytest.approx(800e-6)  # 800,000 bytes at 1 GB/s
    assert own["share_of_ceiling"] == pytest.approx(800e-6 / own["seconds"])
    assert 400_000 <= own["peak_bytes"] < 410_000  # the result
    assert (own["lines"], rival["lines"]) == (5, None)
    assert record["strongest"]["rival"] == "NumPy" and record["class"]


@pytest.mark.parametrize(
    ("ceiling", "crossed", "seconds"),
    [
        ({"peaks": {"float32": 10.0}}, 0, 100.0),  # 1000 flops at 10 a second
        ({"peaks": {}}, 0, 8.0),  # 8000 bytes at 1000 a second
        ({"peaks": {}, "host": 2.0}, 50, 25.0),  # 50 bytes across at 2 a second
    ],
)
def test_the_least_time_is_that_of_the_slowest_limit(tmp_path, ceiling, crossed, seconds):
    _, workload = workload_of(tmp_path, crossed=lambda n: crossed)
    assert contest.least(workload, 1000, {"bandwidth": 1000.0, "host": None} | ceiling) == pytest.approx(seconds)


# Correctness first --------------------------------------------------------------------------------


def wrong(tmp_path, returns):
    unit = small(tmp_path, lesson=WRITTEN.replace("return x * np.float32(by)", returns))
    return unit, workloads(unit)[0]


@pytest.mark.parametrize(
    ("returns", "says"),
    [
        ("return x * np.float32(2.001)", "elements differ, by up to"),
        ("return (x * np.float32(by))[:-1]", r"the shape is \(63,\), not \(64,\)"),
        ("return None", "The function returned no array but NoneType."),
        ("return x * np.float32(by), 2", "The function returned no array but int."),
        ("return x * np.float32(by), x", "it returns 2 arrays, not 1"),
        ("raise ValueError('odd')", "The function raised ValueError: odd, line 38."),
        ("x *= np.float32(by); return x.copy()", "The function changed its argument x."),
    ],
)
def test_what_is_wrong_is_not_timed(tmp_path, returns, says, monkeypatch):
    monkeypatch.setattr(contest, "measure", lambda *args: pytest.fail("timed"))
    unit, workload = wrong(tmp_path, returns)
    with pytest.raises(NotTimed, match=says):
        contest.contest(unit, workload, 64, CEILING)


def test_a_rival_that_is_not_installed_is_left_out_with_its_reason(tmp_path):
    def absent(x):
        import no_such_module  # noqa: F401

    unit, workload = workload_of(tmp_path, rivals={"absent": absent, "NumPy": lambda x: x + x})
    record = contest.contest(unit, workload, 64, CEILING)
    assert [row["name"] for row in record["rows"]] == [YOURS, "NumPy"]
    assert record["left_out"] == {
        "absent": "absent raised ModuleNotFoundError: No module named 'no_such_module', line "
        + record["left_out"]["absent"].split("line ")[-1]
    }


def test_without_any_rival_the_class_says_so(tmp_path):
    unit, workload = workload_of(tmp_path, rivals={})
    assert contest.contest(unit, workload, 64, CEILING)["class"] == "without a rival"


def test_rounding_is_no_difference_and_a_wrong_last_element_is(tmp_path, rng=np.random.default_rng()):
    want = rng.standard_normal(contest.CHUNK + 5, dtype=np.float32)
    allowed = contest.allowed(workload_of(tmp_path)[1], 64)
    assert contest.difference(want * np.float32(1 + 1e-7), want, allowed) == ""
    got = want.copy()
    got[-1] += 1
    assert contest.difference(got, want, allowed).startswith(f"1 of {contest.CHUNK + 5:,} elements differ")


def test_every_array_of_a_result_is_compared(tmp_path):
    def pair(x):
        return 2 * x, x[:3]

    unit = small(tmp_path, lesson=WRITTEN.replace("return x * np.float32(by)", "return x * np.float32(by), x[:3] + 1"))
    workload = replace(workloads(unit)[0], rivals={"NumPy": pair})
    with pytest.raises(NotTimed, match="3 of 3 elements differ"):
        contest.contest(unit, workload, 64, CEILING)


def test_integers_must_be_equal(tmp_path):
    allowed = contest.allowed(replace(workload_of(tmp_path)[1], dtype="int64"), 64)
    assert contest.difference(np.array([1, 2]), np.array([1, 3]), allowed).startswith("1 of 2 elements differ")


def test_a_rival_that_rounds_on_its_way_may_lie_as_far_apart_as_the_workload_says(tmp_path):
    unit, workload = workload_of(tmp_path, rivals={"NumPy": lambda x: x * np.float32(2.018)})
    assert contest.contest(unit, replace(workload, apart=0.01), 64, CEILING)["rows"]
    with pytest.raises(NotTimed, match="up to 0.0089 relative, 0.008 allowed"):
        contest.contest(unit, replace(workload, apart=0.008), 64, CEILING)


def test_arguments_are_not_changed_by_a_contest(tmp_path):
    assert "arrays(rng, n)" in BENCH  # the arguments are made anew for each contest
    unit, workload = workload_of(tmp_path)
    seen = np.ones(64, np.float32)
    contest.contest(unit, replace(workload, arguments=lambda n, rng: (seen,)), 64, CEILING)
    np.testing.assert_array_equal(seen, 1)
