"""Tables of TOML read strictly: a key too many, one that is missing or of another type is refused in one line."""

import re
import tomllib
from pathlib import Path

Kinds = dict[str, type]  # of values, by key


class BrokenCourseFile(ValueError):
    """A file of the course that breaks its rules; str() is one line: "week1/day1/day.toml:3: the reason"."""

    def __init__(self, path: Path, line: int | None, message: str):
        super().__init__(path, line, message)
        self.path = path  # relative to the root
        self.line = line  # from 1; None where the whole file is meant
        self.message = message

    def __str__(self) -> str:
        place = self.path.as_posix() if self.line is None else f"{self.path.as_posix()}:{self.line}"
        return f"{place}: {self.message}"


def read_toml(path: Path, root: Path) -> dict:
    """The tables of a TOML file below root. Raises BrokenCourseFile, with the line where there is one."""
    shown = path.relative_to(root)
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        words, _, place = str(error).rpartition(" (at ")
        digits = re.match(r"line (\d+)", place)
        line = int(digits[1]) if digits else text.count("\n") + 1  # "(at end of document)"
        raise BrokenCourseFile(shown, line, f"not valid TOML: {words}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BrokenCourseFile(shown, line, "not UTF-8 text") from None
    except OSError as error:
        raise BrokenCourseFile(shown, None, f"cannot be read ({error.strerror})") from None


class Fault(ValueError):
    """A broken rule, before it is known which file broke it."""


_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
_WORDS |= {list: "a list", dict: "a table"}


def table(raw: object, where: str, required: Kinds, optional: Kinds) -> dict:
    """raw itself, if it is a table with all the required keys and no unknown ones, each of its type."""
    if not isinstance(raw, dict):
        raise Fault(f"{where}is not a table")
    known = required | optional
    for key, value in raw.items():
        if key not in known:
            raise Fault(f"{where}unknown key {key!r}; known: {', '.join(known)}")
        if not _is_a(known[key], value):
            raise Fault(f"{where}{key} must be {_WORDS[known[key]]}")
    for key in required:
        if raw.get(key) in (None, ""):
            raise Fault(f"{where}{key} is missing")
    return raw


def _is_a(kind: type, value: object) -> bool:
    if isinstance(value, bool):  # to Python, True is a number too
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)
