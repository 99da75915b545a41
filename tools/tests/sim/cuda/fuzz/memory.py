"""Arrays as the oracle sees them: lists of plain numbers, with bounds, and None where nothing was written."""

import math

import numpy as np

from tools.tests.sim.cuda.fuzz.functions import extreme
from tools.tests.sim.cuda.fuzz.scalars import Undefined, convert, operate


class Memory:
    """Of one array. cells: row by row."""

    def __init__(self, name: str, dtype: str, shape: tuple[int, ...], cells: list | None = None):
        self.name, self.dtype, self.shape = name, dtype, shape
        self.cells = [None] * math.prod(shape) if cells is None else cells

    @classmethod
    def of(cls, name: str, array: np.ndarray) -> "Memory":
        return cls(name, str(array.dtype), array.shape, array.ravel().tolist())

    def array(self) -> np.ndarray:
        return np.array(self.cells, self.dtype).reshape(self.shape)

    def _place(self, index: tuple[int, ...]) -> int:
        place = 0
        for along, size in zip(index, self.shape, strict=True):
            if not 0 <= along < size:
                raise Undefined(f"{self.name}{list(index)} is outside of {self.shape}")
            place = place * size + along
        return place

    def read(self, index: tuple[int, ...]):
        value = self.cells[self._place(index)]
        if value is None:
            raise Undefined(f"{self.name}{list(index)} is read before it is written")
        return value

    def write(self, index: tuple[int, ...], value) -> None:
        self.cells[self._place(index)] = convert(self.dtype, value)

    def update(self, name: str, index: tuple[int, ...], operands: tuple):
        """An atomic operation; gives the old value."""
        place, old = self._place(index), self.read(index)
        operands = [convert(self.dtype, operand) for operand in operands]
        self.cells[place] = ATOMIC[name](self.dtype, old, *operands)
        return old


ATOMIC = {
    "add": lambda type_, old, value: operate("+", type_, old, value),
    "sub": lambda type_, old, value: operate("-", type_, old, value),
    "and_": lambda type_, old, value: old & value,
    "or_": lambda type_, old, value: old | value,
    "xor": lambda type_, old, value: old ^ value,
    "min": lambda type_, *values: extreme(min, type_, values),
    "max": lambda type_, *values: extreme(max, type_, values),
    "exch": lambda type_, old, value: value,
    "cas": lambda type_, old, expected, value: value if old == expected else old,
}
