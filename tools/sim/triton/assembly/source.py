"""The text of inline assembly: its statements, and the registers that they name."""

import re
from collections.abc import Iterator

import numpy as np

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
OPERAND = re.compile(r"\{[^}]*\}|[^,{}]+")
VECTOR_BITS = {2: 16, 4: 8}  # of each part, by how many parts make 32 bits


def statements(text: str) -> Iterator[tuple[str, list[str]]]:
    """Opcode and operands of each. Scopes in braces and declarations say nothing of values and are left out."""
    for part in COMMENT.sub(" ", text).split(";"):
        part = re.sub(r"^[\s{}]+", "", part).strip()
        if part in ("", "}") or part.startswith(".reg"):
            continue
        opcode, *rest = part.split(None, 1)
        yield opcode, [each.strip() for each in OPERAND.findall("".join(rest)) if each.strip()]


class Registers:
    """values: bits by name, as uint64, one number for each of `runs` runs."""

    def __init__(self, values: dict[str, np.ndarray], runs: int) -> None:
        self.values, self.runs = values, runs

    def read(self, operand: str) -> np.ndarray:
        """The bits of a register, a constant, or of {parts, the lowest first}."""
        if operand.startswith("{"):
            parts = [self.read(each.strip()) for each in operand[1:-1].split(",")]
            width = VECTOR_BITS[len(parts)]
            low = np.uint64((1 << width) - 1)
            shifted = [(part & low) << np.uint64(width * number) for number, part in enumerate(parts)]
            return np.bitwise_or.reduce(shifted)
        if operand in self.values:
            return self.values[operand]
        return np.full(self.runs, constant(operand), np.uint64)

    def write(self, operand: str, bits: np.ndarray) -> None:
        if not operand.startswith("{"):
            self.values[operand] = bits
            return
        parts = [each.strip() for each in operand[1:-1].split(",")]
        width = VECTOR_BITS[len(parts)]
        for number, part in enumerate(parts):
            self.values[part] = bits >> np.uint64(width * number) & np.uint64((1 << width) - 1)


def constant(text: str) -> int:
    """Its bits: 0f3F800000 is 1.0 in float32, 0d... the same in float64. Raises ValueError for anything else."""
    if text[:2].lower() in ("0f", "0d"):
        return int(text[2:], 16)
    return int(text.rstrip("U"), 0) & (1 << 64) - 1
