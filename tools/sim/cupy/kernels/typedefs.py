"""Names that a preamble gives to types: typedef unsigned long long uint64_t; using real = float;"""

import re

from tools.sim.cupy.kernels import types

Names = tuple[tuple[str, str], ...]  # of each: the type that it stands for, as C++ writes it
DECLARED = re.compile(
    r"\btypedef\s+(?P<type>[\w\s]+?)\s+(?P<name>\w+)\s*;|\busing\s+(?P<new>\w+)\s*=\s*(?P<old>[\w\s]+?)\s*;"
)


def read(preamble: str) -> tuple[str, Names]:
    """The preamble without the declarations that are understood, line by line, and their names."""
    found: dict[str, str] = {}

    def taken(match: re.Match) -> str:
        type = " ".join((match["type"] or match["old"]).split())
        type = found.get(type, type)
        if types.named(type) is None:
            return match[0]
        found[match["name"] or match["new"]] = type
        return "\n" * match[0].count("\n")

    return DECLARED.sub(taken, preamble), tuple(found.items())
