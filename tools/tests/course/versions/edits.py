"""Random edits of one lesson and its course, by the learner and by the course. Each line that is written is unique.

An edit returns the lines that it wrote, and the spot where: two edits of one spot are in conflict.
"""

from dataclasses import dataclass, field
from pathlib import Path
from random import Random

LESSON, MOVED = "week1/day1/small.py", "week1/day1/tiny.py"
NAMES = ("double", "halve", "kernel", "third", "fourth")

STUB = '''"""Week 1, day 1: small

Challenge
    Do small things.
"""

import math

SIZE = 4


# Task 1
def double(x: int) -> int:
    """Twice x."""
    raise NotImplementedError("week1/day1 task 1: double")


def halve(x: int) -> int:
    """Half of x.

    x: even.
    """
    half = math.floor(x)
    raise NotImplementedError("week1/day1 task 1: halve")


# Task 2
@staticmethod
def kernel(x_ptr, n,
           BLOCK=4):
    pass  # store what double returns


def third(x: int) -> int:
    """A third of x."""
    raise NotImplementedError("week1/day1 task 2: third")


# Task 3
def fourth(x: int) -> int:
    """A fourth of x."""
    raise NotImplementedError("week1/day1 task 3: fourth")
'''
SOLVED = STUB.replace('    raise NotImplementedError("week1/day1 task 1: double")', "    return 2 * x")
NEW = STUB.replace("Twice x.", "Two times x.")
SIGNATURES = {"double": "def double(x: int)", "halve": "def halve(x: int)", "kernel": "def kernel(x_ptr, n,",
              "third": "def third(x: int)", "fourth": "def fourth(x: int)"}  # fmt: skip
DOCSTRINGS = {"double": "Twice x.", "halve": "Half of x.", "third": "A third of x.", "fourth": "A fourth of x."}
MARKERS = {name: line for line in STUB.splitlines(True) for name in NAMES if line.endswith(f': {name}")\n')}
MARKERS["kernel"] = "    pass  # store what double returns\n"


@dataclass
class Edits:
    """What one side did: spot -> lines written there. `text` is its lesson."""

    rng: Random
    side: str
    text: str = STUB
    wrote: dict[str, list[str]] = field(default_factory=dict)
    count: int = 0

    def words(self) -> str:
        self.count += 1
        return f"{self.side} {self.count} {self.rng.randrange(10**6)}"

    def put(self, spot: str, old: str, new: str, *lines: str) -> None:
        """Replace `old`, which stands once, by `new`; `lines` of it are this side's own."""
        if spot in self.wrote or self.text.count(old) != 1:
            return
        self.text = self.text.replace(old, new)
        self.wrote[spot] = list(lines)

    # The learner's

    def fill(self) -> None:
        name = self.rng.choice(NAMES)
        lines = [f'    step = "{self.words()}"', f'    return step or "{self.words()}"']
        if self.rng.random() < 0.3:
            lines[1:1] = ["", f"    # {self.words()}"]
        if self.rng.random() < 0.3:
            lines.append(f"    # {self.words()}")
        self.put(f"body of {name}", MARKERS[name], "\n".join(lines) + "\n", *filter(None, lines))

    def helper(self) -> None:
        where = self.rng.choice(["# Task 1\n", "# Task 2\n", "# Task 3\n", "the end"])
        lines = [f"def _helper{self.rng.randrange(10**6)}(x):", f'    return "{self.words()}"']
        if where == "the end":  # where the course may put a task: then there is room for both
            self.text += "\n\n" + "\n".join(lines) + "\n"
            self.wrote.setdefault("below the end", []).extend(lines)
            return
        self.put(f"above {where}", where, "\n".join(lines) + "\n\n\n" + where, *lines)

    def comment(self) -> None:
        name = self.rng.choice(NAMES)
        line = f"    # {self.words()}"
        self.put(f"body of {name}", MARKERS[name], f"{line}\n{MARKERS[name]}", line)

    def break_syntax(self) -> None:
        name = self.rng.choice(NAMES)
        line = self.rng.choice(["    return (", "    return = ", "   return ", "    if x "]) + f'"{self.words()}"'
        self.put(f"body of {name}", MARKERS[name], line + "\n", line)

    # Both sides'

    def docstring(self) -> None:
        name = self.rng.choice(list(DOCSTRINGS))
        line = f'    """{self.words()}'
        self.put(f"docstring of {name}", f'    """{DOCSTRINGS[name]}', line, line.strip())

    def headline(self) -> None:
        line = f"    {self.words()}"
        self.put("headline", "    Do small things.", line, line)

    def constant(self) -> None:
        line = f'SIZE = "{self.words()}"'
        self.put("SIZE", "SIZE = 4", line, line)

    # The course's

    def signature(self) -> None:
        name = self.rng.choice(list(SIGNATURES))
        new = SIGNATURES[name].replace("(", f"(a{self.rng.randrange(10**6)}, ")
        self.put(f"signature of {name}", SIGNATURES[name], new, new)

    def given(self) -> None:
        name = self.rng.choice(NAMES)
        line = f'    given = "{self.words()}"'
        self.put(f"body of {name}", MARKERS[name], f"{line}\n{MARKERS[name]}", line)

    def new_task(self) -> None:
        lines = ["# Task 4", f"def fifth{self.rng.randrange(10**6)}(x):", f'    """{self.words()}"""',
                 '    raise NotImplementedError("week1/day1 task 4: fifth")']  # fmt: skip
        self.text += "\n\n" + "\n".join(lines) + "\n"
        self.wrote["the end"] = lines


LEARNERS = (Edits.fill, Edits.fill, Edits.fill, Edits.helper, Edits.comment, Edits.docstring, Edits.headline,
            Edits.constant)  # fmt: skip
COURSES = (Edits.docstring, Edits.docstring, Edits.headline, Edits.constant, Edits.signature, Edits.signature,
           Edits.given, Edits.new_task)  # fmt: skip


def learner(rng: Random) -> Edits:
    """One to six edits; one lesson in five ends up with a syntax error."""
    edits = Edits(rng, "learner")
    for edit in rng.choices(LEARNERS, k=rng.randint(1, 6)) + [Edits.break_syntax] * (rng.random() < 0.2):
        edit(edits)
    return edits


def course(rng: Random) -> Edits:
    edits = Edits(rng, "course")
    for edit in rng.choices(COURSES, k=rng.randint(1, 8)):
        edit(edits)
    return edits


def around(root: Path, rng: Random, edits: Edits) -> dict[str, str]:
    """The course's edits of other files: path -> a line that it wrote there."""
    wrote = {}
    for path in rng.sample(["week1/day1/day.toml", "week1/README.md", "week2/day1/README.md", "tools.py"], k=2):
        wrote[path] = f"# {edits.words()}"
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        old = (root / path).read_text() if (root / path).exists() else ""
        (root / path).write_text(old + wrote[path] + "\n")
    return wrote
