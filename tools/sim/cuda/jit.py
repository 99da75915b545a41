"""@cuda.jit: kernels and device functions, and kernel[grid, block, stream, shared](...) with Numba's checks."""

import ast
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tools.models.launch import MOST_THREADS
from tools.sim.cuda.faults import Refused
from tools.sim.cuda.host.arguments import best, typeof
from tools.sim.cuda.host.errors import DeprecationError
from tools.sim.cuda.host.launch_config import NOT_CONFIGURED, ForAll, LaunchConfiguration
from tools.sim.cuda.host.resources import Compiled, needs_compiler
from tools.sim.cuda.numbers.conversion import cast
from tools.sim.cuda.translate.program import Program
from tools.sim.cuda.translate.program import parse as parse_function
from tools.sim.cuda.translate.program import program as program_of
from tools.sim.cuda.types import NONE, NUMBERS, Number, Type, is_signature, parse
from tools.sim.faults import Spot

CHANGE_NOTHING = {"inline", "forceinline", "debug", "opt", "lineinfo", "cache", "lto", "fastmath", "max_registers"}
CANNOT_BE_DONE = {"link", "extensions"}
DEPRECATED = {"argtypes", "restype", "bind"}
OF_THE_COMPILER = """inspect_asm inspect_llvm inspect_lto_ptx inspect_sass inspect_sass_cfg inspect_types inspect_cfg
    get_const_mem_size overloads stats""".split()


def jit(
    func_or_sig: Any = None,
    device: bool = False,
    *,
    launch_bounds: Any = None,
    shared_memory_carveout: Any = None,
    boundscheck: Any = None,
    **options: Any,
) -> Any:
    """Decorator for kernels and, with device=True, device functions; with a signature or a list of them, if any.

    launch_bounds: the most threads of a block, alone or first in a tuple. Other keywords of Numba's are accepted, and
    change nothing here. Raises TypeError for unknown ones, NotImplementedError for those that cannot be simulated.
    """
    if boundscheck:
        raise NotImplementedError("bounds checking is not supported for CUDA")
    for name, value in options.items():
        _check_option(name, value)
    if shared_memory_carveout is not None:
        _check_carveout(shared_memory_carveout)
    bounds = launch_bounds[0] if isinstance(launch_bounds, tuple) else launch_bounds
    make = functools.partial(
        Dispatcher,
        device=device,
        most_threads=min(bounds or MOST_THREADS, MOST_THREADS),
        options=options | {"launch_bounds": launch_bounds},
    )
    if is_signature(func_or_sig):
        return lambda function: make(function, signatures=[func_or_sig], specialized=True)
    if isinstance(func_or_sig, list):
        return lambda function: make(function, signatures=func_or_sig)
    if func_or_sig is None:
        return make
    if not callable(func_or_sig):
        raise TypeError(f"{func_or_sig!r} is not a callable object")
    return make(func_or_sig)


def _check_option(name: str, value: object) -> None:
    if name in DEPRECATED:
        raise DeprecationError(
            f"Deprecated keyword argument `{name}`.\nSignatures should be passed as the first positional argument."
        )
    if name in CANNOT_BE_DONE:
        if value:
            raise NotImplementedError(f"the simulator cannot do {name}={value!r}: it runs Python alone")
    elif name not in CHANGE_NOTHING:
        raise TypeError(f"jit() got an unexpected keyword argument {name!r}")


def _check_carveout(carveout: object) -> None:
    if isinstance(carveout, str):
        if carveout.lower() not in ("default", "maxl1", "maxshared"):
            raise ValueError(
                f"Invalid carveout value: {carveout}.\nMust be -1 to 100 or one of ['default', 'maxl1', 'maxshared']"
            )
    elif not isinstance(carveout, int):
        raise TypeError(f"shared_memory_carveout must be str or int, got {type(carveout).__name__}")
    elif not -1 <= carveout <= 100:
        raise ValueError("Carveout must be between -1 and 100")


class Dispatcher(Compiled):
    """A kernel, or a device function. py_func: the Python function. specialized: it has one signature, and no others.

    options: keywords of jit that only a compiler heeds.
    """

    def __init__(
        self,
        function: Callable,
        *,
        device: bool = False,
        most_threads: int = MOST_THREADS,
        signatures: Sequence = (),
        specialized: bool = False,
        options: dict | None = None,
    ) -> None:
        function = getattr(function, "py_func", function)
        functools.update_wrapper(self, function)
        self.options = options or {}
        self.py_func, self.device, self.most_threads, self.specialized = function, device, most_threads, specialized
        self.parameters = list(inspect.signature(function).parameters)
        self._results: dict[tuple[Type, ...], Type | None] = {}  # of each signature that it knows
        self.specializations: dict[tuple[Type, ...], Dispatcher] = {}
        for signature in signatures:
            self.compile(signature)
        self._may_compile = not signatures

    def __getitem__(self, configuration: Any) -> LaunchConfiguration:
        if not isinstance(configuration, tuple):
            raise TypeError(
                f"{self.__name__}[{configuration!r}] lacks the block: "
                f"{self.__name__}[blocks, threads of a block] configures a launch"
            )
        if len(configuration) not in (2, 3, 4):
            raise ValueError("must specify at least the griddim and blockdim")
        return self.configure(*configuration)

    def configure(self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0) -> LaunchConfiguration:
        """kernel[griddim, blockdim, stream, sharedmem]. Raises TypeError, ValueError."""
        return LaunchConfiguration(self, griddim, blockdim, stream, sharedmem)

    def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> ForAll:
        """A launch of at least so many threads along one axis. tpb: threads of a block; 0: as many as fit best."""
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.device:
            raise ValueError(f"{self.__name__} is a device function: only kernels and device functions call it.")
        raise ValueError(NOT_CONFIGURED)

    def compile(self, signature: Any) -> None:
        """Take arguments of these types. Raises Refused for what Numba does not compile, TypeError for the types."""
        types, result = parse(signature)
        if not self.device and result not in (None, NONE):
            raise TypeError("CUDA kernel must have void return type.")
        self._check_count(len(types))
        self._check_source()
        self._results[types] = result

    @property
    def signatures(self) -> list[tuple[Type, ...]]:
        """Types of the arguments that it was compiled for."""
        return list(self._results)

    def specialize(self, *args: Any) -> "Dispatcher":
        """The same kernel for arguments of these types alone."""
        types = tuple(map(typeof, args))
        if self.specialized:
            raise RuntimeError("Dispatcher already specialized")
        if types not in self.specializations:
            self.specializations[types] = Dispatcher(
                self.py_func, most_threads=self.most_threads, signatures=[types], specialized=True, options=self.options
            )
        return self.specializations[types]

    def types_for(self, args: Sequence) -> tuple[Type, ...]:
        """The types that these arguments are passed as. Raises as `compile`; TypeError when no signature fits."""
        if self.device:
            raise RuntimeError("Cannot compile a device function as a kernel")
        self._check_count(len(args))
        if self.specialized:
            return self.signatures[0]
        types = tuple(map(typeof, args))
        if not self._may_compile:
            return best(self._results, types)
        if types not in self._results:
            self.compile(types)
        return types

    @property
    def signatures_given(self) -> bool:
        """It has the signatures that it was given, and no others."""
        return not self._may_compile

    def program(self) -> Program:
        """The program that runs inside a kernel that calls it."""
        return program_of(self.py_func, self.device)

    def inside(self, call: Callable, arguments: tuple) -> Any:
        """Call it inside a kernel; numbers as the types of its signature, if it has any, and the result too."""
        if self._may_compile or not all(isinstance(each, (np.ndarray, np.generic)) for each in arguments):
            return call(*arguments)
        types: Any = best(self._results, [NUMBERS[each.dtype] for each in arguments])
        value = call(*(cast(each, wanted.of_numpy) for each, wanted in zip(arguments, types)))
        result = self._results[types]
        return cast(value, result.of_numpy) if isinstance(result, Number) else value

    def _check_count(self, count: int) -> None:
        if count != len(self.parameters):
            raise TypeError(
                f"Signature mismatch: {count} argument types given, but function takes {len(self.parameters)} arguments"
            )

    def _check_source(self) -> None:
        """Refuse what can be refused before it runs."""
        program_of(self.py_func, self.device)
        if self.device:
            return
        for node in ast.walk(parse_function(self.py_func)):
            if isinstance(node, ast.Return) and not _is_none(node.value):
                raise Refused(
                    "A kernel gives nothing back.",
                    "Store it in an array that is one of its arguments.",
                    Spot(self.py_func.__code__.co_filename, node.lineno, self.__name__),
                )

    def __getattr__(self, name: str) -> Any:
        if name in OF_THE_COMPILER:
            raise needs_compiler(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"CUDADispatcher({self.py_func})"


def _is_none(value: ast.expr | None) -> bool:
    return value is None or isinstance(value, ast.Constant) and value.value is None
