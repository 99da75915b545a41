"""require: an assertion whose failure is the words of the test and nothing else."""

from tools.check.text import wrapped


class Unmet(AssertionError):
    """What a test requires does not hold."""


def require(holds: object, said: str) -> None:
    """Raise Unmet unless it holds. said: what was seen, what was wanted, and a question; lines are broken to fit."""
    __tracebackhide__ = True
    if not holds:
        raise Unmet("\n".join(wrapped(said)))
