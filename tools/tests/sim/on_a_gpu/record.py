"""A plugin of pytest: writes each launch that a simulator ran to its end, with its arguments before and after."""

import functools
import importlib
import inspect
import pickle
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools.tests.sim.on_a_gpu import functions
from tools.tests.sim.on_a_gpu.tensors import plain

MOST = 8  # launches of one test
LARGEST = 1 << 21  # bytes of a launch's arguments


class Recorder:
    """Writes launches to `folder`, under the name of the test that runs. numbers: of the launches of each test."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.test, self.numbers = folder, "", Counter[str]()
        folder.mkdir(parents=True, exist_ok=True)

    def wanted(self) -> bool:
        return bool(self.test) and self.numbers[self.test] < MOST

    def write(self, kind: str, kernel: str, **launch: Any) -> None:
        """What cannot be pickled is left out, and said."""
        self.numbers[self.test] += 1
        try:
            data = pickle.dumps({"kind": kind, "test": self.test, "kernel": kernel, **launch})
        except Exception as error:  # pickle raises anything
            print(f"not recorded: {kernel} of {self.test}: {error}")
            return
        if len(data) <= 2 * LARGEST:
            number = len(list(self.folder.iterdir()))
            (self.folder / f"{number:05}.launch").write_bytes(data)


recorder: Recorder | None = None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--launches", help="a folder, for the launches that simulators run")


def pytest_configure(config: pytest.Config) -> None:
    global recorder
    folder = config.getoption("--launches")
    if folder:
        recorder = Recorder(Path(folder).absolute())
        _of_raw_kernels()
        _of_numba()
        _of_triton()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    if recorder is not None:
        recorder.test = item.nodeid
    try:
        return (yield)
    finally:
        if recorder is not None:
            recorder.test = ""


# CUDA C++ ----------------------------------------------------------------------------------------


def _of_raw_kernels() -> None:
    module = importlib.import_module("tools.sim.cupy.raw.kernels")
    call = module.RawKernel.__call__

    @functools.wraps(call)
    def recorded(kernel: Any, grid: tuple, block: tuple, args: tuple, **named: Any) -> None:
        if recorder is None or not recorder.wanted() or not isinstance(args, tuple):
            return call(kernel, grid, block, args, **named)
        variables = _variables(kernel)
        before, places = memory(args), [place(each) for each in args]
        call(kernel, grid, block, args, **named)
        recorder.write(
            "CUDA C++",
            kernel.name,
            code=kernel.code,
            options=kernel.options,
            backend=kernel.backend,
            expressions=kernel._expressions,
            cooperative=kernel.enable_cooperative_groups,
            most_shared=kernel._most_shared,
            grid=grid,
            block=block,
            shared=named.get("shared_mem", 0),
            arguments=places,
            before=before,
            after=memory(args),
            variables=variables,
        )

    module.RawKernel.__call__ = recorded


def _variables(kernel: Any) -> dict[str, bytes]:
    """The contents of the module's variables before the launch."""
    import ctypes
    import re

    try:
        module = kernel._compiled()
    except Exception:
        return {}
    found = {}
    for name in re.findall(r"__(?:constant|device)__\s+(?:[\w:<>*]+\s+)+?(\w+)\s*(?:\[|=|;)", kernel.code):
        at = module.variable(name)
        if at:
            found[name] = ctypes.string_at(*at)
    return found


def memory(args: tuple) -> dict[int, bytes]:
    """The contents of all memory that the arguments lie in, by its address."""
    return {mem.ptr: mem.storage.tobytes() for mem in map(_memory, args) if mem is not None}


def _memory(value: Any) -> Any:
    return getattr(value, "memory", None) or getattr(value, "mem", None)


def place(value: Any) -> Any:
    """A scalar as it is; of an array, where it lies: (address of the memory, offset, bytes)."""
    mem = _memory(value)
    if mem is None:
        return ("value", value)
    pointer = value if hasattr(value, "mem") else value.data
    dtype = str(getattr(value, "dtype", ""))
    return ("memory", mem.ptr, pointer.ptr - mem.ptr, dtype)


# Numba -------------------------------------------------------------------------------------------


def _of_numba() -> None:
    module = importlib.import_module("tools.sim.cuda.host.launch")
    run = module.launch

    @functools.wraps(run)
    def recorded(function: Callable, grid: tuple, block: tuple, arguments: list, **options: Any) -> Any:
        if recorder is None or not recorder.wanted():
            return run(function, grid, block, arguments, **options)
        before = [_of_argument(each) for each in arguments]
        result = run(function, grid, block, arguments, **options)
        try:
            recorder.write(
                "Numba CUDA",
                function.__name__,
                function=functions.described(function),
                grid=grid,
                block=block,
                shared=options.get("dynamic_shared", 0),
                before=before,
                after=[_of_argument(each) for each in arguments],
            )
        except functions.NotDescribed as error:
            print(f"not recorded: {function.__name__} of {recorder.test}: {error}")
        return result

    module.launch = recorded


def _of_argument(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_of_argument, value))
    array = getattr(value, "array", None)
    if array is None:
        return value
    return ("array", value.address, array.copy(order="K"))


# Triton ------------------------------------------------------------------------------------------


def _of_triton() -> None:
    module = importlib.import_module("tools.sim.triton.programs")
    run = module.run

    @functools.wraps(run)
    def recorded(executor: Any, interpreter: Any, args: tuple, kwargs: dict) -> None:
        if recorder is None or not recorder.wanted():
            return run(executor, interpreter, args, kwargs)
        before = pickle.dumps(plain((args, kwargs)))
        named = {name: value for name, value in kwargs.items() if name in executor.arg_names}
        run(executor, interpreter, args, kwargs)
        grid = executor.grid
        if callable(grid):
            grid = grid(inspect.getcallargs(executor.fn, *args, **named))
        fn = executor.kernel.fn
        recorder.write(
            "Triton",
            fn.__name__,
            module=fn.__module__,
            qualname=fn.__qualname__,
            grid=tuple(map(int, grid)),
            before=before,
            after=pickle.dumps(plain((args, kwargs))),
        )

    module.run = recorded
