"""A cause, and phrases that several recognisers share: a call, a factor, an element."""

import math
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

WIDTH = 76
PARTS = 9  # beyond which a fraction says less than decimals, unless it is 1/n, or one of n parts is too many or too few

INFIX = {
    "add": "+",
    "subtract": "-",
    "sub": "-",
    "multiply": "*",
    "mul": "*",
    "divide": "/",
    "div": "/",
    "true_divide": "/",
    "matmul": "@",
    "mm": "@",
}
BINARY = {
    1e6 / 2**20: "10**6 / 2**20",
    1e9 / 2**30: "10**9 / 2**30",  # which one takes for the other
    2**20 / 1e6: "2**20 / 10**6",
    2**30 / 1e9: "2**30 / 10**9",
}


@dataclass(frozen=True)
class Cause:
    """A likely cause: `name` for tests, `words` for the learner, in one or two lines of at most WIDTH."""

    name: str
    words: str


def cause(name: str, seen: str, question: str) -> Cause:
    """A Cause that says what is seen, then asks; on one line where both fit, else on two."""
    together = f"{seen} {question}"
    if len(together) <= WIDTH:
        return Cause(name, together)
    lines = [textwrap.shorten(line, WIDTH, placeholder=" ...") for line in (seen, question)]
    return Cause(name, "\n".join(lines))


def call_text(oracle: Callable | None, arguments: list[str]) -> str:
    """The oracle's computation: "b @ a", "softmax(y)"; without a name "the right result for (y)"."""
    name = getattr(oracle, "__name__", "<lambda>")
    if name in INFIX and len(arguments) == 2:
        return f" {INFIX[name]} ".join(arguments)
    listed = f"({', '.join(arguments)})"
    return name + listed if name.isidentifier() else f"the right result for {listed}"


CONSTANTS = {math.log2(math.e): "log2(e)", math.log(2): "ln(2)", math.pi: "pi"}
ALIKE = 1e-4  # of a constant
ALIKE_IN_16_BITS = 2e-3  # one number in 16 bits tells a factor no closer


def factor_text(factor: float) -> str:
    """0.5: "half of"; 3.0: "3 times"; 0.975: "39/40 of"; 0.70711: "sqrt(1/2) times"; 131/6: "21.8 times".

    1.44269: "1.4427 = log2(e) times"; 0.99999998: "1 - 2.0e-08 times".
    """
    for constant, text in CONSTANTS.items():
        if abs(factor / constant - 1) < ALIKE:
            return f"{constant:.5g} = {text} times"
    for ratio, text in BINARY.items():
        if abs(factor / ratio - 1) < 1e-9:
            return f"{text} of"
    simple = Fraction(factor).limit_denominator(1024)
    square = Fraction(factor**2).limit_denominator(64)
    if simple.denominator > 64 and abs(float(square) - factor**2) <= 1e-6 * factor**2:
        return f"sqrt({square}) times"
    if abs(float(simple) - factor) > 1e-5 * abs(factor) or simple.numerator > 10**15:
        return f"{factor:.5g} times"
    if simple == 1 and factor != 1:
        return f"1 {'-' if factor < 1 else '+'} {abs(factor - 1):.1e} times"
    if simple.denominator == 1:
        return f"{simple.numerator} times"
    parts = simple.numerator, simple.denominator
    if max(parts) > PARTS and parts[0] > 1 and abs(parts[0] - parts[1]) > 1:
        return f"{factor:.3g} times"
    return "half of" if simple == Fraction(1, 2) else f"{simple} of"


def element(index: tuple[int, ...]) -> str:
    """ "element 7" or "element (3, 0)"."""
    index = tuple(int(i) for i in index)
    if not index:
        return "the result"
    return f"element {index[0] if len(index) == 1 else index}"
