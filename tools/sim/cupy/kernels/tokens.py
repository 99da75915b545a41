"""The words of a kernel's code."""

import re
from typing import NamedTuple

from tools.sim.cupy.kernels.refusal import Code

PATTERN = re.compile(
    r"""
    (?P<space> \s+ | //[^\n]* | /\*.*?\*/ )
  | (?P<number> 0[xX][0-9a-fA-F]+[uUlL]* | (?: \d+\.\d*|\.\d+|\d+(?=[eE]) ) (?:[eE][+-]?\d+)? [fFlL]? | \d+[uUlL]* )
  | (?P<name> [A-Za-z_]\w* (?: :: [A-Za-z_]\w* )* )
  | (?P<sign> <<= | >>= | \+\+ | -- | -> | && | \|\| | << | >> | [-+*/%&|^=!<>]= | [-+*/%&|^~!<>=?:;,.(){}\[\]\#] )
""",
    re.VERBOSE | re.DOTALL,
)


ALTERNATIVE = {
    "and": "&&",
    "or": "||",
    "not": "!",
    "bitand": "&",
    "bitor": "|",
    "xor": "^",
    "compl": "~",
    "not_eq": "!=",
}


class Token(NamedTuple):
    """kind: number, name, sign or end."""

    kind: str
    text: str
    line: int


def tokens(code: Code) -> list[Token]:
    """The words of a text, comments left out, and an end. Raises CompileException."""
    found, at, line, typedefs = [], 0, 1, dict(code.typedefs)
    while at < len(code.text):
        match = PATTERN.match(code.text, at)
        if match is None:
            raise code.wrong(line, f"{code.text[at]!r} means nothing in CUDA C++.")
        if match.lastgroup != "space":
            text = typedefs.get(match.group(), match.group())
            found.append(
                Token("sign", ALTERNATIVE[text], line)
                if text in ALTERNATIVE
                else Token(match.lastgroup or "", text, line)
            )
        line += match.group().count("\n")
        at = match.end()
    return [*found, Token("end", "", line)]
