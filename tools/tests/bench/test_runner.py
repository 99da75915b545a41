"""A day's benchmark runs in children: it goes on when one hangs, crashes, prints or is wrong."""

import json
from types import SimpleNamespace

import pytest

from tools import gpu
from tools.bench import machine, runner
from tools.tests.course.content.test_workload import BENCH, WRITTEN, small

PRODUCT = "return x * np.float32(by)"
TWO = BENCH.replace(
    "\n)\n",
    """
    Workload(function="scaled", arguments=lambda n, rng: (*arrays(rng, n), 3.0), sizes=(8,), laptop_sizes=(8,), small=8,
             shape=lambda n: f"{n} float32", moved=lambda n: 8 * n, flops=lambda n: n, on="cpu",
             rivals={"NumPy": lambda x, by: x * 3}),
)
""",
)
ENDLESS = "while True: pass"
pytestmark = pytest.mark.usefixtures("known_ceiling")


@pytest.fixture
def known_ceiling(tmp_path):
    """Measured before, so that no test waits for it."""
    key = json.dumps(machine.facts("cpu"), sort_keys=True)
    (tmp_path / ".course").mkdir()
    rates = {"bandwidth": 1e10, "host": None, "peaks": {"float32": 1e11, "float64": 1e11}, "date": "2026-11-20"}
    (tmp_path / machine.FILE).write_text(json.dumps({key: rates}), encoding="utf-8")


def happened(tmp_path, returns=PRODUCT, bench=BENCH, patience=600.0):
    unit = small(tmp_path, lesson=WRITTEN.replace(PRODUCT, returns), bench=bench)
    return list(runner.events(unit, tmp_path, patience))


def refusal(events):
    return next(event["why"] for event in events if event["event"] == "refused")


def test_a_copy_grows_with_its_bytes():
    copy = SimpleNamespace(flops=lambda n: 0, moved=lambda n: 8 * n)
    assert runner.expected(copy, {"size": 10, "rows": [{"seconds": 0.5}, {"seconds": 2.0}]}, 30) == 6.0


def test_a_function_is_announced_and_timed_and_its_record_names_the_machine(tmp_path):
    ceiling, begins, timed = happened(tmp_path)
    assert (ceiling["event"], ceiling["ceiling"]["bandwidth"]) == ("ceiling", 1e10)
    assert (begins["event"], begins["function"], begins["shape"]) == ("begins", "double", "8 float32")
    assert [row["name"] for row in timed["record"]["rows"]] == ["yours", "NumPy"]
    assert timed["record"]["machine"] == machine.facts("cpu")


def test_what_a_lesson_prints_is_no_event(tmp_path):
    events = happened(tmp_path, 'print(\'{"event": "timed"}\'); return x * np.float32(by)')
    assert [event["event"] for event in events] == ["ceiling", "begins", "timed"]
    assert "record" in events[-1]


@pytest.mark.parametrize(
    ("returns", "says"),
    [
        ("import os; os._exit(3)", "Its process ended itself (exit status 3)."),
        ("import ctypes; ctypes.string_at(0)", "Its process died: Segmentation fault (signal 11)."),
        ("return x", "A wrong result is not timed."),
        ("raise ValueError('odd')", "The function raised ValueError: odd, line 38."),
    ],
)
def test_an_accident_is_told_and_the_next_function_still_gets_its_turn(tmp_path, returns, says):
    events = happened(tmp_path, f"if by == 2:\n        {returns}\n    {PRODUCT}", bench=TWO)
    assert says.replace("line 38", "line 39") in refusal(events)
    assert [event["record"]["function"] for event in events if event["event"] == "timed"] == ["scaled"]


def test_an_endless_loop_is_ended(tmp_path):
    assert refusal(happened(tmp_path, ENDLESS, patience=2.0)) == "No answer for 2 s, so it was ended."


def test_a_gap_is_told_with_its_line(tmp_path):
    events = happened(tmp_path, bench=BENCH.replace('"double"', '"halve"'))
    assert refusal(events).startswith("week1/day1/small.py, line 21: halve, of task 1, is not written yet.")


def test_a_size_that_would_take_too_long_is_left_out(tmp_path):
    bench = BENCH.replace("laptop_sizes=(8,)", "laptop_sizes=(8, 2**40)")
    if gpu.card():
        bench = bench.replace("sizes=(8,)", "sizes=(8, 2**40)")
    events = happened(tmp_path, bench=bench)
    assert [event["event"] for event in events] == ["ceiling", "begins", "timed", "refused"]
    assert refusal(events).startswith("1099511627776 float32 is left out: one call would take about ")


def test_a_day_without_workloads_has_no_events(tmp_path):
    assert happened(tmp_path, bench=None) == []


def test_a_kernel_without_a_gpu_is_counted_and_never_timed(tmp_path, monkeypatch):
    monkeypatch.setenv(gpu.SIMULATE, "1")
    begins, counted = happened(tmp_path, bench=BENCH.replace('on="cpu"', 'on="gpu"'))
    record = counted["record"]
    assert (begins["event"], counted["event"], record["simulated"], record["rows"]) == ("begins", "counted", True, [])
    assert (record["asked"], record["least"]) == (0, 64)  # NumPy did it: no kernel asked for anything
    assert "seconds" not in record


def test_as_many_steps_are_announced_as_can_happen(tmp_path, monkeypatch):
    monkeypatch.setattr(gpu, "card", lambda: None)
    assert runner.steps(small(tmp_path, bench=TWO.replace("laptop_sizes=(8,)", "laptop_sizes=(8, 9)"))) == 4
