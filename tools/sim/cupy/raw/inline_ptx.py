"""Inline PTX of asynchronous copies, made into calls of the runtime; all other PTX is refused."""

import re
from collections.abc import Iterator
from typing import NamedTuple

ASM = re.compile(r"\b(?:asm|__asm__)\b\s*(?:volatile\b|__volatile__\b)?\s*\(")
PIECE = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[()]|::|:|,|[^\"'():,]+", re.S)
OPERAND = re.compile(r"^\s*(?:\[\w+\]\s*)?\"[=+&]*\w\"\s*\((.*)\)\s*$", re.S)
COPY = re.compile(r"cp\.async\.c[ag]\.shared(?:::cta)?\.global(?:\.L2::\w+)*\s*\[(.*?)\]\s*,\s*\[(.*?)\]\s*,(.*)")
REFUSED = (
    "asm is PTX, which only a GPU runs. Simulated are cp.async.ca and .cg from global to shared memory,\n"
    "their commit_group, wait_group and wait_all, and cvta.to.shared with its cvt."
)


class Found(NamedTuple):
    """A statement of inline PTX. start, end: in the text. call: what replaces it; None: it is not simulated."""

    start: int
    end: int
    call: str | None


def find(text: str) -> Iterator[Found]:
    """The statements of inline PTX in a piece of C++."""
    for begun in ASM.finditer(text):
        parts, end = _parts(text, begun.end())
        code = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', "".join(parts[0]))).replace("\\n", " ").replace("\\t", " ")
        values = [OPERAND.match("".join(each)) for group in parts[1:3] for each in _split(group)]
        known = all(each is not None for each in values)
        call = _call(code, [each[1] for each in values if each]) if known else None
        yield Found(begun.start(), end, call)


def _parts(text: str, start: int) -> tuple[list[list[str]], int]:
    """Template, outputs, inputs, clobbers, as pieces of text; and where the closing bracket ends."""
    parts, depth = [list[str]()], 1
    for match in PIECE.finditer(text, start):
        piece = match[0]
        depth += (piece == "(") - (piece == ")")
        if depth == 0:
            return parts, match.end()
        if depth == 1 and piece in (":", "::"):
            parts += [[] for _ in piece]
        else:
            parts[-1].append(piece)
    return parts, len(text)


def _split(pieces: list[str]) -> list[list[str]]:
    """Between the commas that lie in no bracket; nothing of white space alone."""
    operands, depth = [list[str]()], 0
    for piece in pieces:
        depth += (piece == "(") - (piece == ")")
        if piece == "," and depth == 0:
            operands.append([])
        else:
            operands[-1].append(piece)
    return [each for each in operands if "".join(each).strip(" \n\t\\")]


def _call(code: str, values: list[str]) -> str | None:
    """C++ for all instructions of a template, or None if one of them is unknown."""
    if re.search(r"cvta\.to\.shared\.u64", code) and re.search(r"cvt\.u32\.u64\s+%0", code) and len(values) == 2:
        return f"({values[0]} = simt::shared_address({values[1]}))"
    calls = [_instruction(each.strip(), values) for each in code.split(";") if each.strip()]
    if not calls or None in calls:
        return None
    return f"({', '.join(each for each in calls if each)})"


def _instruction(code: str, values: list[str]) -> str | None:
    def filled(operand: str) -> str:
        return re.sub(r"%(\d+)", lambda each: f"({values[int(each[1])]})", operand.strip())

    if any(int(number) >= len(values) for number in re.findall(r"%(\d+)", code)):
        return None
    if code in ("cp.async.commit_group", "cp.async.wait_all"):
        return f"simt::{'commit_copies' if 'commit' in code else 'wait_for_all_copies'}()"
    if match := re.fullmatch(r"cp\.async\.wait_group\s+(\S+)", code):
        return f"simt::wait_for_copies({filled(match[1])})"
    if match := COPY.fullmatch(code):
        to, source, sizes = match[1], match[2], match[3].split(",")
        if len(sizes) > 2 or "+" in to + source:
            return None
        return f"simt::copy_by_ptx({', '.join(map(filled, (to, source, *sizes)))})"
    return None
