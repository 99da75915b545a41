"""Values as short text: no longer than asked, and two different ones never look alike."""

import types
from itertools import accumulate, takewhile
from typing import Any

import numpy as np

from tools.check import arrays
from tools.wire import Handle

WIDTH = 76  # columns; pytest and the course indent by up to four more
DIGITS = (6, 9, 12, 17)  # significant digits, as few as keep two numbers apart
SMALL = 16  # elements: up to here an array is shown whole,
ROWS = 3  # and of a larger one so many wrong elements
ARTICLES = {"numpy": "an array ", "torch": "a tensor ", "cupy": "a "}  # before what `literal` makes of an array


def cut(text: str, limit: int) -> str:
    """The text, its middle left out if it is longer than `limit`."""
    if len(text) <= limit:
        return text
    tail = (limit - 3) // 2
    return text[: limit - 3 - tail] + "..." + text[len(text) - tail :]


def literal(value: Any) -> str:
    """One line for any value: Python values as they are written, arrays as float64[2,3] or cupy float64[2,3]."""
    if arrays.is_array(value):
        whose = "cupy " if arrays.library(value) == "cupy" else ""
        return f"{whose}{arrays.dtype_name(value.dtype)}[{','.join(map(str, value.shape))}]"
    if type(value) is int:
        return repr(value) if value.bit_length() < 10_000 else hex(value)  # Python refuses very long decimals
    if type(value) is str:
        return repr(value)  # one line already, and how many spaces there are may be what is wrong
    if type(value) is tuple:
        return "(" + ", ".join(map(literal, value)) + ("," if len(value) == 1 else "") + ")"
    if type(value) is list:
        return "[" + ", ".join(map(literal, value)) + "]"
    if type(value) is dict:
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType, np.ufunc)):
        return value.__name__
    if isinstance(value, types.MethodType):  # fake_clock.work
        return f"{literal(value.__self__).partition('(')[0]}.{value.__name__}"
    if isinstance(value, Handle) or type(value).__repr__ is object.__repr__:
        return f"<{type_name(value)}>"
    try:
        return " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 the __repr__ of a class that a learner wrote
        return f"<{type(value).__name__}>"


def shortened(value: Any, limit: int) -> str:
    """The text of a value in at most `limit` columns. A list, tuple or dict ends with "..." after its first entries."""
    left, shown, right = parted(value, limit, limit)
    return left + ", ".join(shown) + right


def parted(value: Any, limit: int, most: int) -> tuple[str, list[str], str]:
    """The same in parts: the entries of a list, tuple or dict between its brackets; any other value as one part, which
    has at most `most` columns too."""
    text, (left, texts, right) = literal(value), _entries(value)
    if not left or (len(texts) < 2 and len(text) <= limit):  # (1,)
        return "", [cut(text, min(limit, most))], ""
    return left, _from(0, texts, limit) or ["..."], right


def _entries(value: Any) -> tuple[str, list[str], str]:
    if type(value) is dict:
        return "{", [f"{literal(key)}: {literal(item)}" for key, item in value.items()], "}"
    if type(value) is tuple:
        return "(", list(map(literal, value)), ")"
    return ("[", list(map(literal, value)), "]") if type(value) is list else ("", [], "")


def _from(start: int, texts: list[str], limit: int, needed: int = 0) -> list[str] | None:
    """Entries from number `start` on, as many as fit, "..." for others; None where not even number `needed` fits."""
    head, rest = ["..."] * (start > 0), texts[start:]
    room = limit - len("[]") - len("..., ") * len(head)
    if len(", ".join(rest)) <= room:
        return head + rest
    ends = accumulate(len(text) + len(", ") for text in rest)
    stop = start + sum(1 for _ in takewhile(lambda end: end + len("...") <= room, ends))
    return [*head, *texts[start:stop], "..."] if stop > needed else None


def kind(value: object) -> str:
    """The kind of a value, with its article: 'an int', 'a tensor float32[3]'."""
    if value is None:
        return "None"
    if library := arrays.library(value):
        return ARTICLES[library] + literal(value)
    name = type_name(value)
    return ("an " if name[0] in "aeiou" else "a ") + name


def type_name(value: object) -> str:
    """Of its class; of an object in the lesson's own process, the class that it has there."""
    if isinstance(value, Handle):
        return value.type_name
    return f"numpy.{type(value).__name__}" if isinstance(value, np.generic) else type(value).__name__


def number(value: object, digits: int = DIGITS[0]) -> str:
    """22.0, 1e-07, -0.0, nan, 7, True."""
    if not isinstance(value, (float, np.floating)):
        return literal(value.item() if isinstance(value, np.generic) else value)
    text = f"{float(value):.{digits}g}"
    return text if any(sign in text for sign in ".en") else text + ".0"


def numbers(got: list, want: list, wrong: list[bool]) -> tuple[list[str], list[str]]:
    """Two lists of numbers as text, with as few digits as keep the wrong ones apart from what was wanted."""
    for digits in DIGITS:
        mine, right = [number(x, digits) for x in got], [number(x, digits) for x in want]
        if all(a != b for a, b, differs in zip(mine, right, wrong) if differs):
            break
    return mine, right


def rounded(values: list) -> list[str]:
    """Values as text; floats with 4 significant digits, or as many more as keep two different values apart.

    Numbers from 1000 on are written as counts are: 65,536, and no 6.554e+04.
    """
    for digits in (4, *DIGITS):
        texts = [_grouped(value, digits) for value in values]
        if len(set(texts)) >= len(set(values)):
            break
    return texts


def _grouped(value: object, digits: int) -> str:
    """1,234,567; of a float below 1000, or of more digits than a float keeps apart, what `number` says."""
    if isinstance(value, float) and 1000 <= abs(value) < 1e15:
        whole, point, rest = f"{value:,.{max(0, digits - len(str(int(abs(value)))))}f}".partition(".")
        return whole + (point + rest).rstrip("0").rstrip(".")
    if type(value) is int and value.bit_length() < 64:
        return f"{value:,}"
    return number(value, digits) if isinstance(value, float) else literal(value)


def pair(got: object, want: object, limit: int) -> tuple[str, str]:
    """Two values as text, each at most `limit` long, cut so that the first place where they differ stays; lists,
    tuples and dicts between their entries."""
    if isinstance(got, float) and isinstance(want, float):
        (mine,), (right,) = numbers([got], [want], [True])
    else:
        mine, right = literal(got), literal(want)
    if max(len(mine), len(right)) <= limit:
        return mine, right
    if type(got) is type(want) and type(got) in (list, tuple, dict) and (both := _around(got, want, limit)):
        return both
    same = _first_difference(mine, right)
    return window(mine, same, limit), window(right, same, limit)


def _first_difference(one: str | list, other: str | list) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))


def _around(got: Any, want: Any, limit: int) -> tuple[str, str] | None:
    """Both from the same entry on, not far before the first that differs; None where that has no room."""
    (left, mine, end), (_, right, _) = _entries(got), _entries(want)
    first = start = _first_difference(mine, right)
    while start and len(", ".join(mine[start - 1 : first])) <= limit // 3:
        start -= 1
    one, other = (_from(start, texts, limit, needed=first) for texts in (mine, right))
    if one is None or other is None:
        return None
    return f"{left}{', '.join(one)}{end}", f"{left}{', '.join(other)}{end}"


def window(text: str, place: int, limit: int) -> str:
    """The text around `place`, at most `limit` long; only `place` says where it starts, so two compare."""
    start = max(0, place - limit // 2)
    head = "..." if start else ""
    rest = text[start:]
    room = limit - len(head)
    return head + (rest if len(rest) <= room else rest[: room - 3] + "...")


def aligned(texts: list[str]) -> list[str]:
    """The texts padded to one width with their decimal points below each other."""
    split = [text.partition(".") for text in texts]
    left = max(len(whole) for whole, _, _ in split)
    right = max(len(point + rest) for _, point, rest in split)
    return [whole.rjust(left) + (point + rest).ljust(right) for whole, point, rest in split]


def first_of(wrong: np.ndarray) -> tuple[int, ...]:
    """Index of the first element that is True."""
    return tuple(map(int, np.unravel_index(int(np.argmax(wrong)), wrong.shape)))


def place(index: tuple[int, ...]) -> str:
    """[0, 2]"""
    return f"[{', '.join(map(str, index))}]"


def grid(got: np.ndarray, want: np.ndarray, wrong: np.ndarray, room: int) -> list[str]:
    """Both arrays in full, side by side or one below the other; no lines if they do not fit."""
    if not 1 <= got.ndim <= 2 or got.size > SMALL:
        return []
    mine, right = numbers(got.ravel().tolist(), want.ravel().tolist(), wrong.ravel().tolist())
    cells = aligned(mine + right)
    columns = got.shape[-1]
    rows = ["  ".join(cells[i : i + columns]).rstrip() for i in range(0, len(cells), columns)]
    above, below = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    width = max(map(len, above))
    beside = [
        f"  {'' if i else 'got':5}{a:{width}}    {'' if i else 'wanted':8}{b}"
        for i, (a, b) in enumerate(zip(above, below))
    ]
    names = ["got", *[""] * (len(above) - 1), "wanted", *[""] * (len(below) - 1)]
    stacked = [f"  {name:8}{row}" for name, row in zip(names, rows)]
    choices = (stacked, beside) if got.ndim == 1 else (beside, stacked)
    return next((lines for lines in choices if len(lines) <= room and max(map(len, lines)) <= WIDTH), [])


def table(got: np.ndarray, want: np.ndarray, wrong: np.ndarray, room: int) -> list[str]:
    """The first wrong elements, one a line below a heading; no lines if there is no room for two of them."""
    if room < 3:
        return []
    indices = [tuple(map(int, index)) for index in np.argwhere(wrong)[: min(ROWS, room - 1)]]
    pairs = [(got[index].item(), want[index].item()) for index in indices]
    mine, right = numbers([mine for mine, _ in pairs], [right for _, right in pairs], [True] * len(pairs))
    columns = ["", *map(place, indices)], ["got", *aligned(mine)], ["wanted", *aligned(right)]
    first, second, third = (max(map(len, column)) for column in columns)
    return [f"  {index:{first}}  {a:>{second}}  {b:>{third}}".rstrip() for index, a, b in zip(*columns)]
