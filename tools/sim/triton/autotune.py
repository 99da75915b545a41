"""triton.autotune without a GPU: of each configuration a few programs run, and all of the chosen one.

Nothing can be timed, so the first configuration is chosen that the compiler takes. A few programs are enough to find
what is wrong with one: the corners of the grid, where blocks are partly empty, and one from its inside. Where a result
hangs on how many programs there were, in kernels that wait or have atomics, all of each configuration's run. So they do
where two configurations have the same grid and those few do not store the same elements: see stored.py.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np
from triton.runtime import autotuner, driver

from tools.sim import recording
from tools.sim.faults import Fault
from tools.sim.triton import programs, stored

INSIDE = 1  # programs that the seed draws, beside the corners
OPTIONS = {"num_warps": 4, "num_stages": 3, "num_ctas": 1}  # of a configuration that does not say


def patch(interpreter: Any) -> None:
    """Wrap Triton's autotuner."""
    tuner = autotuner.Autotuner
    bench, run = tuner._bench, tuner.run

    def try_one(self: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
        if self.num_warmups is not None or self.num_reps is not None or self.use_cuda_graph:
            self.do_bench = driver.active.get_benchmarker()  # these would only have it run more often

        def launch(choose: Callable) -> tuple[list[float], stored.Stores]:
            stores = stored.Stores()

            def chosen(numbers: list[int], sizes: tuple[int, int, int]) -> list[int]:
                some = choose(numbers, sizes)
                stores.complete = len(some) == len(numbers)
                return some

            tried = programs.Trial(self.base_fn, chosen, stores)
            with _of_config(self, config), recording.unrecorded(), _trying(tried):
                return bench(self, *args, config=config, **meta), stores

        times, stores = launch(few)
        if not np.isinf(times).any():  # else it was passed over
            tried = stored.Trial(shown(config, self.configs), stores, lambda: launch(every)[1])
            stored.compare(self.trials, tried)
            self.trials.append(tried)
        return times

    def run_best(self: Any, *args: Any, **named: Any) -> Any:
        self.best_config, self.trials = None, []
        try:
            with _of_config(self, None):
                return run(self, *args, **named)
        finally:
            self.trials.clear()

    setattr(tuner, "_bench", try_one)
    setattr(tuner, "run", run_best)


@contextmanager
def _trying(trial: programs.Trial) -> Iterator[None]:
    kept, programs.trial = programs.trial, trial
    try:
        yield
    finally:
        programs.trial = kept


def few(numbers: list[int], sizes: tuple[int, int, int]) -> list[int]:
    """Of the programs of a grid, in the order in which they run: its corners, and what comes first besides."""
    ends = product(*({0, size - 1} for size in sizes))
    corners = {(x * sizes[1] + y) * sizes[2] + z for x, y, z in ends}
    inside = [number for number in numbers if number not in corners][:INSIDE]
    return [number for number in numbers if number in corners or number in inside]


def every(numbers: list[int], sizes: tuple[int, int, int]) -> list[int]:
    """All programs of a grid."""
    return numbers


@contextmanager
def _of_config(tuner: Any, config: Any) -> Iterator[None]:
    """Errors from inside say which configuration it was. config: None for the one that was chosen."""
    try:
        yield
    except Exception as error:
        config = config or tuner.best_config
        if config is not None and len(tuner.configs) > 1:
            _add(error, f"With {shown(config, tuner.configs)}.")
        raise


def shown(config: Any, others: list) -> str:
    """BLOCK=64, num_warps=8: constants, and options that are not the same for all."""
    told = dict(config.kwargs)
    for name, usual in OPTIONS.items():
        values = {getattr(each, name) for each in others}
        if values != {usual}:
            told[name] = getattr(config, name)
    return ", ".join(f"{name}={value}" for name, value in told.items())


def _add(error: Exception, words: str) -> None:
    if isinstance(error, Fault):
        error.add(words)
    elif len(error.args) == 1 and str(error) == error.args[0]:
        error.args = (f"{error.args[0]}\n{words}",)
    else:
        error.add_note(words)
