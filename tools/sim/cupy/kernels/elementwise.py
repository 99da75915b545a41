"""cupy.ElementwiseKernel: a few lines of CUDA C++ for each element, run with NumPy and no compiler."""

from math import prod
from typing import Any

import numpy as np

from tools.sim.counters import Counts
from tools.sim.cupy.arrays import launches
from tools.sim.cupy.arrays.arguments import operand
from tools.sim.cupy.arrays.ndarray import ndarray
from tools.sim.cupy.kernels.machine import Held, Indexer, Variable
from tools.sim.cupy.kernels.parameters import Kernel, common_shape, decide, type_of
from tools.sim.cupy.kernels.raw_arrays import Raw
from tools.sim.cupy.kernels.statement_parser import statements


class ElementwiseKernel(Kernel):
    """in_params, out_params: as "T x, raw float32 y". operation: the statements; i is the number of the element."""

    __module__ = "cupy"

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(name, in_params, out_params, preamble)
        self.operation = operation
        self.reduce_dims, self.no_return, self.return_tuple = reduce_dims, no_return, return_tuple
        self._code = self.code(operation)
        for option in ("loop_prep", "after_loop"):
            if options.get(option):
                raise self._code.unknown(1, option)
        if "i" in {each.name for each in self.params}:
            raise ValueError("Can not use 'i' as a parameter name")

    def __call__(self, *args: Any, size: int = -1, stream: Any = None, block_size: int = 128, **unknown: Any) -> Any:
        if unknown:
            raise TypeError(f"Wrong arguments {unknown}")
        if block_size <= 0:
            raise ValueError("block_size must be greater than zero")
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}. It must be either {self.nin} or "
                f"{self.nargs} (with outputs), but given {len(args)}."
            )
        inputs, outputs = [operand(each) for each in args[: self.nin]], [operand(each) for each in args[self.nin :]]
        shape = common_shape(self.params, (*inputs, *outputs), size != -1)
        letters = decide(self.in_params, self.out_params, inputs, outputs)
        shape = (size,) if size != -1 else shape
        made = self._outputs(outputs, letters, shape, size != -1)
        if 0 not in shape:
            self._launch(inputs, made, letters, shape, -(-prod(shape) // block_size), stream, fresh=not outputs)
        if self.no_return:
            return None
        return made[0] if self.nout == 1 and not self.return_tuple else tuple(made)

    def _outputs(self, given: list, letters: dict, shape: tuple[int, ...], sized: bool) -> list[ndarray]:
        if not given:
            if not sized and any(each.raw for each in self.out_params):
                raise ValueError("Output array size is Undecided")
            return [ndarray(shape, type_of(each, letters)) for each in self.out_params]
        for parameter, each in zip(self.out_params, given):
            if not isinstance(each, ndarray):
                raise TypeError("Output arguments type must be cupy.ndarray")
            if not parameter.raw and each.shape != shape:
                raise ValueError("Out shape is mismatched")
        return given

    def _launch(
        self, inputs: list, outputs: list, letters: dict, shape: tuple[int, ...], blocks: int, stream: Any, fresh: bool
    ) -> None:
        threads = prod(shape)
        names: dict[str, Held] = {"i": Variable(np.arange(threads), constant=True), "_ind": Indexer(threads)}
        for parameter, argument in zip(self.in_params, inputs):
            names[parameter.name] = _input(parameter, argument, shape, letters)
        for parameter, array in zip(self.out_params, outputs):
            names[parameter.name] = (
                Raw(parameter.name, array, constant=False)
                if parameter.raw
                else Variable(array.elements.reshape(-1).copy(), written=np.zeros(threads, bool), fresh=fresh)
            )
        machine, arithmetic = self.machine(self._code, threads, names, letters), Counts()
        body = statements(self._code, frozenset(letters))

        def run() -> list:
            with np.errstate(all="ignore"):
                body.check(machine)
                with machine.counted(arithmetic):
                    body.run(machine)
            return self._accessed(names, (*inputs, *outputs), shape)

        arrays = [each for each in (*inputs, *outputs) if isinstance(each, ndarray)]
        launches.execute(self.name, (blocks,), arrays, run, stream, arithmetic)

    def _accessed(self, names: dict, arguments: tuple, shape: tuple[int, ...]) -> list[tuple[str, list]]:
        """Store the outputs; gives what the threads accessed, and how."""
        done: dict[str, list] = {"load": [], "store": [], "atomic": []}
        for parameter, argument in zip(self.params, arguments):
            variable = names[parameter.name]
            if isinstance(variable, Raw):
                for operation, accesses in variable.done.items():
                    done[operation] += accesses
            elif not variable.constant:
                done["store"].append(_stored(argument, variable, shape))
            elif isinstance(argument, ndarray):
                done["load"].append(launches.stretched(argument, shape))
        return list(zip(launches.FIGURES, done.values()))


def _input(parameter: Any, argument: Any, shape: tuple[int, ...], letters: dict) -> Variable | Raw:
    """An input as the code finds it."""
    if not isinstance(argument, ndarray):
        return Variable(np.array(argument, type_of(parameter, letters)), constant=True)
    if parameter.raw:
        return Raw(parameter.name, argument, constant=True)
    return Variable(np.broadcast_to(argument.elements, shape).reshape(-1), constant=True)


def _stored(array: ndarray, variable: Variable, shape: tuple[int, ...]) -> Any:
    """Write an output; gives what the threads stored to."""
    written = np.asarray(variable.written).reshape(shape)
    np.copyto(array.elements, np.broadcast_to(variable.value, written.size).reshape(shape), where=written)
    if written.all():
        return array
    threads = np.flatnonzero(written)
    return launches.Scattered(array, threads, threads)
