"""The two sides of an assertion that failed: what was counted, and what was needed or predicted."""

import ast
import re
from collections.abc import Mapping
from fractions import Fraction
from math import isfinite
from typing import Any, NamedTuple

from tools.check.diagnosis.words import factor_text
from tools.check.show import pair, rounded

SAFE = {
    call.__name__: call for call in (abs, all, any, len, list, max, min, range, round, set, sorted, sum, tuple, zip)
}
LONGEST = 40
MOST, PARTS = 64, 8  # a ratio above MOST, or of more PARTS, says no more than the two numbers
EXACT = 1, 2, 4, 8  # parts of which a few decimals say all: 16.5 times
AFTER = {ast.Lt: "less than", ast.LtE: "at most", ast.Gt: "more than", ast.GtE: "at least"}  # name < value
BEFORE = {ast.Lt: "more than", ast.LtE: "at least", ast.Gt: "less than", ast.GtE: "at most"}  # value < name


class Sides(NamedTuple):
    """counted: what the counters say. other: what it was compared with; name: its name, if it is just a name.

    asked: the expression that was counted. Of a tuple all this is about its first wrong entry.
    """

    counted: Any
    other: Any
    name: str
    asked: str

    @property
    def both_numbers(self) -> bool:
        return all(type(each) in (int, float) for each in (self.counted, self.other))

    @property
    def difference(self) -> float:
        """How much more was counted."""
        return self.counted - self.other if self.both_numbers else 0

    @property
    def is_prediction(self) -> bool:
        """Was what was counted compared with a prediction? Any other name is that of what the tests need."""
        return self.name.startswith("predict")

    def __str__(self) -> str:
        """Counted 304, needed 336. Counted 96, predicted 64: 1.5 times as much. Counted 33, needed 132: 1/4 of it."""
        both = self.counted, self.other
        counted, other = rounded([*both]) if self.both_numbers else pair(*both, LONGEST)
        text, times = f"Counted {counted}, {self.name or 'needed'} {other}", self._times()
        return f"{text}: {times}." if times else f"{text}."

    def _times(self) -> str:
        """How many times as much was counted, or which part; "" of numbers below 0, or where the two numbers say it."""
        has_ratio = self.both_numbers and self.counted > 0 < self.other and isfinite(self.counted / self.other)
        factor = Fraction(self.counted / self.other) if has_ratio else Fraction(1)
        simple = factor.limit_denominator(PARTS)
        if simple in (0, 1) or simple > MOST or abs(simple - factor) > 1e-9:
            return ""
        if simple > 1:
            exact = simple.denominator in EXACT
            return f"{float(simple):{'g' if exact else '.2g'}} times as much"
        return f"{factor_text(float(simple))} it" if simple.numerator == 1 else ""


def sides_of(asked: str, counters: str, names: Mapping[str, object]) -> Sides | None:
    """Those of `assert ... == ...`, where one side reads the counters of that name; None for any other assertion."""
    try:
        statement = ast.parse(asked).body[0]
    except (SyntaxError, IndexError):
        return None
    test = getattr(statement, "test", None)
    if not isinstance(test, ast.Compare) or not all(isinstance(operator, ast.Eq) for operator in test.ops):
        return None
    parts = [test.left, *test.comparators]
    reads = [counters in {node.id for node in ast.walk(part) if isinstance(node, ast.Name)} for part in parts]
    others = [part for part, reading in zip(parts, reads) if not reading]
    if len(others) != 1:
        return None
    try:
        other = _value(others[0], names)
        part, counted = next(
            (part, value) for part, reading in zip(parts, reads) if reading and (value := _value(part, names)) != other
        )
    except Exception:  # an expression that calls something, or that cannot be read
        return None
    if isinstance(part, ast.Tuple) and isinstance(other, tuple) and len(other) == len(part.elts):
        place = next(i for i, (one, another) in enumerate(zip(counted, other)) if one != another)
        part, counted, other = part.elts[place], counted[place], other[place]
    return Sides(counted, other, others[0].id if isinstance(others[0], ast.Name) else "", ast.unparse(part))


def told_by_numbers(asked: str, names: Mapping[str, object]) -> list[str]:
    """Both sides of `assert name == ...` as numbers, or the bounds of `assert name < ...`, if it asks nothing else."""
    if bounds := _bounds(asked, names):
        return bounds
    own = next(
        (
            name
            for name, value in names.items()
            if type(value) in (int, float) and re.fullmatch(rf"assert {name} == .*", asked, re.DOTALL)
        ),
        None,
    )
    sides = sides_of(asked, own, names) if own else None
    return [str(sides).replace("Counted", f"{own} is", 1)] if sides and sides.both_numbers else []


def told_of_two(asked: str, counters: list[str], names: Mapping[str, object]) -> list[str]:
    """Both sides of an assertion that compares the counters of two calls, neither of which need be the right one."""
    spoken_of = [name for name in counters if re.search(rf"\b{name}\b", asked)]
    found = [sides for name in spoken_of if (sides := sides_of(asked, name, names))]
    if len(spoken_of) != 2 or len(found) != 2:
        return []
    first, second = sorted(found, key=lambda sides: asked.find(sides.asked))
    seen = str(first._replace(name=f"{second.asked} is")).replace("Counted", f"{first.asked} is", 1)
    return [seen, "Which of the two is as it should be?"]


def _bounds(asked: str, names: Mapping[str, object]) -> list[str]:
    """A number beside what it is compared with: copies is 200, needed less than 10."""
    try:
        test = ast.parse(asked).body[0].test  # type: ignore[attr-defined]
        parts = [test.left, *test.comparators]
        values = [_value(part, names) for part in parts]
        places = [
            i
            for i, part in enumerate(parts)
            if isinstance(part, ast.Name) and not part.id.isupper() and _is_plain(names.get(part.id))
        ]  # a constant, INF say, is not what was seen
        place = 1 if len(parts) == 3 and 1 in places else places[0]  # what lies between two bounds
        texts = rounded(values)
        limits = [f"{AFTER[type(test.ops[place])]} {texts[place + 1]}"] if place < len(test.ops) else []
        limits += [f"{BEFORE[type(test.ops[place - 1])]} {texts[place - 1]}"] if place else []
    except Exception:  # another assertion, or one that calls something
        return []
    if len(parts) > 3 or not all(map(_is_plain, values)):
        return []
    return [f"{parts[place].id} is {texts[place]}, needed {' and '.join(reversed(limits))}."]


def _is_plain(value: object) -> bool:
    return type(value) in (int, float)


def _value(part: ast.expr, names: Mapping[str, object]) -> Any:
    """Of an expression that calls nothing but what is SAFE."""
    for node in ast.walk(part):
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in SAFE):
            raise ValueError("it calls something")
    return eval(compile(ast.Expression(part), "<assertion>", "eval"), {"__builtins__": SAFE} | dict(names))
