"""The addresses that a compiled kernel uses: the integer part of its TTGIR, evaluated for one launch.

Only what leads to addresses and masks is computed, for one program at a time and for the first turn of each
loop. What depends on loaded values or on floating point is unknown (None), and so is what follows from it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tools.compiler.ttgir import Statement
from tools.words import matched

_FOR = re.compile(r"\s*(%\S+) = (%\S+) to (%\S+) step %\S+(?: iter_args\((.*?)\) ->)?")
_INTEGERS = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "index": np.int64}


Value = Any  # integers of NumPy: a tile, or a number


@dataclass(frozen=True)
class Touch:
    """One execution of an access, known by its number in text order.

    addresses: int64, in the shape of the tile. mask: the same shape. Both None where they are unknown.
    """

    number: int
    addresses: np.ndarray | None
    mask: np.ndarray | None
    element_bytes: int


def touches(module: Statement, arguments: dict[str, int], program: tuple, grid: tuple) -> list[Touch]:
    """What one program touches. arguments: integers, and for pointers addresses, by parameter name."""
    functions = (each for each in module.regions[0] if each.operation == "tt.func")
    function = next(each for each in functions if " public " in each.rest)
    evaluation = _Evaluation(program, grid)
    evaluation.values |= {f"%{name}": np.int64(value) for name, value in arguments.items()}
    for name, kind in re.findall(r"%(\w+): (i\d+)\b", function.rest):
        if name in arguments:
            evaluation.values[f"%{name}"] = _INTEGERS[kind](arguments[name])
    with np.errstate(all="ignore"):  # integers wrap, as on the chip
        evaluation.run(function.regions[0])
    return evaluation.touched


class _Evaluation:
    """The values of one program so far, by name; unknown ones are not there."""

    def __init__(self, program: tuple, grid: tuple) -> None:
        self.place = {"tt.get_program_id": program, "tt.get_num_programs": grid}
        self.values: dict[str, Value] = {}
        self.touched: list[Touch] = []

    def run(self, statements: list[Statement]) -> list[str]:
        """Evaluate a block. The names that its terminator hands on."""
        at: int | None = 0
        while at is not None and at < len(statements):
            statement = statements[at]
            if statement.operation in ("scf.yield", "tt.return"):
                return statement.operands
            if statement.operation in ("cf.br", "cf.cond_br"):
                at = self.jump(statement, statements, at)
            else:
                self.step(statement)
                at += 1
        return []

    def jump(self, branch: Statement, statements: list[Statement], at: int) -> int | None:
        """Where a branch leads; None when that is unknown or backwards. An early return becomes one."""
        labels = re.findall(r"\^\w+", branch.rest)
        if branch.operation == "cf.cond_br":
            condition = self.values.get(branch.operands[0])
            labels = [] if condition is None else labels[:1] if condition else labels[1:]
        there = [number for number in range(at, len(statements)) if [statements[number].label] == labels]
        return there[0] if there else None

    def step(self, statement: Statement) -> None:
        if statement.operation == "scf.for":
            return self.turn(statement)
        if statement.operation == "scf.if":
            return self.choose(statement)
        if statement.number is not None:
            return self.touch(statement)
        value = self.value_of(statement)
        if value is not None and statement.result:
            self.values[statement.result] = value

    def turn(self, statement: Statement) -> None:
        """The first turn of a loop; what the loop leaves behind stays unknown."""
        index, low, high, carried = matched(_FOR.match(statement.rest)).groups()
        low, high = self.values.get(low), self.values.get(high)
        if low is None or (high is not None and low >= high):
            return
        self.values[index] = low
        for inside, before in re.findall(r"(%\S+) = (%[\w$.#-]+)", carried or ""):
            if before in self.values:
                self.values[inside] = self.values[before]
        self.run(statement.regions[0])

    def choose(self, statement: Statement) -> None:
        condition = self.values.get(statement.operands[0])
        if condition is None:
            return
        taken = statement.regions[:1] if condition else statement.regions[1:]
        for number, name in enumerate(self.run(taken[0]) if taken else []):
            if name in self.values:
                self.values[f"{statement.result}#{number}"] = self.values[name]
                self.values.setdefault(str(statement.result), self.values[name])

    def touch(self, statement: Statement) -> None:
        assert statement.number is not None
        pointers = self.values.get(statement.operands[0])
        mask = self.values.get(statement.mask) if statement.mask else np.True_
        if pointers is None or mask is None:
            pointers = mask = None
        else:
            mask = np.broadcast_to(mask, np.shape(pointers))
        self.touched.append(Touch(statement.number, pointers, mask, statement.element_bytes))

    def value_of(self, statement: Statement) -> Value | None:
        operation, rest = statement.operation, statement.rest
        if operation in self.place:
            return np.int32(self.place[operation]["xyz".index(rest.split()[0])])
        if operation == "arith.constant":
            return _constant(rest)
        if operation == "tt.make_range":
            start, end = (int(matched(re.search(rf"{bound} = (-?\d+)", rest))[1]) for bound in ("start", "end"))
            return np.arange(start, end, dtype=np.int32)
        values = [self.values.get(name) for name in statement.operands]
        if operation not in _OPERATIONS or not values or any(value is None for value in values):
            return None
        return _OPERATIONS[operation](statement, *values)


def _constant(rest: str) -> Value | None:
    """Of ` 4 : i32`, ` true`, ` dense<4> : tensor<128xi32, #blocked>`; None for floating point."""
    match = re.match(r" (?:dense<)?(-?\d+|true|false)\b>?(?: : (?:tensor<([\dx]+)x)?(i\d+|index)\b)?", rest)
    if not match or not (match[3] or match[1] in ("true", "false")):
        return None
    number, shape, kind = match.groups()
    value = _INTEGERS[kind or "i1"](number == "true" if number in ("true", "false") else int(number))
    return np.full([int(size) for size in shape.split("x")], value) if shape else value


# The operations ----------------------------------------------------------------------------------


def _shape(statement: Statement) -> tuple[int, ...]:
    sizes = matched(re.match(r"tensor<((?:\d+x)+)", statement.result_type))[1]
    return tuple(int(size) for size in sizes.split("x")[:-1])


def _cast(statement: Statement, value: Value) -> Value:
    kind = matched(re.search(r"(?:\b|x)(i\d+|index)\b", statement.rest.rsplit(" to ", 1)[-1]))[1]
    return np.asarray(value).astype(_INTEGERS[kind])


def _cast_unsigned(statement: Statement, value: Value) -> Value:
    value = np.asarray(value)
    return _cast(statement, value if value.dtype == bool else _unsigned(value))


def _unsigned(value: Value) -> Value:
    value = np.asarray(value)
    return value.view(f"u{value.dtype.itemsize}") if value.dtype.kind == "i" else value


def _signed_quotient(x: Value, y: Value) -> Value:
    """Rounded toward zero, as the chip does; NumPy rounds down."""
    x, y = np.broadcast_arrays(x, y)
    quotient = np.where(y == 0, 0, np.floor_divide(np.abs(x), np.where(y == 0, 1, np.abs(y))))
    return np.where((x < 0) != (y < 0), -quotient, quotient).astype(x.dtype)


def _compare(statement: Statement, x: Value, y: Value) -> Value:
    how = statement.rest.split()[0].rstrip(",")
    if how[0] == "u":
        x, y = _unsigned(x), _unsigned(y)
    return {
        "eq": np.equal,
        "ne": np.not_equal,
        "lt": np.less,
        "le": np.less_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
    }[how if how in ("eq", "ne") else how[1:]](x, y)


def _axis(statement: Statement) -> int:
    return int(matched(re.search(r"axis = (\d+)", statement.rest))[1])


def _order(statement: Statement) -> list[int]:
    return [int(axis) for axis in matched(re.search(r"order = array<i32: ([\d, ]+)>", statement.rest))[1].split(",")]


def _move(statement: Statement, pointer: Value, offset: Value) -> Value:
    return pointer + np.asarray(offset, np.int64) * statement.element_bytes


_OPERATIONS: dict[str, Callable[..., Value]] = {
    "tt.splat": lambda s, x: np.broadcast_to(x, _shape(s)),
    "tt.broadcast": lambda s, x: np.broadcast_to(x, _shape(s)),
    "tt.expand_dims": lambda s, x: np.expand_dims(x, _axis(s)),
    "tt.reshape": lambda s, x: np.reshape(x, _shape(s)),
    "tt.trans": lambda s, x: np.transpose(x, _order(s)),
    "tt.unsplat": lambda s, x: np.reshape(x, -1)[0],
    "tt.addptr": _move,
    "ttg.convert_layout": lambda s, x: x,
    "arith.addi": lambda s, x, y: x + y,
    "arith.subi": lambda s, x, y: x - y,
    "arith.muli": lambda s, x, y: x * y,
    "arith.divsi": lambda s, x, y: _signed_quotient(x, y),
    "arith.remsi": lambda s, x, y: x - _signed_quotient(x, y) * y,
    "arith.divui": lambda s, x, y: (_unsigned(x) // np.maximum(_unsigned(y), 1)).view(np.asarray(x).dtype),
    "arith.remui": lambda s, x, y: (_unsigned(x) % np.maximum(_unsigned(y), 1)).view(np.asarray(x).dtype),
    "arith.minsi": lambda s, x, y: np.minimum(x, y),
    "arith.maxsi": lambda s, x, y: np.maximum(x, y),
    "arith.andi": lambda s, x, y: x & y,
    "arith.ori": lambda s, x, y: x | y,
    "arith.xori": lambda s, x, y: x ^ y,
    "arith.shli": lambda s, x, y: x << y,
    "arith.shrsi": lambda s, x, y: x >> y,
    "arith.shrui": lambda s, x, y: (_unsigned(x) >> _unsigned(y)).view(np.asarray(x).dtype),
    "arith.cmpi": _compare,
    "arith.select": lambda s, which, x, y: np.where(which, x, y),
    "arith.extsi": _cast,
    "arith.extui": _cast_unsigned,
    "arith.trunci": _cast,
    "arith.index_cast": _cast,
}
