"""Timelines worked out by hand, and random ones against a search through whole seconds."""

import random

import pytest

from tools.models.timeline import COMPUTE, DEFAULT, DOWNLOAD, ENGINES, UPLOAD, Timeline


def pieces(timeline: Timeline, stream: int) -> list[tuple[float, float]]:
    """One upload of 1 s, one kernel of 2 s and one download of 1 s: when each runs."""
    spans = [timeline.submit(stream, engine, seconds) for engine, seconds in ((UPLOAD, 1), (COMPUTE, 2), (DOWNLOAD, 1))]
    return [(span.start, span.end) for span in spans]


# By hand -----------------------------------------------------------------------------------------


def test_work_of_one_stream_runs_in_order():
    timeline = Timeline()
    assert pieces(timeline, timeline.stream()) == [(0, 1), (1, 3), (3, 4)]


def test_two_streams_overlap_on_different_engines():
    timeline = Timeline()
    assert pieces(timeline, timeline.stream()) == [(0, 1), (1, 3), (3, 4)]
    assert pieces(timeline, timeline.stream()) == [(1, 2), (3, 5), (5, 6)]
    assert (timeline.overlap(UPLOAD, COMPUTE), timeline.overlap(COMPUTE, DOWNLOAD)) == (1, 1)
    assert timeline.overlap(COMPUTE, COMPUTE) == 4


def test_a_stream_that_waits_holds_up_no_other_on_the_same_engine():
    timeline = Timeline()
    one, other = timeline.stream(), timeline.stream()
    timeline.submit(one, COMPUTE, 5)
    assert timeline.submit(one, DOWNLOAD, 1).start == 5
    assert timeline.submit(other, DOWNLOAD, 5).start == 0


def test_work_that_does_not_fit_in_front_runs_after():
    timeline = Timeline()
    one, other = timeline.stream(), timeline.stream()
    timeline.submit(one, COMPUTE, 5)
    timeline.submit(one, DOWNLOAD, 1)
    assert timeline.submit(other, DOWNLOAD, 5.5).start == 6


def test_work_may_take_no_time_and_still_waits_for_its_turn():
    timeline = Timeline()
    timeline.submit(timeline.stream(), COMPUTE, 0.5)
    timeline.work(0.25)
    span = timeline.submit(timeline.stream(), COMPUTE, 0)
    assert (span.start, span.end) == (0.5, 0.5)


def test_nothing_runs_before_the_host_hands_it_over():
    timeline = Timeline()
    timeline.work(3)
    assert timeline.submit(DEFAULT, UPLOAD, 1).start == 3
    assert timeline.record(timeline.stream()) == 4


def test_the_host_does_not_wait_until_it_is_told_to():
    timeline = Timeline()
    one, other = timeline.stream(), timeline.stream()
    timeline.submit(one, COMPUTE, 2)
    timeline.submit(other, UPLOAD, 7)
    assert timeline.now == 0
    assert timeline.synchronize(one) == timeline.now == 2
    assert timeline.synchronize() == timeline.now == 7
    assert timeline.synchronize(one) == 7


def test_the_default_stream_waits_for_blocking_streams_and_they_for_it():
    timeline = Timeline()
    one, other, independent = timeline.stream(), timeline.stream(), timeline.stream(blocking=False)
    timeline.submit(one, UPLOAD, 4)
    assert timeline.submit(DEFAULT, COMPUTE, 2).start == 4
    assert timeline.submit(other, DOWNLOAD, 1).start == 6
    assert timeline.submit(independent, DOWNLOAD, 1).start == 0


def test_the_default_stream_does_not_wait_for_a_stream_that_does_not_block():
    timeline = Timeline()
    independent = timeline.stream(blocking=False)
    timeline.submit(independent, UPLOAD, 4)
    assert timeline.submit(DEFAULT, COMPUTE, 2).start == 0


def test_waiting_for_the_default_stream_is_waiting_for_blocking_streams_too():
    timeline = Timeline()
    timeline.submit(timeline.stream(), COMPUTE, 4)
    timeline.submit(timeline.stream(blocking=False), UPLOAD, 9)
    assert timeline.synchronize(DEFAULT) == 4


def test_waiting_for_a_stream_is_not_waiting_for_the_default_one():
    timeline = Timeline()
    stream = timeline.stream()
    timeline.submit(DEFAULT, COMPUTE, 4)
    assert timeline.synchronize(stream) == 0


def test_events_order_streams_and_measure_what_lies_between():
    timeline = Timeline()
    one, other = timeline.stream(), timeline.stream()
    begin = timeline.record(one)
    timeline.submit(one, COMPUTE, 3)
    end = timeline.record(one)
    timeline.wait(other, end)
    assert end - begin == 3
    assert timeline.submit(other, DOWNLOAD, 1).start == 3
    assert timeline.wait_until(end) == 3 == timeline.wait_until(begin)


def test_spans_say_what_ran_where():
    timeline = Timeline()
    timeline.submit(DEFAULT, UPLOAD, 1, "copy of x")
    span = timeline.submit(DEFAULT, COMPUTE, 2, "add")
    assert timeline.spans[1] is span
    assert (span.stream, span.engine, span.label) == (DEFAULT, COMPUTE, "add")


@pytest.mark.parametrize(
    "work, says",
    [
        ((DEFAULT, "disk", 1), "no engine is called 'disk'; there are upload, compute, download"),
        ((DEFAULT, UPLOAD, -1), "work takes 0 seconds or more, not -1"),
        ((7, UPLOAD, 1), "this timeline has no stream 7; stream\\(\\) makes one"),
    ],
)
def test_bad_input_is_refused(work, says):
    with pytest.raises(ValueError, match=says):
        Timeline().submit(*work)


# Against a search --------------------------------------------------------------------------------

STREAMS = {0: "default", 1: "blocking", 2: "blocking", 3: "independent"}


class Search:
    """Keeps every action ever taken; finds each start by trying one whole second after the other."""

    def __init__(self):
        self.now, self.actions, self.taken = 0, [], set()

    def ready(self, stream: int) -> int:
        ends = [
            end
            for other, end in self.actions
            if other == stream or {STREAMS[other], STREAMS[stream]} == {"default", "blocking"}
        ]
        return max([self.now, *ends])

    def submit(self, stream: int, engine: str, seconds: int) -> int:
        start = self.ready(stream)
        while any((engine, start + second) in self.taken for second in range(seconds)):
            start += 1
        self.taken.update((engine, start + second) for second in range(seconds))
        self.actions.append((stream, start + seconds))
        return start

    def wait(self, stream: int, moment: int) -> int:
        self.actions.append((stream, max(self.ready(stream), moment)))
        return self.actions[-1][1]

    def synchronize(self, stream: int) -> int:
        kinds = {"default", "blocking"} if stream == 0 else set()
        self.now = max([self.now, *(end for other, end in self.actions if other == stream or STREAMS[other] in kinds)])
        return self.now


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_run_when_a_search_says_they_do(seed):
    rng = random.Random(seed)
    timeline, search = Timeline(), Search()
    for kind in list(STREAMS.values())[1:]:
        timeline.stream(blocking=kind == "blocking")
    moment = 0
    for _ in range(60):
        stream = rng.choice(list(STREAMS))
        match rng.choice(["submit"] * 6 + ["record", "wait", "work", "synchronize"]):
            case "submit":
                work = stream, rng.choice(ENGINES), rng.randint(1, 9)
                assert timeline.submit(*work).start == search.submit(*work)
            case "record":
                moment = timeline.record(stream)
                assert moment == search.wait(stream, 0)
            case "wait":
                timeline.wait(stream, moment)
                search.wait(stream, moment)
            case "work":
                timeline.work(2)
                search.now += 2
            case "synchronize":
                assert timeline.synchronize(stream) == search.synchronize(stream)
    for one in ENGINES:
        for other in ENGINES:
            seconds = {second for engine, second in search.taken if engine == one}
            assert timeline.overlap(one, other) == sum((other, second) in search.taken for second in seconds)
