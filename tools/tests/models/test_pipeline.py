"""Pipelines against a simulation that goes from moment to moment, and against timelines worked out by hand."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.models.pipeline import Pipeline, Step, bytes_in_flight, sustained_bandwidth

pipelines = st.builds(
    Pipeline,
    latency=st.integers(0, 12),
    compute=st.integers(0, 9),
    stages=st.integers(1, 6),
    interval=st.integers(0, 9),
)
checked = settings(max_examples=200, deadline=None, derandomize=True)


def simulated(pipeline: Pipeline, tiles: int) -> list[Step]:
    """Goes from one whole number to the next, and acts on what is free and what has arrived then."""
    free, loads, computed = pipeline.stages, [], []
    now = next_load = busy_until = 0
    while len(computed) < tiles:
        free += sum(end == now for _, end in computed)
        acted = True
        while acted:
            acted = False
            if len(loads) < tiles and free and now >= next_load:
                loads.append(now)
                free, next_load, acted = free - 1, now + pipeline.interval, True
            ready = len(computed) < len(loads) and loads[len(computed)] + pipeline.latency <= now
            if ready and now >= busy_until:
                busy_until = now + pipeline.compute
                computed.append((now, busy_until))
                free, acted = free + (pipeline.compute == 0), True
        now += 1
    return [
        Step(tile % pipeline.stages, load, load + pipeline.latency, *times)
        for tile, (load, times) in enumerate(zip(loads, computed))
    ]


@checked
@given(pipelines, st.integers(0, 25))
def test_steps_are_those_of_a_simulation(pipeline, tiles):
    assert pipeline.steps(tiles) == simulated(pipeline, tiles)


def simulated_period(pipeline: Pipeline) -> float:
    """Time for each tile at the end of a long run; over one turn of the ring, within which they may be uneven."""
    ends = [step.compute_end for step in simulated(pipeline, 60)]
    return (ends[-1] - ends[-1 - pipeline.stages]) / pipeline.stages


@checked
@given(pipelines)
def test_a_full_ring_takes_one_period_for_each_tile(pipeline):
    assert simulated_period(pipeline) == pytest.approx(pipeline.period)


@checked
@given(pipelines.filter(lambda pipeline: pipeline.compute or pipeline.interval))
def test_the_stages_needed_are_the_fewest_at_which_computing_or_the_bandwidth_sets_the_pace(pipeline):
    needed, pace = pipeline.stages_needed, max(pipeline.compute, pipeline.interval)
    assert simulated_period(replace(pipeline, stages=needed)) == pace
    assert needed == 1 or simulated_period(replace(pipeline, stages=needed - 1)) > pace


# By hand -----------------------------------------------------------------------------------------


def test_one_stage_overlaps_nothing():
    assert Pipeline(latency=3, compute=2, stages=1).steps(2) == [Step(0, 0, 3, 3, 5), Step(0, 5, 8, 8, 10)]


def test_two_stages_load_the_next_tile_while_computing():
    assert Pipeline(latency=3, compute=2, stages=2, interval=3).steps(3) == [
        Step(0, 0, 3, 3, 5),
        Step(1, 3, 6, 6, 8),
        Step(0, 6, 9, 9, 11),
    ]


def test_enough_stages_hide_the_latency():
    spans = [Pipeline(latency=6, compute=2, stages=stages).makespan(100) for stages in (1, 2, 4, 5)]
    assert spans == [800, 402, 206, 206]
    assert Pipeline(latency=6, compute=2, stages=1).stages_needed == 4


def test_no_ring_hides_a_lack_of_bandwidth():
    assert Pipeline(latency=6, compute=2, stages=50, interval=5).period == 5


def test_no_tiles_take_no_time():
    assert Pipeline(latency=3, compute=2, stages=2).makespan(0) == 0


def test_bytes_in_flight_are_bandwidth_times_latency():
    assert bytes_in_flight(bandwidth=3e12, latency=500e-9) == pytest.approx(1_500_000)


def test_bandwidth_grows_with_the_bytes_in_flight_up_to_the_peak():
    assert sustained_bandwidth(750_000, latency=500e-9, peak=3e12) == pytest.approx(1.5e12)
    assert sustained_bandwidth(9_000_000, latency=500e-9, peak=3e12) == 3e12


@pytest.mark.parametrize("figures", [dict(stages=0), dict(latency=-1), dict(compute=-1), dict(interval=-1)], ids=str)
def test_an_impossible_pipeline_is_refused(figures):
    with pytest.raises(ValueError, match="1 stage or more and no negative times"):
        Pipeline(**{"latency": 1, "compute": 1, "stages": 1} | figures)


def test_without_any_limit_no_number_of_stages_is_enough():
    with pytest.raises(ValueError, match="each further stage shortens the period"):
        Pipeline(latency=1, compute=0, stages=1).stages_needed
