"""Refusals of a kernel's code: for errors of the code itself, and for the stand-in's own limits."""

from dataclasses import dataclass

from tools.sim.cupy.device.errors import CompileException
from tools.words import WIDTH, cut


class NotTranslated(NotImplementedError):
    """Code that a GPU would run, but that the stand-in has no translation for."""


@dataclass(frozen=True)
class Code:
    """A kernel's code and its name, for messages. typedefs: names that stand for types there, and which."""

    kernel: str
    text: str
    typedefs: tuple[tuple[str, str], ...] = ()

    def wrong(self, line: int, what: str) -> CompileException:
        """what: a sentence about the mistake."""
        return CompileException(f"{self.place(line)}\n{what}")

    def unknown(
        self, line: int, what: str, instead: str = "Write it in other words, or as a RawKernel."
    ) -> NotTranslated:
        """what: the construct, as "pointers". instead: what to do."""
        return NotTranslated(f"{self.place(line)}\nThe simulated CuPy does not translate {what}.\n{instead}")

    def place(self, line: int) -> str:
        lines = self.text.splitlines()
        source = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        return cut(f"kernel {self.kernel!r}, line {line}:  {source}", WIDTH)
