"""CUDA C++ made into plain C++: shared arrays become references into the block's memory, variables register.

Lines stay where they are. All else that CUDA adds to C++ is in the headers under cpp/cuda.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tools.sim.cupy.raw import inline_ptx
from tools.sim.cupy.raw.guesses import guess
from tools.sim.cupy.raw.not_simulated import NOT_SIMULATED

TOKEN = re.compile(
    r"""
    (?P<space> \s+ | //[^\n]* | /\*.*?\*/ )
  | (?P<directive> (?<![^\n]) [ \t]* \# (?: \\\n | [^\n] )* )
  | (?P<text> R"(?P<fence>\w*)\(.*?\)(?P=fence)" | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
  | (?P<word> [A-Za-z_]\w* )
  | (?P<other> \d[\w.']* | . )
""",
    re.S | re.X,
)
BRACKETS = dict(zip("([{", ")]}"))
ATTRIBUTES = ("__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__align__", "__attribute__", "alignas")
INCLUDE = re.compile(r"\s*#\s*include\s*<([^>]*)>")
VARIABLES = {"__device__": "GLOBAL", "__managed__": "GLOBAL", "__constant__": "CONSTANT"}


class Unsupported(Exception):
    """A construct that the simulated GPU does not run. line: where it stands."""

    def __init__(self, line: int, reason: str) -> None:
        self.line, self.reason = line, reason
        super().__init__(reason)


class Token(NamedTuple):
    """kind: directive, text, word or other. start, end: in the code."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Kernel:
    """A __global__ function. parameters: their names. callable_by_name: extern "C", so its name is not mangled."""

    name: str
    parameters: tuple[str, ...]
    callable_by_name: bool


class Source:
    """translated: C++ for the host, line by line. kernels: name -> Kernel. Raises Unsupported.

    includes: line and name of each header that is included in angle brackets.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        self.kernels: dict[str, Kernel] = {}
        self._tokens = [
            Token(match.lastgroup or "", match[0], *match.span())
            for match in TOKEN.finditer(code)
            if match.lastgroup != "space"
        ]
        self._edits: list[tuple[int, int, str]] = []
        self._read()
        self.translated = self._edited()

    @property
    def asks_for_lanes(self) -> bool:
        """Does it ask which lanes of a warp stand together?"""
        return any(token.text in ("coalesced_threads", "__activemask") for token in self._tokens)

    @property
    def includes(self) -> list[tuple[int, str]]:
        directives = ((token, INCLUDE.match(token.text)) for token in self._tokens if token.kind == "directive")
        return [(self.line(token), found[1]) for token, found in directives if found]

    def line(self, token: Token) -> int:
        return 1 + self.code.count("\n", 0, token.start)

    def _edited(self) -> str:
        pieces, done = [], 0
        for start, end, text in sorted(self._edits):
            pieces += [self.code[done:start], text]
            done = end
        return "".join([*pieces, self.code[done:]])

    def _replace(self, number: int, text: str) -> None:
        self._edits.append((self._tokens[number].start, self._tokens[number].end, text))

    def _append(self, number: int, text: str) -> None:
        end = self._tokens[number].end
        self._edits.append((end, end, text))

    # Declarations --------------------------------------------------------------------------------

    def _read(self) -> None:
        start, scopes = 0, list[list[str]]()  # of this declaration; of each open brace, what its declaration says
        for number, token in enumerate(self._tokens):
            outside = all("namespace" in words or words[:1] == ["extern"] and "(" not in words for words in scopes)
            if token.kind == "directive" and "asm" in token.text:
                self._rewrite_ptx(token.start, token.end)
            if token.kind == "directive" and "__shared__" in token.text:
                raise Unsupported(self.line(token), "__shared__ in a macro is not simulated: write it out.")
            elif token.text in ("asm", "__asm__"):
                self._rewrite_ptx(token.start, len(self.code), most=1)
            elif token.text == "__shared__":
                self._rewrite_shared(start, number, outside)
            elif token.text in VARIABLES and outside:
                self._register(number, VARIABLES[token.text])
            elif token.text == "__global__" and outside:
                self._note_kernel(number, sum([*scopes, self._words(start, number)], []))
            elif token.text == "while":
                self._rewrite_while(number)
            elif token.text == "std" and self._words(number - 3, number) == ["cuda", ":", ":"]:
                self._replace(number, "simt_std")  # the word std alone is one that NVRTC does not know
            elif token.text in NOT_SIMULATED:
                raise Unsupported(self.line(token), NOT_SIMULATED[token.text])
            elif token.text == "atomicCAS":
                self._mark_guess(number)
            elif token.text == "{":
                scopes.append(self._words(start, number))
            elif token.text == "}" and scopes:
                scopes.pop()
            if token.text in ("{", "}", ";") or token.kind == "directive":
                start = number + 1

    def _words(self, start: int, end: int) -> list[str]:
        return [token.text for token in self._tokens[start:end]]

    def _find(self, start: int, stops: str) -> int:
        """Number of the first of `stops` from `start` on that lies in no bracket opened there; else the end."""
        number = start
        while number < len(self._tokens) and self._tokens[number].text not in stops:
            number = self._after(number)
        return min(number, len(self._tokens))

    def _after(self, number: int) -> int:
        """Number of the next token, behind the closing bracket if an opening one is here."""
        closing = BRACKETS.get(self._tokens[number].text) if number < len(self._tokens) else None
        return self._find(number + 1, closing) + 1 if closing else number + 1

    def _top_level(self, start: int, end: int) -> Iterator[int]:
        """Numbers of the tokens between, without what is in brackets."""
        while start < min(end, len(self._tokens)):
            yield start
            start = self._after(start)

    def _declarators(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The variables declared between: the numbers of each name, and of the token behind its declarator."""
        while start < end:
            stop = self._end_of_declarator(start, end)
            before = self._top_level(start, min(self._find(start, "[={"), stop))
            words = [number for number in before if self._tokens[number].kind == "word"]
            if words:
                yield words[-1], stop
            start = stop + 1

    def _end_of_declarator(self, start: int, end: int) -> int:
        """The next comma that stands in no template's argument list either."""
        angles = 0
        for number in self._top_level(start, end):
            text = self._tokens[number].text
            angles += (text == "<") - (text == ">")
            if text == "," and angles == 0:
                return number
        return end

    # What is rewritten ---------------------------------------------------------------------------

    def _rewrite_ptx(self, start: int, end: int, most: int | None = None) -> None:
        """Inline PTX, also of macros, in this part of the code; its lines stay."""
        for found in itertools.islice(inline_ptx.find(self.code[start:end]), most):
            first, last = start + found.start, start + found.end
            if found.call is None:
                raise Unsupported(1 + self.code.count("\n", 0, first), inline_ptx.REFUSED)
            lost = self.code.count("\n", first, last) - found.call.count("\n")
            self._edits.append((first, last, found.call + ("\n" if most else "\\\n") * lost))

    def _rewrite_while(self, number: int) -> None:
        """`while (a) ...` -> `for (; a; (void)0) ...`: so that continue goes to the end, with every compiler.

        The runtime lets lanes catch up that are further up in the code. An empty loop, or the end of do, stays.
        """
        after = self._after(number + 1)
        if after < len(self._tokens) and self._tokens[after].text != ";":
            self._replace(number, "for")
            self._append(number + 1, "; ")
            self._append(after - 2, "; (void)0")

    def _mark_guess(self, number: int) -> None:
        """`old = *p;` before an atomicCAS of p -> `old = simt::guess(*p);`"""
        found = guess([token.text for token in self._tokens], number)
        if found:
            first, last = self._tokens[found[0]].start, self._tokens[found[1]].end
            self._edits = [edit for edit in self._edits if not first <= edit[0] <= last]
            self._edits += [(first, first, "simt::guess("), (last, last, ")")]

    def _rewrite_shared(self, start: int, number: int, outside: bool) -> None:
        """`__shared__ T a[N], b;` -> `T (&a)[N] = ..., (&b) = ...;`"""
        end = self._find(number, ";")
        dynamic = "extern" in self._words(start, number)
        for place in self._top_level(start, end):
            if self._tokens[place].text in ("__shared__", "extern", "static"):
                self._replace(place, "")
            elif self._tokens[place].text in ("__align__", "alignas"):  # a reference has no alignment
                self._edits.append((self._tokens[place].start, self._tokens[self._after(place + 1) - 1].end, ""))
        for name, stop in self._declarators(number + 1, end):
            word = self._tokens[name].text
            function = '""' if outside else "__PRETTY_FUNCTION__"
            made = f'simt::shared_array<decltype({word})>(__COUNTER__, {function}, "{word}")'
            if dynamic:
                made = f'simt::dynamic_array<decltype({word})>("{word}")'
            self._replace(name, f"(&{word})")
            self._append(stop - 1, f" = {made}")

    def _register(self, number: int, space: str) -> None:
        """Append to the declaration of a variable what makes it known. Functions stay as they are."""
        end = self._find(number, ";")
        opening = [
            place
            for place in self._top_level(number, end)
            if self._tokens[place].text in ("(", "=", "{", "[") and self._tokens[place - 1].text not in ATTRIBUTES
        ]
        is_function = opening and self._tokens[opening[0]].text == "("
        if is_function or end == len(self._tokens):
            return
        for name, _ in self._declarators(number + 1, end):
            word = self._tokens[name].text
            self._append(end, f' static simt::Variable simt_{word} = simt::variable("{word}", {word}, simt::{space});')

    def _note_kernel(self, number: int, context: list[str]) -> None:
        """context: what stands before it in its declaration, and in those around it."""
        opening = self._find(number, "(")
        while self._tokens[opening - 1].text in ATTRIBUTES:
            opening = self._find(self._after(opening), "(")
        name, close = self._tokens[opening - 1].text, self._after(opening) - 1
        parameters: tuple[str, ...] = ()
        if self._words(opening + 1, close) != ["void"]:
            declared = self._declarators(opening + 1, min(close, len(self._tokens)))
            parameters = tuple(self._tokens[each].text for each, _ in declared)
        self.kernels[name] = Kernel(name, parameters, '"C"' in context and "template" not in context)
