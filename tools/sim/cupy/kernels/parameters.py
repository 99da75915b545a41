"""The parameters of a kernel, as "raw T x, float32 y", and what the arguments make of them: types and shapes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tools.sim.cupy.arrays.ndarray import ndarray
from tools.sim.cupy.arrays.shapes import broadcast_shapes
from tools.sim.cupy.kernels import typedefs
from tools.sim.cupy.kernels.machine import Held, Machine
from tools.sim.cupy.kernels.refusal import Code
from tools.sim.cupy.kernels.statement_parser import functions


@dataclass(frozen=True)
class Parameter:
    """type: a letter such as T, which the arguments decide, or a dtype. raw: the code picks the elements itself."""

    name: str
    type: str | np.dtype
    raw: bool


def parameters(text: str) -> tuple[Parameter, ...]:
    """The parameters that a text lists. Raises as CuPy does for what is none."""
    return tuple(_parameter(each) for each in text.strip().split(",")) if text else ()


def _parameter(text: str) -> Parameter:
    words = text.split()
    if len(words) < 2:
        raise Exception(f"Syntax error: {text}")
    *keywords, type, name = words
    for keyword in keywords:
        if keyword not in ("raw", "_non_const"):
            raise Exception(f'Unknown keyword "{keyword}"')
    return Parameter(name, type if len(type) == 1 else np.dtype(type), "raw" in keywords)


class Kernel:
    """The part that elementwise and reduction kernels share. in_params, out_params: as "T x, raw float32 y"."""

    def __init__(self, name: str, in_params: str, out_params: str, preamble: str) -> None:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", name):
            raise ValueError(f'Invalid kernel name: "{name}"')
        self.in_params, self.out_params = parameters(in_params), parameters(out_params)
        self.params = self.in_params + self.out_params
        self.nin, self.nout, self.nargs = len(self.in_params), len(self.out_params), len(self.params)
        self.name, self.__name__, self.preamble = name, name, preamble
        self._functions, self._typedefs = typedefs.read(preamble)

    def code(self, text: str) -> Code:
        """A part of the kernel's code, in which the preamble's names of types are known."""
        return Code(self.name, text, self._typedefs)

    def machine(self, code: Code, threads: int, names: Mapping[str, Held], letters: dict[str, np.dtype]) -> Machine:
        """The machine that the code runs on. letters: the types of this call."""
        device_functions = functions(self.code(self._functions), frozenset(letters))
        return Machine(code, threads, names, letters, device_functions)


def decide(takes: Sequence[Parameter], gives: Sequence[Parameter], inputs: Sequence, outputs: Sequence[ndarray]) -> Any:
    """The dtype of each letter. TypeError where arguments disagree with each other or with a parameter."""
    found: dict[str, np.dtype] = {}
    for parameter, argument in (*zip(gives, outputs), *zip(takes, inputs)):
        if not isinstance(argument, ndarray):
            continue
        wanted = found.setdefault(parameter.type, argument.dtype) if isinstance(parameter.type, str) else parameter.type
        if wanted != argument.dtype:
            letter = f" {parameter.type}" if isinstance(parameter.type, str) else ""
            raise TypeError(f"Type is mismatched. {parameter.name} {argument.dtype} {wanted}{letter}")
    return found


def type_of(parameter: Parameter, letters: dict[str, np.dtype]) -> np.dtype:
    """The dtype of a parameter. KeyError for a letter that no array decides."""
    return letters[parameter.type] if isinstance(parameter.type, str) else parameter.type


def common_shape(takes: Sequence[Parameter], arguments: Sequence, sized: bool) -> tuple[int, ...]:
    """The shape that all arrays but raw ones are stretched to. ValueError: there is none, or `size` is given too."""
    stretched = [isinstance(each, ndarray) and not parameter.raw for parameter, each in zip(takes, arguments)]
    if sized and any(stretched):
        raise ValueError("Specified 'size' can be used only if all of the ndarray are 'raw'.")
    if not sized and not any(stretched):
        raise ValueError("Loop size is undecided.")
    return broadcast_shapes(*(each.shape if given else () for given, each in zip(stretched, arguments)))
