"""The error for what Numba does not compile for a GPU, and a note of where a kernel deserves it."""

import ast
from typing import NamedTuple

from tools.sim.cuda.faults import Fault
from tools.sim.faults import Spot


class Refused(Fault):
    """A fault of kind "refused". reason: why Numba does not compile it. advice: what to write instead, or "".

    spot: where; without it, the line of the kernel that runs now.
    """

    def __init__(self, reason: str, advice: str = "", spot: Spot | None = None):
        self.reason, self.advice = reason, advice
        super().__init__("refused", reason, advice, spot=spot)


class Finding(NamedTuple):
    """Something in a kernel's syntax tree that Numba does not compile; if `unknown`, something that a GPU may run.

    what: the reason; if unknown, what it is. advice: what to write instead, or "".
    """

    node: ast.AST
    what: str
    advice: str = ""
    unknown: bool = False
