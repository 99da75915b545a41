"""Week 1, kata: profiling a CPU program

Challenge
    A report on a day's log of a web server is right and takes half a second. It shall take less than 0.2. Guesses
    about where the time goes are usually wrong, so measure first, change what the measurement shows, and
    measure again.

        a sampler stops the program now and then     run      |####################|    10 samples
        and notes the stack: one line for each       work     |##############|
        stack, with how often it was met             sort     |    |######|
            run;work 4
            run;work;sort 3                          own:     work 4, sort 3, run 3
            run 3                                    total:   run 10, work 7, sort 3

Explore
    ./course python -m timeit -s "seen = list(range(1500))" "1499 in seen"
    The same with "seen = set(range(1500))". Then say where you think the half second goes, and ask cProfile:
    ./course python -m cProfile -s tottime week1/katas/cpu_profiling/cpu_profiling.py

Concept
    Own and total time: own time is what a function spends itself; total time includes the functions that it
    calls. Own time says where to look, total time which call to save. The picture above is a flame graph: the
    width of a bar is total time, and the part that no bar below covers is own time.
    Profilers: a program that measures where time goes. A sampler (py-spy, perf) disturbs little and sees only
    what takes long. A tracer (cProfile, line_profiler) counts every call or line, and each count costs time, so
    functions that are called often look slower than they are. Trust its counts more than its times.
    cProfile in a program: profiler = cProfile.Profile(); profiler.runcall(function, *args) runs and counts.
    pstats.Stats(profiler).stats is then a dict from (file, line, name) to (calls without those from itself,
    calls, own time, total time, callers).
    Amdahl's law: if a part takes the share s of the time, then without it the program is 1 / (1 - s) times as
    fast, and no more. Afterwards another part is the largest, so profile again.
    Two frequent causes: `in` walks along a list, but finds its place in a dict or a set at once. An array
    cannot grow: np.append copies all of it for one more number, where an array of the final size is only filled.
    Counting: collections.Counter() is a dict in which every count begins at 0.

Code it
    Task 1  self_samples, total_samples, hottest_line: read what profilers write    (twelve lines)
    Task 2  calls: what cProfile counts; memo: five points from before and after     (eight lines)
    Task 3  report: given, right and slow; repair it. Two and a half times as fast is asked for

Verify
    pytest week1/katas/cpu_profiling   then: ./course quiz week1/katas/cpu_profiling
    Reflect: which of your changes gained the most, and would the profile have told you so beforehand?

No GPU is used: all is real on every machine. Speed is judged by a ratio measured in one run.
"""

import collections
import cProfile
import pstats

import numpy as np

Record = tuple[str, str, int, int]  # visitor, page, status, microseconds


# Task 1
def self_samples(stacks: str) -> dict[str, int]:
    """Samples in which each function was the innermost of the stack, by name.

    stacks: folded, one a line: names from the outermost to the innermost with ";" between them, a blank, the number
    of samples. A name may hold blanks. Functions that were never the innermost are left out.
    """
    raise NotImplementedError("week1/katas/cpu_profiling task 1: self_samples")


def total_samples(stacks: str) -> dict[str, int]:
    """Samples in which each function was anywhere on the stack, by name; in a recursion too each sample counts once.

    stacks: as for self_samples.
    """
    raise NotImplementedError("week1/katas/cpu_profiling task 1: total_samples")


def hottest_line(table: str) -> tuple[int, int, float]:
    """Number of the line that took most time, its hits, and its percentage of the function's time.

    table: as line_profiler prints it for one function. Lines that never ran have no figures.
    """
    raise NotImplementedError("week1/katas/cpu_profiling task 1: hottest_line")


# Task 2
def calls(function, *args) -> dict[str, int]:
    """Calls of each function during function(*args), by name, as cProfile counts them.

    Built-in functions are included, under the names that pstats gives them.
    """
    raise NotImplementedError("week1/katas/cpu_profiling task 2: calls")


def countdown(n: int) -> None:
    """Calls itself n times. Given, to be counted."""
    if n:
        countdown(n - 1)


def memo(before: str, after: str) -> dict[str, object]:
    """Five points on a repair, by name: "hotspot", "share", "limit", "speedup", "next".

    before, after: folded stacks of the same work, sampled at the same rate, before and after the repair.
    hotspot: the name with most samples of its own before. share: its total samples over all samples, before.
    limit: how many times as fast the program would be if the hotspot took no time. speedup: how many times as fast
    it has become. next: the name with most samples of its own after.
    """
    raise NotImplementedError("week1/katas/cpu_profiling task 2: memo")


# Task 3
def parse(line: str) -> Record:
    """One line of the log: "10.0.3.7 /week1/day4 200 1530"."""
    visitor, page, status, microseconds = line.split()
    return visitor, page, int(status), int(microseconds)


def distinct_visitors(records: list[Record]) -> list[str]:
    """Visitors of the log, each once, in the order of their first request."""
    seen = []
    for visitor, *_ in records:
        if visitor not in seen:
            seen.append(visitor)
    return seen


def busiest_pages(records: list[Record], most: int = 5) -> list[str]:
    """Pages with most requests, at most `most` of them, the busiest first; of equals the first by name."""
    pages = {page for _, page, *_ in records}
    visits = {page: [record[1] for record in records].count(page) for page in pages}
    return sorted(pages, key=lambda page: (-visits[page], page))[:most]


def smoothed_times(records: list[Record], window: int = 100) -> np.ndarray:
    """Mean time of the latest `window` requests, for each request and with it: float64, in microseconds."""
    means = np.array([])
    for i in range(len(records)):
        latest = [record[3] for record in records[max(0, i - window + 1):i + 1]]
        means = np.append(means, sum(latest) / len(latest))
    return means


def report(log: str) -> tuple[list[str], list[str], np.ndarray]:
    """Distinct visitors, busiest pages and smoothed times of a log of one request a line, each of them parsed once."""
    records = [parse(line) for line in log.splitlines()]
    return distinct_visitors(records), busiest_pages(records), smoothed_times(records)


if __name__ == "__main__":  # a day's log, to run profilers on
    random, n = np.random.default_rng(), 30_000
    requests = zip(random.integers(0, 1200, n), random.zipf(1.5, n) % 60, random.integers(100, 90_000, n))
    report("\n".join(f"10.0.{v // 256}.{v % 256} /week{p % 4 + 1}/day{p // 4} 200 {us}" for v, p, us in requests))
