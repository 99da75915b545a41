"""cupy.ReductionKernel: map, reduce and finish in CUDA C++ expressions, run with NumPy and no compiler."""

from functools import partial
from math import prod
from typing import Any

import numpy as np

from tools.sim import floats
from tools.sim.counters import Counts
from tools.sim.cupy.arrays import launches
from tools.sim.cupy.arrays.arguments import operand
from tools.sim.cupy.arrays.casts import convert
from tools.sim.cupy.arrays.ndarray import ndarray, on_device
from tools.sim.cupy.arrays.shapes import axes_of
from tools.sim.cupy.kernels import types
from tools.sim.cupy.kernels.machine import Held, Indexer, Variable
from tools.sim.cupy.kernels.parameters import Kernel, common_shape, decide, type_of
from tools.sim.cupy.kernels.refusal import Code
from tools.sim.cupy.kernels.statement_parser import expression, statements


class ReductionKernel(Kernel):
    """map_expr: of the inputs. reduce_expr: of a and b. post_map_expr: an assignment to the output, from a.

    The elements meet in pairs, as in a tree. A GPU's order is another one, so sums may differ in their last bits.
    """

    __module__ = "cupy"

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: Any,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: Any = (),
    ) -> None:
        super().__init__(name, in_params, out_params, preamble)
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity = "" if identity is None else str(identity)
        self.reduce_type = self.out_params[0].type if reduce_type is None else reduce_type
        if self.nout != 1 or any(each.raw for each in self.params):
            raise Code(name, map_expr).unknown(1, "reductions with raw parameters or with several outputs")

    def __call__(
        self, *args: Any, out: Any = None, axis: Any = None, keepdims: bool = False, stream: Any = None, **unknown: Any
    ) -> ndarray:
        if unknown:
            raise TypeError(f"Wrong arguments {unknown}")
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(f"Wrong number of arguments for {self.name}")
        if out is not None and len(args) == self.nargs:
            raise ValueError("cannot specify 'out' as both a positional and keyword argument")
        inputs = [operand(each) for each in args[: self.nin]]
        outputs = [operand(each) for each in args[self.nin :]] if out is None else [operand(out)]
        shape = common_shape(self.in_params, inputs, sized=False)
        letters = decide(self.in_params, self.out_params, inputs, outputs)
        axes = axes_of(axis, len(shape))
        kept = tuple(length for along, length in enumerate(shape) if along not in axes)
        if not self.identity and 0 in shape and 0 not in kept:
            raise ValueError(f"zero-size array to reduction operation {self.name} which has no identity")
        arithmetic = Counts()
        values = self._reduce(inputs, letters, shape, axes, arithmetic)
        if keepdims:
            kept = tuple(1 if along in axes else length for along, length in enumerate(shape))
        values = values.reshape(kept)
        made = self._output(values, outputs)
        loads = [launches.stretched(each, shape) for each in inputs if isinstance(each, ndarray)]
        if made.size:
            store = partial(np.copyto, made.elements, values)
            launches.launch(self.name, (), loads, [made], work=store, arithmetic=arithmetic)
        return made

    def _output(self, values: np.ndarray, outputs: list) -> ndarray:
        if not outputs:
            return on_device(values.copy())
        if not isinstance(outputs[0], ndarray):
            raise TypeError("Output arguments type must be cupy.ndarray")
        if outputs[0].shape != values.shape:
            raise ValueError("Out shape is mismatched")
        return outputs[0]

    def _reduce(
        self, inputs: list, letters: dict, shape: tuple[int, ...], axes: tuple[int, ...], arithmetic: Counts
    ) -> np.ndarray:
        """The results, along one axis."""
        order = (*(along for along in range(len(shape)) if along not in axes), *axes)
        rows = prod(shape[along] for along in order[: len(shape) - len(axes)])
        values = {}
        for parameter, argument in zip(self.in_params, inputs):
            if isinstance(argument, ndarray):
                argument = np.broadcast_to(argument.elements, shape).transpose(order).reshape(rows, -1)
            else:
                argument = np.array(argument, type_of(parameter, letters))
            values[parameter.name] = argument
        width = prod(shape) // rows if rows else 0
        with np.errstate(all="ignore"):
            inside = self._reduced_type(letters)
            mapped = self._expression(self.map_expr, letters, values, (rows, width), inside, arithmetic)
            total = self._tree(mapped, letters, arithmetic)
            return self._finished(total, letters, rows * width, arithmetic)

    def _reduced_type(self, letters: dict) -> np.dtype:
        name = self.reduce_type
        dtype = name if isinstance(name, np.dtype) else letters.get(name) or types.named(name)
        if dtype is None:
            raise Code(self.name, str(name)).unknown(1, f"the type {name}")
        return dtype

    def _tree(self, values: np.ndarray, letters: dict, arithmetic: Counts) -> np.ndarray:
        """Each row down to one value, by halves."""
        if self.identity:
            identity = self._expression(self.identity, letters, {}, (), values.dtype)
            first = np.broadcast_to(identity, (len(values), 1))
            self._check_identity(values, first, letters)
            values = values if values.shape[1] else first
        while values.shape[1] > 1:
            half = values.shape[1] // 2
            pairs = self._combined(values[:, :half], values[:, half : 2 * half], letters, arithmetic)
            values = np.concatenate([pairs, values[:, 2 * half :]], axis=1)
        return values[:, 0]

    def _check_identity(self, values: np.ndarray, first: np.ndarray, letters: dict) -> None:
        """Each thread of the device begins with the identity: it may change nothing."""
        begun = self._combined(np.broadcast_to(first, values.shape), values, letters)
        changed = (begun != values) & (values == values)
        if changed.any():
            place = np.argwhere(changed)[0]
            raise ValueError(
                f"kernel {self.name!r}: the identity {self.identity} is none. Combined with the element "
                f"{values[tuple(place)]} by {self.reduce_expr!r} it gives {begun[tuple(place)]}.\n"
                "Each thread of a GPU begins with the identity, so that the result would depend on their number."
            )

    def _combined(self, a: np.ndarray, b: np.ndarray, letters: dict, arithmetic: Counts | None = None) -> np.ndarray:
        return self._expression(self.reduce_expr, letters, {"a": a, "b": b}, a.shape, a.dtype, arithmetic)

    def _finished(self, total: np.ndarray, letters: dict, elements: int, arithmetic: Counts) -> np.ndarray:
        """The output that post_map_expr assigns."""
        name, dtype = self.out_params[0].name, type_of(self.out_params[0], letters)
        result = Variable(np.zeros(total.size, dtype), written=np.zeros(total.size, bool))
        code = self.code(self.post_map_expr)
        names: dict[str, Held] = {name: result, "a": Variable(total, constant=True)}
        names |= {"_in_ind": Indexer(elements), "_out_ind": Indexer(total.size)}
        machine = self.machine(code, total.size, names, letters)
        body = statements(code, frozenset(letters))
        body.check(machine)
        with machine.counted(arithmetic):
            body.run(machine)
        return np.broadcast_to(result.value, total.size)

    def _expression(
        self,
        text: str,
        letters: dict,
        values: dict[str, np.ndarray],
        shape: tuple,
        dtype: np.dtype,
        arithmetic: Counts | None = None,
    ) -> np.ndarray:
        """The value of an expression for arrays of this shape, as `dtype`. arithmetic: takes what that costs."""
        code = self.code(text)
        names: dict[str, Held] = {
            name: Variable(np.broadcast_to(value, shape).reshape(-1) if value.ndim else value, constant=True)
            for name, value in values.items()
        }
        machine = self.machine(code, prod(shape), names, letters)
        with machine.counted(Counts() if arithmetic is None else arithmetic):
            value = expression(code, frozenset(letters)).value(machine)
            value = floats.cast(value, convert(np.asarray(value), dtype))
        return np.broadcast_to(np.asarray(value).reshape(shape if np.ndim(value) else ()), shape)
