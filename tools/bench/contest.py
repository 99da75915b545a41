"""One contest: a function of a lesson and its rivals on the same arguments, timed in turns, in random order."""

import random
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from tools import gpu, worker
from tools.bench import classes
from tools.bench.classes import Speed
from tools.check import arrays, timing, tolerances
from tools.check.case import copied
from tools.course.content.catalogue import Unit
from tools.course.content.workload import OnTensors, Workload
from tools.course.learner.lesson import lesson_of, lines_of_code
from tools.models.roofline import Ceiling, lowest
from tools.worker import Prepared, call

YOURS = "yours"
CHUNK = 2**22  # elements that are compared at a time
FEWEST = 7  # rounds, before a verdict: by chance alone all lie on one side of the median in 2 % of cases
WIDE = 0.1  # an interval of +-10 % tells a class, where it lies in one
WATCHED = 0.2  # seconds: a longer call's memory on the host is not watched, which makes a loop ten times as slow
SLOWEST = 10.0  # seconds of one call: what takes longer is not timed, nor are larger sizes


class NotTimed(Exception):
    """A function that is not worth a stopwatch: it is wrong, it fails, or it is too slow. One to five lines."""


@dataclass(frozen=True)
class Row:
    """One competitor. seconds: the median of one call, low and high: its interval.

    share_of_ceiling: the least time that this machine's measured rates leave for the work, over seconds.
    peak_bytes: the most memory that one call took beside its arguments; None where that cannot be seen.
    lines: source lines, None for a rival.
    """

    name: str
    seconds: float
    low: float
    high: float
    gb_s: float
    gflop_s: float
    share_of_ceiling: float | None
    peak_bytes: int | None
    lines: int | None


def contest(
    unit: Unit,
    workload: Workload,
    size: int,
    ceiling: dict,
    clock: Callable = time.perf_counter,
    budget: float = timing.BUDGET,
) -> dict:
    """The record of one contest, as plain data. Raises NotTimed, LessonBroken.

    budget: seconds for the stopwatch, which stops earlier where the class of the result is settled.
    """
    function = getattr(lesson_of(unit, workload.function), workload.function)
    arguments = workload.arguments(size, np.random.default_rng())
    found, left_out = competitors(workload, size, function, arguments)
    seconds = measure(
        {name: Prepared(each, args, {}) for name, (each, args) in found.items()},
        clock,
        lambda ratios, spent: settled(ratios, spent, budget),
    )
    rows = []
    for name, (each, args) in found.items():
        lines = lines_of_code(unit, workload.function) if name == YOURS else None
        peak = peak_bytes(each, args, watched=bool(np.median(seconds[name]) <= WATCHED))
        rows.append(asdict(_row(name, seconds[name], workload, size, ceiling, peak, lines)))
    speeds = {name: _speed(name, seconds) for name in seconds if name != YOURS}
    strongest = min(speeds.values(), key=lambda speed: speed.value, default=None)
    naive = speeds.get(workload.naive)
    word = classes.result_class(strongest, naive) if strongest else "without a rival"
    return {
        "function": workload.function,
        "shape": workload.shape(size),
        "size": size,
        "rows": rows,
        "class": word,
        "strongest": strongest and asdict(strongest),
        "least_seconds": least(workload, size, ceiling),
        "moved": workload.moved(size),
        "flops": workload.flops(size),
        "dtype": workload.dtype,
        "left_out": left_out,
        "simulated": False,
    }


def competitors(workload: Workload, size: int, function: Callable, arguments: tuple) -> tuple[dict, dict]:
    """name -> (function, arguments) of those whose results agree; and name -> why not, of rivals left out."""
    own = copied(arguments)
    got, left_out, found = _result(function, own, "The function"), {}, {YOURS: (function, own)}
    for name, entered in workload.rivals.items():
        rival, args = entered, arguments
        try:
            if isinstance(entered, OnTensors):
                rival, args = entered.function, entered.convert(arguments)
            want = _result(rival, args, name)
        except (NotTimed, ImportError) as error:
            left_out[name] = str(error).splitlines()[0]
            continue
        if apart := _apart(got, want, allowed(workload, size)):
            raise NotTimed(f"Its result is not that of {name}: {apart}.\nA wrong result is not timed.")
        found[name] = rival, args
    return found, left_out


def _result(function: Callable, arguments: tuple, who: str) -> list[np.ndarray]:
    """The arrays that a call returns, one or a tuple. Raises NotTimed where it returns none, fails, or is too slow."""
    outcome = call(function, arguments)
    if outcome.error:
        where = f", line {outcome.error.frames[-1].line}" if outcome.error.frames else ""
        message = outcome.error.message.splitlines()[:1]
        raise NotTimed(f"{who} raised {': '.join([outcome.error.type_name, *message])}{where}.")
    if outcome.changed:
        raise NotTimed(f"{who} changed its argument {next(iter(outcome.changed))}.")
    start = time.perf_counter()
    parts = outcome.value if isinstance(outcome.value, tuple) else (outcome.value,)
    for part in parts:
        if not arrays.is_array(part):
            raise NotTimed(f"{who} returned no array but {type(part).__name__}.")
    got = [arrays.to_numpy(part) for part in parts]  # waits for the GPU
    seconds = outcome.seconds + time.perf_counter() - start
    if seconds > 3 * SLOWEST:  # a first call may compile
        raise NotTimed(f"{who} took {timing.duration(seconds)} for one call: too slow to repeat.")
    return got


def allowed(workload: Workload, size: int) -> float:
    """How far apart two right results may be, relative."""
    if workload.apart is not None:
        return workload.apart
    if workload.dtype.startswith("int"):
        return 0.0
    # both are rounded, so they may be twice as far apart as each from the exact one
    return 2 * tolerances.accumulated(workload.dtype, workload.terms(size)).relative


def _apart(got: list[np.ndarray], want: list[np.ndarray], allowed: float) -> str:
    """The first difference between the arrays of two results, in words; "" where there is none."""
    if len(got) != len(want):
        return f"it returns {len(got)} arrays, not {len(want)}"
    return next(filter(None, (difference(g, w, allowed) for g, w in zip(got, want))), "")


def difference(got: np.ndarray, want: np.ndarray, allowed: float) -> str:
    """Where two results are more than `allowed` apart, relative, in words; "" where they are not."""
    if got.shape != want.shape:
        return f"the shape is {got.shape}, not {want.shape}"
    wrong, largest = 0, 0.0
    got, want = got.reshape(-1), want.reshape(-1)
    for start in range(0, got.size, CHUNK):
        errors = tolerances.errors(got[start : start + CHUNK], want[start : start + CHUNK])
        wrong += int(np.count_nonzero(~(errors <= allowed)))
        largest = max(largest, float(errors.max()))
    if not wrong:
        return ""
    return f"{wrong:,} of {got.size:,} elements differ, by up to {largest:.2g} relative, {allowed:.2g} allowed"


# Time ---------------------------------------------------------------------------------------------


def measure(
    prepared: dict[str, Prepared],
    clock: Callable = time.perf_counter,
    enough: Callable[[list[float], float], bool] = timing.enough,
) -> dict[str, list[float]]:
    """Seconds of one call, round by round; in each round all take their turn, in random order.

    Pairs of one round belong together: what slowed the machine down slowed them all. enough: of the ratios to a rival
    and the seconds that they took, whether no more are needed.
    """
    timed = {name: timing.Timed(each, clock) for name, each in prepared.items()}
    order, start = random.Random(), clock()
    while True:
        for each in order.sample(list(timed.values()), len(timed)):
            each.batch()
        elapsed = 2 * (clock() - start) / max(2, len(timed))  # the budget is that of a pair
        if all(enough(ratios, elapsed) for ratios in _ratios({n: t.seconds for n, t in timed.items()})):
            return {name: each.seconds for name, each in timed.items()}


def settled(ratios: list[float], spent: float, budget: float) -> bool:
    """Do the ratios to a rival say which class the result has, whatever a few more would add? Or is time up?"""
    if len(ratios) < FEWEST:
        return spent >= budget and len(ratios) >= timing.AT_LEAST
    low, high = timing.median_interval(ratios)
    return spent >= budget or (classes.is_one(low, high) and high - low <= WIDE * (high + low))


def _ratios(seconds: dict[str, list[float]]) -> list[list[float]]:
    """Of each rival round by round its time over ours; without a rival our own times."""
    rivals = [name for name in seconds if name != YOURS]
    if not rivals:
        return [seconds[YOURS]]
    return [[rival / own for rival, own in zip(seconds[name], seconds[YOURS])] for name in rivals]


def _speed(name: str, seconds: dict[str, list[float]]) -> Speed:
    ratios = [rival / own for rival, own in zip(seconds[name], seconds[YOURS])]
    return Speed(name, float(np.median(ratios)), *timing.median_interval(ratios))


def least(workload: Workload, size: int, ceiling: dict) -> float | None:
    """Seconds that the measured rates leave at the least for the bytes, the flops and what crosses."""
    peak = ceiling["peaks"].get(workload.dtype)
    limits = [Ceiling("memory", workload.moved(size), ceiling["bandwidth"])]
    limits += [Ceiling("arithmetic", workload.flops(size), peak)] if peak else []
    limits += [Ceiling("host link", workload.crossed(size), ceiling["host"])] if ceiling["host"] else []
    return lowest(limits).seconds or None


def _row(
    name: str, seconds: list[float], workload: Workload, size: int, ceiling: dict, peak: int | None, lines: int | None
) -> Row:
    median, (low, high) = float(np.median(seconds)), timing.median_interval(seconds)
    bound = least(workload, size, ceiling)
    return Row(
        name,
        median,
        low,
        high,
        workload.moved(size) / median / 1e9,
        workload.flops(size) / median / 1e9,
        bound / median if bound else None,
        peak,
        lines,
    )


# Memory -------------------------------------------------------------------------------------------


def peak_bytes(function: Callable, arguments: tuple, watched: bool = True) -> int | None:
    """The most memory that one call took beside its arguments; None where nothing of it was seen.

    Seen are the allocations of PyTorch and CuPy on the GPU and, where they are watched, those of NumPy and Python on
    the host.
    """
    seen = _peak_on_gpu(function, arguments) if gpu.card() else 0
    if not watched:
        return seen or None
    tracemalloc.start()
    try:
        value = function(*arguments)
        on_host = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    unseen = arrays.is_tensor(value) and value.device.type == "cpu"  # PyTorch's memory on the host
    return None if unseen else max(seen, on_host)


def _peak_on_gpu(function: Callable, arguments: tuple) -> int:
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    else:
        torch = None
    pool = cupy.get_default_memory_pool() if cupy is not None else None
    if pool:
        pool.free_all_blocks()
        held = pool.used_bytes()
    worker.repeat(function, arguments, {}, 1)
    return ((torch.cuda.max_memory_allocated() - before) if torch else 0) + (pool.total_bytes() - held if pool else 0)
