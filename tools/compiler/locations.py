"""Locations: the learner's source line that a piece of compiled code comes from."""

import os
import re
from dataclasses import dataclass
from functools import cache

import triton

PACKAGE = os.path.realpath(os.path.dirname(triton.__file__))
_DEFINITION = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.M)
_PLAIN = re.compile(r'"(.*)":(\d+):(\d+)')
_STEP = re.compile(r"([^\s@\[\]]+):(\d+):(\d+)")


@dataclass(frozen=True)
class Place:
    """A line and column of a source file."""

    file: str
    line: int
    column: int


@cache  # few files are asked for, each of them thousands of times
def is_tritons(file: str) -> bool:
    """Whether a file belongs to Triton itself."""
    return os.path.realpath(file).startswith(PACKAGE + os.sep)


def innermost(chain: list[Place]) -> Place | None:
    """The first place outside Triton's own files; chain: from the innermost call outwards."""
    return next((place for place in chain if not is_tritons(place.file)), None)


def file_of_kernel(ttgir: str) -> str | None:
    """The file that the kernel stood in when it was compiled; one from the cache may stand elsewhere now."""
    found = re.search(r'^#loc = loc\("(.*)":\d+:\d+\)$', ttgir, re.M)
    return found and found[1]


def in_ttgir(ttgir: str) -> dict[str, Place | None]:
    """The places of a TTGIR text by their names, "#loc12"."""
    definitions = dict(_DEFINITION.findall(ttgir))

    def chain(name: str) -> list[Place]:
        text = definitions.get(name, "")
        plain = _PLAIN.fullmatch(text)
        if plain:
            return [Place(plain[1], int(plain[2]), int(plain[3]))]
        inner = re.findall(r"#loc\d*", text)  # the place of the callee, then that of its caller
        return [place for name in inner for place in chain(name)]

    return {name: innermost(chain(name)) for name in definitions}


def in_ptx(comment: str, files: dict[str, str]) -> Place | None:
    """From the comment of a .loc, `inner.py:43:17 @[ outer.py:21:33 ]`. files: whole names by last names."""
    steps = _STEP.findall(comment)
    return innermost([Place(files.get(file, file), int(line), int(column)) for file, line, column in steps])
