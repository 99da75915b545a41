"""The programs of a launch, run one by one without a GPU, in an order that no kernel can count on."""

import inspect
import operator
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

from tools.models.launch import MOST_GRID
from tools.sim import recording, trace
from tools.sim.counters import Counts, Launch
from tools.sim.triton import faults, memory, original
from tools.sim.triton.handles import Handle, refuse_too_many_threads
from tools.sim.triton.turns import launch as turns

SEED = "COURSE_SEED"  # environment variable: another seed, another order


@dataclass(frozen=True)
class Trial:
    """Launches that only try a kernel out. function: of the kernel. choose: its programs that run, of all by number
    in their order, and the grid. listener: hears these launches, and no others."""

    function: Callable
    choose: Callable[[list[int], tuple[int, int, int]], list[int]]
    listener: trace.Listener


trial: Trial | None = None

front_end: Callable[..., Any] | None = None  # Triton's own, by which a launch's kernel must pass: see tools/gpu.py


def run(executor: Any, interpreter: Any, args: tuple, kwargs: dict) -> Handle:
    """Launch a kernel. executor: Triton's GridExecutor, which holds the kernel and the grid."""
    _check_names(executor, kwargs)
    signature, refused = _signature(executor.kernel, args, kwargs)
    warps = kwargs.get("num_warps", 4)
    if not refused:
        refuse_too_many_threads(warps)
    kwargs, options = _split(executor, kwargs)
    for hook in executor.pre_run_hooks:
        hook(*args, **kwargs)
    scope = interpreter._patch_lang(executor.fn)
    tried = _trial_of(executor)
    try:
        with trace.heard_by(tried.listener if tried else trace.listener):
            _launch(executor, interpreter, inspect.getcallargs(executor.fn, *args, **kwargs), warps, refused)
    finally:
        scope.restore()
        memory.current = None
    return Handle(executor.kernel, _signature, signature, options, loaded=True)


def warm_up(kernel: Any, args: tuple, kwargs: dict) -> Handle:
    """Have a kernel compiled for these arguments; no program runs. Raises what its launch would say of them."""
    _check_names(kernel, kwargs)
    inspect.getcallargs(kernel.fn, *args, **_split(kernel, kwargs)[0])
    signature, refused = _signature(kernel, args, kwargs)
    if refused:
        raise refused
    return Handle(kernel, _signature, signature, _split(kernel, kwargs)[1], loaded=False)


def _split(kernel: Any, kwargs: dict) -> tuple[dict, dict]:
    """The kernel's own arguments, and the options of the launch, num_warps for one."""
    own = {name: value for name, value in kwargs.items() if name in kernel.arg_names}
    return own, {name: value for name, value in kwargs.items() if name not in own}


def _signature(kernel: Any, args: tuple, kwargs: dict) -> tuple[Any, Exception | None]:
    """A launch's kernel as the compiler's front end takes it, if there is one; and what that has against it."""
    if front_end is None or "breakpoint" in kernel.fn.__code__.co_names:  # Python's debugger, which is for here alone
        return None, None
    try:
        return front_end(kernel, args, kwargs, original.in_place), None
    except Exception as refusal:
        return None, refusal


def _launch(executor: Any, interpreter: Any, arguments: dict, warps: int, refused: Exception | None) -> None:
    """refused: why no GPU would run it. One program runs before it is raised: it may find plainer words."""
    grid = _grid(executor, arguments)
    _check(executor, arguments)
    used = turns.names(executor.fn)
    memory.current = memory.Memory(recording.recording(), prod(grid), turns.can_wait(used), warps)
    for name, value in arguments.items():
        memory.current.arguments.add(name, value)
    arguments = {
        name: value if name in executor.constexprs else _inside(executor, interpreter, name, value)
        for name, value in arguments.items()
    }
    x, y, z = grid + (1,) * (3 - len(grid))
    builder, sizes = interpreter.interpreter_builder, (x, y, z)
    builder.set_grid_dim(*sizes)
    if trace.listener is not None:
        trace.listener.launch(executor.fn.__name__, sizes, None)
    numbers = order(prod(sizes))
    tried = _trial_of(executor)
    if tried and not turns.meets_others(used):
        numbers = tried.choose(numbers, sizes)
    if refused:
        reason = refused.__context__
        if tried and reason and type(reason).__name__ == "CompileTimeAssertionFailure":
            raise reason  # by which an autotuner passes a configuration over
        if not memory.current.races.together:  # else it could wait for others for ever
            turns.play(executor.fn, arguments, numbers[:1], sizes, warps, builder)
        raise refused
    turns.play(executor.fn, arguments, numbers, sizes, warps, builder)
    _put_on_record(executor.fn.__name__, grid)


def _trial_of(executor: Any) -> Trial | None:
    """The trial that a launch belongs to."""
    return trial if trial and trial.function is executor.kernel.fn else None


def _inside(executor: Any, interpreter: Any, name: str, value: Any) -> Any:
    """An argument as the kernel has it."""
    from tools.sim.triton import annotations  # it needs Triton, and this file is imported before

    number = annotations.handed_over(executor.kernel.fn, name, value, interpreter)
    return interpreter._implicit_cvt(value) if number is None else number


def _grid(executor: Any, arguments: dict) -> tuple[int, ...]:
    """How many programs there are along each axis. Raises TypeError or Fault for what a GPU's launcher refuses too."""
    grid, name = executor.grid(arguments) if callable(executor.grid) else executor.grid, executor.fn.__name__
    if not isinstance(grid, (tuple, list)):
        raise TypeError(f"A grid is a tuple, with a number for each axis: {name}[({grid},)], not {name}[{grid}].")
    try:
        sizes = tuple(map(operator.index, grid))
    except TypeError:
        raise TypeError(f"A grid holds whole numbers, and {name} was given {tuple(grid)}.") from None
    if len(sizes) > 3:
        raise TypeError(f"A grid has one, two or three axes, and {name} was given {sizes}.")
    if prod(sizes):  # an empty grid is launched nowhere, however long its axes are
        for axis, size in enumerate(sizes):
            if size > MOST_GRID[axis]:
                raise faults.too_many_programs(axis, size)
    return sizes


def _check_names(executor: Any, kwargs: dict) -> None:  # or the kernel
    """Raise TypeError for a keyword that differs from an argument in capitals only."""
    for name in kwargs:
        meant = [each for each in executor.arg_names if each.lower() == name.lower()]
        if meant and name not in meant:
            raise TypeError(f"{name} is no argument of {executor.fn.__name__}; {meant[0]} is.")


def _check(executor: Any, arguments: dict) -> None:
    """Raise TypeError for what a GPU's launcher does not take either: arrays of NumPy, lists."""
    for name, value in arguments.items():
        if name not in executor.constexprs and (
            isinstance(value, (list, str)) or type(value).__module__ == "numpy" and hasattr(value, "__len__")
        ):
            kind = f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins.")
            raise TypeError(
                f"{name} of {executor.fn.__name__} is given a {kind}.\n"
                "A kernel takes tensors and numbers: torch.from_numpy, torch.tensor."
            )


def order(programs: int) -> list[int]:
    """The numbers of the programs as they run: the same for the same seed."""
    numbers = list(range(programs))
    random.Random(os.environ.get(SEED, "0")).shuffle(numbers)
    return numbers


def _put_on_record(kernel: str, grid: tuple[int, ...]) -> None:
    if not recording.recording():
        return
    lines = tuple(memory.current.lines.values())
    recording.launched(Launch(kernel, grid, sum((line.counts for line in lines), Counts(programs=prod(grid))), lines))


def patch(interpreter: Any) -> None:
    """Run launches with `run`. interpreter: triton.runtime.interpreter."""

    def call(executor: Any, *args: Any, **kwargs: Any) -> Handle:
        return run(executor, interpreter, args, kwargs)

    def run_interpreted(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Handle:
        if warmup:
            return warm_up(kernel, args, kwargs)
        executor = interpreter.GridExecutor(kernel.rewrite(), kernel.arg_names, grid, kernel.pre_run_hooks)
        executor.kernel = kernel
        return executor(*args, **kwargs)

    interpreter.GridExecutor.__call__ = call
    interpreter.InterpretedFunction.run = run_interpreted
