"""Three versions of a text become one: what the learner started from, the learner's, and the course's new one.

Of a lesson the bodies of functions are merged apart from all around them: what the learner wrote in a gap stays
word for word, and the course's new docstring above it still arrives. Where both changed the same lines, the
learner's stay. Nothing that the learner wrote is ever left out: that is checked at the end, not hoped for.
"""

import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tools.course.versions.parts import DOCSTRING, lines_of, parses, parts, signature

BOM = "\ufeff"
MARK = 61  # length of the marks that git puts around a conflict; nobody draws lines as long as exactly that
PLACE = "\x01{}\x01\n"  # stands for a part while the text around it is merged


@dataclass(frozen=True)
class Merged:
    """The text; functions whose body both changed, so that it stayed the learner's; functions whose body is the
    learner's while the course gave them another signature; whether both changed lines elsewhere."""

    text: bytes
    kept: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    elsewhere: bool = False


def lesson(base: bytes, mine: bytes, course: bytes) -> Merged:
    """Merge a lesson; a version of it that Python cannot read is merged as far as it can be told apart."""
    texts = [_unix(version) for version in (base, mine, course)]
    merged = _by_parts(*texts)
    if merged is None or (parses(texts[1]) and parses(texts[2]) and not parses(merged[0])):
        merged = (*_by_lines(*texts), (), ())
    text, elsewhere, kept, signatures = merged
    if _lost(texts[0], texts[1], text):
        text, elsewhere = texts[1], True
    return Merged(_like(mine, text), kept, signatures, elsewhere)


def plain(base: bytes, mine: bytes, course: bytes) -> Merged:
    """Merge any other file; one that is no text stays the learner's."""
    if b"\0" in base + mine + course:
        return Merged(mine, elsewhere=True)
    texts = [_unix(version) for version in (base, mine, course)]
    text, elsewhere = _by_lines(*texts)
    return Merged(_like(mine, text), elsewhere=elsewhere)


def same(one: bytes, other: bytes) -> bool:
    """Are two versions equal, but for the way in which an editor ends lines?"""
    return one == other or (b"\0" not in one + other and _unix(one) == _unix(other))


def with_ends_of(mine: bytes, text: bytes) -> bytes:
    """The text with the ends of lines that the learner's editor writes."""
    return text if b"\0" in text else _like(mine, _unix(text))


# Ends of lines ------------------------------------------------------------------------------------


def _unix(content: bytes) -> str:
    """As text with plain ends of lines, the last line too; any bytes can be turned back."""
    text = content.decode("utf-8", "surrogateescape").removeprefix(BOM).replace("\r\n", "\n")
    return text if not text or text.endswith("\n") else text + "\n"


def _like(mine: bytes, text: str) -> bytes:
    """The text with the ends of lines, and the byte order mark, that the learner's editor writes."""
    if 2 * mine.count(b"\r\n") > mine.count(b"\n"):
        text = text.replace("\n", "\r\n")
    return ((BOM if mine.startswith(BOM.encode()) else "") + text).encode("utf-8", "surrogateescape")


# The two ways of merging --------------------------------------------------------------------------


def _by_parts(base: str, mine: str, course: str) -> tuple[str, bool, tuple[str, ...], tuple[str, ...]] | None:
    """The merged text, whether both changed the same lines outside of bodies, and the names that Merged lists.

    None where that cannot be done.
    """
    if any("\x01" in version or "\r" in version for version in (base, mine, course)):
        return None
    spans = [parts(version) for version in (base, mine, course)]
    names = [name for name in spans[0] if all(name in found for found in spans)]
    versions = list(zip((base, mine, course), spans, strict=True))
    around, elsewhere = _by_lines(*(_hollow(text, found, names) for text, found in versions))
    kept: list[str] = []
    signatures: list[str] = []
    chosen: dict[str, str] = {}
    for name in names:
        was, is_mine, new = three = ["".join(lines_of(text)[slice(*found[name])]) for text, found in versions]
        if name.startswith(DOCSTRING):
            chosen[PLACE.format(name)], both = _by_lines(*three)
            elsewhere |= both
        elif is_mine == was:
            chosen[PLACE.format(name)] = new
        else:
            chosen[PLACE.format(name)] = is_mine
            kept += [name] * (new not in (was, is_mine))
            signatures += [name] * (signature(base, name) != signature(course, name))
    if any(around.count(place) != 1 for place in chosen):  # the course moved what the learner changed
        return None
    text = "".join(chosen.get(line, line) for line in lines_of(around))
    return text, elsewhere, tuple(kept), tuple(signatures)


def _hollow(text: str, found: dict[str, tuple[int, int]], names: list[str]) -> str:
    """The text with one line in place of each of these bodies."""
    lines = lines_of(text)
    for name in sorted(names, key=lambda name: found[name], reverse=True):
        start, end = found[name]
        lines[start:end] = [PLACE.format(name)]
    return "".join(lines)


def _by_lines(base: str, mine: str, course: str) -> tuple[str, bool]:
    """As git merges lines. Where both changed the same ones, the learner's stand, and True says that there are such;
    where both put in lines at the same place, both stand, the learner's first."""
    if base in (mine, course) or mine == course:
        return (course if mine == base else mine), False
    with tempfile.TemporaryDirectory(prefix="course-merge-") as folder:
        files = [Path(folder, name) for name in ("mine", "base", "course")]
        for file, text in zip(files, (mine, base, course), strict=True):
            file.write_bytes(text.encode("utf-8", "surrogateescape"))
        command = ["git", "merge-file", "-p", "-q", "--diff3", f"--marker-size={MARK}", *map(str, files)]
        merged = subprocess.run(command, capture_output=True).stdout.decode("utf-8", "surrogateescape")
    return _resolved(merged)


def _resolved(merged: str) -> tuple[str, bool]:
    """The text without git's marks: between them stand the learner's lines, the old ones and the course's."""
    sides: dict[str, list[str]] = {}
    lines, side, both = [], None, False
    for line in lines_of(merged):
        mark = line[0] if line[:MARK] == line[0] * MARK and line[MARK] in " \n" else ""
        if mark == "<":
            sides, side = {"<": [], "|": [], "=": []}, "<"
        elif side and mark in ("|", "="):
            side = mark
        elif side and mark == ">":
            lines += sides["<"] if sides["|"] else sides["<"] + sides["="]
            both, side = both or bool(sides["|"]), None
        else:
            (sides[side] if side else lines).append(line)
    return "".join(lines), both


# What must hold ---------------------------------------------------------------------------------


def _lost(base: str, mine: str, merged: str) -> Counter:
    """Lines that the learner wrote and the merged text lacks."""
    written = Counter(lines_of(mine)) - Counter(lines_of(base))
    return written - Counter(lines_of(merged))
