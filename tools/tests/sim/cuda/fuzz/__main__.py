"""`python -m tools.tests.sim.cuda.fuzz`: the oracle against the simulator, and with --gpu against a GPU as well."""

import argparse
import itertools
import json
import multiprocessing
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tools.tests.sim.cuda.fuzz import gpu
from tools.tests.sim.cuda.fuzz.constructs import ASKED
from tools.tests.sim.cuda.fuzz.trial import GPU, SIMULATOR, Result, trial

OFTEN = 200  # kernels of 5,000 that hold a construct


def results(count: int, on: tuple[str, ...], first: int, workers: int, limit: float) -> Iterator[Result]:
    """Trials from kernel number `first` on, until `count` had a defined result. limit: seconds for one."""
    with tempfile.TemporaryDirectory() as folder:
        one = partial(trial, on=on, folder=Path(folder))
        defined = 0
        for result in _spread(one, first, workers, limit, on) if workers > 1 else map(one, itertools.count(first)):
            yield result
            defined += result.outcome != "undefined"
            if defined == count:
                return


def _spread(one, first: int, workers: int, limit: float, on: tuple[str, ...]) -> Iterator[Result]:
    """The same trials in several processes, in order."""
    prepare = gpu.prepare if GPU in on else None
    with multiprocessing.get_context("spawn").Pool(workers, prepare) as pool:
        waiting = [(number, pool.apply_async(one, (number,))) for number in range(first, first + 4 * workers)]
        for number in itertools.count(first + len(waiting)):
            oldest, pending = waiting.pop(0)
            try:
                yield pending.get(limit)
            except multiprocessing.TimeoutError:
                yield Result(oldest, "refused", f"no result within {limit:.0f} s")
            waiting.append((number, pool.apply_async(one, (number,))))


def report(tried: list[Result], seconds: float) -> dict:
    """The figures of a run."""
    outcomes = Counter(result.outcome for result in tried)
    held = Counter(name for result in tried for name in result.constructs)
    kernels = len(tried) - outcomes["undefined"]
    return {
        "kernels": kernels,
        "seconds": round(seconds, 1),
        "outcomes": dict(outcomes),
        "of each": {
            name: round(sum(result.seconds.get(name, 0.0) for result in tried), 1)
            for name in ("oracle", SIMULATOR, GPU)
        },
        "rare": {name: held[name] for name in {*ASKED, *held} if held[name] * 5000 < OFTEN * kernels},
        "kernels that hold": dict(held.most_common()),
        "failures": {result.number: result.says for result in tried if result.outcome in ("different", "refused")},
    }


def show(figures: dict) -> None:
    outcomes = figures["outcomes"]
    print(
        f"{figures['kernels']} kernels in {figures['seconds']} s: {outcomes.get('same', 0)} the same in every bit, "
        f"{outcomes.get('different', 0)} different, {outcomes.get('refused', 0)} refused; "
        f"{outcomes.get('undefined', 0)} more had no defined result"
    )
    for number, says in list(figures["failures"].items())[:20]:
        print(f"kernel {number}: {says}"[:600])
    held = figures["kernels that hold"]
    print(f"{len(held)} constructs; the rarest are in", ", ".join(f"{held[name]} ({name})" for name in list(held)[-5:]))
    if figures["rare"]:
        print("too rare:", ", ".join(figures["rare"]))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.tests.sim.cuda.fuzz", description=__doc__)
    parser.add_argument("--kernels", type=int, default=5000, help="how many (5000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first (0)")
    parser.add_argument("--gpu", type=int, metavar="N", help="N kernels, on a GPU as well as in the simulator")
    parser.add_argument("--workers", type=int, default=1, help="processes (1)")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one kernel, with several processes (120)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the figures go")
    options = parser.parse_args()
    on = (SIMULATOR, GPU) if options.gpu else (SIMULATOR,)
    if options.gpu and options.workers == 1:
        gpu.prepare()
    start = time.perf_counter()
    tried = list(results(options.gpu or options.kernels, on, options.first, options.workers, options.limit))
    figures = report(tried, time.perf_counter() - start)
    show(figures)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return bool(figures["failures"])


if __name__ == "__main__":
    raise SystemExit(main())
