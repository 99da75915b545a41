"""The text of TTGIR, Triton's form of a kernel in which each tile has a layout, as a tree of statements."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.words import matched

ACCESSES = {
    "tt.load": "load",
    "ttg.async_copy_global_to_local": "load",
    "tt.store": "store",
    "tt.atomic_rmw": "atomic",
    "tt.atomic_cas": "atomic",
}
_NAME = re.compile(r"%[\w$.-]+(?:#\d+)?")
_STATEMENT = re.compile(r'(?:(%[\w$.-]+)(?::\d+)? = )?"?([a-z_]\w*(?:\.\w+)*)"?(.*)')
_POINTER = re.compile(r"!tt\.ptr<[a-z]+(\d+)")
_MASK = {"tt.load": 1, "tt.store": 2, "tt.atomic_rmw": 2}  # which operand it is


@dataclass
class Statement:
    """One line of the text, with the statements of its regions. number: of an access, in text order."""

    result: str | None
    operation: str
    rest: str
    regions: list[list["Statement"]] = field(default_factory=list)
    number: int | None = None

    @property
    def operands(self) -> list[str]:
        return _NAME.findall(self.rest.split(" : ")[0])

    @property
    def label(self) -> str | None:
        """The name of the block that begins here, "^bb1"; None for an operation."""
        return self.rest.split(":")[0].split("(")[0] if self.rest.startswith("^") else None

    @property
    def kind(self) -> str:
        """Of an access: "load", "store" or "atomic"."""
        return ACCESSES[self.operation]

    @property
    def location(self) -> str:
        """The name of its location, "#loc12"."""
        return re.findall(r"loc\((#loc\d*)\)", self.rest)[-1]

    @property
    def result_type(self) -> str:
        """The type after the last colon or arrow, without the location."""
        return re.split(r" : | -> ", re.sub(r" loc\(.*\)$", "", self.rest))[-1]

    @property
    def mask(self) -> str | None:
        """The operand that says which elements of an access exist; None when all do."""
        if self.operation == "ttg.async_copy_global_to_local":
            found = re.search(r" mask (%[\w$.#-]+)", self.rest)
            return found and found[1]
        position = _MASK.get(self.operation, len(self.operands))
        return self.operands[position] if position < len(self.operands) else None

    @property
    def element_bytes(self) -> int:
        """The size of what the statement's pointers point to."""
        return max(1, int(matched(_POINTER.search(self.rest))[1]) // 8)

    @property
    def tile_shape(self) -> tuple[int, ...]:
        """Of the tile that an access touches; () for a single address."""
        found = re.search(r"tensor<((?:\d+x)+)!tt\.ptr", self.rest)
        return tuple(int(size) for size in found[1].split("x")[:-1]) if found else ()


def parse(ttgir: str) -> Statement:
    """The module as a tree."""
    lines = (line.strip() for line in ttgir.splitlines() if line.strip() and line[0] != "#")
    (module,), _ = _block(lines, itertools.count())
    return module


def accesses(statement: Statement) -> list[Statement]:
    """The accesses inside a statement, in text order."""
    inner = [each for region in statement.regions for part in region for each in accesses(part)]
    return inner if statement.number is None else [statement]


def _block(lines: Iterator[str], numbers: Iterator[int]) -> tuple[list[Statement], str]:
    """Statements up to the brace that closes the block, and the line with that brace."""
    found: list[Statement] = []
    for line in lines:
        if line.startswith("}"):
            return found, line
        match = _STATEMENT.match(line)
        statement = Statement(match[1], match[2], match[3]) if match else Statement(None, "", line)
        if statement.operation in ACCESSES:
            statement.number = next(numbers)
        while line.endswith("{"):
            body, line = _block(lines, numbers)
            statement.regions.append(body)
        found.append(statement)
    return found, ""
